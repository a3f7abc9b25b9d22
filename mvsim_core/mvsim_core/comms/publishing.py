# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A topic that a node publishes: a socket of its own, and a short queue before it.

Who publishes never waits. If messages come faster than they can be sent, the newest are kept; a
reader that is slow or dead loses messages of its own, and costs the others nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import zmq

from mvsim_core.comms.framing import pack
from mvsim_core.comms.socket_thread import MOST_IN_A_ROUND, SocketThread
from mvsim_core.errors import CommsError

#: Messages that may wait for the thread that sends them, and then for each reader.
QUEUE = 64


class Publication:
    """One topic of this node.

    Attributes:
        topic: Its name.
        endpoint: Where readers connect to.
        readers: Number of readers that are connected.
    """

    def __init__(
        self, thread: SocketThread, topic: str, message_type: Any, bind: str, queue: int
    ) -> None:
        """Open a socket for a topic.

        Args:
            thread: Owns the socket.
            topic: Its name.
            message_type: Class of its messages.
            bind: Address to bind to.
            queue: Messages that may wait for the thread, and for each reader.
        """
        self.topic = topic
        self.readers = 0
        self._type = message_type
        self._thread = thread
        self._socket: Any = None
        self._queue: deque[Any] = deque(maxlen=queue)
        self._posted = False
        self._closed = False
        self.endpoint: str = thread.call(lambda: self._open(bind, queue))

    def _open(self, bind: str, queue: int) -> str:
        # XPUB is PUB that also says who subscribes.
        socket = self._socket = self._thread.context.socket(zmq.XPUB)
        socket.set(zmq.LINGER, 0)
        socket.set(zmq.SNDHWM, queue)
        socket.set(zmq.MAXMSGSIZE, 1024)  # readers send subscriptions only
        socket.set(zmq.XPUB_VERBOSER, 1)
        socket.bind(f"tcp://{bind}:*")
        return str(socket.get_string(zmq.LAST_ENDPOINT))

    def check(self, message: Any) -> None:
        """Check a message.

        Raises:
            CommsError: It has another type, or a field is missing.
        """
        if message.DESCRIPTOR.full_name != self._type.DESCRIPTOR.full_name:
            expected, got = self._type.DESCRIPTOR.full_name, message.DESCRIPTOR.full_name
            raise CommsError(f"topic {self.topic!r} has type {expected}, got {got}")
        if not message.IsInitialized():
            pack(message)  # raises the error

    def publish(self, message: Any | Callable[[], Any], *, wake: bool = True) -> None:
        """Publish a message, or what a function returns that is called if there are readers.

        The function is called in the thread of the sockets; if it returns None, nothing is sent.

        Args:
            message: The message or the function.
            wake: Whether the thread of the sockets looks for it now; else when it is woken next.
        """
        self._queue.append(message)
        if not self._posted:
            self._posted = True
            self._thread.post(self._send, wake=wake)

    def _send(self) -> None:
        self._posted = False
        self.admit()
        while self._queue:
            message = self._queue.popleft()
            if self.readers and not self._closed:
                made = message() if callable(message) else message
                if made is None:
                    continue
                try:
                    self._socket.send(pack(made), zmq.NOBLOCK)
                except zmq.Again:
                    continue

    def admit(self) -> None:
        """Admit new readers and forget those that left; in the thread of the sockets.

        A flood of subscriptions is read little by little.
        """
        for _ in range(MOST_IN_A_ROUND):
            if self._closed or not self._socket.get(zmq.EVENTS) & zmq.POLLIN:
                return
            event = self._socket.recv(zmq.NOBLOCK)
            if event[:1] == b"\1":
                self.readers += 1
            elif event[:1] == b"\0" and self.readers:
                self.readers -= 1

    def close(self) -> None:
        """Close the socket after what waits is on its way; in the thread of the sockets."""
        self._send()
        self._closed = True
        self._thread.close_socket(self._socket, linger=300)
