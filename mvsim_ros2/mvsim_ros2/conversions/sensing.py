# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of sensors."""

from __future__ import annotations

import math
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from sensor_msgs.msg import LaserScan
from std_msgs.msg import Header

from mvsim_core.sensors.lidar2d import LaserReading

#: How far beyond the greatest range `scan_no_hit: beyond` puts what is not there [m].
BEYOND = 0.01


def float_array(values: npt.NDArray[np.float32]) -> array[float]:
    """Return numbers as the field type of float32[]."""
    return array("f", values.tobytes())


def byte_array(values: npt.NDArray[Any]) -> array[int]:
    """Return the bytes of an array as the field type of uint8[], copied once."""
    data = array("B")
    data.frombytes(np.ascontiguousarray(values).view(np.uint8).data)
    return data


def no_hit_range(choice: str, range_max: float) -> float:
    """Return what a scan says where a ray meets nothing [m], for a value of scan_no_hit."""
    values = {"range_max": range_max, "beyond": range_max + BEYOND, "zero": 0.0}
    return values.get(choice, math.inf)


def scan_message(
    reading: LaserReading, frame: str, stamp: Time, *, no_hit: str = "inf"
) -> LaserScan:
    """Return a scan; its stamp is the time of the first ray.

    REP-117 wants +inf where a ray meets nothing; `no_hit` is for consumers that cannot take it.
    `angle_max` is computed from the single-precision values that the message will hold, for
    consumers that count rays by them.
    """
    n, ranges = len(reading.ranges), reading.ranges
    if no_hit != "inf":
        nothing = np.float32(no_hit_range(no_hit, reading.range_max))
        ranges = np.where(np.isposinf(ranges), nothing, ranges)
    first, step = np.float32(reading.angle_min), np.float32(reading.angle_increment)
    return LaserScan(
        header=Header(stamp=stamp, frame_id=frame),
        angle_min=float(first),
        angle_max=float(first + np.float32(n - 1) * step),
        angle_increment=float(step),
        time_increment=reading.time_increment,
        scan_time=reading.scan_time,
        range_min=reading.range_min,
        range_max=reading.range_max,
        ranges=float_array(ranges),
        intensities=array("f")
        if reading.intensities is None
        else float_array(reading.intensities),
    )
