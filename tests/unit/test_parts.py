# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parts that threads take: each once, in any order, and what follows once it is ready."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mvsim_core import threads
from mvsim_core.solver.compiled import kernel
from mvsim_core.state.parts import END, FIRST, follow, free, give, parts_of, take, turn

COUNT = 50_000


@pytest.fixture(params=[1, 2, 4], autouse=True)
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the machine have so many cores."""
    monkeypatch.setattr(threads, "usable_cores", lambda: request.param)
    return int(request.param)


@kernel
def taken_kernel(parts: Any, first: int, done: Any, order: Any, readies: int) -> int:
    """Count who takes each part; all but each `readies`-th become ready."""
    count = 0
    for i in range(parts.shape[0]):
        k = turn(parts, first, i)
        if take(parts, k):
            order[count] = k
            count += 1
            for row in range(parts[k, FIRST], parts[k, END]):
                done[row] += 1
            if k % readies:
                give(parts, k)
    return count


@kernel
def followed_kernel(parts: Any, first: int, done: Any, followed: Any) -> None:
    """Note what was done of the parts that are followed."""
    for i in range(parts.shape[0]):
        k = turn(parts, first, i)
        if follow(parts, k):
            for row in range(parts[k, FIRST], parts[k, END]):
                followed[row] += done[row]


def test_each_part_is_taken_and_followed_once(cores: int) -> None:
    """Also where all threads take parts of one row at once."""
    parts = parts_of((k, k + 1) for k in range(COUNT))
    done, followed = np.zeros(COUNT, np.int64), np.zeros(COUNT, np.int64)
    begun: list[int] = []

    def work(first: int) -> None:
        taken_kernel(parts, first, done, np.zeros(COUNT, np.int64), 5)
        followed_kernel(parts, first, done, followed)
        begun.append(first)

    for round_ in (1, 2):
        free(parts)
        threads.in_threads(COUNT, 1, work)
        assert (done == round_).all()
    assert sorted(begun) == sorted(2 * [COUNT * k // cores for k in range(cores)])
    rows = np.arange(COUNT)
    assert (followed == np.where(rows % 5, 1 + 2, 0)).all()  # what was done before each


def test_a_thread_begins_at_its_own_part_and_goes_round() -> None:
    parts, order = parts_of([(0, 3), (3, 4), (4, 9)]), np.zeros(3, np.int64)
    done = np.zeros(9, np.int64)
    assert taken_kernel(parts, 2, done, order, 5) == 3
    assert order.tolist() == [2, 0, 1]
    assert (done == 1).all()
    assert taken_kernel(parts, 2, done, order, 5) == 0


def test_parts_that_are_ready_from_the_start() -> None:
    parts, followed = parts_of([(0, 2), (2, 6)], ready=True), np.zeros(6, np.int64)
    followed_kernel(parts, 0, np.ones(6, np.int64), followed)
    assert (followed == 1).all()
    assert parts_of(()).shape == (0, parts.shape[1])


@pytest.mark.parametrize(("count", "least", "most"), [(0, 2, 1), (3, 2, 1), (7, 2, 3), (90, 2, 9)])
def test_few_parts_are_left_to_few_threads(cores: int, count: int, least: int, most: int) -> None:
    begun: list[int] = []
    threads.in_threads(count, least, begun.append)
    assert len(begun) == min(cores, most)
    assert begun[0] == 0 or cores > 1
