# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""What the specs of all sensors share: base class, checks, default mounts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import (
    POSE2D,
    POSE3D,
    RATE,
)
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    Alias,
    Spec,
    above,
    in_range,
    param,
    section,
)
from mvsim_core.specs.simulable import POSE_TOPICS, PublishSpec
from mvsim_core.specs.visual import VisualSpec

POSE_ALIASES = (Alias("pose", POSE2D),)
FULL_TURN = above(0.0, 2 * math.pi, "(0, 360]")
HALF_TURN = above(0.0, math.pi, "(0, 180]")
# Default mounts of the file format.
LASER_MOUNT = Pose(z=0.05)
CAMERA_MOUNT = Pose(z=0.5, roll=math.pi / 2, yaw=math.pi / 2)
INTENSITY_MOUNT = Pose(roll=-math.pi / 2, yaw=-math.pi / 2)


GLASS = "rays pass through surfaces whose opacity (alpha) is below 0.5"
RAYS = "rays are cast exactly, not sampled from a depth image"
BOXES = "the viewer has check boxes for rays and points"
DEMAND = "a topic is published while it has subscribers"

EXPOSURE = "extension: factor of the light; the picture is clipped at white"
AUTO_EXPOSURE = (
    "extension: also scales the light of each picture so that its mean is a medium grey, within a"
    " factor of 16"
)
#: How edges in pictures are smoothed.
ANTIALIASING = ("none", "edges", "samples")
SMOOTHING = (
    "extension: how edges are smoothed: none; edges of the finished picture (FXAA); four samples"
    " a pixel (MSAA), better and on a graphics card free, in software three times the work"
)
LEVELS = "extension: standard deviation of each colour of each pixel, of 255 levels"
TURN_ON = "extension: standard deviation of a constant that is drawn by seed for each axis"

#: Models of lenses and their number of coefficients.
DISTORTIONS = {"plumb_bob": 5, "equidistant": 4}
DISTORTION_MODEL = "extension: as in sensor_msgs/CameraInfo and OpenCV; equidistant is a fisheye"
DISTORTION = "extension: k1 k2 p1 p2 [k3] of plumb_bob, k1 k2 k3 k4 of equidistant; absent: none"
READOUT = (
    "extension: from the first row to the last, which is read at the time of the reading"
    " (rolling shutter); the camera's own motion shows, that of others does not"
)
#: Most rays or pixels of one sensor; a 4K image has 8.3 million pixels.
MOST_RAYS = 10_000_000

#: Classes of sensors that the message bus has messages for.
PUBLISHED = ("laser", "lidar3d", "camera", "rgbd_camera", "imu", "gnss", "range", "stereo_camera")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SensorSpec(Spec):
    """Base of all sensors; `kind` is the class name of the file format."""

    kind: str = ""
    name: str = param("", attribute=True, help="default: a prefix and a running number")
    pose: Pose = param(
        Pose(),
        xml="pose_3d",
        conv=POSE3D,
        also=POSE_ALIASES,
        unit="m, rad",
        help="in the frame of the vehicle",
    )
    period: float = param(
        0.1,
        xml="sensor_period",
        unit="s",
        check=NOT_NEGATIVE,
        also=(Alias("rate_hz", RATE),),
        help="0: each step",
    )
    delay: float = param(
        0.0,
        unit="s",
        check=NOT_NEGATIVE,
        help="extension: time from measurement to output; the stamp is that of the measurement",
    )
    dropout: float = param(
        0.0, check=in_range(0.0, 1.0), help="extension: probability that a reading is lost"
    )
    visuals: tuple[VisualSpec, ...] = section((), "visual", VisualSpec, many=True)
    publish: PublishSpec = section(PublishSpec(), "publish", PublishSpec)

    def hints(self) -> Iterator[str]:
        """Yield fields without effect, and topics that sensors do not have."""
        yield from Spec.hints(self)
        reason = "the pose of a sensor on its vehicle is in its readings"
        yield from self.publish.without_effect(POSE_TOPICS, reason)
        if self.kind not in PUBLISHED:
            reason = f"the message bus has no message for a {self.kind}"
            yield from self.publish.without_effect(("publish_topic",), reason)


def clip_errors(name: str, low: float, high: float) -> Iterator[str]:
    """Yield an error if a least distance is not below the greatest one."""
    if low >= high:
        yield f"{name}_min ({low:g} m) must be below {name}_max ({high:g} m)"


def all_coefficients(model: str, given: tuple[float, ...]) -> tuple[float, ...]:
    """Return all coefficients of a distortion; empty: none."""
    return (*given, *(0.0,) * (DISTORTIONS[model] - len(given))) if given else ()


def distortion_errors(name: str, model: str, given: tuple[float, ...]) -> Iterator[str]:
    """Yield an error if a model of lenses has another number of coefficients."""
    most = DISTORTIONS[model]
    if given and not 4 <= len(given) <= most:
        wanted = "4" if most == 4 else "4 or 5"
        yield f"{name} of {model} must be {wanted} numbers, got {len(given)}"


def size_errors(names: str, columns: int, rows: int) -> Iterator[str]:
    """Yield an error if a sensor has too many rays or pixels for the memory."""
    if columns * rows > MOST_RAYS:
        yield f"{names} must be <= {MOST_RAYS}, got {columns} x {rows} = {columns * rows}"
