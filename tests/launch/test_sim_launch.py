# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""sim.launch.py with the real launch system: it becomes ready, moves, and ends cleanly.

Runs under `launch_test` and, where launch_testing is installed, under pytest. The same is shown
without launch by test_sim_process.py.
"""

import os
import unittest
from typing import Any

import pytest

pytest.importorskip("launch_testing")

import launch_testing.actions
import launch_testing.asserts
from launch.actions import IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription
from tests.conftest import ROOT, DomainPool
from tests.launch import behaviour
from tests.ros.node_process import Observer

POOL = DomainPool()
DOMAIN = POOL.take()


@pytest.mark.launch_test
@pytest.mark.ros
def generate_test_description() -> LaunchDescription:
    """Return the launch file under test."""
    sim = PythonLaunchDescriptionSource(str(ROOT / "launch" / "sim.launch.py"))
    arguments = {
        "world_file": str(behaviour.WORLD),
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
    """What an observer sees; the names give the order."""

    observer: Observer

    @classmethod
    def setUpClass(cls) -> None:
        """Start to record."""
        os.environ["ROS_DOMAIN_ID"] = str(DOMAIN)
        cls.observer = behaviour.observer_of(DOMAIN)

    @classmethod
    def tearDownClass(cls) -> None:
        """Destroy the observer."""
        cls.observer.close()

    def test_1_it_is_ready(self) -> None:
        """Clock, topics and messages are there."""
        assert behaviour.topics_with_messages(self.observer) == set(behaviour.TYPES)

    def test_2_it_drives(self) -> None:
        """A command moves it."""
        driving, resting = behaviour.drive_and_stop(self.observer)
        assert driving > 0.25
        assert abs(resting) < 0.01

    def test_3_it_collides(self) -> None:
        """A wall stops it."""
        before, beyond = behaviour.drive_against_wall(self.observer)
        assert not before
        assert beyond < 0.03

    def test_4_it_resets(self) -> None:
        """A reset restores the initial pose; the clock goes on."""
        distance, times = behaviour.reset(self.observer)
        assert distance < 0.014
        assert times == sorted(times)


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
