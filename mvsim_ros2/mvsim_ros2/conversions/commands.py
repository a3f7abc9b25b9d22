# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command messages to checked numbers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import NamedTuple

from ackermann_msgs.msg import AckermannDrive, AckermannDriveStamped
from geometry_msgs.msg import Twist, TwistStamped, Wrench
from std_msgs.msg import Float64MultiArray

#: Most fields that an error text lists.
MOST_FIELDS = 4


class TwistCommand(NamedTuple):
    """Velocity in the vehicle frame [m/s, m/s, rad/s]."""

    vx: float
    vy: float
    wz: float


class AckermannCommand(NamedTuple):
    """Speed at the rear axle [m/s] and angle of a virtual front centre wheel [rad]."""

    speed: float
    steering: float


class ForceCommand(NamedTuple):
    """Force along x and y of the world [N], and torque about the vertical [N m]."""

    fx: float
    fy: float
    torque: float


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


def torque_command(message: Float64MultiArray) -> tuple[float, ...]:
    """Return torques [N m], and perhaps a steering angle [rad] after them; see `follow_torques`.

    The layout of the message is ignored.
    """
    return tuple(message.data)


def force_command(message: Wrench) -> ForceCommand:
    """Return what moves a planar body of a force and a torque; the rest is ignored."""
    return ForceCommand(message.force.x, message.force.y, message.torque.z)


def refused_fields(command: Mapping[str, float], most: float) -> str:
    """Return the first fields of a command that are not within ±most as a text, "" if none is."""
    bad = (f"{k} = {v:g}" for k, v in command.items() if not abs(v) <= most)  # true for NaN
    return ", ".join(islice(bad, MOST_FIELDS))
