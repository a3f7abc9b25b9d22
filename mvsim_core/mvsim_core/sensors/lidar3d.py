# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""3D lidars (class ``lidar3d``), by exact rays.

With motion distortion each physics step casts the beams that are fired within it, from where the
sensor is at that very time: the points carry true times, and each is in the sensor's frame as it
was then. Without it all beams are fired at one instant and the points carry no times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numba import njit

from mvsim_core.geometry.poses import rotation
from mvsim_core.scene3d import SEE_ALL, Hits, Rays, Scene3d, copy_of, hides
from mvsim_core.scene3d.tables import Floats, rotation_kernel
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, SensorData, StateView
from mvsim_core.sensors.lidar_patterns import pattern_of, spread
from mvsim_core.sensors.noise import RAY_DROPOUT, READING
from mvsim_core.sensors.readings import Reading, read_only
from mvsim_core.state.arrays import FloatArray, Rows

#: One point, as sensor_msgs/PointCloud2 can carry it: sensor frame [m], time since the first [s].
POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "ring", "time"],
        "formats": ["f4", "f4", "f4", "f4", "u2", "f4"],
        "offsets": [0, 4, 8, 12, 16, 20],
        "itemsize": 24,
    }
)
#: A body that moves farther in a tick than its speed explains by this [m, rad] was put there.
JUMP = 0.05
#: Beams in one packet: neighbours in azimuth, and in height where rings are dense, meet the same
#: things more often.
SPARSE, DENSE = (16, 1), (4, 4)
MANY_RINGS = 64


@dataclass(frozen=True, slots=True)
class CloudReading(Reading):
    """One scan.

    Attributes:
        tick: When the first beam was fired.
        time: The same in s.
        end_time: When the scan was complete [s].
        points: (n,) POINT: only those that came back; `ring` 0 is the lowest.
        timed: Whether `time` of the points says more than 0.
        range_min: Least range that is measured [m].
        range_max: No range reaches it [m].
        rings: Number of rings.
        scan_time: Time from scan to scan [s].
    """

    tick: int
    time: float
    end_time: float
    points: Rows
    timed: bool
    range_min: float
    range_max: float
    rings: int
    scan_time: float

    @property
    def xyz(self) -> Floats:
        """(n, 3) m, sensor frame: a view of the points."""
        return self.points.view(np.float32).reshape(-1, 6)[:, :3]


@dataclass
class Lidar3dData(SensorData):
    """What changes of a 3D lidar: the scan that is under way.

    Attributes:
        done: Rows of the scan that were cast.
        previous: (9,) pose and planar twist of the body a tick ago; None: not known.
        hits: What the rows that were cast met, by beam; empty when nothing was cast.
    """

    done: int = 0
    previous: FloatArray | None = None
    hits: list[Hits] = field(default_factory=list)


@SENSORS.register("lidar3d")
class Lidar3d(Sensor[CloudReading]):
    """A 3D lidar."""

    kind = "lidar3d"
    Data: ClassVar[type[SensorData]] = Lidar3dData
    data: Lidar3dData

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a lidar into a world; ``spec`` is a Lidar3dSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.scene = context.scene3d or Scene3d()
        self.scan_time = self.cadence.ticks * context.dt
        self.range_min = float(np.float32(spec.min_range))
        self.range_max = float(np.float32(spec.max_range))
        self.directions, self.rows = pattern_of(spec, self.scan_time)
        self.sweeps = bool(spec.motion_distortion) and self.cadence.ticks > 1.0
        wide = spec.beam_divergence
        self._beams = [self.directions, *(spread(self.directions, wide) if wide > 0 else ())]
        self._mount = (rotation(self.mount), np.array(self.mount[:3], dtype=np.float64))

    @property
    def rings(self) -> int:
        """Beams that are fired at one instant."""
        return int(self.directions.shape[1])

    def warnings(self) -> Iterator[str]:
        """Yield that the sensor's rate hides its motion."""
        yield from super().warnings()
        if self.spec.motion_distortion and not self.sweeps:
            yield f"{self.name!r} scans once a step: its points get no times"

    def cursor(self, tick: int) -> int:
        """Return the row of the pattern with which the scan begins that ends at ``tick``."""
        return self.number(tick) * self.rows % len(self.directions)

    def warm(self, state: StateView) -> None:
        """Build the scene and compile the kernels."""
        poses = self._poses(_pose(state.bodies, self.body), np.zeros(1))
        hits = self._empty_hits()
        self._cast(state, poses, hits, (0, 0, 1))
        self._points(np.zeros(0, POINT), hits, 0, (0, 0.0))

    def sweep(self, state: StateView, tick: int) -> None:
        """Cast the rows that were fired since the last tick, each from where the sensor was."""
        data = self.data
        if data.due_tick is None:
            return
        begin = self.begin_of(data.due_tick)
        steps, step = data.due_tick - begin, tick - begin
        if step == 1:
            data.done = 0  # also when the last scan was not requested
        end = min(-(-step * self.rows // steps), self.rows)
        first = data.done
        now = _pose(state.bodies, self.body)
        if end > first:
            fraction = np.arange(first, end) * (steps / self.rows) - (step - 1)
            if not data.hits:
                data.hits = self._empty_hits()
            poses = self._poses(now, np.clip(fraction, 0.0, 1.0))
            cursor = self.cursor(data.due_tick)
            self._cast(state, poses, data.hits, (cursor, first, end - first))
            data.done = end
        data.previous = None if self.body < 0 else now

    def measure(self, state: StateView, tick: int, time: float) -> CloudReading:
        """Return the scan that ends now."""
        data = self.data
        timed = data.done > 0
        hits = data.hits or self._empty_hits()
        cursor = self.cursor(tick)
        poses = self._poses(_pose(state.bodies, self.body), np.ones(1))
        rest = (cursor, data.done, self.rows - data.done)
        self._cast(state, poses, hits, rest)
        points = np.zeros(self.rows * self.rings, POINT)
        begin = max(self.begin_of(tick), 0) if timed else tick
        between = (tick - begin) * self.dt / self.rows
        count = self._points(points, hits, tick, (self.rows, between))
        data.done, data.hits = 0, []
        return CloudReading(
            tick=begin,
            time=begin * self.dt if timed else time,
            end_time=time,
            points=read_only(points[:count]),
            timed=timed,
            range_min=self.range_min,
            range_max=self.range_max,
            rings=self.rings,
            scan_time=self.scan_time,
        )

    def _empty_hits(self) -> list[Hits]:
        return [Hits.empty(*self.directions.shape[:2]) for _ in self._beams]

    def _poses(self, now: FloatArray, fraction: FloatArray) -> FloatArray:
        """Return (n, 12) poses of the sensor at fractions of the last tick."""
        poses = np.zeros((len(fraction), 12))
        before = self.data.previous
        if before is None:  # not seen before: assume that it came as it goes on
            before = now.copy()
            before[[0, 1, 5]] -= self.dt * now[6:]
        if np.abs(now - before)[[0, 1, 2, 5]].max() > self._farthest(now):
            before = now
        _poses_kernel(before[:6], now[:6], fraction, *self._mount, poses)
        return poses

    def _farthest(self, now: FloatArray) -> float:
        return float(2.0 * self.dt * np.abs(now[6:]).max() + JUMP)

    def _cast(
        self, state: StateView, poses: FloatArray, hits: list[Hits], rows: tuple[int, int, int]
    ) -> None:
        """Cast rows of a scan.

        Args:
            state: The world's rows.
            poses: (n, 12) of the sensor, one a row or one for all.
            hits: Output, by beam.
            rows: Row of the pattern with which the scan begins (a pattern that ends goes on at
                its begin), first row of the scan, number of rows.
        """
        cursor, first, count = rows
        mask = hides(self.body) if self.spec.ignore_parent_body else SEE_ALL
        total = len(self.directions)
        at = (cursor + first) % total
        pieces = [(at, min(count, total - at), 0)]
        if count > total - at:
            pieces.append((0, count - (total - at), total - at))
        copy = copy_of(state.bodies, self.body)
        tile = DENSE if self.rings >= MANY_RINGS else SPARSE
        for beams, met in zip(self._beams, hits, strict=True):
            for row, n, k in pieces if count else ():
                part = poses if len(poses) == 1 else poses[k : k + n]
                limits = (0.0, self.range_max)
                glass, own = self.spec.pass_glass, self.full_name
                rays = Rays(beams, part, row, n, *limits, mask, tile, glass, own)
                self.scene.cast(rays, state.bodies, met, state.wheels, copy)

    def _points(
        self,
        points: Rows,
        hits: list[Hits],
        tick: int,
        scan: tuple[int, float],
    ) -> int:
        """Write the points of a scan (its rows, time between two [s]); return their number."""
        rows, between = scan
        spec, shape = self.spec, self.directions.shape[:2]
        noisy = spec.range_std_noise > 0 or spec.range_noise_growth > 0
        noise = lost = _NO_NUMBERS
        if noisy:
            noise = self._random(self.random(tick, READING).standard_normal, rows)
        if spec.ray_dropout > 0:
            lost = self._random(self.random(tick, RAY_DROPOUT).random, rows)
        main = hits[0]
        distance, cosine, brightness = main.distance, main.cosine, main.brightness
        for other in hits[1:]:
            nearer = other.distance < distance
            distance = np.where(nearer, other.distance, distance)
            cosine = np.where(nearer, other.cosine, cosine)
            brightness = np.where(nearer, other.brightness, brightness)
        return (
            int(
                _points_kernel(
                    (distance, cosine, brightness, self.directions),
                    (noise, lost),
                    (self.cursor(tick), rows, between),
                    (
                        self.range_min,
                        self.range_max,
                        spec.range_std_noise,
                        spec.range_noise_growth,
                    ),
                    (spec.ray_dropout, spec.generate_intensity, spec.intensity_incidence),
                    points,
                )
            )
            if shape[0]
            else 0
        )

    def _random(self, draw: Any, rows: int) -> Floats:
        numbers: Floats = draw((rows, self.rings), dtype=np.float32)
        return numbers


_NO_NUMBERS = np.zeros((0, 0), np.float32)


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


@njit(cache=True, nogil=True)
def _points_kernel(hits, random, scan, limits, options, points):  # type: ignore[no-untyped-def]
    distance, cosine, brightness, directions = hits
    noise, lost = random
    cursor, rows, step = scan
    range_min, range_max, sigma, growth = limits
    dropout, bright, slanted = options
    count = 0
    for k in range(rows):
        row = (cursor + k) % directions.shape[0]
        for ring in range(directions.shape[1]):
            r = distance[row, ring]
            if not range_min <= r < range_max:
                continue
            if dropout > 0.0 and lost[k, ring] < dropout:
                continue
            if noise.size:
                r += noise[k, ring] * math.sqrt(sigma * sigma + growth * growth * r * r)
                if not range_min <= r < range_max:
                    continue
            point = points[count]
            d = directions[row, ring]
            point.x, point.y, point.z = r * d[0], r * d[1], r * d[2]
            value = np.float32(1.0)
            if bright:
                value = brightness[row, ring]
                if slanted:
                    value *= cosine[row, ring]
            point.intensity, point.ring, point.time = value, ring, k * step
            count += 1
    return count
