# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A robot on four wheels with nearly every kind of sensor, on a depot with trees."""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "rviz_config_file": (str(SHARE / "rviz" / "depot.rviz"), "RViz configuration."),
}


def generate_launch_description() -> LaunchDescription:
    """Return sim.launch.py with this world; it accepts its other arguments too."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    world = {"world_file": str(SHARE / "worlds" / "depot.world.xml")}
    return LaunchDescription(
        [
            *declare_arguments(ARGUMENTS),
            IncludeLaunchDescription(sim, launch_arguments=world.items()),
        ]
    )
