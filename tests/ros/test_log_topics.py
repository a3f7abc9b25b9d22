# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The columns of logs as topics: names of the C++ node, a message each step, the right numbers."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from std_msgs.msg import Float64

from mvsim_core import load_world
from mvsim_core.recording import LiveLog
from tests.ros.node_process import NodeProcess, Observer, eventually, nanoseconds
from tests.ros.worlds import one_robot

pytestmark = pytest.mark.ros

DT = 0.004  # s, of the world
TIME, X = "/log/pose/Timestamp", "/log/pose/q0x"
OTHERS = ("/log/wheel_1/Timestamp", "/log/wheel_1/omega", "/log/wheel_1/pid_sp_vel_l")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return one_robot(tmp_path_factory.mktemp("log"))


@pytest.fixture(scope="module")
def driven(domain: int, world: Path) -> Iterator[Observer]:
    """Someone who has listened for a while to a robot that drives."""
    process = NodeProcess(domain, world, publish_log_topics=True)
    observer = Observer(domain)
    for topic in (TIME, X, *OTHERS):
        observer.subscribe(topic, Float64, 2000)
    observer.subscribe("/ground_truth/odom", Odometry, 1000)
    command = Twist()
    command.linear.x, command.angular.z = 0.5, 0.5
    with observer.repeat("cmd_vel", command):
        eventually(lambda: len(observer.all(TIME)) > 500, "two seconds")
    yield observer
    observer.close()
    process.close()


def numbers(observer: Observer, topic: str) -> np.ndarray:
    return np.array([message.data for message in observer.all(topic)])


def test_each_column_of_the_log_has_a_topic(driven: Observer, world: Path) -> None:
    live: LiveLog = load_world(world).vehicles["r1"].live_log()
    wanted = {f"/log/{table}/{c}" for table, columns in live.columns.items() for c in columns}
    published = driven.published()
    assert {name for name in published if name.startswith("/log/")} == wanted
    assert {"/log/pose/dqx", "/log/wheel_2/friction_x"} <= wanted
    assert {t for name in wanted for t in published[name]} == {"std_msgs/msg/Float64"}


def test_each_step_has_a_message(driven: Observer) -> None:
    for topic in (TIME, "/log/wheel_1/Timestamp"):
        steps = np.diff(numbers(driven, topic)) / DT
        assert len(steps) > 400
        np.testing.assert_allclose(steps, 1.0, atol=1e-6)


def test_the_pose_is_the_true_one(driven: Observer) -> None:
    xs = numbers(driven, X)
    times = numbers(driven, TIME)
    compared = 0
    for message in driven.all("/ground_truth/odom"):
        if times[0] + 1.0 < nanoseconds(message.header.stamp) * 1e-9 < times[-1] - 0.1:
            assert np.abs(xs - message.pose.pose.position.x).min() < 1e-9
            compared += 1
    assert compared > 20
    assert np.ptp(xs) > 0.1


def test_wheels_show_spin_and_set_point(driven: Observer) -> None:
    """Left wheel: (v - ω y) / R with y = 0.2 m and R = 0.1 m."""
    assert numbers(driven, "/log/wheel_1/omega").max() == pytest.approx(4.0, rel=0.1)
    assert numbers(driven, "/log/wheel_1/pid_sp_vel_l").max() == pytest.approx(0.4)
