# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Requests from callbacks, served by the thread that owns the world."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

#: Most requests that may wait; a client that sends more is turned away.
CAPACITY = 1000
#: Wall time [s] given to requests between two steps.
BUDGET = 0.002

Work = Callable[[], None]


class Requests:
    """A queue that callbacks fill and the stepping thread empties between steps.

    However many requests there are, the world steps: after `BUDGET` the rest waits for the next
    gap.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._queue: deque[Work] = deque()
        self._arrived = threading.Event()

    def ask(self, work: Work) -> bool:
        """Leave work, from any thread; False if too much waits already."""
        if len(self._queue) >= CAPACITY:
            return False
        self._queue.append(work)
        self._arrived.set()
        return True

    def wait(self, seconds: float) -> bool:
        """Sleep until there is work, or for some wall time; return whether there is work."""
        return self._arrived.wait(seconds)

    def serve(self, budget: float = BUDGET) -> None:
        """Do what waits, in order; at least one, and no more once the budget [s] is used up."""
        if not self._arrived.is_set():
            return
        self._arrived.clear()  # before the look: what comes later sets it again
        end = time.perf_counter() + budget
        while self._queue:
            self._queue.popleft()()
            if time.perf_counter() >= end:
                break
        if self._queue:
            self._arrived.set()
