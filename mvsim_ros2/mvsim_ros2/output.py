# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A publisher under one or more names, made only with what a node offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.node import Node
from rclpy.qos_overriding_options import QoSOverridingOptions

from mvsim_ros2.topics import Topic


class Output:
    """Publishes messages of one kind on one topic and, for whoever listens there, on aliases."""

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
        self._main, *self._others = [
            node.create_publisher(
                topic.type,
                each,
                topic.qos,
                qos_overriding_options=QoSOverridingOptions.with_default_policies(),
            )
            for each in dict.fromkeys((name, *aliases))
        ]

    @property
    def wanted(self) -> bool:
        """Whether anybody listens under any of the names."""
        publishers = (self._main, *self._others)
        return any(p.get_subscription_count() > 0 for p in publishers)

    def publish(self, message: Any) -> None:
        """Send a message; a latched one also to aliases that nobody listens to yet."""
        self._main.publish(message)
        for other in self._others:
            if self._latched or other.get_subscription_count() > 0:
                other.publish(message)

    def close(self) -> None:
        """Destroy the publishers."""
        for publisher in (self._main, *self._others):
            self._node.destroy_publisher(publisher)
