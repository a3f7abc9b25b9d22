# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Topics of a localiser, from the true pose (do_fake_localization)."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseArray
from rclpy.node import Node

from mvsim_core import Pose
from mvsim_core.bags.motion import GROUND_TRUTH
from mvsim_core.bags.topic_names import TopicNames
from mvsim_core.bags.topics import AMCL_POSE, PARTICLE_CLOUD
from mvsim_ros2.conversions.motion import fill_pose, pose_estimate_message
from mvsim_ros2.outputs.publisher import TopicPublisher


class LocalizerOutputs:
    """Publishes the true pose of one vehicle on the topics of AMCL.

    Args:
        node: Main node.
        names: Topic names of the vehicle.
        frame: Map frame.
    """

    def __init__(self, node: Node, names: TopicNames, frame: str) -> None:
        """Create the publishers."""
        self._estimate = pose_estimate_message(Pose(), GROUND_TRUTH[0], frame, Time())
        self._cloud = PoseArray(header=self._estimate.header, poses=[self._estimate.pose.pose])
        self._pose = TopicPublisher(node, AMCL_POSE, names.topic(AMCL_POSE.name))
        self._particles = TopicPublisher(node, PARTICLE_CLOUD, names.topic(PARTICLE_CLOUD.name))

    def publish(self, pose: Pose, stamp: Time) -> None:
        """Publish the true pose on topics that have subscribers."""
        estimate = self._pose.subscription_count > 0
        particles = self._particles.subscription_count > 0
        if not (estimate or particles):
            return
        self._estimate.header.stamp = stamp
        fill_pose(self._estimate.pose.pose, pose)  # the particle is the same message object
        if estimate:
            self._pose.publish(self._estimate)
        if particles:
            self._particles.publish(self._cloud)

    def close(self) -> None:
        """Destroy the publishers."""
        self._pose.close()
        self._particles.close()
