# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simulate a world: `ros2 launch mvsim_ros2 sim.launch.py world_file:=my.world.xml`."""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import AndSubstitution, LaunchConfiguration, NotSubstitution
from launch_ros.actions import Node

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, node_parameters, shutdown_once

SHARE = Path(__file__).absolute().parents[1]

#: Arguments that are also parameters of the node: default and help.
PARAMETERS = {
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
    "enable_stamped_cmd_vel": ("auto", "Type of cmd_vel: auto, true (TwistStamped) or false."),
    "frame_prefix": ("", "Prefix of frames, <name> is the vehicle; all then share one /tf."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
    "headless": ("false", "Open no window, RViz and browser included."),
    "viewer": ("false", "Show the world in browsers, see docs/viewer.md."),
    "record": ("", "MCAP file to record to, see docs/recording.md; empty: none."),
    "start_poses": ("", "Initial poses, such as r1 x=1.0 y=-2.0 yaw=1.57 [m, rad]."),
    "do_fake_localization": ("true", "Publish map -> odom from the true pose."),
    "publish_initialpose": ("false", "Publish the true pose on initialpose, for AMCL."),
    "publish_tf_odom2baselink": ("true", "Publish odom -> base_footprint."),
    "force_publish_vehicle_namespace": ("false", "Use a namespace even for a single vehicle."),
    "publish_log_topics": ("false", "Publish each column of the logs on a topic."),
}
OTHERS = {
    "params_file": (str(SHARE / "params" / "sim.yaml"), "Further parameters of the node."),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "sim.rviz"), "RViz configuration."),
    "rviz_namespace": ("", "Namespace of the robot that RViz shows, if any."),
}
#: Texts that must not be read as YAML.
TEXTS = ("world_file", "frame_prefix", "record", "start_poses")


def generate_launch_description() -> LaunchDescription:
    """Return the simulator, and RViz beside it; both end with the simulator."""
    world = DeclareLaunchArgument("world_file", description="World file to simulate.")
    values = {name: LaunchConfiguration(name) for name in ("world_file", *PARAMETERS)}
    simulator = Node(
        package="mvsim_ros2",
        executable="mvsim_node",
        name="mvsim",
        output="screen",
        parameters=[LaunchConfiguration("params_file"), *node_parameters(TEXTS, **values)],
        on_exit=shutdown_once("the simulator has ended"),
    )
    with_windows = NotSubstitution(LaunchConfiguration("headless"))
    rviz = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "rviz.launch.py")),
        condition=IfCondition(AndSubstitution(LaunchConfiguration("use_rviz"), with_windows)),
    )
    return LaunchDescription(
        [world, *declare_arguments({**PARAMETERS, **OTHERS}), simulator, rviz]
    )
