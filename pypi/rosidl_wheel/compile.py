# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles generated sources into the libraries that an ament build installs.

Files of one library and one kind (`msg`, `srv`, `action`) are compiled as one unit: each of them
includes the same large headers, which takes most of the time.
"""

import json
import os
import shlex
import subprocess
import sysconfig
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from .generate import Tree
from .packages import InterfacePackage

KINDS = ("msg", "srv", "action")
FLAGS = ["-O1", "-DNDEBUG", "-fPIC", "-w"]
C_FLAGS = ["-std=gnu11", *FLAGS]
CXX_FLAGS = ["-std=c++17", *FLAGS]


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """One shared library of each interface package: `lib<package>__<name>.so`."""

    name: str
    """Also the name of the generator that writes its sources."""
    sources: tuple[str, ...]
    """Glob patterns below a kind's folder."""
    links: tuple[str, ...] = ()
    """Other libraries of this package and of those it uses."""
    runtime: tuple[str, ...] = ()
    """Libraries of the ROS wheels."""


LIBRARIES = (
    Library(
        name="rosidl_generator_c",
        sources=("detail/*__functions.c", "detail/*__type_support.c"),
        runtime=("rosidl_runtime_c", "rosidl_typesupport_c", "rcutils"),
    ),
    Library(
        name="rosidl_typesupport_fastrtps_c",
        sources=("detail/*__type_support_c.cpp",),
        links=("rosidl_generator_c",),
        runtime=(
            "rosidl_typesupport_fastrtps_c",
            "rosidl_typesupport_fastrtps_cpp",
            "rosidl_runtime_c",
            "rcutils",
            ":libfastcdr.so.2",
        ),
    ),
    Library(
        name="rosidl_typesupport_introspection_c",
        sources=("detail/*__type_support.c",),
        links=("rosidl_generator_c",),
        runtime=("rosidl_typesupport_introspection_c", "rosidl_runtime_c"),
    ),
    Library(
        name="rosidl_typesupport_c",
        sources=("*__type_support.cpp",),
        links=("rosidl_generator_c",),
        runtime=("rosidl_typesupport_c", "rosidl_runtime_c"),
    ),
    Library(
        name="rosidl_generator_py",
        sources=("_*_s.c",),
        links=("rosidl_generator_c", "rosidl_typesupport_c"),
        runtime=("rosidl_runtime_c",),
    ),
)


@dataclass(frozen=True, slots=True)
class Unit:
    """One call of a compiler."""

    source: Path
    includes: tuple[Path, ...]

    @property
    def object(self) -> Path:
        """The file that `compile` writes."""
        return self.source.with_suffix(self.source.suffix + ".o")

    def compile(self) -> None:
        """Compiles the source file."""
        is_c = self.source.suffix == ".c"
        command = [*_compiler(is_c), *(C_FLAGS if is_c else CXX_FLAGS)]
        paths = [f"-I{path}" for path in self.includes]
        _call([*command, *paths, "-c", str(self.source), "-o", str(self.object)])


def compile_packages(packages: list[InterfacePackage], tree: Tree, jobs: int) -> None:
    """Compiles packages (in build order) to `build/lib` and `build/python`."""
    (tree.build / "lib").mkdir()
    units = {p.name: _units(p, tree) for p in packages}
    flat = [unit for of_package in units.values() for part in of_package.values() for unit in part]
    flat.sort(key=lambda unit: unit.source.stat().st_size, reverse=True)
    with ThreadPoolExecutor(jobs) as pool:
        for job in [pool.submit(unit.compile) for unit in flat]:
            job.result()
    for package in packages:
        for library in LIBRARIES:
            _link(package, library, units[package.name][library.name], tree)
        _link_module(package, units[package.name]["module"], tree)


def _units(package: InterfacePackage, tree: Tree) -> dict[str, list[Unit]]:
    """The units of each library of a package; `module` is the Python extension."""
    units = {lib.name: _library_units(package, lib, tree) for lib in LIBRARIES}
    includes = _includes(package, tree)
    # Each description has static names of its own that would clash in a common unit.
    descriptions = tree.sources("rosidl_generator_c", package.name).glob("*/*/*__description.c")
    units["rosidl_generator_c"] += [Unit(path, includes) for path in sorted(descriptions)]
    entry = f"_{package.name}_s.ep.rosidl_typesupport_c.c"
    module = tree.sources("rosidl_generator_py", package.name) / entry
    units["module"] = [Unit(module, includes)]
    return units


def _library_units(package: InterfacePackage, library: Library, tree: Tree) -> list[Unit]:
    top = tree.sources(library.name, package.name)
    units = []
    for kind in KINDS:
        files = sorted(path for glob in library.sources for path in (top / kind).glob(glob))
        if files:
            source = top / f"{kind}{files[0].suffix}"
            source.write_text("".join(f'#include "{path}"\n' for path in files))
            units.append(Unit(source, _includes(package, tree)))
    return units


def _includes(package: InterfacePackage, tree: Tree) -> tuple[Path, ...]:
    import numpy as np

    own = [tree.build / library.name for library in LIBRARIES]
    # The wheels have one folder for each package, and fastcdr directly in include/.
    wheels = [tree.prefix / "include" / name for name in _wheel_packages(tree)]
    python = Path(sysconfig.get_path("include"))
    return (*own, python, Path(np.get_include()), tree.prefix / "include", *wheels)


def _wheel_packages(tree: Tree) -> list[str]:
    """The packages that the ROS wheels bring headers of."""
    return sorted(path.name for path in (tree.prefix / "include").iterdir() if path.is_dir())


def _link(package: InterfacePackage, library: Library, units: list[Unit], tree: Tree) -> None:
    output = tree.build / "lib" / f"lib{package.name}__{library.name}.so"
    own = [f"{package.name}__{name}" for name in library.links]
    parts = (library.name, *library.links)
    others = [f"{name}__{part}" for name in _used_packages(package, tree) for part in parts]
    _link_shared(output, units, [*own, *others, *library.runtime], "$ORIGIN", tree)


def _link_module(package: InterfacePackage, units: list[Unit], tree: Tree) -> None:
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    folder = tree.build / "python" / package.name
    folder.mkdir(parents=True)
    output = folder / f"{package.name}_s__rosidl_typesupport_c{suffix}"
    own = [f"{package.name}__{library.name}" for library in LIBRARIES]
    # From <prefix>/lib/python3.x/site-packages/<package> to <prefix>/lib
    runtime = ("rosidl_typesupport_c", "rosidl_runtime_c")
    _link_shared(output, units, [*own, *runtime], "$ORIGIN/../../..", tree)


def _link_shared(
    output: Path, units: list[Unit], libraries: list[str], rpath: str, tree: Tree
) -> None:
    objects = [str(unit.object) for unit in units]
    folders = [f"-L{folder}" for folder in (tree.build / "lib", tree.prefix / "lib")]
    command = [*_compiler(is_c=False), "-shared", "-s", f"-Wl,-rpath,{rpath}", *folders]
    # The wheels' own libraries name further ones that only the loader has to find.
    command += ["-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined", "-o", str(output)]
    _call([*command, *objects, *(f"-l{name}" for name in libraries)])


def _used_packages(package: InterfacePackage, tree: Tree) -> list[str]:
    """The other packages whose types a package's types contain, also those that rosidl adds."""
    share = tree.share(package.name)
    has_actions = any(file.suffix == ".action" for file in package.files)
    found = {"action_msgs"} if has_actions else set()  # each action has action_msgs/CancelGoal
    for file in package.files:
        described = json.loads((share / file).with_suffix(".json").read_text())
        inner = described["type_description_msg"]["referenced_type_descriptions"]
        found.update(part["type_name"].split("/")[0] for part in inner)
    return sorted(found - {package.name})


def _compiler(is_c: bool) -> list[str]:
    variable, default = ("CC", "cc") if is_c else ("CXX", "c++")
    return shlex.split(os.environ.get(variable, default))


def _call(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"{shlex.join(command)}\n{result.stdout}{result.stderr}")
