# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Timed cases of whole steps: `STEPS` maps names to what phases cost in µs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from mvsim_core.bench.scenes import CAR, HILLS, robots
from mvsim_core.bench.timing import step_cost
from mvsim_core.build.load import load_world


def crowd_cost(count: int, **scene: str) -> dict[str, float]:
    """Time a crowd of robots."""
    return step_cost(load_world(text=robots(count, **scene)))


STEPS: dict[str, Callable[[], dict[str, float]]] = {
    **{f"small_robot_{n}": partial(crowd_cost, n) for n in (1, 10, 100, 1000)},
    **{f"hills_{n}": partial(crowd_cost, n, ground=HILLS) for n in (1, 100, 1000)},
    **{f"drivetrain_ellipse_{n}": partial(crowd_cost, n, robot=CAR) for n in (1, 100, 1000)},
}
