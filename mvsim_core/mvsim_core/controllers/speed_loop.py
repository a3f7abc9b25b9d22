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
    p.soft = 0.0
    if v.coast != 0:
        error = p.target - p.actual
        return only_braking(pid_output(p, g, error, feedforward, motor, dt), p.actual)
    # speed and integral count as they are in the middle of the step
    middle, after = braking_speeds(v, p, g, dt)
    error = p.target - math.copysign(middle, p.actual)
    feedforward -= 0.5 * g.ki * error * dt
    torque = only_braking(pid_output(p, g, error, feedforward, motor, dt), p.actual)
    brake = -math.copysign(1.0, p.actual) * (g.kp * error + p.integral + feedforward)
    p.at_rest = max(abs(torque), brake) - 0.5 * g.kp * after
    if torque != 0.0 and p.at_rest > 0.0:
        p.soft = 0.5 * g.kp
    return torque


@njit(cache=True, nogil=True, error_model="numpy")
def braking_speeds(v: Row, p: Row, g: Row, dt: float) -> tuple[float, float]:
    """Return the speed in the middle of a step of braking and that of the wheel after it [m/s].

    They follow from the last two measured speeds, whose ratio lasts while the loop brakes. In the
    first step these do not show yet how the vehicle brakes: then they follow from the loop's own
    torque, at its limit or below it. Both are sizes.
    """
    size = abs(p.actual)
    since = v.stop_time - dt
    if since < 0.5 * dt and g.filter_tau <= 0.0:
        middle = braked(g, size, 0.5 * dt)
    else:
        before = p.before if p.actual > 0.0 else -p.before
        ratio = size / before if before > 0.0 else 1.0
        middle = size * math.sqrt(ratio)
    # at the least where it stops within the step, or slips
    middle = max(middle, 0.5 * size)
    return middle, 2.0 * middle - size


@njit(cache=True, nogil=True, error_model="numpy")
def braked(g: Row, speed: float, time: float) -> float:
    """Return the speed that a gripping vehicle has after braking from `speed` for a time."""
    response = time * g.response  # m/s per N m
    return float(max(speed / (1.0 + response * g.kp), speed - response * g.max_torque))


@njit(cache=True, nogil=True, error_model="numpy")
def soften(w: Row, p: Row, share: float) -> None:
    """Let the torque of a wheel's motor answer to the wheel's spin within a step of braking.

    A wheel that its motor takes beyond its grip is slowed by its small inertia alone, within a
    time of I/(KP R). With the torque of the start of the step it would be locked by a longer one.

    Args:
        w: Row of WHEEL.
        p: Row of PID, of this step.
        share: Share of the wheel in the torque of the loop [1].
    """
    w.soft = share * p.soft * w.radius
    w.at_rest = share * p.at_rest
