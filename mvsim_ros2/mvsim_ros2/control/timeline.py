# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The time that is told: it goes on when the world begins anew."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

#: Longest time by which stamps that follow the wall clock may lag behind it [ns].
MOST_BEHIND = 200_000_000


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

    def keep_up(self, ticks: int) -> None:
        """Do what is needed before a tick of the world is told: nothing here."""

    def carry(self, ticks: int, dt: float | None = None) -> None:
        """Go on from a tick of the world, which starts anew, perhaps with another step [s]."""
        self.before += ticks
        if dt is not None and dt != self.dt:
            self.before = math.ceil(self.before * self.dt / dt - 1e-6)
            self.dt = dt

    def restart(self, ticks: int) -> None:
        """Let a tick of the world be time zero."""
        self.before = -ticks


class WallTimeline(Timeline):
    """A timeline that begins at the wall time of the first tick, for nodes that know no other.

    What the simulation loses against the wall clock, by a stall or a pause, is left out: stamps
    jump ahead by it, and never go back.
    """

    def __init__(self, dt: float, *, now: Callable[[], int] = time.time_ns) -> None:
        """Start at the first `keep_up`; `now` is the wall clock [ns]."""
        super().__init__(dt)
        self._now = now
        self._ahead = 0
        self._told = 0

    def ns(self, ticks: int) -> int:
        """Return the time of a tick of the world, in whole nanoseconds since 1970."""
        return super().ns(ticks) + self._ahead

    def keep_up(self, ticks: int) -> None:
        """Let a tick be now if the wall clock has left it behind, or a reset has put it back."""
        behind = self._now() - self.ns(ticks)
        if behind > MOST_BEHIND or self.ns(ticks) < self._told:
            self._ahead += behind
        self._told = self.ns(ticks)
