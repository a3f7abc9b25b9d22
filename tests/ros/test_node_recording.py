# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The parameter `record` of the node: all that it publishes, subscribed to or not."""

import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("mcap")
pytest.importorskip("rosbags")

from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile
from simulation_interfaces.msg import Result

from mvsim_core.bags import Recording
from tests.ros import worlds
from tests.ros.node_process import NodeProcess, Observer, eventually
from tests.ros.service_client import Client

pytestmark = pytest.mark.ros


def grows(path: Path, size: int) -> bool:
    """Return whether a file is larger than a size [bytes]."""
    return path.is_file() and path.stat().st_size > size


def test_what_is_published_is_recorded(domain: int, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    process = NodeProcess(domain, worlds.all_sensors(tmp_path), record=path, publish_rate=25.0)
    observer = Observer(domain)
    try:
        observer.subscribe("/r1/odom", Odometry)
        commands = observer.node.create_publisher(Twist, "/r1/cmd_vel", QoSProfile(depth=10))
        message = Twist()
        message.linear.x, message.angular.z = 0.4, 0.1

        def moves() -> bool:
            commands.publish(message)
            newest = observer.all("/r1/odom")[-1:]
            return any(m.twist.twist.linear.x > 0.3 and m.header.stamp.sec >= 1 for m in newest)

        eventually(moves, "the robot moves")
        received = list(observer.all("/r1/odom"))
        code, _ = process.interrupt()
        assert code == 0, process.output
    finally:
        observer.close()
        process.close()
    with Recording.open(path) as recording:
        assert recording.complete
        assert recording.topics["/r1/cmd_vel"].count > 0
        times = [m.time for m in recording.messages(["/r1/odom"])]
        assert times[-1] - times[-2] == pytest.approx(1.0 / 25.0)
        assert recording.topics["/r1/eye/image_raw"].count > 0  # without a subscriber
        odometry = {
            (m.content.header.stamp.sec, m.content.header.stamp.nanosec): m.content
            for m in recording.messages(["/r1/odom"])
        }
        for its in received:
            mine = odometry[its.header.stamp.sec, its.header.stamp.nanosec]
            assert mine.pose.pose.position.x == its.pose.pose.position.x
            assert mine.twist.twist.linear.x == its.twist.twist.linear.x
            assert mine.header.frame_id == its.header.frame_id


def test_a_killed_node_leaves_a_readable_file(domain: int, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    process = NodeProcess(domain, worlds.one_robot(tmp_path), record=path)
    try:
        eventually(lambda: grows(path, 20_000), "a chunk on the disk", 300.0)
        time.sleep(1.2)
        process.process.send_signal(signal.SIGKILL)
        process.wait()
    finally:
        process.close()
    with Recording.open(path) as recording:
        assert not recording.complete
        assert recording.duration > 0.5
        recording.seek(recording.load_world(), recording.duration)


def test_remappings_hold_and_a_recording_ends_with_its_world(domain: int, tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    rules = ("odom:=wheels",)
    process = NodeProcess(domain, worlds.one_robot(tmp_path), rules=rules, record=path)
    observer = Observer(domain)
    try:
        eventually(lambda: grows(path, 10_000), "a chunk on the disk", 300.0)
        client = Client(observer.node)
        assert client.call("UnloadWorld").result.result == Result.RESULT_OK
        with Recording.open(path) as recording:
            assert recording.complete
            assert {"/wheels", "/tf", "/clock"} <= set(recording.topics)
            assert "/odom" not in recording.topics
    finally:
        observer.close()
        process.close()


def test_a_file_that_cannot_be_made_is_one_line(domain: int, tmp_path: Path) -> None:
    process = NodeProcess(domain, worlds.one_robot(tmp_path), record=tmp_path)
    try:
        assert process.process.wait(300.0) == 1
        assert "cannot write the recording" in process.output
        assert "Traceback" not in process.output
    finally:
        process.close()
