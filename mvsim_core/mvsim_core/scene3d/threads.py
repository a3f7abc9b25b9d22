# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Threads for work that is divided into parts whose results do not depend on the division."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache

#: More threads than this are not worth their handing over.
MOST = 4


@lru_cache(maxsize=1)
def workers() -> int:
    """Return the number of processors that this process may use, at most `MOST`."""
    if hasattr(os, "sched_getaffinity"):
        return min(len(os.sched_getaffinity(0)), MOST)
    return min(os.cpu_count() or 1, MOST)


@lru_cache(maxsize=1)
def pool() -> ThreadPoolExecutor:
    """Return the threads of this process; they are started with the first work."""
    return ThreadPoolExecutor(MOST, thread_name_prefix="mvsim-rays")


def in_parts(count: int, least: int, work: Callable[[int, int], object]) -> None:
    """Call `work(first, last)` for parts of `count` rows, each of `least` rows or more."""
    parts = max(1, min(workers(), count // least))
    ends = [count * k // parts for k in range(parts + 1)]
    waiting = [pool().submit(work, ends[k], ends[k + 1]) for k in range(1, parts)]
    try:
        work(ends[0], ends[1])
    finally:
        wait(waiting)
    for each in waiting:
        each.result()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=pool.cache_clear)  # threads do not survive a fork
