# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics: limits of speeds, torques and accelerations of a commanded twist.

Source: "Two-wheeled kinematics" of the navground documentation.
"""

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.base import (
    KINEMATICS,
    ArrayKinematics,
    Kinematics,
    interpolate,
    moi_of_accelerations,
    scaled_moi,
)
from mvsim_core.kinematics.modulations import LimitAcceleration, MotorController, MotorPid
from mvsim_core.kinematics.omni import Omni
from mvsim_core.kinematics.two_wheels import TwoWheelsDiff
from mvsim_core.kinematics.two_wheels_dyn import TwoWheelsDiffDyn

__all__ = [
    "KINEMATICS",
    "ArrayKinematics",
    "Kinematics",
    "LimitAcceleration",
    "MotorController",
    "MotorPid",
    "Omni",
    "Twist",
    "TwoWheelsDiff",
    "TwoWheelsDiffDyn",
    "interpolate",
    "moi_of_accelerations",
    "scaled_moi",
]
