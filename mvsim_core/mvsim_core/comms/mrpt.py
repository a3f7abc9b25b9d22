# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The binary format of MRPT's objects, as far as observations of sensors need it.

An object is its class name, a version, its fields, and a mark at the end; numbers are
little-endian. Each class is written in the oldest version that has all fields, so that old and new
releases of MRPT read it; clouds need MRPT 2.15, as those of MVSim do.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose, quaternion, rotation

END = b"\x88"
#: 100 ns intervals from the year 1601, where MRPT's time stamps begin, to 1970.
EPOCH = 116_444_736_000_000_000
#: Number of values of an inertial observation.
IMU_FIELDS = 31
#: Places of acceleration x, y, z, angular velocity x, y, z and quaternion x, y, z, w among them.
IMU_PLACES = (0, 1, 2, 5, 4, 3, 21, 22, 23, 24)

#: Options of MRPT's maps, which mean nothing for a reading: their defaults.
_INSERTION = struct.pack("<bf?????ff?", 0, 0.02, True, False, True, False, False, 9e-4, 2.0, False)
_LIKELIHOOD = struct.pack("<bddI", 0, 0.0025, 1.0, 10)

_GGA = struct.Struct("<BBdddBddddI?f")
NMEA_GGA = 10
DGPS_FIX = 2


def number(form: str, *values: Any) -> bytes:
    """Return numbers in a format of `struct`."""
    return struct.pack("<" + form, *values)


def text(value: str) -> bytes:
    """Return a text after its length."""
    data = value.encode()
    return number("I", len(data)) + data


def stamp(unix_time: float) -> bytes:
    """Return a time [s since 1970]."""
    return number("Q", EPOCH + round(unix_time * 1e7))


def obj(class_name: str, version: int, *fields: bytes) -> bytes:
    """Return an object of a class from its fields."""
    name = class_name.encode()
    return b"".join((bytes((len(name) | 0x80,)), name, bytes((version,)), *fields, END))


def class_name(data: bytes) -> str:
    """Return the class of an object."""
    length = data[0] & 0x7F if data else 0
    return data[1 : 1 + length].decode("ascii", "replace")


@lru_cache(1024)
def pose3d(pose: Pose) -> bytes:
    """Return a CPose3D: position [m] and rotation matrix."""
    turn = np.asarray(rotation(pose), dtype="<f8")
    return obj("mrpt::poses::CPose3D", 3, number("3d", *pose[:3]), turn.tobytes())


@lru_cache(1024)
def camera_parameters(camera: Any, name: str = "") -> bytes:
    """Return a TCamera of a pinhole without distortion."""
    lens = number("4d", camera.fx, camera.fy, camera.cx, camera.cy)
    size = number("2I", camera.height, camera.width)
    return obj("mrpt::img::TCamera", 6, number("9d", *[0.0] * 9), lens, size, text(name), b"\0")


def image(rgb: Any) -> bytes:
    """Return a CImage of (height, width, 3) RGB, uncompressed."""
    height, width = rgb.shape[:2]
    pixels = np.ascontiguousarray(rgb[:, :, ::-1]).tobytes()
    # a negative size says that the pixels are not compressed
    return obj("mrpt::img::CImage", 9, b"\0\1", number("2i", -width, -height), pixels)


def scan(
    label: str,
    time: float,
    mount: Pose,
    fan: tuple[float, float, float, float],
    ranges: Any,
    valid: Any,
) -> bytes:
    """Return a CObservation2DRangeScan.

    Args:
        label: Name of the sensor.
        time: Time stamp [s since 1970].
        mount: Pose of the sensor on the vehicle.
        fan: Field of view [rad], largest range [m], standard deviation of ranges [m], divergence
            of a beam [rad].
        ranges: (n,) m, counterclockwise.
        valid: (n,) whether something was seen.
    """
    aperture, max_range, sigma, beam = fan
    return obj(
        "mrpt::obs::CObservation2DRangeScan",
        7,
        number("f?f", aperture, True, max_range),
        pose3d(mount),
        number("I", len(ranges)),
        np.asarray(ranges, "<f4").tobytes(),
        np.asarray(valid, np.uint8).tobytes(),
        number("f", sigma),
        stamp(time),
        number("f", beam),
        text(label),
        number("d?", 0.0, False),
    )


def picture(label: str, time: float, mount: Pose, camera: Any, rgb: Any) -> bytes:
    """Return a CObservationImage; `mount` is the optical frame on the vehicle."""
    return obj(
        "mrpt::obs::CObservationImage",
        4,
        pose3d(mount),
        camera_parameters(camera, label),
        image(rgb),
        stamp(time),
        text(label),
    )


def depth_picture(label: str, time: float, mount: Pose, reading: Any, limits: Any) -> bytes:
    """Return a CObservation3DRangeScan of an `RgbdReading`.

    Args:
        label: Name of the sensor.
        time: Time stamp [s since 1970].
        mount: Pose of the depth camera on the vehicle, x forward.
        reading: Depth, picture and cameras.
        limits: Largest depth, standard deviation of depth [m], and pose of the colour camera in
            the depth camera's frame.
    """
    farthest, sigma, rgb_pose = limits
    depth = b""
    if reading.depth is not None:
        counts = np.asarray(reading.counts(), "<u2")
        depth = number("2I", *counts.shape) + counts.tobytes()
    return obj(
        "mrpt::obs::CObservation3DRangeScan",
        10,
        number("f", farthest),
        pose3d(mount),
        number("??f", False, reading.depth is not None, reading.depth_unit),
        depth,
        number("?", reading.rgb is not None),
        b"" if reading.rgb is None else image(reading.rgb),
        number("?", False),
        camera_parameters(reading.depth_camera),
        camera_parameters(reading.rgb_camera),
        pose3d(rgb_pose),
        number("f", sigma),
        stamp(time),
        text(label),
        number("?", False) + text("") + number("?", False) + text(""),
        number("?b?B", True, 0, False, 0),
    )


def pose3d_quat(pose: Pose) -> bytes:
    """Return a CPose3DQuat: position [m] and quaternion w, x, y, z."""
    x, y, z, w = quaternion(pose.roll, pose.pitch, pose.yaw)
    return obj("mrpt::poses::CPose3DQuat", 0, number("7d", *pose[:3], w, x, y, z))


def stereo_pictures(label: str, time: float, mount: Pose, reading: Any) -> bytes:
    """Return a CObservationStereoImages; `mount` is the left optical frame on the vehicle."""
    camera = camera_parameters(reading.camera, label)
    return obj(
        "mrpt::obs::CObservationStereoImages",
        6,
        pose3d_quat(mount),
        camera,
        camera,
        image(reading.left),
        number("??", False, True),
        image(reading.right),
        stamp(time),
        pose3d_quat(Pose(x=reading.baseline)),
        text(label),
    )


def distance(label: str, time: float, mount: Pose, reading: Any) -> bytes:
    """Return a CObservationRange with one distance; the largest where nothing is seen."""
    limits = reading.range_min, reading.range_max
    measured = min(max(reading.range, limits[0]), limits[1])
    return obj(
        "mrpt::obs::CObservationRange",
        3,
        number("3fI", *limits, reading.field_of_view, 1),
        number("H", 0) + pose3d(mount) + number("f", measured),
        text(label),
        stamp(time),
    )


def cloud(label: str, time: float, mount: Pose, points: Any) -> bytes:
    """Return a CObservationPointCloud of POINT, with the fields intensity, t and ring."""

    def column(name: str, form: str) -> bytes:
        return np.ascontiguousarray(points[name], form).tobytes()

    def named(name: str, source: str, form: str) -> bytes:
        return text(name) + number("I", len(points)) + column(source, form)

    points_map = obj(
        "mrpt::maps::CGenericPointsMap",
        3,
        number("I", len(points)),
        *(column(axis, "<f4") for axis in "xyz"),
        number("I", 2),
        named("intensity", "intensity", "<f4"),
        named("t", "time", "<f4"),
        number("I", 0),
        number("I", 1),
        named("ring", "ring", "<u2"),
        number("I", 0),
        _INSERTION,
        _LIKELIHOOD,
    )
    return obj(
        "mrpt::obs::CObservationPointCloud",
        0,
        text(label),
        stamp(time),
        pose3d(mount),
        b"\0",
        points_map,
    )


def inertial(label: str, time: float, mount: Pose, values: Iterable[float]) -> bytes:
    """Return a CObservationIMU.

    Args:
        label: Name of the sensor.
        time: Time stamp [s since 1970].
        mount: Pose of the sensor on the vehicle.
        values: As in IMU_PLACES; the quaternion may be absent.
    """
    present, data = np.zeros(IMU_FIELDS, np.uint8), np.zeros(IMU_FIELDS, "<f8")
    for place, value in zip(IMU_PLACES, values, strict=False):
        present[place], data[place] = 1, value
    return obj(
        "mrpt::obs::CObservationIMU",
        4,
        pose3d(mount),
        present.tobytes(),
        stamp(time),
        data.tobytes(),
        text(label),
    )


def satellite(label: str, time: float, mount: Pose, place: Any, sigma: float) -> bytes:
    """Return a CObservationGPS with one GGA message.

    Args:
        label: Name of the sensor.
        time: Time stamp [s since 1970].
        mount: Pose of the antenna on the vehicle.
        place: Latitude, longitude [deg], height above the ellipsoid [m].
        sigma: Horizontal standard deviation [m].
    """
    latitude, longitude, height = place
    of_day = time % 86400.0
    hour, minute = int(of_day // 3600), int(of_day % 3600 // 60)
    fields = _GGA.pack(
        *(hour, minute, of_day % 60.0, latitude, longitude, DGPS_FIX),
        *(height, 0.0, height, height, 7, True, sigma / 5.0),
    )
    return obj(
        "mrpt::obs::CObservationGPS",
        11,
        stamp(time) + stamp(time) + text(label),
        pose3d(mount),
        number("?I", False, 1),
        number("iI", NMEA_GGA, len(fields)),
        fields,
    )


def odometry(label: str, time: float, pose: Pose, twist: Any) -> bytes:
    """Return a CObservationOdometry: pose since the start and twist in the vehicle frame."""
    place = obj("mrpt::poses::CPose2D", 1, number("3d", pose.x, pose.y, pose.yaw))
    speeds = number("??3d", False, True, twist.vx, twist.vy, twist.wz)
    return obj("mrpt::obs::CObservationOdometry", 2, place, text(label), stamp(time), speeds)
