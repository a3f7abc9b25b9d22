# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nodes, topics and services that a server knows: who publishes what, and where.

What clients can make it remember is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mvsim_core.comms.framing import LONGEST_NAME
from mvsim_core.errors import CommsError

MOST_NODES = 1000
MOST_TOPICS = 20_000
MOST_SERVICES = 5_000
MOST_PUBLISHERS = 100  # of one topic
MOST_SUBSCRIPTIONS = 100_000


@dataclass
class Topic:
    """One topic.

    Attributes:
        type_name: Type of its messages; "" until it has a publisher.
        publishers: Endpoint of each node that publishes it.
        subscribers: Endpoints at which subscribers want to hear of publishers, and for each the
            connection that asked for it.
    """

    type_name: str = ""
    publishers: dict[str, str] = field(default_factory=dict)
    subscribers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Service:
    """One service: types of request and answer, endpoint, and the node that offers it."""

    input_type: str
    output_type: str
    endpoint: str
    node: str


class Directory:
    """What a server knows. A node belongs to the connection over which it registered.

    Attributes:
        nodes: Connection of each node.
        topics: Topics by name.
        services: Services by name.
    """

    def __init__(self) -> None:
        """Start empty."""
        self.nodes: dict[str, int] = {}
        self.topics: dict[str, Topic] = {}
        self.services: dict[str, Service] = {}
        self._subscriptions = 0

    # ------------------------------------------------------------ nodes
    def register(self, node: str, connection: int) -> list[str]:
        """Add a node, or one that comes back; return the topics that changed.

        Raises:
            CommsError: There are too many, or the name is too long.
        """
        changed = self.unregister(node)
        _check_name("node", node)
        _check_room("nodes", len(self.nodes), MOST_NODES)
        self.nodes[node] = connection
        return changed

    def unregister(self, node: str) -> list[str]:
        """Remove a node with its topics and services; return the topics that changed."""
        if self.nodes.pop(node, None) is None:
            return []
        self.services = {n: s for n, s in self.services.items() if s.node != node}
        changed = []
        for name, topic in list(self.topics.items()):
            if topic.publishers.pop(node, None) is not None:
                changed.append(name)
                self._drop_if_empty(name)
        return changed

    def disconnected(self, connection: int) -> tuple[list[str], set[str]]:
        """Remove the nodes and subscriptions of a connection that has ended.

        Returns:
            The topics whose publishers changed, and the endpoints of the subscriptions.
        """
        changed: list[str] = []
        for node in [n for n, c in self.nodes.items() if c == connection]:
            changed += self.unregister(node)
        gone: set[str] = set()
        for topic in self.topics.values():
            gone.update(e for e, c in topic.subscribers.items() if c == connection)
        self.forget_subscriber(gone)
        return [name for name in changed if name in self.topics], gone

    # ------------------------------------------------------------ topics
    def advertise_topic(self, name: str, type_name: str, endpoint: str, node: str) -> None:
        """Add a publisher of a topic.

        Raises:
            CommsError: The topic has another type, or there are too many.
        """
        _check_name("topic", name)
        _check_name("type", type_name)
        topic = self._topic(name)
        if topic.publishers and topic.type_name != type_name:
            raise CommsError(
                f"topic {name!r} has type {topic.type_name}, it cannot be published as {type_name}"
            )
        if node not in topic.publishers:
            _check_room(f"publishers of {name}", len(topic.publishers), MOST_PUBLISHERS)
        topic.type_name = type_name
        topic.publishers[node] = endpoint

    def subscribe(self, name: str, endpoint: str, connection: int) -> None:
        """Add a subscriber of a topic, which need not exist yet.

        Raises:
            CommsError: There are too many.
        """
        _check_name("topic", name)
        _check_room("subscriptions", self._subscriptions, MOST_SUBSCRIPTIONS)
        topic = self._topic(name)
        self._subscriptions += endpoint not in topic.subscribers
        topic.subscribers[endpoint] = connection

    def forget_subscriber(self, endpoints: set[str]) -> None:
        """Remove all subscriptions of some endpoints."""
        for name, topic in list(self.topics.items()) if endpoints else ():
            for endpoint in endpoints & topic.subscribers.keys():
                del topic.subscribers[endpoint]
                self._subscriptions -= 1
            self._drop_if_empty(name)

    def topics_from(self, prefix: str) -> Iterator[tuple[str, Topic]]:
        """Yield the topics whose names start with a text, sorted."""
        for name in sorted(self.topics):
            if name.startswith(prefix):
                yield name, self.topics[name]

    def _topic(self, name: str) -> Topic:
        if name not in self.topics:
            _check_room("topics", len(self.topics), MOST_TOPICS)
            self.topics[name] = Topic()
        return self.topics[name]

    def _drop_if_empty(self, name: str) -> None:
        topic = self.topics[name]
        if not topic.publishers and not topic.subscribers:
            del self.topics[name]

    # ------------------------------------------------------------ services
    def advertise_service(self, name: str, service: Service) -> None:
        """Add a service; one that another node offered is replaced if its types are the same.

        Raises:
            CommsError: It is known with other types, or there are too many.
        """
        for what, text in (
            ("service", name),
            ("type", service.input_type),
            ("type", service.output_type),
        ):
            _check_name(what, text)
        known = self.services.get(name)
        if known is None:
            _check_room("services", len(self.services), MOST_SERVICES)
        else:
            have = known.input_type, known.output_type
            if have != (service.input_type, service.output_type):
                raise CommsError(f"service {name!r} has the types {' -> '.join(have)}")
        self.services[name] = service


def _check_name(what: str, name: str) -> None:
    size = len(name.encode())
    if not 0 < size <= LONGEST_NAME:
        raise CommsError(f"the name of a {what} has 1 to {LONGEST_NAME} bytes, got {size}")


def _check_room(what: str, count: int, most: int) -> None:
    if count >= most:
        raise CommsError(f"too many {what}: at most {most}")
