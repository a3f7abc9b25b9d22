# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`ros2 bag` with recordings that were made without ROS."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("mcap")
pytest.importorskip("rosbags")

from ament_index_python.packages import get_package_prefix
from nav_msgs.msg import OccupancyGrid, Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage

from mvsim_core import load_world
from mvsim_core.bags import Recording, record
from tests.conftest import DomainPool
from tests.ros.node_process import LATCHED, Observer, environment, eventually
from tests.ros.worlds import one_robot

pytestmark = pytest.mark.ros
SECONDS = 4.0


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("ros2") is None:
        pytest.skip("the package ros2cli is not installed")
    for package in ("ros2bag", "rosbag2_storage_mcap"):
        try:
            get_package_prefix(package)
        except LookupError:
            pytest.skip(f"the package {package} is not installed")
    folder = tmp_path_factory.mktemp("recording")
    world = load_world(one_robot(folder))
    path = folder / "run.mcap"
    with record(world, path):
        world.vehicles["r1"].set_twist(0.5, 0.0, 0.3)
        world.run(SECONDS)
    return path


@pytest.fixture
def domain(domain_pool: DomainPool) -> Iterator[int]:
    taken = domain_pool.take()
    yield taken
    domain_pool.give_back(taken)


def test_info(recording: Path, domain: int) -> None:
    done = subprocess.run(
        ["ros2", "bag", "info", str(recording)],
        env=environment(domain),
        capture_output=True,
        text=True,
        check=True,
    )
    with Recording.open(recording) as mine:
        assert f"Messages:          {mine.message_count}" in done.stdout
        for topic in mine.topics.values():
            text = f"Topic: {topic.name} | Type: {topic.type} | Count: {topic.count} |"
            assert text in done.stdout


def test_play(recording: Path, domain: int) -> None:
    observer, late = Observer(domain), None
    kinds = {"/odom": Odometry, "/clock": Clock, "/front_laser": LaserScan}
    for topic, kind in kinds.items():
        observer.subscribe(topic, kind)
    words = ["ros2", "bag", "play", "--delay", "2", str(recording)]
    player = subprocess.Popen(words, env=environment(domain), stdin=subprocess.DEVNULL)
    try:
        eventually(lambda: observer.all("/odom"), "odometry", 60.0)
        late = Observer(domain)  # gets what was latched before it came
        for topic, kind in {"/tf_static": TFMessage, "/map": OccupancyGrid}.items():
            late.subscribe(topic, kind, LATCHED)
        eventually(lambda: late.all("/tf_static") and late.all("/map"), "latched topics")
        assert player.wait(60.0) == 0
        with Recording.open(recording) as mine:
            written = {topic: mine.topics[topic].count for topic in kinds}
            eventually(
                lambda: {topic: len(observer.all(topic)) for topic in kinds} == written, "all"
            )
            for its, own in zip(observer.all("/odom"), mine.messages(["/odom"]), strict=True):
                assert its.header.stamp.nanosec == own.content.header.stamp.nanosec
                assert its.pose.pose.position.x == own.content.pose.pose.position.x
                assert list(its.twist.covariance) == list(own.content.twist.covariance)
            for its, own in zip(
                observer.all("/front_laser"), mine.messages(["/front_laser"]), strict=True
            ):
                assert list(its.ranges) == own.content.ranges.tolist()
    finally:
        player.kill()
        player.wait()
        observer.close()
        if late is not None:
            late.close()
