# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The formulas of feasible twists, as scalar functions that objects and the kernel share.

Source: "Two-wheeled kinematics" of the navground documentation. Twists are (vx [m/s], vy [m/s],
wz [rad/s]) in the vehicle frame; `p` is a row of LIMIT. Wheel torques are the documentation's
scaled ones, f = 2 F / m [m/s²], ordered left, right.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import Row

Triple = tuple[float, float, float]
Pair = tuple[float, float]

#: Values of LIMIT.kind.
OMNI, DIFF, DIFF_DYN, CUSTOM = 0, 1, 2, 3
#: Values of LIMIT.strategy.
ANGULAR, TORQUES, INTERSECTION = 0, 1, 2
#: Halvings of an interval of angular speeds: to the last digit of a double.
BISECTIONS = 52


@njit(cache=True, nogil=True)
def clip(value: float, low: float, high: float) -> float:
    """Return value clipped to [low, high]."""
    return min(max(value, low), high)


@njit(cache=True, nogil=True)
def limit_norm(twist: Triple, most: float, most_angular: float) -> Triple:
    """Limit the norm of the velocity [m/s] and the size of the angular speed [rad/s]."""
    vx, vy, wz = twist
    speed = math.hypot(vx, vy)
    scale = most / speed if speed > most else 1.0
    return vx * scale, vy * scale, clip(wz, -most_angular, most_angular)


@njit(cache=True, nogil=True)
def limit_acceleration(
    want: Triple, now: Triple, dt: float, most: float, most_angular: float
) -> Triple:
    """Go from a twist towards another for dt, with limited accelerations [m/s², rad/s²]."""
    ax, ay, az = want[0] - now[0], want[1] - now[1], want[2] - now[2]
    step, most_step, most_turn = math.hypot(ax, ay), most * dt, most_angular * dt
    vx, vy, wz = want
    if step > most_step:
        vx = now[0] + ax * (most_step / step)
        vy = now[1] + ay * (most_step / step)
    if abs(az) > most_turn:
        wz = now[2] + math.copysign(most_turn, az)
    return vx, vy, wz


@njit(cache=True, nogil=True)
def speed_range(p: Row, wz: float) -> Pair:
    """Return the slowest and fastest linear speed at an angular speed within its limit [m/s]."""
    left = max(p.max_speed - abs(wz) * p.axis / 2.0, 0.0)
    return -min(p.max_backward, left), min(p.max_forward, left)


@njit(cache=True, nogil=True)
def feasible_wheels(p: Row, want: Triple) -> Triple:
    """Return the twist of two wheels of limited speed: angular speed first, sideways none."""
    wz = clip(want[2], -p.max_angular, p.max_angular)
    low, high = speed_range(p, wz)
    return clip(want[0], low, high), 0.0, wz


@njit(cache=True, nogil=True)
def wheel_speeds(twist: Triple, axis: float) -> Pair:
    """Return the speeds of the left and right wheel over the ground [m/s]."""
    turn = twist[2] * axis / 2.0
    return twist[0] - turn, twist[0] + turn


@njit(cache=True, nogil=True)
def wheel_torques(p: Row, want: Triple, now: Triple, dt: float) -> Pair:
    """Return the scaled torques that lead from a twist to another in dt: f = a ± i A α / 4."""
    a = (want[0] - now[0]) / dt
    turn = p.moi * p.axis * (want[2] - now[2]) / (4.0 * dt)
    return a - turn, a + turn


@njit(cache=True, nogil=True)
def apply_torques(p: Row, torques: Pair, now: Triple, dt: float) -> Triple:
    """Return the twist after dt: a = (f_r + f_l) / 2, α = 2 (f_r - f_l) / (i A)."""
    left, right = torques
    wz = now[2] + dt * 2.0 * (right - left) / (p.moi * p.axis)
    return now[0] + dt * (right + left) / 2.0, 0.0, wz


@njit(cache=True, nogil=True)
def reach(p: Row, now: Triple, wz: float, dt: float) -> float:
    """Return by how much the linear speed can change while wz is reached [m/s]."""
    return float(max(p.max_acceleration * dt - abs(wz - now[2]) * p.axis * p.moi / 4.0, 0.0))


@njit(cache=True, nogil=True)
def step_angular(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Steps 2 and 3 of 2WDiffDyn: the angular speed takes what torque it needs."""
    turn = 4.0 * p.max_acceleration / (p.moi * p.axis) * dt
    wz = clip(want[2], now[2] - turn, now[2] + turn)
    dv = reach(p, now, wz, dt)
    return clip(want[0], now[0] - dv, now[0] + dv), 0.0, wz


@njit(cache=True, nogil=True)
def step_torques(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Clip the accelerations, then each wheel's torque on its own."""
    most = p.max_acceleration
    near = limit_acceleration(want, now, dt, most, 4.0 * most / (p.moi * p.axis))
    left, right = wheel_torques(p, near, now, dt)
    if max(abs(left), abs(right)) <= most:
        return near[0], 0.0, near[2]
    clipped = clip(left, -most, most), clip(right, -most, most)
    return apply_torques(p, clipped, now, dt)


@njit(cache=True, nogil=True)
def reachable_speeds(p: Row, now: Triple, wz: float, dt: float) -> Pair:
    """Return the linear speeds that wheel speeds and torques admit; empty: low > high."""
    low, high = speed_range(p, wz)
    dv = reach(p, now, wz, dt)
    return max(low, now[0] - dv), min(high, now[0] + dv)


@njit(cache=True, nogil=True)
def step_intersection(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Turn as much as torque and wheel speeds admit together.

    The sets are convex and contain `now`, so the angular speeds that work are an interval from
    its own; a `now` outside the limits is first of all led back by `step_angular`.
    """
    turn = 4.0 * p.max_acceleration / (p.moi * p.axis) * dt
    wz = clip(want[2], now[2] - turn, now[2] + turn)
    low, high = reachable_speeds(p, now, wz, dt)
    if low > high:
        low, high = reachable_speeds(p, now, now[2], dt)
        if low > high:
            return step_angular(p, want, now, dt)
        good, bad = now[2], wz
        for _ in range(BISECTIONS):
            middle = 0.5 * (good + bad)
            a, b = reachable_speeds(p, now, middle, dt)
            if a <= b:
                good = middle
            else:
                bad = middle
        wz = good
        low, high = reachable_speeds(p, now, wz, dt)
    return clip(want[0], low, high), 0.0, wz


@njit(cache=True, nogil=True)
def feasible_torques(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Return the twist that limited wheel speeds and torques reach from `now` in dt."""
    want = feasible_wheels(p, want)
    if p.strategy == TORQUES:
        return step_torques(p, want, now, dt)
    if p.strategy == INTERSECTION:
        return step_intersection(p, want, now, dt)
    return step_angular(p, want, now, dt)


@njit(cache=True, nogil=True)
def feasible_twist(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Return the feasible twist of any kind; dt = 0 means "without dynamics"."""
    if p.kind == OMNI:
        return limit_norm(want, p.max_speed, p.max_angular)
    if p.kind == DIFF_DYN and dt > 0.0:
        return feasible_torques(p, want, now, dt)
    return feasible_wheels(p, want)


@njit(cache=True, nogil=True)
def motor_step(motor: Row, p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Let the torques of `motor` follow those that lead to `want`; return the twist they cause.

    Per wheel and step: f += k_p e + k_i Σ e dt + k_d Δe / dt with e = f_want - f, within ±f_max.
    """
    want_l, want_r = wheel_torques(p, feasible_twist(p, want, now, dt), now, dt)
    most = p.max_acceleration
    e_l, e_r = want_l - motor.torque_left, want_r - motor.torque_right
    motor.sum_left += e_l * dt
    motor.sum_right += e_r * dt
    more_l = motor.k_d * (e_l - motor.error_left) / dt + motor.k_i * motor.sum_left
    more_r = motor.k_d * (e_r - motor.error_right) / dt + motor.k_i * motor.sum_right
    left = clip(motor.torque_left + motor.k_p * e_l + more_l, -most, most)
    right = clip(motor.torque_right + motor.k_p * e_r + more_r, -most, most)
    motor.error_left, motor.error_right = e_l, e_r
    motor.torque_left, motor.torque_right = left, right
    return apply_torques(p, (left, right), now, dt)
