# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One speed loop of a vehicle: PID within what the motor can give, brake and rest at zero."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.controllers.pid import pid_output, reset_pid
from mvsim_core.controllers.stopping import (
    BRAKING,
    RESTING,
    drop_pushing_integral,
    only_braking,
)
from mvsim_core.dynamics.motor import motor_range
from mvsim_core.state.arrays import Row


@njit(cache=True, nogil=True, error_model="numpy")
def speed_loop_torque(  # noqa: PLR0913 (rows of a kernel)
    v: Row, p: Row, g: Row, mode: int, omega: float, feedforward: float, dt: float
) -> float:
    """Advance one speed loop by dt and return its torque [N m].

    Args:
        v: Row of VEHICLE.
        p: Row of PID, whose set point and measured speed of this step are entered.
        g: Its row of GAINS.
        mode: DRIVING, BRAKING or RESTING, see `stop_mode`.
        omega: Speed of the wheel, or of an engine's shaft [rad/s].
        feedforward: Torque added before the limit [N m].
        dt: Time step [s].
    """
    if mode == RESTING:
        reset_pid(p)
        return 0.0
    motor = (-math.inf, math.inf)
    if v.motor_stall > 0.0:
        motor = motor_range(v, omega)
    if mode != BRAKING:
        return pid_output(p, g, p.target - p.actual, feedforward, motor, dt)
    drop_pushing_integral(v, p)
    error = p.target - p.actual
    if v.coast == 0:  # speed and integral count as they are in the middle of the step
        error = p.target - braking_speed(v, p, g, dt)
        feedforward -= 0.5 * g.ki * error * dt
    return only_braking(pid_output(p, g, error, feedforward, motor, dt), p.actual)


@njit(cache=True, nogil=True, error_model="numpy")
def braking_speed(v: Row, p: Row, g: Row, dt: float) -> float:
    """Return the speed in the middle of a step of braking, so that the way to the stop is right.

    It follows from the last two measured speeds, whose ratio lasts while the loop brakes. In the
    first steps these do not show yet how the vehicle brakes: then it follows from the loop's own
    torque, at its limit or below it.
    """
    size = abs(p.actual)
    since = v.stop_time - dt
    if since < (g.lag + 0.5) * dt and g.filter_tau <= 0.0:
        response = (since + 0.5 * dt) * g.response  # m/s per N m
        middle = max(size / (1.0 + response * g.kp), size - response * g.max_torque)
    else:
        before = p.before if p.actual > 0.0 else -p.before
        middle = size * (size / before) ** (0.5 + g.lag) if before > 0.0 else size
    # at the least where it stops within the step, or slips
    return math.copysign(max(middle, 0.5 * size), p.actual)
