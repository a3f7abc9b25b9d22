# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command messages as plain numbers, checked."""

from __future__ import annotations

import math
from typing import NamedTuple

from ackermann_msgs.msg import AckermannDrive, AckermannDriveStamped
from geometry_msgs.msg import Twist, TwistStamped

from mvsim_core import Vehicle


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

    A stamped one takes effect when it arrives: neither its time nor its frame is looked at.
    """
    twist = message.twist if isinstance(message, TwistStamped) else message
    return TwistCommand(twist.linear.x, twist.linear.y, twist.angular.z)


def ackermann_command(message: AckermannDrive | AckermannDriveStamped) -> AckermannCommand:
    """Return an Ackermann command; limits of acceleration, jerk and steering rate are ignored."""
    drive = message.drive if isinstance(message, AckermannDriveStamped) else message
    return AckermannCommand(drive.speed, drive.steering_angle)


def follow_twist(vehicle: Vehicle, command: TwistCommand, *, angle: bool) -> None:
    """Let a vehicle follow a velocity.

    Args:
        vehicle: Who shall follow.
        command: Its velocity.
        angle: Whether wz is no yaw rate but, of a vehicle that steers, the angle [rad] of a
            virtual front centre wheel.

    Raises:
        CommandError: Its controller takes no velocities.
    """
    if angle and "ackermann" in vehicle.accepts:
        vehicle.sideways(command.vy)
        vehicle.set_ackermann(command.vx, command.wz)
    else:
        vehicle.set_twist(*command)


def not_finite(command: TwistCommand | AckermannCommand) -> str:
    """Return what is wrong with a command that holds NaN or infinity, else ""."""
    bad = [f"{k} = {v}" for k, v in command._asdict().items() if not math.isfinite(v)]
    return ", ".join(bad)
