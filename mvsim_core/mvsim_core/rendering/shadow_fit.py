# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where the sun's two shadow maps lie, so that they hold the shadows of a whole picture.

What a camera sees is cut into a nearer and a farther part. Each has a map that is just as large as
a ball around it, or as what there is to see in it, so that no pixel of a map is wasted.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numba import njit

from mvsim_core.rendering.culling import casting, seen_between, within
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.state.arrays import BoolArray, FloatArray

#: Shadows farther than this from the camera are too small to be drawn [m].
FARTHEST = 400.0
#: Share of a logarithmic cut between both maps; the rest is a cut in the middle.
LOGARITHMIC = 0.8
#: Maps are placed in steps of this share of their size, so that edges of shadows stand still.
STEPS = 1.0 / 32.0


class ShadowView(NamedTuple):
    """One map.

    Attributes:
        matrix: (4, 4) from positions relative to the eye to -1 … 1, depth 0 … 1 from the sun.
        size: Side of the map [m].
        casters: (n,) which of the balls may throw shadows into it.
    """

    matrix: FloatArray
    size: float
    casters: BoolArray


def sun_frame(direction: FloatArray) -> FloatArray:
    """Return (3, 3): right, up and away from the sun as rows; `direction` is towards the sun."""
    side = np.cross([0.0, 0.0, 1.0], direction)
    length = float(np.linalg.norm(side))
    side = np.array([1.0, 0.0, 0.0]) if length < 1e-6 else side / length
    return np.stack([side, np.cross(direction, side), -direction])


def shadow_views(
    camera: Pinhole, turn: FloatArray, eye: FloatArray, frame: FloatArray, balls: FloatArray
) -> tuple[ShadowView, ShadowView]:
    """Return the nearer and the farther map.

    Args:
        camera: The pinhole.
        turn: (3, 3) from its optical frame to the world.
        eye: Where it is [m]; maps are placed in steps relative to the world's origin.
        frame: As of `sun_frame`.
        balls: (n, 4) middles, relative to the eye, and radii of all there is [m].
    """
    low, high = np.full(4, math.inf), np.full(4, -math.inf)
    _extent_kernel(balls, np.vstack((frame, turn[:, 2])), low, high)
    last = min(max(float(high[3]), 1.0), FARTHEST)
    first = min(max(float(low[3]), 0.2), 0.5 * last)
    middle = LOGARITHMIC * math.sqrt(first * last) + (1.0 - LOGARITHMIC) * 0.5 * (first + last)
    ways, offset = _corners(camera) @ (frame @ turn).T, (frame @ eye)[:2]
    planes = seen_between(camera, turn, 0.0, last)
    matrices, sizes, sides = np.zeros((2, 4, 4)), np.zeros(2), np.zeros((2, 4, 4))
    _fit_kernel((first, middle, last), ways, offset, (low, high), (frame, matrices, sizes, sides))
    views = []
    for matrix, size, around, near in zip(matrices, sizes, sides, (0.0, middle), strict=True):
        # To the last, for what is farther may still lie in the square of the nearer map.
        planes[4, 3] = -near
        casters = within(np.concatenate((around, casting(planes, frame[2]))), balls)
        views.append(ShadowView(matrix, float(size), casters))
    return views[0], views[1]


@lru_cache(maxsize=64)
def _corners(camera: Pinhole) -> FloatArray:
    """Return (4, 3) the corners of what is seen at a depth of 1, optical frame."""
    u = (np.array([-0.5, camera.width - 0.5]) - camera.cx) / camera.fx
    v = (np.array([-0.5, camera.height - 0.5]) - camera.cy) / camera.fy
    return np.array([(x, y, 1.0) for x in u for y in v])


@njit(cache=True, nogil=True)
def _extent_kernel(balls, axes, low, high):  # type: ignore[no-untyped-def]
    """Widen low and high to what balls reach along axes."""
    for i in range(balls.shape[0]):
        for k in range(axes.shape[0]):
            at = balls[i, 0] * axes[k, 0] + balls[i, 1] * axes[k, 1] + balls[i, 2] * axes[k, 2]
            low[k] = min(low[k], at - balls[i, 3])
            high[k] = max(high[k], at + balls[i, 3])


@njit(cache=True, nogil=True)
def _fit_kernel(depths, ways, offset, extent, out):  # type: ignore[no-untyped-def]
    """Place both maps.

    Args:
        depths: Where the nearer part begins, where the farther one begins and ends [m].
        ways: (4, 3) corners of the picture at a depth of 1, frame of the sun.
        offset: (2,) of the eye [m].
        extent: Least and largest coordinates of all there is [m].
        out: Frame of the sun; the matrices, sizes and sides (planes) of both maps.
    """
    low, high = extent
    frame, matrices, sizes, sides = out
    middle = np.array([ways[:, k].mean() for k in range(3)])
    top, bottom = low[2] - 0.1, high[2] + 0.1
    for n in range(2):
        near, far = depths[n], depths[n + 1]
        ball = 0.5 * (near + far) * middle
        square = 0.0
        for z in (near, far):
            for i in range(4):
                square = max(square, ((z * ways[i] - ball) ** 2).sum())
        radius = math.sqrt(square)
        half = 0.1
        for k in range(2):
            width = min(ball[k] + radius, high[k]) - max(ball[k] - radius, low[k])
            half = max(half, 0.5 * width)
        step = 2.0 * half * STEPS
        half += step
        matrix = matrices[n]
        for k in range(2):
            at = 0.5 * (max(ball[k] - radius, low[k]) + min(ball[k] + radius, high[k]))
            centre = np.round((at + offset[k]) / step) * step - offset[k]
            matrix[k, :3], matrix[k, 3] = frame[k] / half, -centre / half
            sides[n, k, :3], sides[n, k, 3] = frame[k], centre + half
            sides[n, 2 + k, :3], sides[n, 2 + k, 3] = -frame[k], half - centre
        matrix[2, :3], matrix[2, 3] = frame[2] / (bottom - top), -top / (bottom - top)
        matrix[3, 3] = 1.0
        sizes[n] = 2.0 * half
