# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""An OpenGL context without a window or a display, through EGL; one for the whole process."""

from __future__ import annotations

import importlib
import os
from functools import lru_cache
from typing import Any, NamedTuple

from mvsim_core.errors import MvsimError

_SURFACELESS = 0x31DD  # EGL_PLATFORM_SURFACELESS_MESA
_VERSION = (4, 5)  # clip control, for depth buffers that are as exact far away as near
HINT = "pip install PyOpenGL; apt-get install libegl1 libgl1 libgl1-mesa-dri"


class GlMissingError(MvsimError):
    """There is no OpenGL here; the message says what to install."""


class Context(NamedTuple):
    """A context, and the functions of OpenGL.

    Attributes:
        gl: The module OpenGL.GL.
        egl: The module OpenGL.EGL.
        display: Of EGL.
        handle: Of EGL.
    """

    gl: Any
    egl: Any
    display: Any
    handle: Any

    def use(self) -> None:
        """Make it the calling thread's context."""
        egl = self.egl
        egl.eglMakeCurrent(self.display, egl.EGL_NO_SURFACE, egl.EGL_NO_SURFACE, self.handle)


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
