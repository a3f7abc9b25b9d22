# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Who may import whom: rooms in one order, so that there are no circles; no ROS in the core."""

import ast
import functools
from pathlib import Path

import pytest

from mvsim_core.kernel_cache import WITHOUT_KERNELS

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "mvsim_core" / "mvsim_core"
BRIDGE = ROOT / "mvsim_ros2" / "mvsim_ros2"

ROOMS = (
    *("errors", "registry", "progress", "kernel_cache", "threads", "heap"),
    *("geometry", "specs", "state", "resources", "meshes", "xmlfile", "schema"),
    *("solver", "terrain", "elements", "dynamics", "friction", "controllers", "kinematics"),
    *("animation", "scene3d", "rendering", "sensors", "recording"),
    *("world", "assembly", "comms", "bags", "viewer", "envs", "bench", "tuning", "batches", "cli"),
)
"""The rooms of the core from the bottom up: each imports only from those before it."""

ONLY_IN = {
    "typer": {"cli"},
    "PIL": {"cli", "elements", "rendering", "scene3d", "sensors", "viewer"},
    "matplotlib": {"recording", "tuning"},
    "pyarrow": {"batches", "recording"},
    "ray": {"batches"},
    "google": {"cli", "comms"},
    "zmq": {"comms"},
    "mcap": {"bags"},
    "rosbags": {"bags"},
    "viser": {"viewer"},
    "gymnasium": {"envs"},
    "pettingzoo": {"envs"},
}
"""Library -> the parts of the core that may know it."""

ROS = ("ament", "launch", "rcl", "ros", "tf2", "geometry_msgs", "nav_msgs", "sensor_msgs")
NO_ROS = {"rosbags"}
"""Pure Python, in spite of its name."""


@functools.cache
def _imports(path: Path) -> set[str]:
    """Absolute names of the modules that a file imports at run time, also inside functions."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    package = path.relative_to(CORE.parent if CORE in path.parents else BRIDGE.parent).parts[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, node.module) if node.module else base)
            found.update(f"{module}.{alias.name}" for alias in node.names)
    return found


def _part(path: Path) -> str:
    return path.relative_to(CORE).parts[0].removesuffix(".py")


CORE_FILES = sorted(CORE.rglob("*.py"))


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(CORE)))
def test_core_imports(path: Path) -> None:
    imports = _imports(path)
    roots = {name.split(".")[0] for name in imports}
    assert not [name for name in roots - NO_ROS if name.startswith(ROS)], "the core knows no ROS"
    inside = {name.split(".")[1] for name in imports if name.startswith("mvsim_core.")}
    if path != CORE / "__init__.py":  # the public names come from everywhere, when first used
        allowed = set(ROOMS[: ROOMS.index(_part(path)) + 1])
        assert not (inside & set(ROOMS)) - allowed, f"{_part(path)} must not import these"
    for library, parts in ONLY_IN.items():
        assert library not in roots or _part(path) in parts, f"{library} belongs to {parts}"


@pytest.mark.parametrize("path", sorted(BRIDGE.rglob("*.py")), ids=lambda p: p.name)
def test_bridge_knows_no_physics(path: Path) -> None:
    roots = {name.split(".")[0] for name in _imports(path)}
    assert not roots & {"numba", "pyb2d3", "scipy"}
    inside = {name.split(".")[1] for name in _imports(path) if name.startswith("mvsim_core.")}
    assert not inside & {"controllers", "dynamics", "friction", "solver", "terrain", "xmlfile"}


@pytest.mark.parametrize("path", CORE_FILES, ids=lambda p: str(p.relative_to(CORE)))
def test_the_kernels_cache_covers_all_that_kernels_depend_on(path: Path) -> None:
    if _part(path) in WITHOUT_KERNELS:
        assert "njit(" not in path.read_text(), "the cache would not see a change of this kernel"
    elif path != CORE / "__init__.py":
        used = {name.split(".")[1] for name in _imports(path) if name.startswith("mvsim_core.")}
        assert not used & set(WITHOUT_KERNELS), "a kernel of this room could depend on these"


def test_every_room_has_its_place() -> None:
    parts = {_part(path) for path in CORE_FILES} - {"__init__"}
    assert parts == set(ROOMS)
