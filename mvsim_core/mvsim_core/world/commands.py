# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Commands: the newest command of each vehicle becomes the target of its controller."""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import ACKERMANN, NEVER, TWIST, IntArray, Rows

#: Largest velocity or angle of a command [m/s, rad/s, rad], and largest torque [N m], that servers
#: take from clients. What is beyond is a fault of its sender, and numbers near the largest ones
#: overflow in the physics.
MOST_SPEED, MOST_TORQUE = 1e3, 1e6


@njit(cache=True, nogil=True)
def apply_commands_kernel(
    vehicles: Rows, bodies: Rows, clock: IntArray, timeout_ticks: int
) -> None:
    """Copy commands to targets; those older than `timeout_ticks` (0: never) become a stop.

    While the parking brake is on, every target is a stop.

    Args:
        vehicles: VEHICLE, all rows.
        bodies: BODY, all rows.
        clock: (copies,) the ticks of the copies of the world.
        timeout_ticks: Age at which a command expires.
    """
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body < 0:
            continue
        v.expired = 0
        tick = clock[bodies[v.body].copy]
        if timeout_ticks > 0 and v.cmd_tick != NEVER and tick - v.cmd_tick > timeout_ticks:
            v.expired = 1
        v.vx = 0.0
        v.vy = 0.0
        v.wz = 0.0
        v.target_steer = math.nan
        if v.cmd_kind == TWIST and v.expired == 0:
            v.vx = v.cmd_vx
            v.vy = v.cmd_vy
            v.wz = v.cmd_wz
        elif v.cmd_kind == ACKERMANN:
            v.target_steer = v.cmd_steer  # a stopped car keeps its wheels turned
            if v.expired == 0:
                v.vx = v.cmd_speed
                v.wz = v.cmd_speed * math.tan(v.cmd_steer) / v.wheelbase
        if v.cmd_brake != 0:
            v.vx = 0.0
            v.vy = 0.0
            v.wz = 0.0
