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
    """Advance wheel angles and the odometry pose of all vehicles by dt."""
    for k in range(wheels.shape[0]):
        w = wheels[k]
        w.phi += w.omega * dt
        if abs(w.phi) > WRAP_BEYOND:
            w.phi -= 2.0 * math.pi * math.trunc(w.phi / (2.0 * math.pi))  # C's fmod
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        wheel_twist(v, wheels)
        b = bodies[v.body]
        if (
            b.ideal != 0 and v.free == 0
        ):  # kinematic bases may move sideways, which no wheel spin shows
            v.odo_vy = (-math.sin(b.yaw) * b.vx + math.cos(b.yaw) * b.vy) / b.cos_y
        mid = v.odo_yaw + 0.5 * v.odo_kyaw * v.odo_wz * dt
        dx = v.odo_kx * v.odo_vx * dt
        dy = v.odo_ky * v.odo_vy * dt
        v.odo_x += math.cos(mid) * dx - math.sin(mid) * dy
        v.odo_y += math.sin(mid) * dx + math.cos(mid) * dy
        v.odo_yaw += v.odo_kyaw * v.odo_wz * dt


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
