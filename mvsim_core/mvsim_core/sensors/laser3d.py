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
from mvsim_core.sensors.lidar2d import LaserReading, Lidar2d
from mvsim_core.sensors.noise import ANGLE, READING
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
        self._cast(state, np.zeros(1))

    def measure(self, state: StateView, tick: int, time: float) -> LaserReading:
        """Return a scan of the scene as it is now."""
        angles, noise = self.angles, np.zeros(self.n)
        if self.spec.angle_std_noise > 0:
            errors = self.random(tick, ANGLE).standard_normal(self.n)
            angles = angles + self.spec.angle_std_noise * errors
        if self.spec.range_std_noise > 0:
            noise = self.random(tick, READING).standard_normal(self.n)
        length = self._cast(state, angles)
        measured = (length + self.spec.range_std_noise * noise).astype(np.float32)
        ranges = np.where(measured >= self.range_max, np.float32(np.inf), measured)
        ranges[(length < self.range_min) | (measured < self.range_min)] = -np.inf
        ranges[length >= self.range_max] = np.inf
        return self.reading(ranges, tick, time)

    def _cast(self, state: StateView, angles: FloatArray) -> FloatArray:
        """Return the distance to what each ray meets [m]; inf: nothing."""
        ways = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(len(angles))))
        sees_parent = self.spec.raytrace_3d and not self.spec.ignore_parent_body
        mask = SEE_ALL if sees_parent else hides(self.body)
        if not self.spec.bodies_visible:
            mask = SEE_FIXED_ONLY
        pose = mounted(self.mount, self.body, state.bodies)
        limits = (0.0, self.range_max)
        glass, own = self.spec.pass_glass, self.full_name
        grid = ways.reshape(-1, 1, 3)
        rays = Rays(grid, pose, 0, len(ways), *limits, mask, (16, 1), glass, own)
        copy = copy_of(state.bodies, self.body)
        self.scene3d.cast(rays, state.bodies, self._hits, state.wheels, copy)
        return self._hits.distance[: len(ways), 0]

    def batch_key(self) -> Hashable:
        """Return None: it is cast alone."""
        return None

    @classmethod
    def new_batch(cls) -> SensorBatch:
        """Return what asks one lidar after the other."""
        return SensorBatch()
