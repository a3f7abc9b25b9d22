# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicle dynamics: roles of wheels, steering geometry, rigid islands, odometry."""

from mvsim_core.dynamics.ackermann import Ackermann
from mvsim_core.dynamics.base import DYNAMICS, Dynamics, Gears, WheelRoles
from mvsim_core.dynamics.differential import Differential
from mvsim_core.dynamics.drivetrain import Drivetrain
from mvsim_core.dynamics.wheels import FreeWheels

__all__ = [
    "DYNAMICS",
    "Ackermann",
    "Differential",
    "Drivetrain",
    "Dynamics",
    "FreeWheels",
    "Gears",
    "WheelRoles",
]
