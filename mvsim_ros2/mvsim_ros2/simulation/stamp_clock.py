# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Mapping from ticks of the world to stamps; stamps go on when the world is reset."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

#: Longest delay [ns] of stamps that follow the wall clock behind it.
MAX_DELAY = 200_000_000


class StampClock:
    """Converts ticks of a world to simulated time [ns] for stamps.

    A world that is reset starts at tick 0 again. The ticks before that are kept here, so that the
    clock never goes back unless a client asks for it.

    Args:
        dt: Length of a tick [s].
    """

    def __init__(self, dt: float) -> None:
        """Start at zero."""
        self.dt = dt
        self.offset = 0  # ticks before tick 0 of the present world

    def ns(self, ticks: int) -> int:
        """Return the time of a tick of the world, in whole nanoseconds, at least 0."""
        return max(0, round((ticks + self.offset) * self.dt * 1e9))

    def synchronize(self, ticks: int) -> None:
        """Prepare the stamps of a tick; called before it is published. Nothing to do here."""

    def carry_over(self, ticks: int, dt: float | None = None) -> None:
        """Continue from a tick of the world, whose next tick is 0.

        Args:
            ticks: Last tick before the reset or the change of world.
            dt: Length of a tick from now on [s]; None: as before.
        """
        self.offset += ticks
        if dt is not None and dt != self.dt:
            self.offset = math.ceil(self.offset * self.dt / dt - 1e-6)
            self.dt = dt

    def set_zero(self, ticks: int) -> None:
        """Let a tick of the world be time zero."""
        self.offset = -ticks


class WallStampClock(StampClock):
    """Stamps that follow the wall clock, for nodes without use_sim_time.

    Time that the simulation loses against the wall clock, by a stall or a pause, is skipped:
    stamps jump forward by it, and never go back.
    """

    def __init__(self, dt: float, *, now: Callable[[], int] = time.time_ns) -> None:
        """Start at the first `synchronize`; `now` is the wall clock [ns]."""
        super().__init__(dt)
        self._now = now
        self._shift = 0
        self._last = 0

    def ns(self, ticks: int) -> int:
        """Return the time of a tick of the world, in whole nanoseconds since 1970."""
        return super().ns(ticks) + self._shift

    def synchronize(self, ticks: int) -> None:
        """Shift a tick to now if the wall clock is too far ahead, or stamps would go back."""
        delay = self._now() - self.ns(ticks)
        if delay > MAX_DELAY or self.ns(ticks) < self._last:
            self._shift += delay
        self._last = self.ns(ticks)
