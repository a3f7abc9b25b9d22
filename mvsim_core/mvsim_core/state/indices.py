# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Growing lists of row numbers with parameters: the rows that a system serves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mvsim_core.state.arrays import BoolArray, IntArray, Rows
from mvsim_core.state.rows import bytes_of

_FIRST_CAPACITY = 8


class Indices:
    """A set of row numbers as an array; adding and removing one costs the same in any size.

    The last one takes the place of a removed one, so the order is arbitrary.

    Attributes:
        ids: (n,) int64, the numbers. A list that changes replaces this array.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._buffer: IntArray = np.zeros(_FIRST_CAPACITY, np.int64)
        self._places: dict[int, int] = {}
        self.ids: IntArray = self._buffer[:0]

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._places)

    def __contains__(self, index: int) -> bool:
        """Return whether a number is in the list."""
        return index in self._places

    def add(self, index: int) -> int:
        """Add a number that is not in the list; return its place."""
        place = len(self._places)
        if place == len(self._buffer):
            self._grow(2 * place)
        self._buffer[place] = index
        self._places[index] = place
        self.ids = self._buffer[: place + 1]
        return place

    def discard(self, index: int) -> None:
        """Remove a number if it is in the list."""
        place = self._places.pop(index, None)
        if place is None:
            return
        last = len(self._places)
        if place != last:
            moved = int(self._buffer[last])
            self._buffer[place] = moved
            self._places[moved] = place
            self._move(last, place)
        self.ids = self._buffer[:last]

    def part(self, chosen: BoolArray) -> Any:
        """Return an independent list of the numbers n for which `chosen[n]`, in the same order."""
        other = type(self).__new__(type(self))
        other.__setstate__(self._chosen(chosen[self.ids]))
        return other

    def _chosen(self, places: BoolArray) -> Any:
        """Return the state of a list of the numbers at some places."""
        return self.ids[places]

    def _grow(self, capacity: int) -> None:
        grown = np.zeros(capacity, np.int64)
        grown[: len(self._buffer)] = self._buffer
        self._buffer = grown

    def _move(self, source: int, target: int) -> None:
        """Move the parameters from one place to another."""

    def __getstate__(self) -> Any:
        """Return what a copy or pickle consists of."""
        return self.ids.copy()

    def __setstate__(self, ids: Any) -> None:
        """Restore from a state of `__getstate__`."""
        self._buffer = np.zeros(max(_FIRST_CAPACITY, len(ids)), np.int64)
        self._buffer[: len(ids)] = ids
        self._places = {index: place for place, index in enumerate(ids.tolist())}
        self.ids = self._buffer[: len(ids)]


class ParameterTable(Indices):
    """Row numbers with a row of parameters for each.

    Args:
        dtype: Of the parameters.

    Attributes:
        params: (n,) rows of parameters, in the order of `ids`.
    """

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """Start empty."""
        super().__init__()
        self._rows: Rows = np.zeros(len(self._buffer), dtype)

    @property
    def params(self) -> Rows:
        """The parameters, in the order of `ids`."""
        return self._rows[: len(self.ids)]

    def add_with(self, indices: Iterable[int], params: Any) -> None:
        """Add numbers that all have the same parameters (a row or a tuple)."""
        row = np.zeros(1, self._rows.dtype)
        row[0] = params
        first = len(self)
        for index in indices:
            self.add(index)
        bytes_of(self._rows)[first : len(self)] = bytes_of(row)

    def _grow(self, capacity: int) -> None:
        super()._grow(capacity)
        grown = np.zeros(capacity, self._rows.dtype)
        grown[: len(self._rows)] = self._rows
        self._rows = grown

    def _chosen(self, places: BoolArray) -> Any:
        return self.ids[places], self.params[places]

    def _move(self, source: int, target: int) -> None:
        self._rows[target] = self._rows[source]

    def __getstate__(self) -> Any:
        """Return what a copy or pickle consists of."""
        return self.ids.copy(), self.params.copy()

    def __setstate__(self, state: Any) -> None:
        """Restore from a state of `__getstate__`."""
        ids, params = state
        super().__setstate__(ids)
        self._rows = np.zeros(len(self._buffer), params.dtype)
        self._rows[: len(ids)] = params
