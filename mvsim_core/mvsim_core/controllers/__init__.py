# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Motor controllers: from targets to wheel torques and steering angles."""

from mvsim_core.controllers.base import CONTROLLERS, Controller, controller_class
from mvsim_core.controllers.drivetrain import EnginePid, EngineRaw
from mvsim_core.controllers.front_steer_pid import FrontSteerPid, TwistFrontSteerPid
from mvsim_core.controllers.raw import Raw
from mvsim_core.controllers.twist_ideal import TwistIdeal
from mvsim_core.controllers.twist_pid import TwistPid
from mvsim_core.controllers.wheels_pid import WheelsPid

__all__ = [
    "CONTROLLERS",
    "Controller",
    "EnginePid",
    "EngineRaw",
    "FrontSteerPid",
    "Raw",
    "TwistFrontSteerPid",
    "TwistIdeal",
    "TwistPid",
    "WheelsPid",
    "controller_class",
]
