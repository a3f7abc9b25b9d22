# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`twist_ideal`: purely kinematic: bodies get the commanded twist, wheels roll without force.

Source: "Ideal Controllers" of the physics documentation: perfect tracking without dynamics.
"""

from __future__ import annotations

import math
from typing import ClassVar

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.dynamics.steering import set_steering, steering_of_twist
from mvsim_core.state.arrays import IntArray, Rows
from mvsim_core.state.plan_view import to_plan


@njit(cache=True, nogil=True, error_model="numpy")
def twist_ideal_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Give bodies the velocity whose step of length dt is the exact arc of the target twist."""
    for i in ids:
        v = vehicles[i]
        b = bodies[v.body]
        if v.wheelbase > 0.0:
            set_steering(v, wheels, steering_of_twist(v), dt)
        half = 0.5 * v.wz * dt
        # the chord of the arc: shorter by sin(h)/h and turned by h
        chord = math.sin(half) / half if abs(half) > 1e-9 else 1.0
        c, s = math.cos(b.yaw + half) * chord, math.sin(b.yaw + half) * chord
        # the mean velocity of the centre of mass: that of the reference point plus its own chord
        rx = b.com_x * math.cos(b.yaw + half) - b.com_y * math.sin(b.yaw + half)
        ry = b.com_x * math.sin(b.yaw + half) + b.com_y * math.cos(b.yaw + half)
        vx_v, vy_v = to_plan(b, v.vx, v.vy)
        b.cvx = c * vx_v - s * vy_v - v.wz * chord * ry
        b.cvy = s * vx_v + c * vy_v + v.wz * chord * rx
        b.wz = v.wz
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            wheels[k].torque = 0.0


@CONTROLLERS.register("twist_ideal")
class TwistIdeal(IdController):
    """All vehicles that are moved kinematically."""

    accepts: ClassVar[frozenset[str]] = frozenset({"twist", "ackermann"})
    ideal = True
    kernel = staticmethod(twist_ideal_kernel)
