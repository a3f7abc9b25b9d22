# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses, twists, rotations and areas, with REP-103 axes: x forward, y left, z up, SI units."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


class Pose(NamedTuple):
    """Position [m] and attitude [rad] of a frame in its parent frame.

    The rotation is Rz(yaw)·Ry(pitch)·Rx(roll); a positive pitch puts the nose down.
    """

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    roll: float = 0.0
    pitch: float = 0.0
    yaw: float = 0.0


class Twist(NamedTuple):
    """Planar velocity: vx forward, vy to the left [m/s], wz counter-clockwise [rad/s]."""

    vx: float = 0.0
    vy: float = 0.0
    wz: float = 0.0


def rotation(pose: Pose) -> FloatArray:
    """Return the 3×3 matrix Rz(yaw)·Ry(pitch)·Rx(roll) of a pose."""
    cr, sr = math.cos(pose.roll), math.sin(pose.roll)
    cp, sp = math.cos(pose.pitch), math.sin(pose.pitch)
    cy, sy = math.cos(pose.yaw), math.sin(pose.yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def quaternion(roll: float, pitch: float, yaw: float) -> tuple[float, float, float, float]:
    """Return x, y, z, w of the rotation Rz(yaw)·Ry(pitch)·Rx(roll)."""
    cr, sr = math.cos(0.5 * roll), math.sin(0.5 * roll)
    cp, sp = math.cos(0.5 * pitch), math.sin(0.5 * pitch)
    cy, sy = math.cos(0.5 * yaw), math.sin(0.5 * yaw)
    return (
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
        cr * cp * cy + sr * sp * sy,
    )


Quaternion = tuple[float, float, float, float]


def quaternion_product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return the rotation b followed by a, each as x, y, z, w."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def rotation_vector_quaternion(x: float, y: float, z: float) -> Quaternion:
    """Return x, y, z, w of the rotation about an axis by its length [rad]."""
    angle = math.sqrt(x * x + y * y + z * z)
    scale = 0.5 if angle < 1e-12 else math.sin(0.5 * angle) / angle
    return (scale * x, scale * y, scale * z, math.cos(0.5 * angle))


class Area(NamedTuple):
    """Area [m²], centroid [m] and second moment about the centroid [m⁴] of a polygon."""

    area: float
    x: float
    y: float
    second_moment: float


def area_of(points: FloatArray) -> Area:
    """Return the area properties of a simple polygon (n, 2) of either orientation.

    Shapely has area and centroid, but no second moment.
    """
    return _area(np.ascontiguousarray(points, dtype=np.float64).tobytes())


@lru_cache(maxsize=1024)  # worlds have thousands of equal shapes
def _area(corners: bytes) -> Area:
    points = np.frombuffer(corners).reshape(-1, 2)
    shift = points.mean(axis=0)  # about the mean, cross products keep their digits
    p = points - shift
    q = np.roll(p, -1, axis=0)
    cross = p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
    twice = float(cross.sum())
    if twice == 0.0:
        return Area(0.0, float(shift[0]), float(shift[1]), 0.0)
    cx, cy = ((p + q) * cross[:, None]).sum(axis=0) / (3.0 * twice)
    squares = (p * p + p * q + q * q).sum(axis=1)
    about_shift = float((cross * squares).sum()) / 12.0
    sign = math.copysign(1.0, twice)
    area = 0.5 * abs(twice)
    second = sign * about_shift - area * float(cx * cx + cy * cy)
    return Area(area, float(shift[0] + cx), float(shift[1] + cy), second)


#: Most vertices of a convex polygon in the contact solver.
MAX_VERTICES = 8


def convex_pieces(hull: FloatArray) -> list[FloatArray]:
    """Cut a convex polygon (n, 2) into pieces of up to eight vertices that share its first one."""
    n = len(hull)
    step = MAX_VERTICES - 2
    return [
        np.vstack([hull[:1], hull[k : min(k + step, n - 1) + 1]]) for k in range(1, n - 1, step)
    ]


def box(length: float, width: float, pose: tuple[float, float, float]) -> FloatArray:
    """Return the corners (4, 2) of a rectangle centred at x, y and rotated by yaw."""
    x, y, yaw = pose
    c, s = math.cos(yaw), math.sin(yaw)
    half = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) * [0.5 * length, 0.5 * width]
    turned: FloatArray = half @ np.array([[c, s], [-s, c]]) + [x, y]
    return turned


def moved(points: FloatArray, pose: tuple[float, float, float]) -> FloatArray:
    """Return points (n, 2) of a frame at x, y, yaw in its parent frame."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    result: FloatArray = points @ np.array([[c, s], [-s, c]]) + [pose[0], pose[1]]
    return result
