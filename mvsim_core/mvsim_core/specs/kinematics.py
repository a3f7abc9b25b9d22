# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics: limits of the commanded twist of a vehicle, applied before its controller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.specs.converters import NUMBER
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    POSITIVE,
    Spec,
    Variants,
    one_of,
    optional,
    param,
    section,
)

#: What is reduced if the wheels cannot follow the twist; in the order of the kernel's codes.
STRATEGIES = ("angular", "torques", "intersection")

_NOT_NEGATIVE = optional(NOT_NEGATIVE)
_POSITIVE = optional(POSITIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ModulationSpec(Spec):
    """Base of modulations, which change the feasible twist."""

    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class LimitAccelerationSpec(ModulationSpec):
    """Limits of the linear acceleration, as a vector, and of the angular one; default: none."""

    kind: str = "LimitAcceleration"
    max_acceleration: float | None = param(
        None, conv=NUMBER, unit="m/s^2", check=_NOT_NEGATIVE, attribute=True
    )
    max_angular_acceleration: float | None = param(
        None, conv=NUMBER, unit="rad/s^2", check=_NOT_NEGATIVE, attribute=True
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MotorControllerSpec(ModulationSpec):
    """Motors whose torque approaches the required one by a fraction `k` in each step."""

    kind: str = "MotorController"
    k: float = param(0.1, check=NOT_NEGATIVE, attribute=True, help="fraction per step")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class MotorPidSpec(ModulationSpec):
    """Motors whose torque follows the required one by a PID for each wheel."""

    kind: str = "MotorPID"
    k_p: float = param(1.0, check=NOT_NEGATIVE, attribute=True, help="per step")
    k_i: float = param(0.0, unit="1/s", check=NOT_NEGATIVE, attribute=True)
    k_d: float = param(0.0, unit="s", check=NOT_NEGATIVE, attribute=True)


MODULATIONS = Variants(
    "modulation class",
    {
        "LimitAcceleration": LimitAccelerationSpec(),
        "MotorController": MotorControllerSpec(),
        "MotorPID": MotorPidSpec(),
    },
    base=ModulationSpec,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class KinematicsSpec(Spec):
    """Limits of the speed and the angular speed of the body; default: none."""

    kind: str = "Omni"
    max_speed: float | None = param(
        None, conv=NUMBER, unit="m/s", check=_NOT_NEGATIVE, help="of the body"
    )
    max_angular_speed: float | None = param(
        None, conv=NUMBER, unit="rad/s", check=_NOT_NEGATIVE, help="of the body"
    )
    modulations: tuple[ModulationSpec, ...] = section((), "modulation", MODULATIONS, many=True)

    def errors(self) -> Iterator[str]:
        """Yield errors in the combination of modulations and class."""
        kinds = [modulation.kind for modulation in self.modulations]
        for kind in dict.fromkeys(kinds):
            if kinds.count(kind) > 1:
                yield f"only one modulation of class {kind!r} is allowed, got {kinds.count(kind)}"
        motors = [m for m in self.modulations if isinstance(m, MotorControllerSpec | MotorPidSpec)]
        if motors and not isinstance(self, TwoWheelsDiffDynSpec):
            yield f"a modulation of class {motors[0].kind!r} requires the class '2WDiffDyn'"
        if len({motor.kind for motor in motors}) > 1:
            yield "only one motor is allowed: 'MotorController' or 'MotorPID'"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoWheelsDiffSpec(KinematicsSpec):
    """Two driven wheels of limited speed; angular speed has priority over linear speed."""

    kind: str = "2WDiff"
    axis: float | None = param(
        None,
        also=("wheel_axis",),
        conv=NUMBER,
        unit="m",
        check=_POSITIVE,
        help="distance of the wheels; default: from the vehicle",
    )
    max_forward_speed: float | None = param(
        None, conv=NUMBER, unit="m/s", check=_NOT_NEGATIVE, help="of the body, forwards"
    )
    max_backward_speed: float | None = param(
        None, conv=NUMBER, unit="m/s", check=_NOT_NEGATIVE, help="of the body, backwards"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwoWheelsDiffDynSpec(TwoWheelsDiffSpec):
    """Two driven wheels of limited speed and torque."""

    kind: str = "2WDiffDyn"
    max_acceleration: float | None = param(
        None, conv=NUMBER, unit="m/s^2", check=_POSITIVE, help="with both motors at their limit"
    )
    moi: float | None = param(
        None,
        conv=NUMBER,
        check=_POSITIVE,
        help="moment of inertia relative to that of a disc of this diameter; default: from the"
        " vehicle",
    )
    strategy: str = param(
        "angular", check=one_of(*STRATEGIES), help="part of the twist that is reduced"
    )


KINEMATICS = Variants(
    "kinematics class",
    {
        "Omni": KinematicsSpec(),
        "2WDiff": TwoWheelsDiffSpec(),
        "2WDiffDyn": TwoWheelsDiffDynSpec(),
    },
    base=KinematicsSpec,
    group="mvsim.kinematics",
)
