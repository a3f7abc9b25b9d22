# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A car with two trailers; frames have a prefix, so that one RViz shows all."""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, multi_robot_arguments

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = multi_robot_arguments(SHARE / "rviz", "trailers", "wagon1")


def generate_launch_description() -> LaunchDescription:
    """Return sim.launch.py with this world; it accepts its other arguments too."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    world = {"world_file": str(SHARE / "worlds" / "trailers.world.xml")}
    return LaunchDescription(
        [
            *declare_arguments(ARGUMENTS),
            IncludeLaunchDescription(sim, launch_arguments=world.items()),
        ]
    )
