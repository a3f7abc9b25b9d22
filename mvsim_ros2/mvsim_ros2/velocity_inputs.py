# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`cmd_vel` as Twist, TwistStamped, or both.

A ROS 2 topic whose publisher and subscriber disagree about the type is silent. In automatic mode
both types are therefore subscribed to until somebody publishes, then only what is published: with
two types on one topic, tools such as `ros2 topic echo` and rosbag2 refuse it. In Fast DDS a
participant can have one type a topic only, so plain Twist has a second, hidden participant; it
costs 6 ms at the start, 3 MB, and nothing while it is idle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.context import Context
from rclpy.node import Node

from mvsim_ros2.conversions.commands import TwistCommand, twist_command
from mvsim_ros2.parameters import StampedChoice
from mvsim_ros2.spinning import Spinner
from mvsim_ros2.topics import CMD_VEL, CMD_VEL_STAMPED, Topic

Deliver = Callable[[str, TwistCommand], None]
BOTH = frozenset({CMD_VEL.type_name, CMD_VEL_STAMPED.type_name})
CHOSEN: dict[StampedChoice, frozenset[str]] = {
    "auto": BOTH,
    "true": frozenset({CMD_VEL_STAMPED.type_name}),
    "false": frozenset({CMD_VEL.type_name}),
}


class VelocityInputs:
    """The velocity commands of all vehicles.

    Args:
        node: Main node.
        choice: The parameter enable_stamped_cmd_vel.
        deliver: Called with the vehicle's name and each command, in a callback thread.
    """

    def __init__(self, node: Node, choice: StampedChoice, deliver: Deliver) -> None:
        """Subscribe to nothing yet."""
        self._node = node
        self._allowed = CHOSEN[choice]
        self._deliver = deliver
        self._inputs: dict[str, VelocityInput] = {}
        self._second = SecondParticipant(node) if choice == "auto" else None

    def add(self, vehicle: str, topic: str) -> None:
        """Subscribe for a vehicle."""
        plain = self._second.node if self._second else self._node
        hosts = {CMD_VEL: plain, CMD_VEL_STAMPED: self._node}
        hosts = {t: host for t, host in hosts.items() if t.type_name in self._allowed}
        resolved = self._node.resolve_topic_name(topic)
        entry = VelocityInput(resolved, hosts, lambda cmd: self._deliver(vehicle, cmd))
        self._inputs[vehicle] = entry

    def remove(self, vehicle: str) -> None:
        """Unsubscribe for a vehicle."""
        self._inputs.pop(vehicle).close()

    def watch(self) -> None:
        """Look at what publishers offer; subscribe accordingly and report disagreements."""
        for entry in self._inputs.values():
            infos = self._node.get_publishers_info_by_topic(entry.topic)
            complaint = entry.adapt(frozenset(info.topic_type for info in infos))
            if complaint:
                self._node.get_logger().error(complaint)

    def close(self) -> None:
        """Unsubscribe and end the second participant."""
        for vehicle in list(self._inputs):
            self.remove(vehicle)
        if self._second:
            self._second.close()


class VelocityInput:
    """The velocity commands of one vehicle.

    Args:
        topic: Resolved name.
        hosts: Nodes for the types that may be subscribed to.
        deliver: Called with each command.
    """

    def __init__(
        self, topic: str, hosts: dict[Topic, Node], deliver: Callable[[TwistCommand], None]
    ) -> None:
        """Subscribe to all types."""
        self.topic = topic
        self._hosts = hosts
        self._deliver = deliver
        self._subscriptions: dict[str, tuple[Node, Any]] = {}
        self._offered: frozenset[str] = frozenset()
        self._subscribe()

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
                f" {_listing(usable)}: those commands are lost; see enable_stamped_cmd_vel"
            )
        if len(offered) > 1:
            return (
                f"{self.topic}: publishers disagree, they send {_listing(offered)};"
                " both are followed, the last command wins"
            )
        return ""

    def _subscribe(self) -> None:
        for topic, node in self._hosts.items():
            name = topic.type_name
            wanted = name in self._offered or not self._offered & {
                t.type_name for t in self._hosts
            }
            if wanted and name not in self._subscriptions:
                subscription = node.create_subscription(
                    topic.type,
                    self.topic,
                    self._receive,
                    topic.qos,
                    callback_group=MutuallyExclusiveCallbackGroup(),  # that of the node would grow
                )
                self._subscriptions[name] = (node, subscription)
            elif not wanted and name in self._subscriptions:
                self._unsubscribe(name)

    def _unsubscribe(self, name: str) -> None:
        node, subscription = self._subscriptions.pop(name)
        node.destroy_subscription(subscription)

    def _receive(self, message: Any) -> None:
        self._deliver(twist_command(message))

    def close(self) -> None:
        """Unsubscribe."""
        for name in list(self._subscriptions):
            self._unsubscribe(name)


class SecondParticipant:
    """A hidden node with a DDS participant and a thread of its own."""

    def __init__(self, beside: Node) -> None:
        """Make one for a node."""
        self._context = Context()
        self._context.init(
            args=[], initialize_logging=False, domain_id=beside.context.get_domain_id()
        )
        # Names are resolved by the main node; its remappings must not apply twice.
        self.node = Node(
            f"_{beside.get_name()}_cmd_vel",
            context=self._context,
            namespace=beside.get_namespace(),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._spinner = Spinner(self.node)

    def close(self) -> None:
        """End thread, node and participant."""
        self._spinner.close()
        self.node.destroy_node()
        self._context.try_shutdown()


def _listing(types: frozenset[str]) -> str:
    return " and ".join(sorted(types))
