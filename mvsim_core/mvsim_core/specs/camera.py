# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Cameras. Poses are mounts in the vehicle frame (world frame for cameras without a vehicle)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.converters import (
    NUMBER,
    NUMBERS,
    POSE3D,
)
from mvsim_core.specs.params import (
    NOT_NEGATIVE,
    POSITIVE,
    in_range,
    one_of,
    param,
)
from mvsim_core.specs.sensor_base import (
    ANTIALIASING,
    AUTO_EXPOSURE,
    CAMERA_MOUNT,
    DEMAND,
    DISTORTION,
    DISTORTION_MODEL,
    DISTORTIONS,
    EXPOSURE,
    INTENSITY_MOUNT,
    LEVELS,
    POSE_ALIASES,
    READOUT,
    SMOOTHING,
    SensorSpec,
    all_coefficients,
    clip_errors,
    distortion_errors,
    size_errors,
)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ColorCameraSpec(SensorSpec):
    """What all colour cameras have: the size of pictures, intrinsics, clip distances and noise."""

    ncols: int = param(640, unit="px", check=in_range(1, 16384), help="width")
    nrows: int = param(480, unit="px", check=in_range(1, 16384), help="height")
    cx: float | None = param(None, conv=NUMBER, unit="px", help="absent: ncols / 2")
    cy: float | None = param(None, conv=NUMBER, unit="px", help="absent: nrows / 2")
    fx: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    fy: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    clip_min: float = param(0.01, unit="m", check=POSITIVE, help="nearest distance that is seen")
    clip_max: float = param(1e4, unit="m", check=POSITIVE, help="farthest distance that is seen")
    noise_sigma: float = param(0.0, check=NOT_NEGATIVE, help=LEVELS)
    antialiasing: str = param("edges", check=one_of(*ANTIALIASING), help=SMOOTHING)
    exposure: float = param(1.0, check=POSITIVE, help=EXPOSURE)
    auto_exposure: bool = param(False, help=AUTO_EXPOSURE)
    distortion_model: str = param("plumb_bob", check=one_of(*DISTORTIONS), help=DISTORTION_MODEL)
    distortion: tuple[float, ...] = param((), conv=NUMBERS, help=DISTORTION)
    readout_time: float = param(0.0, unit="s", check=NOT_NEGATIVE, help=READOUT)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """All coefficients of the distortion; empty: none."""
        return all_coefficients(self.distortion_model, self.distortion)

    def errors(self) -> Iterator[str]:
        """Yield errors in the distortion, the clip distances and the size."""
        yield from distortion_errors("distortion", self.distortion_model, self.distortion)
        yield from size_errors("ncols x nrows", self.ncols, self.nrows)
        yield from clip_errors("clip", self.clip_min, self.clip_max)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class CameraSpec(ColorCameraSpec):
    """A colour camera. The pose is that of the optical frame: z forward, x right, y down."""

    kind: str = "camera"
    pose: Pose = param(
        CAMERA_MOUNT,
        xml="pose_3d",
        conv=POSE3D,
        also=POSE_ALIASES,
        unit="m, rad",
        help="of the optical frame, in the frame of the vehicle",
    )
    segmentation: bool = param(False, help="also outputs the object that each pixel shows")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class StereoCameraSpec(ColorCameraSpec):
    """A stereo pair (an extension): two equal colour cameras with parallel axes.

    The pose is the optical frame of the left camera: z forward, x right, y down.
    """

    kind: str = "stereo_camera"
    pose: Pose = param(
        CAMERA_MOUNT,
        xml="pose_3d",
        conv=POSE3D,
        also=POSE_ALIASES,
        unit="m, rad",
        help="of the left optical frame, in the frame of the vehicle",
    )
    baseline: float = param(
        0.12, unit="m", check=POSITIVE, help="from the left camera to the right one"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class RgbdCameraSpec(SensorSpec):
    """A depth camera with a colour camera beside it. The pose has x forward, z up."""

    kind: str = "rgbd_camera"
    pose: Pose = param(
        CAMERA_MOUNT,
        xml="pose_3d",
        conv=POSE3D,
        also=POSE_ALIASES,
        unit="m, rad",
        help="x forward, z up, in the frame of the vehicle",
    )
    intensity_pose: Pose = param(
        INTENSITY_MOUNT,
        xml="relativePoseIntensityWRTDepth",
        conv=POSE3D,
        unit="m, rad",
        help="optical frame of the colour camera, in the frame of the depth camera",
    )
    sense_depth: bool = param(True, help="has a depth image")
    sense_rgb: bool = param(True, help="has a colour image")
    depth_ncols: int = param(640, unit="px", check=in_range(1, 16384), help="width")
    depth_nrows: int = param(480, unit="px", check=in_range(1, 16384), help="height")
    depth_cx: float | None = param(None, conv=NUMBER, unit="px", help="absent: depth_ncols / 2")
    depth_cy: float | None = param(None, conv=NUMBER, unit="px", help="absent: depth_nrows / 2")
    depth_fx: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    depth_fy: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    depth_clip_min: float = param(
        0.1, unit="m", check=POSITIVE, help="nearest distance that is seen"
    )
    depth_clip_max: float = param(
        15.0, unit="m", check=POSITIVE, help="farthest distance that is seen"
    )
    depth_resolution: float = param(1e-3, unit="m", check=POSITIVE, help="depth of one count")
    depth_noise_sigma: float = param(
        1e-3, unit="m", check=NOT_NEGATIVE, help="standard deviation of a depth"
    )
    depth_noise_growth: float = param(
        0.0,
        unit="1/m",
        check=NOT_NEGATIVE,
        help="extension: times the square of the depth it is added to the standard deviation (in"
        " quadrature), as stereo and structured light have it",
    )
    edge_holes: int = param(
        0,
        unit="px",
        check=in_range(0, 100),
        help="extension: no depth within this distance of what is nearer by more than 10 %",
    )
    rgb_ncols: int = param(640, unit="px", check=in_range(1, 16384), help="width")
    rgb_nrows: int = param(480, unit="px", check=in_range(1, 16384), help="height")
    rgb_cx: float | None = param(None, conv=NUMBER, unit="px", help="absent: rgb_ncols / 2")
    rgb_cy: float | None = param(None, conv=NUMBER, unit="px", help="absent: rgb_nrows / 2")
    rgb_fx: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    rgb_fy: float = param(500.0, unit="px", check=POSITIVE, help="focal length")
    rgb_clip_min: float = param(
        0.01, unit="m", check=POSITIVE, help="nearest distance that is seen"
    )
    rgb_clip_max: float = param(
        1e4, unit="m", check=POSITIVE, help="farthest distance that is seen"
    )
    rgb_noise_sigma: float = param(0.0, check=NOT_NEGATIVE, help=LEVELS)
    rgb_distortion_model: str = param(
        "plumb_bob", check=one_of(*DISTORTIONS), help=DISTORTION_MODEL
    )
    rgb_distortion: tuple[float, ...] = param((), conv=NUMBERS, help=DISTORTION)
    rgb_readout_time: float = param(0.0, unit="s", check=NOT_NEGATIVE, help=READOUT)
    antialiasing: str = param("edges", check=one_of(*ANTIALIASING), help=SMOOTHING)
    exposure: float = param(1.0, check=POSITIVE, help=EXPOSURE)
    auto_exposure: bool = param(False, help=AUTO_EXPOSURE)
    exact_depth: bool = param(
        False,
        help="extension: casts a ray for each pixel instead of reading OpenGL's depth buffer,"
        " which takes several times as long",
    )
    segmentation: bool = param(
        False,
        help="also outputs the object that each pixel of the depth image shows; implies"
        " exact_depth",
    )
    show_3d_pointcloud: bool = param(False, help="in the viewer")
    publish_ros_depth_image: bool = param(True, no_effect=DEMAND)
    publish_ros_colored_pointcloud: bool = param(False, no_effect=DEMAND)

    @property
    def coefficients(self) -> tuple[float, ...]:
        """All coefficients of the distortion of the colour camera; empty: none."""
        return all_coefficients(self.rgb_distortion_model, self.rgb_distortion)

    def errors(self) -> Iterator[str]:
        """Yield errors in the distortion, the clip distances and the sizes."""
        model = self.rgb_distortion_model
        yield from distortion_errors("rgb_distortion", model, self.rgb_distortion)
        yield from size_errors("depth_ncols x depth_nrows", self.depth_ncols, self.depth_nrows)
        yield from size_errors("rgb_ncols x rgb_nrows", self.rgb_ncols, self.rgb_nrows)
        yield from clip_errors("depth_clip", self.depth_clip_min, self.depth_clip_max)
        yield from clip_errors("rgb_clip", self.rgb_clip_min, self.rgb_clip_max)
