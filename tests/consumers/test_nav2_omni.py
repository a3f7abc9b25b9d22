# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Nav2 drives a mecanum platform, also sideways, with its own parameters and map."""

import os
from typing import Any

import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from tests.consumers.launched import START, description, needs
from tests.consumers.navigating import Nav2Test
from tests.consumers.test_nav2 import ABSENT, OTHERS, PACKAGES
from tests.ros.node_process import eventually

#: Releases after Kilted load models of motion as plugins.
PLUGIN = "/controller_server: FollowPath.Omni.plugin"


@pytest.mark.launch_test
@needs(*PACKAGES)
def generate_test_description() -> Any:
    return description("mecanum", use_nav2="true", use_composition="False")


class TestOmni(Nav2Test):
    def test_1_goals_beside_the_robot_are_reached(self) -> None:
        eventually(lambda: self.error_of_map() < 0.3, "the pose that the simulator gives", START)
        for x, y in ((0.0, 1.5), (1.5, 0.0)):
            self.drive_to(x, y)
        assert self.error_of_map() < 0.2

    def test_2_the_nodes_declare_every_key_of_the_parameter_file(self) -> None:
        release = os.environ.get("ROS_DISTRO", "")
        absent = [*ABSENT.get(release, []), *([PLUGIN] if release in ("jazzy", "kilted") else [])]
        assert self.undeclared("nav2_omni", optional=OTHERS) == absent
