# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Growing tables of structured rows in which a row keeps its place until it is removed.

References between tables are row numbers, so that adding or removing one entity touches nothing
of the others. Free rows are reused, the last freed first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, TypeVar

import numpy as np

from mvsim_core.state.arrays import CACHE_LINE, IntArray
from mvsim_core.state.rows import LARGE, bytes_of

T = TypeVar("T", bound="Table")
#: Rows of a table before it grows for the first time.
FIRST_CAPACITY = 8


def spread(firsts: Sequence[int], counts: Sequence[int]) -> IntArray:
    """Return the rows of blocks, given their first rows and sizes, one after the other."""
    sizes = np.array(counts, np.int64)
    starts = np.cumsum(sizes) - sizes
    rows: IntArray = np.arange(sizes.sum())
    rows += np.repeat(np.array(firsts, np.int64) - starts, sizes)
    return rows


class Table:
    """Rows of one dtype, handed out in blocks.

    Args:
        dtype: Of the rows.
        empty: Values of the fields of free rows by which kernels skip them, such as {"body": -1};
            all other fields of free and of new rows are zero.

    Attributes:
        rows: All rows up to the last that was ever in use. A table that grows replaces this array,
            so read it from the table each time.
    """

    __slots__ = ("_buffer", "_empty", "_free", "_memory", "_size", "rows")

    def __init__(self, dtype: np.dtype[Any], empty: Mapping[str, float] | None = None) -> None:
        """Make an empty table."""
        self._empty = np.zeros(1, dtype)
        for name, value in (empty or {}).items():
            self._empty[name] = value
        self._buffer: Any = np.zeros(0, dtype)
        self._memory = memoryview(bytearray())
        self._size = 0
        self._free: dict[int, list[int]] = {}  # size of a block -> first rows of free ones
        self.rows: Any = self._buffer

    def __len__(self) -> int:
        """Return the number of rows, free ones included."""
        return len(self.rows)

    def add(self, block: Any) -> int:
        """Copy a block of rows in and return where its first row is; an empty block is at 0.

        Raises:
            TypeError: The block has another dtype than the table.
        """
        return self.add_all((block,))[0]

    def add_all(self, blocks: Sequence[Any]) -> list[int]:
        """Copy blocks of rows in, one after the other, and return where `add` puts each.

        Raises:
            TypeError: A block has another dtype than the table; no block is added then.
        """
        dtype = self._buffer.dtype
        for block in blocks:
            if block.dtype is not dtype and len(block) and block.dtype != dtype:
                raise TypeError(f"the rows of a block must be {dtype}, got {block.dtype}")
        if len({*map(id, blocks)}) == 1 and not self._free.get(len(blocks[0])):
            return self._add_equal(blocks[0], len(blocks))
        written = [block.tobytes() for block in blocks]
        # As bytes: numpy copies a single structured row field by field, a hundred times as slowly.
        begin = len(self.rows)
        if not any(self._free.values()):
            sizes = list(map(len, blocks))
            ends = list(accumulate(sizes, initial=begin))
            self._reserve(ends[-1])
            self._memory[begin * self._size : ends[-1] * self._size] = b"".join(written)
            return [first if count else 0 for first, count in zip(ends, sizes, strict=False)]
        end = begin
        firsts = []
        for block in blocks:
            count = len(block)
            if free := self._free.get(count):
                firsts.append(free.pop())
            else:
                firsts.append(end if count else 0)
                end += count
        self._reserve(end)
        size = self._size
        for first, rows in zip(firsts, written, strict=True):
            self._memory[first * size : first * size + len(rows)] = rows
        return firsts

    def _add_equal(self, block: Any, count: int) -> list[int]:
        """Copy a block in as often as is said, at the end."""
        begin, rows = len(self.rows), len(block)
        self._reserve(begin + count * rows)
        end = begin + count * rows
        self._memory[begin * self._size : end * self._size] = block.tobytes() * count
        return list(range(begin, end, rows)) if rows else [0] * count

    def add_singly(self, rows: Any) -> list[int]:
        """Copy contiguous rows in, each as a block of its own; return where `add` puts each."""
        if self._free.get(1):
            return self.add_all([rows[k : k + 1] for k in range(len(rows))])
        begin = len(self.rows)
        self._reserve(begin + len(rows))
        self._memory[begin * self._size : (begin + len(rows)) * self._size] = rows.tobytes()
        return list(range(begin, begin + len(rows)))

    def remove(self, first: int, count: int = 1) -> None:
        """Free a block that `add` returned."""
        if count == 0:
            return
        size = self._size
        self._memory[first * size : (first + count) * size] = self._empty.tobytes() * count
        self._free.setdefault(count, []).append(first)

    def _reserve(self, used: int) -> None:
        if used > len(self._buffer):
            capacity = max(FIRST_CAPACITY, used, 2 * len(self._buffer))
            self._adopt(self.rows, capacity)
        if used > len(self.rows):
            self.rows = self._buffer[:used]

    def _adopt(self, rows: Any, capacity: int) -> None:
        """Move to new memory for `capacity` rows, the first of which are those given."""
        self._size = rows.itemsize * math.prod(rows.shape[1:])
        whole = np.zeros(capacity * self._size + CACHE_LINE, np.uint8)
        begin = -whole.ctypes.data % CACHE_LINE
        self._memory = whole.data[begin : begin + capacity * self._size]
        large = rows.nbytes > LARGE
        content = bytes_of(rows).data.cast("B") if large else rows.tobytes()
        self._memory[: len(rows) * self._size] = content
        self._buffer = np.ndarray((capacity, *rows.shape[1:]), rows.dtype, self._memory)

    def __getstate__(self) -> tuple[Any, Any, dict[int, list[int]]]:
        """Return what a copy or pickle consists of: the used rows without spare capacity."""
        return self.rows, self._empty, {k: list(v) for k, v in self._free.items()}

    def __deepcopy__(self: T, memo: dict[int, Any]) -> T:
        """Return an independent copy; the rows are copied once, as they may be many."""
        other = object.__new__(type(self))
        other.__setstate__(self.__getstate__())
        return other

    def __setstate__(self, state: tuple[Any, Any, dict[int, list[int]]]) -> None:
        """Restore from a state of `__getstate__`, sharing nothing with it."""
        rows, empty, free = state
        self._adopt(rows, len(rows))
        self.rows = self._buffer
        self._empty = empty
        self._free = {k: list(v) for k, v in free.items()}


class SharedTable(Table):
    """Rows of parameters: blocks of one row, and equal ones are one row with several users.

    Thousands of vehicles of a class read the same bytes, which stay in the caches.
    """

    __slots__ = ("_row_of", "_users")

    def __init__(self, dtype: np.dtype[Any], empty: Mapping[str, float] | None = None) -> None:
        """Make an empty table."""
        super().__init__(dtype, empty)
        self._row_of: dict[bytes, int] = {}
        self._users: dict[int, int] = {}

    def add_all(self, blocks: Sequence[Any]) -> list[int]:
        """Return for each block the row that equals it; an empty block is at 0.

        Raises:
            TypeError: A block has another dtype than the table.
        """
        rows = []
        for block in blocks:
            if not len(block):
                rows.append(0)
                continue
            content = block.tobytes()
            row = self._row_of.get(content)
            if row is None:
                row = self._row_of[content] = super().add_all((block,))[0]
            self._users[row] = self._users.get(row, 0) + 1
            rows.append(row)
        return rows

    def remove(self, first: int, count: int = 1) -> None:
        """Take a user from a row; one without users is freed."""
        self._users[first] -= 1
        if self._users[first] == 0:
            del self._users[first], self._row_of[self.rows[first].tobytes()]
            super().remove(first, count)

    def __getstate__(self) -> Any:
        """Return what a copy or pickle consists of."""
        return super().__getstate__(), dict(self._users)

    def __setstate__(self, state: Any) -> None:
        """Restore from a state of `__getstate__`, sharing nothing with it."""
        table, users = state
        super().__setstate__(table)
        self._users = dict(users)
        self._row_of = {self.rows[row].tobytes(): row for row in self._users}
