# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Colour cameras (class ``camera``): pictures by OpenGL, exact segmentation by rays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.context import GlMissingError
from mvsim_core.rendering.eye import Eye, Quality
from mvsim_core.rendering.lens import Lens, LensPictures
from mvsim_core.rendering.pinhole import Pinhole, compose
from mvsim_core.scene3d import Hits, Layout, Rays, Scene3d, copy_of
from mvsim_core.scene3d.tables import Floats
from mvsim_core.sensors.base import SENSORS, Sensor, SensorContext, StateView
from mvsim_core.sensors.exposure import exposed, metered
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.sensors.noise import PICTURE, RIGHT_PICTURE
from mvsim_core.sensors.readings import Reading, quick_init, read_only
from mvsim_core.sensors.rolling_shutter import band, bands_of, row_poses
from mvsim_core.state.arrays import FloatArray, Rows

Picture = npt.NDArray[np.uint8]

#: Kinds of things; a class is 1 + the index of its kind, 0 is nothing.
CLASSES = ("ground", "wall", "map", "block", "vehicle", "actor", "points", "sensor", "other")


@quick_init
@dataclass(frozen=True, slots=True)
class CameraReading(Reading):
    """One picture, taken at one instant.

    Attributes:
        tick: When it was taken.
        time: The same in s.
        rgb: (height, width, 3) uint8 red, green, blue; the first row is the upper one.
        camera: Intrinsics, as CameraInfo wants them.
        segments: (height, width) uint16: 1 + index into `things`, 0 for the sky; None: not asked.
        things: Name and kind, such as those in CLASSES, of what can be seen.
        lens: What distorts the picture (and the segments); None: nothing does.
    """

    tick: int
    time: float
    rgb: Picture
    camera: Pinhole
    segments: npt.NDArray[np.uint16] | None = None
    things: tuple[tuple[str, str], ...] = ()
    lens: Lens | None = None


class Optics(NamedTuple):
    """What is between a scene and a picture.

    Attributes:
        antialiasing: As in the spec.
        lens: What distorts pictures; None: nothing does.
        readout_time: From the first row of a picture to the last [s].
    """

    antialiasing: str = "none"
    lens: Lens | None = None
    readout_time: float = 0.0

    @classmethod
    def of(cls, antialiasing: str, model: str, k: tuple[float, ...], readout: float) -> Optics:
        """Return those of a spec; without coefficients nothing distorts."""
        return cls(antialiasing, Lens(model, k) if k else None, readout)


PLAIN_OPTICS = Optics()


class CameraRenderer:
    """Renders one camera's pictures; without OpenGL it warns once and renders none.

    Args:
        scene: The scene, whose renderer all cameras share.
        camera: The pinhole.
        limits: Nothing nearer and nothing farther along the optical axis is seen [m].
        sensor: The sensor, which does not see its own visual.
        warn: Called with what is missing.
        optics: Lens and shutter, which `take` alone minds.

    Raises:
        BuildError: The distortion of the lens cannot be inverted.
    """

    def __init__(
        self,
        scene: Scene3d,
        camera: Pinhole,
        limits: tuple[float, float],
        sensor: Sensor[Any],
        warn: Callable[[str], None],
        optics: Optics = PLAIN_OPTICS,
    ) -> None:
        """Keep what does not change."""
        self._scene = scene
        self._wanted = camera
        self._optics = optics
        self._lens = None if optics.lens is None else LensPictures(camera, optics.lens)
        self._camera = camera if self._lens is None else self._lens.source
        self._quality = Quality.of(optics.antialiasing, self._camera)
        self._limits = limits
        self._sensor = sensor
        self._warn = warn

    @property
    def directions(self) -> FloatArray:
        """(height, width, 3) rays of the pixels, optical frame."""
        return self._wanted.directions() if self._lens is None else self._lens.directions

    def poses(self, mount: Pose, bodies: Rows) -> FloatArray:
        """Return the pose of the optical frame now (1, 12), or when each row is read."""
        body, readout = self._sensor.body, self._optics.readout_time
        if readout <= 0.0:
            return mounted(mount, body, bodies)
        times = np.linspace(-readout, 0.0, self._wanted.height)
        return row_poses(mount, body, bodies, times)

    def take(self, mount: Pose, state: StateView) -> Picture | None:
        """Return the picture through the lens, row after row if the shutter rolls; None: no GL.

        Args:
            mount: Of the optical frame, in the frame of the sensor's body [m, rad].
            state: The world's rows.
        """
        lens, poses = self._lens, self.poses(mount, state.bodies)
        if len(poses) == 1:
            rgb = self.render(poses[0], state)
            return rgb if rgb is None or lens is None else lens.picture(rgb)
        bands: list[Picture] = []
        body, readout = self._sensor.body, self._optics.readout_time
        for first, last in bands_of(self._wanted, body, state.bodies, readout):
            pose = poses[(first + last) // 2]
            rgb = self.render(pose, state, (first, last) if lens is None else None)
            if rgb is None:
                return None
            bands.append(rgb if lens is None else lens.picture(rgb, slice(first, last)))
        return np.concatenate(bands)

    def render(
        self, pose: FloatArray, state: StateView, rows: tuple[int, int] | None = None
    ) -> Picture | None:
        """Return (height, width, 3) from a pose (12,) of the optical frame; None: no OpenGL.

        Only the rows from one to before another, if they are given.
        """
        seen = self._seen(pose, state)
        if seen is None:
            return None
        renderer, eye, layout = seen
        if rows is not None:
            eye = eye._replace(camera=band(eye.camera, *rows))
        picture: Picture = renderer.render(eye, layout, self._quality)
        return picture

    def render_depth(self, pose: FloatArray, state: StateView) -> Floats | None:
        """Return (height, width) depths [m] likewise; inf: nothing."""
        seen = self._seen(pose, state)
        if seen is None:
            return None
        renderer, eye, layout = seen
        depth: Floats = renderer.render_depth(eye, layout)
        return depth

    def render_both(self, pose: FloatArray, state: StateView) -> tuple[Picture, Floats] | None:
        """Return a picture and its depths likewise."""
        seen = self._seen(pose, state)
        if seen is None:
            return None
        renderer, eye, layout = seen
        both: tuple[Picture, Floats] = renderer.render_both(eye, layout, self._quality)
        return both

    def _seen(self, pose: FloatArray, state: StateView) -> tuple[Any, Eye, Layout] | None:
        scene = self._scene
        if scene.renderer is None:
            scene.renderer = self._new_renderer()
        if not scene.renderer:
            return None
        copy = copy_of(state.bodies, self._sensor.body)
        layout = scene.layout(state.bodies, state.wheels, pose[9:], copy)
        hidden = layout.visual_of(self._sensor.full_name)
        return scene.renderer, Eye(self._camera, pose, self._limits, hidden), layout

    def _new_renderer(self) -> Any:
        """Return a renderer, or False; loaded here, for worlds without cameras need none."""
        try:
            from mvsim_core.rendering.renderer import Renderer

            renderer = Renderer(self._scene.lights)
        except GlMissingError as error:
            self._warn(f"{error}; until then there are no colour pictures")
            return False
        sky = self._scene.lights.sky_box
        if sky and not renderer.has_sky_box:
            fault = "not all of the six images of the sky box can be read"
            self._warn(f"{sky}: {fault}: the sky is plain")
        return renderer


@SENSORS.register("camera")
class Camera(Sensor[CameraReading]):
    """A colour camera; its mount is that of the optical frame."""

    kind = "camera"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a camera into a world; ``spec`` is a CameraSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.camera = Pinhole.of_size(
            (spec.ncols, spec.nrows), (spec.fx, spec.fy), (spec.cx, spec.cy)
        )
        self.scene = context.scene3d or Scene3d()
        limits, optics = (spec.clip_min, spec.clip_max), optics_of(spec)
        self.lens = optics.lens
        self._renderer = CameraRenderer(
            self.scene, self.camera, limits, self, context.warn, optics
        )
        self._ways = self._renderer.directions if spec.segmentation else None

    @property
    def optical_mount(self) -> Pose:
        """Pose of the optical frame (z forward, x right, y down) in the vehicle's frame."""
        return self.mount

    def warm(self, state: StateView) -> None:
        """Take a picture and drop it."""
        self.measure(state, 0, 0.0)

    def measure(self, state: StateView, tick: int, time: float) -> CameraReading | None:
        """Return a picture of the scene as it is now; None without OpenGL."""
        bodies, spec = state.bodies, self.spec
        rgb = self._renderer.take(self.mount, state)
        if rgb is None:
            return None
        rgb = exposed(rgb, spec.exposure, metered(rgb) if spec.auto_exposure else 1.0)
        rgb = read_only(noisy(rgb, spec.noise_sigma, self, tick))
        if self._ways is None:
            return CameraReading(tick, time, rgb, self.camera, lens=self.lens)
        hits = Hits.empty(self.camera.height, self.camera.width, parts=True)
        limits, poses = (spec.clip_min, spec.clip_max), self._renderer.poses(self.mount, bodies)
        rays = Rays(
            self._ways, poses, 0, self.camera.height, *limits, pass_glass=True, own=self.full_name
        )
        copy = copy_of(bodies, self.body)
        layout = self.scene.cast(rays, bodies, hits, state.wheels, copy)
        segments, things = segments_of(hits, layout)
        return CameraReading(tick, time, rgb, self.camera, read_only(segments), things, self.lens)


def optics_of(spec: Any) -> Optics:
    """Return lens and shutter of a ColorCameraSpec."""
    model, coefficients = spec.distortion_model, spec.coefficients
    return Optics.of(spec.antialiasing, model, coefficients, spec.readout_time)


def noisy(
    rgb: Picture, sigma: float, sensor: Sensor[Any], tick: int, purpose: int = PICTURE
) -> Picture:
    """Return a picture with white noise on each pixel and colour.

    Args:
        rgb: (height, width, 3).
        sigma: Standard deviation [levels, of 255]; 0: the picture itself is returned.
        sensor: Its seed, name and the tick are those of the noise.
        tick: When it was taken.
        purpose: Which picture of the sensor it is.
    """
    if sigma == 0.0:
        return rgb
    noise = sensor.random(tick, purpose).standard_normal(rgb.shape, dtype=np.float32)
    noise *= np.float32(sigma)
    noise += rgb
    np.rint(noise, out=noise)
    return np.clip(noise, 0.0, 255.0, out=noise).astype(np.uint8)


def segments_of(
    hits: Hits, layout: Layout
) -> tuple[npt.NDArray[np.uint16], tuple[tuple[str, str], ...]]:
    """Return what each pixel belongs to: 1 + index into names and kinds, 0 for nothing.

    All parts of a vehicle are one thing.
    """
    pairs = list(layout.parts())
    names = [(part.name, part.label) for _, part in pairs]
    things = tuple(dict.fromkeys(names))
    number = {thing: k + 1 for k, thing in enumerate(things)}
    ids = np.array([-1, *(k for k, _ in pairs)])
    table = np.zeros(ids.max() - ids.min() + 1, np.uint16)
    table[ids - ids.min()] = [0, *(number[name] for name in names)]
    return table[hits.part - ids.min()], things


def classes_of(
    segments: npt.NDArray[np.uint16], things: tuple[tuple[str, str], ...]
) -> npt.NDArray[np.uint8]:
    """Return the class of each pixel: 1 + index into CLASSES, 0 for nothing.

    Args:
        segments: (height, width), as `segments_of` returns it.
        things: The names and kinds that it returns.
    """
    known = (kind if kind in CLASSES else "other" for _, kind in things)
    table = np.array([0, *(CLASSES.index(kind) + 1 for kind in known)], np.uint8)
    return table[segments]


@quick_init
@dataclass(frozen=True, slots=True)
class StereoReading(Reading):
    """Two pictures by equal cameras with parallel axes: rectified, if no lens distorts them.

    Attributes:
        tick: When they were taken.
        time: The same in s.
        left: (height, width, 3) uint8 red, green, blue.
        right: The same, of the camera to the right.
        camera: Intrinsics of both.
        baseline: Distance of the right camera along x of the left one's optical frame [m].
        lens: What distorts both pictures; None: nothing does.
    """

    tick: int
    time: float
    left: Picture
    right: Picture
    camera: Pinhole
    baseline: float
    lens: Lens | None = None


@SENSORS.register("stereo_camera")
class StereoCamera(Sensor[StereoReading]):
    """A stereo pair; its mount is the optical frame of the left camera."""

    kind = "stereo_camera"

    def __init__(
        self, spec: Any, context: SensorContext, *, delay: float = 0.0, dropout: float = 0.0
    ) -> None:
        """Put a pair into a world; ``spec`` is a StereoCameraSpec, the rest as in `Sensor`."""
        super().__init__(spec, context, delay=delay, dropout=dropout)
        self.camera = Pinhole.of_size(
            (spec.ncols, spec.nrows), (spec.fx, spec.fy), (spec.cx, spec.cy)
        )
        limits, optics = (spec.clip_min, spec.clip_max), optics_of(spec)
        self.lens = optics.lens
        scene = context.scene3d or Scene3d()
        self._renderer = CameraRenderer(scene, self.camera, limits, self, context.warn, optics)
        self._mounts = (self.mount, compose(self.mount, Pose(x=spec.baseline)))

    @property
    def optical_mount(self) -> Pose:
        """Pose of the left optical frame (z forward, x right) in the vehicle's frame."""
        return self.mount

    def warm(self, state: StateView) -> None:
        """Take a pair of pictures and drop it."""
        self.measure(state, 0, 0.0)

    def measure(self, state: StateView, tick: int, time: float) -> StereoReading | None:
        """Return both pictures of the scene as it is now; None without OpenGL."""
        spec, gain = self.spec, 1.0
        pair: list[Picture] = []
        for mount in self._mounts:
            rgb = self._renderer.take(mount, state)
            if rgb is None:
                return None
            if spec.auto_exposure and not pair:
                gain = metered(rgb)  # of the left picture, for both
            rgb = exposed(rgb, spec.exposure, gain)
            purpose = RIGHT_PICTURE if pair else PICTURE
            pair.append(read_only(noisy(rgb, spec.noise_sigma, self, tick, purpose)))
        left, right = pair
        return StereoReading(tick, time, left, right, self.camera, spec.baseline, self.lens)
