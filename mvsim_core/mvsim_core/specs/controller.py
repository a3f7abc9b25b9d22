# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause

"""Motor controllers: from commands to wheel torques and steering.

Torques are in N m, positive = forward, whatever sign the file format uses.
"""

from __future__ import annotations

from dataclasses import dataclass

from mvsim_core.specs.converters import DEGREES, NUMBER, REVERSED
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    POSITIVE,
    Spec,
    Variants,
    in_range,
    one_of,
    optional,
    param,
)

_NONE_OR_NOT_NEGATIVE = optional(NOT_NEGATIVE)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ControllerSpec(Spec):
    """Base of all controllers; `kind` is the class name of the file format."""

    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RawSpec(ControllerSpec):
    """No controller: wheel torques as commanded, initially zero."""

    kind: str = "raw"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AckermannRawSpec(RawSpec):
    """Torques on the front wheels and a steering angle, as commanded; these are initial values."""

    fl_torque: float = param(0.0, conv=REVERSED, unit="N m")
    fr_torque: float = param(0.0, conv=REVERSED, unit="N m")
    steer_ang: float = param(0.0, xml="steer_ang_deg", conv=DEGREES, unit="rad")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DrivetrainRawSpec(RawSpec):
    """Engine torque and steering angle, as commanded; these are initial values."""

    torque: float = param(0.0, conv=REVERSED, unit="N m")
    steer_ang: float = param(0.0, xml="steer_ang_deg", conv=DEGREES, unit="rad")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwistIdealSpec(ControllerSpec):
    """The vehicle follows the commanded twist exactly, without wheel dynamics."""

    kind: str = "twist_ideal"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PidSpec(ControllerSpec):
    """A PID controller of speed; its gains are in N m per m/s."""

    kp: float = param(
        10.0, xml="KP", unit="N m s/m", check=NOT_NEGATIVE, expected=True, help="proportional gain"
    )
    ki: float = param(0.0, xml="KI", unit="N m/m", check=NOT_NEGATIVE, help="integral gain")
    kd: float = param(0.0, xml="KD", unit="N m s^2/m", check=NOT_NEGATIVE, help="derivative gain")
    i_max: float | None = param(
        None,
        xml="I_MAX",
        conv=NUMBER,
        unit="N m",
        check=_NONE_OR_NOT_NEGATIVE,
        help="limit of the integral term; default: max_torque",
    )
    max_torque: float = param(100.0, unit="N m", check=NOT_NEGATIVE, help="0: unlimited")
    v: float = param(0.0, xml="V", unit="m/s", help="initial set point")
    zero_command: str = param(
        "hold",
        check=one_of("hold", "coast"),
        help="at a set point of zero the motors brake and then hold, or are let go when it stands",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwistPidSpec(PidSpec):
    """Wheel speeds from a commanded twist, torques from a PID for each driven wheel."""

    kind: str = "twist_pid"
    w: float = param(0.0, xml="W", conv=DEGREES, unit="rad/s", help="initial set point")
    n: float = param(
        0.0,
        xml="N",
        unit="1/s",
        check=NOT_NEGATIVE,
        help="pole of the derivative filter; 0: no filter",
    )
    enable_antiwindup: bool = param(
        False, help="takes from the integral what the limit of the torque cuts off"
    )
    enable_feedforward: bool = param(False, help="adds the torque that the slope requires")
    feedforward_gain: float = param(1.0, help="factor of that torque")
    enable_reference_filter: bool = param(False, help="low-pass filter of the set point")
    reference_filter_tau: float = param(0.1, unit="s", check=POSITIVE, help="time constant")
    reference_filter_order: int = param(
        1, check=in_range(1, 10), help="1: first order; larger: second order"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class TwistFrontSteerPidSpec(TwistPidSpec):
    """Steering from a commanded twist by Ackermann geometry, torques from PIDs."""

    kind: str = "twist_front_steer_pid"
    kp: float = param(
        100.0,
        xml="KP",
        unit="N m s/m",
        check=NOT_NEGATIVE,
        expected=True,
        help="proportional gain",
    )
    zero_threshold: float = param(
        0.001, unit="m/s", check=NOT_NEGATIVE, help="set points below it count as zero"
    )
    stop_threshold: float = param(
        0.05, unit="m/s", check=NOT_NEGATIVE, help="at a set point of zero, slower wheels are held"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FrontSteerPidSpec(PidSpec):
    """Commanded steering angle and speed, torques from PIDs."""

    kind: str = "front_steer_pid"
    kp: float = param(
        100.0,
        xml="KP",
        unit="N m s/m",
        check=NOT_NEGATIVE,
        expected=True,
        help="proportional gain",
    )
    steer_ang: float = param(
        0.0, xml="STEER_ANG", conv=DEGREES, unit="rad", help="initial set point"
    )


DIFFERENTIAL_CONTROLLERS = Variants(
    "controller class",
    {"raw": RawSpec(), "twist_pid": TwistPidSpec(), "twist_ideal": TwistIdealSpec()},
    base=ControllerSpec,
    group="mvsim.controllers",
)
ACKERMANN_CONTROLLERS = Variants(
    "controller class",
    {
        "raw": AckermannRawSpec(),
        "twist_front_steer_pid": TwistFrontSteerPidSpec(),
        "front_steer_pid": FrontSteerPidSpec(),
        "twist_ideal": TwistIdealSpec(),
    },
    base=ControllerSpec,
    group="mvsim.controllers",
    aliases={"front_steer": "front_steer_pid", "twist_pid": "twist_front_steer_pid"},
)
DRIVETRAIN_CONTROLLERS = Variants(
    "controller class",
    {
        "raw": DrivetrainRawSpec(),
        "twist_front_steer_pid": TwistFrontSteerPidSpec(max_torque=400.0),
        "front_steer_pid": FrontSteerPidSpec(),
        "twist_ideal": TwistIdealSpec(),
    },
    base=ControllerSpec,
    group="mvsim.controllers",
    aliases={"front_steer": "front_steer_pid", "twist_pid": "twist_front_steer_pid"},
)
