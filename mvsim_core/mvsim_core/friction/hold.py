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

import numpy as np
from numba import njit

from mvsim_core.dynamics.islands import add_force, drop_settled, shared_islands, wrench_of
from mvsim_core.friction.contact import LOCKED
from mvsim_core.friction.coupled import free_velocity
from mvsim_core.state.arrays import FloatArray, Row, Rows
from mvsim_core.state.plan_view import is_level, seen_along, to_ground, to_plan

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
    led = False
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
            led = led or b.leader >= 0
    if not any_held:
        return
    changes = np.zeros(vehicles.shape[0])
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and wheels[v.wheel0].held != 0:
            changes[i] = hold_vehicle(bodies, wheels, v, True, dt)
    if led:
        settle_islands(bodies, wheels, vehicles, changes, dt)
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and wheels[v.wheel0].held != 0 and bodies[v.body].ideal == 0:
            b = bodies[v.body]
            lead = bodies[b.leader] if b.leader >= 0 else b
            if wheels[v.wheel0].held == HELD and speed_after(lead, dt) < 1e-9:
                lead.old_share = min(lead.old_share, 0.5 * effort(wheels, v))
            if not is_level(b) and abs(lead.cvx) + abs(lead.cvy) + abs(lead.wz) > 10.0 * SETTLED:
                lead.old_share = min(lead.old_share, lossy_share(lead, b, wheels, v, dt))


@njit(cache=True, nogil=True, error_model="numpy")
def settle_islands(
    bodies: Rows, wheels: Rows, vehicles: Rows, changes: FloatArray, dt: float
) -> None:
    """Solve again for vehicles that are welded to each other, see `shared_islands`.

    `changes` are those of each vehicle in the first round [m/s].
    """
    taking = np.zeros(vehicles.shape[0], np.bool_)
    for i in range(vehicles.shape[0]):
        taking[i] = vehicles[i].body >= 0 and wheels[vehicles[i].wheel0].held != 0
    islands = shared_islands(bodies, vehicles, taking)
    for _ in range(SHARED_ROUNDS - 1):
        if not drop_settled(islands, changes, SETTLED):
            break
        for i in range(vehicles.shape[0]):
            if islands[i] >= 0:
                changes[i] = hold_vehicle(bodies, wheels, vehicles[i], False, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def effort(wheels: Rows, v: Row) -> float:
    """Return the share of a step after which a vehicle stands that comes to rest in it [1].

    With force F and weight W a wheel loses its speed by F + W within the step. At a constant rate
    it would do so with all that its limits leave beyond F in addition, in the share
    (F + W) / (F + W + rest) of the step. The slowest wheel counts.
    """
    most = 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        along, across = grip_forces(w)
        net_x = along + w.grip_c * w.slope_x + w.grip_s * w.slope_y
        net_y = across + w.grip_c * w.slope_y - w.grip_s * w.slope_x
        limit = w.limit_x
        lever = w.radius * abs(w.grip_c)
        brake = brake_of(v, w, k - v.wheel0)
        if brake < limit * lever:
            limit = brake / lever
        if limit > 0.0:
            most = max(most, share_of(net_x, math.copysign(along, along * net_x), limit))
        if w.limit_round != 0 and w.limit_x > 0.0:
            net = math.hypot(net_x, net_y)
            if net > 0.0:
                ahead = (along * net_x + across * net_y) / net
                aside = (along * net_y - across * net_x) / net
                reach = math.sqrt(max(0.0, w.limit_x * w.limit_x - aside * aside))
                most = max(most, share_of(net, ahead, reach))
        elif w.limit_y > 0.0:
            most = max(most, share_of(net_y, math.copysign(across, across * net_y), w.limit_y))
    return min(1.0, most)


@njit(cache=True, nogil=True, error_model="numpy")
def lossy_share(lead: Row, b: Row, wheels: Rows, v: Row, dt: float) -> float:
    """Return up to which share of the old velocity in the way of a step no energy appears [1].

    A vehicle moves by (v' + s (v - v')) dt, along which its weight W works. The loss of its energy
    of motion and W (v' + s (v - v')) dt must not be negative together. They are not at s = 0. At
    s = 1/2 they are where friction turns an ascent round within the step: it then acts uphill for
    the whole step, also on the way up.
    """
    fx, fy, turn, lost = 0.0, 0.0, 0.0, 0.0
    for k in range(v.wheel0, v.wheel0 + v.n_wheels):
        w = wheels[k]
        px, py, torque = wrench_of(lead, b, w, w.gravity_x, w.gravity_y)
        fx += px
        fy += py
        turn += torque
        if w.caster == 0:
            lost += 0.5 * w.inertia * (w.omega0 * w.omega0 - w.omega * w.omega)
    fx, fy = to_ground(lead, fx, fy)
    c, s = math.cos(lead.yaw), math.sin(lead.yaw)
    vx, vy = to_ground(lead, c * lead.cvx + s * lead.cvy, -s * lead.cvx + c * lead.cvy)
    new_x, new_y, new_wz = free_velocity(lead, dt)
    new_x, new_y = to_ground(lead, new_x, new_y)
    power = fx * vx + fy * vy + turn * lead.wz
    new_power = fx * new_x + fy * new_y + turn * new_wz
    if new_power <= power:
        return 1.0
    lost += 0.5 * lead.mass * (vx * vx + vy * vy - new_x * new_x - new_y * new_y)
    lost += 0.5 * lead.inertia * (lead.wz * lead.wz - new_wz * new_wz)
    return float(max(0.0, (lost + new_power * dt) / ((new_power - power) * dt)))


@njit(cache=True, nogil=True, error_model="numpy")
def share_of(net: float, force: float, limit: float) -> float:
    """Return |net| / (|net| + limit - force), `force` counting along the net force [N]."""
    net = abs(net)
    return net / (net + max(0.0, limit - force)) if net > 0.0 else 0.0


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
        if w.brake > 0.0 and v.cmd_brake == 0 and w.idle != LOCKED:
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

    The parking brake locks all wheels but the caster of a differential with three wheels, and
    `slope_hold` those of vehicles with rollers.
    """
    if v.cmd_brake == 0:
        return math.inf if w.idle == LOCKED else float(w.brake)
    caster = v.free == 0 and v.wheelbase == 0.0 and k >= 2 * (v.n_wheels // 2)
    return 0.0 if caster else math.inf


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
    turn_x, turn_y = -wz * (y - lead.com_y), wz * (x - lead.com_x)
    if b.leader >= 0:
        vx, vy = c * vx + s * vy, -s * vx + c * vy
        turn_x, turn_y = c * turn_x + s * turn_y, -s * turn_x + c * turn_y
    vx, vy = to_ground(b, vx, vy)
    return vx + turn_x, vy + turn_y


@njit(cache=True, nogil=True, error_model="numpy")
def compliance(lead: Row, b: Row, w: Row, dx: float, dy: float) -> float:
    """Return the speed [m/s] along (dx, dy) that 1 N s along it gives a wheel's place."""
    fx, fy = to_plan(b, dx, dy)
    gx, gy = seen_along(b, dx, dy)
    x, y = w.x, w.y
    if b.leader >= 0:
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        dx, dy = c * dx - s * dy, s * dx + c * dy
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    lever = (x - lead.com_x) * dy - (y - lead.com_y) * dx
    return float((gx * fx + gy * fy) / lead.mass + lever * lever / lead.inertia)


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
    add_force(lead, b, w, fx - w.fx, fy - w.fy)
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
    add_force(lead, b, w, dx * (new - along), dy * (new - along))

    give = compliance(lead, b, w, -dy, dx) * dt
    vx, vy = ground_speed(lead, b, w, dt)
    side = across - (-dy * vx + dx * vy) / give
    side = min(max(side, -w.limit_y), w.limit_y)
    total = math.hypot(new, side)
    if w.limit_round != 0 and total > w.limit_x:
        along, new = new, new * w.limit_x / total
        side *= w.limit_x / total
        add_force(lead, b, w, dx * (new - along), dy * (new - along))
        if abs(need) >= brake:
            spin += lever * (along - new) * dt / w.inertia
        else:
            need = lever * new - w.inertia * w.omega0 / dt
    change = max(change, abs(side - across) * give)
    add_force(lead, b, w, -dy * (side - across), dx * (side - across))

    w.fx = dx * new - dy * side
    w.fy = dy * new + dx * side
    w.omega = spin
    w.torque = need if brake < math.inf else 0.0  # a parking brake is no motor
    return float(change)
