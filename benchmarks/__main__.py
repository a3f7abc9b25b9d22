# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`python -m benchmarks [FILTER] [--json]`: one line a case, microseconds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter

from benchmarks.scenes import CAR, HILLS, robots
from mvsim_core import World, load_world

#: The original's own worlds, where they lie beside the checkout.
SHARED = Path(os.environ.get("MVSIM_SHARED", Path(__file__).parents[2] / "shared"))


def step_cost(world: World, seconds: float = 1.0) -> dict[str, float]:
    """Return the cost of a step in µs: in all, and a phase each."""
    for robot in world.vehicles.values():
        robot.set_twist(0.3, 0.0, 0.1)
    for _ in range(50):
        world.step()
    world.clear_profile()
    best, count = float("inf"), 0
    end = perf_counter() + seconds
    while perf_counter() < end:
        start = perf_counter()
        for _ in range(20):
            world.step()
        count += 20
        best = min(best, (perf_counter() - start) / 20)
    phases = {name: sum_ / count * 1e6 for name, sum_ in world.profile.items()}
    return {"best": best * 1e6, "mean": sum(phases.values()), **phases}


def crowd_cost(count: int, **scene: str) -> dict[str, float]:
    """Time a crowd of robots."""
    return step_cost(load_world(text=robots(count, **scene)))


def without_sensors(path: Path) -> dict[str, float]:
    """Time a world file without its sensors."""
    world = load_world(path)
    world.remove_sensors()
    return step_cost(world)


def reading(case: Callable[[], float]) -> dict[str, float]:
    """Run a case that returns seconds a call."""
    return {"best": case() * 1e6}


def cases() -> Iterator[tuple[str, Callable[[], dict[str, float]]]]:
    """List all cases; nothing is run or loaded before it is called."""
    for count in (1, 10, 100, 1000):
        yield f"step.small_robot_{count}", partial(crowd_cost, count)
    for count in (1, 100, 1000):
        yield f"step.hills_{count}", partial(crowd_cost, count, ground=HILLS)
        yield f"step.drivetrain_ellipse_{count}", partial(crowd_cost, count, robot=CAR)
    demo = SHARED / "mvsim_worlds" / "mvsim_tutorial" / "demo_many_robots.world.xml"
    if demo.exists():
        yield "step.demo_many_robots", lambda: step_cost(load_world(demo))
        yield "step.demo_many_robots_no_sensors", lambda: without_sensors(demo)
    for module in ("benchmarks.sensors", "benchmarks.sensors3d"):
        if find_spec(module) is None:
            continue
        for name, case in import_module(module).CASES.items():
            yield f"sensors.{name}", partial(reading, case)


def main() -> int:
    """Print or dump all cases whose name contains one of the filters."""
    words = [a for a in sys.argv[1:] if not a.startswith("-")]
    results = {}
    for name, run in cases():
        if words and not any(word in name for word in words):
            continue
        results[name] = run()
        if "--json" not in sys.argv:
            phases = " ".join(f"{k} {v:.1f}" for k, v in results[name].items())
            sys.stdout.write(f"{name}: {phases} [µs]\n")
            sys.stdout.flush()
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
