# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Three robots in one node, without and with frame prefix: no cross-talk."""

import time
from collections.abc import Iterator

import numpy as np
import pytest
from geometry_msgs.msg import Twist

from tests.conftest import DomainPool
from tests.ros.consumers.topic_recorder import TopicRecorder, recorded_from_start
from tests.ros.consumers.transforms import Transforms
from tests.ros.node_process import eventually, nanoseconds
from tests.ros.rules import pose_matrix, scan_points
from tests.ros.worlds import three_robots

pytestmark = pytest.mark.ros

ROBOTS = ("zeta", "alpha", "mid")  # not in the order of the alphabet
PREFIXES = {"plain frames": "", "prefixes": "<name>/"}
FRAMES = {"odom", "base_footprint", "base_link", "laser", "inertial"}
Places = dict[str, np.ndarray]


class Fleet:
    """Messages recorded while one robot after the other was driven.

    Attributes:
        recorder: It heard all.
        prefix: Of frames, with <name> for the robot.
        places: Where the robots were before and after the drive of each: true pose and odometry.
    """

    def __init__(self, recorder: TopicRecorder, prefix: str) -> None:
        self.recorder, self.prefix = recorder, prefix
        self.places: dict[str, tuple[Places, Places]] = {}
        for robot in ROBOTS:
            before = self._places()
            self._drive(robot)
            self.places[robot] = before, self._places()

    def tree(self, robot: str) -> Transforms:
        """Return the transforms on the topics of a robot."""
        return self.recorder.trees()["/" if self.prefix else f"/{robot}/"]

    def frame(self, robot: str, name: str) -> str:
        """Return the name that a frame of a robot must have."""
        return self.prefix.replace("<name>", robot) + name

    def _places(self) -> Places:
        topics = ("ground_truth/odom", "odom")
        newest = {r: [self.recorder.newest(f"/{r}/{t}") for t in topics] for r in ROBOTS}
        return {
            robot: np.stack([pose_matrix(message.pose.pose) for message in messages])
            for robot, messages in newest.items()
        }

    def _drive(self, robot: str) -> None:
        def speed() -> float:
            twist = self.recorder.newest(f"/{robot}/odom").twist.twist
            return float(abs(twist.linear.x) + abs(twist.angular.z))

        command = Twist()
        command.linear.x, command.angular.z = 0.4, 0.5
        with self.recorder.repeat(f"/{robot}/cmd_vel", command):
            eventually(lambda: speed() > 0.8, f"{robot} on its way")
            time.sleep(0.5)
            command.linear.x = command.angular.z = 0.0
            eventually(lambda: speed() < 1e-6, f"{robot} at rest")


@pytest.fixture(scope="module", params=PREFIXES)
def fleet(
    request: pytest.FixtureRequest,
    domain_pool: DomainPool,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Fleet]:
    prefix = PREFIXES[request.param]
    world = three_robots(tmp_path_factory.mktemp("three"))
    options = {"publish_rate": 25.0} | ({"frame_prefix": prefix} if prefix else {})
    with recorded_from_start(domain_pool, world, 0.3, **options) as (recorder, _):
        yield Fleet(recorder, prefix)


@pytest.mark.parametrize("robot", ROBOTS)
def test_a_command_moves_only_whom_it_is_for(fleet: Fleet, robot: str) -> None:
    before, after = fleet.places[robot]
    for other in ROBOTS:
        way = np.linalg.norm((after[other] - before[other])[:, :2, 3], axis=1)
        if other == robot:
            assert (way > 0.1).all()
        else:
            assert (way < 1e-6).all()


def test_each_robot_has_a_tree_of_its_own(fleet: Fleet) -> None:
    buffers = fleet.recorder.trees()
    if fleet.prefix:
        assert set(buffers) == {"/"}
    else:
        assert set(buffers) == {f"/{robot}/" for robot in ROBOTS}
    for robot in ROBOTS:
        tree = fleet.tree(robot)
        own = {fleet.frame(robot, name) for name in FRAMES}
        assert own <= tree.frames
        for name in own:
            tree.pose(name, "map", None)
        if fleet.prefix:
            assert not tree.frames & FRAMES


@pytest.mark.parametrize("robot", ROBOTS)
def test_transforms_are_those_of_the_robot_itself(fleet: Fleet, robot: str) -> None:
    tree = fleet.tree(robot)
    frame = {name: fleet.frame(robot, name) for name in FRAMES}
    for topic, child, parent in (
        ("ground_truth/odom", frame["base_link"], "map"),
        ("odom", frame["base_footprint"], frame["odom"]),
    ):
        first, last = tree.span(child, parent)
        stamps = []
        for message in fleet.recorder.all(f"/{robot}/{topic}"):
            assert message.header.frame_id == parent
            stamps.append(nanoseconds(message.header.stamp))
            if first <= stamps[-1] <= last:
                pose = pose_matrix(message.pose.pose)
                np.testing.assert_allclose(tree.pose(child, parent, stamps[-1]), pose, atol=1e-6)
        assert len(stamps) > 50


@pytest.mark.parametrize("robot", ROBOTS)
def test_every_message_speaks_of_frames_of_its_robot(fleet: Fleet, robot: str) -> None:
    allowed = {"map", *(fleet.frame(robot, name) for name in FRAMES)}
    for topic, mentioned in fleet.recorder.mentions().items():
        if topic.startswith(f"/{robot}/"):
            assert {frame for frame, _ in mentioned} <= allowed, topic


@pytest.mark.parametrize("robot", ROBOTS)
def test_scans_show_the_walls_from_where_their_robot_is(fleet: Fleet, robot: str) -> None:
    tree, laser = fleet.tree(robot), fleet.frame(robot, "laser")
    first, last = tree.span(laser, "map")
    distances = []
    for scan in fleet.recorder.all(f"/{robot}/scan"):
        stamp = nanoseconds(scan.header.stamp)
        if not first <= stamp <= last:
            continue
        pose = tree.pose(laser, "map", stamp)
        x, y = (scan_points(scan) @ pose[:2, :2].T + pose[:2, 3]).T
        distances.append(np.minimum(np.abs(4.9 - np.abs(x)), np.abs(3.9 - np.abs(y))))
    assert len(distances) > 10
    away = np.concatenate(distances) > 0.1  # other robots may stand before a wall
    assert away.mean() < 0.25
