# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The three packages as colcon, rosdep and pip see them."""

import ast
import configparser
import importlib
import importlib.util
import re
import sys
from pathlib import Path

import pytest
from lxml import etree

import mvsim_core

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("mvsim_core", "mvsim_ros2", "mvsim_msgs")
PYTHON_PACKAGES = ("mvsim_core", "mvsim_ros2")
SHARED = ("launch", "params", "rviz", "worlds")


def _setup(package: str) -> configparser.ConfigParser:
    config = configparser.ConfigParser()
    config.read(ROOT / package / "setup.cfg")
    return config


def _manifest(path: Path) -> etree._Element:
    return etree.parse(str(path)).getroot()


def _manifests() -> list[Path]:
    own = [ROOT / package / "package.xml" for package in PACKAGES]
    return own + sorted((ROOT / "pypi" / "src").glob("*/package.xml"))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("path", _manifests(), ids=lambda path: path.parent.name)
def test_manifest_is_valid(path: Path) -> None:
    root = _manifest(path)
    assert root.tag == "package"
    assert root.get("format") == "3"
    assert root.findtext("name") == path.parent.name
    assert re.fullmatch(r"\d+\.\d+\.\d+", root.findtext("version") or "")
    assert (root.findtext("description") or "").strip()
    assert root.findtext("license") in {"BSD-3-Clause", "Apache-2.0"}
    for maintainer in root.iter("maintainer"):
        assert re.fullmatch(r"[\w.+-]+@[\w-]+(\.[\w-]+)+\w", maintainer.get("email") or "")
    # REP 149 fixes the order of the elements' groups.
    order = ["name", "version", "description", "maintainer", "license", "url", "author"]
    tags = [tag for tag in (child.tag for child in root) if tag in order]
    assert tags == sorted(tags, key=order.index)


def test_versions_agree() -> None:
    versions = {_manifest(ROOT / p / "package.xml").findtext("version") for p in PACKAGES}
    versions |= {_setup(p)["metadata"]["version"] for p in PYTHON_PACKAGES}
    versions.add(mvsim_core.__version__)
    assert len(versions) == 1
    (version,) = versions
    assert f"mvsim_core=={version}" in _lines(_setup("mvsim_ros2")["options"]["install_requires"])


@pytest.mark.parametrize("name", SHARED)
def test_shared_folders_are_links(name: str) -> None:
    link = ROOT / "mvsim_ros2" / name
    assert link.is_symlink()
    assert link.readlink() == Path("..") / name
    assert link.resolve() == ROOT / name


def test_interface_package_is_shared() -> None:
    link = ROOT / "pypi" / "src" / "mvsim_msgs"
    assert link.is_symlink()
    assert link.resolve() == ROOT / "mvsim_msgs"


def test_every_shared_file_is_installed() -> None:
    package = ROOT / "mvsim_ros2"
    globs = [g for row in _setup("mvsim_ros2")["options.data_files"].values() for g in _lines(row)]
    installed = {path for glob in globs for path in package.glob(glob)}
    for name in SHARED:
        wanted = {package / name / p.relative_to(ROOT / name) for p in _files(ROOT / name)}
        assert wanted <= installed, f"add to data_files in mvsim_ros2/setup.cfg: {name}"


def test_the_core_brings_the_worlds() -> None:
    """Who installs the core alone has worlds to run, and the licence."""
    package = ROOT / "mvsim_core"
    assert (package / "worlds").readlink() == Path("..", "worlds")
    globs = [g for row in _setup("mvsim_core")["options.data_files"].values() for g in _lines(row)]
    installed = {path for glob in globs for path in package.glob(glob)}
    wanted = {package / "worlds" / p.relative_to(ROOT / "worlds") for p in _files(ROOT / "worlds")}
    assert wanted <= installed, "add to data_files in mvsim_core/setup.cfg"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_has_the_licence(package: str) -> None:
    assert (ROOT / package / "LICENSE").resolve() == ROOT / "LICENSE"


def _files(folder: Path) -> list[Path]:
    return [p for p in folder.rglob("*") if p.is_file() and p.parent.name != "__pycache__"]


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_commands_exist(package: str) -> None:
    if package == "mvsim_ros2":
        pytest.importorskip("rclpy")
    for line in _lines(_setup(package)["options.entry_points"]["console_scripts"]):
        module, function = line.split("=")[1].strip().split(":")
        assert importlib.util.find_spec(module) is not None, module
        assert callable(getattr(importlib.import_module(module), function))


def test_pinned_requirements_hold_all_direct_ones() -> None:
    pinned = (ROOT / "requirements" / "run.txt").read_text().lower()
    for line in _lines(_setup("mvsim_core")["options"]["install_requires"]):
        name = re.split(r"[<>=~!]", line)[0].lower()
        assert re.search(rf"^{re.escape(name)}==", pinned, re.MULTILINE), name


@pytest.mark.parametrize("package", PACKAGES)
def test_no_package_hides_from_colcon(package: str) -> None:
    # [project] metadata in a package's own pyproject.toml breaks colcon's symlink install.
    assert not (ROOT / package / "pyproject.toml").exists()
    assert not (ROOT / "package.xml").exists()
    assert not (ROOT / "setup.py").exists()
    assert (ROOT / "pypi" / "COLCON_IGNORE").exists()


MODULES = {
    "google-re2": "re2",
    "mapbox-earcut": "mapbox_earcut",
    "pillow": "PIL",
    "protobuf": "google",
    "pyyaml": "yaml",
    "pyzmq": "zmq",
}
WITH_NUMBA = {"llvmlite"}


@pytest.mark.parametrize("package", PYTHON_PACKAGES)
def test_every_import_is_declared(package: str) -> None:
    setup = _setup(package)
    declared = _lines(setup["options"]["install_requires"])
    declared += [line for row in setup["options.extras_require"].values() for line in _lines(row)]
    known = {re.split(r"[<>=~!\[]", line)[0] for line in declared}
    known = {MODULES.get(name, name) for name in known} | WITH_NUMBA
    modules = [folder for folder in (ROOT / package).glob("mvsim_*") if folder.is_dir()]
    known |= {folder.name for folder in modules}
    depends = _manifest(ROOT / package / "package.xml").iter("exec_depend")
    known |= {(depend.text or "").strip() for depend in depends}
    missing = {
        f"{root} ({path.name})"
        for folder in modules
        for path in folder.rglob("*.py")
        for root in _roots(path)
        if root not in known
    }
    assert not missing, f"add to {package}/setup.cfg, package.xml and requirements/run.in"


def _roots(path: Path) -> set[str]:
    """The top-level names of all that a file imports, without the standard library."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.split(".")[0] for name in names} - set(sys.stdlib_module_names)


#: Packages of pip whose rosdep keys are not `python3-` and their name.
ROSDEP = {"pillow": "pil", "pyopengl": "opengl", "pyyaml": "yaml", "pyzmq": "zmq"}


def _without_key() -> set[str]:
    """Return the packages that a ROS workspace gets from pip: no manifest names them."""
    needed, keys = set(), set()
    for package in PYTHON_PACKAGES:
        lines = _lines(_setup(package)["options"]["install_requires"])
        needed |= {re.split("[<>=]", line)[0] for line in lines} - {"mvsim_core"}
        depends = _manifest(ROOT / package / "package.xml").iter("exec_depend")
        keys |= {str(depend.text).removeprefix("python3-") for depend in depends}
    return {name for name in needed if ROSDEP.get(name, name) not in keys}


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        ("README.md", "pip install ", "#"),
        ("Dockerfile.ros", r"--break-system-packages", "&&"),
        (".github/workflows/ros.yml", "--break-system-packages ", "- name"),
        ("docs/DEPENDENCIES.md", "rosdep keys; ", " come from pip"),
        ("mvsim_core/package.xml", "No rosdep keys: ", " come from pip"),
    ],
)
def test_what_a_ros_workspace_takes_from_pip(file: str, before: str, after: str) -> None:
    """Every place that lists it lists all of it."""
    text = (ROOT / file).read_text()
    section = text[text.index("In a ROS 2 workspace") :] if file == "README.md" else text
    listed = section.split(before, 1)[1].split(after, 1)[0]
    expected = _without_key()
    if file == "mvsim_core/package.xml":
        expected -= {"google-re2"}  # only the bridge has it
    assert set(re.findall(r"[\w-]+", listed.replace("\\\n", " "))) - {"and"} == expected
