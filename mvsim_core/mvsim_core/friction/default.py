# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""``default``: Coulomb friction that first tries to stop all slip.

Source: "Default Friction Model" of the physics documentation; step numbers refer to it.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.friction.base import FRICTION
from mvsim_core.friction.contact import rolling_torque, wheel_velocity
from mvsim_core.specs.friction import DefaultFrictionSpec
from mvsim_core.state import IntArray, Rows, State

PARAMS = np.dtype(
    [
        ("mu", "f8"),  # 1
        ("c_damping", "f8"),  # N m s/rad
        ("c_rr", "f8"),  # 1
        ("circle", "i8"),  # 1: the limit holds for the vector sum, 0: for each axis
    ]
)


@njit(cache=True, nogil=True)
def default_friction_kernel(
    bodies: Rows, wheels: Rows, params: Rows, ids: IntArray, gravity: float, dt: float
) -> None:
    """Write force and spin of the wheels ``ids``."""
    for k in range(ids.shape[0]):
        w = wheels[ids[k]]
        p = params[k]
        b = bodies[w.body]
        vx, vy = wheel_velocity(b, w)  # 1
        w.slip_vx = vx
        w.slip_vy = vy
        if b.ideal != 0:  # kinematic vehicles only roll along
            w.omega = vx / w.radius
            w.fx = 0.0
            w.fy = 0.0
            continue
        mass = w.load / gravity + w.mass if gravity > 0.0 else w.mass  # 2
        limit = p.mu * mass * gravity  # 3
        lateral = min(max(-vy * mass / dt, -limit), limit)  # 4
        alpha = (vx / w.radius - w.omega) / dt  # 5
        drag = p.c_damping * w.omega + rolling_torque(
            p.c_rr, mass * gravity, w.radius, w.omega
        )
        torque = w.torque - drag
        along = (torque - w.inertia * alpha) / w.radius
        along = min(max(along, -limit), limit)
        if p.circle != 0:
            total = math.hypot(along, lateral)
            if total > limit:
                along *= limit / total
                lateral *= limit / total
        w.omega += (torque - w.radius * along) / w.inertia * dt  # 6, 7
        c, s = math.cos(w.yaw), math.sin(w.yaw)  # 8
        w.fx = c * along - s * lateral
        w.fy = s * along + c * lateral


@FRICTION.register("default")
class DefaultFriction:
    """All wheels with Coulomb friction."""

    def __init__(self, specs: list[DefaultFrictionSpec], ids: IntArray) -> None:
        """Serve the rows ``ids`` of WHEEL; ``specs[k]`` holds the parameters of ``ids[k]``."""
        self.ids = np.ascontiguousarray(ids, dtype=np.int64)
        self.params = np.array(
            [(s.mu, s.c_damping, s.c_rr, int(s.friction_circle)) for s in specs], PARAMS
        )

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.fx, fy and advance WHEEL.omega."""
        default_friction_kernel(
            state.bodies, state.wheels, self.params, self.ids, gravity, dt
        )
