# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Frame names of vehicles and sensors, and the frames of each sensor."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mvsim_core.bags.settings import NameSettings
from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.pinhole import FROM_OPTICAL, compose

#: Suffix of the optical frame of a camera: z forward, x right, y down (REP-103).
OPTICAL_FRAME = "_optical_frame"
#: Suffix of the optical frame of the colour camera of a depth camera.
RGB_OPTICAL_FRAME = "_rgb_optical_frame"
#: Suffix of the frame with x forward, for cameras whose own frame is their optical frame.
LINK_FRAME = "_link"


@dataclass(frozen=True, slots=True)
class Frames:
    """Frame names of one vehicle, without leading slashes."""

    map: str
    odom: str
    base: str
    footprint: str  # equal to `base` when there is no footprint frame
    prefix: str = ""
    world: str = ""  # parent of `map`; empty: none

    def sensor(self, name: str) -> str:
        """Return the frame of a sensor: its name in the world file, with _2 if that is in use."""
        frame = self.prefix + name.lstrip("/")
        taken = (self.map, self.odom, self.base, self.footprint)
        return f"{frame}_2" if frame in taken else frame

    def all(self, sensors: Iterable[str]) -> set[str]:
        """Return all frames of the vehicle and of its sensors."""
        own = {self.map, self.odom, self.base, self.footprint, self.world}
        return own | {self.sensor(name) for name in sensors}

    def prefixed(self, name: str) -> str:
        """Return the frame name of another link of the vehicle."""
        return self.prefix + name


def frames_of(settings: NameSettings, vehicle: str) -> Frames:
    """Return the frames of a vehicle."""
    prefix = settings.frame_prefix.replace("<name>", vehicle)
    base = prefix + settings.base_frame
    footprint = prefix + settings.footprint_frame if settings.publish_base_footprint else base
    world = settings.world_frame
    map_frame = prefix + settings.map_frame if world else settings.map_frame
    odom = prefix + settings.odom_frame
    return Frames(map_frame, odom, base, footprint, prefix, world)


def standalone_frames(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Return the frame of each sensor of the world itself: its name, numbered if in use."""
    frames: dict[str, str] = {}
    for name in names:
        base = frame = name.lstrip("/")
        number = 2
        while frame in taken or frame in frames.values():
            frame = f"{base}_{number}"
            number += 1
        frames[name] = frame
    return frames


def sensor_frames(sensor: Any) -> dict[str, Pose]:
    """Return the frames of a sensor as {suffix: pose in the parent frame}.

    The first is the sensor's own frame, with the pose of the world file and an empty suffix;
    cameras have optical frames too.
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
