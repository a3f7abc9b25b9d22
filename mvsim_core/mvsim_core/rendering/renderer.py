# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Renders what a camera sees of a 3D scene: colours, textures, glass, sun, shadows and sky."""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np

from mvsim_core.rendering.context import Context, GlObject, gl_context
from mvsim_core.rendering.gl_memory import (
    Mesh,
    largest_texture,
    load_mesh,
    load_sky_box,
    load_texture,
    make_shadow_map,
    make_target,
    programs,
)
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.rendering.vertex_buffers import Stretch
from mvsim_core.scene3d.layout import Layout
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.scene import Lights
from mvsim_core.scene3d.textures import Image, pixels_of
from mvsim_core.state.arrays import FloatArray, IntArray

#: Shadows are cast within this distance of a camera [m].
SHADOW_REACH = 25.0
SHADOW_HEIGHT = 60.0
SHADOW_PIXELS = 1024


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
        self._lights = lights
        self._solid, self._shadow, self._sky = programs(self._context)
        self._names: dict[tuple[int, str], int] = {}
        self._white = load_texture(self._context, np.full((1, 1, 3), 255, np.uint8))
        self._textures: WeakValueDictionary[str, GlObject] = WeakValueDictionary()
        self._meshes: WeakKeyDictionary[Model, Mesh] = WeakKeyDictionary()
        self._targets: dict[tuple[int, int], list[GlObject]] = {}
        self._places = self._context.create("Buffers")
        self._empty = self._context.create("VertexArrays")
        self._boxed = load_sky_box(self._context, lights.sky_box)
        self._shadow_map, self._shadow_target = make_shadow_map(self._context, SHADOW_PIXELS)
        self._version: tuple[int, int] | None = None
        self._order: IntArray = np.zeros(0, np.int64)
        self._drawn: list[tuple[Mesh, int, int]] = []
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
        self._drawn = []
        for name in ("_white", "_places", "_empty", "_boxed", "_shadow_map", "_shadow_target"):
            self.__dict__.pop(name, None)

    def render(
        self,
        camera: Pinhole,
        pose: FloatArray,
        limits: tuple[float, float],
        layout: Layout,
        hidden: int = -1,
    ) -> Image:
        """Return (height, width, 3) red, green, blue.

        Args:
            camera: The pinhole.
            pose: (12,) rotation row by row and origin [m] of its optical frame, world frame.
            limits: Nothing nearer and nothing farther along the optical axis is seen [m].
            layout: The scene as it is now.
            hidden: Row of an instance that is not drawn; -1: none.
        """
        self._context.use()
        self._load(layout)
        turn, eye = pose[:9].reshape(3, 3), pose[9:]
        # All positions are sent relative to the eye: single precision is exact near it.
        self._place(layout, eye - layout.origin, hidden)
        sun = self._sun_view(eye, turn[:, 2])
        shadows = self._lights.shadows and self._lights.elevation > 0.0
        if shadows:
            self._cast_shadows(sun)
        self._begin(camera, limits)
        self._render_sky(camera, turn)
        self._render_solids(camera, turn, limits[0], sun, shadows)
        gl = self._gl
        picture: Image = np.zeros((camera.height, camera.width, 3), np.uint8)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        gl.glReadPixels(0, 0, camera.width, camera.height, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, picture)
        return picture

    # ------------------------------------------------------------- each picture
    def _place(self, layout: Layout, eye: FloatArray, hidden: int) -> None:
        gl, items = self._gl, layout.instances[self._order]
        matrices = np.zeros((max(len(items), 1), 4, 4), np.float32)
        matrices[: len(items), :3, :3] = items["r"].transpose(0, 2, 1)  # column by column
        matrices[: len(items), 3, :3] = self._shifts = items["t"] - eye
        matrices[:, 3, 3] = 1.0
        if hidden >= 0:
            matrices[: len(items), :3, :3][self._order == hidden] = 0.0  # shrunk to a point
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._places.name)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, matrices.nbytes, matrices, gl.GL_STREAM_DRAW)
        self._turns = items["r"]

    def _sun_view(self, eye: FloatArray, ahead: FloatArray) -> FloatArray:
        """Return the matrix of the sun's parallel view of what is around and ahead of a camera."""
        flat = np.array([ahead[0], ahead[1], 0.0])
        middle = eye + 0.6 * SHADOW_REACH * flat / max(float(np.linalg.norm(ahead)), 1e-9)
        back = self._sun_direction()
        side = np.cross([0.0, 0.0, 1.0], back)
        side = np.array([1.0, 0.0, 0.0]) if np.linalg.norm(side) < 1e-6 else side
        side = side / np.linalg.norm(side)
        frame = np.stack([side, np.cross(back, side), -back])
        # In whole pixels of the map, so that shadows stand still while the camera moves.
        pixel = 2.0 * SHADOW_REACH / SHADOW_PIXELS
        offset = frame @ middle
        offset[:2] = np.round(offset[:2] / pixel) * pixel
        offset -= frame @ eye
        scale = np.array([1.0 / SHADOW_REACH, 1.0 / SHADOW_REACH, 1.0 / SHADOW_HEIGHT])
        view = np.eye(4)
        view[:3, :3] = frame * scale[:, None]
        view[:3, 3] = -offset * scale
        return view

    def _sun_direction(self) -> FloatArray:
        lights = self._lights
        level = math.cos(lights.elevation)
        return np.array(
            [
                level * math.cos(lights.azimuth),
                level * math.sin(lights.azimuth),
                math.sin(lights.elevation),
            ]
        )

    def _cast_shadows(self, sun: FloatArray) -> None:
        gl = self._gl
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._shadow_target.name)
        gl.glViewport(0, 0, SHADOW_PIXELS, SHADOW_PIXELS)
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_LESS)
        gl.glClearDepth(1.0)
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        gl.glUseProgram(self._shadow)
        gl.glFrontFace(gl.GL_CCW)
        self._matrix(self._shadow, "sun_view", sun)
        for mesh, first, count in self._drawn:
            gl.glBindVertexArray(mesh.array.name)
            if all(s.cull_face == "NONE" for s in mesh.stretches if not s.clear):
                self._draw(0, mesh.opaque, count, first)
                continue
            for stretch in mesh.stretches:
                if not stretch.clear:
                    self._cull(stretch.cull_face)
                    self._draw(stretch.first, stretch.corners, count, first)
            self._cull("NONE")

    def _draw(self, first: int, corners: int, instances: int, base: int) -> None:
        gl = self._gl
        if corners:
            gl.glDrawArraysInstancedBaseInstance(gl.GL_TRIANGLES, first, corners, instances, base)

    def _cull(self, face: str) -> None:
        gl = self._gl
        if face == "NONE":
            gl.glDisable(gl.GL_CULL_FACE)
            return
        gl.glEnable(gl.GL_CULL_FACE)
        gl.glCullFace(gl.GL_FRONT if face == "FRONT" else gl.GL_BACK)

    def _begin(self, camera: Pinhole, limits: tuple[float, float]) -> None:
        gl = self._gl
        size = (camera.width, camera.height)
        if size not in self._targets:
            self._targets[size] = make_target(self._context, *size)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._targets[size][0].name)
        gl.glViewport(0, 0, *size)
        gl.glClearDepth(limits[0] / limits[1])  # of what is as far as can be seen
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)

    def _render_sky(self, camera: Pinhole, turn: FloatArray) -> None:
        gl = self._gl
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glUseProgram(self._sky)
        ways = turn @ np.linalg.inv(camera.matrix) @ _to_pixels(camera)
        at = self._name(self._sky, "ways")
        gl.glUniformMatrix3fv(at, 1, True, np.ascontiguousarray(ways, np.float32))
        gl.glUniform1i(self._name(self._sky, "boxed"), int(self.has_sky_box))
        gl.glActiveTexture(gl.GL_TEXTURE0)
        gl.glBindTexture(gl.GL_TEXTURE_CUBE_MAP, self._boxed.name if self._boxed else 0)
        gl.glBindVertexArray(self._empty.name)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)

    def _render_solids(
        self, camera: Pinhole, turn: FloatArray, near: float, sun: FloatArray, shadows: bool
    ) -> None:
        gl, program = self._gl, self._solid
        world = np.eye(4)
        world[:3, :3] = turn.T
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_GREATER)
        gl.glFrontFace(gl.GL_CW)  # counter-clockwise, but rows of pictures count downwards
        gl.glUseProgram(program)
        self._matrix(program, "view", _projection(camera, near) @ world)
        self._matrix(program, "sun_view", sun)
        gl.glUniform3f(self._name(program, "sun"), *self._sun_direction().tolist())
        gl.glUniform3f(self._name(program, "sun_color"), *self._lights.color)
        gl.glUniform1f(self._name(program, "ambient"), self._lights.ambient)
        gl.glUniform1i(self._name(program, "shadows"), int(shadows))
        gl.glUniform1i(self._name(program, "image"), 0)
        gl.glUniform1i(self._name(program, "shadow"), 1)
        gl.glActiveTexture(gl.GL_TEXTURE1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._shadow_map.name)
        gl.glActiveTexture(gl.GL_TEXTURE0)
        for mesh, first, count in self._drawn:
            gl.glBindVertexArray(mesh.array.name)
            for stretch, texture in zip(mesh.stretches, mesh.textures, strict=True):
                if not stretch.clear:
                    self._cull(stretch.cull_face)
                    gl.glBindTexture(gl.GL_TEXTURE_2D, texture.name)
                    self._draw(stretch.first, stretch.corners, count, first)
        self._render_glass()
        self._cull("NONE")

    def _render_glass(self) -> None:
        """Blend surfaces that one sees through with what is behind them, the farthest first.

        Of each only the nearest layer is blended, by its depth alone first: a pane tints once,
        however its triangles are ordered and whether it is a sheet or a slab.
        """
        gl = self._gl
        panes: list[tuple[float, int, Mesh, Stretch, GlObject, int]] = []
        for mesh, first, count in self._drawn:
            for stretch, texture in zip(mesh.stretches, mesh.textures, strict=True):
                for k in range(first, first + count) if stretch.clear else ():
                    at = self._turns[k] @ stretch.middle + self._shifts[k]
                    panes.append((float(at @ at), len(panes), mesh, stretch, texture, k))
        if not panes:
            return
        gl.glEnable(gl.GL_BLEND)
        gl.glBlendFunc(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA)
        for _, _, mesh, stretch, texture, k in sorted(panes, reverse=True, key=lambda p: p[:2]):
            gl.glBindVertexArray(mesh.array.name)
            gl.glBindTexture(gl.GL_TEXTURE_2D, texture.name)
            self._cull(stretch.cull_face)
            gl.glDepthFunc(gl.GL_GREATER)
            gl.glColorMask(False, False, False, False)
            self._draw(stretch.first, stretch.corners, 1, k)
            gl.glDepthFunc(gl.GL_EQUAL)
            gl.glColorMask(True, True, True, True)
            self._draw(stretch.first, stretch.corners, 1, k)
        gl.glDisable(gl.GL_BLEND)

    # ------------------------------------------------------------------ once
    def _load(self, layout: Layout) -> None:
        """Load the models that are new; list which instances show which."""
        version = (id(layout), layout.version)
        if version == self._version:
            return
        self._version = version
        self._drawn = []
        rows: list[int] = []
        for model, users in layout.users.items():
            mesh = self._meshes.get(model)
            if mesh is None:
                mesh = self._meshes[model] = load_mesh(
                    self._context, model, self._places, self._image
                )
            if mesh.stretches:
                self._drawn.append((mesh, len(rows), len(users)))
                rows.extend(users)
        self._order = np.array(rows, dtype=np.int64)

    def _image(self, path: str) -> GlObject:
        if not path:
            return self._white
        texture = self._textures.get(path)
        if texture is None:
            pixels = pixels_of(path, largest_texture(self._context))
            texture = self._white if pixels is None else load_texture(self._context, pixels[::-1])
            self._textures[path] = texture
        return texture

    def _name(self, program: int, name: str) -> int:
        if (program, name) not in self._names:
            self._names[program, name] = self._gl.glGetUniformLocation(program, name)
        return self._names[program, name]

    def _matrix(self, program: int, name: str, matrix: FloatArray) -> None:
        data = np.ascontiguousarray(matrix, np.float32)
        self._gl.glUniformMatrix4fv(self._name(program, name), 1, True, data)


def _to_pixels(camera: Pinhole) -> FloatArray:
    """Return the matrix from OpenGL's -1 … 1 to pixels; rows count downwards in both."""
    w, h = 0.5 * camera.width, 0.5 * camera.height
    return np.array([[w, 0.0, w - 0.5], [0.0, h, h - 0.5], [0.0, 0.0, 1.0]])


def _projection(camera: Pinhole, near: float) -> FloatArray:
    """Return the matrix from the optical frame to clip space, whose depth is near / z."""
    flat = np.linalg.inv(_to_pixels(camera)) @ camera.matrix
    matrix: Any = np.zeros((4, 4))
    matrix[:2, :3], matrix[3, 2] = flat[:2], 1.0
    matrix[2, 3] = near
    return np.asarray(matrix, dtype=np.float64)
