# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Errors of numbers and files that no rule foresaw, as errors of a place in the world file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mvsim_core.errors import BuildError, MvsimError, Problem


@contextmanager
def building(where: Any, element: str, name: str = "") -> Iterator[None]:
    """Turn what building a part of a world raises into a BuildError that names the part.

    Args:
        where: File and line of the part.
        element: Its tag.
        name: Its name, if it has one.

    Raises:
        BuildError: The block raised something else than a MvsimError, which is its cause.
    """
    try:
        yield
    except MvsimError:
        raise
    except Exception as error:
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        subject = f"{name!r} " if name else ""
        text = f"{subject}cannot be built ({reason}); a number may be far out of range"
        raise BuildError(Problem.at(where, element, text, quotes=True)) from error
