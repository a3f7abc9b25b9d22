# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Goals for Nav2."""

import math
import time
from contextlib import suppress
from typing import Any

from action_msgs.msg import GoalStatus
from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionClient

from tests.consumers.launched import START, ConsumerTest
from tests.ros.node_process import eventually, take_up

#: Longest time of an answer; it is lost if the server has not found the client yet [s].
ANSWER = 5.0


def in_map(x: float, y: float) -> PoseStamped:
    """Return a place in the map, with yaw 0."""
    pose = PoseStamped()
    pose.header.frame_id = "map"
    pose.pose.position.x, pose.pose.position.y = x, y
    pose.pose.orientation.w = 1.0
    return pose


class Nav2Test(ConsumerTest):
    """A test beside Nav2."""

    def drive_to(self, x: float, y: float) -> None:
        """Let Nav2 drive to a place in the map, and check that the robot is there."""
        self.drive_towards(x, y)
        self.assert_place(x, y)

    def drive_towards(self, x: float, y: float) -> None:
        """Let Nav2 drive to where it takes a place in the map to be."""
        from nav2_msgs.action import NavigateToPose

        goal = NavigateToPose.Goal(pose=in_map(x, y))
        self.navigate(NavigateToPose, "navigate_to_pose", goal)

    def navigate(self, kind: Any, name: str, goal: Any) -> None:
        """Send a goal, which must succeed."""
        client = ActionClient(self.observer.node, kind, name)
        take_up(self.observer.node)
        assert client.wait_for_server(START)
        handle = eventually(lambda: self.accepted(client, goal), "the goal is accepted", START)
        result = self.wait_for(handle.get_result_async(), "the goal is reached")
        assert result.status == GoalStatus.STATUS_SUCCEEDED, result

    def accepted(self, client: ActionClient, goal: Any) -> Any:
        """Send a goal; return its handle, or None if Nav2, which is not active yet, refuses it."""
        answer = client.send_goal_async(goal)
        with suppress(AssertionError):
            handle = eventually(lambda: answer.done() and answer.result(), "an answer", ANSWER)
            if handle.accepted:
                return handle
        time.sleep(0.5)
        return None

    def assert_place(self, x: float, y: float) -> None:
        """Check where the robot is."""
        place = self.observer.newest("/ground_truth/odom").pose.pose.position
        assert math.hypot(place.x - x, place.y - y) < 0.5
