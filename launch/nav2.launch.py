# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A robot with Nav2: `ros2 launch mvsim_ros2 nav2.launch.py`, with slam:=True without a map.

The arguments are those of Nav2's own simulation launch files. AMCL is told by the simulator where
the robot is, in any world. `use_simulator:=False namespace:=robot2` brings up Nav2 for one robot
of a simulator that runs already. Where nav2_bringup is not installed this is said, and the
simulator runs alone.
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
from launch.substitutions import (
    AndSubstitution,
    LaunchConfiguration,
    NotSubstitution,
    PythonExpression,
)
from launch_ros.actions import PushRosNamespace

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import (
    declare_arguments,
    launch_if_installed,
    params_with_namespaced_costmaps,
)

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
    "robot_name": ("", "The vehicle in the world file; empty: its only one."),
    "x_pose": ("", "Where the robot begins [m]; empty: where the world file says, and so on."),
    "y_pose": ("", "Where the robot begins [m]."),
    "z_pose": ("", "Height at which the ground is looked for [m]."),
    "roll": ("", "How the robot begins [rad]; mostly the ground says."),
    "pitch": ("", "How the robot begins [rad]; mostly the ground says."),
    "yaw": ("", "How the robot begins [rad]."),
    "use_sim_time": ("true", "All nodes take their time from /clock."),
    "params_file": (str(SHARE / "params" / "nav2.yaml"), "Parameters of Nav2."),
    "sim_params_file": (str(SHARE / "params" / "sim.yaml"), "Parameters of the simulator."),
    "autostart": ("true", "Bring Nav2's nodes up at once."),
    "use_composition": ("True", "Run Nav2 in one process."),
    "use_respawn": ("False", "Start nodes of Nav2 again that have ended."),
    "use_intra_process_comms": ("False", "Let nodes of Nav2 in one process share messages."),
    "log_level": ("info", "Log level of Nav2."),
    "use_nav2": ("true", "Start Nav2 at all."),
    "use_simulator": ("True", "Start the simulator at all."),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "nav2.rviz"), "Configuration of RViz."),
    "headless": ("false", "Open no window at all, RViz included."),
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
    "enable_stamped_cmd_vel": ("auto", "Type of cmd_vel: auto suits Jazzy and later Nav2."),
}
PASSED = (
    *("map", "slam", "namespace", "use_namespace", "use_sim_time", "params_file", "autostart"),
    *("use_composition", "use_respawn", "use_intra_process_comms", "log_level"),
)
SIMULATED = (
    *("world_file", "use_sim_time", "headless"),
    *("realtime_factor", "enable_stamped_cmd_vel"),
)
START = (
    *("robot_name", " x=", "x_pose", " y=", "y_pose", " z=", "z_pose"),
    *(" roll=", "roll", " pitch=", "pitch", " yaw=", "yaw"),
)
#: What this Nav2 is not asked to do, for there are no masks.
WITHOUT = {"use_keepout_zones": "False", "use_speed_zones": "False"}


def _namespaced(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """Move the absolute topics of the parameter file into the namespace."""
    namespace = context.launch_configurations["namespace"]
    path = params_with_namespaced_costmaps(context.launch_configurations["params_file"], namespace)
    return [SetLaunchConfiguration("params_file", path)]


def generate_launch_description() -> LaunchDescription:
    """Return simulator, RViz and Nav2; the localiser publishes map -> odom."""
    sim, rviz = (
        PythonLaunchDescriptionSource(str(SHARE / "launch" / f"{name}.launch.py"))
        for name in ("sim", "rviz")
    )
    used = IfCondition(LaunchConfiguration("use_namespace"))
    push = PushRosNamespace(LaunchConfiguration("namespace"), condition=used)
    given = {
        **{name: LaunchConfiguration(name) for name in SIMULATED},
        "params_file": LaunchConfiguration("sim_params_file"),
        "start_poses": [LaunchConfiguration(s) if s in ARGUMENTS else s for s in START],
        "do_fake_localization": "false",
        "publish_initialpose": "true",
        "use_rviz": "false",
    }
    simulator = GroupAction(
        [push, IncludeLaunchDescription(sim, launch_arguments=given.items())],
        condition=IfCondition(LaunchConfiguration("use_simulator")),
    )
    windows = NotSubstitution(LaunchConfiguration("headless"))
    window = GroupAction(
        [push, IncludeLaunchDescription(rviz)],
        condition=IfCondition(AndSubstitution(LaunchConfiguration("use_rviz"), windows)),
    )
    parameters = OpaqueFunction(function=_namespaced, condition=used)
    navigation = launch_if_installed(
        "nav2_bringup",
        "bringup_launch.py",
        {**WITHOUT, **{name: LaunchConfiguration(name) for name in PASSED}},
        condition=IfCondition(LaunchConfiguration("use_nav2")),
        needed={"slam_toolbox": IfCondition(LaunchConfiguration("slam"))},
    )
    actions = [simulator, window, parameters, navigation]
    return LaunchDescription([*declare_arguments(ARGUMENTS), *actions])
