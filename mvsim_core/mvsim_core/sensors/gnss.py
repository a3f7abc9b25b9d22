# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Satellite receivers (class ``gnss``): latitude, longitude and height of the antenna.

In regions with the property ``gps_no_coverage`` there are readings without a fix. Errors are the
sum of white ones, independent from reading to reading, and of slow ones, a Gauss-Markov process of
first order that takes a step each period whether anybody reads or not. Multipath is not simulated.
Fields follow sensor_msgs/NavSatFix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, SensorData, StateView
from mvsim_core.sensors.noise import BIAS_WALK, normals_kernel, seed_word
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray, Rows

STATUS_NO_FIX, STATUS_FIX, STATUS_SBAS_FIX, STATUS_GBAS_FIX = -1, 0, 1, 2
STATUSES = {"fix": STATUS_FIX, "sbas": STATUS_SBAS_FIX, "gbas": STATUS_GBAS_FIX}
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL_KNOWN = 0, 2

#: Least standard deviation that a covariance states [m]: filters do not bear a zero.
LEAST_SIGMA = 1e-3
#: Limits of a region's height beyond which (the format's defaults) it has none [m].
ANY_HEIGHT = 1000.0

#: x, y, z of a frame.
Vector = tuple[float, float, float]


@quick_init
@dataclass(frozen=True, slots=True)
class GnssReading(Reading):
    """One position.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        latitude: deg, WGS84; NaN without a fix.
        longitude: deg; NaN without a fix.
        altitude: m above the ellipsoid; NaN without a fix.
        status: STATUS_FIX (0), STATUS_SBAS_FIX (1), STATUS_GBAS_FIX (2) or STATUS_NO_FIX (-1).
        covariance: (3, 3) m² of the errors to the east, to the north and upwards.
        covariance_type: COVARIANCE_DIAGONAL_KNOWN (2), or COVARIANCE_UNKNOWN (0) without a fix.
        velocity: (3,) m/s to the east, to the north and upwards; NaN without a fix.
        velocity_covariance: (3, 3) m²/s².
    """

    tick: int
    time: float
    latitude: float
    longitude: float
    altitude: float
    status: int
    covariance: FloatArray
    covariance_type: int
    velocity: FloatArray
    velocity_covariance: FloatArray


@dataclass
class GnssData(SensorData):
    """What changes of a receiver.

    Attributes:
        slow: (3,) m, slow errors to the east, to the north and upwards; None before the first.
        steps: Steps that they have taken: periods since the begin of the simulation.
    """

    slow: FloatArray | None = None
    steps: int = 0


@SENSORS.register("gnss")
class Gnss(Sensor[GnssReading]):
    """A satellite receiver."""

    kind = "gnss"
    Data: ClassVar[type[SensorData]] = GnssData
    data: GnssData

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a receiver into a world; ``spec`` is a GnssSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.earth = context.earth
        self._holes = coverage_boxes(context.regions)
        sigma = (spec.horizontal_std_noise, spec.horizontal_std_noise, spec.vertical_std_noise)
        self._sigma = np.array(sigma, dtype=np.float64)
        slow = (spec.horizontal_slow_noise, spec.horizontal_slow_noise, spec.vertical_slow_noise)
        self._slow = np.array(slow, dtype=np.float64)
        self._drifts = bool(self._slow.any())
        self._kept = math.exp(-self.cadence.ticks * context.dt / spec.correlation_time)
        total = np.maximum(np.hypot(self._sigma, self._slow), LEAST_SIGMA)
        self._covariance = read_only(np.diag(total**2))
        speed = max(spec.velocity_std_noise, LEAST_SIGMA)
        self._velocity_covariance = read_only(np.eye(3) * speed**2)
        self._no_velocity = read_only(np.full(3, np.nan))
        self._unknown = read_only(np.zeros((3, 3)))

    def warnings(self) -> Iterator[str]:
        """Yield that there will be no readings."""
        yield from super().warnings()
        if self.earth is None:
            yield "the world has no <georeference>: its gnss sensors give no readings"

    def start(self, tick: int) -> None:
        """Begin the first period; the slow errors go on from what they are."""
        self.data.steps = 0
        super().start(tick)

    def slow_errors(self, steps: int) -> FloatArray:
        """Return the slow errors (3,) m after a number of periods, past all that were skipped."""
        data = self.data
        words = np.array((seed_word(data.seed), self.name_word), dtype=np.uint64)
        numbers = np.zeros(3)
        if data.slow is None:
            normals_kernel(words[0], words[1], 0, BIAS_WALK, numbers, 0, 3)
            data.slow = self._slow * numbers
        fresh = math.sqrt(1.0 - self._kept**2) * self._slow
        for step in range(data.steps + 1, steps + 1):
            normals_kernel(words[0], words[1], step, BIAS_WALK, numbers, 0, 3)
            data.slow = self._kept * data.slow + fresh * numbers
        data.steps = max(steps, data.steps)
        return data.slow

    def antenna(self, bodies: Rows) -> tuple[Vector, Vector]:
        """Return where the antenna is in the world [m], and how fast it moves there [m/s]."""
        m = self.mount
        if self.body < 0:
            return (m.x, m.y, m.z), (0.0, 0.0, 0.0)
        b = bodies[self.body]
        pose = Pose(*(float(b[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))
        roll_rate, pitch_rate, yaw_rate = (float(b[k]) for k in ("roll_rate", "pitch_rate", "wz"))
        vx, vy, vz = (float(b[k]) for k in ("vx", "vy", "vz"))
        # rates of the angles of Rz(yaw) Ry(pitch) Rx(roll) about the axes of the world
        c, s = math.cos(pose.yaw), math.sin(pose.yaw)
        cp, sp = math.cos(pose.pitch), math.sin(pose.pitch)
        wx = c * cp * roll_rate - s * pitch_rate
        wy = s * cp * roll_rate + c * pitch_rate
        wz = yaw_rate - sp * roll_rate
        x, y, z = (rotation(pose) @ (m.x, m.y, m.z)).tolist()
        return (
            (pose.x + x, pose.y + y, pose.z + z),
            (vx + wy * z - wz * y, vy + wz * x - wx * z, vz + wx * y - wy * x),
        )

    def covered(self, x: float, y: float, z: float) -> bool:
        """Return whether satellites are seen at a point of the world [m]."""
        for low_x, high_x, low_y, high_y, low_z, high_z, hidden in self._holes:
            if low_x <= x <= high_x and low_y <= y <= high_y and low_z <= z <= high_z:
                return not hidden
        return True

    def measure(self, state: StateView, tick: int, time: float) -> GnssReading | None:
        """Return where the antenna is; None in a world that lies nowhere."""
        if self.earth is None:
            return None
        numbers = self.normals(tick, 6)
        errors = self._sigma * numbers[:3]
        if self._drifts:
            errors += self.slow_errors(self.number(tick))
        east, north, up = errors.tolist()
        (x, y, z), (vx, vy, vz) = self.antenna(state.bodies)
        place = (math.inf, math.inf, math.inf)
        c, s = math.cos(self.earth.yaw), math.sin(self.earth.yaw)
        if self.covered(x, y, z):
            shifted = (x + c * east + s * north, y - s * east + c * north, z + up)
            place = self.earth.to_geodetic(*shifted)
        if not all(map(math.isfinite, place)):  # hidden, or outside what UTM can tell
            nan = math.nan
            return GnssReading(
                tick,
                time,
                *(nan, nan, nan),
                STATUS_NO_FIX,
                self._unknown,
                COVARIANCE_UNKNOWN,
                self._no_velocity,
                self._unknown,
            )
        velocity = np.array((c * vx - s * vy, s * vx + c * vy, vz))
        velocity += self.spec.velocity_std_noise * numbers[3:]
        return GnssReading(
            tick,
            time,
            *place,
            STATUSES[self.spec.fix_status],
            self._covariance,
            COVARIANCE_DIAGONAL_KNOWN,
            read_only(velocity),
            self._velocity_covariance,
        )


def coverage_boxes(regions: tuple[Any, ...]) -> list[tuple[float, ...]]:
    """Return x, y, z ranges [m] and whether satellites are hidden there, in file order."""
    boxes: list[tuple[float, ...]] = []
    for region in regions:
        if region.property_name != "gps_no_coverage":
            continue
        low = -math.inf if region.z_min <= -ANY_HEIGHT else region.z_min
        high = math.inf if region.z_max >= ANY_HEIGHT else region.z_max
        sides = (region.x_min, region.x_max, region.y_min, region.y_max)
        boxes.append((*sides, low, high, float(bool(region.value))))
    return boxes
