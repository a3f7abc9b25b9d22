# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A robot with Nav2: `ros2 launch mvsim_ros2 nav2.launch.py`, with slam:=True without a map.

The arguments are those of Nav2's own simulation launch files. Where nav2_bringup is not installed
this is said, and the simulator runs alone.
"""

from pathlib import Path

from launch.actions import (
    GroupAction,
    IncludeLaunchDescription,
    OpaqueFunction,
    SetLaunchConfiguration,
)
from launch.conditions import IfCondition
from launch.launch_context import LaunchContext
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration, PythonExpression
from launch_ros.actions import PushRosNamespace

from launch import LaunchDescription
from mvsim_ros2.consumers import costmaps_in_namespace, declared, launch_if_installed

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "world_file": (str(SHARE / "worlds" / "building.world.xml"), "World file to simulate."),
    "map": (str(SHARE / "worlds" / "maps" / "building.yaml"), "Map of that world."),
    "slam": ("False", "Make a map with slam_toolbox instead of localising in one."),
    "namespace": ("", "Namespace of the robot and of Nav2."),
    "use_namespace": (
        PythonExpression(["'", LaunchConfiguration("namespace"), "' != ''"]),
        "Whether to use it; by default where one is given.",
    ),
    "use_sim_time": ("true", "All nodes take their time from /clock."),
    "params_file": (str(SHARE / "params" / "nav2.yaml"), "Parameters of Nav2."),
    "sim_params_file": (str(SHARE / "params" / "sim.yaml"), "Parameters of the simulator."),
    "autostart": ("true", "Bring Nav2's nodes up at once."),
    "use_composition": ("True", "Run Nav2 in one process."),
    "use_respawn": ("False", "Start nodes of Nav2 again that have ended."),
    "log_level": ("info", "Log level of Nav2."),
    "use_nav2": ("true", "Start Nav2 at all."),
    "use_simulator": ("True", "Start the simulator at all."),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "sim.rviz"), "Configuration of RViz."),
    "headless": ("false", "Open no window at all, RViz included."),
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
    "enable_stamped_cmd_vel": ("auto", "Type of cmd_vel: auto suits Jazzy and later Nav2."),
}
PASSED = (
    *("map", "slam", "namespace", "use_namespace", "use_sim_time", "params_file", "autostart"),
    *("use_composition", "use_respawn", "log_level"),
)
SIMULATED = (
    *("world_file", "use_sim_time", "use_rviz", "rviz_config_file", "headless"),
    *("realtime_factor", "enable_stamped_cmd_vel"),
)


def _namespaced(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """Move the absolute topics of the parameter file into the namespace."""
    namespace = context.launch_configurations["namespace"]
    path = costmaps_in_namespace(context.launch_configurations["params_file"], namespace)
    return [SetLaunchConfiguration("params_file", path)]


def generate_launch_description() -> LaunchDescription:
    """Return simulator and Nav2; the localiser publishes map -> odom."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    used = IfCondition(LaunchConfiguration("use_namespace"))
    given = {name: LaunchConfiguration(name) for name in SIMULATED}
    given["params_file"] = LaunchConfiguration("sim_params_file")
    simulator = GroupAction(
        [
            PushRosNamespace(LaunchConfiguration("namespace"), condition=used),
            IncludeLaunchDescription(
                sim, launch_arguments={**given, "do_fake_localization": "false"}.items()
            ),
        ],
        condition=IfCondition(LaunchConfiguration("use_simulator")),
    )
    parameters = OpaqueFunction(function=_namespaced, condition=used)
    navigation = launch_if_installed(
        "nav2_bringup",
        "bringup_launch.py",
        {name: LaunchConfiguration(name) for name in PASSED},
        condition=IfCondition(LaunchConfiguration("use_nav2")),
    )
    return LaunchDescription([*declared(ARGUMENTS), simulator, parameters, navigation])
