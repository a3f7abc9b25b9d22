# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A thread in which callbacks run."""

from __future__ import annotations

import threading
import traceback
from typing import Any

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

#: Longest wait [s] for an event, and so for the end. EventsExecutor.spin(), which has no limit,
#: turns a whole core in the rclpy 9.1.2 wheels and never returns: its infinite deadline overflows.
PATIENCE = 0.1


def executor_of(context: Context) -> Any:
    """Return the executor that costs least: about a quarter of the usual one's time a callback."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


class Spinner:
    """Runs the callbacks of one node in a thread of its own."""

    def __init__(self, node: Node) -> None:
        """Start the thread."""
        self._node = node
        self._executor = executor_of(node.context)
        self._executor.add_node(node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=f"{node.get_name()}_callbacks")
        self._thread.start()

    def _spin(self) -> None:
        while not self._ending.is_set():
            try:
                self._executor.spin_once(timeout_sec=PATIENCE)
            except Exception:  # of one callback, perhaps of rclpy's own; the others go on
                self._node.get_logger().error(traceback.format_exc())

    def close(self) -> None:
        """End the thread; afterwards the node's entities may be destroyed."""
        self._ending.set()
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()
