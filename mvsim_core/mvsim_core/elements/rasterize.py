# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rasterization of polygons: the cells that a solid touches. All lengths are in cells."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

BoolGrid = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]

#: An edge that enters a cell less deep than this only touches it [cells].
SKIN = 1e-6


def fill(cells: BoolGrid, polygon: FloatArray) -> None:
    """Mark the cells of a solid: its area holds their centre, or its outline passes through them.

    Args:
        cells: (h, w), changed in place; cell [r, c] is the square from (c, r) to (c + 1, r + 1).
        polygon: (n, 2) corners x, y of a simple polygon. What lies outside of the grid is cut off.

    An outline that runs along the side of a cell is not inside of it, so that a wall of whole
    cells stays as thick as it is.
    """
    _fill_kernel(cells, np.ascontiguousarray(polygon, dtype=np.float64))


@njit(cache=True, nogil=True)
def _fill_kernel(cells: BoolGrid, polygon: FloatArray) -> None:
    n = len(polygon)
    for i in range(n):
        k = (i + 1) % n
        _mark_edge(cells, polygon[i, 0], polygon[i, 1], polygon[k, 0], polygon[k, 1])
    h, w = cells.shape
    low, high = polygon[:, 1].min(), polygon[:, 1].max()
    first = max(0, math.ceil(low - 0.5))
    last = min(h - 1, math.floor(high - 0.5))
    crossings = np.empty(n)
    for r in range(first, last + 1):
        y = r + 0.5
        count = 0
        for i in range(n):
            k = (i + 1) % n
            y0, y1 = polygon[i, 1], polygon[k, 1]
            if (y0 <= y) != (y1 <= y):
                x0, x1 = polygon[i, 0], polygon[k, 0]
                crossings[count] = x0 + (y - y0) / (y1 - y0) * (x1 - x0)
                count += 1
        inside = np.sort(crossings[:count])
        for j in range(0, count - 1, 2):
            begin = max(0, math.ceil(inside[j] - 0.5 - SKIN))
            end = min(w - 1, math.floor(inside[j + 1] - 0.5 + SKIN))
            for c in range(begin, end + 1):
                cells[r, c] = True


@njit(cache=True, nogil=True)
def _mark_edge(cells: BoolGrid, x0: float, y0: float, x1: float, y1: float) -> None:
    """Mark the cells whose inside a straight line passes through, row by row."""
    if y0 > y1:
        x0, y0, x1, y1 = x1, y1, x0, y0
    h, w = cells.shape
    first = max(0, math.floor(y0 + SKIN))
    last = min(h - 1, math.ceil(y1 - SKIN) - 1)
    for r in range(first, last + 1):
        xa, xb = x0, x1
        if y1 - y0 > SKIN:
            slope = (x1 - x0) / (y1 - y0)
            if r > y0:
                xa = x0 + (r - y0) * slope
            if r + 1 < y1:
                xb = x0 + (r + 1 - y0) * slope
        left, right = min(xa, xb), max(xa, xb)
        begin = max(0, math.floor(left + SKIN))
        end = min(w - 1, math.ceil(right - SKIN) - 1)
        for c in range(begin, end + 1):
            cells[r, c] = True
