# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A drive through a mapped room by transforms alone, and all that was published meanwhile."""

import math
from typing import Any

import numpy as np
from geometry_msgs.msg import TwistStamped

from tests.ros.consumers.plane import Way, planar
from tests.ros.consumers.topic_recorder import TopicRecorder
from tests.ros.consumers.transforms import Transforms
from tests.ros.node_process import eventually, nanoseconds
from tests.ros.rules import pose_matrix

TOLERANCE = 0.25  # m, xy_goal_tolerance of Nav2's goal checker
#: Speed for a distance [1/s]: with news that are up to a second of simulated time old, the robot
#: does not pass its goal.
APPROACH = 0.8
BASE = "base_footprint"


def drive_to(recorder: TopicRecorder, goal: tuple[float, float], kind: type) -> float:
    """Drive to a goal in `map` by commands of a type; return the true distance left [m]."""
    message = kind()
    twist = message.twist if kind is TwistStamped else message

    def arrived() -> bool:
        tree = Transforms()
        tree.add(recorder.newest("/tf"), static=False)
        x, y, yaw = planar(tree.pose(BASE, "map", None))
        dx, dy = goal[0] - x, goal[1] - y
        error = math.remainder(math.atan2(dy, dx) - yaw, math.tau)
        distance = math.hypot(dx, dy)
        twist.linear.x = min(0.6, APPROACH * distance) * max(0.0, math.cos(error))
        twist.angular.z = max(-1.5, min(1.5, 2.0 * error))
        return distance < 0.6 * TOLERANCE

    with recorder.repeat("/cmd_vel", message):
        eventually(arrived, f"the goal {goal}", timeout=60.0)
        twist.linear.x = twist.angular.z = 0.0
        eventually(lambda: abs(recorder.newest("/odom").twist.twist.linear.x) < 0.02, "a stop")
    there = recorder.newest("/ground_truth/odom").pose.pose.position
    return math.hypot(there.x - goal[0], there.y - goal[1])


class Drive:
    """What was recorded.

    Attributes:
        recorder: It heard all.
        left: True distances from the goals [m], by type of command.
        tree: All transforms.
        truth, odometry: Ways of the robot in `map` and in `odom`.
    """

    def __init__(self, recorder: TopicRecorder, goals: dict[type, tuple[float, float]]) -> None:
        self.recorder = recorder
        self.left = {kind: drive_to(recorder, goal, kind) for kind, goal in goals.items()}
        last = nanoseconds(recorder.all("/ground_truth/odom")[-1].header.stamp)
        eventually(lambda: self._of("/odom").stamps[-1] > last, "odometry")
        self.tree = recorder.trees()["/"]
        self.truth, self.odometry = self._of("/ground_truth/odom"), self._of("/odom")

    def _of(self, topic: str) -> Way:
        return Way(
            {
                nanoseconds(m.header.stamp): planar(pose_matrix(m.pose.pose))
                for m in self.recorder.all(topic)
            }
        )

    def messages(self, *topics: str) -> list[tuple[int, Any]]:
        """Return stamps and messages of topics in order, from when all poses are known."""
        first, last = self.tree.span(BASE, "map")

        def known(stamp: int) -> bool:
            ways = (self.truth, self.odometry)
            return first <= stamp <= last and all(way.knows(stamp) for way in ways)

        messages = [message for topic in topics for message in self.recorder.all(topic)]
        found = [(nanoseconds(message.header.stamp), message) for message in messages]
        return sorted((pair for pair in found if known(pair[0])), key=lambda pair: pair[0])

    def mount(self, message: Any) -> np.ndarray:
        """Return the pose (4×4) of the frame of a message in the robot's."""
        return self.tree.pose(message.header.frame_id, BASE, None)

    def map_pose(self, stamp: int) -> np.ndarray:
        """Return the pose (3,) of the robot in `map` by transforms."""
        return planar(self.tree.pose(BASE, "map", stamp))
