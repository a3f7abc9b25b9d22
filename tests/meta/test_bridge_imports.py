# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Folders of the bridge import in one direction; its simulation knows no ROS."""

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BRIDGE = ROOT / "mvsim_ros2" / "mvsim_ros2"

MAY_IMPORT: dict[str, set[str]] = {
    "parameters": set(),
    "names": {"parameters"},
    "conversions": {"parameters", "names"},
    "simulation": set(),
    "runtime": {"conversions", "simulation"},
    "inputs": {"parameters", "names", "conversions", "simulation", "runtime"},
    "outputs": {"parameters", "names", "conversions", "simulation"},
    "services": {"parameters", "conversions", "simulation", "runtime"},
}
"""Folder of the bridge -> folders that it may import besides itself."""


def _imports(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


def _files(folder: str) -> list[Path]:
    return sorted((BRIDGE / folder).glob("*.py"))


def test_every_folder_has_a_rule() -> None:
    assert {path.parent.name for path in BRIDGE.glob("*/*.py")} == set(MAY_IMPORT)


@pytest.mark.parametrize("folder", MAY_IMPORT)
def test_imports_between_folders(folder: str) -> None:
    for path in _files(folder):
        names = [name.split(".") for name in _imports(path)]
        parts = {name[1] for name in names if name[0] == "mvsim_ros2" and len(name) > 1}
        assert parts - {folder} <= MAY_IMPORT[folder], path.name


def test_the_simulation_knows_no_ros() -> None:
    for path in _files("simulation"):
        roots = {name.split(".")[0] for name in _imports(path)} - set(sys.stdlib_module_names)
        assert roots <= {"mvsim_core", "mvsim_ros2", "numpy", "re2"}, path.name


def test_nothing_imports_the_demo() -> None:
    for path in BRIDGE.rglob("*.py"):
        assert not [name for name in _imports(path) if name.startswith("mvsim_demo")], path.name
