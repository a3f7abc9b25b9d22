# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""slam_toolbox makes a map of the warehouse while the robot drives."""

from typing import Any

import numpy as np
import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import OccupancyGrid

from tests.consumers.launched import ConsumerTest, description, needs
from tests.ros.node_process import LATCHED, eventually

PACKAGES = "slam_toolbox", "launch_ros"


@pytest.mark.launch_test
@needs(*PACKAGES)
def generate_test_description() -> Any:
    return description("slam")


class TestSlam(ConsumerTest):
    def test_a_map_comes_within_30_s_and_the_robot_is_where_it_is(self) -> None:
        self.observer.subscribe("/map", OccupancyGrid, LATCHED)
        eventually(lambda: self.observer.all("/map"), "a map", 30.0)
        command = TwistStamped()
        command.twist.linear.x, command.twist.angular.z = 0.4, 0.5  # a circle free of shelves
        with self.observer.repeat("/cmd_vel", command):
            self.wait_simulated(20.0)
        grid = np.array(self.observer.all("/map")[-1].data)
        assert (grid == 100).sum() > 100
        assert (grid == 0).sum() > 1000

    def test_map_to_odom_is_near_the_truth(self) -> None:
        places = [m.pose.pose.position for m in self.observer.all("/ground_truth/odom")]
        way = np.diff([(p.x, p.y) for p in places], axis=0)
        assert np.hypot(*way.T).sum() > 4.0
        # The map begins where the robot stands first, which is the origin of this world.
        self.wait_simulated(1.0)  # it stands
        assert self.error_of_map() < 0.15

    def test_slam_toolbox_declares_every_key_of_the_parameter_file(self) -> None:
        assert self.undeclared("slam", node="/slam_toolbox") == []
