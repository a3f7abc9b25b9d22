# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A second DDS participant for the second type of a topic."""

from __future__ import annotations

from rclpy.context import Context
from rclpy.node import Node

from mvsim_ros2.runtime.executor import ExecutorThread


class SecondParticipant:
    """A hidden node with a DDS participant and an executor thread of its own.

    In Fast DDS a participant can have only one type for a topic, so plain Twist is subscribed to
    here while the main node has TwistStamped. It costs 6 ms at the start, 3 MB, and nothing while
    no message arrives.

    Attributes:
        node: The hidden node.
    """

    def __init__(self, main: Node) -> None:
        """Create it in the domain and the namespace of the main node."""
        self._context = Context()
        self._context.init(
            args=[], initialize_logging=False, domain_id=main.context.get_domain_id()
        )
        # The main node resolves topic names; its remappings must not apply twice.
        self.node = Node(
            f"_{main.get_name()}_cmd_vel",
            context=self._context,
            namespace=main.get_namespace(),
            use_global_arguments=False,
            enable_rosout=False,
            start_parameter_services=False,
        )
        self._executor = ExecutorThread(self.node)

    def close(self) -> None:
        """End thread, node and participant."""
        self._executor.close()
        self.node.destroy_node()
        self._context.try_shutdown()
