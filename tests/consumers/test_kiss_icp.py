# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ROS node of KISS-ICP follows a robot by its 3D lidar."""

import math
import time
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from tests.consumers.launched import START, ConsumerTest, description, missing
from tests.ros.node_process import eventually
from tests.ros.worlds import COURIER

PACKAGES = "kiss_icp", "launch_ros"
LIDAR = """<sensor class="lidar3d" name="top"><pose_3d>0 0 0.6 0 0 0</pose_3d>
<vert_nrays>16</vert_nrays><horz_nrays>900</horz_nrays><sensor_period>0.1</sensor_period></sensor>"""
BLOCK = """<block><init_pose>{x} {y} {yaw}</init_pose><static>true</static><zmax>3</zmax>
<shape><pt>-0.5 -1</pt><pt>0.5 -1</pt><pt>0.5 1</pt><pt>-0.5 1</pt></shape></block>"""


def world() -> str:
    """Write a yard with structure on all sides and return its file."""
    blocks = "".join(
        BLOCK.format(x=8 * math.cos(k), y=8 * math.sin(k), yaw=37 * k) for k in range(6)
    )
    path = Path(mkdtemp()) / "yard.world.xml"
    robot = '<vehicle name="r1" class="courier"><init_pose>0 0 0</init_pose></vehicle>'
    text = COURIER.format(sensors=LIDAR) + blocks + robot
    path.write_text(f"<mvsim_world>{text}</mvsim_world>")
    return str(path)


@pytest.mark.launch_test
def generate_test_description() -> Any:
    if missing(*PACKAGES):
        return description("sim", *PACKAGES)
    from launch_ros.actions import Node

    node = Node(
        package="kiss_icp",
        executable="kiss_icp_node",
        remappings=[("pointcloud_topic", "/top/points")],
        parameters=[{"use_sim_time": True, "max_range": 30.0, "publish_odom_tf": False}],
    )
    return description("sim", *PACKAGES, extra=(node,), world_file=world())


class TestKissIcp(ConsumerTest):
    packages = PACKAGES

    def test_it_follows_the_robot(self) -> None:
        self.observer.subscribe("/kiss/odometry", Odometry)
        eventually(lambda: self.observer.all("/kiss/odometry"), "odometry", START)
        begin = self.observer.newest("/ground_truth/odom").pose.pose.position
        command = TwistStamped()
        command.twist.linear.x, command.twist.angular.z = 0.4, 0.2
        with self.observer.repeat("/cmd_vel", command):
            time.sleep(15.0)
        time.sleep(1.0)
        end = self.observer.newest("/ground_truth/odom").pose.pose.position
        found = self.observer.newest("/kiss/odometry").pose.pose.position
        way = math.hypot(end.x - begin.x, end.y - begin.y)
        assert way > 1.0
        assert abs(math.hypot(found.x, found.y) - way) < 0.1 + 0.03 * way
