# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The names of topics and frames: one rule, used everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mvsim_core import Pose
from mvsim_core.sensors.pinhole import FROM_OPTICAL, compose
from mvsim_ros2.parameters import Settings

#: What is added to a camera's frame for that of its lens: z forward, x right, y down (REP-103).
OPTICAL_FRAME = "_optical_frame"
#: The same for the colour camera beside a depth camera.
RGB_OPTICAL_FRAME = "_rgb_optical_frame"
#: The frame with x forward of cameras whose own frame is that of their lens.
LINK_FRAME = "_link"

_NOT_ALLOWED = re.compile(r"[^A-Za-z0-9_]")


def topic_token(name: str) -> str:
    """Return a name as one level of a ROS topic: letters, digits and single underscores.

    World files allow any name ("front laser", "laser-1"); ROS does not.
    """
    # Underscores at the ends would hide a topic, or double when a number is added.
    token = re.sub("_+", "_", _NOT_ALLOWED.sub("_", name)).strip("_") or "unnamed"
    return f"n{token}" if token[0].isdigit() else token


def unique_tokens(names: Iterable[str], reserved: Iterable[str] = ()) -> dict[str, str]:
    """Return a topic token for each name; names that become equal are numbered.

    Args:
        names: What gets tokens.
        reserved: Tokens that are used for something else.
    """
    tokens: dict[str, str] = {}
    taken = set(reserved)
    for name in names:
        base = token = topic_token(name)
        number = 2
        while token in taken:
            token = f"{base}_{number}"
            number += 1
        taken.add(token)
        tokens[name] = token
    return tokens


@dataclass(frozen=True, slots=True)
class Frames:
    """Frame names of one vehicle, without leading slashes."""

    map: str
    odom: str
    base: str
    footprint: str  # equal to `base` when there is no footprint frame
    prefix: str = ""
    world: str = ""  # above `map`; empty: none

    def sensor(self, name: str) -> str:
        """Return the frame of a sensor: its name in the world file, with _2 if that is taken."""
        frame = self.prefix + name.lstrip("/")
        taken = (self.map, self.odom, self.base, self.footprint)
        return f"{frame}_2" if frame in taken else frame

    def all(self, sensors: Iterable[str]) -> set[str]:
        """Return all frames of the vehicle and of its sensors."""
        own = {self.map, self.odom, self.base, self.footprint, self.world}
        return own | {self.sensor(name) for name in sensors}

    def named(self, name: str) -> str:
        """Return another frame of the vehicle."""
        return self.prefix + name


def frames_of(settings: Settings, vehicle: str) -> Frames:
    """Return the frames of a vehicle."""
    prefix = settings.frame_prefix.replace("<name>", vehicle)
    base = prefix + settings.base_frame
    footprint = prefix + settings.footprint_frame if settings.publish_base_footprint else base
    world = settings.world_frame
    above = prefix + settings.map_frame if world else settings.map_frame
    odom = prefix + settings.odom_frame
    return Frames(above, odom, base, footprint, prefix, world)


def free_frames(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Return a frame for each sensor that stands in the world: its name, numbered if taken."""
    frames: dict[str, str] = {}
    for name in names:
        base = frame = name.lstrip("/")
        number = 2
        while frame in taken or frame in frames.values():
            frame = f"{base}_{number}"
            number += 1
        frames[name] = frame
    return frames


@dataclass(frozen=True, slots=True)
class Names:
    """Topic names of one vehicle, relative to the node's namespace."""

    namespace: str  # "" or "r1/"
    tf: str
    tf_static: str

    def topic(self, name: str) -> str:
        """Return a topic of the vehicle."""
        return self.namespace + name


def names_of(settings: Settings, vehicle: str, *, alone: bool) -> Names:
    """Return the topic names of a vehicle.

    Args:
        settings: Parameters of the node.
        vehicle: The vehicle's topic token.
        alone: Whether the world has no other vehicle.
    """
    bare = alone and not settings.force_publish_vehicle_namespace
    namespace = "" if bare else f"{vehicle}/"
    shared = "" if settings.frame_prefix else namespace
    return Names(namespace, f"{shared}tf", f"{shared}tf_static")


def sensor_frames(sensor: Any) -> dict[str, Pose]:
    """Return the frames of a sensor, each by what is added to its name.

    The poses are in the frame that carries the sensor. The sensor's own frame, where the world
    file puts it, comes first; cameras have those of their lenses too.
    """
    frames: dict[str, Pose] = {"": sensor.mount}
    optical = getattr(sensor, "optical_mount", None)
    if optical is None:
        return frames
    if optical == sensor.mount:
        frames[LINK_FRAME] = compose(optical, FROM_OPTICAL)
    frames[OPTICAL_FRAME] = optical
    colour = getattr(sensor, "rgb_optical_mount", None)
    if colour is not None:
        frames[RGB_OPTICAL_FRAME] = colour
    return frames
