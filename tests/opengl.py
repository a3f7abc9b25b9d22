# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whether OpenGL is there, for tests that draw."""

from __future__ import annotations

from mvsim_core.rendering.context import GlMissingError, gl_context


def has_gl() -> bool:
    """Return whether pictures can be drawn here."""
    try:
        gl_context()
    except GlMissingError:
        return False
    return True
