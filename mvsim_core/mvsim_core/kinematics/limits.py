# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics on the command path of a world: between commands and motor controllers.

The limits start from their own result of the last step, not from a measured twist: a motor
controller needs a set point ahead of the motion.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mvsim_core.geometry.poses import Twist
from mvsim_core.kinematics.base import ArrayKinematics, Kinematics
from mvsim_core.kinematics.laws import (
    CUSTOM,
    Triple,
    feasible_twist,
    limit_acceleration,
    motor_step,
)
from mvsim_core.state.arrays import LIMIT, VEHICLE, Row, Rows, State


@njit(cache=True, nogil=True)
def limited_twist(p: Row, want: Triple, now: Triple, dt: float) -> Triple:
    """Return a wished twist after acceleration limits, kinematics and motors."""
    if p.limit_linear < math.inf or p.limit_angular < math.inf:
        want = feasible_twist(p, want, now, 0.0)
        want = limit_acceleration(want, now, dt, p.limit_linear, p.limit_angular)
    if p.motor != 0:
        return motor_step(p, p, want, now, dt)
    return feasible_twist(p, want, now, dt)


@njit(cache=True, nogil=True)
def limit_twists_kernel(vehicles: Rows, limits: Rows, dt: float) -> None:
    """Replace the targets of all vehicles with kinematics by feasible ones."""
    for k in range(limits.shape[0]):
        p = limits[k]
        if p.vehicle < 0 or p.kind == CUSTOM:
            continue
        v = vehicles[p.vehicle]
        want = (v.vx, v.vy, v.wz)
        v.vx, v.vy, v.wz = limited_twist(p, want, (p.vx, p.vy, p.wz), dt)
        if not math.isnan(v.target_steer):  # keeps the steering angle while the car slows down
            v.wz = v.vx * math.tan(v.target_steer) / v.wheelbase
        p.vx, p.vy, p.wz = v.vx, v.vy, v.wz


class TwistLimits:
    """The kinematics of all vehicles of a world: built-in ones in one call, others in Python."""

    def __init__(self) -> None:
        """Load the kernel, so that no step has to wait for it."""
        limit_twists_kernel(np.zeros(0, VEHICLE), np.zeros(0, LIMIT), 0.0)
        self._custom: dict[int, Kinematics] = {}
        self._users: set[int] = set()

    def __len__(self) -> int:
        """Return the number of vehicles with kinematics."""
        return len(self._users)

    @property
    def compiled(self) -> bool:
        """Whether `limit_twists_kernel` does all of it."""
        return not self._custom

    def add(self, row: int, kinematics: Kinematics) -> None:
        """Serve one more row of LIMIT; kinematics of third parties are called in each step."""
        self._users.add(row)
        if not isinstance(kinematics, ArrayKinematics):
            self._custom[row] = kinematics

    def remove(self, row: int) -> None:
        """Stop serving a row."""
        self._users.discard(row)
        self._custom.pop(row, None)

    def apply(self, state: State, dt: float) -> None:
        """Replace the targets in VEHICLE.vx, vy, wz by feasible ones."""
        limit_twists_kernel(state.vehicles, state.limits, dt)
        for k, kinematics in self._custom.items():
            p: Any = state.limits[k]
            v: Any = state.vehicles[p["vehicle"]]
            want = Twist(float(v["vx"]), float(v["vy"]), float(v["wz"]))
            now = Twist(float(p["vx"]), float(p["vy"]), float(p["wz"]))
            twist = kinematics.feasible(want, now, dt)
            for name, value in zip(("vx", "vy", "wz"), twist, strict=True):
                v[name] = p[name] = value
