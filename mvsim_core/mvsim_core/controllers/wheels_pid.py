# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`twist_pid` for vehicles with any wheels: one speed PID for each wheel.

The target speeds of the wheels are those of a rigid body with the target twist, so that no wheel
works against another.
"""

from __future__ import annotations

from typing import ClassVar

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.controllers.pid import filter_set_point, only_braking, pid_output, reset_pid
from mvsim_core.state.arrays import IntArray, Row, Rows, State


@njit(cache=True, nogil=True, error_model="numpy")
def surface_speed(w: Row, vx: float, vy: float, wz: float) -> float:
    """Return the surface speed of a wheel that grips without slip under a twist [m/s].

    The heading of these wheels is that of the step before: they do not steer.
    """
    ux = vx - wz * w.y
    uy = vy + wz * w.x
    c, s = w.yaw_c, w.yaw_s
    return float(c * ux + s * uy + (-s * ux + c * uy) * w.tan_grip)


@njit(cache=True, nogil=True, error_model="numpy")
def wheels_pid_kernel(vehicles: Rows, wheels: Rows, pids: Rows, ids: IntArray, dt: float) -> None:
    """Control the speed of every wheel of the vehicles `ids`."""
    for i in ids:
        v = vehicles[i]
        stop = True
        standing = True
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            p = pids[v.pid0 + k]
            p.target = filter_set_point(p, surface_speed(w, v.vx, v.vy, v.wz), dt)
            p.actual = w.omega * w.radius
            stop = stop and abs(p.target) < p.zero
            standing = standing and abs(p.actual) < p.stop
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            p = pids[v.pid0 + k]
            if stop and standing:
                reset_pid(p)
                w.torque = 0.0
                continue
            torque = pid_output(p, p.target - p.actual, 0.0, dt)
            w.torque = only_braking(torque, p.actual) if stop else torque


@CONTROLLERS.register("wheels/twist_pid")
@CONTROLLERS.register("mecanum/twist_pid")
class WheelsPid(IdController):
    """All vehicles of free wheels that follow a twist."""

    accepts: ClassVar[frozenset[str]] = frozenset({"twist"})

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Turn targets and wheel speeds into wheel torques."""
        wheels_pid_kernel(state.vehicles, state.wheels, state.pids, self.ids, dt)
