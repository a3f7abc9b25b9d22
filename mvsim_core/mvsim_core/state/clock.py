# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Periods and delays in ticks. Time is `ticks · dt`, never a sum of floats."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import IntArray

#: How far (in ticks) a time may be from a whole number of ticks and still count as it.
SLACK = 1e-6


def whole_ticks(seconds: float, dt: float) -> int:
    """Return a time in ticks of `dt` [s], rounded up, at least 1."""
    return max(1, math.ceil(seconds / dt - SLACK))


@njit(cache=True, nogil=True)
def tick_kernel(clock: IntArray) -> None:
    """Add one tick to all clocks; numpy needs four times as long for the clock of one world."""
    for k in range(clock.shape[0]):
        clock[k] += 1


class Cadence:
    """The ticks of what happens once a period.

    Each event is at the tick nearest to its time, so that the mean rate is the one asked for, also
    where the period is no whole number of ticks; a period below a tick counts as one tick.

    Args:
        period: Time between two events [s]; 0: each tick.
        dt: Length of a tick [s], > 0.

    Attributes:
        ticks: The period in ticks, not rounded, >= 1.
    """

    __slots__ = ("ticks",)

    def __init__(self, period: float, dt: float) -> None:
        """Convert the period."""
        ticks = max(1.0, period / dt)
        near = round(ticks)
        self.ticks = float(near) if abs(ticks - near) <= SLACK * ticks else ticks

    @property
    def even(self) -> bool:
        """Whether all intervals are equal."""
        return self.ticks.is_integer()

    def tick(self, number: int) -> int:
        """Return the tick of event `number`; number 0 is at tick 0."""
        return math.floor(number * self.ticks + 0.5)

    def number(self, tick: int) -> int:
        """Return the number of the event nearest to a tick: of that at the tick, if there is."""
        return math.floor(tick / self.ticks + 0.5)

    def after(self, tick: int) -> int:
        """Return the tick of the event that follows the one nearest to a tick."""
        ticks = self.ticks
        return math.floor((math.floor(tick / ticks + 0.5) + 1) * ticks + 0.5)

    def is_due(self, tick: int) -> bool:
        """Return whether there is an event at a tick."""
        return self.tick(self.number(tick)) == tick
