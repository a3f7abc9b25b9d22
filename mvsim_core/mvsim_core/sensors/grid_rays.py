# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exact planar rays through an occupancy grid.

A ray jumps by the clearance of the cell that it is in (see `elements.grid_kernels`) as long as
that is worth it, and steps from cell face to cell face near walls. Steps go through faces only, so
two occupied cells that touch at a corner stop every ray between them. Ranges end at cell faces.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Rows

#: Where a grid lies.
GRID = np.dtype(
    [
        ("x", "f8"),  # m, lower-left corner, world frame
        ("y", "f8"),
        ("cos", "f8"),  # 1, of its yaw
        ("sin", "f8"),
        ("per_metre", "f8"),  # 1/m, cells a metre
    ]
)

#: Below this clearance [cells] stepping is faster than jumping.
WORTH_A_JUMP = 2
#: Origins that are farther away [cells] see nothing of a grid.
FAR = 1e12
#: Part of a cell by which a jump stays short, so that rounding cannot carry it through a corner.
SHORT = 1e-6


@njit(cache=True, nogil=True, error_model="numpy")
def grid_kernel(
    fans: Rows, due: IntArray, rays: FloatArray, grid: Rows, clearance: npt.NDArray[np.uint8]
) -> None:
    """Shorten the rays of the fans numbered ``due`` to the first occupied cell that they meet.

    Args:
        fans: FAN, aimed.
        due: Which of them.
        rays: (3, n): direction cosine and sine in the fan's plane, length [m], which is shortened.
        grid: GRID, one row.
        clearance: (h + 2, w + 2) of the grid.
    """
    here = grid[0]
    for k in due:
        fan = fans[k]
        if fan.det == 0.0:
            continue
        ox, oy = fan.x - here.x, fan.y - here.y
        # The origin in cells; one is added because the clearances have a rim of one cell.
        px = (here.cos * ox + here.sin * oy) * here.per_metre + 1.0
        py = (here.cos * oy - here.sin * ox) * here.per_metre + 1.0
        if not (abs(px) < FAR and abs(py) < FAR):  # neither when it is not a number
            continue
        for i in range(fan.first, fan.first + fan.n):
            ux = fan.m00 * rays[0, i] + fan.m01 * rays[1, i]
            uy = fan.m10 * rays[0, i] + fan.m11 * rays[1, i]
            gx = (here.cos * ux + here.sin * uy) * here.per_metre
            gy = (here.cos * uy - here.sin * ux) * here.per_metre
            rays[2, i] = _march(clearance, (px, py), (gx, gy), rays[2, i])


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _slab(p: float, g: float, size: int) -> tuple[float, float]:
    """Return when the coordinate p + t g enters and leaves [1, size - 1]."""
    if g == 0.0:
        return (-np.inf, np.inf) if 1.0 <= p < size - 1.0 else (np.inf, -np.inf)
    a, b = (1.0 - p) / g, (size - 1.0 - p) / g
    return min(a, b), max(a, b)


@njit(cache=True, nogil=True, error_model="numpy")
def _march(
    clearance: npt.NDArray[np.uint8],
    p: tuple[float, float],
    g: tuple[float, float],
    limit: float,
) -> float:
    """Return at which t the point p + t g [cells] enters an occupied cell, at most ``limit``."""
    h, w = clearance.shape
    px, py = p
    gx, gy = g
    enter_x, leave_x = _slab(px, gx, w)
    enter_y, leave_y = _slab(py, gy, h)
    t = max(0.0, enter_x, enter_y)
    end = min(limit, leave_x, leave_y)
    if not t < end:
        return limit
    per_cell = 1.0 / math.sqrt(gx * gx + gy * gy)
    inverse_x = 1.0 / gx if gx != 0.0 else np.inf
    inverse_y = 1.0 / gy if gy != 0.0 else np.inf
    step_x, step_y = (1 if gx > 0.0 else -1), (1 if gy > 0.0 else -1)
    face_x, face_y = (1.0 if gx > 0.0 else 0.0) - px, (1.0 if gy > 0.0 else 0.0) - py
    ix = min(max(int(px + t * gx), 0), w - 1)
    iy = min(max(int(py + t * gy), 0), h - 1)
    while True:
        value = clearance[np.uint64(iy), np.uint64(ix)]
        if value == 0:
            return t
        if value > WORTH_A_JUMP:
            t += (value - 1 - SHORT) * per_cell
            if t >= end:
                return limit
            ix, iy = int(px + t * gx), int(py + t * gy)
            continue
        next_x = (ix + face_x) * inverse_x if gx != 0.0 else np.inf
        next_y = (iy + face_y) * inverse_y if gy != 0.0 else np.inf
        # Never back: a jump along a face can round the origin's cell onto the side that the ray
        # has left at once, and going on from there would restart the ray, for ever.
        if next_x < next_y:
            t = max(t, next_x)
            ix += step_x
        else:
            t = max(t, next_y)
            iy += step_y
        if t >= end:
            return limit
