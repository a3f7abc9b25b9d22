# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Short runs of random operations on copies of worlds, the same each time."""

import warnings

import pytest

from tests.fuzz.batches import AFTER, BEFORE, tried


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_copies_equal_single_worlds_whatever_is_done(first: int) -> None:
    done: set[str] = set()
    touching = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of overlaps, and welds that tip vehicles
        for seed in range(first, first + 20):
            pair = tried(seed)
            done |= {entry[0] for entry in pair.log if isinstance(entry, tuple)}
            touching += any(copy.contacts for copy in pair.batch)
    assert done >= {*BEFORE, *AFTER}
    assert touching > 3
