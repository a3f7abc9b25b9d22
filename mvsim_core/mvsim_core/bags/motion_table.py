# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses, velocities and wheels of all vehicles, read from the tables at once.

The handles of vehicles say the same one number at a time, which takes most of the time of a
recording of many robots. The numbers are the same to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.state.arrays import IntArray
from mvsim_core.state.entities import Entity
from mvsim_core.state.plan_view import along_ground
from mvsim_core.world.data import Data

_BODY = (
    *("x", "y", "z", "roll", "pitch", "yaw"),
    *("vx", "vy", "wz", "roll_rate", "pitch_rate", "plan_xx", "plan_xy", "plan_yy"),
)
_ODOMETRY = (
    *("odo_x", "odo_y", "odo_yaw"),
    *("odo_vx", "odo_vy", "odo_wz", "odo_kx", "odo_ky", "odo_kyaw"),
)
_WHEEL = ("phi", "omega", "yaw", "torque", "fx", "fy", "load")


class Wheels(NamedTuple):
    """The wheels of a vehicle, as `WheelView` has them: lists in the order of the wheels."""

    phi: list[float]
    omega: list[float]
    yaw: list[float]
    torque: list[float]
    fx: list[float]
    fy: list[float]
    load: list[float]


class Motion(NamedTuple):
    """How a vehicle moves, as its handle says.

    Attributes:
        pose: `Vehicle.pose`.
        twist: `Vehicle.twist`.
        rates: `Vehicle.angular_velocity`.
        odometry: Pose of `Vehicle.odometry`.
        odometry_twist: Its twist.
        covariance: Upper triangle of the pose's covariance: xx, xy, xa, yy, ya, aa.
        wheels: Its wheels.
    """

    pose: Pose
    twist: Twist
    rates: tuple[float, float, float]
    odometry: Pose
    odometry_twist: Twist
    covariance: tuple[float, ...]
    wheels: Wheels


class MotionTable:
    """The motion of some vehicles.

    Args:
        vehicles: The vehicles.
    """

    def __init__(self, vehicles: Sequence[Entity]) -> None:
        """Note their rows."""
        self._bodies = _rows([entity.row for entity in vehicles])
        self._vehicles = _rows([entity.vehicle_row for entity in vehicles])
        ranges = [range(e.wheel0, e.wheel0 + e.n_wheels) for e in vehicles]
        self._wheels = _rows([row for wheels in ranges for row in wheels])
        ends = np.cumsum([0, *map(len, ranges)]).tolist()
        self._slices = [slice(a, b) for a, b in pairwise(ends)]

    def read(self, data: Data) -> list[Motion]:
        """Return how the vehicles move now, in their order."""
        if not len(self._bodies):
            return []
        bodies, vehicles, wheels = data.bodies, data.vehicles, data.wheels
        body = zip(*(bodies[k][self._bodies].tolist() for k in _BODY), strict=True)
        odometry = zip(*(vehicles[k][self._vehicles].tolist() for k in _ODOMETRY), strict=True)
        covariances = vehicles["odo_cov"][self._vehicles].tolist()
        columns = [wheels[k][self._wheels].tolist() for k in _WHEEL]
        return [
            _motion(b, o, c, Wheels(*(column[part] for column in columns)))
            for b, o, c, part in zip(body, odometry, covariances, self._slices, strict=True)
        ]


def _rows(rows: list[int]) -> IntArray:
    return np.array(rows, np.int64)


def _motion(
    body: tuple[float, ...], odometry: tuple[float, ...], covariance: list[float], wheels: Wheels
) -> Motion:
    x, y, z, roll, pitch, yaw, vx_w, vy_w, wz, roll_rate, pitch_rate, xx, xy, yy = body
    c, s = math.cos(yaw), math.sin(yaw)
    plan = {"plan_xx": xx, "plan_xy": xy, "plan_yy": yy}
    vx, vy = along_ground(plan, c * vx_w + s * vy_w, -s * vx_w + c * vy_w)
    cr, sr, cp, sp = math.cos(roll), math.sin(roll), math.cos(pitch), math.sin(pitch)
    rates = (
        roll_rate - sp * wz,
        cr * pitch_rate + sr * cp * wz,
        -sr * pitch_rate + cr * cp * wz,
    )
    ox, oy, oyaw, ovx, ovy, owz, kx, ky, kyaw = odometry
    return Motion(
        Pose(x, y, z, roll, pitch, yaw),
        Twist(vx, vy, wz),
        rates,
        Pose(x=ox, y=oy, yaw=oyaw),
        Twist(kx * ovx, ky * ovy, kyaw * owz),
        tuple(covariance),
        wheels,
    )
