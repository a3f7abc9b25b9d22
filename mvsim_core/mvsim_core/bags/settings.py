# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What names and rates of messages depend on: the parameters of the node of the same names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


class NameSettings(Protocol):
    """What names of topics and frames depend on; the node's `Settings` are such."""

    @property
    def force_publish_vehicle_namespace(self) -> bool:
        """Whether the only vehicle has a namespace too."""

    @property
    def publish_base_footprint(self) -> bool:
        """Whether there is a frame on the ground below the vehicle."""

    @property
    def map_frame(self) -> str:
        """Frame of the world."""

    @property
    def odom_frame(self) -> str:
        """Frame of the odometry."""

    @property
    def base_frame(self) -> str:
        """Frame of the vehicle."""

    @property
    def footprint_frame(self) -> str:
        """Frame of its projection on the ground."""

    @property
    def frame_prefix(self) -> str:
        """Prefix of all frames but map; `<name>` stands for the vehicle."""

    @property
    def world_frame(self) -> str:
        """Parent frame of map; empty: none."""


class RateSettings(NameSettings, Protocol):
    """What the content of messages depends on besides; the node's `Settings` are such."""

    @property
    def publish_rate(self) -> float:
        """Rate of odometry, ground truth, TF and states [Hz]."""

    @property
    def clock_rate(self) -> float:
        """Least rate of /clock [Hz]."""

    @property
    def do_fake_localization(self) -> bool:
        """Whether TF has map -> odom."""

    @property
    def publish_tf_odom2baselink(self) -> bool:
        """Whether TF has odom -> base_footprint."""

    @property
    def odom_starts_at(self) -> str:
        """Initial pose of the odometry: zero or spawn."""

    @property
    def scan_no_hit(self) -> str:
        """Range of rays without a hit."""

    @property
    def publishes_map(self) -> bool:
        """Whether the occupancy grid is on `map`."""

    @property
    def mvsim_topic_names(self) -> bool:
        """Whether topics have the names of the C++ MVSim too."""

    @property
    def common_frame(self) -> str:
        """Frame of messages that belong to no vehicle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """The parameters of the node that recordings depend on, with the node's defaults."""

    publish_rate: float = 50.0
    clock_rate: float = 200.0
    do_fake_localization: bool = True
    publish_tf_odom2baselink: bool = True
    publish_base_footprint: bool = True
    odom_starts_at: str = "zero"
    scan_no_hit: str = "inf"
    publishes_map: bool = True
    mvsim_topic_names: bool = True
    force_publish_vehicle_namespace: bool = False
    map_frame: str = "map"
    odom_frame: str = "odom"
    base_frame: str = "base_link"
    footprint_frame: str = "base_footprint"
    frame_prefix: str = ""
    world_frame: str = ""

    @property
    def common_frame(self) -> str:
        """Frame of the world, for messages that belong to no vehicle."""
        return self.world_frame if self.world_frame and self.frame_prefix else self.map_frame
