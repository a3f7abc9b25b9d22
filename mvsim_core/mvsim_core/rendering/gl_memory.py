# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is put into the memory of OpenGL: models, pictures, frame buffers, programs."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from mvsim_core.rendering import shaders
from mvsim_core.rendering.context import Context, GlMissingError, GlObject
from mvsim_core.rendering.vertex_buffers import WIDTH, Stretch, corners_of
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.textures import Image, pixels_of

#: Sides of a cube of images in the order of OpenGL: +x -x +y -y +z -z, looked at along z, y up.
_SIDES = ("Right", "Left", "Up", "Down", "Front", "Back")


@dataclass(eq=False)
class Mesh:
    """A model in the memory of OpenGL.

    Attributes:
        array: Its vertex array.
        corners: The buffer of its corners.
        stretches: What is drawn alike, opaque ones first.
        textures: Of the stretches.
        opaque: Number of corners of opaque stretches.
    """

    array: GlObject
    corners: GlObject
    stretches: list[Stretch]
    textures: list[GlObject]
    opaque: int


def load_mesh(
    context: Context,
    model: Model,
    places: GlObject,
    image: Callable[[str], GlObject],
) -> Mesh:
    """Load a model.

    Args:
        context: Where to.
        model: The model.
        places: Buffer of the matrices of instances.
        image: From the file of a picture to its texture.
    """
    gl, create = context.gl, context.create
    corners, stretches = corners_of(model)
    array, buffer = create("VertexArrays"), create("Buffers")
    gl.glBindVertexArray(array.name)
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, buffer.name)
    gl.glBufferData(gl.GL_ARRAY_BUFFER, corners.nbytes, corners, gl.GL_STATIC_DRAW)
    start = 0
    for location, size in enumerate((3, 3, 2, 4)):
        gl.glEnableVertexAttribArray(location)
        gl.glVertexAttribPointer(
            location, size, gl.GL_FLOAT, False, 4 * WIDTH, ctypes.c_void_p(4 * start)
        )
        start += size
    gl.glBindBuffer(gl.GL_ARRAY_BUFFER, places.name)
    for k in range(4):
        gl.glEnableVertexAttribArray(4 + k)
        gl.glVertexAttribPointer(4 + k, 4, gl.GL_FLOAT, False, 64, ctypes.c_void_p(16 * k))
        gl.glVertexAttribDivisor(4 + k, 1)
    textures = [image(stretch.texture) for stretch in stretches]
    opaque = sum(s.corners for s in stretches if not s.clear)
    return Mesh(array, buffer, stretches, textures, opaque)


def largest_texture(context: Context) -> int:
    """Return the longest side that a picture may have [pixel]."""
    return int(context.gl.glGetIntegerv(context.gl.GL_MAX_TEXTURE_SIZE))


def load_texture(context: Context, pixels: Image) -> GlObject:
    """Load a picture (height, width, 3), its first row at the bottom."""
    gl = context.gl
    texture = context.create("Textures")
    gl.glBindTexture(gl.GL_TEXTURE_2D, texture.name)
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


def load_sky_box(context: Context, pattern: str) -> GlObject | None:
    """Load six images as a cube; None if not all can be read."""
    largest = largest_texture(context)
    paths = [pattern.replace("%s", side) for side in _SIDES] if pattern else []
    images = [pixels_of(path, largest) for path in paths]
    if not images or any(image is None for image in images):
        return None
    gl = context.gl
    texture = context.create("Textures")
    gl.glBindTexture(gl.GL_TEXTURE_CUBE_MAP, texture.name)
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


def make_target(context: Context, width: int, height: int) -> list[GlObject]:
    """Return a frame buffer, and its buffers of colour and depth."""
    gl, create = context.gl, context.create
    target = [create("Framebuffers")]
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, target[0].name)
    for kind, place in (
        (gl.GL_RGBA8, gl.GL_COLOR_ATTACHMENT0),
        (gl.GL_DEPTH_COMPONENT32F, gl.GL_DEPTH_ATTACHMENT),
    ):
        buffer = create("Renderbuffers")
        target.append(buffer)
        gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer.name)
        gl.glRenderbufferStorage(gl.GL_RENDERBUFFER, kind, width, height)
        gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, place, gl.GL_RENDERBUFFER, buffer.name)
    return target


def make_shadow_map(context: Context, size: int) -> tuple[GlObject, GlObject]:
    """Return a depth texture that compares, and the frame buffer that draws into it."""
    gl, create = context.gl, context.create
    texture, target = create("Textures"), create("Framebuffers")
    kind = gl.GL_TEXTURE_2D
    gl.glBindTexture(kind, texture.name)
    depth = gl.GL_DEPTH_COMPONENT
    gl.glTexImage2D(kind, 0, gl.GL_DEPTH_COMPONENT32F, size, size, 0, depth, gl.GL_FLOAT, None)
    for name, value in (
        (gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR),
        (gl.GL_TEXTURE_MAG_FILTER, gl.GL_LINEAR),
        (gl.GL_TEXTURE_COMPARE_MODE, gl.GL_COMPARE_REF_TO_TEXTURE),
        (gl.GL_TEXTURE_COMPARE_FUNC, gl.GL_LEQUAL),
    ):
        gl.glTexParameteri(kind, name, value)
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, target.name)
    gl.glFramebufferTexture(gl.GL_FRAMEBUFFER, gl.GL_DEPTH_ATTACHMENT, texture.name, 0)
    gl.glDrawBuffer(gl.GL_NONE)
    return texture, target


_compiled: WeakKeyDictionary[Context, tuple[int, int, int]] = WeakKeyDictionary()


def programs(context: Context) -> tuple[int, int, int]:
    """Return the programs for solids, shadows and the sky, compiled once for all renderers."""
    if context not in _compiled:
        _compiled[context] = (
            _program(context.gl, shaders.SOLID_VERTEX, shaders.SOLID_PIXEL),
            _program(context.gl, shaders.SHADOW_VERTEX, shaders.SHADOW_PIXEL),
            _program(context.gl, shaders.SKY_VERTEX, shaders.SKY_PIXEL),
        )
    return _compiled[context]


def _program(gl: Any, vertex: str, pixel: str) -> int:
    program: int = gl.glCreateProgram()
    for kind, text in ((gl.GL_VERTEX_SHADER, vertex), (gl.GL_FRAGMENT_SHADER, pixel)):
        shader = gl.glCreateShader(kind)
        gl.glShaderSource(shader, text.strip())
        gl.glCompileShader(shader)
        gl.glAttachShader(program, shader)
        gl.glDeleteShader(shader)  # it stays as long as the program
    gl.glLinkProgram(program)
    if not gl.glGetProgramiv(program, gl.GL_LINK_STATUS):
        raise GlMissingError(f"OpenGL refuses a program: {gl.glGetProgramInfoLog(program)!r}")
    return program
