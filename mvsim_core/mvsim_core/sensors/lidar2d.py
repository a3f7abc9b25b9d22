# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Planar lidars (class ``laser``).

The fan of rays lies in the x-y plane of the sensor's frame; angles count from x towards y, so a
scanner that is mounted upside down turns clockwise as seen from above. It sees what stands at the
height of its origin, wherever its rays go: a tilted fan is cast by its projection on the ground,
with ranges measured along the rays, and neither sees the ground nor passes over low walls.

Readings follow REP-117 and the conventions of sensor_msgs/LaserScan: +inf where nothing is nearer
than the greatest range, -inf where something is nearer than the least, no finite range outside.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.base import SENSORS, BatchedSensor, SensorBatch, SensorContext, StateView
from mvsim_core.sensors.blocks import Blocks, with_room
from mvsim_core.sensors.noise import ANGLE, READING, WordArray, normals_kernel
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.rays import ANGLE_ERROR, FAN, aim_kernel
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.threads import in_parts

Ranges = npt.NDArray[np.float32]

FULL_TURN = 2.0 * math.pi
#: Fields of view nearer to a full turn than this [rad] are one.
TURN_SLACK = 1e-6

#: Fewest fans of a part that is worth a hand-over to a thread, and most parts of each thread.
LEAST_FANS, PARTS = 64, 4

#: Cosine of the tilt beyond which a plan view is worth a warning.
STEEP = 0.5


class LaserFan(NamedTuple):
    """What all scans of a lidar have in common.

    Attributes:
        angle_min: Angle of the first ray [rad].
        angle_max: Angle of the last ray: ``angle_min + (n - 1) · angle_increment``.
        angle_increment: Angle from ray to ray [rad].
        range_min: Least range that is measured [m].
        range_max: No finite range reaches it [m].
        scan_time: Time from scan to scan [s].
    """

    angle_min: float
    angle_max: float
    angle_increment: float
    range_min: float
    range_max: float
    scan_time: float


@quick_init
@dataclass(frozen=True, slots=True)
class LaserReading(Reading):
    """One scan; it has the attributes of its `LaserFan` too.

    Attributes:
        tick: When the first ray was cast.
        time: The same in s.
        ranges: (n,) float32 m; +inf nothing seen, -inf too near.
        fan: Angles and limits, shared by all scans of the lidar.
        time_increment: Time from ray to ray [s]; 0: all rays are cast at one instant.
        intensities: (n,) float32, brightness of the surface, 0 to 1; None: not measured.
    """

    tick: int
    time: float
    ranges: Ranges
    fan: LaserFan
    time_increment: float = 0.0
    intensities: Ranges | None = None

    @property
    def angle_min(self) -> float:
        """Angle of the first ray [rad]."""
        return self.fan.angle_min

    @property
    def angle_max(self) -> float:
        """Angle of the last ray [rad]."""
        return self.fan.angle_max

    @property
    def angle_increment(self) -> float:
        """Angle from ray to ray [rad]."""
        return self.fan.angle_increment

    @property
    def range_min(self) -> float:
        """Least range that is measured [m]."""
        return self.fan.range_min

    @property
    def range_max(self) -> float:
        """No finite range reaches it [m]."""
        return self.fan.range_max

    @property
    def scan_time(self) -> float:
        """Time from scan to scan [s]."""
        return self.fan.scan_time


def fan_angles(fov: float, n: int) -> tuple[float, float]:
    """Return the first angle and the step [rad] of ``n`` rays over a field of view [rad].

    The first and the last ray bound the field of view. A full turn has no doubled ray: its last
    ray stands one step before the first. slam_toolbox counts the rays by just these rules (and
    miscounts only fans of so few rays that the blind part, below 350°, is less than a step).
    """
    if fov >= FULL_TURN - TURN_SLACK:
        return -math.pi, FULL_TURN / n
    return -0.5 * fov, fov / (n - 1)


@SENSORS.register("laser")
class Lidar2d(BatchedSensor[LaserReading]):
    """A planar lidar."""

    kind = "laser"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a lidar into a world; ``spec`` is a LaserSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.scene: PlaneScene = context.scene
        self.n: int = spec.nrays
        self.angle_min, self.angle_increment = fan_angles(spec.fov, self.n)
        self.angle_max = self.angle_min + (self.n - 1) * self.angle_increment
        # The limits as single-precision messages will state them.
        self.range_min = float(np.float32(spec.min_range))
        self.range_max = float(np.float32(spec.max_range))
        self.scan_time = self.cadence.ticks * context.dt
        self.fan = LaserFan(
            self.angle_min,
            self.angle_max,
            self.angle_increment,
            self.range_min,
            self.range_max,
            self.scan_time,
        )

    @property
    def angles(self) -> FloatArray:
        """(n,) rad, of the rays in the sensor's frame."""
        return self.angle_min + self.angle_increment * np.arange(self.n, dtype=np.float64)

    def warnings(self) -> Iterator[str]:
        """Yield that the fan stands too steep for its plan view."""
        yield from super().warnings()
        level = math.cos(self.mount.pitch) * math.cos(self.mount.roll)
        if abs(level) < STEEP:
            yield (
                f"the fan of {self.name!r} is tilted by more than 60 degrees: without raytrace_3d"
                " it sees walls by the plan view of its rays, and nothing with an upright fan"
            )

    def batch_key(self) -> Hashable:
        """Return the scene: all lidars of one scene are cast together."""
        return (Lidar2d, id(self.scene))

    @classmethod
    def new_batch(cls) -> SensorBatch:
        """Return an empty batch of lidars."""
        return LidarBatch()


class LidarBatch(SensorBatch):
    """Lidars of one scene as arrays, so that those due in a tick are cast by a few calls.

    Rays of a lidar are a block of columns; all that is in the arrays beside the directions without
    errors is written before it is read within one call.
    """

    def __init__(self) -> None:
        """Make an empty batch."""
        super().__init__()
        self._scene: PlaneScene | None = None
        self._blocks = Blocks()
        self._fans = np.zeros(0, FAN)
        self._straight = np.zeros((2, 0))
        self._rays = np.zeros((3, 0))
        self._noise = np.zeros(0)
        self._ranges = np.zeros(0, np.float32)

    def add(self, sensor: Lidar2d) -> int:
        """Take a lidar in, whose rows must be bound, and return its place."""
        place = super().add(sensor)
        self._scene = sensor.scene
        first = self._blocks.take(sensor.n)
        end = self._blocks.end
        self._fans = with_room(self._fans, place + 1)
        self._straight = with_room(self._straight, end, axis=1)
        self._rays = with_room(self._rays, end, axis=1)
        self._noise = with_room(self._noise, end)
        self._ranges = with_room(self._ranges, end)
        part = slice(first, first + sensor.n)
        straight = fan_directions(sensor.angle_min, sensor.angle_increment, sensor.n)
        self._straight[:, part] = self._rays[:2, part] = straight
        self._fans[place] = fan_of(sensor, first)
        return place

    def remove(self, place: int) -> None:
        """Take the lidar at a place out."""
        self._blocks.give(int(self._fans["first"][place]), self.sensors[place].n)
        super().remove(place)

    def warm(self, state: StateView, place: int) -> None:
        """Compile the kernels and lay out the scene."""
        self.measure([], state, 0, 0.0)
        if self._scene is not None:
            self._scene.place_all(self._fans, np.zeros(0, np.int64), state.bodies)

    def measure(
        self, places: list[int], state: StateView, tick: int, time: float
    ) -> list[LaserReading]:
        """Return the scans of the lidars at ``places``."""
        if self._scene is None:
            return []
        due = np.array(places, dtype=np.int64)
        seeds = self.seeds(places)
        aim_kernel(self._fans, due, state.bodies)
        if due.size >= 2 * LEAST_FANS:
            self._scene.place_all(self._fans, due, state.bodies)
        work = partial(self._cast, due, seeds, state.bodies, tick)
        in_parts(due.size, LEAST_FANS, work, each=PARTS)
        readings = []
        kept = self._ranges.data.cast("B")
        for place, first in zip(places, self._fans["first"][due].tolist(), strict=True):
            sensor = self.sensors[place]
            ranges = np.frombuffer(bytes(kept[4 * first : 4 * (first + sensor.n)]), np.float32)
            readings.append(LaserReading(tick, time, ranges, sensor.fan))
        return readings

    def _cast(
        self, due: IntArray, seeds: WordArray, bodies: Rows, tick: int, begin: int, end: int
    ) -> None:
        """Write the ranges of the lidars ``due[begin:end]``."""
        assert self._scene is not None
        fans, rays, noise = self._fans, self._rays, self._noise
        due, seeds = due[begin:end], seeds[begin:end]
        ticks = np.full(due.size, tick)
        begin_kernel(fans, due, seeds, ticks, self._straight, rays, noise)
        self._scene.trace(fans, due, rays, bodies)
        end_kernel(fans, due, seeds, ticks, rays[2], noise, self._ranges)


def fan_of(sensor: Lidar2d, first: int) -> tuple[float, ...]:
    """Return one row of FAN."""
    given: tuple[float, ...] = (
        *(sensor.body, sensor.copy, sensor.name_word, first, sensor.n),
        *(sensor.spec.bodies_visible, sensor.range_min, sensor.range_max),
        *(sensor.spec.range_std_noise, sensor.spec.angle_std_noise),
        *(sensor.angle_min, sensor.angle_increment, 1.0 / sensor.angle_increment),
        *(FULL_TURN / sensor.angle_increment, 0.0),
        *_mounted(sensor.mount),
    )
    return given + (0.0,) * (len(FAN.names or ()) - len(given))


# Worlds have thousands of the same lidar.
@lru_cache(maxsize=256)
def _mounted(mount: Pose) -> tuple[float, ...]:
    """Return place and rotation of a mount as FAN has them, from mount_x to r21."""
    return (*mount[:3], *rotation(mount)[:, :2].ravel().tolist())


@lru_cache(maxsize=64)
def fan_directions(angle_min: float, step: float, n: int) -> FloatArray:
    """Return (2, n) cosines and sines of the rays of a fan."""
    angles = angle_min + step * np.arange(n, dtype=np.float64)
    return read_only(np.array([np.cos(angles), np.sin(angles)]))


@njit(cache=True, nogil=True, inline="always")
def _cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine; for usual errors of angle by series, to 1e-11 and much faster."""
    if abs(angle) > 0.05:
        return math.cos(angle), math.sin(angle)
    q = angle * angle
    return 1.0 - q * (0.5 - q / 24.0), angle * (1.0 - q * (1.0 / 6.0 - q / 120.0))


@njit(cache=True, nogil=True)
def begin_kernel(  # noqa: PLR0913 (arrays of a kernel)
    fans: Rows,
    due: IntArray,
    seeds: WordArray,
    ticks: IntArray,
    straight: FloatArray,
    rays: FloatArray,
    noise: FloatArray,
) -> None:
    """Make the rays as long as they can be, each turned by its error of angle.

    Noise of the lidar ``due[j]`` is that of the seed ``seeds[j]`` and the tick ``ticks[j]``.
    """
    for j in range(due.size):
        fan = fans[due[j]]
        sigma = fan.angle_sigma
        largest = 0.0
        if sigma > 0.0:
            normals_kernel(seeds[j], fan.name, ticks[j], ANGLE, noise, fan.first, fan.n)
        for i in range(fan.first, fan.first + fan.n):
            rays[2, i] = fan.range_max
            if sigma > 0.0:
                error = sigma * noise[i]
                c, s = _cos_sin(error)
                rays[0, i] = straight[0, i] * c - straight[1, i] * s
                rays[1, i] = straight[1, i] * c + straight[0, i] * s
                largest = max(largest, abs(error))
        fan.slack = (largest + ANGLE_ERROR) * fan.per_step


@njit(cache=True, nogil=True)
def end_kernel(  # noqa: PLR0913 (arrays of a kernel)
    fans: Rows,
    due: IntArray,
    seeds: WordArray,
    ticks: IntArray,
    lengths: FloatArray,
    noise: FloatArray,
    ranges: Ranges,
) -> None:
    """Turn lengths of rays into ranges with noise, in single precision, within the limits."""
    for j in range(due.size):
        fan = fans[due[j]]
        sigma = fan.range_sigma
        if sigma > 0.0:
            normals_kernel(seeds[j], fan.name, ticks[j], READING, noise, fan.first, fan.n)
        for i in range(fan.first, fan.first + fan.n):
            r = lengths[i]
            if r >= fan.range_max:
                ranges[i] = np.inf
                continue
            if r < fan.range_min:
                ranges[i] = -np.inf
                continue
            value = np.float32(r + sigma * noise[i]) if sigma > 0.0 else np.float32(r)
            if value >= fan.range_max:
                value = np.float32(np.inf)
            elif value < fan.range_min:
                value = np.float32(-np.inf)
            ranges[i] = value
