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
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.scene3d import SEE_ALL, Hits, Rays, Scene3d, copy_of, hides
from mvsim_core.scene3d.tables import Floats
from mvsim_core.sensors.base import SENSORS, SensorContext, StateView
from mvsim_core.sensors.lidar_patterns import pattern_of, spread
from mvsim_core.sensors.noise import RAY_DROPOUT, READING
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.sensors.sweeping import Sweep
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.threads import start

#: One point, as sensor_msgs/PointCloud2 can carry it: sensor frame [m], time since the first [s].
POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "ring", "time"],
        "formats": ["f4", "f4", "f4", "f4", "u2", "f4"],
        "offsets": [0, 4, 8, 12, 16, 20],
        "itemsize": 24,
    }
)
#: Returns nearer together than this [m] are one; half the length of a pulse of 7 ns.
PULSE = 1.0
#: Extinction times visibility: at that distance 2 % of the contrast are left (Koschmieder).
KOSCHMIEDER = -math.log(0.02)
#: Beams in one packet: neighbours in azimuth, and in height where rings are dense, meet the same
#: things more often.
SPARSE, DENSE = (16, 1), (2, 8)
MANY_RINGS = 64


@quick_init
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
        rows: Rows (instants at which all rings are fired) of the scan.
        places: (n,) int32 row · rings + ring of each point.
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
    rows: int
    places: npt.NDArray[np.int32]

    @property
    def xyz(self) -> Floats:
        """(n, 3) m, sensor frame: a view of the points."""
        return self.points.view(np.float32).reshape(-1, 6)[:, :3]

    def organized(self) -> Rows:
        """Return (rings, rows) POINT: an image with the highest ring on top, rows in time.

        Where nothing came back x, y and z are NaN; ring and time are those of the ray.
        """
        image = np.zeros((self.rows, self.rings), POINT)
        between = (self.end_time - self.time) / self.rows if self.timed else 0.0
        image["time"] = (np.arange(self.rows) * between)[:, None]
        image["ring"] = np.arange(self.rings)
        for name in "xyz":
            image[name] = np.nan
        image.reshape(-1)[self.places] = self.points
        return np.ascontiguousarray(image.T[::-1])


@SENSORS.register("lidar3d")
class Lidar3d(Sweep):
    """A 3D lidar."""

    kind = "lidar3d"

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
        self.turn = float(self.rows)
        self.sweeps = bool(spec.motion_distortion) and self.cadence.ticks > 1.0
        wide = spec.beam_divergence
        self._beams = [self.directions, *(spread(self.directions, wide) if wide > 0 else ())]

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
        hits = self.empty_hits()
        self.cast(state, self.poses_now(state), hits, (0, 1), 0)
        out = (np.zeros(0, POINT), np.zeros(0, np.int32))
        self._points(out, hits, (_NO_NUMBERS, _NO_NUMBERS), (0, 0, 0.0))

    def measure(self, state: StateView, tick: int, time: float) -> CloudReading:
        """Return the scan that ends now."""
        numbers = start(self._numbers, tick)
        hits, begin, between = self.finish(state, tick)
        points = np.zeros(self.rows * self.rings, POINT)
        places = np.zeros(len(points), np.int32)
        scan = (self.cursor(tick), self.rows, between)
        count = self._points((points, places), hits, numbers.result(), scan)
        timed = between > 0.0
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
            rows=self.rows,
            places=read_only(places[:count]),
        )

    def empty_hits(self) -> list[Hits]:
        """Return what the rows of a scan meet before they are cast, by beam."""
        return [Hits.empty(*self.directions.shape[:2]) for _ in self._beams]

    def cast(
        self,
        state: StateView,
        poses: FloatArray,
        hits: list[Hits],
        rows: tuple[int, int],
        tick: int,
    ) -> None:
        """Cast rows of a scan, as in `Sweep`; a pattern that ends goes on at its begin."""
        first, count = rows
        mask = hides(self.body) if self.spec.ignore_parent_body else SEE_ALL
        total = len(self.directions)
        at = (self.cursor(tick) + first) % total
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

    def _numbers(self, tick: int) -> tuple[Floats, Floats]:
        """Return a normal and a uniform number for each ray; none where they are not used."""
        spec, shape = self.spec, (self.rows, self.rings)
        noise = lost = _NO_NUMBERS
        if spec.range_std_noise > 0 or spec.range_noise_growth > 0:
            noise = self.random(tick, READING).standard_normal(shape, dtype=np.float32)
        if spec.ray_dropout > 0 or spec.visibility is not None:
            lost = self.random(tick, RAY_DROPOUT).random(shape, dtype=np.float32)
        return noise, lost

    def _points(
        self,
        out: tuple[Rows, npt.NDArray[np.int32]],
        hits: list[Hits],
        numbers: tuple[Floats, Floats],
        scan: tuple[int, int, float],
    ) -> int:
        """Write the points and places of a scan; count them.

        Args:
            out: Points and places.
            hits: What the rays met, by beam.
            numbers: As of `_numbers`.
            scan: Row of the pattern that comes first, rows, and time between two of them [s].
        """
        spec = self.spec
        main = hits[0]
        distance, cosine, brightness = main.distance, main.cosine, main.brightness
        if spec.mixed_pixels:
            mixed = mixed_ranges(np.array([each.distance for each in hits]))
        for other in hits[1:]:
            nearer = other.distance < distance
            distance = np.where(nearer, other.distance, distance)
            cosine = np.where(nearer, other.cosine, cosine)
            brightness = np.where(nearer, other.brightness, brightness)
        if spec.mixed_pixels:
            distance = mixed
        extinction = 0.0 if spec.visibility is None else 2.0 * KOSCHMIEDER / spec.visibility
        error = (spec.range_std_noise, spec.range_noise_growth)
        options = (spec.ray_dropout, extinction, spec.generate_intensity, spec.intensity_incidence)
        return int(
            _points_kernel(
                (distance, cosine, brightness, self.directions),
                numbers,
                scan,
                (self.range_min, self.range_max, *error),
                options,
                out,
            )
        )


def mixed_ranges(distances: FloatArray) -> FloatArray:
    """Return the mean of the ranges that the rays of a beam meet together.

    Args:
        distances: (beams, rows, columns) m; inf: nothing. Those within `PULSE` of the nearest one
            come back in one pulse.
    """
    nearest = distances.min(axis=0)
    together = distances < nearest + PULSE
    total = np.where(together, distances, 0.0).sum(axis=0)
    counts = together.sum(axis=0)
    mean: FloatArray = np.where(counts > 0, total / np.maximum(counts, 1), np.inf)
    return mean


_NO_NUMBERS = np.zeros((0, 0), np.float32)


@njit(cache=True, nogil=True)
def _points_kernel(hits, random, scan, limits, options, out):  # type: ignore[no-untyped-def]
    points, places = out
    distance, cosine, brightness, directions = hits
    noise, lost = random
    cursor, rows, step = scan
    range_min, range_max, sigma, growth = limits
    dropout, extinction, bright, slanted = options
    count = 0
    for k in range(rows):
        row = (cursor + k) % directions.shape[0]
        for ring in range(directions.shape[1]):
            r = distance[row, ring]
            if not range_min <= r < range_max:
                continue
            if lost.size:
                share = dropout
                if extinction > 0.0:
                    share = 1.0 - (1.0 - dropout) * math.exp(-extinction * r)
                if lost[k, ring] < share:
                    continue
            if noise.size:
                r += noise[k, ring] * math.sqrt(sigma * sigma + growth * growth * r * r)
                if not range_min <= r < range_max:
                    continue
            places[count] = k * directions.shape[1] + ring
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
