# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scans of equal lidars on many bodies, cast when they are asked for: for copies of a world.

A `Lidar2d` of a world measures by its own schedule, and each scan is an object. Here all scans are
one array, and the caller says which of them are cast, with which seeds and ticks: a scan is equal
to the byte to that of a `Lidar2d` in a world of that seed at that tick.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from mvsim_core.sensors.lidar2d import (
    LEAST_FANS,
    PARTS,
    Lidar2d,
    Ranges,
    begin_kernel,
    end_kernel,
    fan_directions,
    fan_of,
)
from mvsim_core.sensors.noise import WordArray
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.rays import FAN, aim_kernel
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.threads import in_parts

#: Lidars that go through all phases of a scan before the next ones: their rays stay in a cache.
TOGETHER = 64


class LidarScans:
    """Scans of n equal lidars.

    Attributes:
        ranges: (n, rays) float32 m, the newest scans; +inf nothing seen, -inf too near.
        range_sigma: (n,) standard deviations of the noise of ranges [m], which may be changed.
    """

    def __init__(
        self, sensor: Lidar2d, scene: PlaneScene, bodies: IntArray, copies: IntArray
    ) -> None:
        """Put a lidar like `sensor` on each of the bodies.

        Args:
            sensor: The lidar; it need not be in the scene.
            scene: What it sees.
            bodies: (n,) rows of BODY.
            copies: (n,) copies of the world that they belong to.
        """
        count, rays = len(bodies), sensor.n
        self._scene = scene
        # Threads may place the same bodies only where several lidars of a copy see them.
        self._alone = len(np.unique(copies)) == count
        self._fans = np.repeat(np.array([fan_of(sensor, 0)], FAN), count)
        self._fans["body"], self._fans["copy"] = bodies, copies
        self._fans["first"] = rays * np.arange(count)
        directions = fan_directions(sensor.angle_min, sensor.angle_increment, rays)
        self._straight: FloatArray = np.tile(directions, count)
        self._rays: FloatArray = np.zeros((3, rays * count))
        self._rays[:2] = self._straight
        self._noise: FloatArray = np.zeros(rays * count)
        self.ranges: Ranges = np.full((count, rays), np.inf, np.float32)
        self.range_sigma: FloatArray = self._fans["range_sigma"]

    def measure(self, bodies: Rows, due: IntArray, seeds: WordArray, ticks: IntArray) -> None:
        """Renew some of the scans.

        Args:
            bodies: BODY, all rows.
            due: (m,) which.
            seeds: (m,) seeds of their worlds, see `noise.seed_word`.
            ticks: (m,) ticks of their worlds.
        """
        self._scene.freeze()
        aim_kernel(self._fans, due, bodies)
        if due.size >= 2 * LEAST_FANS and not self._alone:
            self._scene.place_all(self._fans, due, bodies)
        work = partial(self._cast, bodies, due, seeds, ticks)
        in_parts(due.size, LEAST_FANS, work, each=PARTS)

    def _cast(
        self,
        bodies: Rows,
        due: IntArray,
        seeds: WordArray,
        ticks: IntArray,
        begin: int,
        end: int,
    ) -> None:
        fans, rays, noise = self._fans, self._rays, self._noise
        ranges = self.ranges.reshape(-1)
        for first in range(begin, end, TOGETHER):
            part = slice(first, min(first + TOGETHER, end))
            chosen = due[part]
            begin_kernel(fans, chosen, seeds[part], ticks[part], self._straight, rays, noise)
            self._scene.trace(fans, chosen, rays, bodies)
            end_kernel(fans, chosen, seeds[part], ticks[part], rays[2], noise, ranges)
