# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of neighbouring elements within growing arrays that several arrays share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

#: Elements of an array before it grows for the first time.
_FIRST_CAPACITY = 16


class Blocks:
    """Hands out ranges of indices; freed ones are used again for blocks of the same size.

    Attributes:
        end: All indices in use are below it.
    """

    __slots__ = ("_free", "end")

    def __init__(self) -> None:
        """Begin with no index in use."""
        self.end = 0
        self._free: dict[int, list[int]] = {}

    def take(self, size: int) -> int:
        """Return the first index of a block."""
        free = self._free.get(size)
        if free:
            return free.pop()
        first = self.end
        self.end += size
        return first

    def take_all(self, size: int, count: int) -> Sequence[int]:
        """Return the first indices of as many blocks as calls of `take` would give."""
        if self._free.get(size) or size == 0:
            return [self.take(size) for _ in range(count)]
        first = self.end
        self.end += size * count
        return range(first, self.end, size)

    def give(self, first: int, size: int) -> None:
        """Take a block back."""
        self._free.setdefault(size, []).append(first)


def with_room(array: npt.NDArray[Any], end: int, axis: int = 0) -> npt.NDArray[Any]:
    """Return the array, or a longer one with the same begin if it has no index ``end - 1``."""
    if end <= array.shape[axis]:
        return array
    shape = list(array.shape)
    shape[axis] = max(end, 2 * shape[axis], _FIRST_CAPACITY)
    grown = np.zeros(shape, array.dtype)
    grown[tuple(slice(n) for n in array.shape)] = array
    return grown
