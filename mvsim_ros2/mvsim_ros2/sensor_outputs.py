# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which sensor becomes which topics: a registry that third parties extend by entry points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from builtin_interfaces.msg import Time
from rclpy.node import Node

from mvsim_core.registry import Registry
from mvsim_ros2.conversions.sensing import scan_message
from mvsim_ros2.output import Output
from mvsim_ros2.topics import SCAN


@dataclass(frozen=True, slots=True)
class Place:
    """Where the readings of one sensor go.

    Attributes:
        topic: Name of its topic, or the first part of its topics' names.
        frame: Its frame.
        aliases: Further names of the topic.
    """

    topic: str
    frame: str
    aliases: tuple[str, ...] = ()


class SensorOutput(Protocol):
    """The topics of one sensor."""

    #: Whether consumers place the reading by TF, which must then be there first.
    needs_tf: ClassVar[bool]

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publishers."""

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send a reading."""

    def close(self) -> None:
        """Destroy the publishers."""


SENSOR_OUTPUTS: Registry[Any] = Registry("sensor output", "mvsim.sensor_outputs")


@SENSOR_OUTPUTS.register("laser")
class ScanOutput:
    """sensor_msgs/LaserScan."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        self._frame = place.frame
        self._output = Output(node, SCAN, place.topic, place.aliases)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send a scan."""
        if self._output.wanted:
            self._output.publish(scan_message(reading, self._frame, stamp))

    def close(self) -> None:
        """Destroy the publisher."""
        self._output.close()
