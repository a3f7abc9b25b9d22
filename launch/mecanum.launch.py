# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A platform on mecanum wheels between pillars; with use_nav2:=true Nav2 drives it.

Nav2 gets a map of the hall and params/nav2_omni.yaml, so that it plans sideways motions too.
"""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.conditions import IfCondition, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import IfElseSubstitution, LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments

SHARE = Path(__file__).absolute().parents[1]
CHOSEN = LaunchConfiguration("use_nav2")

ARGUMENTS = {
    "use_nav2": ("false", "Let Nav2 drive the platform."),
    "rviz_config_file": (
        IfElseSubstitution(
            CHOSEN, str(SHARE / "rviz" / "nav2.rviz"), str(SHARE / "rviz" / "mecanum.rviz")
        ),
        "Configuration of RViz.",
    ),
}
WORLD = {"world_file": str(SHARE / "worlds" / "mecanum.world.xml")}
NAVIGATION = {
    "map": str(SHARE / "worlds" / "maps" / "mecanum.yaml"),
    "params_file": str(SHARE / "params" / "nav2_omni.yaml"),
}


def generate_launch_description() -> LaunchDescription:
    """Return sim.launch.py or nav2.launch.py with this world; their other arguments work too."""
    alone, navigated = (
        PythonLaunchDescriptionSource(str(SHARE / "launch" / f"{name}.launch.py"))
        for name in ("sim", "nav2")
    )
    return LaunchDescription(
        [
            *declare_arguments(ARGUMENTS),
            IncludeLaunchDescription(
                alone, launch_arguments=WORLD.items(), condition=UnlessCondition(CHOSEN)
            ),
            IncludeLaunchDescription(
                navigated,
                launch_arguments={**WORLD, **NAVIGATION}.items(),
                condition=IfCondition(CHOSEN),
            ),
        ]
    )
