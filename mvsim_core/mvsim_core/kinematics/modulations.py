# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Between kinematics and motion: acceleration limits and motor controllers.

Objects for planners and scripts; a world runs the same laws in its kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.base import as_floats, checked_time_step, require
from mvsim_core.kinematics.laws import limit_acceleration, motor_step
from mvsim_core.kinematics.two_wheels_dyn import TwoWheelsDiffDyn
from mvsim_core.state.arrays import LIMIT


@dataclass(frozen=True, kw_only=True)
class LimitAcceleration:
    """Reaches a commanded twist with limited accelerations.

    Args:
        max_acceleration: Limit of the linear acceleration, as a vector [m/s²].
        max_angular_acceleration: Limit of the angular acceleration [rad/s²].

    Raises:
        ValueError: A limit is negative or not a number.
    """

    max_acceleration: float = math.inf
    max_angular_acceleration: float = math.inf

    def __post_init__(self) -> None:
        """Check the limits."""
        for name in ("max_acceleration", "max_angular_acceleration"):
            value = getattr(self, name)
            require(name, value, value >= 0.0, ">= 0")

    def apply(self, kinematics: object, twist: Twist, current: Twist, time_step: float) -> Twist:
        """Return the twist after a time step [s] from `current` towards `twist`.

        Args:
            kinematics: Not used; motor controllers need them.
            twist: The commanded twist.
            current: The present twist.
            time_step: Time on the way [s]; at 0 nothing can change.
        """
        want, now, dt = as_floats(twist), as_floats(current), checked_time_step(time_step)
        limits = self.max_acceleration, self.max_angular_acceleration
        return Twist(*limit_acceleration(want, now, dt, *limits)) if dt > 0.0 else Twist(*now)


class MotorPid:
    """Motors whose torques follow the needed ones by a PID, one a wheel.

    Each call is one control step: f += k_p e + k_i Σ e Δt + k_d Δe / Δt with e = f_needed - f, the
    scaled torques f [m/s²] clipped to what the kinematics allow.

    Args:
        k_p: Proportional gain [1]; 1 reaches the needed torque at once.
        k_i: Integral gain [1/s].
        k_d: Derivative gain [s].
    """

    def __init__(self, k_p: float = 1.0, k_i: float = 0.0, k_d: float = 0.0) -> None:
        """Start with motors at rest.

        Raises:
            ValueError: A gain is negative or not a number.
        """
        self._rows = np.zeros(1, LIMIT)
        for name, gain in (("k_p", k_p), ("k_i", k_i), ("k_d", k_d)):
            require(name, gain, 0.0 <= gain < math.inf, ">= 0")
            self._rows[name] = gain

    @property
    def torques(self) -> tuple[float, float]:
        """Scaled torques of the left and right motor now [m/s²]."""
        return float(self._rows["torque_left"][0]), float(self._rows["torque_right"][0])

    def apply(
        self, kinematics: TwoWheelsDiffDyn, twist: Twist, current: Twist, time_step: float
    ) -> Twist:
        """Return the twist that the motors reach from `current` on the way to `twist`.

        Args:
            kinematics: Of the robot, with its torque limit.
            twist: The commanded twist.
            current: The present twist.
            time_step: Time on the way [s]; at 0 nothing can change.
        """
        want, now, dt = as_floats(twist), as_floats(current), checked_time_step(time_step)
        if dt == 0.0:
            return Twist(*now)
        row = kinematics.row()[0]
        return Twist(*motor_step(self._rows[0], row, want, now, dt))


class MotorController(MotorPid):
    """Motors whose torques change by a share of the error in each control step.

    Args:
        k: That share [1].
    """

    def __init__(self, k: float = 0.1) -> None:
        """Start with motors at rest."""
        super().__init__(k_p=k)
