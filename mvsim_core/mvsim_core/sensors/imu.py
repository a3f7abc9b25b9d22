# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units (class ``imu``), with the conventions of REP-145 and sensor_msgs/Imu.

The accelerometer measures specific force: at rest and level +9.81 m/s² on the axis that points up.
Both instruments are where the mount puts them, so lever arm and rotation show. Noise follows the
documented discrete model: white noise with a standard deviation a reading, and biases that begin
at zero and walk at random. Scale errors, misalignment and saturation are not simulated.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import (
    Quaternion,
    quaternion,
    quaternion_product,
    rotation,
    rotation_vector_quaternion,
)
from mvsim_core.sensors.base import SENSORS, Bank, Sensor, SensorContext
from mvsim_core.sensors.inertia import inertial_kernel
from mvsim_core.state.arrays import FloatArray, Rows

#: Least standard deviation that a covariance states [SI]: filters do not bear a zero, and REP-145
#: calls a covariance of zeros unknown.
LEAST_SIGMA = 1e-6


@dataclass(frozen=True, slots=True)
class ImuReading:
    """One reading, in the frame of the sensor. Covariances are those of the white noise.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        angular_velocity: (3,) rad/s.
        linear_acceleration: (3,) m/s², specific force, so that gravity points up.
        angular_velocity_covariance: (3, 3) rad²/s².
        linear_acceleration_covariance: (3, 3) m²/s⁴.
        orientation: x, y, z, w of the sensor against east, north and up; None: not measured.
        orientation_covariance: (3, 3) rad²; its first element is -1 where not measured.
    """

    tick: int
    time: float
    angular_velocity: FloatArray
    linear_acceleration: FloatArray
    angular_velocity_covariance: FloatArray
    linear_acceleration_covariance: FloatArray
    orientation: Quaternion | None
    orientation_covariance: FloatArray


@SENSORS.register("imu")
class Imu(Sensor[ImuReading]):
    """An inertial unit.

    A reading holds the mean over the last step, or with ``average`` over the whole period.

    Attributes:
        gyro_bias: (3,) rad/s, its true bias now, sensor frame.
        accelerometer_bias: (3,) m/s².
    """

    kind = "imu"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put an inertial unit into a world; ``spec`` is an ImuSpec, the rest as in `Sensor`."""
        self._errors = np.zeros(6)
        self._sum = np.zeros(6)
        self._count = 0
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.dt = context.dt
        self.gravity = context.gravity
        self.sweeps = spec.average
        root = math.sqrt(self.period_ticks * context.dt)
        gyro = spec.angular_velocity_white_noise
        accelerometer = spec.linear_acceleration_white_noise
        self._white = np.repeat([gyro, accelerometer], 3)
        self._walk = np.repeat(
            [spec.angular_velocity_random_walk, spec.linear_acceleration_random_walk], 3
        )
        self._walk = self._walk * root
        self._yaw = 0.0 if context.earth is None else context.earth.yaw
        m = self.mount
        self._mounted = quaternion(m.roll, m.pitch, m.yaw)
        self._rate_covariance = _covariance(gyro)
        self._force_covariance = _covariance(accelerometer)
        self._orientation_covariance = _covariance(spec.orientation_std_noise)
        if not spec.measure_orientation:
            self._orientation_covariance = _frozen(np.diag([-1.0, 0.0, 0.0]))
        self._alone: ImuBank | None = None

    @property
    def gyro_bias(self) -> FloatArray:
        """(3,) rad/s, its true bias now, sensor frame."""
        return self._errors[:3].copy()

    @property
    def accelerometer_bias(self) -> FloatArray:
        """(3,) m/s², its true bias now, sensor frame."""
        return self._errors[3:].copy()

    def measure(self, bodies: Rows, tick: int, time: float) -> ImuReading:
        """Return what it feels now."""
        return self._bank().measure([0], bodies, tick, time)[0]

    def sweep(self, bodies: Rows, tick: int) -> None:
        """Add what it feels in this step to the mean of the period."""
        self._sum += self._bank().felt([0], bodies)[0]
        self._count += 1

    def _bank(self) -> ImuBank:
        if self._alone is None:
            self._alone = ImuBank([self])
        self._alone.rows[0] = self.body
        return self._alone

    def reading(self, felt: FloatArray, bodies: Rows, tick: int, time: float) -> ImuReading:
        """Return a reading of true rates and forces (6,), which it keeps."""
        if self._count:
            np.divide(self._sum, self._count, out=felt)
            self._sum[:] = 0.0
            self._count = 0
        # all are drawn always, so that the stream depends on the time alone
        noise = self._rng.standard_normal(15)
        self._errors += self._walk * noise[:6]
        felt += self._errors + self._white * noise[6:12]
        orientation = None
        if self.spec.measure_orientation:
            orientation = self._attitude(bodies, self.spec.orientation_std_noise * noise[12:])
        return ImuReading(
            tick,
            time,
            felt[:3],
            felt[3:],
            self._rate_covariance,
            self._force_covariance,
            orientation,
            self._orientation_covariance,
        )

    def _attitude(self, bodies: Rows, error: FloatArray) -> Quaternion:
        """Return the sensor's attitude against east, north, up, turned by an error (3,) [rad]."""
        roll = pitch = yaw = 0.0
        if self.body >= 0:
            b = bodies[self.body]
            roll, pitch, yaw = float(b["roll"]), float(b["pitch"]), float(b["yaw"])
        vehicle = quaternion(roll, pitch, yaw + self._yaw)
        sensor = quaternion_product(vehicle, self._mounted)
        return quaternion_product(sensor, rotation_vector_quaternion(*error.tolist()))

    def reset(self, seed: int) -> None:
        """Forget readings and biases and begin the random stream anew."""
        super().reset(seed)
        self._errors[:] = 0.0
        self._sum[:] = 0.0
        self._count = 0

    def state(self) -> dict[str, Any]:
        """Return all that ``restore`` needs, biases included."""
        own = {"errors": self._errors.copy(), "sum": self._sum.copy(), "count": self._count}
        return {**super().state(), **own}

    def restore(self, state: dict[str, Any]) -> None:
        """Return to what ``state`` gave."""
        super().restore(state)
        self._errors[:] = state["errors"]
        self._sum[:] = state["sum"]
        self._count = state["count"]

    def bank_key(self) -> Hashable:
        """Return what units that measure together share."""
        return (Imu, self.dt, self.gravity)

    @classmethod
    def bank(cls, sensors: Sequence[Imu]) -> ImuBank:
        """Return the units as arrays."""
        return ImuBank(sensors)


class ImuBank(Bank):
    """Inertial units as arrays; their bodies must be known."""

    def __init__(self, sensors: Sequence[Imu]) -> None:
        """Hold the units."""
        super().__init__(sensors)
        self.rows = np.array([s.body for s in sensors], dtype=np.int64)
        self._arms = np.array([s.mount[:3] for s in sensors], dtype=np.float64)
        self._turns = np.array([rotation(s.mount) for s in sensors])

    def measure(self, due: list[int], bodies: Rows, tick: int, time: float) -> list[ImuReading]:
        """Return the readings of the units at the places ``due``."""
        return [
            self.sensors[i].reading(row, bodies, tick, time)
            for i, row in zip(due, self.felt(due, bodies), strict=True)
        ]

    def felt(self, due: list[int], bodies: Rows) -> FloatArray:
        """Return true rates [rad/s] and specific forces [m/s²], (n, 6), of the last step."""
        felt = np.zeros((len(due), 6))
        first: Imu = self.sensors[0]
        rows = np.array(due, dtype=np.int64)
        inertial_kernel(
            bodies,
            self.rows[rows],
            self._arms[rows],
            self._turns[rows],
            first.gravity,
            first.dt,
            felt[:, :3],
            felt[:, 3:],
        )
        return felt


def _covariance(sigma: float) -> FloatArray:
    return _frozen(np.eye(3) * max(sigma, LEAST_SIGMA) ** 2)


def _frozen(matrix: FloatArray) -> FloatArray:
    matrix.flags.writeable = False
    return matrix
