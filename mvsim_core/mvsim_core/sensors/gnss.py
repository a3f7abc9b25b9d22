# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Satellite receivers (class ``gnss``): latitude, longitude and height of the antenna.

In regions with the property ``gps_no_coverage`` there are readings without a fix. Errors are white
and independent from reading to reading; multipath and the slow errors of real receivers are not
simulated. Fields follow sensor_msgs/NavSatFix.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.readings import Reading, read_only
from mvsim_core.state.arrays import FloatArray, Rows

STATUS_NO_FIX, STATUS_FIX = -1, 0
COVARIANCE_UNKNOWN, COVARIANCE_DIAGONAL_KNOWN = 0, 2

#: Least standard deviation that a covariance states [m]: filters do not bear a zero.
LEAST_SIGMA = 1e-3
#: Limits of a region's height beyond which (the format's defaults) it has none [m].
ANY_HEIGHT = 1000.0


@dataclass(frozen=True, slots=True)
class GnssReading(Reading):
    """One position.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        latitude: deg, WGS84; NaN without a fix.
        longitude: deg; NaN without a fix.
        altitude: m above the ellipsoid; NaN without a fix.
        status: STATUS_FIX (0) or STATUS_NO_FIX (-1).
        covariance: (3, 3) m² of the errors to the east, to the north and upwards.
        covariance_type: COVARIANCE_DIAGONAL_KNOWN (2), or COVARIANCE_UNKNOWN (0) without a fix.
    """

    tick: int
    time: float
    latitude: float
    longitude: float
    altitude: float
    status: int
    covariance: FloatArray
    covariance_type: int


@SENSORS.register("gnss")
class Gnss(Sensor[GnssReading]):
    """A satellite receiver."""

    kind = "gnss"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a receiver into a world; ``spec`` is a GnssSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.earth = context.earth
        self._holes = coverage_boxes(context.regions)
        sigma = (spec.horizontal_std_noise, spec.horizontal_std_noise, spec.vertical_std_noise)
        self._sigma = np.array(sigma, dtype=np.float64)
        self._covariance = read_only(np.diag(np.maximum(self._sigma, LEAST_SIGMA) ** 2))
        self._unknown = read_only(np.zeros((3, 3)))

    def warnings(self) -> Iterator[str]:
        """Yield that there will be no readings."""
        yield from super().warnings()
        if self.earth is None:
            yield "the world has no <georeference>: its gnss sensors give no readings"

    def antenna(self, bodies: Rows) -> tuple[float, float, float]:
        """Return where the antenna is in the world [m]."""
        m = self.mount
        if self.body < 0:
            return m.x, m.y, m.z
        b = bodies[self.body]
        pose = Pose(*(float(b[k]) for k in ("x", "y", "z", "roll", "pitch", "yaw")))
        x, y, z = rotation(pose) @ (m.x, m.y, m.z)
        return pose.x + float(x), pose.y + float(y), pose.z + float(z)

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
        east, north, up = (self._sigma * self.normals(tick, 3)).tolist()
        x, y, z = self.antenna(state.bodies)
        place = (math.inf, math.inf, math.inf)
        if self.covered(x, y, z):
            c, s = math.cos(self.earth.yaw), math.sin(self.earth.yaw)
            shifted = (x + c * east + s * north, y - s * east + c * north, z + up)
            place = self.earth.to_geodetic(*shifted)
        if not all(map(math.isfinite, place)):  # hidden, or outside what UTM can tell
            nan = math.nan
            return GnssReading(
                tick, time, nan, nan, nan, STATUS_NO_FIX, self._unknown, COVARIANCE_UNKNOWN
            )
        return GnssReading(
            tick, time, *place, STATUS_FIX, self._covariance, COVARIANCE_DIAGONAL_KNOWN
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
