# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses of frames and covariances that the node publishes and recordings hold; plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from mvsim_core.geometry.poses import FloatArray, Pose

#: Variance of an axis that is not measured (z, roll, pitch of wheel odometry) [m², rad²].
UNMEASURED = 1e6
#: Variances of pose and twist: x, y, z [m², m²/s²], roll, pitch, yaw [rad², rad²/s²].
Variances = tuple[Sequence[float], Sequence[float]]
#: Variance added to what wheels measure [m², rad², m²/s², rad²/s²]: filters do not accept zero,
#: which that of the pose is at the start.
LEAST = 1e-6
#: Those of wheel odometry before its covariances are filled in.
WHEEL_ODOMETRY: Variances = ((LEAST, LEAST, UNMEASURED, UNMEASURED, UNMEASURED, LEAST),) * 2
#: The true pose is exact, but filters do not accept zero variances.
GROUND_TRUTH: Variances = ((1e-9,) * 6, (1e-9,) * 6)


def map_to_odom(truth: Pose, odometry: Pose) -> Pose:
    """Return the pose of the odom frame in the map frame that corrects the odometry.

    Args:
        truth: True pose of the vehicle in the map frame.
        odometry: Planar pose of the vehicle in the odom frame.
    """
    yaw = math.remainder(truth.yaw - odometry.yaw, 2.0 * math.pi)
    c, s = math.cos(yaw), math.sin(yaw)
    return Pose(
        x=truth.x - (c * odometry.x - s * odometry.y),
        y=truth.y - (s * odometry.x + c * odometry.y),
        z=truth.z,
        yaw=yaw,
    )


def compose_planar(start: Pose, displacement: Pose) -> Pose:
    """Return the planar pose at a displacement in the frame of a start pose."""
    c, s = math.cos(start.yaw), math.sin(start.yaw)
    return Pose(
        x=start.x + c * displacement.x - s * displacement.y,
        y=start.y + s * displacement.x + c * displacement.y,
        yaw=start.yaw + displacement.yaw,
    )


def diagonal(variances: Sequence[float]) -> list[float]:
    """Return the row-major 6x6 covariance with these variances and no correlations."""
    covariance = [0.0] * 36
    covariance[::7] = variances
    return covariance


def upper_triangle(matrix: FloatArray) -> tuple[float, ...]:
    """Return xx, xy, xa, yy, ya, aa of a (3, 3) covariance of x, y and yaw (a)."""
    (xx, xy, xa), (_, yy, ya), (_, _, aa) = matrix.tolist()
    return xx, xy, xa, yy, ya, aa


def fill_planar(
    target: FloatArray | list[float], covariance: Sequence[float], c: float, s: float
) -> None:
    """Write a covariance of x, y, yaw, turned, into one of six axes, row-major.

    Args:
        target: The other axes keep their variances.
        covariance: See `upper_triangle`.
        c: Cosine of the angle by which it is turned.
        s: Sine of it.
    """
    xx, xy, xa, yy, ya, aa = covariance
    target[0] = c * c * xx - 2.0 * c * s * xy + s * s * yy + LEAST
    target[7] = s * s * xx + 2.0 * c * s * xy + c * c * yy + LEAST
    target[35] = aa + LEAST
    target[1] = target[6] = c * s * (xx - yy) + (c * c - s * s) * xy
    target[5] = target[30] = c * xa - s * ya
    target[11] = target[31] = s * xa + c * ya
