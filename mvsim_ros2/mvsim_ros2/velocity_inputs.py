# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`cmd_vel` as Twist, TwistStamped, or both.

In automatic mode both types are subscribed to until somebody publishes, then only what is
published: with two types on one topic, tools such as `ros2 topic echo` and rosbag2 refuse it. In
Fast DDS a participant can have one type a topic only, so plain Twist has a second, hidden
participant; it costs 6 ms at the start, 3 MB, and nothing while it is idle.
"""

from __future__ import annotations

from collections.abc import Callable

from rclpy.context import Context
from rclpy.node import Node

from mvsim_ros2.conversions.commands import TwistCommand, twist_command
from mvsim_ros2.parameters import StampedChoice
from mvsim_ros2.spinning import Spinner
from mvsim_ros2.topics import CMD_VEL, CMD_VEL_STAMPED
from mvsim_ros2.typed_input import TypedInput

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
        self._inputs: dict[str, TypedInput] = {}
        self._second = SecondParticipant(node) if choice == "auto" else None

    def add(self, vehicle: str, topic: str) -> None:
        """Subscribe for a vehicle."""
        plain = self._second.node if self._second else self._node
        hosts = {CMD_VEL: plain, CMD_VEL_STAMPED: self._node}
        hosts = {t: host for t, host in hosts.items() if t.type_name in self._allowed}
        resolved = self._node.resolve_topic_name(topic)
        self._inputs[vehicle] = TypedInput(
            resolved,
            hosts,
            lambda message: self._deliver(vehicle, twist_command(message)),
            "see enable_stamped_cmd_vel",
        )

    def remove(self, vehicle: str) -> None:
        """Unsubscribe for a vehicle."""
        self._inputs.pop(vehicle).close()

    def watch(self) -> None:
        """Look at what publishers offer; subscribe accordingly and report disagreements."""
        for entry in self._inputs.values():
            entry.watch(self._node)

    def close(self) -> None:
        """Unsubscribe and end the second participant."""
        for vehicle in list(self._inputs):
            self.remove(vehicle)
        if self._second:
            self._second.close()


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
