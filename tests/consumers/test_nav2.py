# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nav2 in the building: AMCL finds the robot, NavigateToPose arrives, no parameter is unknown.

It runs three times: with our parameters and both types of cmd_vel, and with Nav2's own ones.
"""

import math
import os
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

import launch_testing
from ament_index_python.packages import get_package_share_directory
from geometry_msgs.msg import PoseWithCovarianceStamped
from std_msgs.msg import Bool

from tests.conftest import ROOT
from tests.consumers.launched import START, description, needs
from tests.consumers.navigating import Nav2Test, in_map
from tests.ros.node_process import eventually

PACKAGES = "nav2_bringup", "nav2_msgs", "launch_ros"
#: Nodes of the parameter file that only other launch files or some releases start.
OTHERS = ("slam_toolbox", "map_saver", "docking_server", "route_server")
#: Parameters that a release does not have.
ABSENT = {"jazzy": ["/bt_navigator: error_code_name_prefixes"]}
#: Nodes with commands, and how they are sent; Nav2's own parameters leave it to the release.
COMMANDERS = (
    *("controller_server", "behavior_server", "velocity_smoother", "collision_monitor"),
    "docking_server",  # publishes on cmd_vel itself
)
STAMPED = {"twist": False, "twist_stamped": True}

_folder = tempfile.TemporaryDirectory(prefix="mvsim_nav2_")


def parameters(variant: str) -> str:
    """Return the path of a parameter file."""
    if variant not in STAMPED:
        return str(Path(get_package_share_directory("nav2_bringup"), "params", "nav2_params.yaml"))
    tree = yaml.safe_load((ROOT / "params" / "nav2.yaml").read_text())
    for name in COMMANDERS:
        tree[name]["ros__parameters"]["enable_stamped_cmd_vel"] = STAMPED[variant]
    path = Path(_folder.name, f"{variant}.yaml")
    path.write_text(yaml.safe_dump(tree))
    return str(path)


@pytest.mark.launch_test
@needs(*PACKAGES)
@launch_testing.parametrize("variant", [*STAMPED, "defaults"])
def generate_test_description(variant: str) -> Any:
    # In one process as by default, since Nav2 1.4 replaces the placeholders of its own file only
    # there; for ours one process a node, so that both ways are run.
    composition = str(variant not in STAMPED)
    nav2 = description("nav2", use_composition=composition, params_file=parameters(variant))
    return nav2, {"variant": variant}


class TestNav2(Nav2Test):
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
        self.wait_simulated(2.0)
        # AMCL corrects itself while the robot moves; Nav2's own parameters need more than 2 m.
        self.drive_towards(truth.position.x + 2.0, truth.position.y)
        self.drive_to(truth.position.x, truth.position.y)
        assert self.error_of_map() < 0.2

    def test_2_goals_are_reached_without_a_collision(self) -> None:
        self.observer.subscribe("/collision", Bool)
        start = self.observer.newest("/ground_truth/odom").pose.pose.position
        for dx in (-2.0, 1.0):
            self.drive_to(start.x + dx, start.y)
        assert not any(message.data for message in self.observer.all("/collision"))

    def test_3_a_goal_with_poses_on_the_way_is_reached(self) -> None:
        """The tree of this action names the checker of goals, unlike that of a single pose."""
        from nav2_msgs.action import NavigateThroughPoses

        start = self.observer.newest("/ground_truth/odom").pose.pose.position
        goal = NavigateThroughPoses.Goal()
        poses = getattr(goal.poses, "goals", goal.poses)  # Jazzy has a plain list
        poses += [in_map(start.x + dx, start.y) for dx in (1.0, 2.0)]
        self.navigate(NavigateThroughPoses, "navigate_through_poses", goal)
        self.assert_place(start.x + 2.0, start.y)

    def test_4_commands_are_of_the_type_of_the_parameters(self, variant: str) -> None:
        if variant not in STAMPED:
            self.skipTest("Nav2's own parameters leave it to the release")
        found = self.observer.node.get_publishers_info_by_topic("/cmd_vel")
        kind = "TwistStamped" if STAMPED[variant] else "Twist"
        assert {end.topic_type for end in found} == {f"geometry_msgs/msg/{kind}"}

    def test_5_the_nodes_declare_every_key_of_the_parameter_file(self, variant: str) -> None:
        if variant not in STAMPED:
            self.skipTest("not our parameter file")
        absent = ABSENT.get(os.environ.get("ROS_DISTRO", ""), [])
        assert self.undeclared("nav2", optional=OTHERS) == absent
