# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simulated time as an integer: `t = ticks · dt`, never a sum of floats."""

from __future__ import annotations

import math

#: How far (in ticks) a period may exceed a whole number of ticks and still count as it.
SLACK = 1e-6


class SimClock:
    """The one clock of a world.

    Args:
        dt: Length of a tick [s], > 0.
    """

    __slots__ = ("dt", "ticks")

    def __init__(self, dt: float) -> None:
        """Start at tick 0."""
        if not (math.isfinite(dt) and dt > 0):
            raise ValueError(f"dt must be > 0 [s], got {dt!r}")
        self.dt = dt
        self.ticks = 0

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.ticks * self.dt

    def ns(self) -> int:
        """Return the simulated time in whole nanoseconds."""
        return round(self.ticks * self.dt * 1e9)

    def whole_ticks(self, seconds: float) -> int:
        """Return `seconds` in ticks, rounded up, at least 1."""
        return max(1, math.ceil(seconds / self.dt - SLACK))
