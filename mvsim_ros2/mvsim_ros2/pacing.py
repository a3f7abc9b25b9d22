# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Keeping pace with the wall clock, and measuring how well that works.

Deadlines are absolute: tick k is due at `start + (k - k0) · dt / factor`, so the error of one wait
is never carried to the next. The simulation itself knows nothing of the wall clock.
"""

from __future__ import annotations

import time
from collections.abc import Callable

#: Longest wall time [s] that is caught up after a stall; what is beyond is given up.
MAX_CATCH_UP = 0.1


class Pacer:
    """Says how long to wait until a tick is due.

    Attributes:
        factor: Simulated seconds per second; 0: as fast as possible.
        given_up: Wall seconds by which the simulation has fallen behind for good.
        late: Number of times that happened.
    """

    def __init__(
        self, dt: float, factor: float = 1.0, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        """Start at tick 0, now.

        Args:
            dt: Length of a tick [s].
            factor: Simulated seconds per second; 0: as fast as possible.
            now: A clock [s].
        """
        self._dt = dt
        self._now = now
        self.factor = factor
        self.given_up = 0.0
        self.late = 0
        self.restart(0)

    def like(self, dt: float, tick: int) -> Pacer:
        """Return one for another world at a tick, with the same factor and the same losses.

        Args:
            dt: Length of its tick [s].
            tick: Due now.
        """
        other = Pacer(dt, self.factor, now=self._now)
        other.given_up, other.late = self.given_up, self.late
        other.restart(tick)
        return other

    def restart(self, tick: int, factor: float | None = None) -> None:
        """Let the present tick be due now, with another factor if one is given."""
        if factor is not None:
            self.factor = factor
        self._tick0 = tick
        self._wall0 = self._now()

    def wait_for(self, tick: int) -> float:
        """Return the time [s] until a tick is due; 0 if it is due or overdue."""
        if self.factor <= 0.0:
            return 0.0
        due = self._wall0 + (tick - self._tick0) * self._dt / self.factor
        ahead = due - self._now()
        if ahead < -MAX_CATCH_UP:
            lost = -ahead - MAX_CATCH_UP
            self._wall0 += lost
            self.given_up += lost
            self.late += 1
        return max(ahead, 0.0)


class RateMeter:
    """The real-time factor that is achieved, over the last second or so of wall time."""

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
        """Return the factor since the last update and begin anew.

        Args:
            sim_time: Simulated time now [s].
        """
        wall = self._now()
        if wall > self._wall:
            self.factor = (sim_time - self._time) / (wall - self._wall)
        self._wall, self._time = wall, sim_time
        return self.factor
