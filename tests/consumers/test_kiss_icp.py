# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS node of KISS-ICP follows a robot by its 3D lidar."""

import math
import time
from typing import Any

import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from tests.consumers.launched import START, ConsumerTest, description, missing
from tests.ros.node_process import eventually

PACKAGES = "kiss_icp", "launch_ros"


@pytest.mark.launch_test
def generate_test_description() -> Any:
    if missing(*PACKAGES):
        return description("depot", *PACKAGES)
    from launch_ros.actions import Node

    node = Node(
        package="kiss_icp",
        executable="kiss_icp_node",
        remappings=[("pointcloud_topic", "/points")],
        parameters=[{"use_sim_time": True, "max_range": 30.0, "publish_odom_tf": False}],
    )
    return description("depot", *PACKAGES, extra=(node,))


class TestKissIcp(ConsumerTest):
    packages = PACKAGES

    def test_it_follows_the_robot(self) -> None:
        self.observer.subscribe("/kiss/odometry", Odometry)
        eventually(lambda: self.observer.all("/kiss/odometry"), "odometry", START)
        begin = self.observer.newest("/ground_truth/odom").pose.pose.position
        command = TwistStamped()
        command.twist.linear.x, command.twist.angular.z = 0.5, 0.04
        with self.observer.repeat("/cmd_vel", command):
            time.sleep(15.0)
        time.sleep(1.0)
        end = self.observer.newest("/ground_truth/odom").pose.pose.position
        found = self.observer.newest("/kiss/odometry").pose.pose.position
        way = math.hypot(end.x - begin.x, end.y - begin.y)
        assert way > 1.0
        assert abs(math.hypot(found.x, found.y) - way) < 0.1 + 0.03 * way
