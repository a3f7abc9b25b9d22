# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the configurations of RViz show is what the simulators of the demos publish.

Each world runs as its launch file starts it, and the real endpoints are compared. RViz itself is
not needed; that it knows the classes and properties was compared with its sources.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy")
pytest.importorskip("ackermann_msgs")

from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import LATCHED, START, NodeProcess, Observer, eventually

pytestmark = pytest.mark.ros

FILES = sorted((ROOT / "rviz").glob("*.rviz"))
#: Worlds whose launch files prefix the frames.
PREFIXED = {"multi_robot", "trailers", "two_robots"}
#: The worlds of configurations that are called otherwise, and what others publish there.
REPLACED = {"sim": "building", "nav2": "building", "ekf": "field"}
FOREIGN = {
    "nav2": {
        *("/plan", "/local_costmap/published_footprint"),
        *("/global_costmap/costmap", "/global_costmap/costmap_updates"),
        *("/local_costmap/costmap", "/local_costmap/costmap_updates"),
    },
    "ekf": {"/odometry/filtered"},
}
TYPES = {
    "RobotModel": "std_msgs/msg/String",
    "MarkerArray": "visualization_msgs/msg/MarkerArray",
    "LaserScan": "sensor_msgs/msg/LaserScan",
    "Odometry": "nav_msgs/msg/Odometry",
    "Map": "nav_msgs/msg/OccupancyGrid",
    "PointCloud2": "sensor_msgs/msg/PointCloud2",
    "Image": "sensor_msgs/msg/Image",
}


#: What is shown of sensors by their class, {} is the name.
OF_SENSORS: dict[str, tuple[str, ...]] = {
    "laser": ("scan",),
    "lidar3d": ("points",),
    "rgbd_camera": ("{}/points", "{}/image_raw", "{}/depth/image"),
    "imu": (),
    "gnss": (),
}


@dataclass(frozen=True)
class Shown:
    """A topic that a display reads."""

    topic: str
    kind: str
    reliable: bool
    latched: bool


def manager(path: Path) -> dict[str, Any]:
    """Return the displays of a configuration."""
    tree: dict[str, Any] = yaml.safe_load(path.read_text())
    return dict(tree["Visualization Manager"])


def shown(path: Path) -> Iterator[Shown]:
    """Iterate over the topics of all displays."""
    for display in manager(path)["Displays"]:
        kind = display["Class"].removeprefix("rviz_default_plugins/")
        for key, value in display.items():
            if key.endswith("Topic"):
                yield Shown(
                    value["Value"],
                    kind,
                    value["Reliability Policy"] == "Reliable",
                    value["Durability Policy"] == "Transient Local",
                )


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_robot_of_the_world_is_shown_with_all_it_has(path: Path) -> None:
    from mvsim_core import read_world

    world, _ = read_world(ROOT / "worlds" / f"{REPLACED.get(path.stem, path.stem)}.world.xml")
    topics = {one.topic for one in shown(path)} - FOREIGN.get(path.stem, set())
    expected = {"/map"} if "/map" in topics else set()
    for vehicle in world.vehicles:
        space = f"/{vehicle.name}/" if path.stem in PREFIXED else "/"
        expected |= {space + name for name in ("robot_description", "chassis_markers", "odom")}
        for sensor in vehicle.sensors:
            expected |= {space + name.format(sensor.name) for name in OF_SENSORS[sensor.kind]}
    assert topics == expected


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_fast_topics_are_read_reliably_and_lasting_ones_late(path: Path) -> None:
    for one in shown(path):
        lasting = {"RobotModel", "MarkerArray", "Map"}
        assert one.reliable
        assert one.latched is (one.kind in lasting and not one.topic.endswith("_updates"))


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_the_simulator_publishes_what_is_shown(path: Path, domain_pool: DomainPool) -> None:
    world = ROOT / "worlds" / f"{REPLACED.get(path.stem, path.stem)}.world.xml"
    several = {"frame_prefix": "<name>/"} if path.stem in PREFIXED else {}
    domain = domain_pool.take()
    node = NodeProcess(domain, world, **several)
    observer = Observer(domain)
    try:
        for one in shown(path):
            if one.topic not in FOREIGN.get(path.stem, ()):
                assert_compatible(observer, one)
        fixed = manager(path)["Global Options"]["Fixed Frame"]
        assert fixed in frames_of(observer)
    finally:
        observer.close()
        node.close()
        domain_pool.give_back(domain)


def assert_compatible(observer: Observer, one: Shown) -> None:
    """The simulator publishes a topic, and offers what the display asks for."""
    (end,) = eventually(
        lambda: observer.node.get_publishers_info_by_topic(one.topic), one.topic, START
    )
    assert end.topic_type == TYPES[one.kind]
    assert end.qos_profile.reliability == ReliabilityPolicy.RELIABLE
    if one.latched:
        assert end.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL


def frames_of(observer: Observer) -> set[str]:
    """Return the frames on /tf and /tf_static."""
    from tf2_msgs.msg import TFMessage

    observer.subscribe("/tf", TFMessage)
    observer.subscribe("/tf_static", TFMessage, LATCHED)
    messages = eventually(lambda: observer.all("/tf"), "a transform", START)
    links = [t for m in messages for t in m.transforms]
    return {t.header.frame_id for t in links} | {t.child_frame_id for t in links}


def test_rviz_in_a_namespace_finds_the_topics_there() -> None:
    """rviz.launch.py makes all topics of configurations for one robot relative, and all tools'."""
    launch = (ROOT / "launch" / "rviz.launch.py").read_text()
    for path in FILES:
        tools = [tool["Topic"]["Value"] for tool in manager(path)["Tools"] if "Topic" in tool]
        topics = [] if path.stem in PREFIXED else [one.topic for one in shown(path)]
        for topic in {*topics, *tools, "/tf", "/tf_static"}:
            assert f'"{topic[1:]}"' in launch
