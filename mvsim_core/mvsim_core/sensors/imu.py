# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Inertial units (class ``imu``), with the conventions of REP-145 and sensor_msgs/Imu.

The accelerometer measures specific force: at rest and level +9.81 m/s² on the axis that points up.
Both instruments are where the mount puts them, so lever arm and rotation show. Noise follows the
documented discrete model: white noise with a standard deviation a reading, and biases that walk at
random, by one step a period whether anybody reads or not. Errors that a device has from the moment
it is turned on (bias, scale, misalignment) are drawn by seed and name, and constant. Readings
saturate last.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numba import njit

from mvsim_core.geometry.poses import (
    Pose,
    Quaternion,
    quaternion,
    quaternion_product,
    rotation,
    rotation_vector_quaternion,
)
from mvsim_core.sensors.base import (
    SENSORS,
    BatchedSensor,
    SensorBatch,
    SensorContext,
    SensorData,
    StateView,
)
from mvsim_core.sensors.blocks import with_room
from mvsim_core.sensors.inertia import inertial_kernel
from mvsim_core.sensors.noise import (
    READING,
    TURN_ON,
    WordArray,
    normals_kernel,
    seed_word,
    walk_kernel,
)
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray, Rows

#: Least standard deviation that a covariance states [SI]: filters do not bear a zero, and REP-145
#: calls a covariance of zeros unknown.
LEAST_SIGMA = 1e-6


@quick_init
@dataclass(frozen=True, slots=True)
class ImuReading(Reading):
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


@dataclass
class ImuData(SensorData):
    """What changes of an inertial unit.

    Attributes:
        bias: (6,) rad/s and m/s², true biases of the gyroscope and of the accelerometer.
        steps: Steps that the biases have taken: periods since the begin of the simulation.
        total: (6,) sum of true rates and forces over the part of the period that was swept.
        count: Number of ticks in it.
    """

    bias: FloatArray = field(default_factory=lambda: np.zeros(6))
    steps: int = 0
    total: FloatArray = field(default_factory=lambda: np.zeros(6))
    count: int = 0


@SENSORS.register("imu")
class Imu(BatchedSensor[ImuReading]):
    """An inertial unit.

    A reading holds the mean over the last step, or with ``average`` over the whole period.

    Attributes:
        white: (6,) rad/s and m/s², standard deviations of the white noise.
        walk: (6,) of a step of the biases.
    """

    kind = "imu"
    Data: ClassVar[type[SensorData]] = ImuData
    data: ImuData

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put an inertial unit into a world; ``spec`` is an ImuSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.gravity = context.gravity
        self.sweeps = spec.average
        root = math.sqrt(self.cadence.ticks * context.dt)
        gyro = spec.angular_velocity_white_noise
        accelerometer = spec.linear_acceleration_white_noise
        self.white: FloatArray = np.repeat([gyro, accelerometer], 3)
        self.walk: FloatArray = root * np.repeat(
            [spec.angular_velocity_random_walk, spec.linear_acceleration_random_walk], 3
        )
        self._walks = bool(self.walk.any())
        self._turn_on = (
            *(spec.angular_velocity_start_bias, spec.linear_acceleration_start_bias),
            *(spec.angular_velocity_scale, spec.linear_acceleration_scale),
            spec.misalignment,
        )
        limits = (spec.angular_velocity_max, spec.linear_acceleration_max)
        self._limit = np.repeat([math.inf if v is None else v for v in limits], 3)
        self._saturates = bool(np.isfinite(self._limit).any())
        self._yaw = 0.0 if context.earth is None else context.earth.yaw
        m = self.mount
        self._mounted = quaternion(m.roll, m.pitch, m.yaw)
        self._rate_covariance = _covariance(gyro)
        self._force_covariance = _covariance(accelerometer)
        self._orientation_covariance = _covariance(spec.orientation_std_noise)
        if not spec.measure_orientation:
            self._orientation_covariance = read_only(np.diag([-1.0, 0.0, 0.0]))

    @property
    def gyro_bias(self) -> FloatArray:
        """(3,) rad/s, its true bias at the last reading, sensor frame."""
        bias: FloatArray = self.data.bias[:3] + self.turn_on_errors[1][:3]
        return bias

    @property
    def accelerometer_bias(self) -> FloatArray:
        """(3,) m/s², its true bias at the last reading, sensor frame."""
        bias: FloatArray = self.data.bias[3:] + self.turn_on_errors[1][3:]
        return bias

    @property
    def turn_on_errors(self) -> tuple[FloatArray, FloatArray]:
        """Constant errors: (2, 3, 3) from true rates and forces to felt ones, and (6,) biases."""
        return _turn_on_errors(self.data.seed, self.name_word, self._turn_on)

    def start(self, tick: int) -> None:
        """Begin the first period; the biases go on from what they are."""
        self.data.steps = 0
        super().start(tick)

    def sweep(self, state: StateView, tick: int) -> None:
        """Add what it feels in this step to the mean of the period."""
        self._alone.sweep([0], state, tick)

    def add_step(self, felt: FloatArray, tick: int) -> None:
        """Add true rates and forces (6,) of a step to the mean of the period."""
        data = self.data
        if data.due_tick is not None and tick == self.begin_of(data.due_tick) + 1:
            data.total[:] = 0.0  # also when the reading of the last period was not requested
            data.count = 0
        data.total += felt
        data.count += 1

    def reading(
        self, felt: FloatArray, noise: FloatArray, bodies: Rows, tick: int, time: float
    ) -> ImuReading:
        """Return a reading.

        Args:
            felt: (6,) true rates and forces, which the reading keeps.
            noise: (9,) standard normal numbers.
            bodies: BODY.
            tick: The tick now.
            time: The same in s.
        """
        data = self.data
        if data.count:
            np.divide(data.total, data.count, out=felt)
            data.total[:] = 0.0
            data.count = 0
        if self._walks:
            self._take_steps(self.number(tick))
        if any(self._turn_on):
            turns, bias = self.turn_on_errors
            felt[:] = np.concatenate((turns[0] @ felt[:3], turns[1] @ felt[3:])) + bias
        felt += data.bias + self.white * noise[:6]
        if self._saturates:
            np.clip(felt, -self._limit, self._limit, out=felt)
        read_only(felt)
        orientation = None
        if self.spec.measure_orientation:
            orientation = self._attitude(bodies, self.spec.orientation_std_noise * noise[6:])
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

    def _take_steps(self, steps: int) -> None:
        """Advance the biases past readings that were not requested."""
        data = self.data
        words = np.array((seed_word(data.seed), self.name_word), dtype=np.uint64)
        walk_kernel(words[0], words[1], data.steps, steps, self.walk, data.bias)
        data.steps = max(steps, data.steps)

    def _attitude(self, bodies: Rows, error: FloatArray) -> Quaternion:
        """Return the sensor's attitude against east, north, up, turned by an error (3,) [rad]."""
        roll = pitch = yaw = 0.0
        if self.body >= 0:
            b = bodies[self.body]
            roll, pitch, yaw = float(b["roll"]), float(b["pitch"]), float(b["yaw"])
        vehicle = quaternion(roll, pitch, yaw + self._yaw)
        sensor = quaternion_product(vehicle, self._mounted)
        return quaternion_product(sensor, rotation_vector_quaternion(*error.tolist()))

    def batch_key(self) -> Hashable:
        """Return what units that measure together share."""
        return (Imu, self.dt, self.gravity)

    @classmethod
    def new_batch(cls) -> SensorBatch:
        """Return an empty batch of units."""
        return ImuBatch()


class ImuBatch(SensorBatch):
    """Inertial units as arrays."""

    def __init__(self) -> None:
        """Make an empty batch."""
        super().__init__()
        self._rows = np.zeros(0, np.int64)
        self._arms = np.zeros((0, 3))
        self._turns = np.zeros((0, 3, 3))
        self._names = np.zeros(0, np.uint64)

    def add(self, sensor: Imu) -> int:
        """Take a unit in, whose rows must be bound, and return its place."""
        place = super().add(sensor)
        self._rows = with_room(self._rows, place + 1)
        self._arms = with_room(self._arms, place + 1)
        self._turns = with_room(self._turns, place + 1)
        self._names = with_room(self._names, place + 1)
        self._rows[place] = sensor.body
        self._arms[place] = sensor.mount[:3]
        self._turns[place] = rotation(sensor.mount)
        self._names[place] = sensor.name_word
        return place

    def warm(self, state: StateView, place: int) -> None:
        """Compile the kernels."""
        self.measure([], state, 0, 0.0)

    def sweep(self, places: list[int], state: StateView, tick: int) -> None:
        """Add what the units feel in this step to the means of their periods."""
        for place, felt in zip(places, self._felt(places, state.bodies), strict=True):
            self.sensors[place].add_step(felt, tick)

    def measure(
        self, places: list[int], state: StateView, tick: int, time: float
    ) -> list[ImuReading]:
        """Return the readings of the units at ``places``."""
        noise = np.zeros((len(places), 9))
        rows = np.array(places, dtype=np.int64)
        _noise_kernel(self.seeds(places), self._names[rows], tick, noise)
        felt = self._felt(places, state.bodies)
        return [
            self.sensors[place].reading(felt[k].copy(), noise[k], state.bodies, tick, time)
            for k, place in enumerate(places)
        ]

    def _felt(self, places: list[int], bodies: Rows) -> FloatArray:
        """Return true rates [rad/s] and specific forces [m/s²], (n, 6), of the last step."""
        felt = np.zeros((len(places), 6))
        first: Imu = next(sensor for sensor in self.sensors if sensor is not None)
        rows = np.array(places, dtype=np.int64)
        inertial_kernel(
            bodies,
            self._rows[rows],
            self._arms[rows],
            self._turns[rows],
            first.gravity,
            first.dt,
            felt,
        )
        return felt


@lru_cache(maxsize=4096)
def _turn_on_errors(
    seed: int, name: int, sigma: tuple[float, float, float, float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the constant errors of a unit, as `Imu.turn_on_errors`.

    Args:
        seed: Of its world.
        name: As `name_word` gives it.
        sigma: Standard deviations: biases [rad/s, m/s²], scales [1], misalignment [rad].
    """
    numbers = np.zeros(18)
    words = np.array((seed_word(seed), name), dtype=np.uint64)
    normals_kernel(words[0], words[1], 0, TURN_ON, numbers, 0, numbers.size)
    bias = np.repeat(sigma[:2], 3) * numbers[:6]
    scale = 1.0 + np.repeat(sigma[2:4], 3) * numbers[6:12]
    turns = np.zeros((2, 3, 3))
    for k in range(2):
        angles = sigma[4] * numbers[12 + 3 * k : 15 + 3 * k]
        # What is felt is the true vector in the frame of axes that are turned by these angles.
        turns[k] = (
            rotation(Pose(0.0, 0.0, 0.0, *angles.tolist())).T * scale[3 * k : 3 * k + 3, None]
        )
    return read_only(turns), read_only(bias)


@njit(cache=True, nogil=True)
def _noise_kernel(seeds: WordArray, names: WordArray, tick: int, noise: FloatArray) -> None:
    """Write standard normal numbers (n, m) for the readings of n units."""
    for k in range(noise.shape[0]):
        normals_kernel(seeds[k], names[k], tick, READING, noise[k], 0, noise.shape[1])


def _covariance(sigma: float) -> FloatArray:
    return read_only(np.eye(3) * max(sigma, LEAST_SIGMA) ** 2)
