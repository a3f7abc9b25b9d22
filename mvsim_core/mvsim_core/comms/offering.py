# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Services that a node offers: one socket for all of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import zmq

from mvsim_core.comms import messages
from mvsim_core.comms.framing import LARGEST_REQUEST, parse, unpack
from mvsim_core.comms.requests import receive_requests, send_answer
from mvsim_core.comms.socket_thread import SocketThread
from mvsim_core.errors import CommsError, MvsimError

_log = logging.getLogger(__name__)

#: Returns the answer to a request.
Handler = Callable[[Any], Any]
#: Takes work for another thread; returns False if there is too much.
Submit = Callable[[Callable[[], None]], bool]


@dataclass(frozen=True)
class _Offer:
    """A service."""

    request_type: Any
    handler: Handler
    submit: Submit | None


class ServiceSocket:
    """The services of a node.

    Attributes:
        endpoint: Where they are called.
    """

    def __init__(self, thread: SocketThread, bind: str) -> None:
        """Open the socket."""
        self._thread = thread
        self._offers: dict[str, _Offer] = {}
        self.endpoint: str = thread.call(lambda: self._open(bind))

    def _open(self, bind: str) -> str:
        socket = self._socket = self._thread.context.socket(zmq.ROUTER)
        socket.set(zmq.LINGER, 200)
        socket.set(zmq.SNDHWM, 100)
        socket.set(zmq.RCVHWM, 100)
        socket.set(zmq.MAXMSGSIZE, LARGEST_REQUEST)
        socket.bind(f"tcp://{bind}:*")
        self._thread.watch(socket, self._receive, limited=True)
        return str(socket.get_string(zmq.LAST_ENDPOINT))

    def add(self, name: str, request_type: Any, handler: Handler, submit: Submit | None) -> None:
        """Add a service; the server learns of it elsewhere."""
        self._offers[name] = _Offer(request_type, handler, submit)

    # ------------------------------------------------------------ in the thread of the sockets
    def _receive(self) -> None:
        receive_requests(self._socket, self._take)

    def _take(self, path: list[Any], body: Any) -> None:
        try:
            offer, request = self._request(bytes(body.buffer))
        except CommsError as error:
            self._answer(path, _failed(error))
        else:
            self._start(offer, request, path)

    def _request(self, frame: bytes) -> tuple[_Offer, Any]:
        call = parse(*unpack(frame), messages.CallService)
        offer = self._offers.get(call.serviceName)
        if offer is None:
            raise CommsError(f"there is no service {call.serviceName[:60]!r} here")
        name = offer.request_type.DESCRIPTOR.full_name
        return offer, parse(name, call.serializedInput, offer.request_type)

    def _start(self, offer: _Offer, request: Any, path: list[Any]) -> None:
        if offer.submit is None:
            self._answer(path, _handled(offer.handler, request))
            return

        def work() -> None:
            answer = _handled(offer.handler, request)
            self._thread.post(partial(self._answer, path, answer))

        if not offer.submit(work):
            self._answer(path, _failed(CommsError("too many requests wait")))

    def _answer(self, path: list[Any], message: Any) -> None:
        send_answer(self._socket, path, message)


def _handled(handler: Handler, request: Any) -> Any:
    try:
        return handler(request)
    except MvsimError as error:
        return _failed(error)
    except Exception as error:  # a request must not end the thread that steps the world
        _log.exception("service called with %s", type(request).__name__)
        return _failed(error)


def _failed(error: Exception) -> Any:
    return messages.GenericAnswer(success=False, errorMessage=str(error))
