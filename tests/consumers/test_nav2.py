# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nav2 in the building: AMCL finds the robot, NavigateToPose arrives, no parameter is unknown."""

import math
import time
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import PoseWithCovarianceStamped
from rcl_interfaces.srv import ListParameters
from rclpy.action import ActionClient
from std_msgs.msg import Bool

from tests.conftest import ROOT
from tests.consumers.launched import START, ConsumerTest, description
from tests.ros.node_process import eventually

PACKAGES = "nav2_bringup", "nav2_msgs", "launch_ros"
#: Nodes of the parameter file that are started by other launch files or releases.
OTHERS = ("slam_toolbox", "docking_server", "route_server", "map_saver", "collision_monitor")
#: Set by the launch files of Nav2, or by rclcpp itself.
GIVEN = ("use_sim_time", "yaml_filename", "qos_overrides", "bond_heartbeat_period")


@pytest.mark.launch_test
def generate_test_description() -> Any:
    return description("nav2", *PACKAGES, use_composition="False")


def flat(tree: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the names of parameters as ROS has them."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}"


def nodes(tree: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each node of a parameter file with its parameters."""
    for key, value in tree.items():
        if key == "ros__parameters":
            yield prefix, list(flat(value))
        elif isinstance(value, dict):
            yield from nodes(value, f"{prefix}/{key}")


class TestNav2(ConsumerTest):
    packages = PACKAGES

    def wait_for(self, future: Any, what: str) -> Any:
        """Return the result of a future."""
        eventually(future.done, what, START)
        return future.result()

    def test_1_amcl_finds_the_robot_from_a_wrong_guess(self) -> None:
        eventually(lambda: self.error_of_map() < 0.3, "the pose that the simulator gives", START)
        truth = self.observer.newest("/ground_truth/odom").pose.pose
        publisher = self.observer.node.create_publisher(
            PoseWithCovarianceStamped, "/initialpose", 10
        )
        guess = PoseWithCovarianceStamped()
        guess.header.frame_id = "map"
        guess.pose.pose = truth
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
        tree = yaml.safe_load((ROOT / "params" / "nav2.yaml").read_text())
        unknown = []
        for node, keys in nodes(tree):
            if node.strip("/").split("/")[0] in OTHERS:
                continue
            client = self.observer.node.create_client(ListParameters, f"{node}/list_parameters")
            assert client.wait_for_service(START), node
            answer = self.wait_for(client.call_async(ListParameters.Request()), node)
            declared = set(answer.result.names)
            unknown += [f"{node}: {k}" for k in keys if k not in declared and k not in GIVEN]
        assert unknown == []
