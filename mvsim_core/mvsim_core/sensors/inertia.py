# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What an error-free inertial unit feels: rates and specific force where it is mounted.

Rotation and acceleration are those of the last step, in the attitude of its middle. Source: rigid
body kinematics, f = Rᵀ(a + g) + α × r + ω × (ω × r) in the frame of the vehicle, with roll,
pitch and yaw of REP-103, R = Rz·Ry·Rx.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Row, Rows


@njit(cache=True, nogil=True)
def inertial_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    rows: IntArray,
    arms: FloatArray,
    turns: FloatArray,
    gravity: float,
    dt: float,
    felt: FloatArray,
) -> None:
    """Write rates and specific forces of inertial units.

    Args:
        bodies: BODY.
        rows: (n,) row of the vehicle of each unit; -1: it stands still and level.
        arms: (n, 3) m, place of the unit in the vehicle frame.
        turns: (n, 3, 3) rotation of the unit in the vehicle frame.
        gravity: m/s².
        dt: Length of a step [s].
        felt: Output (n, 6) rad/s and m/s², frame of the unit; at rest gravity points up.
    """
    for k in range(rows.shape[0]):
        wx, wy, wz, fx, fy, fz = 0.0, 0.0, 0.0, 0.0, 0.0, gravity
        if rows[k] >= 0:
            wx, wy, wz, fx, fy, fz = felt_at(bodies[rows[k]], arms[k], gravity, dt)
        for j in range(3):
            x, y, z = turns[k, 0, j], turns[k, 1, j], turns[k, 2, j]
            felt[k, j] = x * wx + y * wy + z * wz
            felt[k, 3 + j] = x * fx + y * fy + z * fz


@njit(cache=True, nogil=True)
def felt_at(
    b: Row, r: FloatArray, gravity: float, dt: float
) -> tuple[float, float, float, float, float, float]:
    """Return rates [rad/s] and specific force [m/s²] at a place r of a body, in its frame."""
    back = 0.5 * dt
    roll, pitch = b.roll - back * b.roll_rate, b.pitch - back * b.pitch_rate
    yaw = b.yaw - back * b.wz
    cr, sr = math.cos(roll), math.sin(roll)
    cp, sp = math.cos(pitch), math.sin(pitch)
    cy, sy = math.cos(yaw), math.sin(yaw)
    dr, dp, dy = b.roll_rate, b.pitch_rate, b.wz
    wx = dr - dy * sp
    wy = dp * cr + dy * sr * cp
    wz = dy * cr * cp - dp * sr
    ex = b.roll_acc - b.az * sp - dy * dp * cp
    ey = b.pitch_acc * cr - dp * dr * sr + b.az * sr * cp + dy * (dr * cr * cp - dp * sr * sp)
    ez = b.az * cr * cp - dy * (dr * sr * cp + dp * cr * sp) - b.pitch_acc * sr - dp * dr * cr
    ahead = cy * b.ax + sy * b.ay  # world frame -> heading -> pitched -> rolled
    left = cy * b.ay - sy * b.ax
    up = b.az_up + gravity
    fx = cp * ahead - sp * up
    down = sp * ahead + cp * up
    fy = cr * left + sr * down
    fz = cr * down - sr * left
    dot = wx * r[0] + wy * r[1] + wz * r[2]
    square = wx * wx + wy * wy + wz * wz
    fx += ey * r[2] - ez * r[1] + wx * dot - square * r[0]
    fy += ez * r[0] - ex * r[2] + wy * dot - square * r[1]
    fz += ex * r[1] - ey * r[0] + wz * dot - square * r[2]
    return wx, wy, wz, fx, fy, fz
