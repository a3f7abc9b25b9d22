# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every node of every launch file takes its time from /clock, other people's nodes too.

The launch files are evaluated as if all consumers were installed: what they would include is not
run, but the arguments that it would get are looked at. Needs `launch` and `launch_ros`; what the
parameter files say of time is in test_params.py, which needs neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("launch.actions", reason="launch files need it")
pytest.importorskip("launch_ros.actions", reason="launch files need it")

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
from launch_ros.actions import LoadComposableNodes, Node

from launch import LaunchContext
from mvsim_ros2 import consumers
from tests.conftest import ROOT

FILES = sorted((ROOT / "launch").glob("*.launch.*"))
#: Switches of launch files that do not start anything.
NO_PART = ("use_sim_time", "use_namespace", "use_composition", "use_respawn")


@dataclass
class Foreign:
    """A launch file of another package that would be included."""

    file: Path
    launch_arguments: Any


def evaluated(file: Path, **arguments: str) -> Iterator[tuple[str, bool | None]]:
    """Iterate over what a file starts with all parts on: its name, and its use_sim_time."""
    context = LaunchContext()
    source = AnyLaunchDescriptionSource(str(file))
    declared = source.get_launch_description(context).get_launch_arguments()
    parts = {a.name: "true" for a in declared if a.name.startswith("use_")}
    given = {k: v for k, v in parts.items() if k not in NO_PART}
    given |= {"world_file": "x.world.xml", "headless": "false", **arguments}
    yield from _visited(IncludeLaunchDescription(source, launch_arguments=given.items()), context)


def _visited(entity: Any, context: LaunchContext) -> Iterator[tuple[str, bool | None]]:
    condition = getattr(entity, "condition", None)
    if condition is not None and not condition.evaluate(context):
        return
    assert not isinstance(entity, LoadComposableNodes), "say here how to find its parameters"
    if isinstance(entity, Node):
        yield entity.node_executable, _of_node(entity, context)
    elif isinstance(entity, Foreign):
        yield entity.file.name, _of_foreign(entity, context)
    else:
        for child in entity.visit(context) or []:
            yield from _visited(child, context)


def _text(value: Any, context: LaunchContext) -> str:
    parts = value if isinstance(value, list | tuple) else [value]
    return "".join(p if isinstance(p, str) else p.perform(context) for p in parts)


def _of_foreign(include: Foreign, context: LaunchContext) -> bool | None:
    values = {_text(k, context): _text(v, context) for k, v in include.launch_arguments}
    return _switch(values.get("use_sim_time"))


def _of_node(node: Any, context: LaunchContext) -> bool | None:
    """Return what the last of its parameter files and values says."""
    node._perform_substitutions(context)
    found = None
    for argument, is_file in node._Node__expanded_parameter_arguments or []:
        if is_file:
            tree = yaml.safe_load(Path(argument).read_text())
            for key, section in tree.items():
                if key.rpartition("/")[2] in ("**", node.node_name.rpartition("/")[2]):
                    found = section["ros__parameters"].get("use_sim_time", found)
        elif argument.startswith("use_sim_time:="):
            found = argument.partition(":=")[2]
    return _switch(found)


def _switch(value: Any) -> bool | None:
    return None if value is None else str(value).lower() == "true"


@pytest.fixture(autouse=True)
def all_consumers_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "missing", lambda package: "")
    monkeypatch.setattr(consumers, "get_package_share_directory", lambda package: package)
    monkeypatch.setattr(consumers, "PythonLaunchDescriptionSource", Path)
    monkeypatch.setattr(consumers, "IncludeLaunchDescription", Foreign)


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_every_node_takes_simulated_time(file: Path) -> None:
    started = list(evaluated(file))
    assert started
    assert [name for name, switch in started if switch is not True] == []


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_one_argument_changes_that_for_all(file: Path) -> None:
    started = list(evaluated(file, use_sim_time="false"))
    assert [name for name, switch in started if switch is not False] == []


def test_consumers_are_among_them() -> None:
    found = {file.name: {name for name, _ in evaluated(file)} for file in FILES}
    assert "bringup_launch.py" in found["nav2.launch.py"] & found["mecanum.launch.py"]
    assert "online_async_launch.py" in found["slam.launch.py"]
    assert {"ekf_node", "navsat_transform_node"} <= found["ekf.launch.py"]
    assert "rviz2" in found["sim.launch.py"]
