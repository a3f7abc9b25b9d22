# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Planar lidars whose rays meet the true 3D shapes: the same readings as in the plan view.

A tilted one sees the ground and passes over low walls. With `<raytrace_3d>true` it also sees its
own vehicle, unless `<ignore_parent_body>` is set.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d import (
    SEE_ALL,
    SEE_FIXED_ONLY,
    Hits,
    Rays,
    Scene3d,
    copy_of,
    hides,
)
from mvsim_core.sensors.base import Sensor, SensorBatch, SensorContext, StateView
from mvsim_core.sensors.lidar2d import FULL_TURN, LaserReading, Lidar2d
from mvsim_core.sensors.noise import ANGLE, READING
from mvsim_core.sensors.readings import read_only
from mvsim_core.sensors.sweeping import Sweep
from mvsim_core.state.arrays import FloatArray, Rows


def mounted(mount: Pose, body: int, bodies: Rows) -> FloatArray:
    """Return the pose of a sensor in the world, (1, 12): rotation row by row, origin [m]."""
    turn, shift = rotation(mount), np.array(mount[:3])
    if body >= 0:
        row = bodies[body]
        base = Pose(*(float(row[name]) for name in ("x", "y", "z", "roll", "pitch", "yaw")))
        whole = rotation(base)
        turn, shift = whole @ turn, whole @ shift + np.array(base[:3])
    return np.append(turn.ravel(), shift)[None, :]


class Laser3d(Lidar2d):
    """A planar lidar that sees true 3D shapes."""

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a lidar into a world; ``spec`` is a LaserSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.scene3d = context.scene3d or Scene3d()
        self._hits = Hits.empty(self.n, 1)

    def warnings(self) -> Iterator[str]:
        """Yield what holds for all sensors: it may be mounted as one likes."""
        yield from Sensor.warnings(self)

    def warm(self, state: StateView) -> None:
        """Build the scene and compile the kernels."""
        pose = mounted(self.mount, self.body, state.bodies)
        self._cast(state, pose, self._ways(0), self._hits, (0, self.n))

    def measure(self, state: StateView, tick: int, time: float) -> LaserReading:
        """Return a scan of the scene as it is now."""
        pose = mounted(self.mount, self.body, state.bodies)
        self._cast(state, pose, self._ways(tick), self._hits, (0, self.n))
        return self._scan(self._hits, tick, (tick, time, 0.0))

    def _ways(self, tick: int) -> FloatArray:
        """Return (n, 1, 3) unit vectors of the rays of the scan that ends at a tick."""
        angles = self.angles
        if self.spec.angle_std_noise > 0:
            errors = self.random(tick, ANGLE).standard_normal(self.n)
            angles = angles + self.spec.angle_std_noise * errors
        ways = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(self.n)))
        return ways.reshape(-1, 1, 3)

    def _scan(self, hits: Hits, tick: int, begin: tuple[int, float, float]) -> LaserReading:
        """Return the scan that ends at a tick.

        Args:
            hits: What its rays met.
            tick: When it ends.
            begin: Tick and time [s] of its first ray, and the time from ray to ray [s].
        """
        length, noise = hits.distance[:, 0], np.zeros(self.n)
        if self.spec.range_std_noise > 0:
            noise = self.random(tick, READING).standard_normal(self.n)
        measured = (length + self.spec.range_std_noise * noise).astype(np.float32)
        ranges = np.where(measured >= self.range_max, np.float32(np.inf), measured)
        ranges[(length < self.range_min) | (measured < self.range_min)] = -np.inf
        ranges[length >= self.range_max] = np.inf
        intensities = None
        if self.spec.generate_intensity:
            echo = np.isfinite(ranges)
            intensities = read_only(np.where(echo, hits.brightness[:, 0], np.float32(0.0)))
        at, time, increment = begin
        return LaserReading(at, time, read_only(ranges), self.fan, increment, intensities)

    def _cast(
        self,
        state: StateView,
        poses: FloatArray,
        ways: FloatArray,
        hits: Hits,
        rows: tuple[int, int],
    ) -> None:
        """Cast rays of a scan: the first one and their number are in `rows`."""
        first, count = rows
        sees_parent = self.spec.raytrace_3d and not self.spec.ignore_parent_body
        mask = SEE_ALL if sees_parent else hides(self.body)
        if not self.spec.bodies_visible:
            mask = SEE_FIXED_ONLY
        limits = (0.0, self.range_max)
        glass, own = self.spec.pass_glass, self.full_name
        rays = Rays(ways, poses, first, count, *limits, mask, (16, 1), glass, own)
        copy = copy_of(state.bodies, self.body)
        self.scene3d.cast(rays, state.bodies, hits, state.wheels, copy)

    def batch_key(self) -> Hashable:
        """Return None: it is cast alone."""
        return None

    @classmethod
    def new_batch(cls) -> SensorBatch:
        """Return what asks one lidar after the other."""
        return SensorBatch()


class SweepingLaser(Sweep, Laser3d):
    """A planar lidar whose rays are cast one after the other, in the order of their angles.

    A scan begins with the first ray; a fan of less than a full turn is followed by a pause for the
    rest of the turn.
    """

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a lidar into a world; ``spec`` is a LaserSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.rows = self.n
        self.turn = max(FULL_TURN / self.angle_increment, float(self.n))
        self.sweeps = self.cadence.ticks > 1.0

    def warnings(self) -> Iterator[str]:
        """Yield that the sensor's rate hides its motion."""
        yield from super().warnings()
        if not self.sweeps:
            yield f"{self.name!r} scans once a step: its rays are cast at one instant"

    def empty_hits(self) -> list[Hits]:
        """Return what the rays of a scan meet before they are cast."""
        return [Hits.empty(self.n, 1)]

    def cast(
        self,
        state: StateView,
        poses: FloatArray,
        hits: list[Hits],
        rows: tuple[int, int],
        tick: int,
    ) -> None:
        """Cast rays of a scan, as in `Sweep`."""
        if rows[1]:
            self._cast(state, poses, self._ways(tick), hits[0], rows)

    def measure(self, state: StateView, tick: int, time: float) -> LaserReading:
        """Return the scan that ends now."""
        hits, begin, increment = self.finish(state, tick)
        return self._scan(
            hits[0], tick, (begin, begin * self.dt if increment else time, increment)
        )
