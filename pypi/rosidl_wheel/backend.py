# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""PEP 517 hooks: `pip wheel ./pypi` and `pip install ./pypi` come in here."""

import os
import shutil
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from .compile import compile_packages
from .generate import Tree, generate, ros_prefix
from .packages import InterfacePackage, read_package, read_packages
from .wheel import Wheel, metadata

HERE = Path(__file__).resolve().parents[1]

NAME = "mvsim-interfaces"
SUMMARY = "ROS 2 interface packages that the MVSim suite needs and PyPI lacks"
REQUIRES = (
    "numpy",
    "ros-kilted-common-interfaces==5.5.1",
    "ros-kilted-rclpy==9.1.2",
    "ros-kilted-rmw-fastrtps-cpp==9.3.3",
)
"""The compiled code fits these versions only."""

Settings = dict[str, Any] | None


def build_wheel(
    wheel_directory: str,
    config_settings: Settings = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds the wheel with all packages of `src/` and returns its file name."""
    packages = read_packages(HERE / "src")
    version = read_package(HERE / "src" / "mvsim_msgs").version
    wheel = Wheel(name=NAME, version=version, summary=SUMMARY, requires=REQUIRES)
    prefix = ros_prefix()
    with tempfile.TemporaryDirectory(prefix="mvsim_interfaces_") as folder:
        tree = Tree(prefix, Path(folder))
        jobs = len(os.sched_getaffinity(0))
        generate(packages, tree, jobs)
        compile_packages(packages, tree, jobs)
        for package in packages:
            _install_modules(package, tree)
            _install_share(package, tree)
        wheel.add_modules(tree.build / "python")
        wheel.add_data(tree.build / "lib", "lib")
        wheel.add_data(tree.build / "share", "share")
        return wheel.write(Path(wheel_directory)).name


def build_sdist(sdist_directory: str, config_settings: Settings = None) -> str:
    """Packs the definitions and this backend, and returns the name of the file."""
    version = read_package(HERE / "src" / "mvsim_msgs").version
    stem = f"{NAME.replace('-', '_')}-{version}"
    with tempfile.TemporaryDirectory(prefix="mvsim_interfaces_") as folder:
        root = Path(folder, stem)
        root.mkdir()
        for name in ("pyproject.toml", "README.md"):
            shutil.copyfile(HERE / name, root / name)
        for name in (
            "rosidl_wheel",
            "src",
        ):  # mvsim_msgs is a link to the folder of this repository
            shutil.copytree(HERE / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
        (root / "PKG-INFO").write_text(metadata(NAME, version, SUMMARY, REQUIRES))
        path = Path(sdist_directory, f"{stem}.tar.gz")
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            archive.add(root, stem)
    return path.name


def get_requires_for_build_sdist(config_settings: Settings = None) -> list[str]:
    """Names nothing beyond `build-system.requires`."""
    return []


def get_requires_for_build_wheel(config_settings: Settings = None) -> list[str]:
    """Names nothing beyond `build-system.requires`."""
    return []


def _install_modules(package: InterfacePackage, tree: Tree) -> None:
    source = tree.sources("rosidl_generator_py", package.name)
    target = tree.build / "python" / package.name
    (target / "__init__.py").touch()
    for path in source.rglob("*.py"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _install_share(package: InterfacePackage, tree: Tree) -> None:
    """Completes the share folder and registers the package in the ament index."""
    share = tree.build / "share" / package.name
    for name in ("package.xml", "LICENSE"):
        if (package.folder / name).is_file():
            shutil.copyfile(package.folder / name, share / name)
    index = tree.build / "share" / "ament_index" / "resource_index"
    files = (f for file in package.files for f in (file, file.with_suffix(".idl")))
    resources = {
        "packages": "",
        "package_run_dependencies": ";".join((*package.depends, "rosidl_default_runtime")),
        "rosidl_interfaces": "".join(f"{file.as_posix()}\n" for file in sorted(files)),
    }
    for kind, text in resources.items():
        (index / kind).mkdir(parents=True, exist_ok=True)
        (index / kind / package.name).write_text(text)
