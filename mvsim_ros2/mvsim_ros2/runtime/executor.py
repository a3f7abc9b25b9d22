# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The executor thread, in which the callbacks of a node run, and results that they await."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Any, TypeVar

from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

from mvsim_ros2.runtime.log_forwarding import log_fault

#: Timeout [s] of one `spin_once`, and so the longest delay of `close`. EventsExecutor.spin()
#: cannot be used: in the rclpy 9.1.2 wheels its infinite deadline overflows, so that it spins a
#: whole core and never returns.
SPIN_TIMEOUT = 0.1
#: Longest pause [s] of a thread in which all coroutines wait, and so the delay of a callback.
PAUSE = 0.001

T = TypeVar("T")


class Waits:
    """The coroutines of an executor thread that await results of other threads.

    rclpy resumes each of them again and again, a hundred thousand times a second: that costs a
    core, and takes the GIL from the thread that works on the result.

    Attributes:
        number: Coroutines that wait; as `polls` belongs to the executor thread.
        polls: How often one of them was resumed in vain.
        finished: Set with each result.
    """

    def __init__(self) -> None:
        """Start without coroutines."""
        self.number = 0
        self.polls = 0
        self.finished = threading.Event()


class PendingResult(Future[T]):
    """A result that coroutines of an executor thread await and another thread sets.

    Args:
        waits: Of the executor thread.
    """

    def __init__(self, waits: Waits) -> None:
        """Start without a result."""
        super().__init__()
        self._waits = waits

    def __await__(self) -> Generator[None, None, T | None]:
        """Wait until there is a result."""
        waits = self._waits
        waits.number += 1
        try:
            while not self.done():
                waits.polls += 1
                yield
        finally:
            waits.number -= 1
        return self.result()

    def set_result(self, result: T) -> None:
        """Set the result and end the pause of the executor thread."""
        super().set_result(result)
        self._waits.finished.set()


def create_executor(context: Context) -> Any:
    """Return an EventsExecutor (a quarter of the cost a callback), or the single-threaded one."""
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor(context=context)
    return EventsExecutor(context=context)


class ExecutorThread:
    """Runs the callbacks of one node in a thread of its own.

    Args:
        node: The node.
        waits: Coroutines among its callbacks that await a `PendingResult`; None: there are none.
    """

    def __init__(self, node: Node, waits: Waits | None = None) -> None:
        """Start the thread."""
        self._node = node
        self._waits = waits or Waits()
        self._executor = create_executor(node.context)
        self._executor.add_node(node)
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._spin, name=f"{node.get_name()}_executor")
        self._thread.start()

    def _spin(self) -> None:
        waits = self._waits
        idle = 0  # events since the last one that was more than a coroutine that waits
        while not self._closing.is_set():
            polls = waits.polls
            try:
                self._executor.spin_once(timeout_sec=SPIN_TIMEOUT)
            except Exception as error:  # in one callback; it must not end the others
                log_fault(self._node.get_logger(), error)
            idle = idle + 1 if waits.polls > polls else 0
            if idle > waits.number:  # no other event is in the queue
                waits.finished.wait(PAUSE)
                waits.finished.clear()
                idle = 0

    def close(self) -> None:
        """End the thread; afterwards the node's entities may be destroyed."""
        self._closing.set()
        self._executor.wake()
        self._thread.join()
        self._executor.shutdown()
