# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""RViz for one robot or all: `ros2 launch mvsim_ros2 rviz.launch.py rviz_namespace:=robot2`.

The other launch files include it. Without rviz2 a message is logged.
"""

from pathlib import Path

from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, node_if_installed, node_parameters

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "rviz_config_file": (str(SHARE / "rviz" / "sim.rviz"), "RViz configuration."),
    "rviz_namespace": ("", "Namespace of the robot that RViz shows, if any."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
}
#: Topics that RViz uses in the namespace: those of a robot, of Nav2, and of RViz's tools.
RELATIVE = (
    *("tf", "tf_static", "robot_description", "chassis_markers", "odom", "scan", "map"),
    *("points", "camera/points", "camera/image_raw", "camera/depth/image"),
    "odometry/filtered",
    *("plan", "global_costmap/costmap", "global_costmap/costmap_updates"),
    *("local_costmap/costmap", "local_costmap/costmap_updates"),
    *("local_costmap/published_footprint", "initialpose", "goal_pose", "clicked_point"),
)


def generate_launch_description() -> LaunchDescription:
    """Return RViz."""
    rviz = node_if_installed(
        package="rviz2",
        executable="rviz2",
        name="rviz2",
        namespace=LaunchConfiguration("rviz_namespace"),
        arguments=["-d", LaunchConfiguration("rviz_config_file")],
        parameters=node_parameters(use_sim_time=LaunchConfiguration("use_sim_time")),
        remappings=[(f"/{topic}", topic) for topic in RELATIVE],
    )
    return LaunchDescription([*declare_arguments(ARGUMENTS), rviz])
