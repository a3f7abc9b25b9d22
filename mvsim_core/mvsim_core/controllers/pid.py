# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The speed controller that all PID classes share.

Source: "Motor Controllers" of the physics documentation. The derivative is a real one (of the
error, low-passed with bandwidth N when N > 0) and I_MAX limits the integral *term* [N m]. The
integral does not grow while the torque is at its limit, and when the set point reverses only that
part of it is kept which carries the weight on a slope.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row


@njit(cache=True, nogil=True, error_model="numpy")
def pid_output(
    p: Row, g: Row, error: float, feedforward: float, motor: tuple[float, float], dt: float
) -> float:
    """Advance one controller by dt and return its torque [N m].

    Args:
        p: One row of PID.
        g: Its row of GAINS.
        error: Speed error [m/s].
        feedforward: Torque added before the limit [N m].
        motor: Least and largest torque that the motor has at its speed [N m].
        dt: Time step [s].
    """
    before = p.integral
    p.integral = min(max(before + g.ki * error * dt, -g.i_max), g.i_max)
    slope = 0.0
    if g.n > 0.0:
        if p.started == 0:
            p.derivative = error
        # d/dt of the error through N / (s + N), backward Euler: stable for any N dt
        slope = g.n * (error - p.derivative) / (1.0 + g.n * dt)
        p.derivative += slope * dt
    elif p.started != 0:
        slope = (error - p.previous) / dt
    p.previous = error
    p.forward = feedforward
    p.started = 1
    free = g.kp * error + p.integral + g.kd * slope + feedforward
    low = max(-g.max_torque, motor[0])
    high = min(g.max_torque, motor[1])
    out = min(max(free, low), high)
    if (free - out) * error > 0.0:  # at the limit, and pushing further
        free -= p.integral - before
        p.integral = before
        out = min(max(free, low), high)
    if g.antiwindup != 0 and g.kp > 0.0:
        p.integral += g.ki / g.kp * (out - free) * dt
        free = g.kp * error + p.integral + g.kd * slope + feedforward
        out = min(max(free, low), high)
    return float(out)


@njit(cache=True, nogil=True, error_model="numpy")
def measure(p: Row, speed: float) -> None:
    """Enter the measured speed of this step [m/s]."""
    p.before = p.actual
    p.actual = speed


@njit(cache=True, nogil=True, error_model="numpy")
def take_set_point(p: Row, target: float, weight: float) -> None:
    """Enter the set point of this step [m/s].

    What the integral has become against a wall, or against losses, says nothing about the way
    back. Only the weight on a slope is the same both ways.

    Args:
        p: One row of PID.
        target: Set point [m/s].
        weight: Torque that carries the vehicle's weight along the slope it stands on [N m].
    """
    if target * p.last < 0.0:
        p.integral = min(max(p.integral, min(weight, 0.0)), max(weight, 0.0))
    if target != 0.0:
        p.last = target
    p.target = target


@njit(cache=True, nogil=True, error_model="numpy")
def filter_set_point(p: Row, g: Row, target: float, dt: float) -> float:
    """Return the set point after the optional low-pass of first or second order [m/s]."""
    if g.filter_tau <= 0.0:
        return target
    a = math.exp(-dt / g.filter_tau)
    p.filter1 = a * p.filter1 + (1.0 - a) * target
    if g.filter_order <= 1:
        return float(p.filter1)
    p.filter2 = a * p.filter2 + (1.0 - a) * p.filter1
    return float(p.filter2)


@njit(cache=True, nogil=True, error_model="numpy")
def reset_pid(p: Row) -> None:
    """Clear the memory of one controller."""
    p.integral = 0.0
    p.derivative = 0.0
    p.previous = 0.0
    p.forward = 0.0
    p.started = 0
    p.filter1 = 0.0
    p.filter2 = 0.0
