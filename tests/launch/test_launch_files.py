# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All launch files can be read, and their arguments reach the right nodes.

These tests need `launch` and `launch_ros`, which a ROS installation has and PyPI has not.
"""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("launch.actions")
pytest.importorskip("launch_ros.actions")

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node, PushRosNamespace

from launch import LaunchContext, LaunchDescription
from tests.conftest import ROOT

FILES = sorted((ROOT / "launch").glob("*.launch.py"))
SIM = ROOT / "launch" / "sim.launch.py"
#: Launch files with other people's packages, and the argument that leaves those out.
CONSUMERS = {"nav2": "use_nav2", "slam": "use_slam", "ekf": "use_ekf"}


def visited(file: Path, **arguments: str) -> tuple[LaunchContext, list[Any]]:
    """Return the context and all actions of a launch file for some arguments."""
    context = LaunchContext()
    source = PythonLaunchDescriptionSource(str(file))
    found: list[Any] = []

    def visit(entity: Any) -> None:
        if isinstance(entity, Node):
            found.append(entity)
            return
        found.append(entity)
        for child in entity.visit(context) or []:
            visit(child)

    visit(IncludeLaunchDescription(source, launch_arguments=arguments.items()))
    return context, found


def nodes(file: Path, **arguments: str) -> list[str]:
    """Return the executables that a launch file would start."""
    context, found = visited(file, **arguments)
    return [
        action.node_executable
        for action in found
        if isinstance(action, Node)
        and (action.condition is None or action.condition.evaluate(context))
    ]


def test_every_world_has_a_launch_file() -> None:
    worlds = {path.name.partition(".")[0] for path in (ROOT / "worlds").glob("*.world.xml")}
    assert worlds == {path.name.partition(".")[0] for path in FILES} - {"sim", *CONSUMERS}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_it_can_be_read_and_every_argument_has_help(file: Path) -> None:
    _, found = visited(file, world_file="x.world.xml")
    assert any(isinstance(entity, LaunchDescription) for entity in found)
    declared = [entity for entity in found if isinstance(entity, DeclareLaunchArgument)]
    assert len(declared) >= 10
    assert all(entity.description.endswith(".") for entity in declared)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_files_that_it_names_exist(file: Path) -> None:
    context, _ = visited(file, world_file=str(SIM))
    for name in ("world_file", "rviz_config_file", "params_file"):
        assert Path(context.launch_configurations[name]).is_file()


@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        ({}, ["mvsim_node", "rviz2"]),
        ({"headless": "true"}, ["mvsim_node"]),
        ({"headless": "True", "use_rviz": "True"}, ["mvsim_node"]),
        ({"use_rviz": "false"}, ["mvsim_node"]),
    ],
)
def test_no_window_where_none_is_wanted(arguments: dict[str, str], started: list[str]) -> None:
    assert nodes(SIM, world_file="x.world.xml", **arguments) == started


def said(context: LaunchContext, found: list[Any]) -> str:
    """Return what a launch file reports."""
    texts = [action.msg for action in found if isinstance(action, LogInfo)]
    return " ".join(part.perform(context) for text in texts for part in text)


@pytest.mark.parametrize("name", CONSUMERS)
def test_consumers_that_are_missing_are_reported_and_not_fatal(name: str) -> None:
    file = ROOT / "launch" / f"{name}.launch.py"
    arguments = {"world_file": "x.world.xml", "use_rviz": "false"}
    present = nodes(file, **arguments)
    assert present[0] == "mvsim_node"
    report = said(*visited(file, **arguments))
    assert "is not installed" in report or len(present) > 1
    without = {**arguments, CONSUMERS[name]: "false"}
    assert nodes(file, **without) == ["mvsim_node"]
    assert said(*visited(file, **without)) == ""


@pytest.mark.parametrize("name", CONSUMERS)
def test_somebody_else_owns_the_transforms(name: str) -> None:
    context, _ = visited(ROOT / "launch" / f"{name}.launch.py", world_file="x.world.xml")
    source = (ROOT / "launch" / f"{name}.launch.py").read_text()
    assert '"do_fake_localization"' in source
    assert context.launch_configurations["use_sim_time"] == "true"


def test_a_namespace_moves_robot_and_nav2() -> None:
    file = ROOT / "launch" / "nav2.launch.py"
    arguments = {"world_file": "x.world.xml", "use_rviz": "false"}
    context, found = visited(file, **arguments, namespace="robot7")
    (push,) = [a for a in found if isinstance(a, PushRosNamespace)]
    assert push.condition is not None
    assert push.condition.evaluate(context)
    params = Path(context.launch_configurations["params_file"])
    assert "topic: /robot7/scan" in params.read_text()
    params.unlink()
    context, found = visited(file, **arguments)
    (push,) = [a for a in found if isinstance(a, PushRosNamespace)]
    assert push.condition is not None
    assert not push.condition.evaluate(context)
    assert context.launch_configurations["params_file"].endswith("params/nav2.yaml")


def test_nav2_drives_the_mecanum_platform_with_its_own_map_and_parameters() -> None:
    file = ROOT / "launch" / "mecanum.launch.py"
    context, _ = visited(file, use_nav2="true", use_rviz="false")
    chosen = context.launch_configurations
    assert Path(chosen["world_file"]).name == "mecanum.world.xml"
    assert Path(chosen["map"]) == ROOT / "worlds" / "maps" / "mecanum.yaml"
    assert nodes(file, use_nav2="true", use_rviz="false")[0] == "mvsim_node"
    context, found = visited(file, use_rviz="false")
    assert "map" not in context.launch_configurations
    assert said(context, found) == ""
