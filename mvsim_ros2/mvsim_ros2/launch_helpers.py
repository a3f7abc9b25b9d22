# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Helpers of launch files: arguments, and third-party packages that may not be installed.

A package that is missing is reported; the rest of the launch file starts.
"""

from __future__ import annotations

import atexit
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    LogInfo,
    OpaqueFunction,
    Shutdown,
)
from launch.condition import Condition
from launch.launch_context import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import IfElseSubstitution, LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import Parameter

from mvsim_core import read_world


def declare_arguments(arguments: Mapping[str, tuple[Any, str]]) -> list[DeclareLaunchArgument]:
    """Return the declarations of launch arguments.

    Args:
        arguments: {name: (default, description)}; defaults are texts or substitutions.
    """
    return [
        DeclareLaunchArgument(name, default_value=default, description=text)
        for name, (default, text) in arguments.items()
    ]


def multi_robot_arguments(rviz: Path, world: str, first: str) -> dict[str, tuple[Any, str]]:
    """Return arguments of several robots: one /tf for all, or one for each.

    `shared_tf` selects: an argument of `ros2 launch`, such as `frame_prefix`, cannot be empty.

    Args:
        rviz: Folder of the RViz configurations.
        world: Name of the configuration that shows all robots on one /tf.
        first: The robot that RViz shows if each has its own.
    """
    shared = LaunchConfiguration("shared_tf")

    def either(one: str, each: str) -> Any:
        return IfElseSubstitution(shared, one, each)

    config = either(str(rviz / f"{world}.rviz"), str(rviz / "sim.rviz"))
    return {
        "shared_tf": (
            "true",
            "One /tf with prefixed frames; false: plain frames, one tf for each robot.",
        ),
        "frame_prefix": (
            either("<name>/", ""),
            "Prefix of frames; <name>: the vehicle.",
        ),
        "rviz_config_file": (config, "RViz configuration."),
        "rviz_namespace": (
            either("", first),
            "Robot that RViz shows without shared_tf.",
        ),
    }


def node_parameters(texts: Iterable[str] = (), **values: Any) -> list[Parameter]:
    """Return parameters of a node, which are passed on its command line.

    For a dictionary launch_ros would leave a file in the temporary folder each time.

    Args:
        texts: Names of parameters that must not be read as YAML.
        values: Values or substitutions by name.
    """
    return [
        Parameter(name, value, value_type=str if name in texts else None)
        for name, value in values.items()
    ]


def shutdown_once(reason: str) -> OpaqueFunction:
    """Return an action that shuts launch down, unless it is being shut down already.

    A second shutdown while nodes with a life cycle end would end `ros2 launch` with an error.

    Args:
        reason: Why, for the log.
    """

    def stop(context: LaunchContext) -> list[Any]:
        return [] if context.is_shutdown else [Shutdown(reason=reason)]

    return OpaqueFunction(function=stop)


def missing_package(package: str) -> str:
    """Return a message if a package is not installed, "" if it is."""
    try:
        get_package_share_directory(package)
    except (PackageNotFoundError, LookupError, ValueError):
        return (
            f"{package} is not installed: nodes that need it are not started"
            f" (apt: ros-$ROS_DISTRO-{package.replace('_', '-')})"
        )
    return ""


def datum_of(world_file: str) -> str:
    """Return the origin of a world as navsat_transform's parameter datum; "": it has none.

    Args:
        world_file: The world file.

    Raises:
        WorldFileError: The file has errors.
    """
    origin = read_world(world_file)[0].georeference.origin
    if origin is None:
        return ""
    # A whole number ends the node. The third value rotates the map; IMU orientations are
    # relative to east already.
    return f"[{float(origin[0])!r}, {float(origin[1])!r}, 0.0]"


def params_with_namespaced_costmaps(params_file: str, namespace: str) -> str:
    """Return the path of a copy of a Nav2 parameter file for a robot in a namespace.

    The namespace is added to absolute topics of the costmaps; Nav2 adds it to all others. The copy
    is removed when the launch process ends.

    Args:
        params_file: Parameters of Nav2.
        namespace: Namespace of the robot.
    """
    tree = yaml.safe_load(Path(params_file).read_text())
    for name in ("local_costmap", "global_costmap"):
        _add_namespace(tree.get(name, {}), f"/{namespace.strip('/')}")
    with tempfile.NamedTemporaryFile("w", prefix="nav2_", suffix=".yaml", delete=False) as file:
        yaml.safe_dump(tree, file)
    atexit.register(Path(file.name).unlink, missing_ok=True)
    return file.name


def _add_namespace(tree: dict[str, Any], namespace: str) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _add_namespace(value, namespace)
        elif key == "topic" and str(value).startswith("/"):
            tree[key] = namespace + value


def node_if_installed(*, package: str, **arguments: Any) -> OpaqueFunction:
    """Return a node that is started if its package is installed.

    Args:
        package: Its package.
        arguments: Arguments of `launch_ros.actions.Node`.
    """
    condition = arguments.pop("condition", None)

    def start(context: LaunchContext) -> list[Any]:
        message = missing_package(package)
        return [LogInfo(msg=message) if message else Node(package=package, **arguments)]

    return OpaqueFunction(function=start, condition=condition)


def launch_if_installed(
    package: str,
    file: str,
    arguments: Mapping[str, Any],
    *,
    condition: Any = None,
    needed: Mapping[str, Condition] | None = None,
) -> OpaqueFunction:
    """Return the inclusion of a launch file of another package, if that is installed.

    Args:
        package: The package.
        file: Name in the folder launch of the package.
        arguments: Values of its arguments; unknown ones have no effect.
        condition: Whether to include it at all.
        needed: Further packages that it needs, each with the condition.
    """

    def include(context: LaunchContext) -> list[Any]:
        packages = [p for p, when in (needed or {}).items() if when.evaluate(context)]
        messages = [text for text in map(missing_package, (package, *packages)) if text]
        if messages:
            return [LogInfo(msg=text) for text in messages]
        path = Path(get_package_share_directory(package)) / "launch" / file
        source = PythonLaunchDescriptionSource(str(path))
        return [IncludeLaunchDescription(source, launch_arguments=arguments.items())]

    return OpaqueFunction(function=include, condition=condition)
