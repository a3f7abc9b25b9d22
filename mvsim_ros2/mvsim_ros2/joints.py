# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The joints of a vehicle: wheels that turn, and steered wheels that also turn sideways.

Rollers of mecanum wheels and casters' swivels are no joints.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from mvsim_core.specs.dynamics import AckermannSpec, DynamicsSpec
from mvsim_core.specs.wheel import WheelSpec

#: Wheels of a car from this one on are steered.
FIRST_STEERED = 2


@dataclass(frozen=True, slots=True)
class WheelJoint:
    """How one wheel hangs on its vehicle.

    Attributes:
        token: Name of the wheel, unique on the vehicle.
        spec: Its place and size.
        steered: Whether it turns about the vertical axis.
    """

    token: str
    spec: WheelSpec
    steered: bool

    @property
    def spin(self) -> str:
        """Name of the joint about the axle."""
        return f"{self.token}_joint"

    @property
    def steering(self) -> str:
        """Name of the joint about the vertical axis, of steered wheels."""
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
    """Return the wheels of a vehicle in the order of its world file; equal names are numbered."""
    car = isinstance(dynamics, AckermannSpec)
    counts = Counter(wheel.name for wheel in dynamics.wheels)
    seen: Counter[str] = Counter()
    joints = []
    for i, wheel in enumerate(dynamics.wheels):
        seen[wheel.name] += 1
        token = f"{wheel.name}{seen[wheel.name]}" if counts[wheel.name] > 1 else wheel.name
        joints.append(WheelJoint(token, wheel, car and i >= FIRST_STEERED))
    return joints
