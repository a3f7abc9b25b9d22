# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of sensors as MRPT's observations. Poses of sensors are those on the vehicle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.recording.rawlog.archive import (
    camera,
    instant,
    numbers,
    packed,
    picture,
    points,
    pose2d,
    pose3d,
    text,
    written,
)
from mvsim_core.sensors.pinhole import compose
from mvsim_core.state.arrays import Row

#: Places of an inertial unit's values in MRPT's list, and its length here.
_ACCELERATION, _YAW_RATE, _PITCH_RATE, _ROLL_RATE = slice(0, 3), 3, 4, 5
_QUATERNION, _IMU_FIELDS = slice(21, 25), 25
_NMEA_GGA = 10
_SIMULATED = 8  # the NMEA quality of positions that a simulator gives


def odometry(vehicle: Row, time: float) -> bytes:
    """Return pose and twist by the wheels of one row of VEHICLE."""
    vx, vy = vehicle["odo_kx"] * vehicle["odo_vx"], vehicle["odo_ky"] * vehicle["odo_vy"]
    twist = packed("??ddd", False, True, vx, vy, vehicle["odo_kyaw"] * vehicle["odo_wz"])
    place = pose2d(float(vehicle["odo_x"]), float(vehicle["odo_y"]), float(vehicle["odo_yaw"]))
    return written("obs::CObservationOdometry", 2, place, text("odom"), instant(time), twist)


def _scan(sensor: Any, reading: Any) -> bytes:
    """Return a planar scan: MRPT's is symmetric about x, so its frame looks along the middle."""
    middle = 0.5 * (reading.angle_min + reading.angle_max)
    hit = np.isfinite(reading.ranges)
    nothing = np.where(reading.ranges > 0.0, reading.range_max, 0.0)
    ranges = np.where(hit, reading.ranges, nothing)
    return written(
        "obs::CObservation2DRangeScan",
        7,
        packed("f?f", reading.angle_max - reading.angle_min, True, reading.range_max),
        pose3d(compose(sensor.mount, Pose(yaw=middle))),
        packed("I", len(ranges)),
        numbers(ranges, "<f4"),
        numbers(hit, "u1"),
        packed("f", sensor.spec.range_std_noise),
        instant(reading.time),
        packed("f", 0.0),  # width of a beam
        text(sensor.name),
        packed("d?", 0.0, False),  # change of pitch; no intensities
    )


def _imu(sensor: Any, reading: Any) -> bytes:
    values, present = np.zeros(_IMU_FIELDS), np.zeros(_IMU_FIELDS, np.bool_)
    values[_ACCELERATION] = reading.linear_acceleration
    values[[_ROLL_RATE, _PITCH_RATE, _YAW_RATE]] = reading.angular_velocity
    present[: _ROLL_RATE + 1] = True
    if reading.orientation is not None:
        values[_QUATERNION], present[_QUATERNION] = reading.orientation, True
    return written(
        "obs::CObservationIMU",
        3,
        pose3d(sensor.mount),
        packed("I", _IMU_FIELDS),
        numbers(present, "u1"),
        instant(reading.time),
        packed("I", _IMU_FIELDS),
        numbers(values, "<f8"),
        text(sensor.name),
    )


def _gps(sensor: Any, reading: Any) -> bytes:
    minutes, seconds = divmod(reading.time, 60.0)
    height = reading.altitude
    datum = packed(
        "BBd dd B dddd I?f",
        *(int(minutes) // 60 % 24, int(minutes) % 60, seconds),
        *(reading.latitude, reading.longitude),
        _SIMULATED if reading.status >= 0 else 0,
        *(height, 0.0, height, height),  # above the ellipsoid, which stands for the geoid
        *(0, False, 0.0),  # satellites; dilution of precision
    )
    now = instant(reading.time)
    return written(
        "obs::CObservationGPS",
        11,
        *(now, now, text(sensor.name), pose3d(sensor.mount)),
        packed("?I", True, 1),
        packed("iI", _NMEA_GGA, len(datum)),
        datum,
    )


def _image(sensor: Any, reading: Any, pose: Pose, pinhole: Any) -> bytes:
    parts = (pose3d(pose), camera(pinhole), picture(reading.rgb), instant(reading.time))
    return written("obs::CObservationImage", 4, *parts, text(sensor.name))


def _camera(sensor: Any, reading: Any) -> bytes:
    return _image(sensor, reading, sensor.optical_mount, reading.camera)


def _depth_camera(sensor: Any, reading: Any) -> bytes:
    if reading.depth is None:
        return _image(sensor, reading, sensor.rgb_optical_mount, reading.rgb_camera)
    counts, has_picture = reading.counts(), reading.rgb is not None
    return written(
        "obs::CObservation3DRangeScan",
        9,
        packed("f", sensor.spec.depth_clip_max),
        pose3d(sensor.mount),
        packed("??f", False, True, reading.depth_unit),  # no points, but a depth image
        packed("II", *counts.shape),
        numbers(counts, "<u2"),
        packed("?", has_picture),
        picture(reading.rgb) if has_picture else b"",
        packed("?", False),  # no confidences
        camera(reading.depth_camera),
        camera(reading.rgb_camera),
        pose3d(sensor.spec.intensity_pose),
        packed("f", sensor.spec.depth_noise_sigma),
        instant(reading.time),
        text(sensor.name),
        2 * (packed("?", False) + text("")),  # nothing in other files
        packed("?b?", True, 0, False),  # depths along x; colours are visible ones; no labels
    )


def _cloud(sensor: Any, reading: Any) -> bytes:
    parts = (text(sensor.name), instant(reading.time), pose3d(sensor.mount))
    return written("obs::CObservationPointCloud", 0, *parts, packed("B", 0), points(reading.xyz))


#: What writes the readings of a kind of sensor.
OBSERVATIONS: dict[str, Callable[[Any, Any], bytes]] = {
    "laser": _scan,
    "imu": _imu,
    "gnss": _gps,
    "camera": _camera,
    "rgbd_camera": _depth_camera,
    "lidar3d": _cloud,
}
