# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheels: joint states and what the ground does to them."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from typing import Protocol

from geometry_msgs.msg import Point, Vector3
from mvsim_msgs.msg import Contact, Contacts, WheelState, WheelStates
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from mvsim_core.world.contacts import Contact as Touch


class Wheel(Protocol):
    """What is read from a wheel; forces in the vehicle frame."""

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
        """Weight that it carries [N]."""


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
    """Return the state of all wheels; `names` are those of their joints."""
    return WheelStates(
        header=header,
        wheels=[_wheel_state(name, w) for name, w in zip(names, wheels, strict=True)],
    )


def _wheel_state(name: str, wheel: Wheel) -> WheelState:
    angle, fx, fy = wheel.steering, wheel.fx, wheel.fy
    c, s = math.cos(angle), math.sin(angle)
    return WheelState(
        name=name,
        steering_angle=angle,
        angular_velocity=wheel.omega,
        torque=wheel.torque,
        longitudinal_force=c * fx + s * fy,
        lateral_force=c * fy - s * fx,
        normal_force=wheel.load,
    )


def contacts_message(touches: Iterable[Touch], header: Header) -> Contacts:
    """Return what touches what, in the world frame."""
    return Contacts(
        header=header,
        contacts=[
            Contact(
                entity_a=touch.a,
                entity_b=touch.b,
                position=Point(x=float(touch.point[0]), y=float(touch.point[1])),
                normal=Vector3(x=float(touch.normal[0]), y=float(touch.normal[1])),
                impulse=float(touch.impulse),
            )
            for touch in touches
        ],
    )
