# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Requests to a server or to the node that offers a service, each with one answer."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import zmq

from mvsim_core.comms.framing import LARGEST_MESSAGE, pack, unpack
from mvsim_core.comms.socket_thread import MOST_IN_A_ROUND
from mvsim_core.errors import CommsError

Frames = list[bytes]


class Requester:
    """Sends requests to one endpoint and waits for the answers; any thread may use it.

    Each request carries a number that comes back with its answer, so that an answer that is too
    late is never taken for the next one; the peer may use a REP socket.
    """

    def __init__(self, context: Any, endpoint: str) -> None:
        """Connect; whether a server answers shows with the first request."""
        self.endpoint = endpoint
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._socket = context.socket(zmq.DEALER)
        self._socket.set(zmq.LINGER, 0)
        self._socket.set(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
        self._socket.set(zmq.RECONNECT_IVL_MAX, 1000)
        self._socket.connect(endpoint)

    def request(self, message: Any, timeout: float) -> tuple[str, bytes]:
        """Return type name and bytes of the answer to a message.

        Args:
            message: The request.
            timeout: How long to wait for the answer [s].

        Raises:
            CommsError: There is no answer in time, or it is not a message.
        """
        frame = pack(message)
        end = time.monotonic() + timeout
        with self._lock:
            number = next(self._numbers).to_bytes(8, "big")
            try:
                self._socket.send_multipart([number, b"", frame], zmq.NOBLOCK)
            except zmq.Again:
                raise CommsError(f"no answer from {self.endpoint}") from None
            while True:
                left = end - time.monotonic()
                if left <= 0.0 or not self._socket.poll(int(left * 1e3) + 1):
                    raise CommsError(f"no answer from {self.endpoint} within {timeout:g} s")
                frames = self._socket.recv_multipart()
                if frames[:2] == [number, b""] and len(frames) == 3:
                    return unpack(frames[2])

    def close(self) -> None:
        """Close the socket."""
        with self._lock:
            self._socket.close(0)


def split_envelope(frames: list[Any]) -> tuple[list[Any], Any]:
    """Return return path and body of a request as a ROUTER socket receives it.

    Raises:
        CommsError: There is no empty frame with one frame behind it.
    """
    if len(frames) < 3 or len(frames) > 8 or len(frames[-2].buffer) != 0:
        raise CommsError("not a request")
    return frames[:-1], frames[-1]


def receive_requests(socket: Any, take: Callable[[list[Any], Any], None]) -> None:
    """Give some of the requests that wait at a ROUTER socket to a function, by path and body."""
    for _ in range(MOST_IN_A_ROUND):
        try:
            frames = socket.recv_multipart(zmq.NOBLOCK, copy=False)
        except zmq.Again:
            return
        try:
            path, body = split_envelope(frames)
        except CommsError:
            continue
        take(path, body)


def send_answer(socket: Any, path: list[Any], message: Any) -> None:
    """Send the answer to a request; it is lost where the client is gone or does not read."""
    with suppress(zmq.ZMQError):
        socket.send_multipart([*path, pack(message)], zmq.NOBLOCK)
