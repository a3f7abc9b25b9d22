# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics that all friction models share."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state import Rows


@njit(cache=True, nogil=True)
def wheel_velocity(b: Rows, w: Rows) -> tuple[float, float]:
    """Return the velocity of the centre of wheel ``w`` of body ``b`` in the wheel frame [m/s]."""
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    vx = c * b.vx + s * b.vy - b.wz * w.y
    vy = -s * b.vx + c * b.vy + b.wz * w.x
    cw, sw = math.cos(w.yaw), math.sin(w.yaw)
    return cw * vx + sw * vy, -sw * vx + cw * vy


@njit(cache=True, nogil=True)
def rolling_torque(c_rr: float, normal: float, radius: float, omega: float) -> float:
    """Return T_rr = C_rr N R tanh(100 ω), the torque of the tyre's deformation [N m]."""
    if c_rr <= 0.0 or abs(omega) <= 1e-4:
        return 0.0
    return c_rr * normal * radius * math.tanh(100.0 * omega)
