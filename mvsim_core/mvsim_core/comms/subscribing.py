# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Subscriptions of a node: its sockets, and the thread in which callbacks run."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import zmq

from mvsim_core.comms import messages
from mvsim_core.comms.endpoints import resolved
from mvsim_core.comms.framing import LARGEST_MESSAGE, LARGEST_REQUEST, pack, parse, unpack
from mvsim_core.comms.socket_thread import MOST_IN_A_ROUND, SocketThread
from mvsim_core.errors import CommsError

#: A publisher that leaves has sent its last messages; they are awaited for so long [s].
LAST_MESSAGES = 1.0

_log = logging.getLogger(__name__)


class Subscription:
    """One callback for one topic.

    Attributes:
        topic: Name of the topic.
        dropped: Messages that were dropped because callbacks were too slow.
        unreadable: Messages that could not be read.
    """

    def __init__(self, topic: str, callback: Callable[[Any], None], queue: int, raw: bool) -> None:
        """Start with an empty queue."""
        self.topic = topic
        self.dropped = 0
        self.unreadable = 0
        self._callback = callback
        self._raw = raw
        self._queue: deque[bytes] = deque(maxlen=max(queue, 1))

    def put(self, frame: bytes) -> None:
        """Let a message wait; the oldest one is dropped if there are too many."""
        self.dropped += len(self._queue) == self._queue.maxlen
        self._queue.append(frame)

    def deliver(self) -> bool:
        """Call back with the oldest message that waits; return whether there was one."""
        if not self._queue:
            return False
        frame = self._queue.popleft()
        try:
            type_name, data = unpack(frame)
            message = (type_name, data) if self._raw else parse(type_name, data)
        except CommsError:
            self.unreadable += 1
            return True
        try:
            self._callback(message)
        except Exception:
            _log.exception("callback of topic %s", self.topic)
        return True


class _TopicSocket:
    """The socket of one topic, connected to all its publishers."""

    def __init__(self, thread: SocketThread, on_frames: Callable[[], None]) -> None:
        self.socket = thread.context.socket(zmq.SUB)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.RCVHWM, 100)
        self.socket.set(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self.socket.set(zmq.RECONNECT_IVL_MAX, 2000)
        self.socket.set(zmq.SUBSCRIBE, b"")
        self._left: dict[str, float | None] = {}  # endpoint -> when its publisher left
        thread.watch(self.socket, on_frames)

    def connect(self, endpoints: set[str]) -> None:
        """Connect to these publishers; of others only the last messages are awaited."""
        now = time.monotonic()
        for endpoint in endpoints - self._left.keys():
            self.socket.connect(endpoint)
        before = self._left
        self._left = {endpoint: before[endpoint] or now for endpoint in before.keys() - endpoints}
        self._left.update(dict.fromkeys(endpoints))

    def disconnect(self) -> None:
        """End the connections to publishers that left some time ago."""
        now = time.monotonic()
        for endpoint, left in list(self._left.items()):
            if left is not None and now - left > LAST_MESSAGES:
                self.socket.disconnect(endpoint)
                del self._left[endpoint]


class Subscriber:
    """All subscriptions of a node.

    Attributes:
        endpoint: Where the server tells who publishes.
    """

    def __init__(self, thread: SocketThread, server: str, bind: str) -> None:
        """Open the socket for the server's messages and start the thread of the callbacks."""
        self._thread = thread
        self._server = server
        self._subscriptions: dict[str, list[Subscription]] = {}
        self._sockets: dict[str, _TopicSocket] = {}
        self._ready = threading.Condition()
        self._waiting: dict[Subscription, None] = {}  # with messages, in order
        self._closed = False
        self.endpoint: str = thread.call(lambda: self._open(bind))
        self._callbacks = threading.Thread(
            target=self._run_callbacks, name="mvsim-callbacks", daemon=True
        )
        self._callbacks.start()

    def _open(self, bind: str) -> str:
        socket = self._updates = self._thread.context.socket(zmq.PAIR)
        socket.set(zmq.LINGER, 0)
        socket.set(zmq.MAXMSGSIZE, LARGEST_REQUEST)
        socket.bind(f"tcp://{bind}:*")
        self._thread.watch(socket, self._update)
        self._thread.every(1.0, self._disconnect)
        return str(socket.get_string(zmq.LAST_ENDPOINT))

    def add(
        self, topic: str, callback: Callable[[Any], None], queue: int, raw: bool
    ) -> Subscription:
        """Add a subscription; the server is asked elsewhere."""
        made = Subscription(topic, callback, queue, raw)
        self._thread.call(lambda: self._subscriptions.setdefault(topic, []).append(made))
        return made

    # ------------------------------------------------------------ in the thread of the sockets
    def _update(self) -> None:
        """Connect to the publishers that the server names."""
        try:
            frame = self._updates.recv(zmq.NOBLOCK)
        except zmq.Again:
            return
        try:
            info = parse(*unpack(frame), messages.TopicInfo)
            endpoints = {resolved(e, self._server) for e in info.publisherEndpoint}
            topic = info.topicName
        except CommsError:
            topic, endpoints = "", set()
        if topic in self._subscriptions:
            if topic not in self._sockets:
                receive = partial(self._receive, topic)
                self._sockets[topic] = _TopicSocket(self._thread, receive)
            self._sockets[topic].connect(endpoints)
        with suppress(zmq.Again):
            self._updates.send(pack(messages.GenericAnswer(success=True)), zmq.NOBLOCK)

    def _disconnect(self) -> None:
        for topic_socket in self._sockets.values():
            topic_socket.disconnect()

    def _receive(self, topic: str) -> None:
        socket, subscriptions = self._sockets[topic].socket, self._subscriptions[topic]
        for _ in range(MOST_IN_A_ROUND):
            try:
                frames = socket.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                return
            if len(frames) != 1:
                continue
            with self._ready:
                for subscription in subscriptions:
                    subscription.put(frames[0])
                    self._waiting[subscription] = None
                self._ready.notify()

    # ------------------------------------------------------------ in the thread of the callbacks
    def _run_callbacks(self) -> None:
        while True:
            with self._ready:
                while not self._waiting and not self._closed:
                    self._ready.wait()
                if self._closed:
                    return
                waiting, self._waiting = self._waiting, {}
            again = [subscription for subscription in waiting if subscription.deliver()]
            with self._ready:
                self._waiting.update(dict.fromkeys(again))

    def close(self) -> None:
        """End the thread of the callbacks."""
        with self._ready:
            self._closed = True
            self._ready.notify()
        if self._callbacks is not threading.current_thread():
            self._callbacks.join(2.0)
