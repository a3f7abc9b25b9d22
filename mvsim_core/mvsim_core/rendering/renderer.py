# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Paints what a camera sees of a 3D scene: colours, textures, sun, shadows and sky."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.rendering import shaders
from mvsim_core.rendering.context import Context, GlMissingError, gl_context
from mvsim_core.rendering.vertex_buffers import WIDTH, Stretch, corners_of
from mvsim_core.resources.remote_files import RemoteError, local_copy
from mvsim_core.sensors.pinhole import Pinhole
from mvsim_core.sensors.scene3d.scene import Layout, Lights
from mvsim_core.state.arrays import FloatArray

Image = npt.NDArray[np.uint8]

#: Largest side of a texture [pixel].
LARGEST = 2048
#: Shadows are cast within this distance of a camera [m].
SHADOW_REACH = 25.0
SHADOW_HEIGHT = 60.0
SHADOW_PIXELS = 1024
#: In the order of OpenGL, whose cubes are looked at along -z with y up.
_SIDES = ("Right", "Left", "Up", "Down", "Back", "Front")


class Painter:
    """Holds a scene in the memory of OpenGL.

    Args:
        lights: Sun and sky.
    """

    def __init__(self, lights: Lights) -> None:
        """Compile the programs.

        Raises:
            GlMissingError: There is no OpenGL.
        """
        self._context: Context = gl_context()
        self._gl = gl = self._context.gl
        self._lights = lights
        self._solid = self._program(shaders.SOLID_VERTEX, shaders.SOLID_PIXEL)
        self._shadow = self._program(shaders.SHADOW_VERTEX, shaders.SHADOW_PIXEL)
        self._sky = self._program(shaders.SKY_VERTEX, shaders.SKY_PIXEL)
        self._names: dict[tuple[int, str], int] = {}
        self._white = self._texture(np.full((1, 1, 3), 255, np.uint8))
        self._textures = {"": self._white}
        self._targets: dict[tuple[int, int], int] = {}
        self._empty = int(gl.glGenVertexArrays(1))
        self._boxed = self._sky_box(lights.sky_box)
        self._shadow_map, self._shadow_target = self._shadow_buffers()
        self._layout: Layout | None = None
        self._drawn: list[tuple[int, int, list[Stretch]]] = []
        self._buffers: list[int] = []
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE)

    @property
    def has_sky_box(self) -> bool:
        """Whether the six images of the sky could be read."""
        return self._boxed > 0

    def paint(self, camera: Pinhole, pose: FloatArray, near: float, layout: Layout) -> Image:
        """Return (height, width, 3) red, green, blue.

        Args:
            camera: The pinhole.
            pose: (12,) rotation row by row and origin [m] of its optical frame, world frame.
            near: Nothing nearer is seen [m].
            layout: The scene as it is now.
        """
        self._context.use()
        self._load(layout)
        turn, eye = pose[:9].reshape(3, 3), pose[9:] - layout.origin
        self._place(layout)
        sun = self._sun_view(eye, turn[:, 2])
        shadows = self._lights.shadows and self._lights.elevation > 0.0
        if shadows:
            self._cast_shadows(sun)
        self._begin(camera)
        self._paint_sky(camera, turn)
        self._paint_solids(camera, (turn, eye, near), sun, shadows)
        gl = self._gl
        picture: Image = np.zeros((camera.height, camera.width, 3), np.uint8)
        gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
        gl.glReadPixels(0, 0, camera.width, camera.height, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, picture)
        return picture

    # ------------------------------------------------------------- each picture
    def _place(self, layout: Layout) -> None:
        gl, items = self._gl, layout.instances
        matrices = np.zeros((len(items), 4, 4), np.float32)
        matrices[:, :3, :3] = items["r"].transpose(0, 2, 1)  # columns one after the other
        matrices[:, 3, :3], matrices[:, 3, 3] = items["t"], 1.0
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._places)
        gl.glBufferSubData(gl.GL_ARRAY_BUFFER, 0, matrices.nbytes, matrices)

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
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._shadow_target)
        gl.glViewport(0, 0, SHADOW_PIXELS, SHADOW_PIXELS)
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_LESS)
        gl.glClearDepth(1.0)
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)
        gl.glUseProgram(self._shadow)
        self._matrix(self._shadow, "sun_view", sun)
        for array, count, stretches in self._drawn:
            gl.glBindVertexArray(array)
            total = stretches[-1].first + stretches[-1].corners
            gl.glDrawArraysInstanced(gl.GL_TRIANGLES, 0, total, count)

    def _begin(self, camera: Pinhole) -> None:
        gl = self._gl
        size = (camera.width, camera.height)
        if size not in self._targets:
            self._targets[size] = self._target(*size)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, self._targets[size])
        gl.glViewport(0, 0, *size)
        gl.glClearDepth(0.0)
        gl.glClear(gl.GL_DEPTH_BUFFER_BIT)

    def _paint_sky(self, camera: Pinhole, turn: FloatArray) -> None:
        gl = self._gl
        gl.glDisable(gl.GL_DEPTH_TEST)
        gl.glUseProgram(self._sky)
        ways = turn @ np.linalg.inv(camera.matrix) @ _to_pixels(camera)
        at = self._name(self._sky, "ways")
        gl.glUniformMatrix3fv(at, 1, True, np.ascontiguousarray(ways, np.float32))
        gl.glUniform1i(self._name(self._sky, "boxed"), int(self._boxed > 0))
        gl.glActiveTexture(gl.GL_TEXTURE0)
        gl.glBindTexture(gl.GL_TEXTURE_CUBE_MAP, self._boxed)
        gl.glBindVertexArray(self._empty)
        gl.glDrawArrays(gl.GL_TRIANGLES, 0, 3)

    def _paint_solids(
        self,
        camera: Pinhole,
        view: tuple[FloatArray, FloatArray, float],
        sun: FloatArray,
        shadows: bool,
    ) -> None:
        gl, program = self._gl, self._solid
        turn, eye, near = view
        world = np.eye(4)
        world[:3, :3], world[:3, 3] = turn.T, -turn.T @ eye
        gl.glEnable(gl.GL_DEPTH_TEST)
        gl.glDepthFunc(gl.GL_GREATER)
        gl.glUseProgram(program)
        self._matrix(program, "view", _projection(camera, near) @ world)
        self._matrix(program, "sun_view", sun)
        gl.glUniform3f(self._name(program, "eye"), *eye.tolist())
        gl.glUniform3f(self._name(program, "sun"), *self._sun_direction().tolist())
        gl.glUniform3f(self._name(program, "sun_color"), *self._lights.color)
        gl.glUniform1f(self._name(program, "ambient"), self._lights.ambient)
        gl.glUniform1i(self._name(program, "shadows"), int(shadows))
        gl.glUniform1i(self._name(program, "image"), 0)
        gl.glUniform1i(self._name(program, "shadow"), 1)
        gl.glActiveTexture(gl.GL_TEXTURE1)
        gl.glBindTexture(gl.GL_TEXTURE_2D, self._shadow_map)
        gl.glActiveTexture(gl.GL_TEXTURE0)
        for array, count, stretches in self._drawn:
            gl.glBindVertexArray(array)
            for stretch in stretches:
                gl.glBindTexture(gl.GL_TEXTURE_2D, self._image(stretch.texture))
                gl.glDrawArraysInstanced(gl.GL_TRIANGLES, stretch.first, stretch.corners, count)

    # ------------------------------------------------------------------ once
    def _load(self, layout: Layout) -> None:
        """Take the models of a scene over, if it is a new one."""
        if layout is self._layout:
            return
        gl = self._gl
        if self._buffers:
            gl.glDeleteBuffers(len(self._buffers), np.array(self._buffers, np.uint32))
            arrays = np.array([a for a, _, _ in self._drawn], np.uint32)
            gl.glDeleteVertexArrays(len(arrays), arrays)
        self._layout, self._drawn = layout, []
        self._places = int(gl.glGenBuffers(1))
        self._buffers = [self._places]
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._places)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, 64 * len(layout.users), None, gl.GL_STREAM_DRAW)
        for number, model in enumerate(layout.models):
            corners, stretches = corners_of(model)
            if not stretches:
                continue
            # Instances of a model need not follow each other: one array for each unbroken run.
            for first, count in _runs(layout.users, number):
                array = self._array(corners, first)
                self._drawn.append((array, count, stretches))

    def _array(self, corners: npt.NDArray[np.float32], first: int) -> int:
        gl = self._gl
        array, buffer = int(gl.glGenVertexArrays(1)), int(gl.glGenBuffers(1))
        self._buffers.append(buffer)
        gl.glBindVertexArray(array)
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, buffer)
        gl.glBufferData(gl.GL_ARRAY_BUFFER, corners.nbytes, corners, gl.GL_STATIC_DRAW)
        start = 0
        for location, size in enumerate((3, 3, 2, 4)):
            gl.glEnableVertexAttribArray(location)
            gl.glVertexAttribPointer(
                location, size, gl.GL_FLOAT, False, 4 * WIDTH, ctypes.c_void_p(4 * start)
            )
            start += size
        gl.glBindBuffer(gl.GL_ARRAY_BUFFER, self._places)
        for k in range(4):
            gl.glEnableVertexAttribArray(4 + k)
            offset = ctypes.c_void_p(64 * first + 16 * k)
            gl.glVertexAttribPointer(4 + k, 4, gl.GL_FLOAT, False, 64, offset)
            gl.glVertexAttribDivisor(4 + k, 1)
        return array

    def _image(self, path: str) -> int:
        if path not in self._textures:
            pixels = _pixels(path)
            self._textures[path] = self._white if pixels is None else self._texture(pixels[::-1])
        return self._textures[path]

    def _texture(self, pixels: Image) -> int:
        gl = self._gl
        texture = int(gl.glGenTextures(1))
        gl.glBindTexture(gl.GL_TEXTURE_2D, texture)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
        height, width = pixels.shape[:2]
        data = np.ascontiguousarray(pixels)
        gl.glTexImage2D(
            gl.GL_TEXTURE_2D, 0, gl.GL_RGB8, width, height, 0, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, data
        )
        gl.glGenerateMipmap(gl.GL_TEXTURE_2D)
        mode = gl.GL_LINEAR_MIPMAP_LINEAR
        gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_TEXTURE_MIN_FILTER, mode)
        return texture

    def _sky_box(self, pattern: str) -> int:
        """Return a cube map of six images, or 0."""
        images = [_pixels(pattern.replace("%s", side)) for side in _SIDES] if pattern else [None]
        if any(image is None for image in images):
            return 0
        gl = self._gl
        texture = int(gl.glGenTextures(1))
        gl.glBindTexture(gl.GL_TEXTURE_CUBE_MAP, texture)
        gl.glPixelStorei(gl.GL_UNPACK_ALIGNMENT, 1)
        for k, image in enumerate(images):
            assert image is not None
            side = gl.GL_TEXTURE_CUBE_MAP_POSITIVE_X + k
            data = np.ascontiguousarray(image)
            height, width = data.shape[:2]
            gl.glTexImage2D(
                side, 0, gl.GL_RGB8, width, height, 0, gl.GL_RGB, gl.GL_UNSIGNED_BYTE, data
            )
        gl.glTexParameteri(gl.GL_TEXTURE_CUBE_MAP, gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR)
        return texture

    def _target(self, width: int, height: int) -> int:
        gl = self._gl
        target = int(gl.glGenFramebuffers(1))
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, target)
        for kind, place in (
            (gl.GL_RGBA8, gl.GL_COLOR_ATTACHMENT0),
            (gl.GL_DEPTH_COMPONENT32F, gl.GL_DEPTH_ATTACHMENT),
        ):
            buffer = int(gl.glGenRenderbuffers(1))
            gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer)
            gl.glRenderbufferStorage(gl.GL_RENDERBUFFER, kind, width, height)
            gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, place, gl.GL_RENDERBUFFER, buffer)
        return target

    def _shadow_buffers(self) -> tuple[int, int]:
        gl = self._gl
        texture, target = int(gl.glGenTextures(1)), int(gl.glGenFramebuffers(1))
        kind, size = gl.GL_TEXTURE_2D, SHADOW_PIXELS
        gl.glBindTexture(kind, texture)
        depth = gl.GL_DEPTH_COMPONENT
        gl.glTexImage2D(kind, 0, gl.GL_DEPTH_COMPONENT32F, size, size, 0, depth, gl.GL_FLOAT, None)
        for name, value in (
            (gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR),
            (gl.GL_TEXTURE_MAG_FILTER, gl.GL_LINEAR),
            (gl.GL_TEXTURE_COMPARE_MODE, gl.GL_COMPARE_REF_TO_TEXTURE),
            (gl.GL_TEXTURE_COMPARE_FUNC, gl.GL_LEQUAL),
        ):
            gl.glTexParameteri(kind, name, value)
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, target)
        gl.glFramebufferTexture(gl.GL_FRAMEBUFFER, gl.GL_DEPTH_ATTACHMENT, texture, 0)
        gl.glDrawBuffer(gl.GL_NONE)
        return texture, target

    def _program(self, vertex: str, pixel: str) -> int:
        gl = self._gl
        program: int = gl.glCreateProgram()
        for kind, text in ((gl.GL_VERTEX_SHADER, vertex), (gl.GL_FRAGMENT_SHADER, pixel)):
            shader = gl.glCreateShader(kind)
            gl.glShaderSource(shader, text.strip())
            gl.glCompileShader(shader)
            gl.glAttachShader(program, shader)
        gl.glLinkProgram(program)
        if not gl.glGetProgramiv(program, gl.GL_LINK_STATUS):
            raise GlMissingError(f"OpenGL refuses a program: {gl.glGetProgramInfoLog(program)!r}")
        return program

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


def _pixels(path: str) -> Image | None:
    """Return an image (height, width, 3), not too large; None if it cannot be read."""
    from PIL import Image as Pictures

    try:
        with Pictures.open(local_copy(path)) as picture:
            colored = picture.convert("RGB")
            colored.thumbnail((LARGEST, LARGEST))
            return np.asarray(colored)
    except (OSError, ValueError, RemoteError):
        return None


def _runs(users: list[int], model: int) -> list[tuple[int, int]]:
    """Return first and count of each unbroken run of a model in the list of instances."""
    mine = np.concatenate([[0], np.array(users) == model, [0]]).astype(np.int64)
    change = np.diff(mine)
    first = np.flatnonzero(change == 1)
    return [(int(a), int(b - a)) for a, b in zip(first, np.flatnonzero(change == -1), strict=True)]
