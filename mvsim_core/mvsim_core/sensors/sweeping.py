# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scans whose rows are cast one after the other while the sensor moves.

In each tick the rows are cast that are fired within it, each from where the sensor is at that very
time: the pose is interpolated linearly between the poses at the ends of the tick.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numba import njit

from mvsim_core.geometry.poses import rotation
from mvsim_core.scene3d import Hits
from mvsim_core.scene3d.tables import rotation_kernel
from mvsim_core.sensors.base import Sensor, SensorContext, SensorData, StateView
from mvsim_core.state.arrays import FloatArray, Rows

#: A body that moves farther in a tick than its speed explains by this [m, rad] was put there.
JUMP = 0.05


@dataclass
class SweepData(SensorData):
    """What changes of a sensor that sweeps: the scan that is under way.

    Attributes:
        done: Rows of the scan that were cast.
        previous: (9,) pose and planar twist of the body a tick ago; None: not known.
        hits: What the rows that were cast met, by beam; empty when nothing was cast.
    """

    done: int = 0
    previous: FloatArray | None = None
    hits: list[Hits] = field(default_factory=list)


class Sweep(Sensor[Any]):
    """The part of a sensor that casts its scan row by row.

    Attributes:
        rows: Rows of a scan.
        turn: Rows that would take the whole period; above `rows` if part of it is not measured.
    """

    Data: ClassVar[type[SensorData]] = SweepData
    data: SweepData
    rows: int
    turn: float

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a sensor into a world; arguments as in `Sensor`."""
        # Without this, __init__ of a class derived from this one and another would skip the other.
        super().__init__(spec, context, delay=delay, dropout=dropout)

    @abstractmethod
    def empty_hits(self) -> list[Hits]:
        """Return what the rows of a scan meet before they are cast, by beam."""

    @abstractmethod
    def cast(
        self,
        state: StateView,
        poses: FloatArray,
        hits: list[Hits],
        rows: tuple[int, int],
        tick: int,
    ) -> None:
        """Cast rows of a scan.

        Args:
            state: The world's rows.
            poses: (n, 12) of the sensor, one a row or one for all.
            hits: Output, by beam.
            rows: First row of the scan and number of rows.
            tick: When the scan ends.
        """

    def sweep(self, state: StateView, tick: int) -> None:
        """Cast the rows that were fired since the last tick, each from where the sensor was."""
        data = self.data
        if data.due_tick is None:
            return
        begin = self.begin_of(data.due_tick)
        steps, step = data.due_tick - begin, tick - begin
        if step == 1:
            data.done = 0  # also when the last scan was not requested
        end = min(math.ceil(step * self.turn / steps), self.rows)
        first = data.done
        now = _pose(state.bodies, self.body)
        if end > first:
            fraction = np.arange(first, end) * (steps / self.turn) - (step - 1)
            if not data.hits:
                data.hits = self.empty_hits()
            poses = self.poses(now, np.clip(fraction, 0.0, 1.0))
            self.cast(state, poses, data.hits, (first, end - first), data.due_tick)
            data.done = end
        data.previous = None if self.body < 0 else now

    def finish(self, state: StateView, tick: int) -> tuple[list[Hits], int, float]:
        """Cast what is left of the scan that ends now.

        Returns:
            What the rows met, by beam; the tick at which the first one was fired; the time from
            row to row [s], 0 if all were fired at this instant.
        """
        data = self.data
        timed = data.done > 0
        hits = data.hits or self.empty_hits()
        rest = (data.done, self.rows - data.done)
        self.cast(state, self.poses_now(state), hits, rest, tick)
        data.done, data.hits = 0, []
        if not timed:
            return hits, tick, 0.0
        begin = max(self.begin_of(tick), 0)
        return hits, begin, (tick - begin) * self.dt / self.turn

    def poses_now(self, state: StateView) -> FloatArray:
        """Return (1, 12) the pose of the sensor now."""
        return self.poses(_pose(state.bodies, self.body), np.ones(1))

    def poses(self, now: FloatArray, fraction: FloatArray) -> FloatArray:
        """Return (n, 12) poses of the sensor at fractions of the last tick."""
        poses = np.zeros((len(fraction), 12))
        before = self.data.previous
        if before is None:  # not seen before: assume that it came as it goes on
            before = now.copy()
            before[[0, 1, 5]] -= self.dt * now[6:]
        if np.abs(now - before)[[0, 1, 2, 5]].max() > self._farthest(now):
            before = now
        m = self.mount
        _poses_kernel(before[:6], now[:6], fraction, rotation(m), np.array(m[:3]), poses)
        return poses

    def _farthest(self, now: FloatArray) -> float:
        return float(2.0 * self.dt * np.abs(now[6:]).max() + JUMP)


def _pose(bodies: Rows, body: int) -> FloatArray:
    """Return pose (6) and planar twist (3) of a body, zeros for the world."""
    if body < 0:
        return np.zeros(9)
    row = bodies[body]
    names = ("x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "wz")
    return np.array([row[name] for name in names])


@njit(cache=True, nogil=True)
def _poses_kernel(before, now, fraction, turn, shift, poses):  # type: ignore[no-untyped-def]
    """Put a mount (turn, shift) on a body between two poses."""
    body = np.zeros((3, 3))
    p = np.zeros(6)
    for n in range(fraction.size):
        for k in range(6):
            p[k] = before[k] + (now[k] - before[k]) * fraction[n]
        rotation_kernel(p[3], p[4], p[5], body)
        for i in range(3):
            for j in range(3):
                poses[n, 3 * i + j] = (
                    body[i, 0] * turn[0, j] + body[i, 1] * turn[1, j] + body[i, 2] * turn[2, j]
                )
            poses[n, 9 + i] = (
                p[i] + body[i, 0] * shift[0] + body[i, 1] * shift[1] + body[i, 2] * shift[2]
            )
