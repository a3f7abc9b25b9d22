# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every node of every launch file takes its time from /clock, other people's nodes too.

The launch files are evaluated as if all consumers were installed: what they would include is not
run, but the arguments that it would get are looked at. Needs `launch` and `launch_ros`; what the
parameter files say of time is in test_params.py, which needs neither.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("launch.actions", reason="launch files need it")
pytest.importorskip("launch_ros.actions", reason="launch files need it")

from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions

from mvsim_ros2 import launch_helpers
from tests.conftest import ROOT
from tests.launch.launch_visitor import Visit, visit_launch

FILES = sorted((ROOT / "launch").glob("*.launch.*"))
WORLD = str(ROOT / "worlds" / "field.world.xml")
#: Switches of launch files that do not start anything.
NO_PART = ("use_sim_time", "use_namespace", "use_composition", "use_respawn")


@dataclass
class Foreign:
    """A launch file of another package that would be included."""

    file: Path
    launch_arguments: Any


@dataclass
class WithForeign(Visit):
    """A visit that notes what other packages' launch files are given."""

    foreign: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def visit(self, entity: Any) -> None:
        """Record a third-party launch file; visit anything else as usual."""
        if isinstance(entity, Foreign):
            given = {self._text(k): self._text(v) for k, v in entity.launch_arguments}
            self.foreign.append((entity.file.name, given))
        else:
            super().visit(entity)

    def _text(self, value: Any) -> str:
        return perform_substitutions(self.context, normalize_to_list_of_substitutions(value))


def evaluated(file: Path, **arguments: str) -> Iterator[tuple[str, bool | None]]:
    """Iterate over what a file starts with all parts on: its name, and its use_sim_time."""
    parts = {name: "true" for name in visit_launch(file, WithForeign, world_file=WORLD).declared()}
    given = {k: v for k, v in parts.items() if k.startswith("use_") and k not in NO_PART}
    given |= {"world_file": WORLD, "headless": "false", "prefix": "env", **arguments}
    visit = visit_launch(file, WithForeign, **given)
    for node in visit.nodes:
        yield node.executable, _switch(node.parameters.get("use_sim_time"))
    for name, values in visit.foreign:
        yield name, _switch(values.get("use_sim_time"))


def _switch(value: Any) -> bool | None:
    return None if value is None else str(value).lower() == "true"


@pytest.fixture(autouse=True)
def all_consumers_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch_helpers, "missing_package", lambda package: "")
    monkeypatch.setattr(launch_helpers, "get_package_share_directory", lambda package: package)
    monkeypatch.setattr(launch_helpers, "PythonLaunchDescriptionSource", Path)
    monkeypatch.setattr(launch_helpers, "IncludeLaunchDescription", Foreign)


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
