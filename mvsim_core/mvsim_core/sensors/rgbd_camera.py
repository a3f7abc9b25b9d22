# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Depth cameras with a colour camera beside them (class ``rgbd_camera``).

Both are rendered by OpenGL, from one pass where both cameras are one. With `exact_depth`, and
without OpenGL, depth is cast ray by ray.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.rendering.lens import Lens
from mvsim_core.rendering.pinhole import FROM_OPTICAL, OPTICAL, Pinhole, compose
from mvsim_core.scene3d import Hits, Layout, Rays, Scene3d, copy_of
from mvsim_core.scene3d.tables import Floats
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.camera import CameraRenderer, Optics, Picture, noisy, segments_of
from mvsim_core.sensors.exposure import exposed, metered
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.threads import in_parts, start

#: One point of an organized cloud, as sensor_msgs/PointCloud2 carries it; rgb is 0x00rrggbb.
COLORED_POINT = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("rgb", "u4")])
#: Largest depth that 16 bits can tell [counts].
MOST_COUNTS = 65535
#: Ratio of depths from which a pixel is lost beside a nearer one, with `edge_holes`.
NEARER = 1.1
#: Rows that are worth a thread.
ROWS = 120
_NO_THINGS: tuple[tuple[str, str], ...] = ()


@quick_init
@dataclass(frozen=True, slots=True)
class RgbdReading(Reading):
    """A depth image, a picture, or both, of one instant.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        depth: (height, width) float32 m along the optical axis; NaN: nothing within the limits.
        rgb: (height, width, 3) uint8 of the colour camera, or None.
        depth_camera: Intrinsics of the depth image.
        rgb_camera: Intrinsics of the picture.
        rgb_pose: Optical frame of the colour camera in that of the depth camera [m, rad].
        depth_unit: Length that one count of a 16-bit depth image stands for [m].
        segments: (height, width) uint16 of the depth image, as in `CameraReading`, or None.
        things: Name and kind of what can be seen.
        rgb_lens: What distorts the picture; None: nothing does. Nothing distorts depths.
    """

    tick: int
    time: float
    depth: Floats | None
    rgb: Picture | None
    depth_camera: Pinhole
    rgb_camera: Pinhole
    rgb_pose: Pose
    depth_unit: float
    segments: npt.NDArray[np.uint16] | None = None
    things: tuple[tuple[str, str], ...] = ()
    rgb_lens: Lens | None = None

    def counts(self) -> npt.NDArray[np.uint16]:
        """Return the depth as a 16UC1 image: counts of `depth_unit`, 0 for nothing (REP-118).

        What is too far for 16 bits counts as nothing, too.

        Raises:
            ValueError: There is no depth image.
        """
        if self.depth is None:
            raise ValueError("this camera senses no depth")
        scaled = np.rint(np.nan_to_num(self.depth / self.depth_unit))
        counts: npt.NDArray[np.uint16] = np.where(scaled <= MOST_COUNTS, scaled, 0).astype(
            np.uint16
        )
        return counts

    def cloud(self) -> Rows:
        """Return the organized cloud (height, width) of COLORED_POINT, optical frame [m].

        Points without depth are NaN; points that the colour camera does not see are black.

        Raises:
            ValueError: There is no depth image.
        """
        if self.depth is None:
            raise ValueError("this camera senses no depth")
        points = np.zeros(self.depth.shape, COLORED_POINT)
        rgb = np.zeros((0, 0, 3), np.uint8) if self.rgb is None else self.rgb
        turn = rotation(self.rgb_pose)
        if self.rgb_lens is not None:
            rgb = np.zeros((0, 0, 3), np.uint8)
        _cloud_kernel(
            self.depth,
            np.array(self.depth_camera[2:], dtype=np.float64),
            rgb,
            np.array(self.rgb_camera[2:], dtype=np.float64),
            (turn.T.copy(), np.array(self.rgb_pose[:3], dtype=np.float64)),
            points,
        )
        if self.rgb_lens is not None and self.rgb is not None:
            self._color(points, self.rgb, self.rgb_lens)
        return points

    def _color(self, points: Rows, rgb: Picture, lens: Lens) -> None:
        """Give points the colours of a picture through a lens."""
        seen = np.flatnonzero(points["z"].ravel() > 0.0)
        flat = points.reshape(-1)[seen]
        places = np.stack([flat[name] for name in "xyz"], axis=-1).astype(np.float64)
        ways = (places - np.array(self.rgb_pose[:3])) @ rotation(self.rgb_pose)
        ahead = ways[:, 2] > 0.0
        seen, x, y = seen[ahead], *lens.distorted(ways[ahead]).T
        camera = self.rgb_camera
        u, v = np.rint(camera.fx * x + camera.cx), np.rint(camera.fy * y + camera.cy)
        within = (u >= 0) & (u < camera.width) & (v >= 0) & (v < camera.height)
        r, g, b = rgb[v[within].astype(int), u[within].astype(int)].astype(np.uint32).T
        points["rgb"].reshape(-1)[seen[within]] = (r << 16) | (g << 8) | b


@SENSORS.register("rgbd_camera")
class RgbdCamera(Sensor[RgbdReading]):
    """A depth camera; its mount has x forward and z up."""

    kind = "rgbd_camera"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a camera into a world; ``spec`` is a RgbdCameraSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.scene = context.scene3d or Scene3d()
        self.depth_camera = _pinhole(spec, "depth")
        self.rgb_camera = _pinhole(spec, "rgb")
        limits = (spec.rgb_clip_min, spec.rgb_clip_max)
        model, k = spec.rgb_distortion_model, spec.coefficients
        optics = Optics.of(spec.antialiasing, model, k, spec.rgb_readout_time)
        self.rgb_lens = optics.lens
        self._renderer = CameraRenderer(
            self.scene, self.rgb_camera, limits, self, context.warn, optics
        )
        depth_limits = (spec.depth_clip_min, spec.depth_clip_max)
        self._depth_renderer = CameraRenderer(
            self.scene, self.depth_camera, depth_limits, self, context.warn
        )
        self._exact = spec.exact_depth or spec.segmentation
        self._rgb_pose = compose(FROM_OPTICAL, spec.intensity_pose)
        same_place = np.allclose(self._rgb_pose, Pose(), atol=1e-9)
        self._are_one = (
            same_place
            and optics.lens is None
            and spec.rgb_readout_time == 0.0
            and self.rgb_camera == self.depth_camera
            and spec.rgb_clip_min == spec.depth_clip_min
            and spec.rgb_clip_max >= spec.depth_clip_max
        )
        self._ways = self.depth_camera.directions()
        size = self.depth_camera.height, self.depth_camera.width
        self._hits = Hits.empty(*size, parts=True)

    @property
    def optical_mount(self) -> Pose:
        """Pose of the depth camera's optical frame (z forward) in the vehicle's frame."""
        return compose(self.mount, OPTICAL)

    @property
    def rgb_optical_mount(self) -> Pose:
        """Pose of the colour camera's optical frame in the vehicle's frame."""
        return compose(self.mount, self.spec.intensity_pose)

    def warm(self, state: StateView) -> None:
        """Take a reading and drop it."""
        self.measure(state, 0, 0.0)

    def measure(self, state: StateView, tick: int, time: float) -> RgbdReading:
        """Return depth and colours of the scene as it is now."""
        spec = self.spec
        noise = start(self._noise, tick)
        segments, things = None, _NO_THINGS
        rgb, distance = self._rendered(state)
        if spec.sense_depth and distance is None:
            layout = self._cast(state)
            distance = self._hits.distance
            if spec.segmentation:
                found, things = segments_of(self._hits, layout)
                segments = read_only(found)
        depth = None if distance is None else read_only(self._depth(distance, noise.result()))
        if rgb is not None:
            rgb = exposed(rgb, spec.exposure, metered(rgb) if spec.auto_exposure else 1.0)
            rgb = read_only(noisy(rgb, spec.rgb_noise_sigma, self, tick))
        return RgbdReading(
            tick=tick,
            time=time,
            depth=depth,
            rgb=rgb,
            depth_camera=self.depth_camera,
            rgb_camera=self.rgb_camera,
            rgb_pose=self._rgb_pose,
            depth_unit=spec.depth_resolution,
            segments=segments,
            things=things,
            rgb_lens=self.rgb_lens,
        )

    def _rendered(self, state: StateView) -> tuple[Picture | None, FloatArray | Floats | None]:
        """Return the picture and the depths [m] that OpenGL gives; None: not sensed, or cast."""
        spec, depth = self.spec, None
        by_buffer = spec.sense_depth and not self._exact
        if spec.sense_rgb and by_buffer and self._are_one:
            pose = mounted(self.rgb_optical_mount, self.body, state.bodies)[0]
            both = self._renderer.render_both(pose, state)
            return both or (None, None)
        rgb = self._renderer.take(self.rgb_optical_mount, state) if spec.sense_rgb else None
        if by_buffer:
            pose = mounted(self.optical_mount, self.body, state.bodies)[0]
            depth = self._depth_renderer.render_depth(pose, state)
        return rgb, depth

    def _cast(self, state: StateView) -> Layout:
        """Cast a ray for each pixel into `_hits`; return the scene."""
        spec, bodies = self.spec, state.bodies
        pose = mounted(self.optical_mount, self.body, bodies)
        rays = Rays(
            self._ways,
            pose,
            0,
            self.depth_camera.height,
            spec.depth_clip_min,
            spec.depth_clip_max,
            tile=(2, 8),
            pass_glass=True,
            own=self.full_name,
        )
        copy = copy_of(bodies, self.body)
        return self.scene.cast(rays, bodies, self._hits, state.wheels, copy)

    def _noise(self, tick: int) -> Floats:
        """Return a normal number for each depth; none if depths have no noise."""
        spec = self.spec
        if not spec.sense_depth or spec.depth_noise_sigma == spec.depth_noise_growth == 0.0:
            return np.zeros((0, 0), np.float32)
        shape = (self.depth_camera.height, self.depth_camera.width)
        numbers: Floats = self.random(tick).standard_normal(shape, dtype=np.float32)
        return numbers

    def _depth(self, distance: FloatArray | Floats, noise: Floats) -> Floats:
        """Return the depth image of distances along the axis [m]; inf: nothing."""
        spec = self.spec
        limits = (spec.depth_clip_min, spec.depth_clip_max)
        error = (spec.depth_noise_sigma, spec.depth_noise_growth, spec.depth_resolution)
        depth = np.empty(distance.shape, np.float32)

        def work(first: int, last: int) -> None:
            rows = slice(first, last)
            _depth_kernel(distance[rows], noise[rows], limits, error, depth[rows])

        in_parts(len(depth), ROWS, work)
        if spec.edge_holes:
            from scipy.ndimage import minimum_filter  # slow to import

            around = minimum_filter(distance, 2 * spec.edge_holes + 1)
            depth[distance > NEARER * around] = np.nan
        return depth


def _pinhole(spec: Any, kind: str) -> Pinhole:
    width, height, fx, fy, cx, cy = (
        getattr(spec, f"{kind}_{name}") for name in ("ncols", "nrows", "fx", "fy", "cx", "cy")
    )
    return Pinhole.of_size((width, height), (fx, fy), (cx, cy))


@njit(cache=True, nogil=True)
def _depth_kernel(distance, noise, limits, error, depth):  # type: ignore[no-untyped-def]
    near, far = limits
    sigma, growth, unit = error
    for i in range(distance.shape[0]):
        for j in range(distance.shape[1]):
            z = distance[i, j]
            if noise.size and z < far:
                wide = math.sqrt(sigma * sigma + (growth * z * z) ** 2)
                z = unit * np.rint((z + wide * noise[i, j]) / unit)
            depth[i, j] = z if near <= z < far else np.nan


@njit(cache=True, nogil=True)
def _cloud_kernel(depth, lens, rgb, color_lens, color_frame, points):  # type: ignore[no-untyped-def]
    fx, fy, cx, cy = lens
    gx, gy, dx, dy = color_lens
    turn, shift = color_frame
    for i in range(depth.shape[0]):
        for j in range(depth.shape[1]):
            z = depth[i, j]
            x, y = (j - cx) / fx * z, (i - cy) / fy * z
            point = points[i, j]
            point.x, point.y, point.z = x, y, z
            if rgb.size == 0 or not z > 0.0:
                continue
            a, b, c = x - shift[0], y - shift[1], z - shift[2]
            ahead = turn[2, 0] * a + turn[2, 1] * b + turn[2, 2] * c
            if ahead <= 0.0:
                continue
            right = turn[0, 0] * a + turn[0, 1] * b + turn[0, 2] * c
            down = turn[1, 0] * a + turn[1, 1] * b + turn[1, 2] * c
            u = int(np.rint(gx * right / ahead + dx))
            v = int(np.rint(gy * down / ahead + dy))
            if 0 <= u < rgb.shape[1] and 0 <= v < rgb.shape[0]:
                p = rgb[v, u]
                point.rgb = (np.uint32(p[0]) << 16) | (np.uint32(p[1]) << 8) | np.uint32(p[2])
