# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The demo driver: a node that drives every robot and avoids obstacles by its scans alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import rclpy
from geometry_msgs.msg import Twist
from rclpy.signals import SignalHandlerOptions

from mvsim_demo.topic_monitor import TopicMonitor
from mvsim_ros2.runtime import fast_dds
from mvsim_ros2.runtime.executor import ExecutorThread

#: Half angle [rad] of the sector ahead that must be free.
HALF_SECTOR = math.radians(35.0)
#: Distances [m] to obstacles ahead at which the robot backs up, and at which it slows down.
NEAR, FAR = 0.7, 2.0
#: Greatest speed and speed of backing up [m/s], greatest yaw rate [rad/s].
SPEED, BACKUP_SPEED, YAW_RATE = 0.6, -0.2, 0.8
#: Command without scans: a circle.
CIRCLE = (0.4, 0.25)


def clearance(ranges: Sequence[float], angle_min: float, increment: float, centre: float) -> float:
    """Return the distance [m] to the nearest obstacle in the sector around an angle [rad]."""
    nearest = math.inf
    for i, distance in enumerate(ranges):
        angle = math.remainder(angle_min + i * increment - centre, 2.0 * math.pi)
        # REP-117: -inf is too near to measure, NaN an error.
        if abs(angle) <= HALF_SECTOR and not math.isnan(distance):
            nearest = min(nearest, max(distance, 0.0))
    return nearest


def avoid_obstacles(
    ranges: Sequence[float], angle_min: float, increment: float
) -> tuple[float, float]:
    """Return speed [m/s] and yaw rate [rad/s] towards free space.

    Args:
        ranges: Ranges of a scan [m].
        angle_min: Angle of the first ray [rad].
        increment: Angle between rays [rad].
    """
    ahead = clearance(ranges, angle_min, increment, 0.0)
    left = clearance(ranges, angle_min, increment, 2 * HALF_SECTOR)
    right = clearance(ranges, angle_min, increment, -2 * HALF_SECTOR)
    side = 1.0 if left >= right else -1.0
    if ahead < NEAR:
        return BACKUP_SPEED, side * YAW_RATE  # an Ackermann vehicle cannot turn on the spot
    share = min((ahead - NEAR) / (FAR - NEAR), 1.0)
    return SPEED * (0.3 + 0.7 * share), side * YAW_RATE * (1.0 - share)


class DemoDriver:
    """A node that publishes cmd_vel for every robot.

    Attributes:
        monitor: Monitor of the topics of the simulator.
    """

    def __init__(self) -> None:
        """Create the node."""
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        with fast_dds.configured(large_messages=False):
            self._node = rclpy.create_node("mvsim_demo_driver")
        self.monitor = TopicMonitor(self._node)
        self._publishers: dict[str, Any] = {}
        self._executor = ExecutorThread(self._node)

    def drive(self) -> None:
        """Publish one command for every robot."""
        self.monitor.discover()
        for namespace in self.monitor.namespaces():
            if namespace not in self._publishers:
                topic = f"{namespace}cmd_vel"
                self._publishers[namespace] = self._node.create_publisher(Twist, topic, 10)
            scan = self.monitor.scan_in(namespace)
            command = Twist()
            command.linear.x, command.angular.z = (
                avoid_obstacles(scan.ranges, scan.angle_min, scan.angle_increment)
                if scan
                else CIRCLE
            )
            self._publishers[namespace].publish(command)

    def close(self) -> None:
        """Destroy the node."""
        self._executor.close()
        self._node.destroy_node()
        rclpy.try_shutdown()
