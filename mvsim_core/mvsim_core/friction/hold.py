# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Held vehicles: wheels that a motor or a brake keeps from turning, all of a vehicle at once.

A friction model looks at one wheel at a time, and lets it stop the mass that it carries. That
leaves a rest where not all wheels are braked, where masses turn, or where one wheel slips, and the
vehicle creeps. Here the forces of all wheels of a held vehicle are found together, by projected
Gauss-Seidel iterations as a contact solver does (E. Catto, Iterative dynamics with temporal
coherence, 2005): each wheel asks for the force after which its contact point does not slip, and
gets at most its limits, WHEEL.limit_x along and limit_y across its grip. The brake of a wheel is
part of its row in closed form, so that light wheels under a heavy vehicle cost no iterations:

* With its spin at 0 after the step the brake must give T_b = R c F - I ω/dt, c being the cosine
  between grip and heading. If |T_b| is within WHEEL.brake, the wheel is locked.
* Otherwise the brake gives ±WHEEL.brake, and the wheel rolls: F follows from
  v(F) = R c ω', ω' = ω + (T_b - R c F) dt / I.

Forces are counted along the ground, so that slopes need nothing else. They are added to the sums
in BODY, which already hold everything else that acts on the body.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row, Rows

#: Rounds over the wheels of a vehicle, and over vehicles that share an island.
ROUNDS, SHARED_ROUNDS = 50, 10
#: Changes of speed that no longer matter [m/s].
SETTLED = 1e-12
#: A slower vehicle stands: its forces start from those of the step before [m/s, rad/s].
STANDING = 1e-4
#: Values of WHEEL.held: no, yes, yes and its force is that of a vehicle that stood.
HELD, STOOD = 1, 2


@njit(cache=True, nogil=True, error_model="numpy")
def hold_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, dt: float) -> None:
    """Write force and spin of all wheels that are held, and add the forces to BODY.

    BODY.fx, fy and torque hold the sums of everything else, and the forces of these wheels in the
    step before, from which the iterations start where a vehicle stands. One that moves, or did so
    in the step before, starts from what each wheel would do alone, so that no forces of wheels
    against each other pile up.
    """
    shared = False
    any_held = False
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        b = bodies[v.body]
        held = wheels[v.wheel0].held != 0
        if (held or (v.stop_time > 0.0 and v.coast == 0)) and b.ideal == 0:
            lead = bodies[b.leader] if b.leader >= 0 else b
            lead.old_share = 0.5
        if held:
            any_held = True
            shared = shared or b.leader >= 0
    if not any_held:
        return
    for turn in range(SHARED_ROUNDS if shared else 1):
        worst = 0.0
        for i in range(vehicles.shape[0]):
            v = vehicles[i]
            if v.body >= 0 and wheels[v.wheel0].held != 0:
                worst = max(worst, hold_vehicle(bodies, wheels, v, turn == 0, dt))
        if worst < SETTLED:
            break
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and wheels[v.wheel0].held == HELD:
            b = bodies[v.body]
            lead = bodies[b.leader] if b.leader >= 0 else b
            if b.ideal == 0 and speed_after(lead, dt) < 1e-9:
                lead.old_share = 0.5 * effort(wheels, v)


@njit(cache=True, nogil=True, error_model="numpy")
def effort(wheels: Rows, v: Row) -> float:
    """Return the largest share of its limits that a wheel uses [1].

    That much of the step a vehicle moves which comes to rest in it at a constant rate.
    """
    most = 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        along, across = grip_forces(w)
        limit = w.limit_x
        lever = w.radius * abs(w.grip_c)
        brake = brake_of(v, w, k - v.wheel0)
        if brake < limit * lever:
            limit = brake / lever
        if limit > 0.0:
            most = max(most, abs(along) / limit)
        if w.limit_round != 0 and w.limit_x > 0.0:
            most = max(most, math.hypot(along, across) / w.limit_x)
        elif w.limit_y > 0.0:
            most = max(most, abs(across) / w.limit_y)
    return min(1.0, most)


@njit(cache=True, nogil=True, error_model="numpy")
def speed_after(lead: Row, dt: float) -> float:
    """Return the motion that the forces so far leave after the step [m/s, rad/s]."""
    c, s = math.cos(lead.yaw), math.sin(lead.yaw)
    vx = lead.cvx + (c * lead.fx - s * lead.fy) / lead.mass * dt
    vy = lead.cvy + (s * lead.fx + c * lead.fy) / lead.mass * dt
    wz = lead.wz + lead.torque / lead.inertia * dt
    return float(abs(vx) + abs(vy) + abs(wz))


@njit(cache=True, nogil=True, error_model="numpy")
def hold_vehicle(bodies: Rows, wheels: Rows, v: Row, begin: bool, dt: float) -> float:
    """Solve for the forces of one vehicle; return the largest change of the first round [m/s]."""
    b = bodies[v.body]
    lead = bodies[b.leader] if b.leader >= 0 else b
    stood = wheels[v.wheel0].held == STOOD
    if stood and stands(lead, dt) and all_locked(wheels, v):
        return 0.0
    moves = abs(b.vx) + abs(b.vy) + abs(b.wz) > STANDING
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        wheels[k].held = HELD if moves else STOOD
    if begin and (moves or not stood):
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            if not math.isnan(w.limit_x):
                guess(lead, b, w, brake_of(v, w, k - v.wheel0), dt)
    first = 0.0
    for turn in range(ROUNDS):
        worst = 0.0
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            if math.isnan(w.limit_x):
                continue  # its friction model does not tell: it keeps the force of the model
            worst = max(worst, hold_wheel(lead, b, w, brake_of(v, w, k - v.wheel0), dt))
        if turn == 0:
            first = worst
        if worst < SETTLED:
            break
    return first


@njit(cache=True, nogil=True, error_model="numpy")
def stands(lead: Row, dt: float) -> bool:
    """Return whether the forces so far leave no motion after the step."""
    if abs(lead.cvx) + abs(lead.cvy) + abs(lead.wz) > STANDING:
        return False
    return speed_after(lead, dt) < 10.0 * SETTLED


@njit(cache=True, nogil=True, error_model="numpy")
def all_locked(wheels: Rows, v: Row) -> bool:
    """Return whether no wheel turns and all can give the forces that they gave before.

    Then nothing is to be solved: what is parked costs little.
    """
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        along, across = grip_forces(w)
        brake = brake_of(v, w, k - v.wheel0)
        need = abs(w.radius * w.grip_c * along)
        # also false where limits are unknown, NaN
        if not (abs(along) <= w.limit_x and abs(across) <= w.limit_y):
            return False
        if w.omega0 != 0.0 or need > brake:
            return False
        if w.limit_round != 0 and along * along + across * across > w.limit_x * w.limit_x:
            return False
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        w.omega = 0.0
        if w.brake > 0.0 and v.cmd_brake == 0:
            w.torque = w.radius * w.grip_c * grip_forces(w)[0]
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def grip_forces(w: Row) -> tuple[float, float]:
    """Return the force of the ground along and across the grip of a wheel [N]."""
    dx = w.yaw_c * w.grip_c - w.yaw_s * w.grip_s
    dy = w.yaw_s * w.grip_c + w.yaw_c * w.grip_s
    return dx * w.fx + dy * w.fy, -dy * w.fx + dx * w.fy


@njit(cache=True, nogil=True, error_model="numpy")
def brake_of(v: Row, w: Row, k: int) -> float:
    """Return the torque [N m] with which wheel `k` of a vehicle is held.

    The parking brake locks all wheels but the caster of a differential with three wheels.
    """
    if v.cmd_brake == 0:
        return float(w.brake)
    caster = v.free == 0 and v.wheelbase == 0.0 and k >= 2 * (v.n_wheels // 2)
    return 0.0 if caster else math.inf


@njit(cache=True, nogil=True, error_model="numpy")
def push(lead: Row, b: Row, w: Row, fx: float, fy: float) -> None:
    """Add a force along the ground at a wheel, vehicle frame [N], to the sums of its island."""
    fx *= b.cos_x
    fy *= b.cos_y
    x, y = w.x, w.y
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        fx, fy = c * fx - s * fy, s * fx + c * fy
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    lead.fx += fx
    lead.fy += fy
    lead.torque += (x - lead.com_x) * fy - (y - lead.com_y) * fx


@njit(cache=True, nogil=True, error_model="numpy")
def ground_speed(lead: Row, b: Row, w: Row, dt: float) -> tuple[float, float]:
    """Return the velocity of a wheel along the ground after the step, vehicle frame [m/s]."""
    c, s = math.cos(lead.yaw), math.sin(lead.yaw)
    vx = c * lead.cvx + s * lead.cvy + lead.fx / lead.mass * dt
    vy = -s * lead.cvx + c * lead.cvy + lead.fy / lead.mass * dt
    wz = lead.wz + lead.torque / lead.inertia * dt
    x, y = w.x, w.y
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    vx -= wz * (y - lead.com_y)
    vy += wz * (x - lead.com_x)
    if b.leader >= 0:
        vx, vy = c * vx + s * vy, -s * vx + c * vy
    return vx / b.cos_x, vy / b.cos_y


@njit(cache=True, nogil=True, error_model="numpy")
def compliance(lead: Row, b: Row, w: Row, dx: float, dy: float) -> float:
    """Return the speed [m/s] along (dx, dy) that 1 N s along it gives a wheel's place."""
    fx, fy = dx * b.cos_x, dy * b.cos_y
    gx, gy = dx / b.cos_x, dy / b.cos_y
    x, y = w.x, w.y
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        fx, fy = c * fx - s * fy, s * fx + c * fy
        gx, gy = c * gx - s * gy, s * gx + c * gy
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    x -= lead.com_x
    y -= lead.com_y
    turn = (x * fy - y * fx) / lead.inertia
    return float(gx * (fx / lead.mass - turn * y) + gy * (fy / lead.mass + turn * x))


@njit(cache=True, nogil=True, error_model="numpy")
def guess(lead: Row, b: Row, w: Row, brake: float, dt: float) -> None:
    """Let a wheel stop the mass that it carries, within its limits."""
    c, s = w.grip_c, w.grip_s
    along = -(c * w.vx + s * w.vy) * w.carried / dt - (c * w.slope_x + s * w.slope_y)
    across = -(c * w.vy - s * w.vx) * w.carried / dt - (c * w.slope_y - s * w.slope_x)
    most = w.limit_x
    if brake < most * w.radius * abs(c):
        most = brake / (w.radius * abs(c))
    along = min(max(along, -most), most)
    across = min(max(across, -w.limit_y), w.limit_y)
    total = math.hypot(along, across)
    if w.limit_round != 0 and total > w.limit_x:
        along *= w.limit_x / total
        across *= w.limit_x / total
    dx = w.yaw_c * c - w.yaw_s * s
    dy = w.yaw_s * c + w.yaw_c * s
    fx, fy = dx * along - dy * across, dy * along + dx * across
    push(lead, b, w, fx - w.fx, fy - w.fy)
    w.fx = fx
    w.fy = fy


@njit(cache=True, nogil=True, error_model="numpy")
def hold_wheel(lead: Row, b: Row, w: Row, brake: float, dt: float) -> float:
    """Improve the force of one wheel; return how much that changes its speed [m/s]."""
    dx = w.yaw_c * w.grip_c - w.yaw_s * w.grip_s  # direction of its grip, vehicle frame
    dy = w.yaw_s * w.grip_c + w.yaw_c * w.grip_s
    along, across = grip_forces(w)  # N, so far
    lever = w.radius * w.grip_c

    give = compliance(lead, b, w, dx, dy) * dt
    vx, vy = ground_speed(lead, b, w, dt)
    free = dx * vx + dy * vy - give * along  # speed without the force along the grip
    new = min(max(-free / give, -w.limit_x), w.limit_x)
    need = lever * new - w.inertia * w.omega0 / dt
    spin = 0.0
    if abs(need) > brake:
        torque = math.copysign(brake, need)
        turned = w.omega0 + torque * dt / w.inertia
        new = (lever * turned - free) / (give + lever * lever * dt / w.inertia)
        new = min(max(new, -w.limit_x), w.limit_x)
        spin = turned - lever * new * dt / w.inertia
        need = torque
    change = abs(new - along) * give
    push(lead, b, w, dx * (new - along), dy * (new - along))

    give = compliance(lead, b, w, -dy, dx) * dt
    vx, vy = ground_speed(lead, b, w, dt)
    side = across - (-dy * vx + dx * vy) / give
    side = min(max(side, -w.limit_y), w.limit_y)
    total = math.hypot(new, side)
    if w.limit_round != 0 and total > w.limit_x:
        along, new = new, new * w.limit_x / total
        side *= w.limit_x / total
        push(lead, b, w, dx * (new - along), dy * (new - along))
        if abs(need) >= brake:
            spin += lever * (along - new) * dt / w.inertia
        else:
            need = lever * new - w.inertia * w.omega0 / dt
    change = max(change, abs(side - across) * give)
    push(lead, b, w, -dy * (side - across), dx * (side - across))

    w.fx = dx * new - dy * side
    w.fy = dy * new + dx * side
    w.omega = spin
    w.torque = need if brake < math.inf else 0.0  # a parking brake is no motor
    return float(change)
