# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Launch files beside their consumers, in a ROS domain of their own."""

import os
import unittest
from collections.abc import Iterator
from typing import Any

import launch_testing.actions
import numpy as np
import pytest
import yaml
from ament_index_python.packages import get_package_prefix
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import ListParameters
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from launch import LaunchDescription
from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import LATCHED, START, Observer, connect, eventually
from tests.ros.rules import as_matrix, pose_matrix

_pool = DomainPool()


def needs(*packages: str) -> Any:
    """Return the mark of a launch test that skips it with the name of a missing package."""
    absent = [package for package in packages if _is_missing(package)]
    reason = f"not installed: {', '.join(absent)}"
    return pytest.mark.skipif(bool(absent), reason=reason)


def _is_missing(package: str) -> bool:
    try:
        get_package_prefix(package)
    except LookupError:
        return True
    return False


def description(name: str, *extra: Any, **given: str) -> Any:
    """Return a launch file of the suite with some actions, in a ROS domain of its own."""
    os.environ["ROS_DOMAIN_ID"] = str(_pool.take())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / f"{name}.launch.py"))
    arguments = {"headless": "true", "use_rviz": "false", **given}
    ours = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([ours, *extra, launch_testing.actions.ReadyToTest()])


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


class ConsumerTest(unittest.TestCase):
    """A test beside a consumer.

    Attributes:
        observer: Records /clock, /tf and the ground truth.
    """

    observer: Observer

    @classmethod
    def setUpClass(cls) -> None:
        """Wait for the simulator."""
        cls.observer = Observer(int(os.environ["ROS_DOMAIN_ID"]))
        cls.observer.subscribe("/clock", Clock)
        cls.observer.subscribe("/tf", TFMessage)
        cls.observer.subscribe("/tf_static", TFMessage, LATCHED)
        cls.observer.subscribe("/ground_truth/odom", Odometry)
        eventually(lambda: cls.observer.all("/ground_truth/odom"), "ground truth", START)

    @classmethod
    def tearDownClass(cls) -> None:
        """Leave the domain."""
        cls.observer.close()

    def now(self) -> float:
        """Return the simulated time [s]."""
        clock = self.observer.newest("/clock").clock
        return float(clock.sec + 1e-9 * clock.nanosec)

    def wait_simulated(self, seconds: float) -> None:
        """Wait for some simulated time, which passes more slowly than ours on a busy machine."""
        end = self.now() + seconds
        eventually(lambda: self.now() >= end, f"{seconds} simulated seconds", START)

    def transform(self, parent: str, child: str) -> np.ndarray:
        """Return the newest transform between two frames that are next to each other (4, 4)."""

        def newest() -> Any:
            for message in reversed(self.observer.all("/tf") + self.observer.all("/tf_static")):
                for each in message.transforms:
                    if (each.header.frame_id, each.child_frame_id) == (parent, child):
                        return each
            return None

        return as_matrix(eventually(newest, f"{parent} -> {child}", START).transform)

    def error_of_map(self) -> float:
        """Return how far map -> odom -> base_footprint is from the true place [m]."""
        truth = pose_matrix(self.observer.newest("/ground_truth/odom").pose.pose)
        found = self.transform("map", "odom") @ self.transform("odom", "base_footprint")
        return float(np.hypot(*(found[:2, 3] - truth[:2, 3])))

    def wait_for(self, future: Any, what: str) -> Any:
        """Return the result of a future."""
        eventually(future.done, what, START)
        return future.result()

    def undeclared(self, file: str, node: str = "", optional: tuple[str, ...] = ()) -> list[str]:
        """Return the keys of a parameter file that the running nodes do not declare.

        Args:
            file: Name in params/ without its suffix.
            node: The node that a section for all nodes (`/**`) is for.
            optional: Sections that are left out if no such node runs.
        """
        tree = yaml.safe_load((ROOT / "params" / f"{file}.yaml").read_text())
        unknown = []
        running = self.observer.node.get_node_names()
        for section, keys in nodes(tree):
            if section.strip("/") in set(optional) - set(running):
                continue
            name = section.replace("//**", "") or node
            service = f"{name}/list_parameters"
            client = connect(self.observer.node, ListParameters, service, timeout=START)
            answer = self.wait_for(client.call_async(ListParameters.Request()), name)
            declared = set(answer.result.names)
            unknown += [f"{name}: {key}" for key in keys if key not in declared]
        return unknown
