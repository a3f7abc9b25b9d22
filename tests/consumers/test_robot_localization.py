# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""robot_localization fuses wheels, IMU and GPS in the field."""

import math
from typing import Any

import pytest

pytest.importorskip("launch_testing", reason="the package launch_testing is not installed")

from geometry_msgs.msg import TwistStamped
from nav_msgs.msg import Odometry

from tests.consumers.launched import START, ConsumerTest, description, needs
from tests.ros.node_process import eventually

PACKAGES = "robot_localization", "launch_ros"


@pytest.mark.launch_test
@needs(*PACKAGES)
def generate_test_description() -> Any:
    return description("ekf", use_gps="true")


class TestFilters(ConsumerTest):
    def test_the_filters_follow_the_robot(self) -> None:
        for topic in ("/odometry/filtered", "/odometry/global"):
            self.observer.subscribe(topic, Odometry)
            eventually(lambda topic=topic: self.observer.all(topic), topic, START)
        begin = self.observer.newest("/ground_truth/odom").pose.pose.position
        local = self.observer.newest("/odometry/filtered").pose.pose.position
        command = TwistStamped()
        command.twist.linear.x, command.twist.angular.z = 0.5, 0.1
        with self.observer.repeat("/cmd_vel", command):
            self.wait_simulated(20.0)
        self.wait_simulated(2.0)  # it stands, so that the times of what is compared need not agree
        end = self.observer.newest("/ground_truth/odom").pose.pose.position
        found = self.observer.newest("/odometry/filtered").pose.pose.position
        way = math.hypot(end.x - begin.x, end.y - begin.y)
        assert way > 2.0
        filtered = math.hypot(found.x - local.x, found.y - local.y)
        assert abs(filtered - way) < 0.1 + 0.05 * way
        place = self.observer.newest("/odometry/global").pose.pose.position
        assert math.hypot(place.x - end.x, place.y - end.y) < 3.0  # of the GPS

    def test_the_nodes_declare_every_key_of_the_parameter_file(self) -> None:
        assert self.undeclared("ekf") == []
