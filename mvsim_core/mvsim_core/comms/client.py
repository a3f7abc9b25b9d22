# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A client of the message bus: lists, publishes, subscribes, calls and offers services."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from mvsim_core.comms import messages
from mvsim_core.comms.endpoints import DEFAULT_PORT, LOOPBACK, resolved
from mvsim_core.comms.framing import parse
from mvsim_core.comms.offering import Handler, ServiceSocket, Submit
from mvsim_core.comms.publishing import QUEUE, Publication
from mvsim_core.comms.requests import Requester
from mvsim_core.comms.socket_thread import SocketThread
from mvsim_core.comms.subscribing import Subscriber, Subscription
from mvsim_core.errors import CommsError

#: Services of a world: names of the types of request and answer.
SERVICES: dict[str, tuple[str, str]] = {
    "get_pose": ("SrvGetPose", "SrvGetPoseAnswer"),
    "set_pose": ("SrvSetPose", "SrvSetPoseAnswer"),
    "set_controller_twist": ("SrvSetControllerTwist", "SrvSetControllerTwistAnswer"),
    "set_wheel_torques": ("SrvSetWheelTorques", "SrvSetWheelTorquesAnswer"),
    "shutdown": ("SrvShutdown", "SrvShutdownAnswer"),
}


#: How often new readers of topics are admitted [s].
ADMISSION_PERIOD = 0.05


@dataclass(frozen=True)
class TopicInfo:
    """A topic: its type, and name and endpoint of each node that publishes it."""

    name: str
    type: str
    publishers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ServiceInfo:
    """A service: types of request and answer, and the node that offers it."""

    name: str
    input_type: str
    output_type: str
    node: str


class Client:
    """A node of the message bus; use it in a `with` statement, or call `connect` and `close`.

    Args:
        name: Name of the node; a node of the same name is replaced.
        address: Host of the server.
        port: TCP port of the server.
        bind: Address that sockets of this node are bound to: 127.0.0.1, or an address of this
            machine that other machines reach.
        timeout: How long to wait for an answer [s].
    """

    def __init__(
        self,
        name: str = "anonymous",
        *,
        address: str = "localhost",
        port: int = DEFAULT_PORT,
        bind: str = LOOPBACK,
        timeout: float = 5.0,
    ) -> None:
        """Prepare; `connect` connects."""
        self.name = name
        self.timeout = timeout
        self._address, self._port, self._bind = address, port, bind
        self._thread: SocketThread | None = None
        self._lock = threading.RLock()
        self._requesters: dict[str, Requester] = {}
        self._endpoints: dict[str, str] = {}  # of services
        self._publications: dict[str, Publication] = {}
        self._subscriber: Subscriber | None = None
        self._services: ServiceSocket | None = None

    def send_published(self) -> None:
        """Send what was given to publications without waking the thread of the sockets."""
        thread = self._thread
        if thread is not None:
            thread.wake_for_work()

    # ------------------------------------------------------------ connection
    def connect(self, wait: float | None = None) -> Client:
        """Register at the server; return self.

        Args:
            wait: How long to wait for a server to come up [s]; None: `timeout`.

        Raises:
            CommsError: There is no server, or it refuses.
        """
        if self._thread is not None:
            raise CommsError(f"node {self.name!r} is connected already")
        thread = self._thread = SocketThread(f"mvsim-{self.name}")
        thread.every(ADMISSION_PERIOD, self._admit_readers)
        thread.start()
        server = f"tcp://{self._address}:{self._port}"
        try:
            self._server = Requester(thread.context, server)
            self._register(self.timeout if wait is None else wait)
        except Exception as error:
            self._thread = None
            thread.close()
            if isinstance(error, CommsError):
                raise
            raise CommsError(f"cannot connect to {server}: {error}") from None
        return self

    def _register(self, wait: float) -> None:
        request = messages.RegisterNodeRequest(nodeName=self.name)
        try:
            answer = self._ask(request, messages.RegisterNodeAnswer, wait)
        except CommsError as error:
            raise CommsError(
                f"{error}: no server of a message bus; `mvsim run WORLD --server` starts one"
            ) from None
        _require_success(answer)

    def close(self) -> None:
        """Leave the server and close all sockets; closing twice does nothing."""
        thread, self._thread = self._thread, None
        if thread is None:
            return
        with self._lock:
            publications = list(self._publications.values())
        with suppress(futures.TimeoutError):  # the thread has ended
            for publication in publications:  # before readers hear that this node leaves
                thread.call(publication.close)
        try:
            request = messages.UnregisterNodeRequest(nodeName=self.name)
            self._server.request(request, min(self.timeout, 1.0))
        except CommsError:
            pass  # the server is gone
        if self._subscriber is not None:
            self._subscriber.close()
        with self._lock:
            for requester in (self._server, *self._requesters.values()):
                requester.close()
        thread.close()

    def __enter__(self) -> Client:
        """Connect, if it is not connected yet."""
        return self if self.connected else self.connect()

    def __exit__(self, *error: object) -> None:
        """Close."""
        self.close()

    @property
    def connected(self) -> bool:
        """Whether `connect` has succeeded, and `close` was not called."""
        return self._thread is not None

    # ------------------------------------------------------------ lists
    def nodes(self, prefix: str = "") -> list[str]:
        """Return the names of the nodes that start with a text.

        Raises:
            CommsError: The server does not answer.
        """
        request = messages.ListNodesRequest(**_filter("nodeStartsWith", prefix))
        answer = self._ask(request, messages.ListNodesAnswer)
        return [name for name in answer.nodes if name.startswith(prefix)]

    def topics(self, prefix: str = "") -> list[TopicInfo]:
        """Return the topics whose names start with a text.

        Raises:
            CommsError: The server does not answer.
        """
        request = messages.ListTopicsRequest(**_filter("topicStartsWith", prefix))
        answer = self._ask(request, messages.ListTopicsAnswer)
        return [
            TopicInfo(
                info.topicName,
                info.topicType,
                dict(zip(info.publisherName, info.publisherEndpoint, strict=False)),
            )
            for info in answer.topics
            if info.topicName and info.topicName.startswith(prefix)
        ]

    def services(self) -> list[ServiceInfo]:
        """Return the services.

        A server of MVSim itself cannot list services: of those, it is asked for `SERVICES`.

        Raises:
            CommsError: The server does not answer.
        """
        from mvsim_core.comms.server import LIST_SERVICES

        if self._find_service(LIST_SERVICES):
            answer = self.call(LIST_SERVICES, messages.SrvListServices())
            return [
                ServiceInfo(s.serviceName, s.inputTypeName, s.outputTypeName, s.nodeName)
                for s in answer.services
            ]
        package = messages.PACKAGE
        return [
            ServiceInfo(name, f"{package}.{types[0]}", f"{package}.{types[1]}", node)
            for name, types in SERVICES.items()
            if (node := self._find_service(name))
        ]

    # ------------------------------------------------------------ topics
    def advertise(self, topic: str, message_type: Any, queue: int = QUEUE) -> Publication:
        """Announce a topic that this node publishes.

        Args:
            topic: Its name.
            message_type: Class of its messages, such as `messages.Pose`.
            queue: Messages that may wait for a reader; more are lost to it.

        Raises:
            CommsError: It is advertised already, or the server refuses.
        """
        with self._lock:
            if topic in self._publications:
                raise CommsError(f"topic {topic!r} is advertised by this node already")
            thread = self._require_thread()
            made = Publication(thread, topic, message_type, self._bind, queue)
            request = messages.AdvertiseTopicRequest(
                topicName=topic,
                topicTypeName=message_type.DESCRIPTOR.full_name,
                endpoint=made.endpoint,
                nodeName=self.name,
            )
            try:
                _require_success(self._ask(request, messages.GenericAnswer))
            except CommsError:
                thread.post(made.close)
                raise
            self._publications[topic] = made
            return made

    def publish(self, topic: str, message: Any) -> None:
        """Publish a message on a topic that was advertised; it does not wait for readers.

        Raises:
            CommsError: The topic was not advertised, or with another type, or a field is missing.
        """
        publication = self._publications.get(topic)
        if publication is None:
            raise CommsError(f"topic {topic!r} was not advertised by this node")
        publication.check(message)
        publication.publish(message)

    def subscribe(
        self, topic: str, callback: Callable[[Any], None], *, queue: int = 10, raw: bool = False
    ) -> Subscription:
        """Call back with each message of a topic, which need not exist yet.

        All callbacks of a client run in one thread, which may call any method of the client. If
        they are slow, the oldest messages that wait are dropped.

        Args:
            topic: Its name.
            callback: Called with the message.
            queue: Number of messages that may wait.
            raw: Call back with (type name, bytes) instead, also for types that are not known.

        Raises:
            CommsError: The server does not answer or refuses.
        """
        with self._lock:
            thread = self._require_thread()
            if self._subscriber is None:
                self._subscriber = Subscriber(thread, self._address, self._bind)
            subscriber = self._subscriber
            subscription = subscriber.add(topic, callback, queue, raw)
        request = messages.SubscribeRequest(topic=topic, updatesEndpoint=subscriber.endpoint)
        answer = self._ask(request, messages.SubscribeAnswer)
        if not answer.success:
            raise CommsError(f"the server refuses a subscription of {topic!r}")
        return subscription

    # ------------------------------------------------------------ services
    def offer(
        self,
        service: str,
        request_type: Any,
        answer_type: Any,
        handler: Handler,
        submit: Submit | None = None,
    ) -> None:
        """Offer a service.

        Args:
            service: Its name.
            request_type: Class of its requests.
            answer_type: Class of its answers.
            handler: Returns the answer to a request; its MvsimError is sent as the answer.
            submit: Runs work in another thread; None: the handler runs in the thread of the
                sockets and must not take long.

        Raises:
            CommsError: The server refuses.
        """
        with self._lock:
            thread = self._require_thread()
            if self._services is None:
                self._services = ServiceSocket(thread, self._bind)
            self._services.add(service, request_type, handler, submit)
            request = messages.AdvertiseServiceRequest(
                serviceName=service,
                inputTypeName=request_type.DESCRIPTOR.full_name,
                outputTypeName=answer_type.DESCRIPTOR.full_name,
                endpoint=self._services.endpoint,
                nodeName=self.name,
            )
        _require_success(self._ask(request, messages.GenericAnswer))

    def call(
        self, service: str, request: Any = None, *, timeout: float | None = None, **fields: Any
    ) -> Any:
        """Call a service and return the answer.

        Args:
            service: Its name.
            request: The request; None: it is made of `fields`.
            timeout: How long to wait for the answer [s]; None: that of the client.
            fields: Fields of the request.

        Raises:
            CommsError: There is no such service, or it does not answer, or refuses.
        """
        if request is None:
            request = self.request_of(service, **fields)
        endpoint = self._endpoints.get(service)
        if endpoint is None:
            if not self._find_service(service):
                raise CommsError(f"there is no service {service!r}")
            endpoint = self._endpoints[service]
        called = messages.CallService(
            serviceName=service, serializedInput=request.SerializeToString()
        )
        try:
            requester = self._requester(endpoint)
            type_name, data = requester.request(called, timeout or self.timeout)
        except CommsError as error:
            self._endpoints.pop(service, None)  # it may be elsewhere by now
            raise CommsError(f"service {service!r}: {error}") from None
        answer = parse(type_name, data)
        if isinstance(answer, messages.GenericAnswer):
            _require_success(answer)
        return answer

    def request_of(self, service: str, **fields: Any) -> Any:
        """Return a request of a service with some fields.

        Raises:
            CommsError: The service or its type is not known, or a field does not fit.
        """
        types = SERVICES.get(service)
        if types is None:
            found = {info.name: info.input_type for info in self.services()}
            if service not in found:
                raise CommsError(f"there is no service {service!r}")
            types = (found[service], "")
        return new_message(types[0], fields)

    # ------------------------------------------------------------ internal
    def _admit_readers(self) -> None:
        for publication in list(self._publications.values()):
            publication.admit()

    def _require_thread(self) -> SocketThread:
        if self._thread is None:
            raise CommsError(f"node {self.name!r} is not connected")
        return self._thread

    def _ask(self, request: Any, expected: Any, timeout: float | None = None) -> Any:
        """Return the answer of the server."""
        self._require_thread()
        type_name, data = self._server.request(request, timeout or self.timeout)
        if type_name == messages.GenericAnswer.DESCRIPTOR.full_name:
            _require_success(parse(type_name, data))
        return parse(type_name, data, expected)

    def _find_service(self, service: str) -> str:
        """Learn where a service is; return the node that offers it, "" if there is none."""
        request = messages.GetServiceInfoRequest(serviceName=service)
        info = self._ask(request, messages.GetServiceInfoAnswer)
        if not info.success:
            return ""
        self._endpoints[service] = resolved(info.serviceEndpoint, self._address)
        return info.serviceNodeName or "?"

    def _requester(self, endpoint: str) -> Requester:
        with self._lock:
            found = self._requesters.get(endpoint)
            if found is None:
                found = Requester(self._require_thread().context, endpoint)
                self._requesters[endpoint] = found
            return found


def new_message(type_name: str, fields: dict[str, Any]) -> Any:
    """Return a message of a type from plain values.

    Raises:
        CommsError: The type is not known, or a field does not fit it.
    """
    cls = messages.find(type_name)
    if cls is None:
        raise CommsError(f"unknown type {type_name!r}; known: {', '.join(messages.names())}")
    try:
        return cls(**fields)
    except (TypeError, ValueError) as error:
        raise CommsError(f"{cls.DESCRIPTOR.name}: {error}") from None


def _filter(name: str, prefix: str) -> dict[str, str]:
    return {name: prefix} if prefix else {}


def _require_success(answer: Any) -> None:
    if not answer.success:
        raise CommsError(answer.errorMessage or "the request was refused")
