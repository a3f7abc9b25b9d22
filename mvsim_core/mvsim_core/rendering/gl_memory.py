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
from mvsim_core.rendering.vertex_buffers import WIDTH, Stretch, buffers_of
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.textures import Image, pixels_of

#: Sides of a cube of images in the order of OpenGL: +x -x +y -y +z -z, looked at along z, y up.
_SIDES = ("Right", "Left", "Up", "Down", "Front", "Back")


@dataclass(eq=False)
class Mesh:
    """A model in the memory of OpenGL.

    Attributes:
        array: Its vertex array.
        buffers: Of its vertices and its indices.
        stretches: What is drawn alike, opaque ones first.
        textures: Of the stretches; None: they have none.
        ball: Middle (3) and radius of a ball around it, its frame [m].
    """

    array: GlObject
    buffers: tuple[GlObject, GlObject]
    stretches: list[Stretch]
    textures: list[GlObject | None]
    ball: tuple[float, float, float, float]


def load_mesh(
    context: Context,
    model: Model,
    places: GlObject,
    image: Callable[[str], GlObject | None],
) -> Mesh:
    """Load a model.

    Args:
        context: Where to.
        model: The model.
        places: Buffer of the matrices of instances.
        image: From the file of a picture to its texture.
    """
    gl, create = context.gl, context.create
    vertices, indices, stretches, ball = buffers_of(model)
    array, buffers = create("VertexArrays"), (create("Buffers"), create("Buffers"))
    gl.glBindVertexArray(array.name)
    for kind, buffer, data in (
        (gl.GL_ARRAY_BUFFER, buffers[0], vertices),
        (gl.GL_ELEMENT_ARRAY_BUFFER, buffers[1], indices),
    ):
        gl.glBindBuffer(kind, buffer.name)
        gl.glBufferData(kind, data.nbytes, data, gl.GL_STATIC_DRAW)
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
    return Mesh(array, buffers, stretches, [image(s.texture) for s in stretches], ball)


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


@dataclass(eq=False)
class Target:
    """A picture in the memory of OpenGL.

    Attributes:
        size: Width and height [pixel].
        drawn: Frame buffer that is drawn into.
        read: Frame buffer that is read, with one sample a pixel.
        buffers: What they consist of.
    """

    size: tuple[int, int]
    drawn: GlObject
    read: GlObject
    buffers: list[GlObject]


def make_target(context: Context, size: tuple[int, int], samples: int) -> Target:
    """Return a target of colour and depth with so many samples a pixel."""
    gl = context.gl
    buffers: list[GlObject] = []
    color, depth = gl.GL_COLOR_ATTACHMENT0, gl.GL_DEPTH_ATTACHMENT
    kinds = ((gl.GL_RGBA8, color), (gl.GL_DEPTH_COMPONENT32F, depth))
    drawn = read = _frame_buffer(context, size, samples, kinds, buffers)
    if samples > 1:
        read = _frame_buffer(context, size, 0, kinds[:1], buffers)
    return Target(size, drawn, read, buffers)


def _frame_buffer(
    context: Context,
    size: tuple[int, int],
    samples: int,
    kinds: tuple[tuple[Any, Any], ...],
    buffers: list[GlObject],
) -> GlObject:
    gl, create = context.gl, context.create
    frame = create("Framebuffers")
    gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, frame.name)
    for kind, place in kinds:
        buffer = create("Renderbuffers")
        buffers.append(buffer)
        gl.glBindRenderbuffer(gl.GL_RENDERBUFFER, buffer.name)
        if samples > 1:
            gl.glRenderbufferStorageMultisample(gl.GL_RENDERBUFFER, samples, kind, *size)
        else:
            gl.glRenderbufferStorage(gl.GL_RENDERBUFFER, kind, *size)
        gl.glFramebufferRenderbuffer(gl.GL_FRAMEBUFFER, place, gl.GL_RENDERBUFFER, buffer.name)
    return frame


def make_shadow_maps(context: Context, pixels: int) -> tuple[GlObject, GlObject, GlObject]:
    """Return two depth textures that compare, as one array, and a frame buffer for each."""
    gl, create = context.gl, context.create
    texture = create("Textures")
    kind = gl.GL_TEXTURE_2D_ARRAY
    gl.glBindTexture(kind, texture.name)
    gl.glTexStorage3D(kind, 1, gl.GL_DEPTH_COMPONENT32F, pixels, pixels, 2)
    for name, value in (
        (gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR),
        (gl.GL_TEXTURE_MAG_FILTER, gl.GL_LINEAR),
        (gl.GL_TEXTURE_WRAP_S, gl.GL_CLAMP_TO_EDGE),
        (gl.GL_TEXTURE_WRAP_T, gl.GL_CLAMP_TO_EDGE),
        (gl.GL_TEXTURE_COMPARE_MODE, gl.GL_COMPARE_REF_TO_TEXTURE),
        (gl.GL_TEXTURE_COMPARE_FUNC, gl.GL_LEQUAL),
    ):
        gl.glTexParameteri(kind, name, value)
    frames = create("Framebuffers"), create("Framebuffers")
    for layer, frame in enumerate(frames):
        gl.glBindFramebuffer(gl.GL_FRAMEBUFFER, frame.name)
        depth = gl.GL_DEPTH_ATTACHMENT
        gl.glFramebufferTextureLayer(gl.GL_FRAMEBUFFER, depth, texture.name, 0, layer)
        gl.glDrawBuffer(gl.GL_NONE)
    return texture, *frames


_compiled: WeakKeyDictionary[Context, dict[str, int]] = WeakKeyDictionary()


def program(context: Context, name: str) -> int:
    """Return a program of `shaders.PROGRAMS`, compiled once for all renderers."""
    known = _compiled.setdefault(context, {})
    if name not in known:
        vertex, pixel, defines = shaders.PROGRAMS[name]
        head = f"#version 450 core\n{defines}{shaders.FRAME}"
        known[name] = _program(context.gl, head + vertex, head + pixel)
    return known[name]


def _program(gl: Any, vertex: str, pixel: str) -> int:
    made: int = gl.glCreateProgram()
    for kind, text in ((gl.GL_VERTEX_SHADER, vertex), (gl.GL_FRAGMENT_SHADER, pixel)):
        shader = gl.glCreateShader(kind)
        gl.glShaderSource(shader, text.strip())
        gl.glCompileShader(shader)
        gl.glAttachShader(made, shader)
        gl.glDeleteShader(shader)  # it stays as long as the program
    gl.glLinkProgram(made)
    if not gl.glGetProgramiv(made, gl.GL_LINK_STATUS):
        raise GlMissingError(f"OpenGL refuses a program: {gl.glGetProgramInfoLog(made)!r}")
    return made
