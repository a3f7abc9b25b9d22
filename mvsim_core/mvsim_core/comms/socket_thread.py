# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A thread that owns sockets: others leave work for it and never wait for a peer.

A ZeroMQ socket may be used by one thread only, so whatever is done with one is done here.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import zmq

T = TypeVar("T")

#: Most messages of one socket in a round.
MOST_IN_A_ROUND = 32
#: Part of the time that requests of peers may take: a flood of them must not take the processor
#: from the simulation.
REQUESTS_SHARE = 0.2
#: Where they took more the thread does only other work, once in so long [s].
REST = 0.002

_log = logging.getLogger(__name__)


class SocketThread:
    """Runs callbacks when sockets have messages, work that was posted, and periodic work.

    Attributes:
        context: Makes sockets; all are closed at the end.
    """

    def __init__(self, name: str) -> None:
        """Prepare; `start` starts it."""
        self.context = zmq.Context()
        self.context.set(zmq.MAX_SOCKETS, 16_384)
        self._poller = zmq.Poller()
        self._callbacks: dict[Any, Callable[[], None]] = {}
        self._limited: set[Any] = set()
        self._owed = 0.0  # rest for requests that were served [s]
        self._periodic: list[list[Any]] = []  # next time, period, callback
        self._work: deque[Callable[[], None]] = deque()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._awake = False  # a wake-up is on its way
        self._stopping = False
        self._poller.register(self._wake, zmq.POLLIN)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def post(self, work: Callable[[], None], *, wake: bool = True) -> None:
        """Let the thread do some work; any thread may call this, and it does not wait.

        Args:
            work: What to do.
            wake: Whether to do it now; else it is done when the thread is woken next.
        """
        self._work.append(work)
        if wake:
            self.wake()

    def wake(self) -> None:
        """Let the thread look for work now."""
        if not self._awake and not self._stopping:
            self._awake = True
            os.eventfd_write(self._wake, 1)

    def wake_for_work(self) -> None:
        """Let the thread do the work that was posted without waking it, if there is some."""
        if self._work:
            self.wake()

    def call(self, work: Callable[[], T], timeout: float = 10.0) -> T:
        """Let the thread do some work and return its result; not to be called in the thread."""
        future: Future[T] = Future()

        def run() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # given to the caller
                future.set_exception(error)

        self.post(run)
        return future.result(timeout)

    # ------------------------------------------------------------ in the thread
    def watch(self, socket: Any, callback: Callable[[], None], *, limited: bool = False) -> None:
        """Call back whenever a socket has messages.

        Args:
            socket: The socket.
            callback: Receives some of them.
            limited: Whether all that is done for such sockets takes a limited part of the time.
        """
        self._callbacks[socket] = callback
        if limited:
            self._limited.add(socket)
        self._poller.register(socket, zmq.POLLIN)

    def close_socket(self, socket: Any, linger: int = 0) -> None:
        """Close a socket, which may be a watched one; `linger` [ms] is given to its messages."""
        if self._callbacks.pop(socket, None) is not None:
            self._poller.unregister(socket)
            self._limited.discard(socket)
        socket.close(linger)

    def every(self, period: float, callback: Callable[[], None]) -> None:
        """Call back once a period [s]."""
        self._periodic.append([time.monotonic() + period, period, callback])

    def _run(self) -> None:
        while not self._stopping:
            self._round()
            if self._owed > REST:
                time.sleep(REST)
                self._owed -= REST
        while self._work:
            self._guard(self._work.popleft())

    def _round(self) -> None:
        now = time.monotonic()
        waits = [entry[0] - now for entry in self._periodic]
        timeout = None if not waits else max(0.0, min(waits)) * 1e3
        try:
            events = self._poller.poll(timeout)
        except zmq.ZMQError as error:
            if error.errno == zmq.ETERM:
                self._stopping = True
                return
            raise
        begin = time.monotonic()
        self._owed = max(0.0, self._owed - (begin - now))
        for socket, _ in events:
            if socket == self._wake:
                os.eventfd_read(self._wake)
                self._awake = False  # after it: work left in between is done in this round
                continue
            callback = self._callbacks.get(socket)
            if callback is None:
                continue
            limited, start = socket in self._limited, time.monotonic()
            if not limited:
                self._guard(callback)
            elif self._owed <= REST:
                self._guard(callback)
                self._owed += (time.monotonic() - start) * (1.0 / REQUESTS_SHARE - 1.0)
        for _ in range(len(self._work)):
            self._guard(self._work.popleft())
        for entry in self._periodic:
            if begin >= entry[0]:
                entry[0] = begin + entry[1]
                self._guard(entry[2])

    @staticmethod
    def _guard(callback: Callable[[], None]) -> None:
        """Call back; what a peer can cause must not end the thread."""
        try:
            callback()
        except Exception:
            _log.exception("message bus")

    # ------------------------------------------------------------ end
    def close(self, timeout: float = 2.0) -> None:
        """Do the rest of the work, end the thread and close all sockets."""
        if self._thread.is_alive():
            self.post(self._stop)
            self._thread.join(timeout)
        self._stopping = True
        self.context.destroy(linger=None)
        if not self._thread.is_alive() and self._wake >= 0:
            os.close(self._wake)
            self._wake = -1

    def _stop(self) -> None:
        self._stopping = True
