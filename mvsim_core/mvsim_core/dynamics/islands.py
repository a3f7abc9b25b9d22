# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Newton's second law for rigid islands: forces and damping to velocities, before contacts.

An island is a set of rigidly joined bodies that moves as one; each row of BODY is one island with
its own centre of mass. The solver advances positions after it has resolved contacts.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import DYNAMIC, IntArray, Row, Rows
from mvsim_core.state.finite import HUGE

#: Iterations of the two-point ground friction of blocks, as many as Box2D spends on its joints.
GROUND_ITERATIONS = 8


@njit(cache=True, nogil=True, error_model="numpy")
def sum_wheel_forces_kernel(bodies: Rows, wheels: Rows, movers: IntArray) -> int:
    """Sum the wheel forces of each body and their torque about its centre of mass.

    Weight acts along a slope where the wheels carry it. Forces along the ground become plan view
    forces by the cosine of the slope: m a cos² = F cos in plan view coordinates.

    Returns the first wheel whose spin, torque or force is not finite, else -1.
    """
    bad = -1
    for i in movers:
        b = bodies[i]
        b.fx = 0.0
        b.fy = 0.0
        b.torque = 0.0
    for k in range(wheels.shape[0]):
        w = wheels[k]
        if w.body < 0:
            continue
        if bad < 0 and not abs(w.omega) + abs(w.torque) + abs(w.fx) + abs(w.fy) < HUGE:
            bad = k
        b = bodies[w.body]
        fx = (w.fx + w.gravity_x) * b.cos_x
        fy = (w.fy + w.gravity_y) * b.cos_y
        x, y = w.x, w.y
        if b.leader >= 0:  # a member of an island: into the frame of the body that leads it
            c, s = math.cos(b.off_yaw), math.sin(b.off_yaw)
            fx, fy = c * fx - s * fy, s * fx + c * fy
            x, y = b.off_x + c * x - s * y, b.off_y + s * x + c * y
            b = bodies[b.leader]
        b.fx += fx
        b.fy += fy
        b.torque += (x - b.com_x) * fy - (y - b.com_y) * fx
    return bad


@njit(cache=True, nogil=True, error_model="numpy")
def integrate_velocities_kernel(bodies: Rows, movers: IntArray, gravity: float, dt: float) -> None:
    """Advance the velocities: v += F/m dt, ω += τ/I dt, both over (1 + c dt).

    Ground friction then brakes blocks.

    The implicit damping factor is the one of Box2D, so that a body loses at most all its speed.
    """
    for i in movers:
        b = bodies[i]
        if b.kind != DYNAMIC or b.ideal != 0:
            continue
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        lin = 1.0 / (1.0 + b.damp_lin * dt)
        b.cvx = (b.cvx + (c * b.fx - s * b.fy) / b.mass * dt) * lin
        b.cvy = (b.cvy + (s * b.fx + c * b.fy) / b.mass * dt) * lin
        b.wz = (b.wz + b.torque / b.inertia * dt) / (1.0 + b.damp_ang * dt)
        if b.ground_mu > 0.0:
            apply_ground_friction(b, gravity, dt)


@njit(cache=True, nogil=True, error_model="numpy")
def apply_ground_friction(b: Row, gravity: float, dt: float) -> None:
    """Brake a block that rests on two points at (±r, 0), each carrying half of its weight.

    Each point asks for the impulse that stops it and gets at most mu m g dt / 2 (accumulated over
    the iterations, as in a sequential-impulse friction joint).
    """
    if b.cvx == 0.0 and b.cvy == 0.0 and b.wz == 0.0:
        return
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    limit = 0.5 * b.ground_mu * b.mass * gravity * dt
    inv_m = 1.0 / b.mass
    inv_i = 1.0 / b.inertia
    px0 = 0.0
    py0 = 0.0
    px1 = 0.0
    py1 = 0.0
    for _ in range(GROUND_ITERATIONS):
        for side in range(2):
            ex = (b.ground_r if side == 0 else -b.ground_r) - b.com_x
            rx = c * ex + s * b.com_y
            ry = s * ex - c * b.com_y
            ux = b.cvx - b.wz * ry
            uy = b.cvy + b.wz * rx
            k11 = inv_m + inv_i * ry * ry
            k12 = -inv_i * rx * ry
            k22 = inv_m + inv_i * rx * rx
            det = k11 * k22 - k12 * k12
            old_x = px0 if side == 0 else px1
            old_y = py0 if side == 0 else py1
            new_x = old_x - (k22 * ux - k12 * uy) / det
            new_y = old_y - (k11 * uy - k12 * ux) / det
            size = math.hypot(new_x, new_y)
            if size > limit:
                new_x *= limit / size
                new_y *= limit / size
            if side == 0:
                px0 = new_x
                py0 = new_y
            else:
                px1 = new_x
                py1 = new_y
            dx = new_x - old_x
            dy = new_y - old_y
            b.cvx += dx * inv_m
            b.cvy += dy * inv_m
            b.wz += inv_i * (rx * dy - ry * dx)
