# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A robot with Nav2: `ros2 launch mvsim_ros2 nav2.launch.py`; slam:=True runs without a map.

The arguments are those of Nav2's own simulation launch files. The simulator publishes the initial
pose for AMCL. `use_simulator:=False namespace:=robot2` brings up Nav2 for one robot of a running
simulator. Without nav2_bringup a message is logged, and the simulator runs alone.
"""

from pathlib import Path

from launch.actions import (
    GroupAction,
    IncludeLaunchDescription,
    LogInfo,
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
    "slam": ("False", "Make a map with slam_toolbox instead of localising in a map."),
    "namespace": ("", "Namespace of the robot and of Nav2."),
    "use_namespace": (
        PythonExpression(["'", LaunchConfiguration("namespace"), "' != ''"]),
        "Whether to use it; by default if one is given.",
    ),
    "robot_name": ("", "The vehicle in the world file; empty: its only one."),
    "x_pose": ("", "Initial x [m]; empty: that of the world file, and likewise below."),
    "y_pose": ("", "Initial y [m]."),
    "z_pose": ("", "Height at which the ground is searched for [m]."),
    "roll": ("", "Initial roll [rad]; set by the ground for most vehicles."),
    "pitch": ("", "Initial pitch [rad]; set by the ground for most vehicles."),
    "yaw": ("", "Initial yaw [rad]."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
    "params_file": (str(SHARE / "params" / "nav2.yaml"), "Parameters of Nav2."),
    "sim_params_file": (str(SHARE / "params" / "sim.yaml"), "Parameters of the simulator."),
    "autostart": ("true", "Bring up the nodes of Nav2 at once."),
    "use_composition": ("True", "Run Nav2 in one process."),
    "use_respawn": ("False", "Restart nodes of Nav2 that have ended."),
    "use_intra_process_comms": ("False", "Use intra-process communication in Nav2."),
    "log_level": ("info", "Log level of Nav2."),
    "use_nav2": ("true", "Start Nav2."),
    "use_simulator": ("True", "Start the simulator."),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "nav2.rviz"), "RViz configuration."),
    "headless": ("false", "Open no window, RViz included."),
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
    "enable_stamped_cmd_vel": ("auto", "Type of cmd_vel: auto suits Jazzy and later Nav2."),
}
NAV2_ARGUMENTS = (
    *("map", "slam", "namespace", "use_namespace", "use_sim_time", "params_file", "autostart"),
    *("use_composition", "use_respawn", "use_intra_process_comms", "log_level"),
)
SIM_ARGUMENTS = (
    *("world_file", "use_sim_time", "headless"),
    *("realtime_factor", "enable_stamped_cmd_vel"),
)
START_POSE = (
    *("robot_name", " x=", "x_pose", " y=", "y_pose", " z=", "z_pose"),
    *(" roll=", "roll", " pitch=", "pitch", " yaw=", "yaw"),
)
#: Nav2 features that need masks, which do not exist here.
DISABLED = {"use_keepout_zones": "False", "use_speed_zones": "False"}


def _namespaced(context: LaunchContext) -> list[SetLaunchConfiguration]:
    """Add the namespace to the absolute topics of the parameter file."""
    namespace = context.launch_configurations["namespace"]
    path = params_with_namespaced_costmaps(context.launch_configurations["params_file"], namespace)
    return [SetLaunchConfiguration("params_file", path)]


def _map_of_another_world(context: LaunchContext) -> list[LogInfo]:
    """Report that another world is simulated with the map of the default one."""
    given = context.launch_configurations
    defaults = {name: ARGUMENTS[name][0] for name in ("world_file", "map")}
    localises = given["use_nav2"].lower() == "true" and given["slam"].lower() != "true"
    if given["world_file"] == defaults["world_file"] or given["map"] != defaults["map"]:
        return []
    text = "nav2.launch.py: map:= is missing, and Nav2 uses the map of building.world.xml"
    return [LogInfo(msg=text)] if localises else []


def generate_launch_description() -> LaunchDescription:
    """Return simulator, RViz and Nav2; the localiser publishes map -> odom."""
    sim, rviz = (
        PythonLaunchDescriptionSource(str(SHARE / "launch" / f"{name}.launch.py"))
        for name in ("sim", "rviz")
    )
    used = IfCondition(LaunchConfiguration("use_namespace"))
    push = PushRosNamespace(LaunchConfiguration("namespace"), condition=used)
    given = {
        **{name: LaunchConfiguration(name) for name in SIM_ARGUMENTS},
        "params_file": LaunchConfiguration("sim_params_file"),
        "start_poses": [LaunchConfiguration(s) if s in ARGUMENTS else s for s in START_POSE],
        "do_fake_localization": "false",
        "publish_initialpose": "true",
        "use_rviz": "false",
    }
    simulator = GroupAction(
        [push, IncludeLaunchDescription(sim, launch_arguments=given.items())],
        condition=IfCondition(LaunchConfiguration("use_simulator")),
    )
    with_windows = NotSubstitution(LaunchConfiguration("headless"))
    rviz_group = GroupAction(
        [push, IncludeLaunchDescription(rviz)],
        condition=IfCondition(AndSubstitution(LaunchConfiguration("use_rviz"), with_windows)),
    )
    parameters = OpaqueFunction(function=_namespaced, condition=used)
    navigation = launch_if_installed(
        "nav2_bringup",
        "bringup_launch.py",
        {**DISABLED, **{name: LaunchConfiguration(name) for name in NAV2_ARGUMENTS}},
        condition=IfCondition(LaunchConfiguration("use_nav2")),
        needed={"slam_toolbox": IfCondition(LaunchConfiguration("slam"))},
    )
    simulated = IfCondition(LaunchConfiguration("use_simulator"))
    check = OpaqueFunction(function=_map_of_another_world, condition=simulated)
    actions = [check, simulator, rviz_group, parameters, navigation]
    return LaunchDescription([*declare_arguments(ARGUMENTS), *actions])
