# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that are driven kinematically, after the solver has moved them."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row, Rows
from mvsim_core.state.plan_view import to_plan


@njit(cache=True, nogil=True)
def ideal_twist_kernel(bodies: Rows, vehicles: Rows, dt: float) -> None:
    """Give kinematic bodies that nothing held back exactly their target twist.

    The step moved them along the chord of their arc; at its end the velocity is the tangent.
    """
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        b = bodies[v.body]
        if b.ideal == 0 or b.touching != 0 or b.wz != v.wz:
            continue
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        px, py = to_plan(b, v.vx, v.vy)
        vx = c * px - s * py
        vy = s * px + c * py
        b.ax += (vx - b.vx) / dt
        b.ay += (vy - b.vy) / dt
        b.vx = vx
        b.vy = vy
        set_com_velocity(b)


@njit(cache=True, nogil=True)
def set_com_velocity(b: Row) -> None:
    """Derive the velocity of the centre of mass from that of the reference point."""
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    b.cvx = b.vx - b.wz * (s * b.com_x + c * b.com_y)
    b.cvy = b.vy + b.wz * (c * b.com_x - s * b.com_y)
