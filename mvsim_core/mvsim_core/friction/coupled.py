# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheels of a vehicle whose ground forces are found together, at the velocities after the step.

A friction model looks at one wheel at a time, and lets it stop the mass that it carries. The body
answers with its own mass and inertia, to all wheels at once. Where both differ, forces are wrong:
a short car with a heavy axle at each end chatters in yaw, and a wheel that slides along one axis
still grips along the other. Here each wheel gets the force after which its contact point does not
slip, or its limit against the slip that is left. That is the minimum of the kinetic energy after
the step over all forces P within their limits (J. J. Moreau, Unilateral contact and dry friction
in finite freedom dynamics, 1988),

    E(P) = P · u + P · W P / 2,

u being the slip without these forces and W what a unit impulse at one wheel changes at another,
the spin of the wheel, and the slip that the force of a tyre needs, included. Without motors E is
the change of the energy of the vehicle, so a solution, however coarse, that lowers E from 0 never
adds energy. Projected Gauss-Seidel iterations do: each takes the minimum over the force of one
wheel, exactly.

The limit is a circle of radius WHEEL.limit_x where WHEEL.limit_round is 1, else one for each axis.
A wheel whose slip no force of this step can turn round is pushed against its slip at the start of
the step, with all that it has: by half of the slip's size or more P · u stays negative. Of tyres
whose force along the wheel follows from a curve, only the force across it is found here, unless
the vehicle stops; of wheels with rollers, only the force along their grip, and only then. Forces
are counted along the ground, so that slopes need nothing else.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.dynamics.islands import drop_settled, shared_islands
from mvsim_core.friction.sharing import only_across, share_out
from mvsim_core.friction.wheel_rows import (
    ACROSS,
    ALONG,
    BRAKE,
    COLUMNS,
    FREE_ALONG,
    FREE_LEFT,
    FX,
    FY,
    L_TORQUE,
    LEFT,
    LFX,
    LFY,
    LVX,
    LVY,
    LW,
    STOPPING,
    TORQUE,
    VX,
    VY,
    W,
    enter_wheel,
    grip_axis,
    lever_of,
    pushed,
    takes_part,
)
from mvsim_core.state.arrays import FloatArray, Row, Rows

#: Rounds over the wheels of a vehicle, and over vehicles that share an island.
ROUNDS, SHARED_ROUNDS = 50, 10
#: Changes of speed that no longer matter [m/s].
SETTLED = 1e-11
#: Steps of Newton's method for a force on the circle; three or four are usual.
CIRCLE_STEPS = 30
#: A law for each wheel by itself is left alone below this share of the bound of its stability.
STABLE = 0.9


@njit(cache=True, nogil=True, error_model="numpy")
def overshoots(b: Row, wheels: Rows, v: Row) -> bool:
    """Return whether forces that each wheel finds by itself overshoot, so that a vehicle chatters.

    The law of the default model stops the lateral slip of the mass m that a wheel carries and
    gives a wheel the spin of rolling, which costs the vehicle the mass I/R². No energy appears if
    W D <= 2, D being these masses as a diagonal matrix. By Schur's complement that is

        M - Σ (I/R²) t tᵀ - Σ m/2 l lᵀ >= 0,

    M = diag(mass, mass, inertia), t and l the directions along and across a wheel with their
    levers about the centre of mass.
    """
    xx, xy, yy = STABLE * b.mass, 0.0, STABLE * b.mass
    xa, ya, aa = 0.0, 0.0, STABLE * b.inertia
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        if w.caster != 0:
            continue
        c, s = w.yaw_c, w.yaw_s
        rx, ry = w.x - b.com_x, w.y - b.com_y
        lever = w.radius
        half = 0.5 * w.carried
        if w.rollers != 0:
            if abs(w.grip_c) < 1e-6:
                continue
            c, s = c * w.grip_c - s * w.grip_s, s * w.grip_c + c * w.grip_s
            lever *= w.grip_c
            half = 0.0  # rollers do not resist
        turning = w.inertia / (lever * lever)
        along = rx * s - ry * c
        across = rx * c + ry * s
        xx -= turning * c * c + half * s * s
        yy -= turning * s * s + half * c * c
        xy -= (turning - half) * c * s
        xa -= turning * c * along - half * s * across
        ya -= turning * s * along + half * c * across
        aa -= turning * along * along + half * across * across
    if xx <= 0.0 or xx * yy - xy * xy <= 0.0:
        return True
    minor = xx * (yy * aa - ya * ya) - xy * (xy * aa - ya * xa) + xa * (xy * ya - yy * xa)
    return bool(minor <= 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def coupled_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, dt: float) -> None:
    """Write force and spin of all wheels that are coupled, and add what changes to BODY.

    BODY.fx, fy and torque hold the sums of all forces, those that each wheel found by itself
    included.
    """
    most = 0
    led = False
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and is_coupled(wheels, v):
            most = max(most, v.n_wheels)
            led = led or bodies[v.body].leader >= 0
    if most == 0:
        return
    rows, equations = np.zeros((most, COLUMNS)), np.zeros((3, 4))
    changes = np.zeros(vehicles.shape[0])
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and is_coupled(wheels, v):
            changes[i] = couple_vehicle(bodies, wheels, v, rows, equations, True, dt)
    if led:
        settle_islands(bodies, wheels, vehicles, rows, equations, changes, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def settle_islands(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    wheels: Rows,
    vehicles: Rows,
    rows: FloatArray,
    equations: FloatArray,
    changes: FloatArray,
    dt: float,
) -> None:
    """Solve again for vehicles that are welded to each other, see `shared_islands`.

    `changes` are those of each vehicle in the first round [m/s].
    """
    taking = np.zeros(vehicles.shape[0], np.bool_)
    for i in range(vehicles.shape[0]):
        taking[i] = vehicles[i].body >= 0 and is_coupled(wheels, vehicles[i])
    islands = shared_islands(bodies, vehicles, taking)
    for _ in range(SHARED_ROUNDS - 1):
        if not drop_settled(islands, changes, SETTLED):
            break
        for i in range(vehicles.shape[0]):
            if islands[i] >= 0:
                v = vehicles[i]
                changes[i] = couple_vehicle(bodies, wheels, v, rows, equations, False, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def is_coupled(wheels: Rows, v: Row) -> bool:
    """Return whether wheels of a vehicle are solved here."""
    found = False
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        found = found or takes_part(wheels[k])
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def couple_vehicle(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    equations: FloatArray,
    begin: bool,
    dt: float,
) -> float:
    """Solve for the forces of one vehicle; return the largest change of the first round [m/s]."""
    b = bodies[v.body]
    lead = bodies[b.leader] if b.leader >= 0 else b
    give = mobility(lead, dt)
    velocity = free_velocity(lead, dt)
    start, count = v.wheel0, v.n_wheels
    for k in range(count):
        if takes_part(wheels[start + k]):
            enter_wheel(lead, b, wheels[start + k], rows[k])
    gx, gy, gz = slide(wheels, v, rows, give, dt)
    velocity = velocity[0] + gx, velocity[1] + gy, velocity[2] + gz
    rounds = ROUNDS
    if begin and only_across(wheels, v, rows):
        velocity, found = share_out(wheels, v, rows, equations, velocity, give, dt)
        rounds = 0 if found and b.leader < 0 else ROUNDS
    elif begin:
        share = descent(wheels, v, rows, velocity, give, dt)
        for k in range(count):
            if takes_part(wheels[start + k]):
                r = rows[k]
                along = (share - 1.0) * r[ALONG] * r[FREE_ALONG]
                left = (share - 1.0) * r[LEFT] * r[FREE_LEFT]
                velocity = pushed(velocity, r, (along, left), give)
                r[ALONG] += along
                r[LEFT] += left
    first = 0.0
    for turn in range(rounds):
        worst = 0.0
        for k in range(count):
            w = wheels[start + k]
            r = rows[k]
            if not takes_part(w) or r[FREE_ALONG] + r[FREE_LEFT] == 0.0:
                continue
            along, left = improve(w, r, velocity, give, dt)
            velocity = pushed(velocity, r, (along, left), give)
            worst = max(worst, (abs(along) + abs(left)) * give[0])
        if turn == 0:
            first = worst
        if worst < SETTLED:
            break
    for k in range(count):
        if takes_part(wheels[start + k]):
            leave_wheel(lead, wheels[start + k], rows[k], dt)
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def mobility(lead: Row, dt: float) -> tuple[float, float]:
    """Return the speeds that 1 N [m/s] and 1 N m [rad/s] give an island in a step."""
    give = dt / (lead.mass * (1.0 + lead.damp_lin * dt))
    return float(give), float(dt / (lead.inertia * (1.0 + lead.damp_ang * dt)))


@njit(cache=True, nogil=True, error_model="numpy")
def free_velocity(lead: Row, dt: float) -> tuple[float, float, float]:
    """Return the velocity of an island's centre of mass after the step, in its frame."""
    c, s = math.cos(lead.yaw), math.sin(lead.yaw)
    lin = 1.0 / (1.0 + lead.damp_lin * dt)
    vx = (c * lead.cvx + s * lead.cvy + lead.fx / lead.mass * dt) * lin
    vy = (-s * lead.cvx + c * lead.cvy + lead.fy / lead.mass * dt) * lin
    wz = (lead.wz + lead.torque / lead.inertia * dt) / (1.0 + lead.damp_ang * dt)
    return vx, vy, wz


@njit(cache=True, nogil=True, error_model="numpy")
def slide(
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    give: tuple[float, float],
    dt: float,
) -> tuple[float, float, float]:
    """Fix the forces of wheels that slide too fast for a step's forces to turn their slip round.

    All wheels together change the slip of wheel i by at most √ρ_i Σ √ρ_j L_j and the change of its
    own spin; ρ is the trace of its block of W, L the limit.

    Returns:
        What that adds to the velocity of the island [m/s, m/s, rad/s].
    """
    start, count = v.wheel0, v.n_wheels
    velocity = 0.0, 0.0, 0.0
    circles = False
    for k in range(count):
        circles = circles or wheels[start + k].limit_round != 0
    if not circles:
        return velocity
    reach = 0.0
    for k in range(count):
        if takes_part(wheels[start + k]):
            w = wheels[start + k]
            reach += math.sqrt(trace(rows[k], give)) * max(w.limit_x, w.limit_y)
    for k in range(count):
        w = wheels[start + k]
        if not takes_part(w) or w.limit_round == 0 or w.rollers != 0:
            continue
        r = rows[k]
        slip = math.hypot(w.vx - w.radius * w.omega0, w.vy)
        change = w.radius * w.radius * dt / w.inertia * w.limit_x
        if slip <= 2.0 * (math.sqrt(trace(r, give)) * reach + change):
            continue
        along = -w.limit_x * (w.vx - w.radius * w.omega0) / slip
        left = -w.limit_x * w.vy / slip
        r[BRAKE] = brake_torque(w, along, dt)
        r[FREE_ALONG] = 0.0
        r[FREE_LEFT] = 0.0
        velocity = pushed(velocity, r, (along - r[ALONG], left - r[LEFT]), give)
        r[ALONG] = along
        r[LEFT] = left
    return velocity


@njit(cache=True, nogil=True, error_model="numpy")
def trace(r: FloatArray, give: tuple[float, float]) -> float:
    """Return what 1 N along and 1 N across a wheel change of its own velocity, summed [m/s]."""
    lin = r[VX] * r[FX] + r[VY] * r[FY] + r[LVX] * r[LFX] + r[LVY] * r[LFY]
    return float(give[0] * lin + give[1] * (r[W] * r[TORQUE] + r[LW] * r[L_TORQUE]))


@njit(cache=True, nogil=True, error_model="numpy")
def brake_torque(w: Row, along: float, dt: float) -> float:
    """Return the torque [N m] of a wheel's brake under a given force along it [N]."""
    need = w.radius * along - w.inertia * w.spin_free / dt
    if abs(need) <= w.resist:
        return float(need)
    brake = math.copysign(w.resist, need)
    if w.coupled == STOPPING and w.soft > 0.0:
        turned = (w.inertia * w.spin_free + (brake - w.radius * along) * dt) / (
            w.inertia + w.soft * dt
        )
        brake += math.copysign(min(w.soft * abs(turned), softness(w)), need)
    return float(brake)


@njit(cache=True, nogil=True, error_model="numpy")
def softness(w: Row) -> float:
    """Return by how much the torque of a motor that stops its wheel can grow with spin [N m]."""
    most = max(w.brake, abs(w.torque))
    return float(max(0.0, most - w.at_rest))


@njit(cache=True, nogil=True, error_model="numpy")
def motor_brake(w: Row, omega: float) -> float:
    """Return the torque [N m] of a motor that stops its wheel, at a spin after the step."""
    if w.soft == 0.0:
        return float(abs(w.torque))
    most = max(w.brake, abs(w.torque))
    return float(min(w.at_rest + w.soft * abs(omega), most))


@njit(cache=True, nogil=True, error_model="numpy")
def descent(
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    velocity: tuple[float, float, float],
    give: tuple[float, float],
    dt: float,
) -> float:
    """Return the share of the forces so far, 0 to 1, at which the energy E is least."""
    start, count = v.wheel0, v.n_wheels
    change = 0.0, 0.0, 0.0
    for k in range(count):
        if takes_part(wheels[start + k]):
            r = rows[k]
            forces = r[ALONG] * r[FREE_ALONG], r[LEFT] * r[FREE_LEFT]
            change = pushed(change, r, forces, give)
    dx, dy, da = change
    vx, vy, wz = velocity[0] - dx, velocity[1] - dy, velocity[2] - da
    slope = 0.0
    curve = 0.0
    for k in range(count):
        w = wheels[start + k]
        if not takes_part(w):
            continue
        r = rows[k]
        slip = r[VX] * vx + r[VY] * vy + r[W] * wz - lever_of(w) * w.spin_free
        along, left = r[ALONG] * r[FREE_ALONG], r[LEFT] * r[FREE_LEFT]
        slope += along * slip + left * (r[LVX] * vx + r[LVY] * vy + r[LW] * wz)
        spun = (turning_give(w, w.inertia, dt) + w.slip_give) * along
        curve += along * (r[VX] * dx + r[VY] * dy + r[W] * da + spun)
        slope += left * w.side_bias
        curve += left * (r[LVX] * dx + r[LVY] * dy + r[LW] * da + w.side_give * left)
    if slope >= 0.0 or curve <= 0.0:
        return 0.0
    return float(min(1.0, -slope / curve))


@njit(cache=True, nogil=True, error_model="numpy")
def improve(
    w: Row,
    r: FloatArray,
    velocity: tuple[float, float, float],
    give: tuple[float, float],
    dt: float,
) -> tuple[float, float]:
    """Give one wheel the force of least energy; return its changes along and to the left [N]."""
    vx, vy, wz = velocity
    lin, ang = give
    ll = lin * (r[LVX] * r[LFX] + r[LVY] * r[LFY]) + ang * r[LW] * r[L_TORQUE]
    old, old_left = r[ALONG], r[LEFT]
    if r[FREE_ALONG] == 0.0:
        slip = r[LVX] * vx + r[LVY] * vy + r[LW] * wz - ll * old_left
        left = -(slip + w.side_bias) / (ll + w.side_give)
        r[LEFT] = min(max(left, -w.limit_y), w.limit_y)
        return 0.0, r[LEFT] - old_left
    tt = lin * (r[VX] * r[FX] + r[VY] * r[FY]) + ang * r[W] * r[TORQUE]
    tl = lin * (r[VX] * r[LFX] + r[VY] * r[LFY]) + ang * r[W] * r[L_TORQUE]
    bt = r[VX] * vx + r[VY] * vy + r[W] * wz - tt * old - tl * old_left
    bl = r[LVX] * vx + r[LVY] * vy + r[LW] * wz - tl * old - ll * old_left
    along, left, r[BRAKE] = wheel_force(w, (tt, tl, ll), (bt, bl), (old, old_left), dt)
    r[ALONG] = along
    r[LEFT] = left
    return along - old, left - old_left


@njit(cache=True, nogil=True, error_model="numpy")
def wheel_force(
    w: Row,
    give: tuple[float, float, float],
    speed: tuple[float, float],
    old: tuple[float, float],
    dt: float,
) -> tuple[float, float, float]:
    """Return the force of the ground along and across a wheel [N] and its brake's torque [N m].

    Args:
        w: Row of WHEEL, with its limits, `spin_free` and `resist`.
        give: What 1 N along and 1 N to the left change of the wheel's velocity in the step
            [m/s]: along by along, along by left, left by left.
        speed: Velocity of the wheel's centre after the step without its own force [m/s].
        old: Force so far [N].
        dt: Time step [s].
    """
    tt, tl, ll = give
    lever = lever_of(w)
    brake = 0.0
    if w.resist > 0.0:  # locked, if the brake can do it
        along, left = limited_force(w, give, speed, old)
        brake = lever * along - w.inertia * w.spin_free / dt
        if abs(brake) <= w.resist:
            return along, left, brake
        brake = math.copysign(w.resist, brake)
        if w.coupled == STOPPING and w.soft > 0.0:
            inertia = w.inertia + w.soft * dt
            spun = (w.inertia * w.spin_free + brake * dt) / inertia
            rolling = (tt + turning_give(w, inertia, dt) + w.slip_give, tl, ll)
            along, left = limited_force(w, rolling, (speed[0] - lever * spun, speed[1]), old)
            grown = w.soft * abs(spun - lever * along * dt / inertia)
            most = softness(w)
            brake += math.copysign(min(grown, most), brake)
            if grown <= most:
                return along, left, brake
    slip = speed[0] - lever * (w.spin_free + brake * dt / w.inertia)
    rolling = (tt + turning_give(w, w.inertia, dt) + w.slip_give, tl, ll)
    along, left = limited_force(w, rolling, (slip, speed[1]), old)
    return along, left, brake


@njit(cache=True, nogil=True, error_model="numpy")
def turning_give(w: Row, inertia: float, dt: float) -> float:
    """Return the speed [m/s] that 1 N along its grip gives the rim of a wheel by its spin."""
    lever = lever_of(w)
    return float(lever * lever * dt / inertia)


@njit(cache=True, nogil=True, error_model="numpy")
def limited_force(
    w: Row,
    give: tuple[float, float, float],
    slip: tuple[float, float],
    old: tuple[float, float],
) -> tuple[float, float]:
    """Return the force within the limits of a wheel that leaves the least energy [N].

    Across its grip a wheel with rollers has the force that it has so far.
    """
    tt, tl, ll = give
    if w.rollers != 0:
        most = math.sqrt(max(0.0, w.limit_x * w.limit_x - old[1] * old[1]))
        along = -(slip[0] + tl * old[1]) / tt
        return min(max(along, -most), most), old[1]
    if w.limit_round != 0:
        return circle_force(give, slip, w.limit_x)
    along = -(slip[0] + tl * old[1]) / tt
    along = min(max(along, -w.limit_x), w.limit_x)
    left = -(slip[1] + tl * along + w.side_bias) / (ll + w.side_give)
    return along, min(max(left, -w.limit_y), w.limit_y)


@njit(cache=True, nogil=True, error_model="numpy")
def circle_force(
    give: tuple[float, float, float], slip: tuple[float, float], limit: float
) -> tuple[float, float]:
    """Return the force F of a size up to `limit` with A F = -slip, or (A + λ) F = -slip [N].

    The second, with λ > 0, has the size `limit`: the slip A F + slip that is left is -λ F, against
    the force. λ is the root of 1/|F| = 1/limit, which Newton's method reaches from below without
    overshooting (J. J. Moré and D. C. Sorensen, Computing a trust region step, 1983).
    """
    tt, tl, ll = give
    bt, bl = slip
    size = math.hypot(bt, bl)
    if size == 0.0:
        return 0.0, 0.0
    if limit * (tt + ll) <= 1e-12 * size:  # too small to change the slip
        return -limit * bt / size, -limit * bl / size
    shift = max(0.0, size / limit - tt - ll)
    along, left = 0.0, 0.0
    for _ in range(CIRCLE_STEPS):
        at, al = tt + shift, ll + shift
        det = at * al - tl * tl
        along = (tl * bl - al * bt) / det
        left = (tl * bt - at * bl) / det
        size = math.hypot(along, left)
        if size <= limit * (1.0 + 1e-13):
            if shift == 0.0:
                return along, left
            break
        change = (al * along * along - 2.0 * tl * along * left + at * left * left) / det
        shift += size * size / change * (size - limit) / limit
    size = math.hypot(along, left)
    return along * limit / size, left * limit / size


@njit(cache=True, nogil=True, error_model="numpy")
def leave_wheel(lead: Row, w: Row, r: FloatArray, dt: float) -> None:
    """Store force and spin of a wheel and add the change of its force to the sums in BODY."""
    c, s = grip_axis(w)
    along = r[ALONG] - (c * w.fx + s * w.fy)
    left = r[LEFT] - (-s * w.fx + c * w.fy)
    lead.fx += r[FX] * along + r[LFX] * left
    lead.fy += r[FY] * along + r[LFY] * left
    lead.torque += r[TORQUE] * along + r[L_TORQUE] * left
    w.fx = c * r[ALONG] - s * r[LEFT]
    w.fy = s * r[ALONG] + c * r[LEFT]
    if w.stick < 1.0:
        w.limit_y = max(abs(r[LEFT]), w.stick * w.limit_y)
    if w.coupled != ACROSS:
        torque = r[BRAKE] - lever_of(w) * r[ALONG]
        w.omega = w.spin_free + torque * dt / w.inertia
    if w.coupled == STOPPING:  # no more of the torque acts than stops the wheel
        most = motor_brake(w, w.omega)
        w.torque = min(max(r[BRAKE], -most), most)
