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
from threading import Lock, Thread
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


class _Helper:
    """A thread that waits for work; locks hand it over in a fraction of the time of a queue."""

    def __init__(self, idle: list[_Helper]) -> None:
        """Start the thread; it puts itself into `idle` after each work."""
        self._idle = idle
        self._begin = Lock()
        self._begin.acquire()
        self._work: tuple[Callable[[], None], Any] | None = None
        Thread(target=self._loop, name="mvsim-parts", daemon=True).start()

    def give(self, work: Callable[[], None]) -> Any:
        """Let it call `work`, which must not raise; the lock that is returned is free after it."""
        done = Lock()
        done.acquire()
        self._work = work, done
        self._begin.release()
        return done

    def _loop(self) -> None:
        while True:
            self._begin.acquire()
            if self._work is not None:
                work, done = self._work
                self._work = None
                work()
                del work
                self._idle.append(self)
                done.release()


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
        self._idle: list[_Helper] = []
        self._helpers = 0

    def submit(self, work: Callable[..., T], *args: Any) -> Future[T]:
        """Call `work(*args)` in the next thread that is free."""
        with self._lock:
            if self._executor is None:
                self._executor = ThreadPoolExecutor(MOST_THREADS - 1, "mvsim-tasks")
            return self._executor.submit(work, *args)

    def share(self, work: Callable[[], None], count: int) -> list[Any]:
        """Call `work` in up to `count` threads that are free now; return locks to wait for."""
        locks: list[Any] = []
        with self._lock:
            while len(locks) < count:
                if not self._idle:
                    if self._helpers == MOST_THREADS - 1:
                        break
                    self._helpers += 1
                    self._idle.append(_Helper(self._idle))
                locks.append(self._idle.pop().give(work))
        return locks


_POOL = _Pool()


def start(work: Callable[..., T], *args: Any) -> Future[T]:
    """Call `work(*args)` in a thread beside the calling one; the result is in the future.

    The work must not wait for other work of this module.
    """
    return _POOL.submit(work, *args)


def run_all(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run tasks, each in the next thread that is free, and return their results in order.

    Where other threads are at work already, the calling one does more, or all.

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

    locks = _POOL.share(thread, helpers)
    thread()
    for lock in locks:
        while True:
            try:
                lock.acquire()
            except KeyboardInterrupt as error:  # after the others: they write to the same arrays
                failed.setdefault(-1, error)
            else:
                break
    if failed:
        raise failed[min(failed)]
    return [results[number] for number in range(len(tasks))]


def in_parts(count: int, least: int, work: Callable[[int, int], T], *, each: int = 1) -> list[T]:
    """Call `work(first, end)` for parts of `count` rows, each of `least` rows or more.

    Args:
        count: See above.
        least: See above.
        work: See above.
        each: Most parts for each thread: several where work takes milliseconds, as the cores of a
            machine are not equally fast at each moment, but one where rows should stay in caches.

    Returns:
        The results of the parts, in their order; there is one part at least.
    """
    parts = _sharing(count, least, each)
    ends = [count * k // parts for k in range(parts + 1)]
    return run_all([partial(work, first, end) for first, end in pairwise(ends)])


def in_threads(count: int, least: int, work: Callable[[int], None]) -> None:
    """Call `work` in threads that share out `count` parts, `least` or more for each; see `parts`.

    Its argument is the part at which a thread begins.
    """
    sharing = _sharing(count, least)
    run_all([partial(work, count * k // sharing) for k in range(sharing)])


def _sharing(count: int, least: int, each: int = 1) -> int:
    most = threads()
    return 1 if most == 1 else max(1, min(each * most, count // least))
