# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The messages that the node publishes, caught before they reach a graph."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from rclpy.serialization import serialize_message

from mvsim_core import World
from mvsim_core.bags.definitions import typestore
from mvsim_core.bags.topics import Topic
from mvsim_ros2.outputs import localizer, sensors, vehicle, wheels
from mvsim_ros2.outputs import world as world_outputs
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.simulation.stamp_clock import StampClock

#: Message as rosbags reads it, by topic, in the order of publishing.
Messages = dict[str, list[Any]]


class CatchingPublisher:
    """Stands for TopicPublisher: everyone listens to the main name of each topic."""

    caught: Messages

    def __init__(self, node: Any, topic: Topic, name: str, aliases: Sequence[str] = ()) -> None:
        self._topic = topic
        self._name = name if name.startswith("/") else f"/{name}"
        self.needed = True
        self.subscription_count = 0  # of optional outputs, which are not recorded
        self.had_subscribers = False

    def check_new_subscribers(self) -> bool:
        return False

    def publish(self, message: Any) -> None:
        raw = serialize_message(message)
        read = read_cdr(raw, self._topic.type_name)
        self.caught.setdefault(self._name, []).append(read)

    def close(self) -> None:
        pass


@contextmanager
def catching(world: World, settings: Settings) -> Iterator[tuple[Any, Messages]]:
    """Yield the outputs of a world, and the messages that they publish."""
    caught: Messages = {}
    publisher = type("Publisher", (CatchingPublisher,), {"caught": caught})
    logger = SimpleNamespace(warning=lambda text: None)
    node: Any = SimpleNamespace(get_logger=lambda: logger, get_clock=lambda: None)
    modules = (vehicle, wheels, world_outputs, localizer, sensors)
    found = [m for m in modules if hasattr(m, "TopicPublisher")]
    patches = [mock.patch.object(module, "TopicPublisher", publisher) for module in found]
    patches.append(mock.patch.object(sensors.SensorTopics, "create_publisher", _create(publisher)))
    for patch in patches:
        patch.start()
    try:
        yield world_outputs.WorldOutputs(node, world, settings, StampClock(world.dt)), caught
    finally:
        for patch in patches:
            patch.stop()


def _create(publisher: Any) -> Any:
    def create_publisher(self: Any, node: Any, topic: Topic) -> Any:
        return publisher(node, topic, self.namespace + self.name(topic))

    return create_publisher


def read_cdr(data: bytes, kind: str) -> Any:
    """Return a message; rmw leaves room for an empty last sequence, which rosbags refuses."""
    definition = typestore().get_msgdef(kind)
    message, _ = definition.deserialize_cdr_le(data[4:], 0, definition.cls, typestore())
    return message


def plain(message: Any) -> Any:
    """Return a message of rosbags as values that can be compared; NaN is equal to NaN."""
    if hasattr(message, "__msgtype__"):
        fields: Mapping[str, Any] = vars(message)
        return {name: plain(value) for name, value in fields.items()}
    if hasattr(message, "tobytes"):
        return message.dtype.str, message.tobytes()
    if isinstance(message, list | tuple):
        return [plain(value) for value in message]
    return "nan" if message != message else message
