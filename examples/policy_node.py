# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive a robot over ROS 2 to a goal with the policy that train_navigation.py saved.

    python examples/policy_node.py --ros-args -p policy:=navigation.npz -p goal:="[4.0, 2.0]"

Subscribes to `odom` and `scan`, publishes `cmd_vel`; remap them or set a namespace as usual. The
goal is in the odometry frame [m]. The scan must look all round, from -180 degrees on. Stops where
the goal is reached, and if no scan came for half a second.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from navigation_policy import Policy, observation
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan

PERIOD = 0.1  # s, as the policy was trained
ARRIVED = 0.4  # m
OLD = 0.5  # s, age of a scan that stops the robot


class PolicyNode(Node):
    """Turns odometry and scans into commands."""

    def __init__(self) -> None:
        """Load the policy; subscribe and publish."""
        super().__init__("policy")
        path = self.declare_parameter("policy", "navigation.npz").value
        self._goal = [float(v) for v in self.declare_parameter("goal", [0.0, 0.0]).value]
        self._policy = Policy.load(Path(path))
        self._odometry: Odometry | None = None
        self._scan: LaserScan | None = None
        self._arrived = False
        self._publisher = self.create_publisher(Twist, "cmd_vel", 10)
        self.create_subscription(Odometry, "odom", self._take_odometry, qos_profile_sensor_data)
        self.create_subscription(LaserScan, "scan", self._take_scan, qos_profile_sensor_data)
        self.create_timer(PERIOD, self._drive)

    def _take_odometry(self, message: Odometry) -> None:
        self._odometry = message

    def _take_scan(self, message: LaserScan) -> None:
        self._scan, self._scanned = message, self.get_clock().now()

    def _drive(self) -> None:
        """Publish a command."""
        command = Twist()
        if self._odometry is not None and self._scan is not None:
            old = (self.get_clock().now() - self._scanned).nanoseconds > OLD * 1e9
            goal = self._goal_of_robot(self._odometry.pose.pose)
            if not self._arrived and math.hypot(*goal) < ARRIVED:
                self._arrived = True
                self.get_logger().info("arrived")
            if not (old or self._arrived):
                speed, turn = self._act(goal, self._odometry.twist.twist, self._scan)
                command.linear.x, command.angular.z = speed, turn
        self._publisher.publish(command)

    def _goal_of_robot(self, pose: Any) -> tuple[float, float]:
        """Return the goal in the robot's frame [m]."""
        q = pose.orientation
        yaw = math.atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y**2 + q.z**2))
        dx, dy = self._goal[0] - pose.position.x, self._goal[1] - pose.position.y
        c, s = math.cos(yaw), math.sin(yaw)
        return c * dx + s * dy, c * dy - s * dx

    def _act(self, goal: tuple[float, float], twist: Any, scan: LaserScan) -> tuple[float, float]:
        """Return speed [m/s] and turn rate [rad/s]."""
        scales = self._policy.scales
        moving = (twist.linear.x, twist.angular.z)
        seen = observation(scales, goal, moving, np.array(scan.ranges))
        speed, turn = self._policy.act(seen[None])[0].tolist()
        return speed * scales.max_speed, turn * scales.max_turn


def main() -> None:
    """Run the node until it is interrupted."""
    rclpy.init()
    node = PolicyNode()
    try:
        rclpy.spin(node)
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
