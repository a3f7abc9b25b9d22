# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The server of the message bus: it tells nodes where topics and services are.

Messages of topics and calls of services do not pass through it: publishers and subscribers are
connected directly. A node is removed when its connection ends, however it ends.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import zmq
from zmq.utils.monitor import recv_monitor_message

from mvsim_core.comms import messages
from mvsim_core.comms.directory import Directory, Service
from mvsim_core.comms.endpoints import DEFAULT_PORT, LOOPBACK, own_endpoint
from mvsim_core.comms.framing import LARGEST_REQUEST, pack, parse, unpack
from mvsim_core.comms.requests import receive_requests, send_answer
from mvsim_core.comms.socket_thread import SocketThread
from mvsim_core.errors import CommsError

#: Name of the service that the server itself offers.
LIST_SERVICES = "list_services"
#: Time for a subscriber to confirm that it heard of publishers [s].
CONFIRMATION_TIME = 5.0
#: Most subscribing nodes.
MOST_SUBSCRIBERS = 1000
#: Most waiting answers to one connection.
MOST_ANSWERS = 1000


class _Notifier:
    """Tells one subscriber about publishers, one topic after the other.

    The subscriber bound a PAIR socket, which takes a single connection, and confirms each message.
    """

    def __init__(self, thread: SocketThread, endpoint: str, on_answer: Callable[[], None]) -> None:
        self.socket = thread.context.socket(zmq.PAIR)
        self.socket.set(zmq.LINGER, 0)
        self.socket.set(zmq.MAXMSGSIZE, LARGEST_REQUEST)
        self.socket.set(zmq.RECONNECT_IVL_MAX, 2000)
        self.socket.connect(endpoint)
        thread.watch(self.socket, on_answer, limited=True)
        self.pending: dict[str, bytes] = {}  # the newest of each topic
        self.waiting_since: float | None = None

    def send_next(self) -> None:
        """Send what waits, if the subscriber has confirmed the message before."""
        if self.pending and self.waiting_since is None:
            topic = next(iter(self.pending))
            try:
                self.socket.send(self.pending[topic], zmq.NOBLOCK)
            except zmq.Again:
                return
            del self.pending[topic]
            self.waiting_since = time.monotonic()


class Server:
    """The server of a message bus, in a thread of its own.

    Args:
        port: TCP port.
        address: Address to bind to: 127.0.0.1 (this machine only), another one of this machine,
            or "*" for all. There is no authentication: bind to trusted networks only.
    """

    def __init__(self, port: int = DEFAULT_PORT, address: str = LOOPBACK) -> None:
        """Prepare; `start` opens the port."""
        self.port = port
        self.address = address
        self._directory = Directory()
        self._notifiers: dict[str, _Notifier] = {}
        self._connections: set[int] = set()
        self._handlers: dict[str, Callable[[Any, int, str], Any]] = {
            "RegisterNodeRequest": self._register,
            "UnregisterNodeRequest": self._unregister,
            "AdvertiseTopicRequest": self._advertise_topic,
            "AdvertiseServiceRequest": self._advertise_service,
            "SubscribeRequest": self._subscribe,
            "ListNodesRequest": self._list_nodes,
            "ListTopicsRequest": self._list_topics,
            "GetServiceInfoRequest": self._service_info,
            "CallService": self._call,
        }

    def start(self) -> Server:
        """Open the port and serve from now on; return self.

        Raises:
            CommsError: The port cannot be opened.
        """
        thread = self._thread = SocketThread("mvsim-server")
        main = self._main = thread.context.socket(zmq.ROUTER)
        main.set(zmq.LINGER, 200)
        main.set(zmq.MAXMSGSIZE, LARGEST_REQUEST)
        main.set(zmq.SNDHWM, MOST_ANSWERS)
        main.set(zmq.RCVHWM, MOST_ANSWERS)
        self._monitor = main.get_monitor_socket(zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED)
        try:
            main.bind(f"tcp://{self.address}:{self.port}")
        except zmq.ZMQError as error:
            main.disable_monitor()
            thread.close()
            raise CommsError(
                f"cannot open port {self.port} at {self.address}: {error.strerror or error};"
                " is another server running?"
            ) from None
        if self.port == 0:
            self.port = int(main.get_string(zmq.LAST_ENDPOINT).rpartition(":")[2])
        thread.watch(main, self._receive, limited=True)
        thread.watch(self._monitor, self._follow_connections, limited=True)
        thread.every(1.0, self._drop_silent)
        thread.start()
        return self

    def close(self) -> None:
        """Close the port and end the thread."""
        self._thread.call(self._main.disable_monitor)
        self._thread.close()

    def __enter__(self) -> Server:
        """Start."""
        return self.start()

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    # ------------------------------------------------------------ requests
    def _receive(self) -> None:
        receive_requests(self._main, self._take)

    def _take(self, path: list[Any], body: Any) -> None:
        connection, peer = body.get(zmq.SRCFD), str(body.get("Peer-Address"))
        # Before a new connection with the number of one that has ended is heard.
        self._follow_connections()
        if connection not in self._connections:
            return  # it ended while its request waited: what it registers would stay for good
        send_answer(self._main, path, self._answer(bytes(body.buffer), connection, peer))

    def _answer(self, frame: bytes, connection: int, peer: str) -> Any:
        try:
            type_name, data = unpack(frame)
            request = parse(type_name, data)
            handler = self._handlers.get(request.DESCRIPTOR.name)
            if handler is None:
                raise CommsError(f"{type_name} is not a request to the server")
            return handler(request, connection, peer)
        except CommsError as error:
            return messages.GenericAnswer(success=False, errorMessage=str(error))

    def _register(self, request: Any, connection: int, peer: str) -> Any:
        try:
            changed = self._directory.register(request.nodeName, connection)
        except CommsError as error:
            return messages.RegisterNodeAnswer(success=False, errorMessage=str(error))
        self._notify(changed)
        return messages.RegisterNodeAnswer(success=True)

    def _unregister(self, request: Any, connection: int, peer: str) -> Any:
        self._notify(self._directory.unregister(request.nodeName))
        return messages.GenericAnswer(success=True)

    def _advertise_topic(self, request: Any, connection: int, peer: str) -> Any:
        directory, node = self._directory, request.nodeName
        endpoint = own_endpoint(request.endpoint, peer)
        if node not in directory.nodes:
            directory.register(node, connection)
        directory.advertise_topic(request.topicName, request.topicTypeName, endpoint, node)
        self._notify([request.topicName])
        return messages.GenericAnswer(success=True)

    def _advertise_service(self, request: Any, connection: int, peer: str) -> Any:
        directory, node = self._directory, request.nodeName
        endpoint = own_endpoint(request.endpoint, peer)
        if request.serviceName == LIST_SERVICES:
            raise CommsError(f"{LIST_SERVICES} is a service of the server")
        if node not in directory.nodes:
            directory.register(node, connection)
        types = request.inputTypeName, request.outputTypeName
        directory.advertise_service(request.serviceName, Service(*types, endpoint, node))
        return messages.GenericAnswer(success=True)

    def _subscribe(self, request: Any, connection: int, peer: str) -> Any:
        endpoint = own_endpoint(request.updatesEndpoint, peer)
        if endpoint not in self._notifiers and len(self._notifiers) >= MOST_SUBSCRIBERS:
            raise CommsError(f"too many subscribers: at most {MOST_SUBSCRIBERS}")
        self._directory.subscribe(request.topic, endpoint, connection)
        self._notify([request.topic], endpoint)
        return messages.SubscribeAnswer(topic=request.topic, success=True)

    def _list_nodes(self, request: Any, connection: int, peer: str) -> Any:
        nodes = sorted(self._directory.nodes)
        return messages.ListNodesAnswer(
            nodes=[name for name in nodes if name.startswith(request.nodeStartsWith)]
        )

    def _list_topics(self, request: Any, connection: int, peer: str) -> Any:
        found = self._directory.topics_from(request.topicStartsWith)
        return messages.ListTopicsAnswer(topics=[self._topic_info(name) for name, _ in found])

    def _topic_info(self, name: str) -> Any:
        topic = self._directory.topics[name]
        return messages.TopicInfo(
            topicName=name,
            topicType=topic.type_name,
            publisherName=list(topic.publishers),
            publisherEndpoint=list(topic.publishers.values()),
        )

    def _service_info(self, request: Any, connection: int, peer: str) -> Any:
        name = request.serviceName
        service = self._directory.services.get(name)
        answer: Any = messages.GetServiceInfoAnswer(success=True)
        if name == LIST_SERVICES:
            answer.serviceEndpoint, answer.serviceNodeName = self._main_endpoint, "server"
        elif service is not None:
            answer.serviceEndpoint, answer.serviceNodeName = service.endpoint, service.node
        else:
            answer = messages.GetServiceInfoAnswer(
                success=False, errorMessage=f"there is no service {name[:60]!r}"
            )
        return answer

    @property
    def _main_endpoint(self) -> str:
        host = "0.0.0.0" if self.address == "*" else self.address
        return f"tcp://{host}:{self.port}"

    def _call(self, request: Any, connection: int, peer: str) -> Any:
        if request.serviceName != LIST_SERVICES:
            raise CommsError(f"{request.serviceName[:60]!r} is not a service of the server")
        services = self._directory.services
        listed = [
            messages.ServiceInfo(
                serviceName=name,
                inputTypeName=service.input_type,
                outputTypeName=service.output_type,
                nodeName=service.node,
            )
            for name, service in sorted(services.items())
        ]
        return messages.SrvListServicesAnswer(services=listed)

    # ------------------------------------------------------------ subscribers
    def _notify(self, topics: list[str], only: str = "") -> None:
        """Tell the subscribers of topics, or one endpoint only, who publishes them."""
        for name in topics:
            topic = self._directory.topics.get(name)
            endpoints = [] if topic is None else [only] if only else list(topic.subscribers)
            message = pack(self._topic_info(name)) if endpoints else b""
            for endpoint in endpoints:
                notifier = self._notifiers.get(endpoint)
                if notifier is None:
                    notifier = self._new_notifier(endpoint)
                notifier.pending[name] = message
                notifier.send_next()

    def _new_notifier(self, endpoint: str) -> _Notifier:
        def confirmed() -> None:
            notifier = self._notifiers[endpoint]
            try:
                notifier.socket.recv(zmq.NOBLOCK)
            except zmq.Again:
                return
            notifier.waiting_since = None
            notifier.send_next()

        made = self._notifiers[endpoint] = _Notifier(self._thread, endpoint, confirmed)
        return made

    def _follow_connections(self) -> None:
        """Note new connections, and forget the nodes of those that have ended."""
        while True:
            try:
                event = recv_monitor_message(self._monitor, zmq.NOBLOCK)
            except zmq.Again:
                return
            connection = event["value"]
            if event["event"] == zmq.EVENT_ACCEPTED:
                self._connections.add(connection)
            elif event["event"] == zmq.EVENT_DISCONNECTED:
                self._connections.discard(connection)
                changed, gone = self._directory.disconnected(connection)
                self._close_notifiers(gone)
                self._notify(changed)

    def _drop_silent(self) -> None:
        """Forget subscribers that confirm nothing."""
        late = time.monotonic() - CONFIRMATION_TIME
        silent = {
            endpoint
            for endpoint, notifier in self._notifiers.items()
            if notifier.waiting_since is not None and notifier.waiting_since < late
        }
        self._directory.forget_subscriber(silent)
        self._close_notifiers(silent)

    def _close_notifiers(self, endpoints: set[str]) -> None:
        for endpoint in endpoints:
            notifier = self._notifiers.pop(endpoint, None)
            if notifier is not None:
                self._thread.close_socket(notifier.socket)
