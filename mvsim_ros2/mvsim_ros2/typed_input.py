# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A subscription that notices when publishers of its topic send another type.

A ROS 2 topic whose publisher and subscriber disagree about the type is silent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from mvsim_ros2.topics import Topic


class TypedInput:
    """The messages of one topic, in any of some types.

    Args:
        topic: Resolved name.
        hosts: Nodes for the types that may be subscribed to; in Fast DDS a participant can have
            one type a topic only.
        deliver: Called with each message, in a callback thread.
        hint: What to do when a publisher sends another type.
    """

    def __init__(
        self, topic: str, hosts: Mapping[Topic, Node], deliver: Callable[[Any], None], hint: str
    ) -> None:
        """Subscribe to all types."""
        self.topic = topic
        self._hosts = hosts
        self._deliver = deliver
        self._hint = hint
        self._subscriptions: dict[str, tuple[Node, Any]] = {}
        self._offered: frozenset[str] = frozenset()
        self._subscribe()

    def watch(self, node: Node) -> None:
        """Look at what publishers offer; subscribe accordingly and report disagreements."""
        infos = node.get_publishers_info_by_topic(self.topic)
        complaint = self.adapt(frozenset(info.topic_type for info in infos))
        if complaint:
            node.get_logger().error(complaint)

    def adapt(self, offered: frozenset[str]) -> str:
        """Subscribe to what is offered, or to all if nothing is; return a complaint or ""."""
        if offered == self._offered:
            return ""
        self._offered = offered
        self._subscribe()
        usable = frozenset(t.type_name for t in self._hosts)
        unheard = offered - usable
        if unheard:
            return (
                f"{self.topic}: a publisher sends {_listing(unheard)}, but this node listens to"
                f" {_listing(usable)}: those commands are lost; {self._hint}"
            )
        if len(offered) > 1:
            return (
                f"{self.topic}: publishers disagree, they send {_listing(offered)};"
                " both are followed, the last command wins"
            )
        return ""

    def _subscribe(self) -> None:
        usable = {t.type_name for t in self._hosts}
        for topic, node in self._hosts.items():
            name = topic.type_name
            wanted = name in self._offered or not self._offered & usable
            if wanted and name not in self._subscriptions:
                subscription = node.create_subscription(
                    topic.type,
                    self.topic,
                    self._deliver,
                    topic.qos,
                    callback_group=MutuallyExclusiveCallbackGroup(),  # that of the node would grow
                )
                self._subscriptions[name] = (node, subscription)
            elif not wanted and name in self._subscriptions:
                self._unsubscribe(name)

    def _unsubscribe(self, name: str) -> None:
        node, subscription = self._subscriptions.pop(name)
        node.destroy_subscription(subscription)

    def close(self) -> None:
        """Unsubscribe."""
        for name in list(self._subscriptions):
            self._unsubscribe(name)


def _listing(types: frozenset[str]) -> str:
    return " and ".join(sorted(types))
