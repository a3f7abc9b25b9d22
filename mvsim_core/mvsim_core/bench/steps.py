# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Timed cases of whole steps: `STEPS` maps names to what phases cost in µs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mvsim_core.assembly.load import load_world
from mvsim_core.bench.scenes import (
    CAR,
    DIFFERENTIAL_PLATFORM,
    HILLS,
    MECANUM_PLATFORM,
    robots,
)
from mvsim_core.bench.timing import compared_cost, run_cost, step_cost


def crowd_cost(count: int, **scene: str) -> dict[str, float]:
    """Time a crowd of robots."""
    return step_cost(load_world(text=robots(count, **scene)))


def run_together(count: int, seconds: float = 1.0) -> dict[str, float]:
    """Time a crowd of robots in `World.run` and step by step."""
    return run_cost(load_world(text=robots(count)), seconds)


def rollers_cost(count: int, seconds: float = 2.0) -> dict[str, float]:
    """Time a crowd of mecanum robots beside one of differential robots with as many wheels."""
    kinds = {"differential": DIFFERENTIAL_PLATFORM, "mecanum": MECANUM_PLATFORM}
    worlds = {name: load_world(text=robots(count, robot=robot)) for name, robot in kinds.items()}
    return compared_cost(worlds, seconds)


def growth_cost(counts: tuple[int, ...], seconds: float = 4.0) -> dict[str, float]:
    """Time crowds of several sizes in turns; "ratio" is the last cost over the first one."""
    worlds = {str(count): load_world(text=robots(count)) for count in counts}
    costs = compared_cost(worlds, seconds)
    return {**costs, "ratio": costs[str(counts[-1])] / costs[str(counts[0])]}


STEPS: dict[str, Callable[[], dict[str, float]]] = {
    **{f"small_robot_{n}": partial(crowd_cost, n) for n in (1, 10, 100, 1000)},
    **{f"small_robot_run_{n}": partial(run_together, n) for n in (1, 10, 100)},
    "small_robot_growth": partial(growth_cost, (1000, 10000)),
    **{f"mecanum_and_differential_{n}": partial(rollers_cost, n) for n in (1, 100, 1000)},
    **{f"hills_{n}": partial(crowd_cost, n, ground=HILLS) for n in (1, 100, 1000)},
    **{f"drivetrain_ellipse_{n}": partial(crowd_cost, n, robot=CAR) for n in (1, 100, 1000)},
}
