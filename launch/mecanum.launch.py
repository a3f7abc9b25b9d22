# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A mecanum platform between pillars; with use_nav2:=true Nav2 drives it.

Nav2 uses a map of the hall and params/nav2_omni.yaml, which plans sideways motions too.
"""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.conditions import IfCondition, UnlessCondition
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import IfElseSubstitution, LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments

SHARE = Path(__file__).absolute().parents[1]
USE_NAV2 = LaunchConfiguration("use_nav2")

ARGUMENTS = {
    "use_nav2": ("false", "Let Nav2 drive the platform."),
    "rviz_config_file": (
        IfElseSubstitution(
            USE_NAV2, str(SHARE / "rviz" / "nav2.rviz"), str(SHARE / "rviz" / "mecanum.rviz")
        ),
        "RViz configuration.",
    ),
}
WORLD = {"world_file": str(SHARE / "worlds" / "mecanum.world.xml")}
NAV2 = {
    "map": str(SHARE / "worlds" / "maps" / "mecanum.yaml"),
    "params_file": str(SHARE / "params" / "nav2_omni.yaml"),
}


def generate_launch_description() -> LaunchDescription:
    """Return sim.launch.py or nav2.launch.py with this world; other arguments are theirs."""
    sim, nav2 = (
        PythonLaunchDescriptionSource(str(SHARE / "launch" / f"{name}.launch.py"))
        for name in ("sim", "nav2")
    )
    return LaunchDescription(
        [
            *declare_arguments(ARGUMENTS),
            IncludeLaunchDescription(
                sim, launch_arguments=WORLD.items(), condition=UnlessCondition(USE_NAV2)
            ),
            IncludeLaunchDescription(
                nav2,
                launch_arguments={**WORLD, **NAV2}.items(),
                condition=IfCondition(USE_NAV2),
            ),
        ]
    )
