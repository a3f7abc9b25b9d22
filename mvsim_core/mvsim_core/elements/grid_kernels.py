# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loops over the cells of an occupancy grid: clearances for rays, boxes for collisions.

Grids are row-major, row 0 at the lowest y. All lengths here are in cells.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

BoolGrid = npt.NDArray[np.bool_]
ByteGrid = npt.NDArray[np.uint8]
Boxes = npt.NDArray[np.int32]

#: Largest stored value; a clearance of 254 cells or more is stored as 254.
FULL = 255


def clearance(occupied: BoolGrid) -> ByteGrid:
    """Return how far a ray may jump from each cell without hitting an occupied cell.

    The result is padded by one cell on each side, shape (h + 2, w + 2): 0 in occupied cells, else
    1 + k, where no occupied cell comes nearer than k cells to any point of the cell. One byte
    a cell keeps a map of a million cells within a processor's second-level cache.
    """
    h, w = occupied.shape
    field = np.zeros((h + 2, w + 2), np.uint8)
    _column_distance_kernel(np.ascontiguousarray(occupied), field)
    _row_envelope_kernel(field, occupied)
    return field


def boxes(occupied: BoolGrid) -> Boxes:
    """Return few boxes (n, 4) of [column0, row0, column1, row1), all cells of them occupied.

    Together they hold every occupied cell that has a free neighbour across one of its four sides.
    The other ones cannot be touched. Boxes may overlap.
    """
    return _cover_kernel(np.ascontiguousarray(occupied))


@njit(cache=True, nogil=True)
def _column_distance_kernel(occupied: BoolGrid, out: ByteGrid) -> None:
    # Distances are to the map dilated by one cell: the distance from the centre of cell a to
    # the centre of the dilated cell b is that from the nearest point of a to the nearest of b.
    h, w = out.shape
    for x in range(w):
        out[0, x] = FULL
    for y in range(h):
        row = out[y]
        if y > 0:
            below = out[y - 1]
            for x in range(w):
                row[x] = min(below[x], np.uint8(FULL - 1)) + np.uint8(1)
        for yy in range(max(y - 2, 0), min(y + 1, h - 2)):
            source = occupied[yy]
            for x in range(w - 2):
                if source[x]:
                    row[x] = 0
                    row[x + 1] = 0
                    row[x + 2] = 0
    for y in range(h - 2, -1, -1):
        above = out[y + 1]
        row = out[y]
        for x in range(w):
            row[x] = min(row[x], min(above[x], np.uint8(FULL - 1)) + np.uint8(1))


@njit(cache=True, nogil=True)
def _row_envelope_kernel(out: ByteGrid, occupied: BoolGrid) -> None:
    """Turn distances along columns into Euclidean ones, row by row, and encode them.

    Lower envelope of parabolas in integers: Meijster, Roerdink, Hesselink, "A general algorithm
    for computing distance transforms in linear time", 2000.
    """
    h, w = out.shape
    square = np.zeros(w, np.int64)
    site = np.zeros(w, np.int64)
    start = np.zeros(w, np.int64)
    for y in range(h):
        row = out[y]
        last = -1
        for x in range(w):
            g = np.int64(row[x])
            square[x] = g * g
            if g == FULL:
                continue
            while last >= 0:
                s, t = site[last], start[last]
                if (t - s) * (t - s) + square[s] <= (t - x) * (t - x) + square[x]:
                    break
                last -= 1
            if last < 0:
                last = 0
                site[0] = x
                start[0] = 0
                continue
            s = site[last]
            begin = 1 + (x * x - s * s + square[x] - square[s]) // (2 * (x - s))
            if begin < w:
                last += 1
                site[last] = x
                start[last] = begin
        if last < 0:
            row[:] = FULL
            continue
        for x in range(w - 1, -1, -1):
            s = site[last]
            far = np.sqrt(float((x - s) * (x - s) + square[s]))
            row[x] = np.uint8(1 + int(min(far, float(FULL - 1))))
            if x == start[last]:
                last -= 1
    for y in range(h - 2):
        row = out[y + 1]
        for x in range(w - 2):
            if occupied[y, x]:
                row[x + 1] = 0


@njit(cache=True, nogil=True)
def _is_outline(occupied: BoolGrid, y: int, x: int) -> bool:
    h, w = occupied.shape
    if not occupied[y, x]:
        return False
    if y == 0 or x == 0 or y == h - 1 or x == w - 1:
        return True
    return not (
        occupied[y - 1, x] and occupied[y + 1, x] and occupied[y, x - 1] and occupied[y, x + 1]
    )


@njit(cache=True, nogil=True)
def _is_full(occupied: BoolGrid, y0: int, y1: int, x0: int, x1: int) -> bool:
    for y in range(y0, y1):
        for x in range(x0, x1):
            if not occupied[y, x]:
                return False
    return True


@njit(cache=True, nogil=True)
def _grow(occupied: BoolGrid, y: int, x: int, wide_first: bool) -> tuple[int, int, int, int]:
    """Return the box around a cell that grows as far as it can, one axis after the other."""
    h, w = occupied.shape
    x0, y0, x1, y1 = x, y, x + 1, y + 1
    for axis in range(2):
        if (axis == 0) == wide_first:
            while x0 > 0 and _is_full(occupied, y0, y1, x0 - 1, x0):
                x0 -= 1
            while x1 < w and _is_full(occupied, y0, y1, x1, x1 + 1):
                x1 += 1
        else:
            while y0 > 0 and _is_full(occupied, y0 - 1, y0, x0, x1):
                y0 -= 1
            while y1 < h and _is_full(occupied, y1, y1 + 1, x0, x1):
                y1 += 1
    return x0, y0, x1, y1


@njit(cache=True, nogil=True)
def _count_open(todo: BoolGrid, box: tuple[int, int, int, int]) -> int:
    x0, y0, x1, y1 = box
    count = 0
    for y in range(y0, y1):
        for x in range(x0, x1):
            count += todo[y, x]
    return count


@njit(cache=True, nogil=True)
def _cover_kernel(occupied: BoolGrid) -> Boxes:
    h, w = occupied.shape
    todo = np.zeros((h, w), np.bool_)
    open_cells = 0
    for y in range(h):
        row = occupied[y]
        for x in range(w):
            if row[x] and _is_outline(occupied, y, x):  # most cells of a map are free
                todo[y, x] = True
                open_cells += 1
    found = np.zeros((open_cells, 4), np.int32)
    n = 0
    for y in range(h):
        for x in range(w):
            if not todo[y, x]:
                continue
            wide = _grow(occupied, y, x, True)
            tall = _grow(occupied, y, x, False)
            best = wide if _count_open(todo, wide) >= _count_open(todo, tall) else tall
            for k in range(4):
                found[n, k] = best[k]
            n += 1
            todo[best[1] : best[3], best[0] : best[2]] = False
    return found[:n].copy()
