# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Publisher of one topic and its aliases, with QoS overrides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher

from mvsim_core.bags.topics import Topic
from mvsim_ros2.names.classes import message_class, qos_of
from mvsim_ros2.parameters.qos_overrides import QosOverrides


class TopicPublisher:
    """Publishes messages of one kind on one topic and its aliases."""

    def __init__(self, node: Node, topic: Topic, name: str, aliases: Sequence[str] = ()) -> None:
        """Create the publishers.

        Args:
            node: Main node; parameters `qos_overrides.<name>.publisher.…` are declared on it.
            topic: Type and QoS.
            name: Name of the topic.
            aliases: Additional names.
        """
        self._node = node
        self._latched = topic.latched
        self._last_count = 0
        self._overrides: list[QosOverrides] = []
        self._publishers = [self._create(topic, each) for each in dict.fromkeys((name, *aliases))]

    def _create(self, topic: Topic, name: str) -> Publisher[Any]:
        overrides = QosOverrides(self._node, self._node.resolve_topic_name(name))
        self._overrides.append(overrides)
        return self._node.create_publisher(
            message_class(topic),
            name,
            overrides.apply(qos_of(topic)),
            # The node's default group keeps every entity that was ever in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    @property
    def needed(self) -> bool:
        """Whether a message would be sent or stored; if not, it need not be made."""
        return self._latched or any(p.get_subscription_count() > 0 for p in self._publishers)

    @property
    def subscription_count(self) -> int:
        """Number of subscriptions of all names."""
        return sum(p.get_subscription_count() for p in self._publishers)

    @property
    def had_subscribers(self) -> bool:
        """Whether there were subscribers at the last call of `check_new_subscribers`."""
        return self._last_count > 0

    def check_new_subscribers(self) -> bool:
        """Return whether there are more subscribers than at the last call."""
        before, self._last_count = self._last_count, self.subscription_count
        return self._last_count > before

    def publish(self, message: Any) -> None:
        """Publish a message: a latched one on all names, another one where it has subscribers."""
        for publisher in self._publishers:
            if self._latched or publisher.get_subscription_count() > 0:
                publisher.publish(message)

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        for overrides in self._overrides:
            overrides.close()
