# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a localiser would publish, made from the true pose (do_fake_localization)."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseArray
from rclpy.node import Node

from mvsim_core import Pose
from mvsim_ros2.conversions.motion import GROUND_TRUTH, fill_pose, pose_estimate_message
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
        self._estimate = pose_estimate_message(Pose(), GROUND_TRUTH[0], frame, Time())
        self._cloud = PoseArray(header=self._estimate.header, poses=[self._estimate.pose.pose])
        self._pose = Output(node, AMCL_POSE, names.topic(AMCL_POSE.name))
        self._particles = Output(node, PARTICLE_CLOUD, names.topic(PARTICLE_CLOUD.name))

    def publish(self, pose: Pose, stamp: Time) -> None:
        """Send a true pose to those who listen."""
        told, drawn = self._pose.listeners, self._particles.listeners
        if not (told or drawn):
            return
        self._estimate.header.stamp = stamp
        fill_pose(self._estimate.pose.pose, pose)  # the cloud has the same parts
        if told:
            self._pose.publish(self._estimate)
        if drawn:
            self._particles.publish(self._cloud)

    def close(self) -> None:
        """Destroy the publishers."""
        self._pose.close()
        self._particles.close()
