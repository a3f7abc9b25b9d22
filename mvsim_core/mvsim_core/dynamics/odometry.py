# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Odometry from the wheels' spin, as encoders measure it: it contains slip.

Source: "Odometry Estimation" of the physics documentation.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row, Rows

#: Spin angles beyond it are wrapped so that they keep their precision [rad].
WRAP_BEYOND = 1e4


@njit(cache=True, nogil=True, error_model="numpy")
def odometry_kernel(bodies: Rows, wheels: Rows, vehicles: Rows, dt: float) -> None:
    """Advance wheel angles and the odometry pose of vehicles, some rows of VEHICLE, by dt."""
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            w.phi += w.omega * dt
            if abs(w.phi) > WRAP_BEYOND:
                w.phi -= 2.0 * math.pi * math.trunc(w.phi / (2.0 * math.pi))  # C's fmod
        wheel_twist(v, wheels)
        b = bodies[v.body]
        if (
            b.ideal != 0 and v.free == 0
        ):  # kinematic bases may move sideways, which no wheel spin shows
            v.odo_vy = (-math.sin(b.yaw) * b.vx + math.cos(b.yaw) * b.vy) / b.plan_yy
        mid = v.odo_yaw + 0.5 * v.odo_kyaw * v.odo_wz * dt
        dx = v.odo_kx * v.odo_vx * dt
        dy = v.odo_ky * v.odo_vy * dt
        c, s = math.cos(mid), math.sin(mid)
        v.odo_x += c * dx - s * dy
        v.odo_y += s * dx + c * dy
        v.odo_yaw += v.odo_kyaw * v.odo_wz * dt
        grow_covariance(v, c, s, (dx, dy), abs(v.odo_wz) * dt)


@njit(cache=True, nogil=True, error_model="numpy")
def grow_covariance(v: Row, c: float, s: float, way: tuple[float, float], turn: float) -> None:
    """Carry the covariance of the odometry's pose over a step: P' = F P Fᵀ + Q.

    An uncertain heading makes the place across the way uncertain: F has the derivatives of the
    place by the heading. Q grows with the way driven and the angle turned; the random walks that
    it stands for add up to variances proportional to the distance, whatever the step.

    Args:
        v: One row of VEHICLE.
        c: Cosine of the heading in the odometry frame.
        s: Its sine.
        way: Step in the vehicle frame [m].
        turn: Angle turned [rad].
    """
    far = math.hypot(way[0], way[1])
    if far == 0.0 and turn == 0.0:
        return
    p = v.odo_cov
    gx = -(s * way[0] + c * way[1])  # of x and y by yaw
    gy = c * way[0] - s * way[1]
    xx, xy, xa, yy, ya, aa = p[0], p[1], p[2], p[3], p[4], p[5]
    q_x, q_y = v.odo_var_x * far, v.odo_var_y * far
    p[0] = xx + 2.0 * gx * xa + gx * gx * aa + c * c * q_x + s * s * q_y
    p[1] = xy + gx * ya + gy * xa + gx * gy * aa + c * s * (q_x - q_y)
    p[2] = xa + gx * aa
    p[3] = yy + 2.0 * gy * ya + gy * gy * aa + s * s * q_x + c * c * q_y
    p[4] = ya + gy * aa
    p[5] = aa + v.odo_var_yaw * far + v.odo_var_turn * turn


@njit(cache=True, nogil=True, error_model="numpy")
def wheel_twist(v: Row, wheels: Rows) -> None:
    """Write the twist that the spin of the odometry wheels, or of all, amounts to."""
    v.odo_vy = 0.0
    if v.free != 0:
        v.odo_vx = 0.0
        v.odo_wz = 0.0
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            w = wheels[k]
            along = w.omega * w.radius * w.grip_c
            v.odo_vx += w.odo_vx * along
            v.odo_vy += w.odo_vy * along
            v.odo_wz += w.odo_wz * along
        return
    left, right = wheels[v.odo_left], wheels[v.odo_right]
    v_left = left.omega * left.radius
    v_right = right.omega * right.radius
    v.odo_wz = (v_right - v_left) / v.track
    v.odo_vx = v_left + v.odo_wz * left.y
    v.odo_vy = 0.0 - v.odo_wz * v.axle_x  # no sideways motion at the axle
