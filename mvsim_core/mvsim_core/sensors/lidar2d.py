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
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.sensors.base import SENSORS, Bank, Sensor, SensorContext
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.rays import ANGLE_ERROR, FAN, aim_kernel
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

Ranges = npt.NDArray[np.float32]

FULL_TURN = 2.0 * math.pi
#: Fields of view nearer to a full turn than this [rad] are one.
TURN_SLACK = 1e-6

#: Cosine of the tilt beyond which a plan view is worth a warning.
STEEP = 0.5

#: Noise and limits of one lidar.
LIMITS = np.dtype(
    [
        ("range_min", "f4"),  # m
        ("range_max", "f4"),  # m
        ("range_sigma", "f8"),  # m
        ("angle_sigma", "f8"),  # rad
    ]
)


@dataclass(frozen=True, slots=True)
class LaserReading:
    """One scan.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        ranges: (n,) float32 m; +inf nothing seen, -inf too near.
        angle_min: Angle of the first ray [rad].
        angle_max: Angle of the last ray: ``angle_min + (n - 1) · angle_increment``.
        angle_increment: Angle from ray to ray [rad].
        range_min: Least range that is measured [m].
        range_max: No finite range reaches it [m].
        time_increment: Time from ray to ray [s]: 0, all rays are cast at one instant.
        scan_time: Time from scan to scan [s].
        intensities: None: not measured.
    """

    tick: int
    time: float
    ranges: Ranges
    angle_min: float
    angle_max: float
    angle_increment: float
    range_min: float
    range_max: float
    time_increment: float
    scan_time: float
    intensities: Ranges | None = None


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
class Lidar2d(Sensor[LaserReading]):
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
        self.scan_time = self.period_ticks * context.dt
        self._alone: LidarBank | None = None

    @property
    def angles(self) -> FloatArray:
        """(n,) rad, of the rays in the sensor's frame."""
        return self.angle_min + self.angle_increment * np.arange(self.n, dtype=np.float64)

    def doubts(self) -> Iterator[str]:
        """Yield that the fan stands too steep for its plan view."""
        level = math.cos(self.mount.pitch) * math.cos(self.mount.roll)
        if abs(level) < STEEP:
            yield (
                f"the fan of {self.name!r} is tilted by more than 60 degrees: lidars of this class"
                " see walls by the plan view of their rays, and nothing with an upright fan"
            )

    def measure(self, bodies: Rows, tick: int, time: float) -> LaserReading:
        """Return a scan of the scene as it is now."""
        if self._alone is None:
            self._alone = LidarBank([self])
        self._alone.fans["body"] = self.body
        return self._alone.measure([0], bodies, tick, time)[0]

    def bank_key(self) -> Hashable:
        """Return the scene: all lidars of one scene are cast together."""
        return (Lidar2d, id(self.scene))

    @classmethod
    def bank(cls, sensors: Sequence[Lidar2d]) -> LidarBank:
        """Return the lidars as arrays."""
        return LidarBank(sensors)

    def draw_noise(self, angle: FloatArray, distance: FloatArray) -> None:
        """Fill (n,) standard normal numbers for as much noise as this lidar has."""
        # Drawn for all rays whatever they hit, so that the stream depends on the time alone.
        if self.spec.angle_std_noise > 0:
            self._rng.standard_normal(out=angle)
        if self.spec.range_std_noise > 0:
            self._rng.standard_normal(out=distance)

    def reading(self, ranges: Ranges, tick: int, time: float) -> LaserReading:
        """Return a scan with these ranges, which it keeps."""
        return LaserReading(
            tick,
            time,
            ranges,
            self.angle_min,
            self.angle_max,
            self.angle_increment,
            self.range_min,
            self.range_max,
            0.0,
            self.scan_time,
        )


class LidarBank(Bank):
    """Lidars of one scene as arrays, so that those due in a tick are cast by a few calls."""

    def __init__(self, sensors: Sequence[Lidar2d]) -> None:
        """Hold the lidars; their bodies must be known."""
        super().__init__(sensors)
        self.scene = sensors[0].scene
        self.fans = np.zeros(len(sensors), FAN)
        self.limits = np.zeros(len(sensors), LIMITS)
        ends = np.cumsum([s.n for s in sensors])
        self._parts = [
            slice(int(end) - s.n, int(end)) for s, end in zip(sensors, ends, strict=True)
        ]
        total = int(ends[-1])
        angles = np.concatenate([s.angles for s in sensors])
        self._straight = np.array([np.cos(angles), np.sin(angles)])
        self._rays = np.array([*self._straight, np.zeros(total)])
        self._noise = (np.zeros(total), np.zeros(total))
        self._ranges = np.zeros(total, np.float32)
        for fan, limit, part, sensor in zip(
            self.fans, self.limits, self._parts, sensors, strict=True
        ):
            _describe(fan, limit, sensor)
            fan["first"] = part.start

    def measure(self, due: list[int], bodies: Rows, tick: int, time: float) -> list[LaserReading]:
        """Return the scans of the lidars at the places ``due``."""
        rows = np.array(due, dtype=np.int64)
        for i in due:
            part = self._parts[i]
            self.sensors[i].draw_noise(self._noise[0][part], self._noise[1][part])
        aim_kernel(self.fans, rows, bodies)
        _begin_kernel(self.fans, self.limits, rows, self._straight, self._rays, self._noise[0])
        self.scene.trace(self.fans, rows, self._rays, bodies)
        _end_kernel(self.fans, self.limits, rows, self._rays[2], self._noise[1], self._ranges)
        return [
            self.sensors[i].reading(self._ranges[self._parts[i]].copy(), tick, time) for i in due
        ]


def _describe(fan: Any, limit: Any, sensor: Lidar2d) -> None:
    fan["body"] = sensor.body
    fan["n"] = sensor.n
    fan["sees_bodies"] = sensor.spec.bodies_visible
    fan["range_max"] = sensor.range_max
    fan["angle_min"], fan["step"] = sensor.angle_min, sensor.angle_increment
    fan["per_step"] = 1.0 / sensor.angle_increment
    fan["turn"] = FULL_TURN / sensor.angle_increment
    for name in ("x", "y", "z", "roll", "pitch", "yaw"):
        fan[f"mount_{name}"] = getattr(sensor.mount, name)
    limit["range_min"], limit["range_max"] = sensor.range_min, sensor.range_max
    limit["range_sigma"] = sensor.spec.range_std_noise
    limit["angle_sigma"] = sensor.spec.angle_std_noise


@njit(cache=True, nogil=True, inline="always")
def _cos_sin(angle: float) -> tuple[float, float]:
    """Return cosine and sine; for usual errors of angle by series, to 1e-11 and much faster."""
    if abs(angle) > 0.05:
        return math.cos(angle), math.sin(angle)
    q = angle * angle
    return 1.0 - q * (0.5 - q / 24.0), angle * (1.0 - q * (1.0 / 6.0 - q / 120.0))


@njit(cache=True, nogil=True)
def _begin_kernel(
    fans: Rows,
    limits: Rows,
    due: IntArray,
    straight: FloatArray,
    rays: FloatArray,
    noise: FloatArray,
) -> None:
    """Make the rays as long as they can be, each turned by its error of angle."""
    for k in due:
        fan = fans[k]
        sigma = limits[k].angle_sigma
        largest = 0.0
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
def _end_kernel(
    fans: Rows,
    limits: Rows,
    due: IntArray,
    lengths: FloatArray,
    noise: FloatArray,
    ranges: Ranges,
) -> None:
    """Turn lengths of rays into ranges with noise, in single precision, within the limits."""
    for k in due:
        fan, limit = fans[k], limits[k]
        for i in range(fan.first, fan.first + fan.n):
            r = lengths[i]
            if r >= fan.range_max:
                ranges[i] = np.inf
                continue
            if r < limit.range_min:
                ranges[i] = -np.inf
                continue
            value = np.float32(r + limit.range_sigma * noise[i])
            if value >= limit.range_max:
                value = np.float32(np.inf)
            elif value < limit.range_min:
                value = np.float32(-np.inf)
            ranges[i] = value
