# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The commands that vehicles listen to, while vehicles come and go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rclpy.node import Node

from mvsim_ros2.conversions.commands import AckermannCommand, TwistCommand, ackermann_command
from mvsim_ros2.frames import Names
from mvsim_ros2.parameters import StampedChoice
from mvsim_ros2.topics import ACKERMANN_CMD, ACKERMANN_CMD_UNSTAMPED, CMD_VEL
from mvsim_ros2.typed_input import TypedInput
from mvsim_ros2.velocity_inputs import VelocityInputs

#: Ackermann commands have a topic for each type: one participant has one type a topic only.
STEERING = {
    ACKERMANN_CMD: f"send them on {ACKERMANN_CMD_UNSTAMPED.name}",
    ACKERMANN_CMD_UNSTAMPED: f"send them on {ACKERMANN_CMD.name}",
}


@dataclass(frozen=True, slots=True)
class Listener:
    """One vehicle that takes commands.

    Attributes:
        names: Its topics.
        steers: Whether it takes Ackermann commands too.
    """

    names: Names
    steers: bool


class CommandInputs:
    """The subscriptions of all vehicles; all methods belong to the thread of the callbacks.

    Args:
        node: Main node.
        choice: The parameter enable_stamped_cmd_vel.
        twist: Called with a vehicle's name and each velocity command.
        ackermann: Called with a vehicle's name and each Ackermann command.
    """

    def __init__(
        self,
        node: Node,
        choice: StampedChoice,
        twist: Callable[[str, TwistCommand], None],
        ackermann: Callable[[str, AckermannCommand], None],
    ) -> None:
        """Subscribe to nothing yet."""
        self._node = node
        self._ackermann = ackermann
        self._velocities = VelocityInputs(node, choice, twist)
        self._present: dict[str, Listener] = {}
        self._steering: dict[str, list[TypedInput]] = {}

    def follow(self, listeners: Mapping[str, Listener]) -> None:
        """Subscribe for vehicles that have come, unsubscribe for those that have gone."""
        for name, listener in list(self._present.items()):
            if listeners.get(name) != listener:
                self._remove(name)
        for name, listener in listeners.items():
            if name not in self._present:
                self._add(name, listener)

    def watch(self) -> None:
        """Look at what publishers offer, see `TypedInput.watch`."""
        self._velocities.watch()
        for inputs in self._steering.values():
            for entry in inputs:
                entry.watch(self._node)

    def close(self) -> None:
        """Unsubscribe."""
        self.follow({})
        self._velocities.close()

    def _add(self, name: str, listener: Listener) -> None:
        self._present[name] = listener
        self._velocities.add(name, listener.names.topic(CMD_VEL.name))
        if listener.steers:
            self._steering[name] = [
                TypedInput(
                    self._node.resolve_topic_name(listener.names.topic(topic.name)),
                    {topic: self._node},
                    lambda message: self._ackermann(name, ackermann_command(message)),
                    hint,
                )
                for topic, hint in STEERING.items()
            ]

    def _remove(self, name: str) -> None:
        del self._present[name]
        self._velocities.remove(name)
        for entry in self._steering.pop(name, ()):
            entry.close()
