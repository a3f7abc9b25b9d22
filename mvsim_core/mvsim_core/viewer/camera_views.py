# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of cameras in the scene: at the end of their view, and as clouds of their depths."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import Pose
from mvsim_core.state.arrays import FloatArray
from mvsim_core.viewer.nodes import quaternions
from mvsim_core.viewer.sensor_view import Points, SensorView, shades, to_scene

#: Widest picture in the scene [pixel]; panels show whole ones.
WIDEST = 320
#: Distance of the picture from the camera in the scene [m].
SCALE = 0.35
#: Points of a depth image that are sent at most.
MOST_POINTS = 20_000
POINT_SIZE = 0.015  # m
#: Depths of depth images between which they are shaded [m].
NEAR, FAR = 0.3, 8.0


class CameraView(SensorView):
    """A picture of a camera, or the depths and the picture of an RGB-D camera."""

    layers: ClassVar[tuple[str, ...]] = ("Camera views", "Depth clouds")

    def __init__(self, server: Any, name: str, sensor: Any) -> None:
        """Start without nodes."""
        super().__init__(server, name, sensor)
        self._frustum: Any = None
        self._points = Points(self._scene, f"{name}/points", POINT_SIZE)

    def mount_of(self, sensor: Any) -> Pose:
        """Return the pose of the optical frame."""
        mount: Pose = sensor.optical_mount
        return mount

    @property
    def nodes(self) -> list[Any]:
        """The nodes so far."""
        return [node for node in (self._frustum, self._points.node) if node is not None]

    def _fill(self, reading: Any, pose: FloatArray, shown: dict[str, bool]) -> None:
        self._fill_frustum(reading, pose, shown["Camera views"])
        depth = getattr(reading, "depth", None)
        if depth is not None and shown["Depth clouds"]:
            points, colors = cloud_of(reading)
            self._points.set(to_scene(points, pose), colors)
        else:
            self._points.hide()

    def _fill_frustum(self, reading: Any, pose: FloatArray, shown: bool) -> None:
        picture = picture_of(reading) if shown else None
        if picture is None:
            if self._frustum is not None:
                self._frustum.visible = False
            return
        step = -(-picture.shape[1] // WIDEST)
        small = picture[::step, ::step]
        place = tuple(pose[:, 3].tolist())
        turn = tuple(quaternions(pose[None, :, :3])[0].tolist())
        if self._frustum is None:
            camera = _lens_of(reading)
            self._frustum = self._scene.add_camera_frustum(
                f"{self._name}/frustum",
                fov=2.0 * math.atan(0.5 * camera.height / camera.fy),
                aspect=camera.width / camera.height,
                scale=SCALE,
                color=(90, 90, 90),
                image=small,
                format="jpeg",
                jpeg_quality=75,
                cast_shadow=False,
                receive_shadow=False,
                position=place,
                wxyz=turn,
            )
            return
        self._frustum.position, self._frustum.wxyz = place, turn
        self._frustum.image = small
        self._frustum.visible = True


class StereoView(CameraView):
    """The left picture of a stereo camera."""

    layers: ClassVar[tuple[str, ...]] = ("Camera views",)


def picture_of(reading: Any) -> npt.NDArray[np.uint8] | None:
    """Return the picture of a camera's reading; of depths alone a picture in shades of grey."""
    for field in ("rgb", "left"):
        picture: npt.NDArray[np.uint8] | None = getattr(reading, field, None)
        if picture is not None:
            return picture
    depth = getattr(reading, "depth", None)
    if depth is None:
        return None
    share = np.clip((FAR - depth) / (FAR - NEAR), 0.0, 1.0)
    grey = np.round(255.0 * np.nan_to_num(share, nan=0.0)).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)


def _lens_of(reading: Any) -> Any:
    if getattr(reading, "rgb", None) is None and getattr(reading, "depth", None) is not None:
        return reading.depth_camera
    return getattr(reading, "rgb_camera", None) or reading.camera


def cloud_of(reading: Any) -> tuple[FloatArray, npt.NDArray[np.uint8]]:
    """Return points (n, 3) [m], optical frame, and their colours, of a depth image."""
    depth, camera = reading.depth, reading.depth_camera
    step = max(math.ceil(math.sqrt(depth.size / MOST_POINTS)), 1)
    z = depth[::step, ::step].astype(np.float64)
    x = (np.arange(0, camera.width, step) - camera.cx) / camera.fx
    y = (np.arange(0, camera.height, step) - camera.cy) / camera.fy
    across, down = np.meshgrid(x, y)
    points = np.stack([across * z, down * z, z], axis=2).reshape(-1, 3)
    known = np.isfinite(points).all(axis=1)
    rgb = reading.rgb
    if rgb is not None and rgb.shape[:2] == depth.shape:
        colors = rgb[::step, ::step].reshape(-1, 3)[known]
    else:
        colors = shades(points[known, 2], NEAR, FAR)
    return points[known], np.ascontiguousarray(colors)
