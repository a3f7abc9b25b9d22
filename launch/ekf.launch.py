# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fuse odometry, IMU and GPS with robot_localization: `ros2 launch mvsim_ros2 ekf.launch.py`.

Without robot_localization a message is logged, and the simulator runs alone.
"""

from pathlib import Path
from typing import Any

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
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mvsim_core import MvsimError
from mvsim_ros2.launch_helpers import (
    datum_of,
    declare_arguments,
    node_if_installed,
    node_parameters,
)

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "world_file": (str(SHARE / "worlds" / "field.world.xml"), "World file to simulate."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
    "params_file": (str(SHARE / "params" / "sim.yaml"), "Parameters of the simulator."),
    "ekf_params_file": (str(SHARE / "params" / "ekf.yaml"), "Parameters of robot_localization."),
    "use_ekf": ("true", "Start robot_localization."),
    "use_gps": ("false", "Fuse GPS too; the world needs a georeference."),
    "datum": (
        "",
        "Origin of the map: [latitude, longitude, 0.0] in degrees, as floats; empty: the origin of"
        " the world.",
    ),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "ekf.rviz"), "RViz configuration."),
    "headless": ("false", "Open no window, RViz included."),
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
}
SIM_ARGUMENTS = (
    *("world_file", "use_sim_time", "params_file", "use_rviz", "rviz_config_file", "headless"),
    "realtime_factor",
)


def _set_datum(context: LaunchContext) -> list[Any]:
    """Set the datum to the origin of the world, so that both maps have the same origin."""
    name = LaunchConfiguration("world_file").perform(context)
    if LaunchConfiguration("datum").perform(context):
        return []
    try:
        datum = datum_of(name)
    except MvsimError:
        return []  # the simulator reports the errors of the file
    if not datum:
        return [LogInfo(msg=f"{name} has no <georeference>: GPS waits for the argument datum")]
    return [SetLaunchConfiguration("datum", datum)]


def generate_launch_description() -> LaunchDescription:
    """Return simulator and filters; the filter publishes odom -> base_footprint."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    given = {name: LaunchConfiguration(name) for name in SIM_ARGUMENTS}
    given["publish_tf_odom2baselink"] = "false"
    given["do_fake_localization"] = "false"
    filter_parameters = [
        LaunchConfiguration("ekf_params_file"),
        *node_parameters(use_sim_time=LaunchConfiguration("use_sim_time")),
    ]
    local = node_if_installed(
        package="robot_localization",
        executable="ekf_node",
        name="ekf_odom",
        output="screen",
        parameters=filter_parameters,
        condition=IfCondition(LaunchConfiguration("use_ekf")),
    )
    gps = IfCondition(LaunchConfiguration("use_gps"))
    world = node_if_installed(
        package="robot_localization",
        executable="ekf_node",
        name="ekf_map",
        output="screen",
        parameters=filter_parameters,
        remappings=[("odometry/filtered", "odometry/global")],
        condition=gps,
    )
    navsat = node_if_installed(
        package="robot_localization",
        executable="navsat_transform_node",
        name="navsat_transform",
        output="screen",
        parameters=[*filter_parameters, *node_parameters(datum=LaunchConfiguration("datum"))],
        remappings=[("imu", "imu/data"), ("odometry/filtered", "odometry/global")],
        condition=gps,
    )
    simulator = GroupAction([IncludeLaunchDescription(sim, launch_arguments=given.items())])
    datum = OpaqueFunction(function=_set_datum, condition=gps)
    return LaunchDescription(
        [*declare_arguments(ARGUMENTS), simulator, local, datum, world, navsat]
    )
