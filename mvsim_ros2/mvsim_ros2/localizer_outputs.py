# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a localiser would publish, made from the true pose (do_fake_localization)."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseArray
from rclpy.node import Node

from mvsim_core import Pose
from mvsim_ros2.conversions.motion import GROUND_TRUTH, pose_estimate_message
from mvsim_ros2.frames import Names
from mvsim_ros2.output import Output
from mvsim_ros2.topics import AMCL_POSE, PARTICLE_CLOUD


class LocalizerOutputs:
    """Publishes the pose of one vehicle as AMCL does.

    Args:
        node: The main node.
        names: Topic names.
        frame: The map's.
    """

    def __init__(self, node: Node, names: Names, frame: str) -> None:
        """Create the publishers."""
        self._frame = frame
        self._pose = Output(node, AMCL_POSE, names.topic(AMCL_POSE.name))
        self._particles = Output(node, PARTICLE_CLOUD, names.topic(PARTICLE_CLOUD.name))

    def publish(self, pose: Pose, stamp: Time) -> None:
        """Send a true pose to those who listen."""
        if not (self._pose.listeners or self._particles.listeners):
            return
        estimate = pose_estimate_message(pose, GROUND_TRUTH[0], self._frame, stamp)
        if self._pose.listeners:
            self._pose.publish(estimate)
        if self._particles.listeners:
            self._particles.publish(PoseArray(header=estimate.header, poses=[estimate.pose.pose]))

    def close(self) -> None:
        """Destroy the publishers."""
        self._pose.close()
        self._particles.close()
