# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""An OpenGL context without a window or a display, through EGL; one for the whole process."""

from __future__ import annotations

import importlib
import os
from collections import deque
from functools import lru_cache
from threading import get_ident
from typing import Any, ClassVar
from weakref import finalize

import numpy as np

from mvsim_core.errors import MvsimError

_SURFACELESS = 0x31DD  # EGL_PLATFORM_SURFACELESS_MESA
_VERSION = (4, 5)  # clip control, for depth buffers that are as exact far away as near
HINT = "pip install PyOpenGL; apt-get install libegl1 libgl1 libgl1-mesa-dri"


class GlMissingError(MvsimError):
    """There is no OpenGL here; the message says what to install."""


class Context:
    """A context, and the functions of OpenGL.

    OpenGL's objects can be freed in the context's thread only, but Python may drop theirs in any:
    names of dropped objects wait until their thread comes by.

    Attributes:
        gl: The module OpenGL.GL.
        current: The context that was used last, in whatever thread.
    """

    current: ClassVar[Context | None] = None

    def __init__(self, gl: Any, egl: Any, display: Any, handle: Any) -> None:
        """Hold a context of EGL, which is not anybody's current one yet."""
        self.gl = gl
        self._egl = egl
        self._display = display
        self._handle = handle
        self._thread = 0
        self._dropped: deque[tuple[str, int]] = deque()

    def use(self) -> None:
        """Make it the calling thread's context.

        Raises:
            RuntimeError: Another thread has not released it.
        """
        egl = self._egl
        if self._thread != get_ident():
            egl.eglBindAPI(egl.EGL_OPENGL_API)  # each thread has a choice of its own
        nothing = egl.EGL_NO_SURFACE
        if not egl.eglMakeCurrent(self._display, nothing, nothing, self._handle):
            raise RuntimeError("OpenGL's context is in use in another thread")
        self._thread = get_ident()
        Context.current = self
        self._free()

    def release(self) -> None:
        """Let another thread use it, if it is the calling thread's context."""
        if Context.current is self and self._thread == get_ident():
            egl = self._egl
            nothing = egl.EGL_NO_SURFACE, egl.EGL_NO_SURFACE, egl.EGL_NO_CONTEXT
            egl.eglMakeCurrent(self._display, *nothing)
            Context.current = None

    def create(self, kind: str) -> GlObject:
        """Make an object of OpenGL that is freed with its last reference.

        Args:
            kind: "Textures", "Buffers", "VertexArrays", "Framebuffers" or "Renderbuffers".
        """
        made = GlObject(int(getattr(self.gl, f"glGen{kind}")(1)))
        finalize(made, self._drop, kind, made.name).atexit = False
        return made

    def _drop(self, kind: str, name: int) -> None:
        self._dropped.append((kind, name))
        if Context.current is self and get_ident() == self._thread:
            self._free()

    def _free(self) -> None:
        while self._dropped:
            kind, name = self._dropped.popleft()
            getattr(self.gl, f"glDelete{kind}")(1, np.array([name], np.uint32))


class GlObject:
    """Owns one object of OpenGL.

    Attributes:
        name: OpenGL's number of it.
    """

    __slots__ = ("__weakref__", "name")

    def __init__(self, name: int) -> None:
        """Own the object of a name; see `Context.create`."""
        self.name = name


def release_context() -> None:
    """Let another thread use OpenGL, until that has released it too."""
    if Context.current is not None:
        Context.current.release()


@lru_cache(maxsize=1)
def gl_context() -> Context:
    """Return the context of this process.

    Raises:
        GlMissingError: A package or a system library is missing, or it is too old.
    """
    os.environ.setdefault("PYOPENGL_PLATFORM", "egl")
    try:
        egl: Any = importlib.import_module("OpenGL.EGL")
        base: Any = importlib.import_module("OpenGL.EGL.EXT.platform_base")
        # After the import of EGL, which does not work without; saves half of each call.
        setattr(importlib.import_module("OpenGL"), "ERROR_CHECKING", False)  # noqa: B010
        gl: Any = importlib.import_module("OpenGL.GL")
        display, handle = _open(egl, base)
    except GlMissingError:
        raise
    except Exception as error:  # OpenGL's loader raises many kinds, from ImportError to TypeError
        raise GlMissingError(f"no OpenGL for cameras ({error}): {HINT}") from error
    context = Context(gl, egl, display, handle)
    context.use()
    if not gl.glGetString(gl.GL_VERSION):
        raise GlMissingError(f"no OpenGL for cameras (its context does not answer): {HINT}")
    return context


def _open(egl: Any, base: Any) -> tuple[Any, Any]:
    major, minor, count = egl.EGLint(), egl.EGLint(), egl.EGLint()
    display = base.eglGetPlatformDisplayEXT(_SURFACELESS, egl.EGL_DEFAULT_DISPLAY, None)
    if not egl.eglInitialize(display, major, minor) or not egl.eglBindAPI(egl.EGL_OPENGL_API):
        raise GlMissingError(f"no OpenGL for cameras (EGL does not start): {HINT}")
    wanted = (egl.EGLint * 3)(egl.EGL_RENDERABLE_TYPE, egl.EGL_OPENGL_BIT, egl.EGL_NONE)
    configs = (egl.EGLConfig * 1)()
    egl.eglChooseConfig(display, wanted, configs, 1, count)
    options = (egl.EGLint * 7)(
        egl.EGL_CONTEXT_MAJOR_VERSION,
        _VERSION[0],
        egl.EGL_CONTEXT_MINOR_VERSION,
        _VERSION[1],
        egl.EGL_CONTEXT_OPENGL_PROFILE_MASK,
        egl.EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT,
        egl.EGL_NONE,
    )
    handle = egl.eglCreateContext(display, configs[0], egl.EGL_NO_CONTEXT, options)
    if not handle:
        raise GlMissingError(f"no OpenGL {_VERSION[0]}.{_VERSION[1]} for cameras: {HINT}")
    return display, handle
