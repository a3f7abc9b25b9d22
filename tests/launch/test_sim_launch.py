# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""sim.launch.py with the real launch system: it becomes ready, moves, and ends cleanly.

Runs under `launch_test` and, where launch_testing is installed, under pytest. The same is shown
without launch by tests/ros.
"""

import os
import unittest
from typing import Any

import pytest

pytest.importorskip("launch_testing")

import launch_testing.actions
import launch_testing.asserts
from geometry_msgs.msg import TwistStamped
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from launch import LaunchDescription
from tests.conftest import ROOT, DomainPool
from tests.ros.running import Observer, eventually

POOL = DomainPool()
DOMAIN = POOL.take()


@pytest.mark.launch_test
@pytest.mark.ros
def generate_test_description() -> LaunchDescription:
    """Return the launch file under test."""
    sim = PythonLaunchDescriptionSource(str(ROOT / "launch" / "sim.launch.py"))
    arguments = {
        "world_file": str(ROOT / "worlds" / "warehouse.world.xml"),
        "headless": "True",
        "realtime_factor": "2.0",
    }
    return LaunchDescription(
        [
            SetEnvironmentVariable("ROS_DOMAIN_ID", str(DOMAIN)),
            SetEnvironmentVariable("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST"),
            IncludeLaunchDescription(sim, launch_arguments=arguments.items()),
            launch_testing.actions.ReadyToTest(),
        ]
    )


class TestWhileRunning(unittest.TestCase):
    """What an observer sees."""

    def setUp(self) -> None:
        """Listen."""
        os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
        self.observer = Observer(DOMAIN)
        self.observer.listen("/clock", Clock)
        self.observer.listen("/odom", Odometry)

    def tearDown(self) -> None:
        """Stop listening."""
        self.observer.close()

    def test_the_clock_runs(self) -> None:
        """The simulator owns /clock."""
        eventually(lambda: len(self.observer.all("/clock")) > 100, "/clock")

    def test_it_moves(self) -> None:
        """A stamped command drives the robot."""
        command = TwistStamped()
        command.twist.linear.x = 0.3
        with self.observer.repeat("/cmd_vel", command):
            eventually(lambda: self.observer.newest("/odom").twist.twist.linear.x > 0.25, "motion")


@launch_testing.post_shutdown_test()
class TestAfterShutdown(unittest.TestCase):
    """How it ended."""

    def test_exit_codes(self, proc_info: Any) -> None:
        """All processes end with 0."""
        launch_testing.asserts.assertExitCodes(proc_info)

    def test_no_traceback(self, proc_output: Any) -> None:
        """Nothing was thrown."""
        text = b"".join(io.text for io in proc_output).decode()
        assert "warehouse.world.xml: r1" in text
        assert "Traceback" not in text
