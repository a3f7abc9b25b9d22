# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Any number of courier robots: `ros2 launch mvsim_ros2 multi_robot.launch.py robots:=12`.

The number is the environment variable ROBOTS of the simulator, so any world file with
`${ROBOTS|5}` can be used, and is the same after a reset. All topics of a robot are in its
namespace (robot1, robot2, …). Frames have a prefix, so that one RViz shows all robots. With
`shared_tf:=false` they have none and each robot has its own tf, so that each can have a Nav2:
`ros2 launch mvsim_ros2 nav2.launch.py use_simulator:=False namespace:=robot2 …`.
"""

from pathlib import Path

from launch.actions import GroupAction, IncludeLaunchDescription, SetEnvironmentVariable
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, multi_robot_arguments

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "robots": ("5", "Number of robots: the variable ROBOTS of the world file."),
    "world_file": (str(SHARE / "worlds" / "multi_robot.world.xml"), "World file to simulate."),
    **multi_robot_arguments(SHARE / "rviz", "multi_robot", "robot1"),
}
#: A single robot is in its namespace too.
NAMESPACED = {"force_publish_vehicle_namespace": "true"}


def generate_launch_description() -> LaunchDescription:
    """Return sim.launch.py with the number; it accepts its other arguments too."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    given = {**NAMESPACED, "world_file": LaunchConfiguration("world_file")}
    number = SetEnvironmentVariable("ROBOTS", LaunchConfiguration("robots"))
    include = IncludeLaunchDescription(sim, launch_arguments=given.items())
    return LaunchDescription([*declare_arguments(ARGUMENTS), GroupAction([number, include])])
