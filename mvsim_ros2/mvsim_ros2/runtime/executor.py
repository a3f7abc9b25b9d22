# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The executor thread, in which the callbacks of a node run."""

from __future__ import annotations

import threading
from typing import Any

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from mvsim_ros2.runtime.log_forwarding import log_fault

#: Timeout [s] of one `spin_once`, and so the longest delay of `close`. EventsExecutor.spin()
#: cannot be used: in the rclpy 9.1.2 wheels its infinite deadline overflows, so that it spins a
#: whole core and never returns.
SPIN_TIMEOUT = 0.1


def create_executor(context: Context) -> Any:
    """Return an EventsExecutor (a quarter of the cost a callback), or the single-threaded one."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


class ExecutorThread:
    """Runs the callbacks of one node in a thread of its own."""

    def __init__(self, node: Node) -> None:
        """Start the thread."""
        self._node = node
        self._executor = create_executor(node.context)
        self._executor.add_node(node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=f"{node.get_name()}_executor")
        self._thread.start()

    def _spin(self) -> None:
        while not self._closing.is_set():
            try:
                self._executor.spin_once(timeout_sec=SPIN_TIMEOUT)
            except Exception as error:  # in one callback; it must not end the others
                log_fault(self._node.get_logger(), error)

    def close(self) -> None:
        """End the thread; afterwards the node's entities may be destroyed."""
        self._closing.set()
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()
