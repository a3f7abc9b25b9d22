# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings: what sensors hand out, never to be changed by anybody."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T", bound=np.generic)
S = TypeVar("S")


class Reading:
    """Base of readings, which derive from it as frozen dataclasses.

    Since nothing in a reading can change, a copy of a world shares it with the original. Arrays
    in readings are made read-only by `read_only`.
    """

    __slots__ = ()

    def __copy__(self: S) -> S:
        """Return itself."""
        return self

    def __deepcopy__(self: S, memo: dict[int, Any]) -> S:
        """Return itself."""
        return self


def read_only(array: npt.NDArray[T]) -> npt.NDArray[T]:
    """Return an array after making it refuse to be written to."""
    array.setflags(write=False)
    return array
