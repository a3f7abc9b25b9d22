# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One speed loop of a vehicle: PID within what the motor can give, brake and rest at zero."""

from __future__ import annotations

from numba import njit

from mvsim_core.controllers.pid import pid_output, reset_pid
from mvsim_core.controllers.stopping import (
    BRAKING,
    RESTING,
    drop_pushing_integral,
    only_braking,
)
from mvsim_core.dynamics.motor import limit_pid
from mvsim_core.state.arrays import Row


@njit(cache=True, nogil=True, error_model="numpy")
def speed_loop_torque(
    v: Row, p: Row, mode: int, omega: float, feedforward: float, dt: float
) -> float:
    """Advance one speed loop by dt and return its torque [N m].

    Args:
        v: Row of VEHICLE.
        p: Row of PID, whose set point and measured speed of this step are entered.
        mode: DRIVING, BRAKING or RESTING, see `stop_mode`.
        omega: Speed of the wheel, or of an engine's shaft [rad/s].
        feedforward: Torque added before the limit [N m].
        dt: Time step [s].
    """
    if mode == RESTING:
        reset_pid(p)
        return 0.0
    limit_pid(v, p, omega)
    if mode != BRAKING:
        return pid_output(p, p.target - p.actual, feedforward, dt)
    drop_pushing_integral(v, p)
    speed = p.actual
    if v.coast == 0:  # that in the middle of the step, so that the way to the stop is right
        speed += (0.5 + p.lag) * (p.actual - p.before)
        if speed * p.actual < 0.5 * p.actual * p.actual:  # it stops within the step, or slips
            speed = 0.5 * p.actual
    return only_braking(pid_output(p, p.target - speed, feedforward, dt), p.actual)
