# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ackermann geometry: from the virtual centre wheel to both front wheels.

Source: "Ackermann Steering Dynamics" of the physics documentation. Wheels are numbered rear left,
rear right, front left, front right from the first row of the vehicle.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row, Rows

#: Below this speed a twist does not determine the steering angle [m/s].
CREEP = 1e-6


@njit(cache=True, nogil=True, error_model="numpy")
def wheel_angles(steer: float, front_track: float, wheelbase: float) -> tuple[float, float]:
    """Return the angles of the left and right front wheel for a virtual centre wheel [rad]."""
    if steer == 0.0:
        return 0.0, 0.0
    cot = 1.0 / math.tan(abs(steer))
    shift = 0.5 * front_track / wheelbase
    inner = math.atan2(1.0, cot - shift)  # atan2: beyond 90° when the turn is about a point inside
    outer = math.atan2(1.0, cot + shift)
    if steer > 0.0:
        return inner, outer
    return -outer, -inner


@njit(cache=True, nogil=True, error_model="numpy")
def set_wheel_yaw(w: Row, yaw: float) -> None:
    """Set the angle of a wheel in the vehicle frame [rad]."""
    w.yaw = yaw
    w.yaw_c = math.cos(yaw)
    w.yaw_s = math.sin(yaw)


@njit(cache=True, nogil=True, error_model="numpy")
def set_steering(v: Row, wheels: Rows, steer: float, dt: float) -> None:
    """Turn the front wheels towards the virtual angle, within the limits of angle and rate."""
    goal = min(max(steer, -v.max_steer), v.max_steer)
    most = v.max_steer_rate * dt
    if abs(goal - v.steer) > most:
        goal = v.steer + math.copysign(most, goal - v.steer)
    if goal == v.steer and goal != 0.0:
        return  # the wheels have this angle already
    v.steer = goal
    left, right = wheel_angles(v.steer, v.front_track, v.wheelbase)
    set_wheel_yaw(wheels[v.wheel0 + 2], left)
    set_wheel_yaw(wheels[v.wheel0 + 3], right)


@njit(cache=True, nogil=True, error_model="numpy")
def steering_of_twist(v: Row) -> float:
    """Return the virtual steering angle of the target twist of row `v` [rad].

    R = v/ω, δ = atan(l/R). A zero target keeps the angle; turning on the spot steers to
    the limit.
    """
    if not math.isnan(v.target_steer):
        return float(v.target_steer)
    if abs(v.vx) < CREEP:
        if v.wz == 0.0:
            return float(v.steer)
        return math.copysign(v.max_steer, v.wz)
    return math.atan(v.wheelbase * v.wz / v.vx)
