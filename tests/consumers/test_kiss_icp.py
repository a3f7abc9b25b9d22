# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS node of KISS-ICP follows a robot by its 3D lidar."""

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from tests.consumers.launched import START, ConsumerTest, description, needs
from tests.ros.node_process import eventually
from tests.ros.rules import pose_matrix

PACKAGES = "kiss_icp", "launch_ros"


@pytest.mark.launch_test
@needs(*PACKAGES)
def generate_test_description() -> Any:
    from launch_ros.actions import Node

    node = Node(
        package="kiss_icp",
        executable="kiss_icp_node",
        remappings=[("pointcloud_topic", "/points")],
        parameters=[
            {
                "use_sim_time": True,
                "base_frame": "base_footprint",
                "lidar_odom_frame": "odom_lidar",
                "publish_odom_tf": False,
                "publish_debug_clouds": False,
                "data.max_range": 60.0,
                "data.min_range": 1.0,
                "data.deskew": True,
            }
        ],
    )
    # Slower than real time, so that a busy machine drops no clouds: KISS-ICP corrects each for the
    # motion since the one before it, which is too much for the first one after a gap.
    return description("depot", node, realtime_factor="0.4")


class TestKissIcp(ConsumerTest):
    def test_it_follows_the_robot(self) -> None:
        self.observer.subscribe("/kiss/odometry", Odometry)
        eventually(lambda: self.observer.all("/kiss/odometry"), "odometry", START)
        # Its map begins with the rings of one scan, which move with the robot over flat ground: it
        # takes the first metres for shorter than they are.
        begin, found_begin = self.drive(5.0)
        end, found_end = self.drive(15.0)
        moved = np.linalg.inv(begin) @ end
        way = float(np.hypot(*moved[:2, 3]))
        assert way > 8.0
        error = np.linalg.inv(moved) @ np.linalg.inv(found_begin) @ found_end
        assert np.hypot(*error[:2, 3]) < 0.1 + 0.01 * way
        assert abs(math.atan2(error[1, 0], error[0, 0])) < math.radians(2.0)

    def drive(self, seconds: float) -> tuple[np.ndarray, np.ndarray]:
        """Drive along the ring; return where the robot is and where it seems to be."""
        command = TwistStamped()
        command.twist.linear.x, command.twist.angular.z = 0.8, 0.07
        with self.observer.repeat("/cmd_vel", command):
            self.wait_simulated(seconds)
        self.wait_simulated(2.0)  # it stands, so that the times of the two need not agree
        topics = "/ground_truth/odom", "/kiss/odometry"
        truth, found = (pose_matrix(self.observer.newest(topic).pose.pose) for topic in topics)
        return truth, found
