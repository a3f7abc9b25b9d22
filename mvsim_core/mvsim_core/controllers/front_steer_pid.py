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

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.controllers.pid import filter_set_point, measure, take_set_point
from mvsim_core.controllers.speed_loop import soften, speed_loop_torque
from mvsim_core.controllers.stopping import BRAKING, stop_mode
from mvsim_core.dynamics.steering import CREEP, set_steering, steering_of_twist
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
    gains: Rows,
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
        fastest = 0.0
        for k in range(n):
            w = wheels[first + k]
            p = pids[v.pid0 + k]
            measure(p, rolling_speed(w, v.odo_vx, v.odo_wz))
            fastest = max(fastest, abs(p.actual))
        wish = steering_of_twist(v)
        set_steering(v, wheels, wish, dt)
        wz = v.wz
        if abs(v.vx) < CREEP:  # it cannot turn on the spot: it stands with its wheels turned
            wz = 0.0
        elif v.steer != wish:  # at the limit of the steering the circle is wider than asked for
            wz = v.vx * math.tan(v.steer) / v.wheelbase
        hill = -bodies[v.body].slope_x * v.chassis_mass * gravity / n
        stop = True
        for k in range(n):
            p = pids[v.pid0 + k]
            w = wheels[first + k]
            g = gains[p.gains]
            target = filter_set_point(p, g, rolling_speed(w, v.vx, wz), dt)
            take_set_point(p, target, hill * w.radius)
            stop = stop and abs(p.target) < g.zero
        mode = stop_mode(v, stop, gains[pids[v.pid0].gains].stop, fastest, dt)
        for k in range(v.wheel0, v.wheel0 + v.n_wheels):
            wheels[k].torque = 0.0
        for k in range(n):
            w = wheels[first + k]
            p = pids[v.pid0 + k]
            g = gains[p.gains]
            feedforward = g.feedforward * hill * w.radius
            w.torque = speed_loop_torque(v, p, g, mode, w.omega, feedforward, dt)
            if mode == BRAKING:  # speed is measured at the rear wheels
                soften(w, p, 1.0 if v.driven0 == 0 else 0.0)


@CONTROLLERS.register("twist_front_steer_pid")
class TwistFrontSteerPid(IdController):
    """All Ackermann vehicles that follow a twist (or speed and steering) by PID."""

    accepts: ClassVar[frozenset[str]] = frozenset({"twist", "ackermann"})

    kernel = staticmethod(front_steer_pid_kernel)


@CONTROLLERS.register("front_steer_pid")
class FrontSteerPid(TwistFrontSteerPid):
    """The same, with set points of speed and steering angle in the world file."""
