# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures, depth images and intrinsics of cameras; all in optical frames (z forward)."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo, Image
from std_msgs.msg import Header

from mvsim_core.sensors.pinhole import Pinhole
from mvsim_ros2.conversions.sensing import byte_array

#: Length that one count of a 16UC1 depth image stands for [m] (REP-118).
MILLIMETRE = 1e-3
#: Coefficients of plumb_bob; the cameras have no distortion.
_NO_DISTORTION = [0.0] * 5
_NO_TURN = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def picture_message(rgb: npt.NDArray[np.uint8], frame: str, stamp: Time) -> Image:
    """Return a picture (height, width, 3) as rgb8."""
    return _image(rgb, "rgb8", Header(stamp=stamp, frame_id=frame))


def depth_message(depth: npt.NDArray[np.float32], frame: str, stamp: Time) -> Image:
    """Return depths (height, width) [m] as 32FC1; NaN where nothing is."""
    return _image(depth, "32FC1", Header(stamp=stamp, frame_id=frame))


def raw_depth_message(depth: npt.NDArray[np.float32], frame: str, stamp: Time) -> Image:
    """Return depths (height, width) [m] as 16UC1, in millimetres; 0 where nothing is."""
    scaled = depth / np.float32(MILLIMETRE)
    np.nan_to_num(scaled, copy=False, posinf=0.0)
    np.rint(scaled, out=scaled)
    scaled[scaled > np.iinfo(np.uint16).max] = 0.0  # REP-118: no valid depth
    counts = scaled.astype(np.uint16)
    return _image(counts, "16UC1", Header(stamp=stamp, frame_id=frame))


def _image(pixels: npt.NDArray[Any], encoding: str, header: Header) -> Image:
    height, width = pixels.shape[:2]
    return Image(
        header=header,
        height=height,
        width=width,
        encoding=encoding,
        is_bigendian=sys.byteorder == "big",
        step=pixels.nbytes // height,
        data=byte_array(pixels),
    )


def camera_info_message(camera: Pinhole, frame: str, stamp: Time) -> CameraInfo:
    """Return the intrinsics of a pinhole camera: P is [K 0], R the identity, D zeros."""
    k = camera.matrix
    return CameraInfo(
        header=Header(stamp=stamp, frame_id=frame),
        height=camera.height,
        width=camera.width,
        distortion_model="plumb_bob",
        d=_NO_DISTORTION,
        k=k.ravel(),
        r=_NO_TURN,
        p=np.column_stack((k, np.zeros(3))).ravel(),
    )
