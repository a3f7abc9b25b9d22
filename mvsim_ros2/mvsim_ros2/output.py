# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A publisher under one or more names, made only with what a node offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from rclpy.publisher import Publisher

from mvsim_ros2.qos_overrides import QosOverrides
from mvsim_ros2.topics import Topic


class Output:
    """Publishes messages of one kind on one topic and its aliases."""

    def __init__(self, node: Node, topic: Topic, name: str, aliases: Sequence[str] = ()) -> None:
        """Create the publishers.

        Args:
            node: Where; parameters `qos_overrides.<name>.publisher.…` are declared there.
            topic: Type and quality of service.
            name: Of the topic.
            aliases: Further names.
        """
        self._node = node
        self._latched = topic.latched
        self._known = 0
        self._overrides: list[QosOverrides] = []
        self._publishers = [
            self._publisher(topic, each) for each in dict.fromkeys((name, *aliases))
        ]

    def _publisher(self, topic: Topic, name: str) -> Publisher[Any]:
        overrides = QosOverrides(self._node, self._node.resolve_topic_name(name))
        self._overrides.append(overrides)
        return self._node.create_publisher(
            topic.type,
            name,
            overrides.applied(topic.qos),
            # Groups remember all that ever was in them: that of the node would grow for ever.
            callback_group=MutuallyExclusiveCallbackGroup(),
        )

    @property
    def wanted(self) -> bool:
        """Whether a message would go anywhere; if not, it need not be made."""
        return self._latched or any(p.get_subscription_count() > 0 for p in self._publishers)

    @property
    def listeners(self) -> int:
        """How many listen now."""
        return sum(p.get_subscription_count() for p in self._publishers)

    @property
    def read(self) -> bool:
        """Whether somebody listened at the last call of `newcomers`."""
        return self._known > 0

    def newcomers(self) -> bool:
        """Return whether more listen than at the last call."""
        before, self._known = self._known, self.listeners
        return self._known > before

    def publish(self, message: Any) -> None:
        """Send a message: a latched one to all names, another one where somebody listens."""
        for publisher in self._publishers:
            if self._latched or publisher.get_subscription_count() > 0:
                publisher.publish(message)

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in self._publishers:
            self._node.destroy_publisher(publisher)
        for overrides in self._overrides:
            overrides.close()
