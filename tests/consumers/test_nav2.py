# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nav2 in the building: AMCL finds the robot, NavigateToPose arrives, no parameter is unknown."""

import math
import time
from copy import deepcopy
from typing import Any

import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import PoseWithCovarianceStamped
from rclpy.action import ActionClient
from std_msgs.msg import Bool

from tests.consumers.launched import START, ConsumerTest, description
from tests.ros.node_process import eventually

PACKAGES = "nav2_bringup", "nav2_msgs", "launch_ros"
#: Nodes of the parameter file that are started by other launch files or releases.
OTHERS = ("slam_toolbox", "docking_server", "route_server", "map_saver", "collision_monitor")


@pytest.mark.launch_test
def generate_test_description() -> Any:
    return description("nav2", *PACKAGES, use_composition="False")


class TestNav2(ConsumerTest):
    packages = PACKAGES

    def test_1_amcl_finds_the_robot_from_a_wrong_guess(self) -> None:
        eventually(lambda: self.error_of_map() < 0.3, "the pose that the simulator gives", START)
        truth = self.observer.newest("/ground_truth/odom").pose.pose
        publisher = self.observer.node.create_publisher(
            PoseWithCovarianceStamped, "/initialpose", 10
        )
        guess = PoseWithCovarianceStamped()
        guess.header.frame_id = "map"
        guess.pose.pose = deepcopy(truth)
        yaw = 2.0 * math.atan2(truth.orientation.z, truth.orientation.w) + math.radians(20.0)
        guess.pose.pose.position.x += 0.5
        guess.pose.pose.orientation.z = math.sin(0.5 * yaw)
        guess.pose.pose.orientation.w = math.cos(0.5 * yaw)
        guess.pose.covariance[0] = guess.pose.covariance[7] = 0.25
        guess.pose.covariance[35] = 0.12
        eventually(lambda: publisher.get_subscription_count(), "AMCL")
        publisher.publish(guess)
        time.sleep(2.0)
        self.drive_to(truth.position.x + 2.0, truth.position.y)
        assert self.error_of_map() < 0.2

    def test_2_goals_are_reached_without_a_collision(self) -> None:
        self.observer.subscribe("/collision", Bool)
        start = self.observer.newest("/ground_truth/odom").pose.pose.position
        for dx in (-2.0, 1.0):
            self.drive_to(start.x + dx, start.y)
        assert not any(message.data for message in self.observer.all("/collision"))

    def drive_to(self, x: float, y: float) -> None:
        """Let Nav2 drive to a place in the map, and check that the robot is there."""
        from nav2_msgs.action import NavigateToPose

        client = ActionClient(self.observer.node, NavigateToPose, "navigate_to_pose")
        assert client.wait_for_server(START)
        goal = NavigateToPose.Goal()
        goal.pose.header.frame_id = "map"
        goal.pose.pose.position.x, goal.pose.pose.position.y = x, y
        goal.pose.pose.orientation.w = 1.0
        handle = self.wait_for(client.send_goal_async(goal), "the goal is accepted")
        assert handle.accepted
        result = self.wait_for(handle.get_result_async(), "the goal is reached")
        assert result.status == 4, result  # STATUS_SUCCEEDED
        place = self.observer.newest("/ground_truth/odom").pose.pose.position
        assert math.hypot(place.x - x, place.y - y) < 0.5

    def test_3_the_nodes_declare_every_key_of_the_parameter_file(self) -> None:
        assert self.undeclared("nav2", without=OTHERS) == []
