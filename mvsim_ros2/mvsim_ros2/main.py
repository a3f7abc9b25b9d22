# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Entry point of `mvsim_node`."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, NoReturn

from mvsim_ros2.shutdown import Stopped, StopSignals

if TYPE_CHECKING:
    from mvsim_ros2.node import MvsimNode


def main() -> NoReturn:
    """Run the node and end the process.

    When `run` returns, threads are joined and shared memory is given back. Tearing the interpreter
    down, with LLVM in it, would take longer than all of that and do nothing more.
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
    signals = StopSignals()  # before the slow imports
    started = False
    try:
        with ExitStack() as cleanup:
            with signals.ending():
                import mvsim_ros2.node  # noqa: F401 (with all that is slow)
            with signals.interrupting():
                node = _start(arguments, cleanup)
            started = True
            node.run(signals)
    except Stopped:
        return 0
    except Exception as error:
        if signals() and not started:
            return 0  # code in C turns `Stopped` into an exception of its own
        if not _expected(error):
            raise
        sys.stderr.write(f"mvsim_node: {error}\n")
        return 1
    finally:
        signals.ignore()
    return 0


def _expected(error: Exception) -> bool:
    """Return whether an error is the user's, so that its text says all."""
    from rclpy.impl.implementation_singleton import rclpy_implementation

    from mvsim_core import MvsimError

    # The second is for wrong --ros-args.
    return isinstance(error, MvsimError | rclpy_implementation.RCLError)


def _start(arguments: list[str], cleanup: ExitStack) -> MvsimNode:
    """Return a node with its world; what must be undone is put on `cleanup`."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    from mvsim_core.progress import told
    from mvsim_ros2 import fast_dds
    from mvsim_ros2.node import MvsimNode
    from mvsim_ros2.start_poses import world_with

    cleanup.callback(rclpy.try_shutdown)
    rclpy.init(args=arguments, signal_handler_options=SignalHandlerOptions.NO)
    with fast_dds.set_up():
        node = MvsimNode()
    cleanup.callback(node.close)
    settings = node.settings
    with told(node.get_logger().info):
        world = world_with(settings.world_file, settings.start_poses, seed=settings.seed)
    node.attach(world)
    return node


if __name__ == "__main__":
    main()
