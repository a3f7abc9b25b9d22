# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which things a picture may show, and which may throw shadows into it, by balls around them."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit

from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.state.arrays import BoolArray, FloatArray


def seen_between(camera: Pinhole, turn: FloatArray, near: float, far: float) -> FloatArray:
    """Return the planes around what is seen between two depths [m].

    Args:
        camera: The pinhole.
        turn: (3, 3) from its optical frame to the world.
        near: Depth of the nearest plane [m].
        far: Depth of the farthest one [m].

    Returns:
        (6, 4) unit normals, outwards, world frame, and distances from the eye along them [m].
    """
    planes = np.zeros((6, 4))
    planes[:, :3] = _normals(camera) @ turn.T
    planes[4:, 3] = -near, far
    return planes


def casting(planes: FloatArray, way: FloatArray) -> FloatArray:
    """Return the planes around what throws shadows, the sun's light going some way, into others.

    A thing throws its shadow along this way without end: only planes that it moves away from, or
    along, can keep its shadow out.
    """
    outside: FloatArray = planes[planes[:, :3] @ way >= 0.0]
    return outside


def within(planes: FloatArray, balls: FloatArray) -> BoolArray:
    """Return (n,) which balls are not outside of any of the planes.

    Args:
        planes: (m, 4) unit normals, outwards, and distances along them.
        balls: (n, 4) middles and radii.
    """
    inside = np.empty(len(balls), np.bool_)
    _within_kernel(planes, balls, inside)
    return inside


@lru_cache(maxsize=64)
def _normals(camera: Pinhole) -> FloatArray:
    """Return (6, 3) of the sides of what is seen, then of its near and far end; optical frame."""
    rows = []
    for axis, focal, edges in (
        (0, camera.fx, (-0.5 - camera.cx, camera.width - 0.5 - camera.cx)),
        (1, camera.fy, (-0.5 - camera.cy, camera.height - 0.5 - camera.cy)),
    ):
        for sign, edge in zip((-1.0, 1.0), edges, strict=True):
            slope = edge / focal
            row = np.zeros(3)
            row[axis], row[2] = sign, -sign * slope
            rows.append(row / math.hypot(1.0, slope))
    return np.array([*rows, (0.0, 0.0, -1.0), (0.0, 0.0, 1.0)])


@njit(cache=True, nogil=True)
def _within_kernel(planes, balls, inside):  # type: ignore[no-untyped-def]
    for i in range(balls.shape[0]):
        x, y, z, radius = balls[i, 0], balls[i, 1], balls[i, 2], balls[i, 3]
        here = True
        for p in planes:
            here = here and p[0] * x + p[1] * y + p[2] * z - radius <= p[3]
        inside[i] = here
