# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of episodes: a function of an agent's seed and the number of its episode.

No generator has a position, so copies of a world draw independently of each other, in one call
for all of them, and a copy of a vector environment draws what a single environment with its seed
would. The mixing function is that of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mvsim_core.state.arrays import FloatArray

Words = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_A, _B = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_27, _30, _31, _11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)


def mix(words: Words) -> Words:
    """Return words whose bits all depend on all bits of the given ones."""
    words = (words ^ (words >> _30)) * _A
    words = (words ^ (words >> _27)) * _B
    mixed: Words = words ^ (words >> _31)
    return mixed


def episode_words(seeds: Words, episodes: npt.NDArray[np.int64]) -> Words:
    """Return (m,) words that stand for episodes of agents with these seeds."""
    return mix(mix(seeds + _GOLDEN) + (episodes.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def uniforms(words: Words, count: int) -> FloatArray:
    """Return (m, count) numbers of [0, 1), independent of each other, for (m,) words."""
    numbers = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN
    drawn: FloatArray = (mix(words[:, None] + numbers) >> _11).astype(np.float64) * 2.0**-53
    return drawn
