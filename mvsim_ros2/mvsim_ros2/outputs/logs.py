# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The log of a vehicle, each column on a topic of its own."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64

from mvsim_core import Vehicle
from mvsim_core.bags.topic_names import TopicNames
from mvsim_core.bags.topics import LOG
from mvsim_ros2.outputs.publisher import TopicPublisher


class LogOutputs:
    """Publishes the log of one vehicle.

    Args:
        node: Main node.
        vehicle: The vehicle.
        names: Topic names of the vehicle.
    """

    def __init__(self, node: Node, vehicle: Vehicle, names: TopicNames) -> None:
        """Create the publishers."""
        self._log = vehicle.live_log()
        self._outputs = {
            table: [
                TopicPublisher(node, LOG, names.topic(LOG.name.format(table=table, column=column)))
                for column in columns
            ]
            for table, columns in self._log.columns.items()
        }
        self._subscribed: dict[str, dict[int, TopicPublisher]] = {}

    def update_subscribed(self) -> None:
        """Find the columns with subscribers; there are many, so not in each step."""
        self._subscribed = {}
        for table, outputs in self._outputs.items():
            subscribed = {i: output for i, output in enumerate(outputs) if output.needed}
            if subscribed:
                self._subscribed[table] = subscribed

    @property
    def subscribed(self) -> bool:
        """Whether a column had subscribers at the last `update_subscribed`."""
        return bool(self._subscribed)

    def publish(self) -> None:
        """Publish the present row of each table with subscribers."""
        for table, outputs in self._subscribed.items():
            row = self._log.row(table)
            for i, output in outputs.items():
                output.publish(Float64(data=float(row[i])))

    def close(self) -> None:
        """Destroy the publishers."""
        for outputs in self._outputs.values():
            for output in outputs:
                output.close()
