# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Followers: members of rigid islands whose rows follow the leader."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import IntArray, Rows
from mvsim_core.terrain.attitude import lie_on


@njit(cache=True, nogil=True, error_model="numpy")
def followers_kernel(bodies: Rows, followers: IntArray) -> None:
    """Derive pose, velocity and attitude of the rows `followers` from those of their leaders."""
    for i in followers:
        b = bodies[i]
        a = bodies[b.leader]
        c, s = math.cos(a.yaw), math.sin(a.yaw)
        rx = c * b.off_x - s * b.off_y
        ry = s * b.off_x + c * b.off_y
        b.x = a.x + rx
        b.y = a.y + ry
        b.yaw = a.yaw + b.off_yaw
        lie_on(b, a)
        b.vx = a.vx - a.wz * ry
        b.vy = a.vy + a.wz * rx
        b.wz = a.wz
        b.ax = a.ax - a.az * ry - a.wz * a.wz * rx
        b.ay = a.ay + a.az * rx - a.wz * a.wz * ry
        b.az = a.az
        b.touching = a.touching
