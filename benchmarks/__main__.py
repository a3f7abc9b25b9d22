# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`python -m benchmarks [FILTER] [--json]`: one line a case, microseconds."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

from benchmarks.scenes import robots
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


def physics() -> Iterator[tuple[str, dict[str, float]]]:
    """Time worlds without sensors."""
    for count in (1, 10, 100, 1000):
        yield f"small_robot_{count}", step_cost(load_world(text=robots(count)))
    demo = SHARED / "mvsim_worlds" / "mvsim_tutorial" / "demo_many_robots.world.xml"
    if demo.exists():
        world = load_world(demo)
        yield "demo_many_robots", step_cost(world)
        world = load_world(demo)
        world.remove_sensors()
        yield "demo_many_robots_no_sensors", step_cost(world)


def main() -> int:
    """Print or dump all cases whose name contains the filter."""
    words = [a for a in sys.argv[1:] if not a.startswith("-")]
    results = {}
    for name, costs in physics():
        if words and not any(word in name for word in words):
            continue
        results[name] = costs
        if "--json" not in sys.argv:
            phases = " ".join(f"{k} {v:.1f}" for k, v in costs.items())
            sys.stdout.write(f"{name}: {phases} [µs a step]\n")
            sys.stdout.flush()
    if "--json" in sys.argv:
        sys.stdout.write(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
