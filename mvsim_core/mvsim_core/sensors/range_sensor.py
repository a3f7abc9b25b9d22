# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Single-beam range sensors (class ``range``): sonar, infrared, and cliff sensors that look down.

The beam is a cone about the x axis of the sensor's frame; the reading is the distance to the
nearest surface in it that sends an echo back. Readings follow REP-117 and sensor_msgs/Range: +inf
where nothing is nearer than the greatest range, -inf where something is nearer than the least. If
both limits are equal the sensor is a switch, with -inf for a detection and +inf for none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.scene3d import SEE_ALL, SEE_FIXED_ONLY, Hits, Rays, Scene3d, copy_of, hides
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.sensors.readings import Reading, quick_init
from mvsim_core.state.arrays import FloatArray

ULTRASOUND, INFRARED = 0, 1
RADIATION = {"ultrasound": ULTRASOUND, "infrared": INFRARED}


@quick_init
@dataclass(frozen=True, slots=True)
class RangeReading(Reading):
    """One distance.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        range: m; +inf nothing seen, -inf too near.
        field_of_view: Full angle of the cone [rad].
        range_min: Least range that is measured [m].
        range_max: No finite range is above it [m].
        radiation_type: ULTRASOUND (0) or INFRARED (1).
        variance: m², of the noise; 0: none.
    """

    tick: int
    time: float
    range: float
    field_of_view: float
    range_min: float
    range_max: float
    radiation_type: int
    variance: float


@SENSORS.register("range")
class RangeSensor(Sensor[RangeReading]):
    """A range sensor with one beam.

    Attributes:
        directions: (n, 1, 3) unit vectors of the rays that fill the cone, sensor frame; the first
            one is its axis.
    """

    kind = "range"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a sensor into a world; ``spec`` is a RangeSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.scene = context.scene3d or Scene3d()
        self.directions = cone(spec.fov, spec.ray_spacing)[:, None, :]
        # The limits as single-precision messages will state them.
        self.range_min = float(np.float32(spec.min_range))
        self.range_max = float(np.float32(spec.max_range))
        self._floor = context.implied_floor
        self._least_cosine = math.cos(spec.max_incidence)
        self._hits = Hits.empty(len(self.directions), 1)

    def warm(self, state: StateView) -> None:
        """Build the scene and compile the kernels."""
        self._nearest(state)

    def measure(self, state: StateView, tick: int, time: float) -> RangeReading:
        """Return the distance to the nearest surface in the cone."""
        spec, low, high = self.spec, self.range_min, self.range_max
        true = self._nearest(state)
        found = true
        if spec.range_std_noise > 0.0 and low < high:
            found += spec.range_std_noise * float(self.normals(tick, 1)[0])
        if true > high or found > high:
            found = math.inf
        elif true < low or found < low or low == high:
            found = -math.inf
        return RangeReading(
            tick,
            time,
            found,
            spec.fov,
            low,
            high,
            RADIATION[spec.radiation_type],
            spec.range_std_noise**2,
        )

    def _nearest(self, state: StateView) -> float:
        """Return the distance to the nearest surface that sends an echo [m]; inf: none."""
        spec, bodies = self.spec, state.bodies
        mask = hides(self.body) if spec.ignore_parent_body else SEE_ALL
        if not spec.bodies_visible:
            mask = SEE_FIXED_ONLY
        pose = mounted(self.mount, self.body, bodies)
        count = len(self.directions)
        # somewhat farther than the limit, at which a reading is still finite
        limits = (0.0, self.range_max * (1.0 + 1e-6))
        glass, own = spec.pass_glass, self.full_name
        rays = Rays(self.directions, pose, 0, count, *limits, mask, (16, 1), glass, own)
        copy = copy_of(bodies, self.body)
        self.scene.cast(rays, bodies, self._hits, state.wheels, copy)
        distance, cosine = self._hits.distance[:, 0], self._hits.cosine[:, 0]
        nearest = np.where(cosine >= self._least_cosine, distance, np.inf)
        if self._floor:
            # Rays that meet the floor before anything else see it, also where it sends no echo.
            down = -(self.directions[:, 0] @ pose[0, 6:9])
            floor = np.where(down > 0.0, pose[0, 11] / np.maximum(down, 1e-12), np.inf)
            floor[floor < 0.0] = np.inf
            echo = np.where(down >= self._least_cosine, floor, np.inf)
            nearest = np.where(floor < distance, echo, nearest)
        return float(nearest.min())


def cone(angle: float, spacing: float) -> FloatArray:
    """Return (n, 3) unit vectors that fill a cone about x.

    They stand on rings around the axis, the last one on the rim of the cone, and on no ring nor
    between two rings farther apart than `spacing`.

    Args:
        angle: Full angle of the cone [rad].
        spacing: Largest angle between neighbours [rad].
    """
    rings = math.ceil(0.5 * angle / spacing)
    ways = [np.array([[1.0, 0.0, 0.0]])]
    for k in range(1, rings + 1):
        tilt = 0.5 * angle * k / rings
        count = max(8, 4 * math.ceil(0.5 * math.pi * math.sin(tilt) / spacing))
        around = 2.0 * math.pi * np.arange(count) / count
        ring = (np.cos(around), np.sin(around))
        across = math.sin(tilt)
        ways.append(
            np.column_stack((np.full(count, math.cos(tilt)), across * ring[0], across * ring[1]))
        )
    return np.concatenate(ways)
