# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Make a map with slam_toolbox: `ros2 launch mvsim_ros2 slam.launch.py`.

Without slam_toolbox a message is logged, and the simulator runs alone.
"""

from pathlib import Path

from launch.actions import GroupAction, IncludeLaunchDescription
from launch.conditions import IfCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, launch_if_installed

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "world_file": (str(SHARE / "worlds" / "warehouse.world.xml"), "World file to simulate."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
    "params_file": (str(SHARE / "params" / "sim.yaml"), "Parameters of the simulator."),
    "slam_params_file": (str(SHARE / "params" / "slam.yaml"), "Parameters of slam_toolbox."),
    "autostart": ("true", "Bring up slam_toolbox at once."),
    "use_slam": ("true", "Start slam_toolbox."),
    "use_rviz": ("true", "Start RViz."),
    "rviz_config_file": (str(SHARE / "rviz" / "sim.rviz"), "RViz configuration."),
    "headless": ("false", "Open no window, RViz included."),
    "realtime_factor": ("1.0", "Simulated seconds per second, or max."),
}
SIM_ARGUMENTS = (
    *("world_file", "use_sim_time", "params_file", "use_rviz", "rviz_config_file", "headless"),
    "realtime_factor",
)


def generate_launch_description() -> LaunchDescription:
    """Return simulator and slam_toolbox, which publishes map and map -> odom."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    given = {name: LaunchConfiguration(name) for name in SIM_ARGUMENTS}
    simulator = GroupAction(
        [
            IncludeLaunchDescription(
                sim, launch_arguments={**given, "do_fake_localization": "false"}.items()
            )
        ]
    )
    slam = launch_if_installed(
        "slam_toolbox",
        "online_async_launch.py",
        {
            "use_sim_time": LaunchConfiguration("use_sim_time"),
            "slam_params_file": LaunchConfiguration("slam_params_file"),
            "autostart": LaunchConfiguration("autostart"),
            "use_lifecycle_manager": "false",
        },
        condition=IfCondition(LaunchConfiguration("use_slam")),
    )
    return LaunchDescription([*declare_arguments(ARGUMENTS), simulator, slam])
