# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Renders what a camera sees of a 3D scene: colours, textures, glass, sun, shadows, sky, depth."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numba import njit

from mvsim_core.rendering.context import Context, GlObject, gl_context
from mvsim_core.rendering.culling import seen_between, within
from mvsim_core.rendering.edge_filter import smoothed
from mvsim_core.rendering.eye import PLAIN, Eye, Quality
from mvsim_core.rendering.gl_memory import (
    Mesh,
    Target,
    largest_texture,
    load_mesh,
    load_sky_box,
    load_texture,
    make_shadow_maps,
    make_target,
    program,
)
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.rendering.shadow_fit import ShadowView, shadow_views, sun_frame
from mvsim_core.rendering.vertex_buffers import Stretch
from mvsim_core.scene3d.layout import Layout
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.scene import Lights
from mvsim_core.scene3d.tables import GLASS, Floats
from mvsim_core.scene3d.textures import Image, pixels_of
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray, Rows

#: What the programs know of a picture; matrices column by column. See `shaders.FRAME`.
FRAME = np.dtype(
    [
        ("view", "f4", (4, 4)),
        ("sun_near", "f4", (4, 4)),
        ("sun_far", "f4", (4, 4)),
        ("sun", "f4", (4,)),
        ("sun_color", "f4", (4,)),
        ("sun_share", "f4", (4,)),
        ("sky_light", "f4", (4,)),
        ("ground_light", "f4", (4,)),
        ("texel", "f4", (4,)),
        ("ways", "f4", (4, 4)),
        ("floor_level", "f4", (4,)),
    ]
)
#: How much of the light from above the ground throws back.
GROUND_SHARE = 0.55
#: How much brighter the sky is towards the sun, so that walls in the shade differ.
SKY_SLOPE = 0.2


class _Batch(NamedTuple):
    """Instances of a mesh that are drawn with one call: the first one's place, and how many."""

    mesh: Mesh
    first: int
    instances: int


class Renderer:
    """Holds scenes in the memory of OpenGL.

    Models and textures are loaded with the first picture that shows them and freed when the scene
    has dropped them; the rest is freed with the renderer.

    Args:
        lights: Sun and sky.
    """

    def __init__(self, lights: Lights) -> None:
        """Load the sky.

        Raises:
            GlMissingError: There is no OpenGL.
        """
        self._context: Context = gl_context()
        self._context.use()
        self._gl = gl = self._context.gl
        self._shadows = lights.shadows and lights.elevation > 0.0
        self._sun = sun_frame(_sun_direction(lights))
        self._light = _light(lights)
        self._textures: WeakValueDictionary[str, GlObject] = WeakValueDictionary()
        self._meshes: WeakKeyDictionary[Model, Mesh] = WeakKeyDictionary()
        self._targets: dict[tuple[int, int, int], Target] = {}
        self._shadow_maps: dict[int, tuple[GlObject, GlObject, GlObject]] = {}
        self._places = self._context.create("Buffers")
        self._frame = self._context.create("Buffers")
        self._empty = self._context.create("VertexArrays")
        self._boxed = load_sky_box(self._context, lights.sky_box)
        self._version: tuple[int, int] | None = None
        self._drawn: list[Mesh] = []
        self._has_ground = False
        self._order: IntArray = np.zeros(0, np.int64)
        self._mesh_of: IntArray = np.zeros(0, np.int64)
        self._balls: FloatArray = np.zeros((0, 4))
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)
        gl.glEnable(gl.GL_TEXTURE_CUBE_MAP_SEAMLESS)

    @property
    def has_sky_box(self) -> bool:
        """Whether the six images of the sky could be read."""
        return self._boxed is not None

    def close(self) -> None:
        """Free all objects of OpenGL; the renderer must not be used any more."""
        self._context.use()
        self._meshes.clear()
        self._targets.clear()
        self._shadow_maps.clear()
        self._drawn = []
        for name in ("_places", "_frame", "_empty", "_boxed"):
            self.__dict__.pop(name, None)

    # ------------------------------------------------------------------ pictures
    def render(self, eye: Eye, layout: Layout, quality: Quality = PLAIN) -> Image:
        """Return (height, width, 3) red, green, blue of the scene as it is now."""
        target = self._render(eye, layout, quality)
        return self._read_colors(target, quality.smooth)

    def render_depth(self, eye: Eye, layout: Layout) -> Floats:
        """Return (height, width) depths along the optical axis [m] at the middle of each pixel.

        Both sides of all surfaces are seen, also of those that pictures do not show, as rays do.
        inf: nothing within the limits.
        """
        gl = self._gl
        instances = self._prepare(layout, eye)
        visible = _in_view(eye, instances.balls)
        (batches,) = self._send(instances, [visible])
        self._send_frame(eye, ())
        target = self._begin(eye, 1)
        gl.glUseProgram(program(self._context, "depth"))
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_GREATER)
        self._draw_solids(batches)
        return self._read_depth(target, eye.limits)

    def render_both(
        self, eye: Eye, layout: Layout, quality: Quality = PLAIN
    ) -> tuple[Image, Floats]:
        """Return a picture and the depths in it, from one pass where the scene allows it.

        Several samples a pixel, glass that rays do not pass and surfaces of which pictures show
        one side only ask for two.
        """
        self._context.use()
        self._load(layout)
        if quality.samples > 1 or any(_differs(s) for m in self._drawn for s in m.stretches):
            return self.render(eye, layout, quality), self.render_depth(eye, layout)
        depths: list[Floats] = []
        target = self._render(eye, layout, quality, depths)
        return self._read_colors(target, quality.smooth), depths[0]

    def _render(
        self, eye: Eye, layout: Layout, quality: Quality, depths: list[Floats] | None = None
    ) -> Target:
        """Draw a picture; append its depths, without those of glass, to a list."""
        instances = self._prepare(layout, eye)
        shadows: tuple[ShadowView, ...] = ()
        if self._shadows and len(instances.balls):
            place = eye.pose[9:]
            shadows = shadow_views(eye.camera, eye.turn, place, self._sun, instances.balls)
        chosen = [_in_view(eye, instances.balls), *(view.casters for view in shadows)]
        visible, *casters = self._send(instances, chosen)
        self._send_frame(eye, shadows, quality.shadow_pixels)
        if shadows:
            self._cast_shadows(casters, quality.shadow_pixels)
        target = self._begin(eye, quality.samples)
        self._draw_colors(visible, bool(shadows))
        # Without ground elements vehicles drive on the level 0.
        self._draw_sky(bool(shadows) and not self._has_ground and eye.pose[11] > 0.0)
        panes = self._panes(visible, instances)
        if depths is not None:
            depths.append(self._read_depth(target, eye.limits))
        self._draw_panes(panes, bool(shadows))
        return target

    # ------------------------------------------------------------- each picture
    def _prepare(self, layout: Layout, eye: Eye) -> _Instances:
        """Return where all instances are, relative to the eye."""
        self._context.use()
        self._load(layout)
        items = layout.instances[self._order]
        turns = np.ascontiguousarray(items["r"])
        # All positions are sent relative to the eye: single precision is exact near it.
        shifts = items["t"] - (eye.pose[9:] - layout.origin)
        balls = np.empty((len(items), 4))
        balls[:, :3] = (turns @ self._balls[:, :3, None])[:, :, 0] + shifts
        balls[:, 3] = self._balls[:, 3]
        shown = self._order != eye.hidden
        return _Instances(turns, shifts, balls, shown)

    def _send(self, instances: _Instances, chosen: list[BoolArray]) -> list[list[_Batch]]:
        """Send the matrices of chosen instances; return what to draw for each choice."""
        gl = self._gl
        rows = [np.flatnonzero(each & instances.shown) for each in chosen]
        order = np.concatenate(rows)
        matrices = np.zeros((max(len(order), 1), 4, 4), np.float32)
        matrices[: len(order), :3, :3] = instances.turns[order].transpose(0, 2, 1)
        matrices[: len(order), 3, :3] = instances.shifts[order]
        matrices[:, 3, 3] = 1.0
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._places.name)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, matrices.nbytes, matrices, gl.GL_STREAM_DRAW)
        self._sent = order
        batches, first = [], 0
        for each in rows:
            counts = np.bincount(self._mesh_of[each], minlength=len(self._drawn)).tolist()
            drawn = []
            for mesh, count in zip(self._drawn, counts, strict=True):
                if count:
                    drawn.append(_Batch(mesh, first, count))
                first += count
            batches.append(drawn)
        return batches

    def _send_frame(
        self, eye: Eye, shadows: tuple[ShadowView, ...], shadow_pixels: int = 1
    ) -> None:
        gl, camera = self._gl, eye.camera
        near, far = eye.limits
        clip, ways = _lens_matrices(camera)
        frame = self._light.copy()
        row = frame[0]
        view = np.zeros((4, 4))
        view[:, :3] = clip @ eye.turn.T
        view[2, 3] = near
        row["view"] = view.T
        for name, shadow in zip(("sun_near", "sun_far"), shadows, strict=False):
            row[name] = shadow.matrix.T
        row["texel"][: len(shadows)] = [shadow.size / shadow_pixels for shadow in shadows]
        row["sun"][3] = near / far
        row["floor_level"][0] = -eye.pose[11]
        row["ways"][:3, :3] = (eye.turn @ ways).T
        gl.glBindBufferBase(gl.GL_UNIFORM_BUFFER, 0, self._frame.name)
        gl.glBufferData(gl.GL_UNIFORM_BUFFER, frame.nbytes, frame, gl.GL_STREAM_DRAW)

    def _cast_shadows(self, casters: list[list[_Batch]], pixels: int) -> None:
        gl = self._gl
        if pixels not in self._shadow_maps:
            self._shadow_maps[pixels] = make_shadow_maps(self._context, pixels)
        texture, *frames = self._shadow_maps[pixels]
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_LESS)
        gl.glFrontFace(gl.GL_CCW)
        gl.glViewport(0, 0, pixels, pixels)
        gl.glClearDepth(1.0)
        for name, frame, batches in zip(("near", "far"), frames, casters, strict=True):
            gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, frame.name)
            gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
            gl.glUseProgram(program(self._context, f"{name} shadow"))
            for batch in batches:
                gl.glBindVertexArray(batch.mesh.array.name)
                for stretch in _runs(batch.mesh.stretches):
                    self._cull(stretch.cull_face)
                    self._draw(stretch, batch)
        self._cull("NONE")
        gl.glActiveTexture(gl.GL_TEXTURE1)
        gl.glBindTexture(gl.GL_TEXTURE_2D_ARRAY, texture.name)
        gl.glActiveTexture(gl.GL_TEXTURE0)

    def _draw(self, stretch: Stretch, batch: _Batch, instance: int = -1) -> None:
        gl = self._gl
        first, count = (batch.first, batch.instances) if instance < 0 else (instance, 1)
        gl.glDrawElementsInstancedBaseInstance(
            gl.GL_TRIANGLES,
            stretch.corners,
            gl.GL_UNSIGNED_INT,
            _pointer(4 * stretch.first),
            count,
            first,
        )

    def _cull(self, face: str) -> None:
        gl = self._gl
        if face == "NONE":
            gl.glDisable(gl.GL_CULL_FACE)
            return
        gl.glEnable(gl.GL_CULL_FACE)
        gl.glCullFace(gl.GL_FRONT if face == "FRONT" else gl.GL_BACK)

    def _begin(self, eye: Eye, samples: int) -> Target:
        gl, camera = self._gl, eye.camera
        key = (camera.width, camera.height, samples)
        if key not in self._targets:
            size = (camera.width, camera.height)
            self._targets[key] = make_target(self._context, size, samples)
        target = self._targets[key]
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, target.drawn.name)
        gl.glViewport(0, 0, *target.size)
        gl.glClearDepth(eye.limits[0] / eye.limits[1])  # of what is as far as can be seen
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        return target

    def _draw_colors(self, batches: list[_Batch], shadows: bool) -> None:
        """Draw opaque surfaces, those without textures first."""
        gl = self._gl
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_GREATER)
        gl.glFrontFace(gl.GL_CW)  # counter-clockwise, but rows of pictures count downwards
        for textured in (False, True):
            used = False
            for batch in batches:
                mesh, bound = batch.mesh, False
                for stretch, texture in zip(mesh.stretches, mesh.textures, strict=True):
                    if stretch.clear or stretch.cull_face == "BOTH":
                        continue
                    if (texture is not None) != textured:
                        continue
                    if not used:
                        self._use(textured, shadows)
                        used = True
                    if not bound:
                        gl.glBindVertexArray(mesh.array.name)
                        bound = True
                    if texture is not None:
                        gl.glBindTexture(gl.GL_TEXTURE_2D, texture.name)
                    self._cull(stretch.cull_face)
                    self._draw(stretch, batch)
        self._cull("NONE")

    def _use(self, textured: bool, shadows: bool) -> None:
        name = ("textured" if textured else "plain") + (" shadows" if shadows else "")
        self._gl.glUseProgram(program(self._context, name))

    def _draw_solids(self, batches: list[_Batch]) -> None:
        """Draw what rays do not pass, whatever side is seen."""
        for batch in batches:
            self._gl.glBindVertexArray(batch.mesh.array.name)
            for stretch in _joined([s for s in batch.mesh.stretches if s.opacity >= GLASS]):
                self._draw(stretch, batch)

    def _draw_sky(self, floor: bool) -> None:
        """Draw what is farther than all else; `floor`: with shadows on a painted floor."""
        gl = self._gl
        name = "sky box" if self._boxed else "sky floor" if floor else "sky"
        gl.glDepthMask(False)
        gl.glDepthFunc(gl.GL_GEQUAL)
        gl.glUseProgram(program(self._context, name))
        if self._boxed:
            gl.glActiveTexture(gl.GL_TEXTURE0)
            gl.glBindTexture(gl.GL_TEXTURE_CUBE_MAP, self._boxed.name)
        gl.glBindVertexArray(self._empty.name)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)
        gl.glDepthMask(True)

    def _panes(
        self, batches: list[_Batch], instances: _Instances
    ) -> list[tuple[float, int, Stretch, GlObject | None, _Batch, int]]:
        """Return surfaces that one sees through, the farthest first."""
        panes: list[tuple[float, int, Stretch, GlObject | None, _Batch, int]] = []
        for batch in batches:
            mesh = batch.mesh
            for stretch, texture in zip(mesh.stretches, mesh.textures, strict=True):
                if not stretch.clear or stretch.cull_face == "BOTH":
                    continue
                for k in range(batch.first, batch.first + batch.instances):
                    row = self._sent[k]
                    at = instances.turns[row] @ stretch.middle + instances.shifts[row]
                    panes.append((float(at @ at), len(panes), stretch, texture, batch, k))
        return sorted(panes, reverse=True, key=lambda p: p[:2])

    def _draw_panes(
        self,
        panes: list[tuple[float, int, Stretch, GlObject | None, _Batch, int]],
        shadows: bool,
    ) -> None:
        """Blend glass with what is behind it.

        Of each pane only the nearest layer is blended, by its depth alone first: it tints once,
        however its triangles are ordered and whether it is a sheet or a slab.
        """
        gl = self._gl
        if not panes:
            return
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
        for _, _, stretch, texture, batch, k in panes:
            self._use(texture is not None, shadows)
            gl.glBindVertexArray(batch.mesh.array.name)
            if texture is not None:
                gl.glBindTexture(gl.GL_TEXTURE_2D, texture.name)
            self._cull(stretch.cull_face)
            gl.glDepthFunc(gl.GL_GREATER)
            gl.glColorMask(False, False, False, False)
            self._draw(stretch, batch, k)
            gl.glDepthFunc(gl.GL_EQUAL)
            gl.glColorMask(True, True, True, True)
            self._draw(stretch, batch, k)
        gl.glDisable(gl.GL_BLEND)
        self._cull("NONE")

    def _read_colors(self, target: Target, smooth: bool) -> Image:
        gl = self._gl
        width, height = target.size
        if target.read is not target.drawn:
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, target.drawn.name)
            gl.glBindFramebuffer(gl.GL_DRAW_FRAMEBUFFER, target.read.name)
            area = (0, 0, width, height)
            gl.glBlitFramebuffer(*area, *area, gl.GL_COLOR_BUFFER_BIT, gl.GL_NEAREST)
            gl.glBindFramebuffer(gl.GL_READ_FRAMEBUFFER, target.read.name)
        # As it is in memory: leaving out every fourth byte takes OpenGL ten times as long.
        colors = np.empty((height, width, 4), np.uint8)
        gl.glReadPixels(0, 0, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, colors)
        if smooth:
            return smoothed(colors)
        picture: Image = np.empty((height, width, 3), np.uint8)
        _three_kernel(colors.reshape(-1), picture.reshape(-1))
        return picture

    def _read_depth(self, target: Target, limits: tuple[float, float]) -> Floats:
        gl = self._gl
        width, height = target.size
        depth: Floats = np.empty((height, width), np.float32)
        gl.glReadPixels(0, 0, width, height, gl.GL_DEPTH_COMPONENT, gl.GL_FLOAT, depth)
        nothing = np.float32(limits[0] / limits[1])
        _depth_kernel(depth.reshape(-1), np.float32(limits[0]), nothing)
        return depth

    # ------------------------------------------------------------------ once
    def _load(self, layout: Layout) -> None:
        """Load the models that are new; list which instances show which."""
        version = (id(layout), layout.version)
        if version == self._version:
            return
        self._version = version
        self._has_ground = any(part.label == "ground" for _, part in layout.parts())
        self._drawn = []
        rows: list[int] = []
        counts: list[int] = []
        for model, users in layout.users.items():
            mesh = self._meshes.get(model)
            if mesh is None:
                mesh = self._meshes[model] = load_mesh(
                    self._context, model, self._places, self._image
                )
            if mesh.stretches:
                self._drawn.append(mesh)
                counts.append(len(users))
                rows.extend(users)
        self._order = np.array(rows, dtype=np.int64)
        self._mesh_of = np.repeat(np.arange(len(counts)), counts)
        balls = np.array([mesh.ball for mesh in self._drawn]).reshape(-1, 4)
        self._balls = balls[self._mesh_of]

    def _image(self, path: str) -> GlObject | None:
        if not path:
            return None
        texture = self._textures.get(path)
        if texture is None:
            pixels = pixels_of(path, largest_texture(self._context))
            if pixels is None:
                return None
            texture = self._textures[path] = load_texture(self._context, pixels[::-1])
        return texture


class _Instances(NamedTuple):
    """All instances, relative to the eye.

    Attributes:
        turns: (n, 3, 3).
        shifts: (n, 3) m.
        balls: (n, 4) middles and radii of balls around them [m].
        shown: (n,) whether they are drawn.
    """

    turns: FloatArray
    shifts: FloatArray
    balls: FloatArray
    shown: BoolArray


def _differs(stretch: Stretch) -> bool:
    """Return whether pictures show a surface otherwise than depth images do."""
    return stretch.cull_face != "NONE" or (stretch.clear and stretch.opacity >= GLASS)


def _runs(stretches: list[Stretch]) -> list[Stretch]:
    """Return what throws shadows, with as few calls as possible."""
    solid = [s for s in stretches if not s.clear and s.cull_face != "BOTH"]
    if all(s.cull_face == "NONE" for s in solid):
        return _joined(solid)
    return solid


def _joined(stretches: list[Stretch]) -> list[Stretch]:
    """Return stretches with those that follow each other as one."""
    runs: list[Stretch] = []
    for stretch in stretches:
        if runs and runs[-1].first + runs[-1].corners == stretch.first:
            runs[-1] = runs[-1]._replace(corners=runs[-1].corners + stretch.corners)
        else:
            runs.append(stretch)
    return runs


def _in_view(eye: Eye, balls: FloatArray) -> BoolArray:
    """Return which balls, relative to the eye, may be in a picture."""
    return within(seen_between(eye.camera, eye.turn, *eye.limits), balls)


def _pointer(offset: int) -> Any:
    from ctypes import c_void_p

    return c_void_p(offset)


def _to_pixels(camera: Pinhole) -> FloatArray:
    """Return the matrix from OpenGL's -1 … 1 to pixels; rows count downwards in both."""
    w, h = 0.5 * camera.width, 0.5 * camera.height
    return np.array([[w, 0.0, w - 0.5], [0.0, h, h - 0.5], [0.0, 0.0, 1.0]])


@lru_cache(maxsize=64)
def _lens_matrices(camera: Pinhole) -> tuple[FloatArray, FloatArray]:
    """Return the matrices from the optical frame to clip space and from there to directions.

    The first (4, 3) leaves out the depth, near / z; the second (3, 3) takes places in the picture.
    """
    to_pixels = _to_pixels(camera)
    clip = np.zeros((4, 3))
    clip[:2] = (np.linalg.inv(to_pixels) @ camera.matrix)[:2]
    clip[3, 2] = 1.0
    return clip, np.linalg.inv(camera.matrix) @ to_pixels


def _sun_direction(lights: Lights) -> FloatArray:
    """Return the unit vector towards the sun."""
    level = math.cos(lights.elevation)
    east, north = math.cos(lights.azimuth), math.sin(lights.azimuth)
    return np.array([level * east, level * north, math.sin(lights.elevation)])


def _light(lights: Lights) -> Rows:
    """Return FRAME with what the lights say."""
    frame = np.zeros(1, FRAME)
    row = frame[0]
    # The brightest that sun and sky can do together is 1.
    brightest = max(*lights.color, 1e-3)
    sun = (1.0 - 0.5 * min(lights.ambient, 1.0)) * brightest
    row["sun"][:3] = _sun_direction(lights)
    row["sun_color"][:3] = np.array(lights.color) / brightest
    row["sun_share"][0] = sun / (lights.ambient + sun)
    row["sky_light"][0] = lights.ambient / (lights.ambient + sun)
    east, north = math.cos(lights.azimuth), math.sin(lights.azimuth)
    row["sky_light"][1:3] = SKY_SLOPE * np.array([east - 0.4 * north, north + 0.4 * east])
    row["ground_light"][0] = GROUND_SHARE * lights.ambient / (lights.ambient + sun)
    return frame


@njit(cache=True, nogil=True)
def _three_kernel(four, three):  # type: ignore[no-untyped-def]
    for k in range(three.size // 3):
        three[3 * k] = four[4 * k]
        three[3 * k + 1] = four[4 * k + 1]
        three[3 * k + 2] = four[4 * k + 2]


@njit(cache=True, nogil=True, error_model="numpy")
def _depth_kernel(depth, near, nothing):  # type: ignore[no-untyped-def]
    """Turn depths of OpenGL (near / z) into metres, in place."""
    for k in range(depth.size):
        depth[k] = near / depth[k] if depth[k] > nothing else np.inf
