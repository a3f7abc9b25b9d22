# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of 2D lidars and range sensors to LaserScan and Range of sensor_msgs."""

from __future__ import annotations

from array import array

from builtin_interfaces.msg import Time
from sensor_msgs.msg import LaserScan, Range
from std_msgs.msg import Header

from mvsim_core.bags.layouts import scan_angles, scan_ranges
from mvsim_core.sensors.lidar2d import LaserReading
from mvsim_core.sensors.range_sensor import INFRARED, RangeReading
from mvsim_ros2.conversions.arrays import float_array


def scan_message(
    reading: LaserReading, frame: str, stamp: Time, *, no_hit: str = "inf"
) -> LaserScan:
    """Return a scan; its stamp is the time of the first ray.

    REP-117 prescribes +inf for rays without a hit; `no_hit` is for consumers that do not support
    it.
    """
    first, last, step = scan_angles(reading)
    return LaserScan(
        header=Header(stamp=stamp, frame_id=frame),
        angle_min=first,
        angle_max=last,
        angle_increment=step,
        time_increment=reading.time_increment,
        scan_time=reading.scan_time,
        range_min=reading.range_min,
        range_max=reading.range_max,
        ranges=float_array(scan_ranges(reading, no_hit)),
        intensities=array("f")
        if reading.intensities is None
        else float_array(reading.intensities),
    )


def range_message(reading: RangeReading, frame: str, stamp: Time) -> Range:
    """Return a distance by REP-117: +inf nothing seen, -inf too near to measure."""
    infrared = reading.radiation_type == INFRARED
    message = Range(
        header=Header(stamp=stamp, frame_id=frame),
        radiation_type=Range.INFRARED if infrared else Range.ULTRASOUND,
        field_of_view=reading.field_of_view,
        min_range=reading.range_min,
        max_range=reading.range_max,
        range=reading.range,
    )
    if hasattr(message, "variance"):  # since ROS 2 Iron
        message.variance = reading.variance
    return message
