# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Magnetometers (class ``magnetometer``): the earth's field in the frame of the sensor.

The field is that of the World Magnetic Model where the sensor is, or what the file states. The
vehicle adds a constant field of its own (hard iron) and scales what comes from outside (soft
iron, along the axes of the sensor).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.sensors.magnetic_field import magnetic_field
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray

#: Least standard deviation that a covariance states [T]: filters do not bear a zero.
LEAST_SIGMA = 1e-12


@quick_init
@dataclass(frozen=True, slots=True)
class MagneticReading(Reading):
    """One reading.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        magnetic_field: (3,) T, sensor frame.
        covariance: (3, 3) T², of the white noise.
    """

    tick: int
    time: float
    magnetic_field: FloatArray
    covariance: FloatArray


@SENSORS.register("magnetometer")
class Magnetometer(Sensor[MagneticReading]):
    """A magnetometer with three axes."""

    kind = "magnetometer"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a magnetometer into a world; ``spec`` is a MagnetometerSpec, rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.earth = context.earth
        self._hard_iron = np.array(spec.hard_iron)
        self._soft_iron = np.array(spec.soft_iron)
        sigma = max(spec.magnetic_field_std_noise, LEAST_SIGMA)
        self._covariance = read_only(np.eye(3) * sigma**2)

    def warnings(self) -> Iterator[str]:
        """Yield that there will be no readings."""
        yield from super().warnings()
        if self.earth is None and self.spec.magnetic_field is None:
            yield (
                "the world has no <georeference>: its magnetometers give no readings without"
                " <magnetic_field>"
            )

    def warm(self, state: StateView) -> None:
        """Load the model."""
        self._outside(mounted(self.mount, self.body, state.bodies)[0])

    def measure(self, state: StateView, tick: int, time: float) -> MagneticReading | None:
        """Return the field where it is; None in a world that lies nowhere."""
        pose = mounted(self.mount, self.body, state.bodies)[0]
        outside = self._outside(pose)
        if outside is None:
            return None
        field = self._soft_iron * (pose[:9].reshape(3, 3).T @ outside) + self._hard_iron
        if self.spec.magnetic_field_std_noise > 0.0:
            field += self.spec.magnetic_field_std_noise * self.normals(tick, 3)
        return MagneticReading(tick, time, read_only(field), self._covariance)

    def _outside(self, pose: FloatArray) -> FloatArray | None:
        """Return the field (3,) T at a pose (12,) of the sensor, world frame; None: unknown."""
        yaw = 0.0
        if self.spec.magnetic_field is not None:
            east, north, up = self.spec.magnetic_field
        if self.earth is not None:
            yaw = self.earth.yaw
            if self.spec.magnetic_field is None:
                place = self.earth.to_geodetic(*pose[9:].tolist())
                if not all(map(math.isfinite, place)):  # outside what UTM can tell
                    return None
                east, north, up = magnetic_field(*place, self.spec.year).tolist()
        elif self.spec.magnetic_field is None:
            return None
        c, s = math.cos(yaw), math.sin(yaw)
        return np.array((c * east + s * north, c * north - s * east, up))
