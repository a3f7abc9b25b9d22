# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Joints and links of wheels: an axle joint each, and a steering joint for steered wheels.

Rollers of mecanum wheels and swivels of casters have no joints.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mvsim_core.specs.dynamics import AckermannSpec, DynamicsSpec
from mvsim_core.specs.wheel import WheelSpec

#: Index of the first steered wheel of an Ackermann vehicle.
FIRST_STEERED = 2


@dataclass(frozen=True, slots=True)
class WheelJoint:
    """Joint and link names of one wheel.

    Attributes:
        token: Name of the wheel, unique on the vehicle.
        spec: Its mounting position and size.
        steered: Whether it has a steering joint.
    """

    token: str
    spec: WheelSpec
    steered: bool

    @property
    def axle(self) -> str:
        """Name of the joint about the axle."""
        return f"{self.token}_joint"

    @property
    def steering(self) -> str:
        """Name of the steering joint about the vertical axis."""
        return f"{self.token}_steering_joint"

    @property
    def link(self) -> str:
        """Link of the wheel, without a prefix."""
        return f"{self.token}_link"

    @property
    def steering_link(self) -> str:
        """Link between the joints of a steered wheel, without a prefix."""
        return f"{self.token}_steering_link"


def wheel_joints(dynamics: DynamicsSpec) -> list[WheelJoint]:
    """Return the joints of a vehicle in the order of the world file; equal names numbered."""
    ackermann = isinstance(dynamics, AckermannSpec)
    counts = Counter(wheel.name for wheel in dynamics.wheels)
    seen: Counter[str] = Counter()
    joints = []
    for i, wheel in enumerate(dynamics.wheels):
        seen[wheel.name] += 1
        token = f"{wheel.name}{seen[wheel.name]}" if counts[wheel.name] > 1 else wheel.name
        joints.append(WheelJoint(token, wheel, ackermann and i >= FIRST_STEERED))
    return joints
