# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ctrl-C ends `ros2 launch` with 0 beside nodes of others that are composed or have a life cycle.

Small packages with the names, launch files and executables of slam_toolbox and Nav2 stand in for
them: what launch does with their actions is the same.
"""

import os
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("ros2launch", reason="the package ros2launch is not installed")
pytest.importorskip("rclpy")

from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from tests.conftest import DomainPool
from tests.launch.test_starting import launched
from tests.ros.node_process import LATCHED, START, eventually

pytestmark = [
    pytest.mark.ros,
    pytest.mark.skipif(not shutil.which("ros2"), reason="no command ros2"),
]

#: As in slam_toolbox: configured by an event, activated by the next one.
SLAM = """
from launch import LaunchDescription
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

def generate_launch_description():
    node = LifecycleNode(package="slam_toolbox", executable="stand_in", name="slam_toolbox",
                         namespace="", output="screen", parameters=[{"use_sim_time": True}])
    def change(transition):
        return EmitEvent(event=ChangeState(
            lifecycle_node_matcher=matches_action(node), transition_id=transition))
    activate = RegisterEventHandler(OnStateTransition(
        target_lifecycle_node=node, start_state="configuring", goal_state="inactive",
        entities=[change(Transition.TRANSITION_ACTIVATE)]))
    return LaunchDescription([node, activate, change(Transition.TRANSITION_CONFIGURE)])
"""
#: As in nav2_bringup with use_composition: a container, and nodes that are loaded into it.
NAV2 = """
from launch import LaunchDescription
from launch_ros.actions import ComposableNodeContainer, LoadComposableNodes
from launch_ros.descriptions import ComposableNode

def generate_launch_description():
    container = ComposableNodeContainer(
        package="nav2_bringup", executable="stand_in", name="nav2_container", namespace="",
        output="screen")
    amcl = ComposableNode(package="nav2_amcl", plugin="nav2_amcl::AmclNode", name="amcl")
    return LaunchDescription([container, LoadComposableNodes(
        target_container="nav2_container", composable_node_descriptions=[amcl])])
"""
#: Says `done` in its log when it is active, or when a node was loaded.
NODE = """#!{python}
import sys
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.lifecycle import LifecycleNode, TransitionCallbackReturn
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

class StandIn(LifecycleNode):
    def __init__(self):
        super().__init__("stand_in")
        self.done = self.create_publisher(
            String, "/done", QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL))
        from composition_interfaces.srv import LoadNode
        self.create_service(LoadNode, "~/_container/load_node", self.load)
    def on_activate(self, state):
        super().on_activate(state)
        self.done.publish(String(data="active"))
        return TransitionCallbackReturn.SUCCESS
    def load(self, request, response):
        self.done.publish(String(data="loaded"))
        response.success, response.full_node_name, response.unique_id = True, "/amcl", 1
        return response

rclpy.init()
try:
    rclpy.spin(StandIn())
except (KeyboardInterrupt, ExternalShutdownException):
    pass
"""


def install(prefix: Path, package: str, file: str, text: str) -> None:
    """Make a package with a launch file and an executable."""
    index = prefix / "share" / "ament_index" / "resource_index" / "packages"
    launch, programs = prefix / "share" / package / "launch", prefix / "lib" / package
    for folder in (index, launch, programs):
        folder.mkdir(parents=True)
    (index / package).touch()
    (launch / file).write_text(text)
    program = programs / "stand_in"
    program.write_text(NODE.format(python=sys.executable))
    program.chmod(0o755)


@pytest.mark.parametrize(
    ("name", "package", "file", "text"),
    [
        ("slam.launch.py", "slam_toolbox", "online_async_launch.py", SLAM),
        ("nav2.launch.py", "nav2_bringup", "bringup_launch.py", NAV2),
    ],
    ids=["slam", "nav2"],
)
def test_ctrl_c_ends_all_with_0(
    monkeypatch: pytest.MonkeyPatch,
    domain_pool: DomainPool,
    tmp_path: Path,
    name: str,
    package: str,
    file: str,
    text: str,
) -> None:
    install(tmp_path / "prefix", package, file, text)
    monkeypatch.setenv(
        "AMENT_PREFIX_PATH", f"{tmp_path / 'prefix'}:{os.environ['AMENT_PREFIX_PATH']}"
    )
    with launched(domain_pool, tmp_path, name, headless="true") as (launch, observer):
        observer.subscribe("/clock", Clock)
        observer.subscribe("/done", String, LATCHED)
        eventually(lambda: len(observer.all("/clock")) > 10, "/clock", START)
        eventually(lambda: observer.all("/done"), f"{package} is up", START)
        assert launch.interrupt() == 0, launch.output
        assert "Traceback" not in launch.output
        assert "is not installed" not in launch.output
