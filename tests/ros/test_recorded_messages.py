# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recordings hold what the node publishes: each message of each topic, field by field."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mvsim_msgs")
pytest.importorskip("rosbags")

from rclpy.serialization import deserialize_message, serialize_message

from mvsim_core import World, load_world
from mvsim_core.bags.definitions import OWN, definition, typestore
from mvsim_core.bags.settings import StreamSettings
from mvsim_core.bags.topics import OUTPUTS, Topic
from mvsim_core.bags.world_stream import WorldStream
from mvsim_ros2.names.classes import message_class
from mvsim_ros2.parameters.settings import Settings, settings_from
from tests.conftest import ROOT
from tests.ros import worlds
from tests.ros.captured import Messages, catching, plain, read_cdr

#: Topics of the node that are not recorded: made for RViz, or the same as another one.
LEFT_OUT = ("chassis_markers", "chassis_polygon", "amcl_pose", "particlecloud", "compressed")


class ListSink:
    """Keeps messages as rosbags reads them."""

    def __init__(self) -> None:
        self.caught: Messages = {}
        self._channels: list[tuple[str, str]] = []
        self.order: list[str] = []

    def channel(self, topic: Topic, name: str) -> int:
        self._channels.append((name if name.startswith("/") else f"/{name}", topic.type_name))
        return len(self._channels) - 1

    def resolve(self, name: str) -> str:
        return name

    def write(self, channel: int, data: bytes, ns: int) -> None:
        name, kind = self._channels[channel]
        self.order.append(name)
        read = typestore().deserialize_cdr(data, kind)
        assert bytes(typestore().serialize_cdr(read, kind)) == data, name
        assert_readable_in_ros(data, kind)
        self.caught.setdefault(name, []).append(read)


def assert_readable_in_ros(data: bytes, kind: str) -> None:
    """Check that ROS reads the bytes as rosbags does."""
    cls = message_class(Topic("", kind, 1, ""))
    again = serialize_message(deserialize_message(data, cls))
    assert plain(read_cdr(again, kind)) == plain(read_cdr(data, kind)), kind


def drive(world: World) -> None:
    """Let all vehicles move, so that nothing in their messages is zero by chance."""
    for k, vehicle in enumerate(world.vehicles.values()):
        if "twist" in vehicle.accepts:
            vehicle.set_twist(0.6, 0.0, 0.3 - 0.1 * k)


def both(world: World, seconds: float, settings: Settings) -> tuple[Messages, ListSink]:
    """Return what the node publishes and what a recording holds, of the same run."""
    drive(world)
    sink = ListSink()
    dt = world.dt
    with catching(world, settings) as (outputs, caught):
        stream = WorldStream(world, settings, sink, lambda k: round(k * dt * 1e9), derived=True)
        for _ in range(round(seconds / dt)):
            world.step()
            outputs.publish()
            stream.after_step()
    published = {k: v for k, v in caught.items() if not k.endswith(LEFT_OUT)}
    return published, sink


def hills(folder: Path) -> Path:
    """Write a world whose ground is uneven, with a robot that has a lidar."""
    file = worlds.one_robot(folder)
    ground = """<element class="elevation_map"><elevation_data_matrix>
      [0 0.3 0.1 0.6; 0.4 0 0.5 0.1; 0 0.5 0.2 0.7; 0.6 0.1 0.4 0]</elevation_data_matrix>
      <resolution>3</resolution></element>"""
    file.write_text(file.read_text().replace("<element", f"{ground}<element", 1))
    return file


WORLDS: dict[str, tuple[Callable[[Path], Path], dict[str, Any]]] = {
    "one robot": (worlds.one_robot, {}),
    "from the initial pose": (worlds.one_robot, {"odom_starts_at": "spawn"}),
    "namespace": (worlds.one_robot, {"force_publish_vehicle_namespace": True}),
    "all sensors": (worlds.all_sensors, {}),
    "one tf": (worlds.all_sensors, {"frame_prefix": "<name>/", "world_frame": "world"}),
    "names": (
        worlds.crowded,
        {"map_frame": "m", "odom_frame": "o", "base_frame": "b", "footprint_frame": "f"},
    ),
    "no localiser": (
        worlds.crowded,
        {"do_fake_localization": False, "publish_base_footprint": False, "scan_no_hit": "beyond"},
    ),
    "rates": (worlds.three_robots, {"publish_rate": 30.0, "clock_rate": 33.0}),
    "hills": (hills, {}),
}


@pytest.mark.parametrize("name", WORLDS)
def test_recordings_hold_what_the_node_publishes(name: str, tmp_path: Path) -> None:
    make, values = WORLDS[name]
    world = load_world(make(tmp_path))
    published, sink = both(world, 0.6, settings_from(values))
    recorded = {k: v for k, v in sink.caught.items() if not k.startswith("/mvsim/")}
    recorded = {k: v for k, v in recorded.items() if not k.endswith("cmd_vel")}
    assert set(recorded) == set(published)
    if name == "hills":
        assert all(abs(angle) > 0.01 for angle in world.vehicles["r1"].pose[3:5])
    for topic, messages in published.items():
        assert len(recorded[topic]) == len(messages) > 0, topic
        for k, (mine, its) in enumerate(zip(recorded[topic], messages, strict=True)):
            assert plain(mine) == plain(its), f"{topic} number {k}"


@pytest.mark.parametrize("layout", ["organized", "ouster", "livox"])
def test_clouds_have_the_layout_of_the_world_file(layout: str, tmp_path: Path) -> None:
    file = worlds.all_sensors(tmp_path)
    tag = f"<cloud_layout>{layout}</cloud_layout><vert_nrays>4"
    file.write_text(file.read_text().replace("<vert_nrays>4", tag))
    published, sink = both(load_world(file), 0.3, settings_from({}))
    topic = "/r1/top/points"
    assert [*map(plain, sink.caught[topic])] == [*map(plain, published[topic])]


def test_time_and_transforms_come_first(tmp_path: Path) -> None:
    _, sink = both(load_world(worlds.one_robot(tmp_path)), 0.5, settings_from({}))
    seen = [name for name in sink.order if name != "/cmd_vel"]
    assert seen[0] == "/clock"
    for k, name in enumerate(seen):
        if name in ("/odom", "/front_laser"):
            since_clock = seen[: k + 1][::-1].index("/clock")
            assert "/tf" in seen[k - since_clock : k]


def test_the_defaults_are_those_of_the_node() -> None:
    node, core = settings_from({}), StreamSettings()
    for field in fields(StreamSettings):
        assert getattr(core, field.name) == getattr(node, field.name)
    assert core.common_frame == node.common_frame


def test_own_definitions_are_those_of_the_packages() -> None:
    from rosbags.typesys import get_types_from_msg

    folders = {"mvsim_msgs": ROOT / "mvsim_msgs" / "msg"}
    folders["ackermann_msgs"] = ROOT / "pypi" / "src" / "ackermann_msgs" / "msg"
    for name, text in OWN.items():
        package, _, short = name.split("/")
        written = (folders[package] / f"{short}.msg").read_text()
        assert get_types_from_msg(written, name) == get_types_from_msg(text, name)


def test_all_definitions_are_known() -> None:
    for topic in OUTPUTS:
        assert definition(topic.type_name).type_hash.startswith("RIHS01_")
