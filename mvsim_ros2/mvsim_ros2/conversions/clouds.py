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
    "u2": PointField.UINT16,
    "u4": PointField.UINT32,
}
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


def depth_cloud_message(reading: RgbdReading, frame: str, stamp: Time) -> PointCloud2:
    """Return the cloud of a depth camera, in its optical frame and ordered as its image.

    Points without depth are NaN. Colours are included if there is a colour image.
    """
    names = ["x", "y", "z"] if reading.rgb is None else ["x", "y", "z", "rgb"]
    header = Header(stamp=stamp, frame_id=frame)
    return cloud_message(reading.cloud(), names, header, is_dense=False)
