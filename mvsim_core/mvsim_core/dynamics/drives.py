# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Driven pivots: motors between two rigid islands that seek an angle.

Source: the design of mecanum wheels and rigid islands, section 5: the torque kp (target - angle)
acts on one island and its opposite on the other. Here it also has a damping and a limit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from mvsim_core.state.arrays import Rows

DRIVE = np.dtype(
    [
        ("a", "i8"),  # rows of BODY of the two islands
        ("b", "i8"),
        ("zero", "f8"),  # rad, yaw of b minus yaw of a at which the angle is 0
        ("target", "f8"),  # rad
        ("kp", "f8"),  # N m/rad
        ("kd", "f8"),  # N m s/rad
        ("limit", "f8"),  # N m
        ("torque", "f8"),  # N m, on b in the last step
    ]
)


@njit(cache=True, nogil=True, error_model="numpy")
def drive_kernel(bodies: Rows, drives: Rows) -> None:
    """Add the torques of all driven pivots to BODY.torque."""
    for i in range(drives.shape[0]):
        d = drives[i]
        a, b = bodies[d.a], bodies[d.b]
        error = d.target - (b.yaw - a.yaw - d.zero)
        torque = d.kp * error - d.kd * (b.wz - a.wz)
        d.torque = min(max(torque, -d.limit), d.limit)
        a.torque -= d.torque
        b.torque += d.torque
