# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command messages to checked numbers."""

from __future__ import annotations

import math
from typing import NamedTuple

from ackermann_msgs.msg import AckermannDrive, AckermannDriveStamped
from geometry_msgs.msg import Twist, TwistStamped


class TwistCommand(NamedTuple):
    """Velocity in the vehicle frame [m/s, m/s, rad/s]."""

    vx: float
    vy: float
    wz: float


class AckermannCommand(NamedTuple):
    """Speed at the rear axle [m/s] and angle of a virtual front centre wheel [rad]."""

    speed: float
    steering: float


def twist_command(message: Twist | TwistStamped) -> TwistCommand:
    """Return a velocity command.

    A stamped one takes effect on arrival: its stamp and frame are ignored.
    """
    twist = message.twist if isinstance(message, TwistStamped) else message
    return TwistCommand(twist.linear.x, twist.linear.y, twist.angular.z)


def ackermann_command(message: AckermannDrive | AckermannDriveStamped) -> AckermannCommand:
    """Return an Ackermann command; limits of acceleration, jerk and steering rate are ignored."""
    drive = message.drive if isinstance(message, AckermannDriveStamped) else message
    return AckermannCommand(drive.speed, drive.steering_angle)


def non_finite_fields(command: TwistCommand | AckermannCommand) -> str:
    """Return the fields of a command that are NaN or infinite as a text, "" if none is."""
    bad = [f"{k} = {v}" for k, v in command._asdict().items() if not math.isfinite(v)]
    return ", ".join(bad)
