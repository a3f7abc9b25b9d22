# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The time that is told: it goes on when the world begins anew."""

from __future__ import annotations

import math


class Timeline:
    """From the ticks of a world to nanoseconds of simulated time.

    A world that is reset starts at tick 0. Its ticks before that are kept here, so that the clock
    never goes back unless that is asked for.

    Args:
        dt: Length of a tick [s].
    """

    def __init__(self, dt: float) -> None:
        """Start at zero."""
        self.dt = dt
        self.before = 0

    def ns(self, ticks: int) -> int:
        """Return the time of a tick of the world, in whole nanoseconds, at least 0."""
        return max(0, round((ticks + self.before) * self.dt * 1e9))

    def carry(self, ticks: int, dt: float | None = None) -> None:
        """Go on from a tick of the world, which starts anew, perhaps with another step [s]."""
        self.before += ticks
        if dt is not None and dt != self.dt:
            self.before = math.ceil(self.before * self.dt / dt - 1e-6)
            self.dt = dt

    def restart(self, ticks: int) -> None:
        """Let a tick of the world be time zero."""
        self.before = -ticks
