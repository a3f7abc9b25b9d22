# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause

"""Models of the friction between wheel and ground."""

from __future__ import annotations

from dataclasses import dataclass

from mvsim_core.specs.params import NOT_NEGATIVE, POSITIVE, Spec, Variants, param


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class FrictionSpec(Spec):
    """Base of all friction models: bearing damping, rolling resistance, slope hold."""

    kind: str = ""
    c_damping: float = param(
        0.01,
        xml="C_damping",
        unit="N m s/rad",
        check=NOT_NEGATIVE,
        help="damping of the wheel's spin",
    )
    c_rr: float = param(0.0, xml="C_rr", check=NOT_NEGATIVE, help="rolling resistance coefficient")
    slope_hold: bool = param(
        True,
        help="a vehicle without torque stands still on a slope while friction suffices; trailers"
        " on a joint roll",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class DefaultFrictionSpec(FrictionSpec):
    """Coulomb friction, limited per axis or, with `friction_circle`, as a vector."""

    kind: str = "default"
    mu: float = param(0.8, check=NOT_NEGATIVE, help="friction coefficient")
    friction_circle: bool = param(
        False,
        help="limits the force as a vector, against the slip, for all wheels together",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WardIagnemmaSpec(DefaultFrictionSpec):
    """Ward-Iagnemma: the default model plus a rolling resistance that grows with speed."""

    kind: str = "wardiagnemma"
    a_roll: float = param(
        50.0,
        xml="A_roll",
        unit="s/m",
        check=NOT_NEGATIVE,
        help="how fast R1 sets in with the speed",
    )
    r1: float = param(
        0.0075,
        xml="R1",
        check=NOT_NEGATIVE,
        help="rolling resistance that is constant with the speed",
    )
    r2: float = param(
        0.02,
        xml="R2",
        unit="s/m",
        check=NOT_NEGATIVE,
        help="rolling resistance that grows with the speed",
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class EllipseSpec(FrictionSpec):
    """Slip-based tyre forces inside a friction ellipse."""

    kind: str = "ellipse"
    c_alpha: float = param(
        8.5, xml="C_alpha", check=NOT_NEGATIVE, help="lateral stiffness, per rad of the slip angle"
    )
    c_s: float = param(
        7.5, xml="C_s", check=NOT_NEGATIVE, help="longitudinal stiffness, per slip ratio"
    )
    slip_angle_saturation: float = param(
        0.1, unit="rad", check=POSITIVE, help="slip angle beyond which the force does not grow"
    )
    slip_ratio_saturation: float = param(
        0.1, check=POSITIVE, help="slip ratio beyond which the force does not grow"
    )
    c_alpha_s: float = param(
        0.5,
        xml="C_alpha_s",
        check=NOT_NEGATIVE,
        help="how much longitudinal slip reduces the lateral force",
    )
    c_s_alpha: float = param(
        0.5,
        xml="C_s_alpha",
        check=NOT_NEGATIVE,
        help="how much the slip angle reduces the longitudinal force",
    )


FRICTIONS = Variants(
    "friction class",
    {
        "default": DefaultFrictionSpec(),
        "wardiagnemma": WardIagnemmaSpec(),
        "ellipse": EllipseSpec(),
    },
    base=FrictionSpec,
    group="mvsim.friction",
)
