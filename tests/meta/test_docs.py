# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Documents name only files, make targets and commands that exist."""

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from mvsim_core.elements.grid_files import MOST_CELLS
from mvsim_core.elements.occupancy_grid import MOST_BOXES
from mvsim_core.specs.params import MOST_CORNERS
from mvsim_core.specs.simulable import MOST_BODIES, MOST_ELEMENTS, MOST_VEHICLES

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "pypi" / "README.md"])
TOP = ("benchmarks", "docs", "examples", "launch", "mvsim_", "params", "pypi", "requirements")
PATH = re.compile(rf"`((?:{'|'.join(TOP)}|rviz|scripts|tests|worlds)[\w./-]*/[\w./-]*)`")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_files_exist(document: Path) -> None:
    text = document.read_text()
    for name in PATH.findall(text):
        places = (ROOT / name, ROOT / "mvsim_core" / name, document.parent / name)
        assert any(place.exists() for place in places), name


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", document.read_text()):
        if "://" not in target:
            assert (document.parent / target).exists(), target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_pictures_say_what_they_show(document: Path) -> None:
    """For readers who do not see them."""
    for text, target in re.findall(r"!\[([^\]]*)\]\(([^)\s]+)\)", document.read_text()):
        assert len(text.split()) >= 3, target


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_named_make_targets_exist(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"^\s*make ([a-z-]+)", document.read_text(), re.MULTILINE))
    named |= set(re.findall(r"`make ([a-z-]+)", document.read_text()))
    assert named <= targets


def test_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (phony,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    parts_of_others = {"setup", "setup-dev", "style", "types", "tests-side-by-side"}
    for target in set(phony.split()) - {"help"} - parts_of_others:
        assert f'"make {target} ' in makefile


def test_the_readme_s_first_world_and_script_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (ROOT / "README.md").read_text()
    (world,) = re.findall(r"```xml\n(.*?)```", text, re.DOTALL)
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "first.world.xml").write_text(world)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(script, names)
    assert names["world"].warnings == ()
    assert names["world"].time == pytest.approx(3.0)
    assert names["robot"].pose.x == pytest.approx(1.5, abs=0.1)  # 3 s at 0.5 m/s
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_the_limits_of_large_worlds_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "large_worlds.md").read_text()
    shown = dict(re.findall(r"^\| ([a-z ,]+) \| ([\d,]+) \|$", text, re.MULTILINE))
    assert {what: int(number.replace(",", "")) for what, number in shown.items()} == {
        "vehicles": MOST_VEHICLES,
        "vehicles, blocks and actors": MOST_BODIES,
        "elements": MOST_ELEMENTS,
        "cells of a map": MOST_CELLS,
        "boxes of a map": MOST_BOXES,
        "corners of a shape": MOST_CORNERS,
    }


LAUNCHED = re.compile(
    r"^ros2 launch mvsim_ros2 (\S+)((?:[ \\\n]+\w+:=(?:'[^']*'|\S+))*)", re.MULTILINE
)


def _launch_arguments(name: str) -> set[str]:
    """Return the arguments that a launch file declares, and those of sim.launch.py."""
    found: set[str] = {"world_file"}
    for file in {name, "sim.launch.py"} if name != "rviz.launch.py" else {name}:
        tree = ast.parse((ROOT / "launch" / file).read_text())
        keys = {key for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
        found |= {str(key.value) for key in keys if isinstance(key, ast.Constant)}
        found |= set(re.findall(r'DeclareLaunchArgument\(\s*"(\w+)"', ast.unparse(tree)))
    return found


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_shown_launch_commands_are_possible(document: Path) -> None:
    for name, given in LAUNCHED.findall(document.read_text()):
        assert (ROOT / "launch" / name).is_file(), name
        if name.endswith(".py"):
            assert set(re.findall(r"(\w+):=", given)) <= _launch_arguments(name), given
        if name == "nav2.launch.py" and "world_file:=" in given:
            assert "map:=" in given or "slam:=" in given, f"the map of another world: {given}"


def test_an_argument_that_does_not_exist_is_noticed() -> None:
    assert "use_gps" in _launch_arguments("ekf.launch.py")
    assert "use_gsp" not in _launch_arguments("ekf.launch.py")
