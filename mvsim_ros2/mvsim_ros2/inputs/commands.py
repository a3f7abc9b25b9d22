# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Subscriptions of commands: velocities, Ackermann commands, torques, and of applied forces.

The path of a command: a callback in the executor thread converts and checks the message and posts
it to the mailbox, under the name of its vehicle; the stepping thread gives the newest one to the
vehicle before the next step.

`cmd_vel` is subscribed to as Twist, TwistStamped, or both (parameter enable_stamped_cmd_vel). In
automatic mode both types are subscribed to until a publisher appears, then only the published
type: with two types on one topic, tools such as `ros2 topic echo` and rosbag2 refuse it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node

from mvsim_core import CommandError, Vehicle, World
from mvsim_core.bags.topic_names import TopicNames
from mvsim_core.bags.topics import (
    ACKERMANN_CMD,
    ACKERMANN_CMD_UNSTAMPED,
    APPLY_FORCE,
    CMD_VEL,
    CMD_VEL_STAMPED,
    TORQUE_CMD,
    Topic,
)
from mvsim_core.world.commands import MOST_SPEED, MOST_TORQUE
from mvsim_ros2.conversions.commands import (
    ForceCommand,
    TwistCommand,
    ackermann_command,
    force_command,
    refused_fields,
    torque_command,
    twist_command,
)
from mvsim_ros2.inputs.second_participant import SecondParticipant
from mvsim_ros2.names.classes import message_class, qos_of
from mvsim_ros2.parameters.settings import Settings, StampedChoice
from mvsim_ros2.runtime.runner import Mailbox

#: Types of cmd_vel that are subscribed to, for each value of enable_stamped_cmd_vel.
CMD_VEL_TYPES: Mapping[StampedChoice, tuple[Topic, ...]] = {
    "auto": (CMD_VEL, CMD_VEL_STAMPED),
    "true": (CMD_VEL_STAMPED,),
    "false": (CMD_VEL,),
}
#: Topics of Ackermann commands, with the hint for publishers that send the other type: a DDS
#: participant of Fast DDS can have only one type for a topic.
ACKERMANN_TOPICS: Mapping[Topic, str] = {
    ACKERMANN_CMD: f"send them on {ACKERMANN_CMD_UNSTAMPED.name}",
    ACKERMANN_CMD_UNSTAMPED: f"send them on {ACKERMANN_CMD.name}",
}
#: Shortest wall time [s] between two warnings about commands that are not finite.
WARNING_PERIOD = 1.0


@dataclass(frozen=True, slots=True)
class CommandTopics:
    """The command topics of one vehicle.

    Attributes:
        names: Topic names of the vehicle.
        accepts: Kinds of command that it follows, see `Vehicle.accepts`.
    """

    names: TopicNames
    accepts: frozenset[str]


class CommandSubscriptions:
    """The command subscriptions of all vehicles; methods belong to the executor thread.

    Args:
        node: Main node.
        mailbox: Where commands are posted for the next step.
        settings: Parameters of the node.
    """

    def __init__(self, node: Node, mailbox: Mailbox, settings: Settings) -> None:
        """Create no subscriptions yet."""
        self._node = node
        self._mailbox = mailbox
        self._angle = settings.cmd_angle_instead_rotvel
        self._timeout = settings.command_timeout or math.inf
        self._types = CMD_VEL_TYPES[settings.enable_stamped_cmd_vel]
        self._second = SecondParticipant(node) if len(self._types) > 1 else None
        self._topics: dict[str, CommandTopics] = {}
        self._subscriptions: dict[str, list[TypedSubscription]] = {}
        #: Texts of the CommandErrors that were logged; a new vehicle of the same name logs again.
        self._reported: WeakKeyDictionary[Vehicle, set[str]] = WeakKeyDictionary()

    def update(self, vehicles: Mapping[str, CommandTopics]) -> None:
        """Subscribe for new vehicles and unsubscribe for removed ones."""
        for name, topics in list(self._topics.items()):
            if vehicles.get(name) != topics:
                self._remove(name)
        for name, topics in vehicles.items():
            if name not in self._topics:
                self._topics[name] = topics
                self._subscriptions[name] = [*self._subscribe(name, topics)]

    def check_publishers(self) -> None:
        """Adapt to the types that publishers offer, see `TypedSubscription.check_publishers`."""
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.check_publishers(self._node)

    def close(self) -> None:
        """Unsubscribe and end the second participant."""
        self.update({})
        if self._second:
            self._second.close()

    def _subscribe(self, vehicle: str, topics: CommandTopics) -> Iterable[TypedSubscription]:
        # Twist in the second participant, if there is one: one participant, one type a topic.
        plain = self._second.node if self._second else self._node
        nodes = {topic: plain if topic is CMD_VEL else self._node for topic in self._types}
        on_twist = partial(self._on_twist, vehicle)
        hint = "see enable_stamped_cmd_vel"
        yield self._typed(topics, CMD_VEL, nodes, on_twist, hint)
        if "ackermann" in topics.accepts:
            callback = partial(self._on_ackermann, vehicle)
            for topic, hint in ACKERMANN_TOPICS.items():
                yield self._typed(topics, topic, {topic: self._node}, callback, hint)
        if "torque" in topics.accepts:
            on_torques = partial(self._on_torques, vehicle)
            hint = "see docs/ros2_interface.md"
            yield self._typed(topics, TORQUE_CMD, {TORQUE_CMD: self._node}, on_torques, hint)
        on_force = partial(self._on_force, vehicle)
        hint = "see docs/ros2_interface.md"
        yield self._typed(topics, APPLY_FORCE, {APPLY_FORCE: self._node}, on_force, hint)

    def _typed(
        self,
        topics: CommandTopics,
        topic: Topic,
        nodes: Mapping[Topic, Node],
        callback: Callable[[Any], None],
        hint: str,
    ) -> TypedSubscription:
        name = self._node.resolve_topic_name(topics.names.topic(topic.name))
        return TypedSubscription(name, nodes, callback, hint)

    def _remove(self, vehicle: str) -> None:
        del self._topics[vehicle]
        for subscription in self._subscriptions.pop(vehicle):
            subscription.close()

    # ------------------------------------------------------------ executor thread
    def _on_twist(self, vehicle: str, message: Any) -> None:
        command = twist_command(message)
        follow = partial(follow_twist, command=command, angle=self._angle)
        self._post(vehicle, (command._asdict(), MOST_SPEED), follow)

    def _on_ackermann(self, vehicle: str, message: Any) -> None:
        command = ackermann_command(message)
        fields = command._asdict(), MOST_SPEED
        self._post(vehicle, fields, lambda handle: handle.set_ackermann(*command))

    def _on_torques(self, vehicle: str, message: Any) -> None:
        command = torque_command(message)
        fields = {f"data[{i}]": value for i, value in enumerate(command)}, MOST_TORQUE
        # A key of its own: a refused velocity must not replace torques.
        key = vehicle, TORQUE_CMD.name
        self._post(vehicle, fields, partial(follow_torques, command=command), key)

    def _on_force(self, vehicle: str, message: Any) -> None:
        command = force_command(message)
        # A force is no command: it ends none, and none ends it.
        key = vehicle, APPLY_FORCE.name
        push = partial(follow_force, command=command, seconds=self._timeout)
        self._post(vehicle, (command._asdict(), MOST_TORQUE), push, key)

    def _post(
        self,
        vehicle: str,
        fields: tuple[Mapping[str, float], float],
        follow: Callable[[Vehicle], None],
        key: Hashable = None,
    ) -> None:
        """Leave a command for the next step; of those with one key, the last one counts.

        Args:
            vehicle: Name of the vehicle.
            fields: Numbers of the command by name, and the largest that is accepted.
            follow: Gives the command to the vehicle.
            key: None: the vehicle's name.
        """
        bad = refused_fields(*fields)
        if bad:
            text = f"{vehicle}: command refused, not within ±{fields[1]:g}: {bad}"
            self._node.get_logger().warning(text, throttle_duration_sec=WARNING_PERIOD)
            return
        self._mailbox.post(key or vehicle, partial(self._apply, vehicle, follow))

    # ------------------------------------------------------------ stepping thread
    def _apply(self, name: str, follow: Callable[[Vehicle], None], world: World) -> None:
        vehicle = world.vehicles.get(name)
        if vehicle is None:  # removed since the command was posted
            return
        try:
            follow(vehicle)
        except CommandError as error:
            self._report_once(vehicle, str(error))

    def _report_once(self, vehicle: Vehicle, text: str) -> None:
        """Log why a vehicle cannot follow a command, once for each reason."""
        reported = self._reported.setdefault(vehicle, set())
        if text not in reported:
            reported.add(text)
            self._node.get_logger().warning(text)


def follow_twist(vehicle: Vehicle, command: TwistCommand, *, angle: bool) -> None:
    """Give a vehicle a velocity command.

    Args:
        vehicle: The vehicle.
        command: Velocity in the vehicle frame [m/s, m/s, rad/s].
        angle: Whether wz is, for vehicles that steer, not the yaw rate but the angle [rad] of a
            virtual front centre wheel.

    Raises:
        CommandError: Its controller accepts no velocities.
    """
    if angle and "ackermann" in vehicle.accepts:
        vehicle.sideways(command.vy)
        vehicle.set_ackermann(command.vx, command.wz)
    else:
        vehicle.set_twist(*command)


def follow_torques(vehicle: Vehicle, *, command: Sequence[float]) -> None:
    """Give a vehicle torques, and one that steers perhaps a steering angle.

    Args:
        vehicle: The vehicle.
        command: Torques as for `Vehicle.set_wheel_torques` [N m], positive drives forward; for
            vehicles that steer one number more is the angle of the virtual centre wheel [rad].

    Raises:
        CommandError: Its controller takes no torques, or not this number of them.
    """
    torques = 1 if vehicle.kind == "ackermann_drivetrain" else len(vehicle.wheels)
    if vehicle.steerable and len(command) == torques + 1:
        vehicle.set_wheel_torques(command[:-1], steering=command[-1])
    else:
        vehicle.set_wheel_torques(command)


def follow_force(vehicle: Vehicle, *, command: ForceCommand, seconds: float) -> None:
    """Push a vehicle at its centre of mass until the next message, or for some time [s].

    Raises:
        CommandError: Forces do not move it.
    """
    vehicle.apply_force(*command, seconds=seconds)


class TypedSubscription:
    """A subscription of one topic in one of several types, which reports type mismatches.

    ROS 2 reports nothing when publisher and subscriber of a topic disagree about its type.

    Args:
        topic: Resolved name.
        nodes: Node for each type that may be subscribed to.
        callback: Called with each message, in an executor thread.
        hint: What to do when a publisher sends another type.
    """

    def __init__(
        self, topic: str, nodes: Mapping[Topic, Node], callback: Callable[[Any], None], hint: str
    ) -> None:
        """Subscribe to all types."""
        self.topic = topic
        self._nodes = nodes
        self._callback = callback
        self._hint = hint
        self._subscriptions: dict[str, tuple[Node, Any]] = {}
        self._offered: frozenset[str] = frozenset()
        self._subscribe()

    def check_publishers(self, node: Node) -> None:
        """Subscribe to the types that publishers offer and log mismatches."""
        infos = node.get_publishers_info_by_topic(self.topic)
        error = self.adapt(frozenset(info.topic_type for info in infos))
        if error:
            node.get_logger().error(error)

    def adapt(self, offered: frozenset[str]) -> str:
        """Subscribe to the offered types, or to all if none is; return an error text or ""."""
        if offered == self._offered:
            return ""
        self._offered = offered
        self._subscribe()
        supported = frozenset(t.type_name for t in self._nodes)
        unsupported = offered - supported
        if unsupported:
            return (
                f"{self.topic}: a publisher sends {_listing(unsupported)}, but this node"
                f" subscribes to {_listing(supported)}: those commands are lost; {self._hint}"
            )
        if len(offered) > 1:
            return (
                f"{self.topic}: publishers disagree, they send {_listing(offered)};"
                " both are followed, the last command wins"
            )
        return ""

    def _subscribe(self) -> None:
        supported = {t.type_name for t in self._nodes}
        for topic, node in self._nodes.items():
            name = topic.type_name
            needed = name in self._offered or not self._offered & supported
            if needed and name not in self._subscriptions:
                subscription = node.create_subscription(
                    message_class(topic),
                    self.topic,
                    self._callback,
                    qos_of(topic),
                    # The node's default group keeps every entity that was ever in it.
                    callback_group=MutuallyExclusiveCallbackGroup(),
                )
                self._subscriptions[name] = (node, subscription)
            elif not needed and name in self._subscriptions:
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
