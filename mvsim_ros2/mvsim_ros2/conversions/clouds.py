# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Point clouds of 3D lidars and depth cameras to sensor_msgs/PointCloud2."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header

from mvsim_core.bags.layouts import CLOUD_LAYOUTS, Points, depth_points
from mvsim_core.sensors.lidar3d import CloudReading
from mvsim_core.sensors.rgbd_camera import RgbdReading
from mvsim_ros2.conversions.arrays import byte_array
from mvsim_ros2.conversions.stamps import NANOSECONDS


def cloud_message(cloud: Points, header: Header) -> PointCloud2:
    """Return a cloud with the bytes of a structured array, with time and frame of its points."""
    height, width = cloud.shape
    step = cloud.points.dtype.itemsize
    return PointCloud2(
        header=header,
        height=height,
        width=width,
        fields=[
            PointField(name=name, offset=offset, datatype=datatype, count=1)
            for name, offset, datatype in cloud.fields()
        ],
        is_bigendian=False,
        point_step=step,
        row_step=step * width,
        data=byte_array(cloud.points),
        is_dense=cloud.is_dense,
    )


def lidar_message(
    reading: CloudReading, frame: str, stamp: Time, *, layout: str = "points"
) -> PointCloud2:
    """Return the scan of a 3D lidar; its stamp is the time of the first beam.

    Args:
        reading: The scan.
        frame: Frame of the sensor.
        stamp: Time of the first beam.
        layout: A `cloud_layout` of world files.
    """
    cloud = CLOUD_LAYOUTS[layout](reading, stamp.sec * NANOSECONDS + stamp.nanosec)
    return cloud_message(cloud, Header(stamp=stamp, frame_id=frame))


def depth_cloud_message(reading: RgbdReading, frame: str, stamp: Time) -> PointCloud2:
    """Return the cloud of a depth camera, see `depth_points`."""
    return cloud_message(depth_points(reading), Header(stamp=stamp, frame_id=frame))
