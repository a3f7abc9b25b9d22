# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Independent tasks on several cores, for work that passes most of its time in kernels.

Kernels release the GIL. What tasks write must not depend on which of them comes first, so that
results are the same to the byte on any number of cores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from threading import Lock
from typing import Any, TypeVar

T = TypeVar("T")

#: Most threads of a call: they wait for the same memory, so that more of them gain little.
MOST_THREADS = 4


def usable_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads() -> int:
    """Return how many threads `run_all` uses, the calling one included."""
    return min(usable_cores(), MOST_THREADS)


class _Pool:
    """The threads of a process beside the calling one; a forked process starts its own."""

    def __init__(self) -> None:
        """Start without threads."""
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = Lock()
        self._executor: ThreadPoolExecutor | None = None

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Call `work(*args)` in the next thread that is free."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(MOST_THREADS - 1, "mvsim-tasks")
            return self._executor.submit(work, *args)


_POOL = _Pool()


def start(work: Callable[..., T], *args: Any) -> Future[T]:
    """Call `work(*args)` in a thread beside the calling one; the result is in the future.

    The work must not wait for other work of this module.
    """
    return _POOL.submit(work, *args)


def run_all(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks, each in the next thread that is free, and return their results in order.

    Raises:
        Exception: What the first task in the list that failed raised. Tasks after it may have run
            or not.
    """
    helpers = min(threads(), len(tasks)) - 1
    if helpers <= 0:
        return [task() for task in tasks]
    results: dict[int, T] = {}
    failed: dict[int, BaseException] = {}
    left = iter(enumerate(tasks))  # the GIL makes taking the next one atomic

    def thread() -> None:
        for number, task in left:
            if failed:
                return
            try:
                results[number] = task()
            except BaseException as error:
                failed[number] = error

    futures = [_POOL.submit(thread) for _ in range(helpers)]
    thread()
    for future in futures:
        future.result()
    if failed:
        raise failed[min(failed)]
    return [results[number] for number in range(len(tasks))]


def in_parts(count: int, least: int, work: Callable[[int, int], T]) -> list[T]:
    """Call `work(first, end)` for parts of `count` rows, each of `least` rows or more.

    Returns:
        The results of the parts, in their order; there is one part at least.
    """
    parts = max(1, min(threads(), count // least))
    ends = [count * k // parts for k in range(parts + 1)]
    return run_all([partial(work, first, end) for first, end in pairwise(ends)])
