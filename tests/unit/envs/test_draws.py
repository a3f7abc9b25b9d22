# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random numbers of episodes: SplitMix64 in whole numbers of Python, and poses in cells."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.envs.draws import episode_words, uniforms
from mvsim_core.state.episodes import cells_kernel

GOLDEN, LIMIT = 0x9E3779B97F4A7C15, 2**64


def mixed(word: int) -> int:
    """Return the output function of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014)."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % LIMIT
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % LIMIT
    return word ^ (word >> 31)


@pytest.mark.parametrize("seed", [0, 7, 2**63 + 5, LIMIT - 1])
def test_words_and_numbers_are_those_of_splitmix(seed: int) -> None:
    episodes = [0, 1, 12345]
    words = episode_words(np.array([seed] * 3, np.uint64), np.array(episodes))
    wanted = [mixed((mixed((seed + GOLDEN) % LIMIT) + (e + 1) * GOLDEN) % LIMIT) for e in episodes]
    assert words.tolist() == wanted
    drawn = uniforms(words, 40)
    for word, row in zip(wanted, drawn.tolist(), strict=True):
        assert row == [
            (mixed((word + (k + 1) * GOLDEN) % LIMIT) >> 11) / 2.0**53 for k in range(40)
        ]
    assert 0.4 < drawn.mean() < 0.6


def test_poses_are_near_the_middles_of_their_cells() -> None:
    draws = np.zeros((2, 9))
    draws[1] = (1.0, 0.5, 0.0, 0.25, 0.5, 1.0, 0.0, 0.5, 0.75)
    poses = np.zeros((2, 3, 3))
    cells_kernel(np.array([[0, 5, 15], [3, 12, 6]]), draws, 4, 2.0, 0.5, poses)
    assert poses[0].tolist() == [
        [-3.5, -3.5, -math.pi],
        [-1.5, -1.5, -math.pi],
        [2.5, 2.5, -math.pi],
    ]
    assert poses[1].tolist() == [
        [3.5, -3.25, -math.pi],
        [-3.0, 3.0, 0.0],
        [0.5, -0.5, 0.5 * math.pi],
    ]
