# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Point clouds of 3D lidars and depth cameras to sensor_msgs/PointCloud2."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from mvsim_core.sensors.lidar3d import CloudReading
from mvsim_core.sensors.rgbd_camera import RgbdReading
from mvsim_ros2.conversions.arrays import byte_array

_TYPES = {
    "f4": PointField.FLOAT32,
    "f8": PointField.FLOAT64,
    "u1": PointField.UINT8,
    "u2": PointField.UINT16,
    "u4": PointField.UINT32,
}
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
#: Readers of packed colours expect the datatype FLOAT32, though they are four bytes.
_PACKED = "rgb"


def point_fields(dtype: np.dtype[np.void], names: list[str]) -> list[PointField]:
    """Return name, offset and type of some fields of a structured array."""
    fields = []
    for name in names:
        kind, offset = dtype.fields[name][:2]  # type: ignore[index]
        datatype = PointField.FLOAT32 if name == _PACKED else _TYPES[kind.str[1:]]
        fields.append(PointField(name=name, offset=offset, datatype=datatype, count=1))
    return fields


def cloud_message(
    points: npt.NDArray[np.void], names: list[str], header: Header, *, is_dense: bool
) -> PointCloud2:
    """Return a cloud with the bytes of a structured array.

    Args:
        points: (n,), or (height, width) if ordered as an image.
        names: Fields of the message; the others are padding.
        header: Time and frame of the points.
        is_dense: Whether all points are finite.
    """
    height, width = points.shape if points.ndim == 2 else (1, len(points))
    step = points.dtype.itemsize
    return PointCloud2(
        header=header,
        height=height,
        width=width,
        fields=point_fields(points.dtype, names),
        is_bigendian=False,
        point_step=step,
        row_step=step * width,
        data=byte_array(points),
        is_dense=is_dense,
    )


def lidar_message(reading: CloudReading, frame: str, stamp: Time) -> PointCloud2:
    """Return the scan of a 3D lidar; its stamp is the time of the first beam.

    The field `time` [s, from the stamp] is included only if points differ in it: consumers that
    scale times to 0 … 1 would divide by zero.
    """
    names = ["x", "y", "z", "intensity", "ring"]
    times = reading.points["time"]
    if reading.timed and times.size and times.min() < times.max():
        names.append("time")
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(reading.points, names, header, is_dense=True)


def organized_message(reading: CloudReading, frame: str, stamp: Time) -> PointCloud2:
    """Return a scan as an image: a row for each ring, the highest on top; NaN: nothing."""
    names = ["x", "y", "z", "intensity", "ring"] + ["time"] * reading.timed
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(reading.organized(), names, header, is_dense=False)


def ouster_message(reading: CloudReading, frame: str, stamp: Time) -> PointCloud2:
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
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(points, list(OUSTER_POINT.names or ()), header, is_dense=True)


def livox_message(reading: CloudReading, frame: str, stamp: Time) -> PointCloud2:
    """Return a scan as the driver of Livox publishes it; all tags are 0: good returns."""
    points = np.zeros(len(reading.points), LIVOX_POINT)
    for name in ("x", "y", "z"):
        points[name] = reading.points[name]
    points["intensity"] = REFLECTIVITY * reading.points["intensity"]
    points["line"] = reading.points["ring"] % LIVOX_LINES
    begin = stamp.sec * 1_000_000_000 + stamp.nanosec
    points["timestamp"] = begin + np.rint(1e9 * reading.points["time"].astype(np.float64))
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(points, list(LIVOX_POINT.names or ()), header, is_dense=True)


#: By `cloud_layout` of the sensor.
CLOUD_LAYOUTS = {
    "points": lidar_message,
    "organized": organized_message,
    "ouster": ouster_message,
    "livox": livox_message,
}


def depth_cloud_message(reading: RgbdReading, frame: str, stamp: Time) -> PointCloud2:
    """Return the cloud of a depth camera, in its optical frame and ordered as its image.

    Points without depth are NaN. Colours are included if there is a colour image.
    """
    names = ["x", "y", "z"] if reading.rgb is None else ["x", "y", "z", "rgb"]
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(reading.cloud(), names, header, is_dense=False)
