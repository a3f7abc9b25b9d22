# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Dynamics of a vehicle: chassis, wheels in their fixed order, controller, drivetrain."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from mvsim_core.specs.controller import (
    ACKERMANN_CONTROLLERS,
    DIFFERENTIAL_CONTROLLERS,
    DRIVETRAIN_CONTROLLERS,
    AckermannRawSpec,
    ControllerSpec,
    DrivetrainRawSpec,
    RawSpec,
)
from mvsim_core.specs.converters import DEGREES, NUMBER, POINT2, Color, Point2
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    POLYGON,
    POSITIVE,
    Check,
    Spec,
    Variants,
    above,
    in_range,
    one_of,
    optional,
    param,
    section,
)
from mvsim_core.specs.shapes import shape_errors
from mvsim_core.specs.wheel import WheelSpec

Polygon = tuple[Point2, ...]

DRIVETRAINS = (
    "open_front",
    "open_rear",
    "open_4wd",
    "torsen_front",
    "torsen_rear",
    "torsen_4wd",
)
_HEXAGON: Polygon = (
    (-0.4, -0.5),
    (-0.4, 0.5),
    (0.4, 0.5),
    (0.6, 0.3),
    (0.6, -0.3),
    (0.4, -0.5),
)
_CAR: Polygon = (
    (-0.8, -1.0),
    (-0.8, 1.0),
    (1.5, 0.9),
    (1.8, 0.8),
    (1.8, -0.8),
    (1.5, -0.9),
)
_GEAR = one_of("", "open", "torsen")
_NONE_OR_NOT_NEGATIVE = optional(NOT_NEGATIVE)
_NONE_OR_POSITIVE = optional(POSITIVE)
_AT_LEAST_ONE = Check("must be >= 1", lambda v: v >= 1)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ChassisSpec(Spec):
    """The body without its wheels: a prism from zmin to zmax [m] in the vehicle frame.

    With `shape_from_visual` its outline, zmin and zmax come from the meshes.
    """

    mass: float = param(15.0, unit="kg", check=POSITIVE, attribute=True, help="without wheels")
    zmin: float = param(0.05, unit="m", attribute=True, help="lower edge")
    zmax: float = param(0.6, unit="m", attribute=True, help="upper edge")
    color: Color = param(Color(1.0, 0.0, 0.0), attribute=True)
    linear_damping: float = param(
        0.1, unit="1/s", check=NOT_NEGATIVE, attribute=True, help="decay rate of the speed"
    )
    angular_damping: float = param(
        0.1, unit="1/s", check=NOT_NEGATIVE, attribute=True, help="decay rate of the turn rate"
    )
    com_z: float | None = param(
        None,
        conv=NUMBER,
        unit="m",
        check=_NONE_OR_NOT_NEGATIVE,
        attribute=True,
        help="height of the centre of mass, for weight_transfer; default: half of zmin + zmax",
    )
    com: Point2 | None = param(
        None,
        conv=POINT2,
        unit="m",
        help="centre of mass in the vehicle frame; default: that of a uniform plate of its shape",
    )
    inertia: float | None = param(
        None,
        conv=NUMBER,
        unit="kg m^2",
        check=_NONE_OR_POSITIVE,
        help="about the vertical axis through com; default: that of a uniform plate of its shape",
    )
    shape: Polygon | None = param(
        _HEXAGON,
        conv=POINT2,
        form="items",
        item="pt",
        unit="m",
        check=POLYGON,
        help="corners in the vehicle frame",
    )
    shape_from_visual: bool = param(
        False, form="flag", help="the outline of the meshes is the shape"
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the height range and the shape."""
        if self.zmin >= self.zmax:
            yield f"zmin ({self.zmin:g} m) must be below zmax ({self.zmax:g} m)"
        yield from shape_errors(self.shape)

    def finished(self) -> ChassisSpec:
        """Return self without a shape if the meshes give it."""
        return replace(self, shape=None) if self.shape_from_visual else self


CAR_CHASSIS = ChassisSpec(mass=500.0, zmin=0.2, zmax=1.4, color=Color.hex("#e83000"), shape=_CAR)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MotorSpec(Spec):
    """A DC motor on each driven wheel, or the engine of a drivetrain, and the delay of commands.

    The largest torque falls linearly with the speed of the shaft, from the stall torque to 0 at
    the no-load speed.
    """

    stall_torque: float | None = param(
        None, conv=NUMBER, unit="N m", check=_NONE_OR_POSITIVE, attribute=True, help="of the shaft"
    )
    no_load_speed: float | None = param(
        None,
        conv=NUMBER,
        unit="rad/s",
        check=_NONE_OR_POSITIVE,
        attribute=True,
        help="of the shaft",
    )
    gear_ratio: float = param(
        1.0, check=POSITIVE, attribute=True, help="turns of the shaft per turn of the wheel"
    )
    latency: float = param(
        0.0,
        unit="s",
        check=NOT_NEGATIVE,
        attribute=True,
        help="delay of set points of speed and steering, in whole steps",
    )

    def errors(self) -> Iterator[str]:
        """Yield an error if one end of the line is missing."""
        if (self.stall_torque is None) != (self.no_load_speed is None):
            yield "stall_torque and no_load_speed belong together"


def _wheels(*places: tuple[str, float, float]) -> tuple[WheelSpec, ...]:
    return tuple(WheelSpec(name=name, x=x, y=y) for name, x, y in places)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DynamicsSpec(Spec):
    """Base of all dynamics; `kind` is the class name of the file format."""

    kind: str = ""
    chassis: ChassisSpec = section(ChassisSpec(), "chassis", ChassisSpec)
    wheels: tuple[WheelSpec, ...] = section((), "", WheelSpec, named=True)
    controller: ControllerSpec = RawSpec()
    motor: MotorSpec = section(MotorSpec(), "motor", MotorSpec)
    weight_transfer: bool = param(
        False, help="wheel loads depend on the centre of mass, accelerations and slopes"
    )

    def errors(self) -> Iterator[str]:
        """Yield errors in the wheels as a whole."""
        places = [(wheel.x, wheel.y) for wheel in self.wheels]
        if len(places) > 1 and len(set(places)) == 1:
            yield "all wheels are at the same position"
        for wheel in self.wheels:
            if wheel.type == "caster" and wheel.name != "caster_wheel":
                yield (
                    f"{wheel.name} cannot be a caster: only the caster_wheel of"
                    " differential_3_wheels swivels"
                )

    def warnings(self) -> Iterator[str]:
        """Yield a warning about a latency without effect."""
        if self.motor.latency > 0.0 and isinstance(self.controller, RawSpec):
            yield "the latency of <motor> has no effect: the controller 'raw' takes torques"


_TWO = _wheels(("l_wheel", 0.0, 0.5), ("r_wheel", 0.0, -0.5))
_THREE = (*_TWO, WheelSpec(name="caster_wheel", x=0.5, y=0.0, type="caster"))
_FOUR = _wheels(
    ("lr_wheel", 0.0, 0.5),
    ("rr_wheel", 0.0, -0.5),
    ("lf_wheel", 0.5, 0.5),
    ("rf_wheel", 0.5, -0.5),
)
_CAR_WHEELS = _wheels(
    ("rl_wheel", 0.0, 0.9),
    ("rr_wheel", 0.0, -0.9),
    ("fl_wheel", 1.3, 1.0),
    ("fr_wheel", 1.3, -1.0),
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DifferentialSpec(DynamicsSpec):
    """Left and right wheels driven independently; two wheels, three (a caster) or four.

    Wheel order: left, right, caster; with four: left rear, right rear, left front, right front.
    """

    kind: str = "differential"
    wheels: tuple[WheelSpec, ...] = section(_TWO, "", WheelSpec, named=True)
    controller: ControllerSpec = section(
        RawSpec(), "controller", DIFFERENTIAL_CONTROLLERS, tolerant=True
    )

    @property
    def variant(self) -> int:
        """Number of wheels that the class has: 2, 3 or 4."""
        return {"differential_3_wheels": 3, "differential_4_wheels": 4}.get(self.kind, 2)

    def errors(self) -> Iterator[str]:
        """Yield errors in the wheels as a whole."""
        yield from DynamicsSpec.errors(self)
        if len(self.wheels) != self.variant:
            yield f"{self.kind} must have {self.variant} wheels, got {len(self.wheels)}"
        elif self.wheels[0].y == self.wheels[1].y:
            yield "the left and the right wheel must differ in y"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AckermannSpec(DynamicsSpec):
    """A car: rear left, rear right, front left, front right wheel; the front ones steer."""

    kind: str = "ackermann"
    chassis: ChassisSpec = section(CAR_CHASSIS, "chassis", ChassisSpec)
    wheels: tuple[WheelSpec, ...] = section(_CAR_WHEELS, "", WheelSpec, named=True)
    controller: ControllerSpec = section(
        AckermannRawSpec(), "controller", ACKERMANN_CONTROLLERS, tolerant=True
    )
    f_wheels_x: float = param(1.3, unit="m", help="x of the front axle")
    f_wheels_d: float = param(2.0, unit="m", check=POSITIVE, help="distance of the front wheels")
    max_steer: float = param(
        math.radians(30.0),
        xml="max_steer_ang_deg",
        conv=DEGREES,
        unit="rad",
        check=above(0.0, math.radians(89.0), "(0, 89]"),
        help="of a virtual wheel in the middle of the front axle",
    )
    max_steer_rate: float | None = param(
        None,
        xml="max_steer_rate_deg",
        conv=DEGREES,
        unit="rad/s",
        check=_NONE_OR_POSITIVE,
        help="maximum steering rate; default: unlimited",
    )
    drive: str = param("rear", check=one_of("rear", "front", "all"), help="driven wheels")

    def errors(self) -> Iterator[str]:
        """Yield errors in the wheels as a whole."""
        yield from DynamicsSpec.errors(self)
        if len(self.wheels) != 4:
            yield f"{self.kind} must have 4 wheels, got {len(self.wheels)}"
        elif self.wheels[0].x == self.f_wheels_x:
            x = self.f_wheels_x
            yield f"f_wheels_x must differ from x of the rear wheels, both are {x:g} m"

    def finished(self) -> Any:
        """Return self with the front wheels at f_wheels_x and f_wheels_d."""
        rear_left, rear_right, left, right = self.wheels
        half = 0.5 * self.f_wheels_d
        left = replace(left, x=self.f_wheels_x, y=half)
        right = replace(right, x=self.f_wheels_x, y=-half)
        return replace(self, wheels=(rear_left, rear_right, left, right))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DifferentialGearsSpec(Spec):
    """Distribution of the engine's torque to the wheels.

    A split is the fraction of the side named first, a bias the locking ratio of a torsen
    differential.
    """

    type: str = param("torsen_4wd", attribute=True, check=one_of(*DRIVETRAINS))
    center: str = param("", check=_GEAR, help="overrides type, between the axles")
    front: str = param("", check=_GEAR, help="overrides type, at the front axle")
    rear: str = param("", check=_GEAR, help="overrides type, at the rear axle")
    front_rear_split: float = param(0.5, check=in_range(0.0, 1.0))
    front_left_right_split: float = param(0.5, check=in_range(0.0, 1.0))
    rear_left_right_split: float = param(0.5, check=in_range(0.0, 1.0))
    front_rear_bias: float = param(1.5, check=_AT_LEAST_ONE)
    front_left_right_bias: float = param(1.5, check=_AT_LEAST_ONE)
    rear_left_right_bias: float = param(1.5, check=_AT_LEAST_ONE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DrivetrainSpec(AckermannSpec):
    """A car with one engine and open or torsen differentials."""

    kind: str = "ackermann_drivetrain"
    controller: ControllerSpec = section(
        DrivetrainRawSpec(), "controller", DRIVETRAIN_CONTROLLERS, tolerant=True
    )
    gears: DifferentialGearsSpec = section(
        DifferentialGearsSpec(), "drivetrain", DifferentialGearsSpec
    )

    def warnings(self) -> Iterator[str]:
        """Yield warnings about the motor, and if `drive` is given: the drivetrain decides."""
        yield from AckermannSpec.warnings(self)
        if self.drive != "rear":
            yield (
                f"drive {self.drive!r} has no effect on 'ackermann_drivetrain': the type of its"
                f" <drivetrain>, {self.gears.type!r}, selects the driven wheels"
            )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FreeWheelsSpec(DynamicsSpec):
    """Any number of wheels of any type, each driven by its own motor."""

    kind: str = "wheels"
    wheels: tuple[WheelSpec, ...] = section((), "wheel", WheelSpec, many=True)
    controller: ControllerSpec = section(RawSpec(), "controller", DIFFERENTIAL_CONTROLLERS)

    def errors(self) -> Iterator[str]:
        """Yield errors in the wheels as a whole."""
        yield from DynamicsSpec.errors(self)
        if not self.wheels:
            yield f"dynamics of class {self.kind!r} require at least one <wheel>"


def _mecanum(name: str, x: float, y: float) -> WheelSpec:
    """Return a wheel of the usual arrangement: the rollers form an X seen from above."""
    angle = math.copysign(0.25 * math.pi, x * y)
    return WheelSpec(name=name, x=x, y=y, type="mecanum", roller_angle=angle)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MecanumSpec(FreeWheelsSpec):
    """Four mecanum wheels: left rear, right rear, left front, right front."""

    kind: str = "mecanum"
    wheels: tuple[WheelSpec, ...] = section(
        (
            _mecanum("lr_wheel", -0.3, 0.3),
            _mecanum("rr_wheel", -0.3, -0.3),
            _mecanum("lf_wheel", 0.3, 0.3),
            _mecanum("rf_wheel", 0.3, -0.3),
        ),
        "",
        WheelSpec,
        named=True,
    )
    controller: ControllerSpec = section(RawSpec(), "controller", DIFFERENTIAL_CONTROLLERS)


DYNAMICS = Variants(
    "dynamics class",
    {
        "differential": DifferentialSpec(),
        "differential_3_wheels": DifferentialSpec(kind="differential_3_wheels", wheels=_THREE),
        "differential_4_wheels": DifferentialSpec(kind="differential_4_wheels", wheels=_FOUR),
        "ackermann": AckermannSpec(),
        "ackermann_drivetrain": DrivetrainSpec(),
        "wheels": FreeWheelsSpec(),
        "mecanum": MecanumSpec(),
    },
    base=DynamicsSpec,
    group="mvsim.dynamics",
    aliases={
        "car_ackermann": "ackermann",
        "car_ackermann_drivetrain": "ackermann_drivetrain",
    },
)
