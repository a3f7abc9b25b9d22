# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`twist_pid`: one speed PID a side of a differential vehicle.

Source: "Differential Twist PID Controller" of the physics documentation.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.controllers.pid import filter_set_point, measure, take_set_point
from mvsim_core.controllers.speed_loop import soften, speed_loop_torque
from mvsim_core.controllers.stopping import BRAKING, stop_mode
from mvsim_core.state.arrays import IntArray, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def twist_pid_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Set the torque of all wheels of the vehicles `ids`; wheels alternate left, right."""
    for i in ids:
        v = vehicles[i]
        left, right = wheels[v.odo_left], wheels[v.odo_right]
        p_l, p_r = pids[v.pid0], pids[v.pid0 + 1]
        g_l, g_r = gains[p_l.gains], gains[p_r.gains]
        want_l = filter_set_point(p_l, g_l, v.vx - v.wz * left.y, dt)
        want_r = filter_set_point(p_r, g_r, v.vx - v.wz * right.y, dt)
        v_l = left.omega * left.radius
        v_r = right.omega * right.radius
        # weight along the slope, shared by all driven wheels
        paired = 2 * (v.n_wheels // 2)
        hill = -bodies[v.body].slope_x * v.chassis_mass * gravity / paired
        measure(p_l, v_l)
        measure(p_r, v_r)
        take_set_point(p_l, want_l, hill * left.radius)
        take_set_point(p_r, want_r, hill * right.radius)
        stop = abs(want_l) < g_l.zero and abs(want_r) < g_r.zero
        mode = stop_mode(v, stop, g_l.stop, max(abs(v_l), abs(v_r)), dt)
        forward_l = g_l.feedforward * hill * left.radius
        forward_r = g_r.feedforward * hill * right.radius
        t_l = speed_loop_torque(v, p_l, g_l, mode, left.omega, forward_l, dt)
        t_r = speed_loop_torque(v, p_r, g_r, mode, right.omega, forward_r, dt)
        for k in range(v.n_wheels):
            w = wheels[v.wheel0 + k]
            w.torque = 0.0  # an odd wheel is a caster
            if k < paired:
                w.torque = t_l if k % 2 == 0 else t_r
                if mode == BRAKING:
                    soften(w, p_l if k % 2 == 0 else p_r, 1.0)


@CONTROLLERS.register("twist_pid")
class TwistPid(IdController):
    """All `twist_pid` vehicles of a world."""

    kernel = staticmethod(twist_pid_kernel)
