# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheel encoders (class ``wheel_encoders``, an extension): angles and speeds of all wheels.

They see what the wheels do, so slip shows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray

FULL_TURN = 2.0 * math.pi


@quick_init
@dataclass(frozen=True, slots=True)
class EncoderReading(Reading):
    """All wheels of a vehicle, in the order of the world file.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        position: (n,) rad, spin angle since the start, positive rolls forward; beyond 10,000 rad
            whole turns are taken off.
        velocity: (n,) rad/s, spin.
        steering: (n,) rad about the vertical axis, vehicle frame.
    """

    tick: int
    time: float
    position: FloatArray
    velocity: FloatArray
    steering: FloatArray


@SENSORS.register("wheel_encoders")
class WheelEncoders(Sensor[EncoderReading]):
    """The encoders of one vehicle; without a vehicle they read no wheels."""

    kind = "wheel_encoders"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put encoders into a vehicle; ``spec`` is an EncodersSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        ticks = spec.ticks_per_revolution
        self._step = FULL_TURN / ticks if ticks else 0.0

    def measure(self, state: StateView, tick: int, time: float) -> EncoderReading:
        """Return angles and speeds of the wheels now."""
        wheels = state.wheels[self.wheel0 : self.wheel0 + self.n_wheels]
        position = wheels["phi"].copy()
        if self._step:
            position = np.floor(position / self._step) * self._step
        velocity = wheels["omega"].copy()
        if self.spec.velocity_std_noise > 0.0:
            velocity += self.spec.velocity_std_noise * self.normals(tick, len(velocity))
        steering = wheels["yaw"].copy()
        return EncoderReading(
            tick, time, read_only(position), read_only(velocity), read_only(steering)
        )
