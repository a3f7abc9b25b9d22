# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheels to sensor_msgs/JointState and mvsim_msgs/WheelStates."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import Protocol

from mvsim_msgs.msg import WheelState, WheelStates
from sensor_msgs.msg import JointState
from std_msgs.msg import Header


class Wheel(Protocol):
    """The attributes of a wheel that are published; forces in the vehicle frame."""

    @property
    def omega(self) -> float:
        """Spin [rad/s], positive rolls forward."""

    @property
    def steering(self) -> float:
        """Angle about the vertical axis [rad]."""

    @property
    def torque(self) -> float:
        """Motor torque [N m]."""

    @property
    def fx(self) -> float:
        """Ground force forward [N]."""

    @property
    def fy(self) -> float:
        """Ground force to the left [N]."""

    @property
    def load(self) -> float:
        """Normal force [N]."""


def joint_states_message(
    names: Sequence[str],
    position: Sequence[float],
    velocity: Sequence[float],
    effort: Sequence[float],
    header: Header,
) -> JointState:
    """Return joint states: angles [rad], speeds [rad/s], torques [N m] in the order of names."""
    return JointState(
        header=header,
        name=list(names),
        position=array("d", position),
        velocity=array("d", velocity),
        effort=array("d", effort),
    )


def wheel_states_message(
    names: Sequence[str], wheels: Sequence[Wheel], header: Header
) -> WheelStates:
    """Return the state of all wheels; `names` are those of the axle joints."""
    return WheelStates(
        header=header,
        wheels=[_wheel_state(name, w) for name, w in zip(names, wheels, strict=True)],
    )


def _wheel_state(name: str, wheel: Wheel) -> WheelState:
    angle, fx_v, fy_v = wheel.steering, wheel.fx, wheel.fy
    c, s = math.cos(angle), math.sin(angle)
    return WheelState(
        name=name,
        steering_angle=angle,
        angular_velocity=wheel.omega,
        torque=wheel.torque,
        longitudinal_force=c * fx_v + s * fy_v,
        lateral_force=c * fy_v - s * fx_v,
        normal_force=wheel.load,
    )
