# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Service requests from callbacks, processed by the thread that owns the world."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

#: Most requests that may wait; further ones are rejected.
CAPACITY = 1000
#: Wall time [s] spent on requests between two steps.
BUDGET = 0.002

Work = Callable[[], None]


class RequestQueue:
    """A queue that callbacks fill and the stepping thread empties between steps.

    Requests cannot stop the simulation: after `BUDGET` the rest waits until after the next step.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._queue: deque[Work] = deque()
        self._not_empty = threading.Event()

    def submit(self, work: Work, *, always: bool = False) -> bool:
        """Append work, from any thread; return False if the queue is full, but for `always`."""
        if len(self._queue) >= CAPACITY and not always:
            return False
        self._queue.append(work)
        self._not_empty.set()
        return True

    def wait(self, seconds: float) -> bool:
        """Sleep until there is work, or for some wall time; return whether there is work."""
        return self._not_empty.wait(seconds)

    def process(self, budget: float = BUDGET) -> None:
        """Do waiting work in order; at least one item, and none after the budget [s] is spent."""
        if not self._not_empty.is_set():
            return
        self._not_empty.clear()  # before the queue is read: work appended later sets it again
        end = time.perf_counter() + budget
        while self._queue:
            self._queue.popleft()()
            if time.perf_counter() >= end:
                break
        if self._queue:
            self._not_empty.set()
