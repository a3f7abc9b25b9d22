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

from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.state.episodes import uniforms_kernel, words_kernel

Words = npt.NDArray[np.uint64]


def episode_words(seeds: Words, episodes: IntArray) -> Words:
    """Return (m,) words that stand for episodes of agents with these seeds."""
    words: Words = np.empty(len(seeds), np.uint64)
    words_kernel(seeds, episodes, words)
    return words


def uniforms(words: Words, count: int) -> FloatArray:
    """Return (m, count) numbers of [0, 1), independent of each other, for (m,) words."""
    drawn: FloatArray = np.empty((len(words), count))
    uniforms_kernel(words, drawn)
    return drawn
