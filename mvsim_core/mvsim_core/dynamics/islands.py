# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Newton's second law for rigid islands: forces and damping to velocities, before contacts.

An island is a set of rigidly joined bodies that moves as one; each row of BODY is one island with
its own centre of mass. The solver advances positions after it has resolved contacts.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.solver.sliding import sliding_impulse
from mvsim_core.state.arrays import DYNAMIC, FOREVER, BoolArray, FloatArray, IntArray, Row, Rows
from mvsim_core.state.finite import HUGE
from mvsim_core.state.plan_view import to_ground, to_plan

#: Most rounds of the two-point ground friction of blocks, and changes that end them, relative to
#: the largest impulse.
GROUND_ROUNDS, SETTLED = 50, 1e-12


@njit(cache=True, nogil=True, error_model="numpy")
def sum_wheel_forces_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, movers: IntArray) -> int:
    """Sum the wheel forces of each body and their torque about its centre of mass.

    Weight acts along a slope where the wheels carry it. Forces along the ground become plan view
    forces as velocities do (`state.plan_view`).

    Args:
        bodies: BODY, all rows.
        wheels: WHEEL, all rows.
        vehicles: The rows of VEHICLE whose wheels count.
        movers: Rows of BODY whose sums begin at zero.

    Returns the first wheel whose spin, torque or force is not finite, else -1.
    """
    bad = -1
    for i in movers:
        b = bodies[i]
        b.fx = 0.0
        b.fy = 0.0
        b.torque = 0.0
        b.old_share = 0.5 if b.ground_r > 0.0 and b.kind == DYNAMIC else 0.0
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            if bad < 0 and not abs(w.omega) + abs(w.torque) + abs(w.fx) + abs(w.fy) < HUGE:
                bad = k
            b = bodies[v.body]
            lead = bodies[b.leader] if b.leader >= 0 else b
            add_force(lead, b, w, w.fx + w.gravity_x, w.fy + w.gravity_y)
    if bad < 0:  # a force ends after a number of steps that are made
        for i in movers:
            if bodies[i].push_steps > 0:
                add_push(bodies[i])
    return bad


@njit(cache=True, nogil=True, error_model="numpy")
def add_force(lead: Row, b: Row, w: Row, fx: float, fy: float) -> None:
    """Add a force along the ground at a wheel, vehicle frame [N], to the sums of its island."""
    px, py, torque = wrench_of(lead, b, w, fx, fy)
    lead.fx += px
    lead.fy += py
    lead.torque += torque


@njit(cache=True, nogil=True, error_model="numpy")
def wrench_of(lead: Row, b: Row, w: Row, fx: float, fy: float) -> tuple[float, float, float]:
    """Return force [N] and torque [N m] on an island, in plan view and in the leader's frame.

    Args:
        lead: Row of BODY of the body that leads the island.
        b: Row of BODY of the vehicle.
        w: Row of WHEEL, where the force acts.
        fx: Force along the ground, vehicle frame [N].
        fy: Its other component.
    """
    px, py = to_plan(b, fx, fy)
    x, y = w.x, w.y
    if b.leader >= 0:  # a member of an island: into the frame of the body that leads it
        c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
        px, py = c * px - s * py, s * px + c * py
        fx, fy = c * fx - s * fy, s * fx + c * fy
        x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
    return px, py, (x - lead.com_x) * fy - (y - lead.com_y) * fx


@njit(cache=True, nogil=True, error_model="numpy")
def add_push(b: Row) -> None:
    """Add the force that is applied to a body for this step."""
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    fx, fy = c * b.push_x + s * b.push_y, -s * b.push_x + c * b.push_y
    b.fx += fx
    b.fy += fy
    b.torque += b.push_turn + (b.push_at_x - b.com_x) * fy - (b.push_at_y - b.com_y) * fx
    if b.push_steps < FOREVER:
        b.push_steps -= 1
    b.old_share = 0.5


@njit(cache=True, nogil=True, error_model="numpy")
def integrate_velocities_kernel(
    bodies: Rows, movers: IntArray, rubbed: FloatArray, gravity: float, dt: float
) -> None:
    """Advance the velocities: v += F/m dt, ω += τ/I dt, both over (1 + c dt).

    Blocks carry their weight themselves: it acts along slopes. Ground friction then brakes them;
    its impulses go into their rows of `rubbed`.

    The implicit damping factor is the one of Box2D, so that a body loses at most all its speed.
    """
    for i in movers:
        b = bodies[i]
        if b.kind != DYNAMIC or b.ideal != 0:
            continue
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        lin = 1.0 / (1.0 + b.damp_lin * dt)
        fx, fy = b.fx, b.fy
        if b.ground_r > 0.0:
            px, py = to_plan(b, b.slope_x, b.slope_y)
            fx += b.mass * gravity * px
            fy += b.mass * gravity * py
        b.cvx = (b.cvx + (c * fx - s * fy) / b.mass * dt) * lin
        b.cvy = (b.cvy + (s * fx + c * fy) / b.mass * dt) * lin
        b.wz = (b.wz + b.torque / b.inertia * dt) / (1.0 + b.damp_ang * dt)
        if b.ground_mu > 0.0:
            apply_ground_friction(b, rubbed[i], gravity, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def apply_ground_friction(b: Row, rubbed: FloatArray, gravity: float, dt: float) -> None:
    """Brake a block that rests on two points, each carrying half of its weight.

    They are at (±r, 0) from the middle of the ground below it, BODY.ground_x and ground_y. Each
    gives the impulse that stops it, or mu m g dt / 2 against the slip that is left; on a slope
    less by its cosine, along the ground.

    Args:
        b: Row of BODY.
        rubbed: Output: (4,) impulses x, y of the first and of the second point, in the block's
            frame and in plan view [N s].
        gravity: Acceleration of gravity [m/s²].
        dt: Time step [s].
    """
    rubbed[:] = 0.0
    if b.cvx == 0.0 and b.cvy == 0.0 and b.wz == 0.0:
        return
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    limit = 0.5 * b.ground_mu * b.mass * gravity * upright(b) * dt
    vx, vy = to_ground(b, c * b.cvx + s * b.cvy, -s * b.cvx + c * b.cvy)
    if stop_block(b, rubbed, vx, vy, limit):
        b.cvx = b.cvy = b.wz = 0.0
    else:
        vx, vy = slow_block(b, rubbed, vx, vy, limit)
        vx, vy = to_plan(b, vx, vy)
        b.cvx, b.cvy = c * vx - s * vy, s * vx + c * vy
    for k in (0, 2):
        rubbed[k], rubbed[k + 1] = to_plan(b, rubbed[k], rubbed[k + 1])


@njit(cache=True, nogil=True, error_model="numpy")
def slow_block(
    b: Row, rubbed: FloatArray, vx: float, vy: float, limit: float
) -> tuple[float, float]:
    """Write the impulses of a block that slides and its spin; return its velocity with them.

    Velocities [m/s] and impulses [N s] along the ground, in the block's frame; none of the two
    exceeds `limit`. The points are solved in turn until nothing changes.
    """
    inv_m = 1.0 / b.mass
    inv_i = 1.0 / b.inertia
    wz = b.wz
    ry = b.ground_y - b.com_y
    for _ in range(GROUND_ROUNDS):
        worst = 0.0
        for side in range(2):
            rx = b.ground_x + (b.ground_r if side == 0 else -b.ground_r) - b.com_x
            old_x, old_y = rubbed[2 * side], rubbed[2 * side + 1]
            k11 = inv_m + inv_i * ry * ry
            k12 = -inv_i * rx * ry
            k22 = inv_m + inv_i * rx * rx
            ux = vx - wz * ry - k11 * old_x - k12 * old_y
            uy = vy + wz * rx - k12 * old_x - k22 * old_y
            det = k11 * k22 - k12 * k12
            new_x = -(k22 * ux - k12 * uy) / det
            new_y = -(k11 * uy - k12 * ux) / det
            if math.hypot(new_x, new_y) > limit:
                new_x, new_y = sliding_impulse(k11, k12, k22, ux, uy, limit)
            rubbed[2 * side], rubbed[2 * side + 1] = new_x, new_y
            dx = new_x - old_x
            dy = new_y - old_y
            worst = max(worst, abs(dx) + abs(dy))
            vx += dx * inv_m
            vy += dy * inv_m
            wz += inv_i * (rx * dy - ry * dx)
        if worst <= SETTLED * limit:
            break
    b.wz = wz
    return vx, vy


@njit(cache=True, nogil=True, error_model="numpy")
def upright(b: Row) -> float:
    """Return the share of its weight that a body puts on the ground below it [1]."""
    return math.sqrt(max(1e-6, 1.0 - b.slope_x * b.slope_x - b.slope_y * b.slope_y))


@njit(cache=True, nogil=True, error_model="numpy")
def stop_block(b: Row, rubbed: FloatArray, vx: float, vy: float, limit: float) -> bool:
    """Write the impulses that stop a block, if none exceeds `limit` [N s]; return whether so.

    The velocity is that in the block's frame [m/s]. Both points share what acts along the line
    between them.
    """
    px, py = -b.mass * vx, -b.mass * vy
    turn = -b.inertia * b.wz + (b.com_x - b.ground_x) * py - (b.com_y - b.ground_y) * px
    difference = turn / b.ground_r
    x, first, second = 0.5 * px, 0.5 * (py + difference), 0.5 * (py - difference)
    # also false where the points coincide and the difference is not finite
    if not (math.hypot(x, first) <= limit and math.hypot(x, second) <= limit):
        return False
    rubbed[0], rubbed[1], rubbed[2], rubbed[3] = x, first, x, second
    if limit > 0.0:  # it comes to rest within the step
        b.old_share = 0.5 * math.hypot(x, max(abs(first), abs(second))) / limit
    return True


@njit(cache=True, nogil=True)
def shared_islands(bodies: Rows, vehicles: Rows, taking: BoolArray) -> IntArray:
    """Return the body that leads the island of each vehicle; -1: it is not led, and leads none.

    Forces at wheels of vehicles that are welded to each other are found vehicle by vehicle, and
    again until they no longer change. Each island ends for itself: if it waited for others, its
    numbers would depend on which vehicles go through a step together.

    Args:
        bodies: Rows of BODY.
        vehicles: Rows of VEHICLE.
        taking: (vehicles,) which of them take part.
    """
    islands = np.full(vehicles.shape[0], -1)
    for i in range(vehicles.shape[0]):
        if not taking[i] or bodies[vehicles[i].body].leader < 0:
            continue
        islands[i] = leader = bodies[vehicles[i].body].leader
        for j in range(vehicles.shape[0]):
            if taking[j] and vehicles[j].body == leader:
                islands[j] = leader
    return islands


@njit(cache=True, nogil=True)
def drop_settled(islands: IntArray, changes: FloatArray, least: float) -> bool:
    """Take islands out in which no vehicle changes by `least`; return whether others are left.

    Args:
        islands: (vehicles,) as `shared_islands` returns them; -1 for those that are taken out.
        changes: (vehicles,) of the last round.
        least: In the same unit.
    """
    left = False
    for i in range(islands.shape[0]):
        island = islands[i]
        if island < 0:
            continue
        largest = 0.0
        for j in range(islands.shape[0]):
            if islands[j] == island:
                largest = max(largest, changes[j])
        if largest < least:
            islands[islands == island] = -1
        else:
            left = True
    return left
