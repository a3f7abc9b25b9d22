# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""A wheel of a vehicle."""

from __future__ import annotations

import math
from dataclasses import dataclass

from mvsim_core.specs.converters import (
    DEGREES,
    WHEEL_POSITION,
    Color,
    Converter,
    number,
    show,
)
from mvsim_core.specs.params import POSITIVE, Spec, one_of, optional, param, section
from mvsim_core.specs.visual import VisualSpec


def _inertia(text: str) -> float | None:
    value = number(text)
    return None if value == -1.0 else value


_INERTIA: Converter[float | None] = Converter(
    "number", _inertia, lambda v: "-1" if v is None else show(v)
)
_STEERS_ALONE = "only the visual of the wheel itself steers"
WHEEL_TYPES = ("standard", "omni", "mecanum", "caster")
_AUTOMATIC_OR_POSITIVE = optional(POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WheelSpec(Spec):
    """One wheel of a vehicle.

    The tag is the place of the wheel, such as `l_wheel`.
    """

    name: str = "wheel"
    x: float = param(
        0.0,
        xml="pos",
        conv=WHEEL_POSITION,
        into=("x", "y", "yaw"),
        attribute=True,
        unit="m",
        help="position of the wheel's centre in the vehicle frame; a third number is its yaw",
    )
    y: float = 0.0
    yaw: float = 0.0
    mass: float = param(2.0, unit="kg", check=POSITIVE, attribute=True)
    width: float = param(0.2, unit="m", check=POSITIVE, attribute=True)
    diameter: float = param(0.4, unit="m", check=POSITIVE, attribute=True)
    inertia: float | None = param(
        None,
        conv=_INERTIA,
        unit="kg m^2",
        check=_AUTOMATIC_OR_POSITIVE,
        attribute=True,
        help="about the axle; -1 or absent: that of a solid disc, mass * diameter^2 / 8",
    )
    type: str = param(
        "standard",
        attribute=True,
        check=one_of(*WHEEL_TYPES),
        help="caster: it swivels; only, and by default, the caster_wheel of differential_3_wheels",
    )
    roller_angle: float = param(
        0.25 * math.pi,
        xml="roller_angle_deg",
        conv=DEGREES,
        unit="rad",
        attribute=True,
        help="of mecanum wheels: the force acts at heading + roller angle + 90 degrees",
    )
    color: Color = param(Color(50 / 255, 50 / 255, 50 / 255), attribute=True)
    linked_yaw: str = param(
        "", attribute=True, help="visual that turns with this wheel", no_effect=_STEERS_ALONE
    )
    linked_yaw_offset: float = param(
        0.0,
        xml="linked_yaw_offset_deg",
        conv=DEGREES,
        unit="rad",
        attribute=True,
        no_effect=_STEERS_ALONE,
    )
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)

    @property
    def has_rollers(self) -> bool:
        """Whether it rolls freely across its grip direction."""
        return self.type in ("omni", "mecanum")

    @property
    def grip(self) -> float:
        """Direction of the force relative to the heading [rad]; with rollers the only one."""
        return self.roller_angle + 0.5 * math.pi if self.type == "mecanum" else 0.0

    @property
    def radius(self) -> float:
        """Half the diameter [m]."""
        return 0.5 * self.diameter

    @property
    def spin_inertia(self) -> float:
        """Inertia about the axle [kg m^2], given or that of a solid disc."""
        return 0.5 * self.mass * self.radius**2 if self.inertia is None else self.inertia
