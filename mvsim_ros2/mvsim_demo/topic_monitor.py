# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Topic monitor: counts the messages that a node publishes, as received by another process."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan

#: Topics of every node, which are not monitored.
NODE_TOPICS = ("/rosout", "/parameter_events")


def message_class(type_name: str) -> Any:
    """Return the class of `package/msg/Name`."""
    package, _, name = type_name.split("/")
    return getattr(import_module(f"{package}.msg"), name)


@dataclass
class TopicCount:
    """Number and times of the messages of one topic."""

    type_name: str
    messages: int = 0
    first_wall: float = 0.0  # arrival of the first message, time.monotonic() [s]
    first_sim: float = 0.0  # the same in simulated time [s]


@dataclass
class TopicMonitor:
    """Subscribes to all topics that a node publishes.

    Attributes:
        node: The subscribing node.
        publisher: Name of the publishing node.
        counts: Message counts by topic.
        scans: The newest scan of each topic.
        sim_time: Newest /clock [s].
        distances: Driven distance [m] by odometry topic.
    """

    node: Node
    publisher: str = "mvsim"
    counts: dict[str, TopicCount] = field(default_factory=dict)
    scans: dict[str, Any] = field(default_factory=dict)
    sim_time: float = 0.0
    distances: dict[str, float] = field(default_factory=dict)
    _positions: dict[str, tuple[float, float]] = field(default_factory=dict)
    _start: tuple[float, float] = (0.0, 0.0)  # simulated and wall time of the first /clock

    def __post_init__(self) -> None:
        """Subscribe to /clock."""
        self._subscribe("/clock", "rosgraph_msgs/msg/Clock")

    def discover(self) -> None:
        """Subscribe to topics that have appeared since the last call."""
        try:
            found = self.node.get_publisher_names_and_types_by_node(self.publisher, "/")
        except RuntimeError:  # the node has not been discovered yet
            return
        for topic, types in found:
            hidden = "/_" in topic  # those of actions, whose types are no plain messages
            if topic not in self.counts and topic not in NODE_TOPICS and not hidden:
                self._subscribe(topic, types[0])

    def _subscribe(self, topic: str, type_name: str) -> None:
        kind = message_class(type_name)
        count = self.counts[topic] = TopicCount(type_name)
        decoded = kind in (Clock, LaserScan) or self._is_odometry(topic)

        def receive(message: Any) -> None:
            if decoded:
                self._process(topic, message)
            if not count.messages:
                count.first_wall, count.first_sim = time.monotonic(), self.sim_time
            count.messages += 1

        latched = any(
            info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            for info in self.node.get_publishers_info_by_topic(topic)
        )
        qos = QoSProfile(
            depth=100,
            reliability=ReliabilityPolicy.RELIABLE,
            durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
        )
        self.node.create_subscription(kind, topic, receive, qos, raw=not decoded)

    def _process(self, topic: str, message: Any) -> None:
        if isinstance(message, LaserScan):
            self.scans[topic] = message
            return
        if isinstance(message, Odometry):
            position = message.pose.pose.position.x, message.pose.pose.position.y
            previous = self._positions.get(topic, position)
            self.distances[topic] = self.distances.get(topic, 0.0) + math.dist(position, previous)
            self._positions[topic] = position
            return
        self.sim_time = message.clock.sec + message.clock.nanosec * 1e-9
        if not self._start[1]:
            self._start = (self.sim_time, time.monotonic())

    @property
    def elapsed(self) -> tuple[float, float]:
        """Simulated and wall time [s] since the first /clock."""
        if not self._start[1]:
            return 0.0, 0.0
        return self.sim_time - self._start[0], time.monotonic() - self._start[1]

    @property
    def real_time_factor(self) -> float:
        """Real-time factor since the first /clock."""
        sim, wall = self.elapsed
        return sim / wall if wall > 0.0 else 0.0

    def rate(self, topic: str) -> float:
        """Return the rate of a topic [Hz of simulated time], 0 after fewer than two messages."""
        count = self.counts[topic]
        seconds = self.sim_time - count.first_sim
        return (count.messages - 1) / seconds if count.messages > 1 and seconds > 0.0 else 0.0

    @staticmethod
    def _is_odometry(topic: str) -> bool:
        return topic.endswith("/odom") and not topic.endswith("ground_truth/odom")

    def namespaces(self) -> list[str]:
        """Return the namespaces of the vehicles, as `/r1/` or `/`."""
        return [t.removesuffix("odom") for t in self.counts if self._is_odometry(t)]

    def scan_in(self, namespace: str) -> Any:
        """Return the newest scan of a vehicle, or None."""
        return next((m for t, m in self.scans.items() if t.startswith(namespace)), None)
