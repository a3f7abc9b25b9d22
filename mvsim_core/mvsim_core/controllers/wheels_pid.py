# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`twist_pid` for vehicles with any wheels: one speed PID for each wheel.

The target speeds of the wheels are those of a rigid body with the target twist, so that no wheel
works against another.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.controllers.pid import filter_set_point, measure, take_set_point
from mvsim_core.controllers.speed_loop import soften, speed_loop_torque
from mvsim_core.controllers.stopping import BRAKING, stop_mode
from mvsim_core.state.arrays import IntArray, Row, Rows


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
def wheels_pid_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Control the speed of every wheel of the vehicles `ids`.

    The feed-forward shares the weight along a slope out by the transpose of the odometry: what
    makes the least-squares twist of speeds makes the least-squares forces of a wrench.
    """
    for i in ids:
        v = vehicles[i]
        hill_x = -bodies[v.body].slope_x * v.chassis_mass * gravity
        hill_y = -bodies[v.body].slope_y * v.chassis_mass * gravity
        stop = True
        fastest = 0.0
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            p = pids[v.pid0 + k]
            g = gains[p.gains]
            target = filter_set_point(p, g, surface_speed(w, v.vx, v.vy, v.wz), dt)
            hill = (w.odo_vx * hill_x + w.odo_vy * hill_y) * w.radius * w.grip_c
            measure(p, w.omega * w.radius)
            take_set_point(p, target, hill)
            stop = stop and abs(p.target) < g.zero
            fastest = max(fastest, abs(p.actual))
        mode = stop_mode(v, stop, gains[pids[v.pid0].gains].stop, fastest, dt)
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            p = pids[v.pid0 + k]
            g = gains[p.gains]
            hill = (w.odo_vx * hill_x + w.odo_vy * hill_y) * w.radius * w.grip_c
            w.torque = speed_loop_torque(v, p, g, mode, w.omega, g.feedforward * hill, dt)
            if mode == BRAKING:
                soften(w, p, 1.0)


@CONTROLLERS.register("wheels/twist_pid")
@CONTROLLERS.register("mecanum/twist_pid")
class WheelsPid(IdController):
    """All vehicles of free wheels that follow a twist."""

    kernel = staticmethod(wheels_pid_kernel)
