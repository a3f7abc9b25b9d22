# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rules and formulas of consumers, restated."""

import math
from typing import Any

import numpy as np


def expected_beams(angle_min: float, angle_max: float, increment: float, n: int) -> int:
    """Return how many readings slam_toolbox expects in a scan with `n` readings.

    From slam_toolbox, src/laser_utils.cpp:110-118 and lib/karto_sdk/include/karto_sdk/Karto.h:
    4299-4310; a scan with another number is dropped.
    """
    span = float(np.float32(angle_max) - np.float32(angle_min))
    full = abs(abs(span) - 2 * math.pi) < increment - np.finfo(np.float32).eps * 2 * math.pi
    if span > 6.10865 and round(span / increment) + 1 == n:
        full = False
    return math.floor(span / increment + 0.5) + (0 if full else 1)


def as_matrix(transform: Any) -> np.ndarray:
    """Return a transform as a homogeneous matrix."""
    t, q = transform.translation, transform.rotation
    return matrix_of(np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w]))


def pose_matrix(pose: Any) -> np.ndarray:
    """Return a pose as a homogeneous matrix."""
    t, q = pose.position, pose.orientation
    return matrix_of(np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w]))


def matrix_of(translation: np.ndarray, quaternion: np.ndarray) -> np.ndarray:
    """Return a homogeneous matrix from a translation (3,) and a quaternion (4,), x y z w."""
    x, y, z, w = quaternion
    matrix = np.eye(4)
    matrix[:3, :3] = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    matrix[:3, 3] = translation
    return matrix


def scan_points(scan: Any) -> np.ndarray:
    """Return where a scan's rays have hit something (n, 2) [m], in its frame."""
    r = np.array(scan.ranges)
    angle = scan.angle_min + scan.angle_increment * np.arange(len(r))
    seen = np.isfinite(r)
    r, angle = r[seen], angle[seen]
    points: np.ndarray = r[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points
