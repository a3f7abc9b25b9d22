# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Colour cameras (class ``camera``): pictures by OpenGL, exact segmentation by rays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.context import GlMissingError
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.sensors.pinhole import Pinhole
from mvsim_core.sensors.readings import Reading, read_only
from mvsim_core.sensors.scene3d import Hits, Rays, Scene3d
from mvsim_core.sensors.scene3d.scene import Layout
from mvsim_core.state.arrays import FloatArray, Rows

Picture = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class CameraReading(Reading):
    """One picture, taken at one instant.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        rgb: (height, width, 3) uint8 red, green, blue; the first row is the upper one.
        camera: Intrinsics, as CameraInfo wants them; there is no distortion.
        segments: (height, width) uint16: 1 + index into `things`, 0 for the sky; None: not asked.
        things: Name and kind ("vehicle", "block", "wall", "map", "ground") of what can be seen.
    """

    tick: int
    time: float
    rgb: Picture
    camera: Pinhole
    segments: npt.NDArray[np.uint16] | None = None
    things: tuple[tuple[str, str], ...] = ()


class View:
    """Paints one camera's pictures; without OpenGL it warns once and paints none.

    Args:
        scene: The scene, whose painter all cameras share.
        camera: The pinhole.
        near: Nothing nearer is seen [m].
        context: Whom to warn.
    """

    def __init__(
        self, scene: Scene3d, camera: Pinhole, near: float, context: SensorContext
    ) -> None:
        """Keep what does not change."""
        self._scene = scene
        self._camera = camera
        self._near = near
        self._warn = context.warn

    def paint(self, pose: FloatArray, bodies: Rows) -> Picture | None:
        """Return (height, width, 3) from a pose (12,) of the optical frame; None: no OpenGL."""
        scene = self._scene
        if scene.painter is None:
            scene.painter = self._painter()
        if not scene.painter:
            return None
        picture: Picture = scene.painter.paint(
            self._camera, pose, self._near, scene.layout(bodies)
        )
        return picture

    def _painter(self) -> Any:
        """Return the painter, or False; loaded here, for worlds without cameras need none."""
        try:
            from mvsim_core.rendering.renderer import Painter

            painter = Painter(self._scene.lights)
        except GlMissingError as error:
            self._warn(f"{error}; until then there are no colour pictures")
            return False
        sky = self._scene.lights.sky_box
        if sky and not painter.has_sky_box:
            fault = "not all of the six images of the sky box can be read"
            self._warn(f"{sky}: {fault}: the sky is plain")
        return painter


@SENSORS.register("camera")
class Camera(Sensor[CameraReading]):
    """A colour camera; its mount is that of the optical frame."""

    kind = "camera"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a camera into a world; ``spec`` is a CameraSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.camera = Pinhole(spec.ncols, spec.nrows, spec.fx, spec.fy, spec.cx, spec.cy)
        self.scene = context.scene3d or Scene3d()
        self._view = View(self.scene, self.camera, spec.clip_min, context)
        self._ways = self.camera.directions() if spec.segmentation else None

    @property
    def optical_mount(self) -> Pose:
        """Pose of the optical frame (z forward, x right, y down) in the vehicle's frame."""
        return self.mount

    def warm(self, state: StateView) -> None:
        """Take a picture that nobody sees."""
        self.measure(state, 0, 0.0)

    def measure(self, state: StateView, tick: int, time: float) -> CameraReading | None:
        """Return a picture of the scene as it is now; None without OpenGL."""
        bodies = state.bodies
        pose = mounted(self.mount, self.body, bodies)
        rgb = self._view.paint(pose[0], bodies)
        if rgb is None:
            return None
        read_only(rgb)
        if self._ways is None:
            return CameraReading(tick, time, rgb, self.camera)
        hits = Hits.empty(self.camera.height, self.camera.width)
        limits = (self.spec.clip_min, self.spec.clip_max)
        rays = Rays(self._ways, pose, 0, self.camera.height, *limits)
        layout = self.scene.cast(rays, bodies, hits)
        segments, things = segments_of(hits, layout)
        return CameraReading(tick, time, rgb, self.camera, read_only(segments), things)


def segments_of(
    hits: Hits, layout: Layout
) -> tuple[npt.NDArray[np.uint16], tuple[tuple[str, str], ...]]:
    """Return what each pixel belongs to: 1 + index into names and kinds, 0 for nothing.

    All parts of a vehicle are one thing.
    """
    names = [(part.name, part.label) for part in layout.parts]
    things = tuple(dict.fromkeys(names))
    number = {thing: k + 1 for k, thing in enumerate(things)}
    table = np.array([*(number[name] for name in names), 0], np.uint16)  # part -1 is the last
    return table[hits.part], things
