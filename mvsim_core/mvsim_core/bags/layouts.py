# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Arrays and texts in messages: points as drivers publish them, depths in millimetres, labels.

The node and recordings both make their messages of these.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_core.sensors.camera import CLASSES
from mvsim_core.sensors.lidar2d import LaserReading
from mvsim_core.sensors.lidar3d import CloudReading
from mvsim_core.sensors.rgbd_camera import RgbdReading

#: As ouster-ros publishes (PCL's padding included): t [ns] from the stamp, range [mm].
OUSTER_POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "t", "reflectivity", "ring", "ambient", "range"],
        "formats": ["f4", "f4", "f4", "f4", "u4", "u2", "u2", "u2", "u4"],
        "offsets": [0, 4, 8, 16, 20, 24, 26, 28, 32],
        "itemsize": 48,
    }
)
#: As livox_ros_driver2 publishes with xfer_format 0: reflectivity 0 to 255, absolute time [ns].
LIVOX_POINT = np.dtype(
    [
        *((name, "<f4") for name in ("x", "y", "z", "intensity")),
        *(("tag", "u1"), ("line", "u1"), ("timestamp", "<f8")),
    ]
)
#: Lines of a Livox Mid-360; rings are shared out among them.
LIVOX_LINES = 4
#: From a brightness of 0 to 1 to the reflectivity of drivers.
REFLECTIVITY = 255.0
#: Distance [m] beyond range_max of rays without a hit, for `scan_no_hit: beyond`.
BEYOND = 0.01
#: Unit of 16UC1 depth images [m] (REP-118).
MILLIMETRE = 1e-3
#: sensor_msgs/PointField: datatype by type of numpy.
POINT_TYPES = {"u1": 2, "u2": 4, "u4": 6, "f4": 7, "f8": 8}
#: Readers of packed colours expect the datatype FLOAT32, though they are four bytes.
_PACKED = "rgb"


class Points(NamedTuple):
    """What a PointCloud2 holds.

    Attributes:
        points: (n,), or (height, width) if ordered as an image.
        names: Fields of the message; the others are padding.
        is_dense: Whether all points are finite.
    """

    points: npt.NDArray[np.void]
    names: list[str]
    is_dense: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        points = self.points
        return (points.shape[0], points.shape[1]) if points.ndim == 2 else (1, len(points))

    def fields(self) -> list[tuple[str, int, int]]:
        """Return name, offset and datatype of each field."""
        found = []
        for name in self.names:
            kind, offset = self.points.dtype.fields[name][:2]  # type: ignore[index]
            datatype = POINT_TYPES["f4" if name == _PACKED else kind.str[1:]]
            found.append((name, offset, datatype))
        return found


def plain_points(reading: CloudReading, ns: int) -> Points:
    """Return the points that came back, for a stamp [ns].

    The field `time` [s, from the stamp] is included only if points differ in it: consumers that
    scale times to 0 … 1 would divide by zero.
    """
    names = ["x", "y", "z", "intensity", "ring"]
    times = reading.points["time"]
    if reading.timed and times.size and times.min() < times.max():
        names.append("time")
    return Points(reading.points, names, is_dense=True)


def organized_points(reading: CloudReading, ns: int) -> Points:
    """Return a scan as an image: a row for each ring, the highest on top; NaN: nothing."""
    names = ["x", "y", "z", "intensity", "ring"] + ["time"] * reading.timed
    image = reading.organized()
    points = np.zeros(image.shape, image.dtype)  # or its padding would hold any bytes
    for name in image.dtype.names or ():
        points[name] = image[name]
    return Points(points, names, is_dense=False)


def ouster_points(reading: CloudReading, ns: int) -> Points:
    """Return a scan as the driver of Ouster publishes it; zeros where nothing came back.

    Ring 0 is the highest there. `ambient` is 0: near-infrared light is not simulated.
    """
    image = reading.organized()
    points = np.zeros(image.shape, OUSTER_POINT)
    seen = np.isfinite(image["x"])
    for name in ("x", "y", "z"):
        points[name] = np.where(seen, image[name], 0.0)
    distance = np.sqrt(points["x"] ** 2 + points["y"] ** 2 + points["z"] ** 2)
    points["range"] = np.rint(1e3 * distance.astype(np.float64))
    points["reflectivity"] = np.rint(REFLECTIVITY * image["intensity"])
    points["intensity"] = REFLECTIVITY * image["intensity"]
    points["t"] = np.rint(1e9 * image["time"].astype(np.float64))
    points["ring"] = np.arange(len(points))[:, None]
    return Points(points, list(OUSTER_POINT.names or ()), is_dense=True)


def livox_points(reading: CloudReading, ns: int) -> Points:
    """Return a scan as the driver of Livox publishes it; all tags are 0: good returns."""
    points = np.zeros(len(reading.points), LIVOX_POINT)
    for name in ("x", "y", "z"):
        points[name] = reading.points[name]
    points["intensity"] = REFLECTIVITY * reading.points["intensity"]
    points["line"] = reading.points["ring"] % LIVOX_LINES
    points["timestamp"] = ns + np.rint(1e9 * reading.points["time"].astype(np.float64))
    return Points(points, list(LIVOX_POINT.names or ()), is_dense=True)


def depth_points(reading: RgbdReading) -> Points:
    """Return the cloud of a depth camera, in its optical frame and ordered as its image.

    Points without depth are NaN. Colours are included if there is a colour image.
    """
    names = ["x", "y", "z"] if reading.rgb is None else ["x", "y", "z", "rgb"]
    return Points(reading.cloud(), names, is_dense=False)


#: By `cloud_layout` of the sensor.
CLOUD_LAYOUTS: Mapping[str, Callable[[CloudReading, int], Points]] = {
    "points": plain_points,
    "organized": organized_points,
    "ouster": ouster_points,
    "livox": livox_points,
}


def no_hit_range(choice: str, range_max: float) -> float:
    """Return the range [m] of rays without a hit, for a value of scan_no_hit."""
    values = {"range_max": range_max, "beyond": range_max + BEYOND, "zero": 0.0}
    return values.get(choice, math.inf)


def scan_ranges(reading: LaserReading, no_hit: str) -> npt.NDArray[np.float32]:
    """Return the ranges of a scan; REP-117 prescribes +inf for rays without a hit."""
    if no_hit == "inf":
        return reading.ranges
    nothing = np.float32(no_hit_range(no_hit, reading.range_max))
    return np.where(np.isposinf(reading.ranges), nothing, reading.ranges)


def scan_angles(reading: LaserReading) -> tuple[float, float, float]:
    """Return first and last angle and the step of a scan, in single precision.

    The last one follows from the other two, because consumers compute the number of rays from
    them.
    """
    n = len(reading.ranges)
    first, step = np.float32(reading.angle_min), np.float32(reading.angle_increment)
    return float(first), float(first + np.float32(n - 1) * step), float(step)


def millimetres(depth: npt.NDArray[np.float32]) -> npt.NDArray[np.uint16]:
    """Return depths [m] in millimetres; 0 without a hit, and beyond 16 bits (REP-118)."""
    scaled = depth / np.float32(MILLIMETRE)
    np.nan_to_num(scaled, copy=False, posinf=0.0)
    np.rint(scaled, out=scaled)
    scaled[scaled > np.iinfo(np.uint16).max] = 0.0
    return scaled.astype(np.uint16)


def labels_text(things: tuple[tuple[str, str], ...]) -> str:
    """Return the names of classes and instances by their numbers in images, as JSON."""
    instances = {str(k): {"name": name, "class": kind} for k, (name, kind) in enumerate(things, 1)}
    classes = {str(k): kind for k, kind in enumerate(CLASSES, 1)}
    return json.dumps({"classes": classes, "instances": instances})
