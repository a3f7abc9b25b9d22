# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Best and mean time of a call or a step."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import perf_counter

from mvsim_core.world.world import World

ROUNDS = 50
WARM_UP, BATCH, RUN = 50, 20, 200  # steps


def best_of(call: Callable[[], object], seconds: float = 0.004) -> float:
    """Return the least mean time of a call [s] over rounds of some milliseconds each."""
    call()
    count, best = 1, math.inf
    while True:
        start = perf_counter()
        for _ in range(count):
            call()
        if perf_counter() - start > seconds:
            break
        count *= 2
    for _ in range(ROUNDS):
        start = perf_counter()
        for _ in range(count):
            call()
        best = min(best, (perf_counter() - start) / count)
    return best


def step_cost(world: World, seconds: float = 1.0) -> dict[str, float]:
    """Return the cost of a step in µs: its best mean over a batch, its mean, and a phase each."""
    _start_driving(world)
    best, count = math.inf, 0
    end = perf_counter() + seconds
    while perf_counter() < end:
        best = min(best, _batch(world))
        count += BATCH
    phases = {name: total / count * 1e6 for name, total in world.profile.items()}
    return {"best": best, "mean": sum(phases.values()), **phases}


def compared_cost(worlds: dict[str, World], seconds: float = 2.0) -> dict[str, float]:
    """Return the best cost of a step of each world in µs, measured in turns.

    Other load on the machine affects all of them alike, so that their ratio is meaningful.
    """
    for world in worlds.values():
        _start_driving(world)
    best = dict.fromkeys(worlds, math.inf)
    end = perf_counter() + seconds
    while perf_counter() < end:
        for name, world in worlds.items():
            best[name] = min(best[name], _batch(world))
    return best


def run_cost(world: World, seconds: float = 1.0) -> dict[str, float]:
    """Return the best cost of a step in µs in a run of many steps and alone, measured in turns."""
    _start_driving(world)
    best = {"run": math.inf, "step": math.inf}
    end = perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        world.run(RUN * world.dt)
        best["run"] = min(best["run"], (perf_counter() - start) / RUN * 1e6)
        best["step"] = min(best["step"], _batch(world))
    return {**best, "ratio": best["run"] / best["step"]}


def _start_driving(world: World) -> None:
    """Drive all vehicles that follow twists, and let the first steps pass."""
    for robot in world.vehicles.values():
        if "twist" in robot.accepts:
            robot.set_twist(0.3, 0.0, 0.1)
    for _ in range(WARM_UP):
        world.step()
    world.clear_profile()


def _batch(world: World) -> float:
    """Return the mean cost of a step [µs] over one batch."""
    start = perf_counter()
    for _ in range(BATCH):
        world.step()
    return (perf_counter() - start) / BATCH * 1e6
