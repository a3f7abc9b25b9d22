# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Launch files beside their consumers, in a ROS domain of their own."""

import os
import unittest
from collections.abc import Iterator
from typing import Any

import launch_testing.actions
import numpy as np
import yaml
from ament_index_python.packages import get_package_prefix
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_testing.util import KeepAliveProc
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import ListParameters
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

from launch import LaunchDescription
from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import LATCHED, START, Observer, eventually
from tests.ros.rules import as_matrix, pose_matrix

_pool = DomainPool()


def missing(*packages: str) -> str:
    """Return the first of some packages that is not installed, or ""."""
    for package in packages:
        try:
            get_package_prefix(package)
        except LookupError:
            return package
    return ""


def description(name: str, *packages: str, extra: tuple[Any, ...] = (), **given: str) -> Any:
    """Return a launch file of the suite with some actions; nothing if a package is missing."""
    ready = launch_testing.actions.ReadyToTest()
    if missing(*packages):
        return LaunchDescription([KeepAliveProc(), ready])  # a launch of nothing ends too soon
    os.environ["ROS_DOMAIN_ID"] = str(_pool.take())
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    source = PythonLaunchDescriptionSource(str(ROOT / "launch" / f"{name}.launch.py"))
    arguments = {"headless": "true", "use_rviz": "false", **given}
    ours = IncludeLaunchDescription(source, launch_arguments=arguments.items())
    return LaunchDescription([ours, *extra, ready])


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
        packages: What must be installed.
        observer: Records /clock, /tf and the ground truth.
    """

    packages: tuple[str, ...] = ()
    observer: Observer

    @classmethod
    def setUpClass(cls) -> None:
        """Skip without the packages; else wait for the simulator."""
        if absent := missing(*cls.packages):
            raise unittest.SkipTest(f"the package {absent} is not installed")
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

    def undeclared(self, file: str, node: str = "", without: tuple[str, ...] = ()) -> list[str]:
        """Return the keys of a parameter file that the running nodes do not declare.

        Args:
            file: Name in params/ without its suffix.
            node: The node that a section for all nodes (`/**`) is for.
            without: Sections that are left out.
        """
        tree = yaml.safe_load((ROOT / "params" / f"{file}.yaml").read_text())
        unknown = []
        for section, keys in nodes(tree):
            if section.strip("/").split("/")[0] in without:
                continue
            name = section.replace("//**", "") or node
            client = self.observer.node.create_client(ListParameters, f"{name}/list_parameters")
            assert client.wait_for_service(START), name
            answer = self.wait_for(client.call_async(ListParameters.Request()), name)
            declared = set(answer.result.names)
            unknown += [f"{name}: {key}" for key in keys if key not in declared]
        return unknown
