# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Heights on which many blocks stand that are put on the ground together, each on those before."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.terrain.nearby import MAX_CROWD
from mvsim_core.terrain.surface import EDGE, Surface, heights_at

#: A block that is put somewhere.
PLACED = np.dtype(
    [
        ("row", "i8"),  # of BODY
        ("piece", "i8"),  # row of PIECE that it is for others; -1: none
        ("size", "f8"),  # m, width of the cells in which that piece is looked for
        ("half", "f8"),  # m, half of the block's height
        ("stands", "i8"),  # 1: its height follows from the ground
        ("next", "i8"),  # index of another one in the same bucket; -1: none
    ]
)
#: Cells of a grid around a place, itself among them.
CELLS = 9


def stand_together(bodies: Rows, placed: Rows, surface: Surface, known: IntArray) -> None:
    """Write the heights of blocks, and of their pieces, one after the other.

    Args:
        bodies: Rows of BODY.
        placed: Rows of PLACED, in the order in which they are put.
        surface: All ground, with the pieces of these blocks.
        known: Rows of the pieces that were there before.
    """
    sizes = np.unique(placed["size"][placed["piece"] >= 0])
    near = np.zeros(len(known) + CELLS * len(sizes) * (MAX_CROWD + 1), surface.pieces.dtype)
    near[: len(known)] = surface.pieces[known]
    heads = np.full(1 << (2 * len(placed)).bit_length(), -1)
    maps = surface.maps, surface.samples
    stand_kernel(
        bodies, placed, surface.pieces, surface.outlines, *maps, near, len(known), sizes, heads
    )


@njit(cache=True, nogil=True)
def bucket_of(u: int, v: int, size: float, mask: int) -> int:
    """Return the bucket of the cell (u, v) of a grid."""
    return (u * 73856093 ^ v * 19349663 ^ int(size * 128.0) * 83492791) & mask


@njit(cache=True, nogil=True)
def gather(  # noqa: PLR0913 (arrays of a kernel)
    placed: Rows,
    pieces: Rows,
    heads: IntArray,
    size: float,
    x: float,
    y: float,
    near: Rows,
    count: int,
) -> int:
    """Append the pieces in cells of a size on which (x, y) [m] may be; return their number."""
    u, v = math.floor(x / size), math.floor(y / size)
    for i in range(u - 1, u + 2):
        for j in range(v - 1, v + 2):
            k = heads[bucket_of(i, j, size, heads.shape[0] - 1)]
            while k >= 0:
                p = pieces[placed[k].piece]
                # other cells may be in the same bucket
                here = math.floor(p.px / size) == i and math.floor(p.py / size) == j
                wide = p.far + EDGE
                fits = abs(x - p.px) <= wide and abs(y - p.py) <= wide
                if placed[k].size == size and here and fits and count < near.shape[0]:
                    near[count] = p
                    count += 1
                k = placed[k].next
    return count


@njit(cache=True, nogil=True)
def stand_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    placed: Rows,
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
    near: Rows,
    known: int,
    sizes: FloatArray,
    heads: IntArray,
) -> None:
    """Do what `stand_together` does.

    `near` begins with the pieces known before and has room for others, `heads` is -1.
    """
    for k in range(placed.shape[0]):
        one = placed[k]
        body = bodies[one.row]
        x, y = body.x, body.y
        if one.stands:
            count = known
            for level in range(sizes.shape[0]):
                count = gather(placed, pieces, heads, sizes[level], x, y, near, count)
            below = body.z + one.half
            under, over = heights_at(near[:count], outlines, maps, samples, x, y, below)
            height = over if math.isnan(under) else under
            if height != body.z:
                body.z = height
                if one.piece >= 0:
                    pieces[one.piece].pz = height
        if one.piece >= 0:
            u, v = math.floor(x / one.size), math.floor(y / one.size)
            bucket = bucket_of(u, v, one.size, heads.shape[0] - 1)
            one.next = heads[bucket]
            heads[bucket] = k
