# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Source code for interface packages, by the official rosidl generators.

The generators are called as their CMake scripts call them: a function that takes the path of a
JSON file with arguments.
"""

import contextlib
import io
import json
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .packages import InterfacePackage

TYPESUPPORTS = ["rosidl_typesupport_fastrtps_c", "rosidl_typesupport_introspection_c"]
"""What `rosidl_typesupport_c` dispatches to: for Fast DDS, and for all that reads types."""


@dataclass(frozen=True, slots=True)
class Tree:
    """Where things are: the ROS wheels' prefix, and the folders of this build."""

    prefix: Path
    """The prefix with the installed ROS wheels; `prefix/share/std_msgs` exists."""
    build: Path

    def share(self, package: str) -> Path:
        """The share folder of a package of this build or of the prefix."""
        own = self.build / "share" / package
        return own if own.is_dir() else self.prefix / "share" / package

    def sources(self, generator: str, package: str) -> Path:
        """The folder of the sources that a generator writes for a package."""
        return self.build / generator / package


def generate(packages: list[InterfacePackage], tree: Tree, jobs: int) -> None:
    """Generates all sources of packages (in build order) below `tree.build`."""
    for package in packages:
        _definitions(package, tree)
    # The longest ones first, so that the processes end at about the same time.
    work = [(name, p) for p in sorted(packages, key=_size, reverse=True) for name in GENERATORS]
    with ProcessPoolExecutor(jobs) as pool:
        for job in [pool.submit(_run, name, package, tree) for name, package in work]:
            job.result()


def _definitions(package: InterfacePackage, tree: Tree) -> None:
    """Writes the share folder: definitions, their IDL, and type descriptions with hashes."""
    from rosidl_adapter import convert_to_idl
    from rosidl_generator_type_description import generate_type_hash

    share = tree.build / "share" / package.name
    share.mkdir(parents=True)
    for file in package.files:
        (share / file).parent.mkdir(exist_ok=True)
        (share / file).write_bytes((package.folder / file).read_bytes())
        with contextlib.redirect_stdout(io.StringIO()):  # it reports each file it reads
            convert_to_idl(share, package.name, file, share)
    generate_type_hash(_arguments("rosidl_generator_type_description", package, tree, share))


def _arguments(generator: str, package: InterfacePackage, tree: Tree, output: Path) -> str:
    share = tree.share(package.name)
    idl = [file.with_suffix(".idl") for file in package.files]
    arguments = {
        "package_name": package.name,
        "output_dir": str(output),
        "template_dir": str(tree.prefix / "share" / generator / "resource"),
        "idl_tuples": [f"{share}:{file}" for file in idl],
        "include_paths": [f"{name}:{tree.share(name)}" for name in _known(tree)],
        "ros_interface_dependencies": [],
        "ros_interface_files": [str(share / file) for file in package.files],
        "target_dependencies": [],
        "type_description_tuples": [f"{i}:{share / i.with_suffix('.json')}" for i in idl],
    }
    path = tree.build / f"{package.name}__{generator}.json"
    path.write_text(json.dumps(arguments))
    return str(path)


def _known(tree: Tree) -> set[str]:
    roots = (tree.prefix / "share", tree.build / "share")
    return {path.parents[1].name for root in roots for path in root.glob("*/*/*.json")}


def _size(package: InterfacePackage) -> int:
    return len(package.files)


def _run(generator: str, package: InterfacePackage, tree: Tree) -> None:
    output = tree.sources(generator, package.name)
    GENERATORS[generator](_arguments(generator, package, tree, output))
    template = f"{generator}__visibility_control.h.in"
    path = tree.prefix / "share" / generator / "resource" / template
    if path.is_file():
        text = path.read_text().replace("@PROJECT_NAME_UPPER@", package.name.upper())
        (output / "msg").mkdir(exist_ok=True)  # included from there, also by services
        header = output / "msg" / template.removesuffix(".in")
        header.write_text(text.replace("@PROJECT_NAME@", package.name))


def _python(arguments: str) -> None:
    from rosidl_generator_py import generate_py

    generate_py(arguments, ["rosidl_typesupport_c"])  # the only one that rclpy imports


def _c(arguments: str) -> None:
    from rosidl_generator_c import generate_c

    generate_c(arguments)


def _fastrtps_c(arguments: str) -> None:
    from rosidl_typesupport_fastrtps_c import generate_typesupport_fastrtps_c

    generate_typesupport_fastrtps_c(arguments)


def _introspection_c(arguments: str) -> None:
    from rosidl_typesupport_introspection_c import generate_c

    generate_c(arguments)


def _typesupport_c(arguments: str) -> None:
    from rosidl_typesupport_c import generate_c

    generate_c(arguments, TYPESUPPORTS)


GENERATORS: dict[str, Callable[[str], None]] = {
    "rosidl_generator_py": _python,
    "rosidl_generator_c": _c,
    "rosidl_typesupport_fastrtps_c": _fastrtps_c,
    "rosidl_typesupport_introspection_c": _introspection_c,
    "rosidl_typesupport_c": _typesupport_c,
}
"""Slowest first."""


def ros_prefix() -> Path:
    """The prefix that holds the ROS wheels which this Python imports."""
    import rosidl_parser

    for folder in Path(rosidl_parser.__file__).resolve().parents:
        if (folder / "share" / "rosidl_generator_c").is_dir():
            return folder
    sys.exit("the ROS wheels are not installed: pip install ros-kilted-rclpy==9.1.2")
