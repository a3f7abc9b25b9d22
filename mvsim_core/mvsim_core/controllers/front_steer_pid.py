# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`twist_front_steer_pid` and `front_steer_pid`: Ackermann vehicles, one PID a driven wheel.

Source: "Ackermann Twist Controller" and "Ackermann Steering Controller" of the physics
documentation.
"""

from __future__ import annotations

import math
from typing import ClassVar

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, PidController
from mvsim_core.controllers.pid import filter_set_point, only_braking, pid_output, reset_pid
from mvsim_core.dynamics.steering import set_steering, steering_of_twist
from mvsim_core.state.arrays import IntArray, Row, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def rolling_speed(w: Row, vx: float, wz: float) -> float:
    """Return the speed of wheel `w` along its rolling direction for a vehicle twist [m/s]."""
    return float(math.cos(w.yaw) * (vx - wz * w.y) + math.sin(w.yaw) * wz * w.x)


@njit(cache=True, nogil=True, error_model="numpy")
def front_steer_pid_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Steer, then control the speed of each driven wheel along its rolling direction.

    The actual twist is that of the odometry; wheel speeds of it are taken at the wheel angles of
    the last step, targets at the new ones.
    """
    for i in ids:
        v = vehicles[i]
        n = v.driven_n
        first = v.wheel0 + v.driven0
        standing = True
        for k in range(n):
            w = wheels[first + k]
            p = pids[v.pid0 + k]
            p.actual = rolling_speed(w, v.odo_vx, v.odo_wz)
            standing = standing and abs(p.actual) < p.stop
        wish = steering_of_twist(v)
        set_steering(v, wheels, wish, dt)
        wz = v.wz
        if v.steer != wish:  # at the limit of the steering the circle is wider than asked for
            wz = v.vx * math.tan(v.steer) / v.wheelbase
        stop = True
        for k in range(n):
            p = pids[v.pid0 + k]
            p.target = filter_set_point(p, rolling_speed(wheels[first + k], v.vx, wz), dt)
            stop = stop and abs(p.target) < p.zero
        hill = -bodies[v.body].slope_x * v.chassis_mass * gravity / n
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            wheels[k].torque = 0.0
        for k in range(n):
            w = wheels[first + k]
            p = pids[v.pid0 + k]
            if stop and standing:
                reset_pid(p)
                continue
            torque = pid_output(p, p.target - p.actual, p.feedforward * hill * w.radius, dt)
            w.torque = only_braking(torque, p.actual) if stop else torque


@CONTROLLERS.register("twist_front_steer_pid")
class TwistFrontSteerPid(PidController):
    """All Ackermann vehicles that follow a twist (or speed and steering) by PID."""

    accepts: ClassVar[frozenset[str]] = frozenset({"twist", "ackermann"})

    kernel = staticmethod(front_steer_pid_kernel)


@CONTROLLERS.register("front_steer_pid")
class FrontSteerPid(TwistFrontSteerPid):
    """The same, with set points of speed and steering angle in the world file."""
