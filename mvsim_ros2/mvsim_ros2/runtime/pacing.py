# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Real-time pacing: when a tick is due on the wall clock, and the achieved real-time factor.

Deadlines are absolute: tick k is due at `start + (k - k0) · dt / factor`, so the error of one
sleep does not add to the next. The simulation itself knows nothing of the wall clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Longest delay [s wall time] that is caught up after a stall; the excess is dropped.
MAX_CATCH_UP = 0.1


class Pacer:
    """Computes how long to wait until a tick is due.

    Attributes:
        factor: Wanted real-time factor; 0: as fast as possible.
        lost_time: Wall time [s] of delays that were dropped instead of caught up.
        dropped_deadlines: Number of times that happened.
    """

    def __init__(
        self, dt: float, factor: float = 1.0, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Start at tick 0, now.

        Args:
            dt: Length of a tick [s].
            factor: Wanted real-time factor; 0: as fast as possible.
            now: A clock [s].
        """
        self._dt = dt
        self._now = now
        self.factor = factor
        self.lost_time = 0.0
        self.dropped_deadlines = 0
        self.restart(0)

    def for_world(self, dt: float, tick: int) -> Pacer:
        """Return a pacer for another world, with the same factor and the same losses.

        Args:
            dt: Length of its tick [s].
            tick: Its present tick.
        """
        other = Pacer(dt, self.factor, now=self._now)
        other.lost_time, other.dropped_deadlines = self.lost_time, self.dropped_deadlines
        other.restart(tick)
        return other

    def restart(self, tick: int, factor: float | None = None) -> None:
        """Let the present tick be due now, with another factor if one is given."""
        if factor is not None:
            self.factor = factor
        self._tick0 = tick
        self._wall0 = self._now()

    def time_until(self, tick: int) -> float:
        """Return the wall time [s] until a tick is due; 0 if it is due or overdue."""
        if self.factor <= 0.0:
            return 0.0
        due = self._wall0 + (tick - self._tick0) * self._dt / self.factor
        ahead = due - self._now()
        if ahead < -MAX_CATCH_UP:
            lost = -ahead - MAX_CATCH_UP
            self._wall0 += lost
            self.lost_time += lost
            self.dropped_deadlines += 1
        return max(ahead, 0.0)


class RateMeter:
    """Measures the achieved real-time factor between two updates."""

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        """Start measuring at simulated time 0."""
        self._now = now
        self._wall = now()
        self._time = 0.0
        self.factor = 0.0

    @property
    def age(self) -> float:
        """Wall time [s] since the last `update`."""
        return self._now() - self._wall

    def update(self, sim_time: float) -> float:
        """Return the real-time factor since the last update.

        Args:
            sim_time: Simulated time now [s].
        """
        wall = self._now()
        if wall > self._wall:
            self.factor = (sim_time - self._time) / (wall - self._wall)
        self._wall, self._time = wall, sim_time
        return self.factor
