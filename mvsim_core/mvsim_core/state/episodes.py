# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers and poses of episodes of a few copies of a world, in a few calls.

Numpy does the same in dozens of calls, each of which takes as long as the numbers of one copy.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray

#: Of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)


@njit(cache=True, nogil=True)
def mix(word: Any) -> Any:
    """Return a word whose bits all depend on all bits of the given one, as SplitMix64 does."""
    word = (word ^ (word >> _30)) * _A
    word = (word ^ (word >> _27)) * _B
    return word ^ (word >> _31)


@njit(cache=True, nogil=True)
def words_kernel(seeds: Any, episodes: IntArray, out: Any) -> None:
    """Write (m,) words that stand for the episodes (m,) of seeds (m,)."""
    for i in range(seeds.shape[0]):
        out[i] = mix(mix(seeds[i] + GOLDEN) + np.uint64(episodes[i] + 1) * GOLDEN)


@njit(cache=True, nogil=True)
def uniforms_kernel(words: Any, out: FloatArray) -> None:
    """Write (m, n) numbers of [0, 1), independent of each other, for words (m,)."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = (mix(words[i] + np.uint64(k + 1) * GOLDEN) >> _11) * 2.0**-53


@njit(cache=True, nogil=True)
def cells_kernel(
    cells: IntArray, draws: FloatArray, side: int, size: float, jitter: float, poses: FloatArray
) -> None:
    """Write poses near the middles of cells of a square around the origin.

    Args:
        cells: (m, n) numbers of the cells, row by row.
        draws: (m, 3 n) of [0, 1): all for x, then y, then yaw.
        side: Cells along a side.
        size: Of a cell [m].
        jitter: Greatest distance from the middle, along each axis [m].
        poses: Output: (m, n, 3) x, y [m] and yaw [rad].
    """
    n, half = cells.shape[1], 0.5 * size * side
    for i in range(cells.shape[0]):
        for k in range(n):
            x, y = cells[i, k] % side, cells[i, k] // side
            poses[i, k, 0] = (x + 0.5) * size - half + jitter * (2.0 * draws[i, k] - 1.0)
            poses[i, k, 1] = (y + 0.5) * size - half + jitter * (2.0 * draws[i, n + k] - 1.0)
            poses[i, k, 2] = math.pi * (2.0 * draws[i, 2 * n + k] - 1.0)
