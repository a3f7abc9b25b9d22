# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a velocity controller does at a set point of zero: brake, then hold.

A robot with a set point of zero is braked by its speed loop. When its driven wheels are slower
than the stop speed, or no longer get slower, the motors hold them (VEHICLE.held): `friction.hold`
keeps such wheels from turning with up to WHEEL.brake. A robot whose file says
`<zero_command>coast</zero_command>` lets its motors go instead, as MVSim 1.2 does.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.state.arrays import Row

#: The set point is not zero; it is, and the vehicle moves; it is, and the vehicle has stopped.
DRIVING, BRAKING, RESTING = 0, 1, 2
#: A vehicle that loses less speed [m/s²] after so long [s] is no longer braked by its speed loop
#: alone: on a slope, a loop without an integral ends at a speed other than zero.
STALLED, STALLED_AFTER = 0.02, 0.2


@njit(cache=True, nogil=True, error_model="numpy")
def stop_mode(v: Row, stop: bool, stop_speed: float, fastest: float, dt: float) -> int:
    """Return DRIVING, BRAKING or RESTING, and write VEHICLE.held.

    Args:
        v: One row of VEHICLE.
        stop: Whether the set points of all its controllers are zero.
        stop_speed: A speed below it counts as standing [m/s].
        fastest: Speed of the fastest driven wheel [m/s].
        dt: Time step [s].
    """
    if not stop:
        v.held = 0
        v.stop_time = 0.0
        return DRIVING
    if v.coast != 0:
        return RESTING if fastest < stop_speed else BRAKING
    middle = fastest  # speed in the middle of the step
    if v.stop_time > 0.0:
        middle = max(0.5 * fastest, middle + 0.5 * (fastest - v.stop_speed))
    standing = middle < stop_speed
    stalled = v.stop_time > STALLED_AFTER and v.stop_speed - fastest < STALLED * dt
    if standing or stalled:
        v.held = 1
    v.stop_time += dt
    v.stop_speed = fastest
    return RESTING if v.held != 0 else BRAKING


@njit(cache=True, nogil=True, error_model="numpy")
def only_braking(torque: float, speed: float) -> float:
    """Keep a torque from pushing on past zero: it may only oppose the speed."""
    if speed > 0.0:
        return min(torque, 0.0)
    if speed < 0.0:
        return max(torque, 0.0)
    return torque


@njit(cache=True, nogil=True, error_model="numpy")
def drop_pushing_integral(v: Row, p: Row) -> None:
    """Clear an integral that pushes on a vehicle whose set point is zero.

    One that holds the vehicle back, as on the way downhill, stays.
    """
    if v.coast == 0 and p.integral * p.actual > 0.0:
        p.integral = 0.0
