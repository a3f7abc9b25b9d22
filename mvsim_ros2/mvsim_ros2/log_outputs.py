# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The columns of a vehicle's log, each on a topic of its own."""

from __future__ import annotations

from rclpy.node import Node
from std_msgs.msg import Float64

from mvsim_core import Vehicle
from mvsim_ros2.frames import Names
from mvsim_ros2.output import Output
from mvsim_ros2.topics import LOG


class LogOutputs:
    """Publishes the log of one vehicle.

    Args:
        node: The main node.
        vehicle: Whose log it is.
        names: Topic names.
    """

    def __init__(self, node: Node, vehicle: Vehicle, names: Names) -> None:
        """Create the publishers."""
        self._log = vehicle.live_log()
        self._outputs = {
            table: [
                Output(node, LOG, names.topic(LOG.name.format(table=table, column=column)))
                for column in columns
            ]
            for table, columns in self._log.columns.items()
        }
        self._wanted: dict[str, dict[int, Output]] = {}

    def look(self) -> None:
        """Find out which columns somebody wants; there are many, so not in each step."""
        self._wanted = {}
        for table, outputs in self._outputs.items():
            wanted = {i: output for i, output in enumerate(outputs) if output.wanted}
            if wanted:
                self._wanted[table] = wanted

    @property
    def wanted(self) -> bool:
        """Whether somebody wanted a column when it last looked."""
        return bool(self._wanted)

    def publish(self) -> None:
        """Send the present row of each table that is wanted."""
        for table, outputs in self._wanted.items():
            row = self._log.row(table)
            for i, output in outputs.items():
                output.publish(Float64(data=float(row[i])))

    def close(self) -> None:
        """Destroy the publishers."""
        for outputs in self._outputs.values():
            for output in outputs:
                output.close()
