# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A hash grid of boxes of any size, by copy of the world.

Each box is in one cell: that of its centre, on the level whose cells are at least as large as the
box ("hierarchical loose grid"). A query looks at the cells of each level in use that can hold the
centre of an overlapping box. Adding and removing a box costs the same at any number of boxes.
"""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.solver.compiled import inner, kernel
from mvsim_core.state.arrays import IntArray, Row, Rows

#: Size of the cells of level 0 [m].
CELL = 0.5
LEVELS = 64
#: The last level is one cell for what is larger than all others, or not finite in size.
TOP = LEVELS - 1
#: Cell numbers stay below this, so that they are exact in double precision.
MOST_CELLS = 2.0**40
#: A query that would visit more cells than this and than there are boxes looks at all boxes.
FEW_CELLS = 64.0


@inner
def bucket_of(copy: int, level: int, ix: int, iy: int, mask: int) -> int:
    """Return the bucket of a cell; `mask` is the number of buckets (a power of 2) minus 1."""
    h = ix * 73856093 ^ iy * 19349663 ^ level * 83492791 ^ copy * 2654435761
    h ^= h >> 15
    h *= 668265263
    h ^= h >> 13
    return h & mask


@inner
def link_box(boxes: Rows, row: int, buckets: IntArray) -> None:
    """Put a box, whose level and cell are set, at the head of its bucket."""
    box = boxes[row]
    bucket = bucket_of(box.copy, box.level, box.ix, box.iy, buckets.shape[0] - 1)
    head = buckets[bucket]
    box.next = head
    box.prev = -1
    if head >= 0:
        boxes[head].prev = row
    buckets[bucket] = row


@inner
def insert_box(boxes: Rows, row: int, buckets: IntArray, levels: IntArray) -> None:
    """Put a box, whose corners and copy are set, into the grid."""
    box = boxes[row]
    mid_x = 0.5 * box.min_x + 0.5 * box.max_x
    mid_y = 0.5 * box.min_y + 0.5 * box.max_y
    extent = max(box.max_x - box.min_x, box.max_y - box.min_y)
    far = max(abs(mid_x), abs(mid_y))
    size = CELL
    level = 0
    while level < TOP and not (extent <= size and far < size * MOST_CELLS):
        size *= 2.0
        level += 1
    box.level = level
    box.ix = 0
    box.iy = 0
    if level < TOP:
        box.ix = math.floor(mid_x / size)
        box.iy = math.floor(mid_y / size)
    link_box(boxes, row, buckets)
    levels[level] += 1


@inner
def remove_box(boxes: Rows, row: int, buckets: IntArray, levels: IntArray) -> None:
    """Take a box out of the grid; nothing happens if it is not in it."""
    box = boxes[row]
    if box.level < 0:
        return
    if box.next >= 0:
        boxes[box.next].prev = box.prev
    if box.prev >= 0:
        boxes[box.prev].next = box.next
    else:
        bucket = bucket_of(box.copy, box.level, box.ix, box.iy, buckets.shape[0] - 1)
        buckets[bucket] = box.next
    levels[box.level] -= 1
    box.level = -1


@inner
def overlap(a: Row, b: Row) -> bool:
    """Return whether two boxes have a point in common."""
    return bool(
        a.min_x <= b.max_x and b.min_x <= a.max_x and a.min_y <= b.max_y and b.min_y <= a.max_y
    )


@inner
def query(  # noqa: PLR0913 (arrays of a kernel)
    boxes: Rows,
    buckets: IntArray,
    levels: IntArray,
    box: Row,
    copy: int,
    lowest: int,
    found: IntArray,
    count: int,
) -> int:
    """Append the rows of a copy that overlap `box`, from level `lowest` up; return their number.

    Rows beyond the room of `found` are counted, not written.
    """
    size = CELL * 2.0**lowest
    for level in range(lowest, LEVELS):
        if levels[level] > 0:
            x0 = np.floor((box.min_x - 0.5 * size) / size)
            x1 = np.floor((box.max_x + 0.5 * size) / size)
            y0 = np.floor((box.min_y - 0.5 * size) / size)
            y1 = np.floor((box.max_y + 0.5 * size) / size)
            cells = (x1 - x0 + 1.0) * (y1 - y0 + 1.0)
            if level == TOP or not cells <= max(FEW_CELLS, float(levels[level])):
                count = scan(boxes, level, box, copy, found, count)
            else:
                for ix in range(int(x0), int(x1) + 1):
                    for iy in range(int(y0), int(y1) + 1):
                        row = buckets[bucket_of(copy, level, ix, iy, buckets.shape[0] - 1)]
                        while row >= 0:
                            o = boxes[row]
                            if (
                                o.ix == ix
                                and o.iy == iy
                                and o.level == level
                                and o.copy == copy
                                and overlap(o, box)
                            ):
                                if count < found.shape[0]:
                                    found[count] = row
                                count += 1
                            row = o.next
        size *= 2.0
    return count


@inner
def scan(boxes: Rows, level: int, box: Row, copy: int, found: IntArray, count: int) -> int:
    """Do for one level what `query` does, by looking at all boxes."""
    for row in range(boxes.shape[0]):
        o = boxes[row]
        if o.level == level and o.copy == copy and overlap(o, box):
            if count < found.shape[0]:
                found[count] = row
            count += 1
    return count


@kernel
def rehash_kernel(boxes: Rows, buckets: IntArray) -> None:
    """Distribute all boxes of the grid over new buckets."""
    buckets[:] = -1
    for row in range(boxes.shape[0]):
        if boxes[row].level >= 0:
            link_box(boxes, row, buckets)


def bucket_count(boxes: int) -> int:
    """Return how many buckets a grid of so many boxes has: a power of 2 of twice their number."""
    return max(16, 1 << int(2 * boxes - 1).bit_length()) if boxes else 16


def empty_buckets(boxes: int) -> IntArray:
    """Return the buckets of a grid that has room for so many boxes."""
    return np.full(bucket_count(boxes), -1, np.int64)
