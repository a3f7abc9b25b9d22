# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Driven pivots: motors between two rigid islands that hold an angle.

Source: the design of mecanum wheels and rigid islands, section 5: the torque kp (target - angle)
acts on one island and its opposite on the other. Here it also has damping and a limit.
"""

from __future__ import annotations

from numba import njit

from mvsim_core.state.arrays import Rows


@njit(cache=True, nogil=True, error_model="numpy")
def pivot_kernel(bodies: Rows, pivots: Rows) -> None:
    """Add the torques of all driven pivots to BODY.torque."""
    for i in range(pivots.shape[0]):
        d = pivots[i]
        if d.a < 0:
            continue
        a, b = bodies[d.a], bodies[d.b]
        error = d.target - (b.yaw - a.yaw - d.zero)
        torque = d.kp * error - d.kd * (b.wz - a.wz)
        d.torque = min(max(torque, -d.limit), d.limit)
        a.torque -= d.torque
        b.torque += d.torque
