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
Turning is the same with moments, and in general with matrices: M (mass, mass, inertia),
I = Σ I/R² g gᵀ and K = Σ g gᵀ KP/R over the speeds g that a motion of the vehicle gives the rims.
A loop may drive several wheels, or measure others than it drives (`control_loops`): an engine
drives each of its wheels with a share and measures the mean of the rear ones, so that KP is
divided by two for the slipping wheels of an axle with an open differential, and by four if it
drives both axles. Of a torsen the shares are those at equal speeds. Wheels that get their forces
together (`friction_circle`, or heavy wheels) have no lag: (M + I) (v_{k+1} - v_k) = -K v_k dt,
which is stable if dt < 2/ω_n.

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

import numpy as np

from mvsim_core.dynamics.drivetrain import wheel_shares
from mvsim_core.friction.coupled import overshoots
from mvsim_core.specs.friction import DefaultFrictionSpec, EllipseSpec
from mvsim_core.state.arrays import FloatArray, Rows
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


def largest_gain(entity: EntityModel, gravity: float, dt: float) -> float:
    """Return the largest KP that is stable at a step of dt [s], with no derivative; inf: any."""
    limits = [limit for limit in step_limits(entity, gravity) if limit.scale > 0.0]
    return min((limit.scale / dt for limit in limits), default=math.inf)


def slip_torques(entity: EntityModel, gravity: float) -> FloatArray:
    """Return the torques at which the wheels begin to slip on level ground (n,) [N m]."""
    return np.array([_grip(entity, wheel, gravity) for wheel in entity.wheels])


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
    wheels, kp = entity.wheels, float(entity.gains["kp"].max())
    if kp <= 0.0:
        return
    gives, measures = control_loops(entity)
    yield from _slipping_limits(entity, names, gives, measures, gravity)
    modes = rolling_modes(entity)
    force = (wheels["radius"][:, None] ** -1.0) * gives
    for cause, mode in modes:
        speeds = surface_speeds(entity) @ mode  # (wheels, motions)
        mass = mode.T @ np.diag(moved_masses(entity)) @ mode
        turning = speeds.T @ ((wheels["inertia"] / wheels["radius"] ** 2)[:, None] * speeds)
        stiffness = speeds.T @ force @ measures @ speeds
        lagging = not _at_the_same_time(entity)
        most = _longest_product(mass, turning, stiffness, lagging)
        if 0.0 < most < math.inf:  # else no step helps: the arrangement itself is warned of
            yield Limit(cause, kp / most, most / kp, scale=most)


def control_loops(entity: EntityModel) -> tuple[FloatArray, FloatArray]:
    """Return how the speed loops of a vehicle drive its wheels, and what they measure.

    Returns:
        Torque of each wheel per torque of each loop (wheels, loops), and the speed of each loop
        per surface speed of each wheel (loops, wheels).
    """
    assert entity.vehicle is not None
    v, wheels = entity.vehicle[0], entity.wheels
    n = len(wheels)
    if v["free"]:
        return np.eye(n), np.eye(n)
    left, right, track = int(v["odo_left"]), int(v["odo_right"]), float(v["track"])
    turn = np.zeros(n)  # yaw rate of the odometry, and its speed along
    turn[left], turn[right] = -1.0 / track, 1.0 / track
    along = float(wheels["y"][left]) * turn
    along[left] += 1.0
    if v["engine"]:
        return np.array([wheel_shares(v, wheels)]).T, along[None]
    if v["wheelbase"] > 0.0:
        driven = int(v["driven0"]) + np.arange(int(v["driven_n"]))
        return np.eye(n)[:, driven], along - wheels["y"][driven, None] * turn
    gives = np.zeros((n, 2))
    gives[0 : 2 * (n // 2) : 2, 0] = gives[1 : 2 * (n // 2) : 2, 1] = 1.0
    return gives, np.eye(n)[[left, right]]


def rolling_modes(entity: EntityModel) -> list[tuple[str, FloatArray]]:
    """Return the motions in which a vehicle rolls, by the name of what answers.

    Each is a matrix whose columns are velocities (vx, vy, wz) of the centre of mass. Wheels with
    rollers roll in any direction. Others do not slip across, unless all turns make them.
    """
    assert entity.vehicle is not None
    v, wheels, body = entity.vehicle[0], entity.wheels, entity.body[0]
    x, y = wheels["x"] - body["com_x"], wheels["y"] - body["com_y"]
    c, s = wheels["yaw_c"], wheels["yaw_s"]
    grips = (wheels["rollers"] == 0) & (wheels["caster"] == 0)
    across = np.stack([-s, c, c * x + s * y], 1)[grips]
    straight = np.array([[1.0], [0.0], [0.0]])
    if v["wheelbase"] > 0.0:
        return [("KP along the way", straight)]
    if v["scrubs"]:
        return [("KP along the way", straight), ("KP in turns", np.eye(3)[:, 2:])]
    _, sizes, rows = np.linalg.svd(np.vstack([across, np.zeros((3, 3))]))
    free = rows[(sizes < 1e-9 * max(1.0, sizes[0]))].T
    if len(across) and free.shape[1] == 2:
        on_the_spot = free @ free.T @ np.array([[0.0], [0.0], [1.0]])
        return [("KP along the way", straight), ("KP in turns", on_the_spot)]
    return [("KP in any direction", free)]


def surface_speeds(entity: EntityModel) -> FloatArray:
    """Return the surface speed of each wheel that rolls per (vx, vy, wz) of the vehicle (n, 3)."""
    wheels, body = entity.wheels, entity.body[0]
    x, y = wheels["x"] - body["com_x"], wheels["y"] - body["com_y"]
    c = wheels["yaw_c"] - wheels["yaw_s"] * wheels["tan_grip"]
    s = wheels["yaw_s"] + wheels["yaw_c"] * wheels["tan_grip"]
    speeds: FloatArray = np.stack([c, s, s * x - c * y], 1)
    speeds[wheels["caster"] != 0] = 0.0
    return speeds


def moved_masses(entity: EntityModel) -> FloatArray:
    """Return what resists the accelerations of (vx, vy, wz): mass, mass, inertia (3,)."""
    body = entity.body[0]
    return np.array([body["mass"], body["mass"], body["inertia"]], np.float64)


def _at_the_same_time(entity: EntityModel) -> bool:
    """Return whether wheels turn as fast as their vehicle moves at the end of the same step."""
    if not _solved_together(entity):
        return False
    if getattr(entity.spec.friction, "friction_circle", False):
        return True
    assert entity.vehicle is not None
    body, vehicle = entity.body.view(np.recarray), entity.vehicle.view(np.recarray)
    wheels = entity.wheels.view(np.recarray)
    return bool(overshoots.py_func(body[0], wheels, vehicle[0]))


def _longest_product(
    mass: FloatArray, turning: FloatArray, stiffness: FloatArray, lagging: bool
) -> float:
    """Return the largest dt for which a vehicle with the stiffness of KP = 1 is stable [s].

    With M, I and K the step is M (v' - v) + I (v - v_before) = -K v_before dt, or with wheels that
    are not late (M + I) (v' - v) = -K v dt: a linear map that must not let anything grow.
    """
    n = len(mass)

    def growth(dt: float) -> float:
        if not lagging:
            step = np.eye(n) - np.linalg.solve(mass + turning, stiffness) * dt
        else:
            now = np.eye(n) - np.linalg.solve(mass, turning)
            before = np.linalg.solve(mass, turning - stiffness * dt)
            step = np.block([[now, before], [np.eye(n), np.zeros((n, n))]])
        return float(np.abs(np.linalg.eigvals(step)).max())

    rate = float(np.abs(np.linalg.eigvals(np.linalg.solve(mass + turning, stiffness))).max())
    if rate <= 0.0:
        return math.inf
    low, high = 0.0, 4.0 / rate
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if growth(middle) <= 1.0 + 1e-9 else (low, middle)
    return low


def _slipping_limits(
    entity: EntityModel,
    names: list[str],
    gives: FloatArray,
    measures: FloatArray,
    gravity: float,
) -> Iterator[Limit]:
    """Yield the bounds of wheels that slip all at once, a group that share no loop at a time."""
    wheels, most = entity.wheels, float(entity.gains["max_torque"].max())
    slips = [
        most * gives[k].max() > _grip(entity, wheel, gravity) for k, wheel in enumerate(wheels)
    ]
    response = (wheels["radius"] / wheels["inertia"])[:, None] * gives @ measures  # R / I
    response = response * np.outer(slips, slips)
    left = [k for k in range(len(wheels)) if response[k, k] > 0.0]
    while left:
        group = [k for k in left if response[left[0], k] != 0.0 or response[k, left[0]] != 0.0]
        left = [k for k in left if k not in group]
        part = response[np.ix_(group, group)]
        answer = float(np.abs(np.linalg.eigvals(part)).max())
        name = " and ".join(names[k] for k in group)
        yield from _wheel_limits(entity.gains, name, answer)


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


def _wheel_limits(gains: Rows, name: str, response: float) -> Iterator[Limit]:
    """Yield the bounds of wheels that slip, whose speed answers by `response` [1/(kg m)]."""
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
