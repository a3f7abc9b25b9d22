# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where the sun's two shadow maps lie, so that they hold the shadows of a whole picture.

What a camera sees is cut into a nearer and a farther part. Each has a map that is just as large as
a ball around it, or as what there is to see in it, so that no pixel of a map is wasted.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

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
    depth = balls[:, :3] @ turn[:, 2]
    first = max(float((depth - balls[:, 3]).min(initial=math.inf)), 0.2)
    last = min(max(float((depth + balls[:, 3]).max(initial=0.0)), 1.0), FARTHEST)
    first = min(first, 0.5 * last)
    middle = LOGARITHMIC * math.sqrt(first * last) + (1.0 - LOGARITHMIC) * 0.5 * (first + last)
    seen = balls @ np.block([[frame.T, np.zeros((3, 1))], [np.zeros((1, 3)), np.ones((1, 1))]])
    low = (seen[:, :3] - seen[:, 3:]).min(axis=0, initial=math.inf)
    high = (seen[:, :3] + seen[:, 3:]).max(axis=0, initial=-math.inf)
    views = []
    for near, far in ((first, middle), (middle, last)):
        corners = _corners(camera, near, far) @ turn.T @ frame.T
        ball = corners.mean(axis=0)
        radius = float(np.linalg.norm(corners - ball, axis=1).max())
        box = np.maximum(ball[:2] - radius, low[:2]), np.minimum(ball[:2] + radius, high[:2])
        half = 0.5 * float((box[1] - box[0]).max(initial=0.0))
        half = max(half, 0.1)
        step = 2.0 * half * STEPS
        half += step
        offset = (frame @ eye)[:2]
        centre = np.round((0.5 * (box[0] + box[1]) + offset) / step) * step - offset
        reach = seen[:, 3] + half
        casters = (np.abs(seen[:, :2] - centre) < reach[:, None]).all(axis=1)
        top, bottom = low[2] - 0.1, high[2] + 0.1
        matrix = np.eye(4)
        matrix[:2, :3], matrix[:2, 3] = frame[:2] / half, -centre / half
        matrix[2, :3], matrix[2, 3] = frame[2] / (bottom - top), -top / (bottom - top)
        views.append(ShadowView(matrix, 2.0 * half, casters))
    return views[0], views[1]


def _corners(camera: Pinhole, near: float, far: float) -> FloatArray:
    """Return (8, 3) corners of what is seen between two depths, optical frame [m]."""
    u = (np.array([-0.5, camera.width - 0.5]) - camera.cx) / camera.fx
    v = (np.array([-0.5, camera.height - 0.5]) - camera.cy) / camera.fy
    return np.array([(z * x, z * y, z) for z in (near, far) for x in u for y in v])
