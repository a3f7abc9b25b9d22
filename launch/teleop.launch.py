# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Drive a robot by keyboard: `ros2 launch mvsim_ros2 teleop.launch.py` beside a simulator.

`namespace:=robot2` selects one of several robots; `use_keyboard:=false use_joystick:=true` selects
a joystick. The keyboard needs a terminal of its own, which `prefix` opens. A robot stops when it
gets no command for `command_timeout` of the simulator: keep the key pressed. If a package or the
terminal is not installed, a message is logged.
"""

import shlex
import shutil
from pathlib import Path
from typing import Any

from launch.actions import LogInfo, OpaqueFunction
from launch.conditions import IfCondition
from launch.launch_context import LaunchContext
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from mvsim_ros2.launch_helpers import declare_arguments, node_if_installed, node_parameters

SHARE = Path(__file__).absolute().parents[1]

ARGUMENTS = {
    "namespace": ("", "Namespace of the robot; empty: none."),
    "use_keyboard": ("true", "Drive by keyboard."),
    "use_joystick": ("false", "Drive by joystick."),
    "stamped": ("false", "Publish TwistStamped; the simulator accepts both types."),
    "prefix": ("xterm -e", "Command that opens a terminal for the keyboard."),
    "joy_dev": ("0", "Number of the joystick."),
    "params_file": (str(SHARE / "params" / "teleop.yaml"), "Buttons, axes and speeds."),
    "use_sim_time": ("true", "All nodes use simulated time from /clock."),
}


def _keyboard(context: LaunchContext) -> list[Any]:
    """Return the keyboard node, or a message that the terminal is not installed."""
    program = next(iter(shlex.split(LaunchConfiguration("prefix").perform(context))), "")
    if not shutil.which(program):
        text = f"terminal {program!r} is not installed: no keyboard (set prefix:='… -e')"
        return [LogInfo(msg=text)]
    node = node_if_installed(
        package="teleop_twist_keyboard",
        executable="teleop_twist_keyboard",
        name="teleop_twist_keyboard",
        namespace=LaunchConfiguration("namespace"),
        prefix=LaunchConfiguration("prefix"),
        output="screen",
        parameters=node_parameters(
            stamped=LaunchConfiguration("stamped"),
            use_sim_time=LaunchConfiguration("use_sim_time"),
        ),
    )
    return [node]


def generate_launch_description() -> LaunchDescription:
    """Return the publishers of cmd_vel."""
    joystick = IfCondition(LaunchConfiguration("use_joystick"))
    common = {
        "namespace": LaunchConfiguration("namespace"),
        "output": "screen",
        "condition": joystick,
    }
    clock, stamped, device = (
        LaunchConfiguration(name) for name in ("use_sim_time", "stamped", "joy_dev")
    )
    file = LaunchConfiguration("params_file")
    keyboard = OpaqueFunction(
        function=_keyboard, condition=IfCondition(LaunchConfiguration("use_keyboard"))
    )
    joy = node_if_installed(
        package="joy",
        executable="joy_node",
        name="joy_node",
        parameters=[file, *node_parameters(device_id=device, use_sim_time=clock)],
        **common,
    )
    teleop = node_if_installed(
        package="teleop_twist_joy",
        executable="teleop_node",
        name="teleop_twist_joy_node",
        parameters=[file, *node_parameters(publish_stamped_twist=stamped, use_sim_time=clock)],
        **common,
    )
    return LaunchDescription([*declare_arguments(ARGUMENTS), keyboard, joy, teleop])
