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

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch_ros.actions import Node

from launch import LaunchContext, LaunchDescription
from tests.conftest import ROOT

FILES = sorted((ROOT / "launch").glob("*.launch.py"))
SIM = ROOT / "launch" / "sim.launch.py"


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
    assert worlds == {path.name.partition(".")[0] for path in FILES} - {"sim"}


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
