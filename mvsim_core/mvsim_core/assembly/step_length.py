# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The longest stable time step for the wheels of a vehicle.

Wheel dynamics are advanced by explicit Euler steps. A quantity with x' = -ω x keeps its sign and
size under control while dt < 2/ω ("Stability Considerations" of the physics documentation). The
three rates ω of a vehicle:

**Bearing.** A wheel that the ground does not hold: I ω' = -C_damping ω, so ω_n = C_damping / I.

**Speed controller, wheel slipping.** Where the motor is stronger than the grip,
max_torque > mu N R, the wheel may spin freely: I ω' = KP (v* - ω R), so ω_n = KP R / I. A
derivative with the pole N adds KD N to KP, for what is fast. Without a pole

    z² + (KP R/I dt + b - 1) z - b = 0,  b = KD R / I,

is stable (Jury) if KP R/I dt < 2 (1 - b): with b >= 1 at no step.

**Speed controller, wheel gripping.** The controller then accelerates the vehicle. With the mass m
(wheels included), the wheels' inertias as the mass i = Σ I/R², and the stiffness K = Σ KP/R of all
driven wheels, the rate is ω_n = K / (m + i). Here a step must be shorter still: a gripping wheel
turns as fast as the vehicle moved one step ago, ω R = v_{k-1}, so that

    m (v_{k+1} - v_k) + i (v_k - v_{k-1}) = -K v_{k-1} dt,

    z² + (i/m - 1) z + (K dt - i)/m = 0.

Both roots are inside the unit circle (Jury) if K dt < m + i, which is dt < 1/ω_n, and if i < m.
Turning on the spot is the same with moments: m becomes the inertia about the centre of mass, I/R²
and KP/R get the factor y² of each wheel.

**Motor line.** A DC motor at its limit is a speed controller too: its torque falls by
s = τ_stall / ω_0 with the speed, I ω' = τ_stall - s ω, which takes the place of KP R in both.

The last condition, i < m, has no dt in it. Wheels whose given inertia, as a mass I/R², exceeds
what they carry shake at any step, unless their forces are found together (`friction.coupled`), at
the speed after the step: the friction classes default and wardiagnemma do that for heavy wheels.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from mvsim_core.specs.friction import DefaultFrictionSpec, EllipseSpec
from mvsim_core.state.arrays import Rows
from mvsim_core.state.entities import EntityModel


class Limit(NamedTuple):
    """A bound of the time step: what it comes from, its rate [1/s], the longest step [s].

    `remedy` says what to do where no step is short enough. At a step of dt the gain KP must be at
    most `scale` / dt - `rest`; a scale of 0 means that KP does not matter.
    """

    cause: str
    rate: float
    longest: float
    remedy: str = "make the wheels lighter"
    scale: float = 0.0  # N m s²/m
    rest: float = 0.0  # N m s/m


#: Steps that are chosen automatically [s]; sensors' periods are usually multiples of them.
STEPS = (5e-3, 4e-3, 2.5e-3, 2e-3, 1e-3, 5e-4, 4e-4, 2.5e-4, 2e-4, 1e-4)


def automatic_step(entities: Iterable[EntityModel], gravity: float, longest: float) -> float:
    """Return the longest step of STEPS that is good for all vehicles and at most `longest` [s].

    Bounds below the shortest of STEPS are not met: gains so high get a warning instead.
    """
    for entity in entities:
        for limit in step_limits(entity, gravity):
            if limit.longest > 0.0:
                longest = min(longest, limit.longest)
    return next((step for step in STEPS if step <= longest * (1.0 + 1e-9)), STEPS[-1])


def step_limits(entity: EntityModel, gravity: float) -> Iterator[Limit]:
    """Yield the bounds that the wheels of a vehicle put on the time step.

    A longest step of 0 means that no step is short enough.
    """
    if entity.vehicle is None or bool(entity.body["ideal"][0]):
        return
    names = [wheel.name for wheel in entity.spec.dynamics.wheels]
    damping = float(getattr(entity.spec.friction, "c_damping", 0.0))
    for name, wheel in zip(names, entity.wheels, strict=False):
        if damping > 0.0:
            rate = damping / float(wheel["inertia"])
            yield Limit(f"C_damping on {name}", rate, 2.0 / rate)
    mass = float(entity.body["mass"][0])
    as_mass = float((entity.wheels["inertia"] / entity.wheels["radius"] ** 2).sum())
    if as_mass >= mass and not _solved_together(entity):
        yield Limit(
            f"the inertia of wheels worth {as_mass:.3g} kg on a vehicle of {mass:.3g} kg",
            float("inf"),
            0.0,
        )
        return
    if len(entity.pids):
        yield from _controller_limits(entity, names, gravity)
    if float(entity.vehicle["motor_stall"][0]) > 0.0:
        yield from _motor_limits(entity, names, gravity)


def _solved_together(entity: EntityModel) -> bool:
    """Return whether heavy wheels of a vehicle get their forces together, without a lag."""
    return isinstance(entity.spec.friction, DefaultFrictionSpec) and not any(
        wheel.has_rollers for wheel in entity.spec.dynamics.wheels
    )


def step_warning(entity: EntityModel, gravity: float, dt: float) -> str:
    """Return what is wrong with a step of dt [s] for the wheels of a vehicle, or "".

    Vehicles of a class share one text.
    """
    limits = list(step_limits(entity, gravity))
    tightest = min(limits, key=lambda limit: limit.longest, default=None)
    if tightest is None or tightest.longest >= dt:
        return ""
    if tightest.longest == 0.0:
        return (
            f"{tightest.cause} lets the wheels of {_called(entity)} shake at any time step, so"
            f" that it may hardly move; {tightest.remedy}{_other_drive(entity)}"
        )
    return (
        f"the time step of {dt:g} s is too long for the wheels of {_called(entity)}:"
        f" {tightest.cause} answers at {tightest.rate:.3g} 1/s;"
        f" the longest good step is {_down(tightest.longest)} s"
        f"{_lower_gain(entity, limits, dt)}{_other_drive(entity)}"
    )


def _called(entity: EntityModel) -> str:
    """Return the name of a vehicle, or what all vehicles of its class have in common."""
    if entity.spec.class_name:
        return f"vehicles of class {entity.spec.class_name!r}"
    return repr(entity.name)


def _lower_gain(entity: EntityModel, limits: list[Limit], dt: float) -> str:
    """Return to which KP the controller must be lowered to keep the step, if that is enough."""
    if any(limit.longest < dt and limit.scale == 0.0 for limit in limits):
        return ""
    most = min(limit.scale / dt - limit.rest for limit in limits if limit.scale > 0.0)
    if most <= 0.0:
        return ""
    return f", or lower KP from {float(entity.gains['kp'].max()):g} to {_down(most)}"


def _other_drive(entity: EntityModel) -> str:
    """Return the advice for a car whose driven wheels measure their own slip."""
    dynamics = entity.spec.dynamics
    if dynamics.kind != "ackermann" or dynamics.drive != "rear":
        return ""
    return "; or <drive>front</drive>, so that speed is measured at wheels that roll freely"


def _down(value: float) -> str:
    """Return two digits of a number, rounded down."""
    scale = 10.0 ** (1 - math.floor(math.log10(value)))
    return f"{math.floor(value * scale * (1.0 + 1e-9)) / scale:g}"


def _controller_limits(entity: EntityModel, names: list[str], gravity: float) -> Iterator[Limit]:
    assert entity.vehicle is not None
    body, vehicle, gains = entity.body[0], entity.vehicle[0], entity.gains
    first = int(vehicle["driven0"])
    driven = entity.wheels[first : first + int(vehicle["driven_n"])]
    kp = float(gains["kp"].max())
    if kp <= 0.0 or not len(driven):
        return
    measured = {int(vehicle["odo_left"]) - first, int(vehicle["odo_right"]) - first}
    for k, (name, wheel) in enumerate(zip(names[first:], driven, strict=False)):
        if k not in measured:
            continue  # its controller does not measure its own slip
        if float(gains["max_torque"].max()) > _grip(entity, wheel, gravity):
            yield from _slipping_limits(gains, name, float(wheel["radius"] / wheel["inertia"]))
    inertias = entity.wheels["inertia"] / entity.wheels["radius"] ** 2
    stiffness = kp / driven["radius"]
    rate = float(stiffness.sum() / (body["mass"] + inertias.sum()))
    yield Limit("KP along the way", rate, 1.0 / rate, scale=kp / rate)
    if float(vehicle["wheelbase"]) == 0.0:
        turning = float((stiffness * driven["y"] ** 2).sum())
        moment = float(body["inertia"] + (inertias * entity.wheels["y"] ** 2).sum())
        if turning > 0.0:
            rate = turning / moment
            yield Limit("KP in turns", rate, 1.0 / rate, scale=kp / rate)


def _motor_limits(entity: EntityModel, names: list[str], gravity: float) -> Iterator[Limit]:
    """Yield the bounds of motors that are at the limit of their torque."""
    assert entity.vehicle is not None
    v, wheels = entity.vehicle[0], entity.wheels
    stall = float(v["motor_stall"])
    slope = stall / float(v["motor_speed"])
    for name, wheel in zip(names, wheels, strict=False):
        if stall > _grip(entity, wheel, gravity):
            rate = slope / float(wheel["inertia"])
            yield Limit(f"the motor's line on {name} where it slips", rate, 2.0 / rate)
    motors = wheels[:1] if v["engine"] else wheels
    mass = float(entity.body["mass"][0]) + float((wheels["inertia"] / wheels["radius"] ** 2).sum())
    rate = float((slope / motors["radius"] ** 2).sum()) / mass
    yield Limit("the motors' line along the way", rate, 1.0 / rate)


def _slipping_limits(gains: Rows, name: str, response: float) -> Iterator[Limit]:
    """Yield the bounds of one wheel that slips; `response` is R / I [1/(kg m)]."""
    kp, kd, pole = (float(gains[field].max()) for field in ("kp", "kd", "n"))
    if kd == 0.0 or pole > 0.0:
        rate = (kp + kd * pole) * response
        cause = f"{'KP and KD N' if kd > 0.0 else 'KP'} on {name} where it slips"
        yield Limit(cause, rate, 2.0 / rate, scale=2.0 / response, rest=kd * pole)
    elif kd * response >= 1.0:
        cause = f"KD of {kd:g} without N on {name} where it slips"
        remedy = f"KD must be below {_down(1.0 / response)}, or <N> low-pass it"
        yield Limit(cause, math.inf, 0.0, remedy)
    else:
        rate = kp * response / (1.0 - kd * response)
        cause = f"KP and KD on {name} where it slips"
        yield Limit(cause, rate, 2.0 / rate, scale=2.0 * kp / rate)


def _grip(entity: EntityModel, wheel: Rows, gravity: float) -> float:
    """Return the torque at which a wheel begins to slip on level ground [N m]."""
    weight = float(wheel["load"] + wheel["mass"] * gravity)
    friction: Any = entity.spec.friction
    if isinstance(friction, EllipseSpec):
        mu = friction.c_s * friction.slip_ratio_saturation
    else:
        mu = getattr(friction, "mu", math.inf)
    return float(mu * weight * wheel["radius"])
