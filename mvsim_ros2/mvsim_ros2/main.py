# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Entry point of `mvsim_node`."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, NoReturn

from mvsim_ros2.runtime.shutdown import Stopped, StopSignals

if TYPE_CHECKING:
    from mvsim_ros2.node import MvsimNode


HELP = """\
Usage: mvsim_node --ros-args -p world_file:=FILE [-p NAME:=VALUE]... [--params-file FILE.yaml]

Simulate a world and its sensors as a ROS 2 node, until Ctrl-C.

Example, with a world of the suite and one robot in it:

  mvsim_node --ros-args -p world_file:=worlds/warehouse.world.xml -p realtime_factor:=1.0
  ros2 topic pub -r 10 /cmd_vel geometry_msgs/msg/Twist '{linear: {x: 0.5}, angular: {z: 0.2}}'
  ros2 topic echo /odom

The same by a launch file: ros2 launch mvsim_ros2 sim.launch.py world_file:=FILE

Parameters (ros2 param describe /mvsim NAME explains each of a running node):
  world_file        World file (.world.xml); `mvsim check FILE` reports what is wrong in one.
  realtime_factor   Simulated seconds per second, or max.  [default: 1.0]
  seed              Random seed; the same seed gives the same numbers.  [default: 0]

Topics, services and all parameters: docs/ros2_interface.md
"""


def main() -> NoReturn:
    """Run the node and end the process.

    When `run` returns, threads are joined and shared memory is released. A teardown of the
    interpreter, with LLVM in it, would take longer and release nothing more.
    """
    code = run(sys.argv)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run the node until SIGINT or SIGTERM and return its exit code.

    Args:
        arguments: Command line, the program's name first.
    """
    if {"-h", "--help"} & set(arguments[1:]):
        sys.stdout.write(HELP)
        return 0
    signals = StopSignals()  # before the slow imports
    started = False
    try:
        with ExitStack() as cleanup:
            with signals.exit_process():
                import mvsim_ros2.node  # noqa: F401 (the slow imports)
            with signals.raise_stopped():
                node = _start(arguments, cleanup)
            started = True
            node.run(signals)
    except Stopped:
        return 0
    except Exception as error:
        if signals() and not started:
            return 0  # C code turns `Stopped` into an exception of its own
        if not _is_user_error(error):
            raise
        sys.stderr.write(f"mvsim_node: {error}{_value_hint(arguments)}\n")
        return 1
    finally:
        signals.ignore()
    return 0


def _is_user_error(error: Exception) -> bool:
    """Return whether an error is caused by input, so that its text suffices."""
    from rclpy.impl.implementation_singleton import rclpy_implementation

    from mvsim_core import MvsimError

    # RCLError is raised for wrong --ros-args.
    return isinstance(error, MvsimError | rclpy_implementation.RCLError)


def _value_hint(arguments: list[str]) -> str:
    """Return a hint if a parameter has no value on the command line, which rcl cannot parse."""
    bare = next((word for word in arguments if word.endswith(":=")), "")
    return f"; {bare} has no value: give one, or {bare}'' for an empty text" if bare else ""


def _start(arguments: list[str], cleanup: ExitStack) -> MvsimNode:
    """Return a node with its world; clean-up callbacks are pushed on `cleanup`."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from mvsim_ros2.node import MvsimNode
    from mvsim_ros2.parameters.start_poses import load_world_with_start_poses
    from mvsim_ros2.runtime import fast_dds
    from mvsim_ros2.runtime.background import in_background

    cleanup.callback(rclpy.try_shutdown)
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    with fast_dds.configured():
        node = MvsimNode()
    cleanup.callback(node.close)
    settings = node.settings
    load = partial(
        load_world_with_start_poses,
        settings.world_file,
        settings.start_poses,
        seed=settings.seed,
    )
    # Not here: a signal would wait for the compiler.
    node.attach(in_background(load, node.get_logger().info).result())
    return node


if __name__ == "__main__":
    main()
