# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Names of topics and frames."""

import re

import pytest

pytest.importorskip("rclpy")

from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.bags.frames import frames_of, standalone_frames
from mvsim_core.bags.topic_names import changed, topic_names_of, topic_token, unique_tokens
from mvsim_core.bags.topics import DEPTH_POINTS, IMU, POINTS, RESERVED_TOPICS, SCAN
from mvsim_ros2.outputs.sensors import SensorTopics
from mvsim_ros2.parameters.settings import SettingsError, settings_from

PLAIN = settings_from({})


@pytest.mark.parametrize(
    ("name", "token"),
    [
        ("laser1", "laser1"),
        ("front laser", "front_laser"),
        ("2d", "n2d"),
        ("é-1", "n1"),
        ("", "unnamed"),
    ],
)
def test_names_of_world_files_become_topic_names(name: str, token: str) -> None:
    assert topic_token(name) == token


@given(st.lists(st.text(max_size=8), unique=True, max_size=8))
def test_tokens_are_valid_in_ros_and_unique(names: list[str]) -> None:
    tokens = list(unique_tokens(names).values())
    assert len(set(tokens)) == len(names)
    for token in tokens:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", token)
        assert "__" not in token


@given(st.lists(st.text("ab-_ 1", max_size=4), unique=True, max_size=8))
def test_names_that_ros_allows_are_their_own_tokens(names: list[str]) -> None:
    tokens = unique_tokens(names, ["a"])
    assert list(tokens) == names
    for name, token in tokens.items():
        assert token == name or topic_token(name) != name or name == "a"
    assert changed(tokens) == {n: t for n, t in tokens.items() if n != t}


def test_sensors_do_not_take_topics_of_others() -> None:
    tokens = unique_tokens(["odom", "points", "top", "c d", "c_d_points"], RESERVED_TOPICS)
    assert list(tokens.values()) == ["odom_2", "points", "top", "c_d", "c_d_points"]
    taken = frozenset(tokens.values())
    top = SensorTopics("top", "top", "r1/", only_of_class=True, mvsim_names=True, reserved=taken)
    assert top.name(POINTS) == "top/points"
    assert top.aliases(POINTS) == ["r1/top_points"]  # not points: a sensor is called so
    camera = SensorTopics("c_d", "c d", only_of_class=True, mvsim_names=True, reserved=taken)
    assert camera.aliases(DEPTH_POINTS) == []
    lidar = SensorTopics(
        "front", "front", "r1/", only_of_class=True, scan_topic="scan", mvsim_names=True
    )
    assert lidar.aliases(SCAN) == ["r1/scan"]
    assert SensorTopics("front", "front", scan_topic="scan").aliases(SCAN) == []
    assert SensorTopics("i", "i", only_of_class=True).aliases(IMU) == ["imu/data"]


def test_one_vehicle_has_bare_names() -> None:
    names = topic_names_of(PLAIN, "r1", only_vehicle=True)
    assert (names.topic("odom"), names.tf, names.tf_static) == ("odom", "tf", "tf_static")


@pytest.mark.parametrize("forced", [False, True])
def test_namespaces_and_their_own_tf_for_several_vehicles_or_on_demand(forced: bool) -> None:
    settings = settings_from({"force_publish_vehicle_namespace": forced})
    names = topic_names_of(settings, "r1", only_vehicle=forced)
    assert (names.topic("odom"), names.tf) == ("r1/odom", "r1/tf")
    assert names.tf_static == "r1/tf_static"


def test_frames_are_plain_whatever_the_namespace() -> None:
    frames = frames_of(PLAIN, "r1")
    assert (frames.map, frames.odom, frames.footprint) == ("map", "odom", "base_footprint")
    assert (frames.base, frames.sensor("laser1")) == ("base_link", "laser1")


def test_with_a_prefix_all_vehicles_share_one_tf() -> None:
    settings = settings_from({"frame_prefix": "<name>/"})
    frames = frames_of(settings, "r1")
    assert (frames.map, frames.odom, frames.base) == ("map", "r1/odom", "r1/base_link")
    assert frames.sensor("/laser") == "r1/laser"
    names = topic_names_of(settings, "r1", only_vehicle=False)
    assert (names.topic("odom"), names.tf, names.tf_static) == ("r1/odom", "tf", "tf_static")


@pytest.mark.parametrize("prefix", ["", "r1/"])
@pytest.mark.parametrize("name", ["odom", "base_link", "base_footprint"])
def test_a_sensor_does_not_take_the_frame_of_its_vehicle(name: str, prefix: str) -> None:
    frames = frames_of(settings_from({"frame_prefix": prefix}), "r1")
    assert frames.sensor(name) == f"{prefix}{name}_2"


def test_sensors_of_the_world_get_frames_that_nobody_has() -> None:
    taken = {"map", "odom", "laser", "laser_2"}
    frames = standalone_frames(["odom", "/laser", "gate", "map", "odom_2"], taken)
    assert list(frames.values()) == ["odom_2", "laser_3", "gate", "map_2", "odom_2_2"]


def test_without_a_footprint_odometry_leads_to_the_base() -> None:
    frames = frames_of(settings_from({"publish_base_footprint": False}), "r1")
    assert frames.footprint == frames.base == "base_link"


def test_a_world_frame_gives_each_vehicle_a_map_frame_of_its_own() -> None:
    settings = settings_from({"frame_prefix": "<name>/", "world_frame": "/world"})
    assert [frames_of(settings, name).map for name in ("r1", "r2")] == ["r1/map", "r2/map"]
    assert frames_of(settings, "r1").world == settings.common_frame == "world"
    plain = settings_from({"world_frame": "world"})
    assert frames_of(plain, "r1").map == plain.common_frame == "map"
    prefixed = settings_from({"frame_prefix": "<name>/"})
    assert frames_of(prefixed, "r1").map == prefixed.common_frame == "map"


def test_a_frame_is_not_above_itself() -> None:
    with pytest.raises(SettingsError, match="'world_frame' must differ from map_frame, got 'map'"):
        settings_from({"world_frame": "map"})
    both = settings_from({"world_frame": "map", "frame_prefix": "<name>/"})
    assert frames_of(both, "r1").map == "r1/map"
