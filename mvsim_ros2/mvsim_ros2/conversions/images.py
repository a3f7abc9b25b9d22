# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Colour, depth and label images, and intrinsics of cameras; in optical frames (z forward)."""

from __future__ import annotations

import sys
from io import BytesIO
from typing import Any

import numpy as np
import numpy.typing as npt
from builtin_interfaces.msg import Time
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import Header, String

from mvsim_core.bags.layouts import labels_text, millimetres
from mvsim_core.rendering.lens import Lens
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.sensors.camera import classes_of
from mvsim_ros2.conversions.arrays import byte_array

#: Coefficients of plumb_bob of a camera without distortion.
_NO_DISTORTION = [0.0] * 5
#: Quality of image_transport's JPEG; the PNG is fast rather than small.
_OPTIONS: dict[str, dict[str, int]] = {"JPEG": {"quality": 95}, "PNG": {"compress_level": 1}}
_IDENTITY = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]


def color_image_message(rgb: npt.NDArray[np.uint8], frame: str, stamp: Time) -> Image:
    """Return a colour image (height, width, 3) as rgb8."""
    return _image(rgb, "rgb8", Header(stamp=stamp, frame_id=frame))


def depth_image_message(depth: npt.NDArray[np.float32], frame: str, stamp: Time) -> Image:
    """Return depths (height, width) [m] as 32FC1; NaN without a hit."""
    return _image(depth, "32FC1", Header(stamp=stamp, frame_id=frame))


def compressed_color_message(
    rgb: npt.NDArray[np.uint8], frame: str, stamp: Time
) -> CompressedImage:
    """Return a colour image (height, width, 3) as JPEG, as compressed_image_transport has it."""
    return _compressed(
        rgb, "JPEG", "rgb8; jpeg compressed bgr8", Header(stamp=stamp, frame_id=frame)
    )


def compressed_depth_message(
    depth: npt.NDArray[np.float32], frame: str, stamp: Time
) -> CompressedImage:
    """Return depths [m] as a PNG of 16 bits, in millimetres; 0 without a hit."""
    header = Header(stamp=stamp, frame_id=frame)
    return _compressed(millimetres(depth), "PNG", "16UC1; png compressed ", header)


def raw_depth_image_message(depth: npt.NDArray[np.float32], frame: str, stamp: Time) -> Image:
    """Return depths (height, width) [m] as 16UC1, in millimetres; 0 without a hit."""
    return _image(millimetres(depth), "16UC1", Header(stamp=stamp, frame_id=frame))


def instance_image_message(reading: Any, frame: str, stamp: Time) -> Image:
    """Return the number of the object that each pixel of a reading shows as 16UC1; 0: nothing."""
    return _image(reading.segments, "16UC1", Header(stamp=stamp, frame_id=frame))


def class_image_message(reading: Any, frame: str, stamp: Time) -> Image:
    """Return the class that each pixel of a reading shows as mono8; 0: nothing."""
    classes = classes_of(reading.segments, reading.things)
    return _image(classes, "mono8", Header(stamp=stamp, frame_id=frame))


def labels_message(things: tuple[tuple[str, str], ...]) -> String:
    """Return the names of classes and instances by their numbers in images, as JSON."""
    return String(data=labels_text(things))


def _compressed(
    pixels: npt.NDArray[Any], kind: str, encoding: str, header: Header
) -> CompressedImage:
    from PIL import Image as Pictures

    file = BytesIO()
    Pictures.fromarray(pixels).save(file, kind, **_OPTIONS[kind])
    data = byte_array(np.frombuffer(file.getbuffer(), np.uint8))
    return CompressedImage(header=header, format=encoding, data=data)


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


def camera_info_message(
    camera: Pinhole, frame: str, stamp: Time, *, baseline: float = 0.0, lens: Lens | None = None
) -> CameraInfo:
    """Return the intrinsics of a camera: P is [K 0], R the identity, D that of its lens or zeros.

    The right camera of a stereo pair is `baseline` [m] to the right of the origin of the frame, so
    that P[3] is -fx times that.
    """
    k = camera.matrix
    shift = (-camera.fx * baseline, 0.0, 0.0)
    return CameraInfo(
        header=Header(stamp=stamp, frame_id=frame),
        height=camera.height,
        width=camera.width,
        distortion_model="plumb_bob" if lens is None else lens.model,
        d=_NO_DISTORTION if lens is None else list(lens.coefficients),
        k=k.ravel(),
        r=_IDENTITY,
        p=np.column_stack((k, shift)).ravel(),
    )
