# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""For launch files: their arguments, and other people's packages, which may not be installed.

What is missing is reported, and the rest starts all the same.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.condition import Condition
from launch.launch_context import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import IfElseSubstitution, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import Parameter


def declared(arguments: Mapping[str, tuple[Any, str]]) -> list[DeclareLaunchArgument]:
    """Return the declarations of arguments, given as {name: (default, description)}.

    Args:
        arguments: Defaults are texts or substitutions.
    """
    return [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in arguments.items()
    ]


def fleet_arguments(rviz: Path, world: str, first: str) -> dict[str, tuple[Any, str]]:
    """Return arguments for several robots: all on one /tf, or each on one of its own.

    An argument of `ros2 launch` cannot be empty: hence `shared_tf`, and not only `frame_prefix`.

    Args:
        rviz: Folder of the configurations of RViz.
        world: Name of the one that shows all robots on one /tf.
        first: The robot that is shown where each has its own.
    """
    shared = LaunchConfiguration("shared_tf")

    def either(one: str, each: str) -> Any:
        return IfElseSubstitution(shared, one, each)

    config = either(str(rviz / f"{world}.rviz"), str(rviz / "sim.rviz"))
    return {
        "shared_tf": ("true", "One /tf, frames are prefixed; false: plain frames, a tf for each."),
        "frame_prefix": (either("<name>/", ""), "Put before frames, <name> is the vehicle."),
        "rviz_config_file": (config, "Configuration of RViz."),
        "rviz_namespace": (either("", first), "The robot that RViz shows without shared_tf."),
    }


def parameters(texts: Iterable[str] = (), **values: Any) -> list[Parameter]:
    """Return parameters of a node, to be given on its command line.

    A dictionary would do as well, but launch_ros leaves a file in the temporary folder for each.

    Args:
        texts: Names of those that must not be read as YAML.
        values: Values or substitutions by name.
    """
    return [
        Parameter(name, value, value_type=str if name in texts else None)
        for name, value in values.items()
    ]


def missing(package: str) -> str:
    """Return a sentence that says that a package is not installed, or "" if it is."""
    try:
        get_package_share_directory(package)
    except (PackageNotFoundError, LookupError, ValueError):
        return (
            f"{package} is not installed: what needs it is not started"
            f" (apt: ros-$ROS_DISTRO-{package.replace('_', '-')})"
        )
    return ""


def costmaps_in_namespace(params_file: str, namespace: str) -> str:
    """Return the path of a copy of a Nav2 parameter file for a robot in a namespace.

    Absolute topics of the costmaps are moved there; all else Nav2 moves itself. The copy is
    removed when this process, the launch, ends.

    Args:
        params_file: Nav2's parameters.
        namespace: Of the robot.
    """
    tree = yaml.safe_load(Path(params_file).read_text())
    for name in ("local_costmap", "global_costmap"):
        _move_topics(tree.get(name, {}), f"/{namespace.strip('/')}")
    with tempfile.NamedTemporaryFile("w", prefix="nav2_", suffix=".yaml", delete=False) as file:
        yaml.safe_dump(tree, file)
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name


def _move_topics(tree: dict[str, Any], namespace: str) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _move_topics(value, namespace)
        elif key == "topic" and str(value).startswith("/"):
            tree[key] = namespace + value


def node_if_installed(*, package: str, **arguments: Any) -> OpaqueFunction:
    """Return a node that is started if its package is installed.

    Args:
        package: Its package.
        arguments: Of `launch_ros.actions.Node`.
    """
    condition = arguments.pop("condition", None)

    def start(context: LaunchContext) -> list[Any]:
        absent = missing(package)
        return [LogInfo(msg=absent) if absent else Node(package=package, **arguments)]

    return OpaqueFunction(function=start, condition=condition)


def launch_if_installed(
    package: str,
    file: str,
    arguments: Mapping[str, Any],
    *,
    condition: Any = None,
    needed: Mapping[str, Condition] | None = None,
) -> OpaqueFunction:
    """Return another package's launch file, included if that is installed.

    Args:
        package: Its package.
        file: Name in the package's folder launch.
        arguments: Values of its arguments; those that it does not know do no harm.
        condition: Whether to include it at all.
        needed: Further packages without which it fails, and when.
    """

    def include(context: LaunchContext) -> list[Any]:
        further = [p for p, when in (needed or {}).items() if when.evaluate(context)]
        absent = [text for text in map(missing, (package, *further)) if text]
        if absent:
            return [LogInfo(msg=text) for text in absent]
        path = Path(get_package_share_directory(package)) / "launch" / file
        source = PythonLaunchDescriptionSource(str(path))
        return [IncludeLaunchDescription(source, launch_arguments=arguments.items())]

    return OpaqueFunction(function=include, condition=condition)
