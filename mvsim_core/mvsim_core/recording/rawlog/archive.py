# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The binary notation of MRPT's archives, as far as data sets need it.

An object is its class name, a version, its fields without names, and an end mark. All numbers are
little-endian. The versions written are those that all of MRPT 2 and 3 read.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.pinhole import Pinhole
from mvsim_core.state.arrays import FloatArray

_END = b"\x88"
_UNIX_EPOCH = 116_444_736_000_000_000  # 1970 on MRPT's clock: steps of 100 ns since 1601


def packed(notation: str, *values: Any) -> bytes:
    """Return numbers in the notation of `struct`, without gaps."""
    return struct.pack("<" + notation, *values)


def text(value: str) -> bytes:
    """Return a string with its length before it."""
    raw = value.encode()
    return packed("I", len(raw)) + raw


def instant(time: float) -> bytes:
    """Return a time [s]; simulated time 0 is the begin of 1970, as in ROS."""
    return packed("Q", _UNIX_EPOCH + round(time * 1e7))


def numbers(values: Any, kind: str) -> bytes:
    """Return an array as plain numbers of a numpy type such as "<f4", the last index first."""
    return np.ascontiguousarray(values, dtype=kind).tobytes()


def written(name: str, version: int, *fields: bytes) -> bytes:
    """Return an object of the class `mrpt::<name>`."""
    full = f"mrpt::{name}".encode()
    return b"".join([packed("B", 0x80 | len(full)), full, packed("B", version), *fields, _END])


def pose2d(x: float, y: float, yaw: float) -> bytes:
    """Return a planar pose [m, rad]."""
    return written("poses::CPose2D", 1, packed("ddd", x, y, yaw))


def pose3d(pose: Pose) -> bytes:
    """Return a pose in space."""
    return matrix_pose(pose[:3], rotation(pose))


def matrix_pose(place: Any, turn: FloatArray) -> bytes:
    """Return a pose in space from its place [m] and its (3, 3) rotation matrix."""
    return written("poses::CPose3D", 3, numbers(place, "<f8"), numbers(turn, "<f8"))


def camera(pinhole: Pinhole) -> bytes:
    """Return a camera without distortion."""
    intrinsics = (pinhole.fx, pinhole.fy, pinhole.cx, pinhole.cy)
    size = packed("II", pinhole.height, pinhole.width)
    return written("img::TCamera", 4, packed("d8d4d", 0.0, *[0.0] * 8, *intrinsics), size)


def picture(rgb: Any) -> bytes:
    """Return a colour picture (height, width, 3) uint8, uncompressed."""
    height, width = rgb.shape[:2]
    # stored inside; in colour; sizes below zero: not as JPEG
    head = packed("BBii", 0, 1, -width, -height)
    return written("img::CImage", 9, head, numbers(rgb[:, :, ::-1], "u1"))


def points(xyz: Any) -> bytes:
    """Return a point map of (n, 3) places [m], with MRPT's own settings for maps."""
    inserting = packed("b f????? ff?", 0, 0.02, True, False, True, False, False, 0.0, 2.0, False)
    likelihood = packed("b ddI", 0, 0.0025, 1.0, 10)
    columns = [numbers(xyz[:, k], "<f4") for k in range(3)]
    head, shown = packed("I", len(xyz)), packed("?", False)
    return written("maps::CSimplePointsMap", 8, head, *columns, shown, inserting, likelihood)
