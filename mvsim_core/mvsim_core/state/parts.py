# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parts of a work that kernels in several threads take, each the next one that is left.

The cores of a machine are not equally fast at each moment, so that no thread has a fixed share.
Atomic additions hand out parts in a fraction of the time that Python needs. Each thread begins at
a part of its own and goes round, so that mostly the same core has the rows of a part in its cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba import types as numba_types
from numba.core import cgutils as numba_cgutils
from numba.extending import intrinsic

from mvsim_core.state.arrays import IntArray

types: Any = numba_types
cgutils: Any = numba_cgutils
native: Any = intrinsic

#: Columns of a table of parts: first row and the one after the last; how often threads have tried
#: to take it; whether its rows are ready for what follows; how often threads tried to take that.
FIRST, END, TAKEN, READY, FOLLOWED = range(5)
COLUMNS = 5


def parts_of(ranges: Iterable[tuple[int, int]], *, ready: bool = False) -> IntArray:
    """Return a table of parts, (n, COLUMNS), for ranges of rows: the first and the end of each."""
    parts: IntArray = np.array([(*ends, 0, ready, 0) for ends in ranges], np.int64)
    return parts.reshape(-1, COLUMNS)


def free(parts: IntArray) -> None:
    """Let threads take all parts again."""
    parts[:, TAKEN:] = 0


@native
def add(typing: Any, table: Any, row: Any, column: Any, number: Any) -> Any:
    """Add a number to an element of a table of integers, and return what it was before.

    No other thread sees or changes the element in between. What a thread has written before,
    others see after they have read what it added.
    """

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        """Emit the instruction."""
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, values[0])
        place = cgutils.get_item_pointer(context, builder, kind, array, values[1:3])
        return builder.atomic_rmw("add", place, values[3], "seq_cst")

    return types.int64(table, types.int64, types.int64, types.int64), generate


@njit(cache=True, nogil=True)
def turn(parts: IntArray, begin: int, i: int) -> int:
    """Return the number of the i-th part of a thread that begins at part `begin`."""
    return int((begin + i) % parts.shape[0])


@njit(cache=True, nogil=True)
def take(parts: IntArray, k: int) -> bool:
    """Take a part; return whether no thread had taken it."""
    return bool(parts[k, TAKEN] == 0 and add(parts, k, TAKEN, 1) == 0)


@njit(cache=True, nogil=True)
def give(parts: IntArray, k: int) -> None:
    """Make a part ready for what follows."""
    add(parts, k, READY, 1)


@njit(cache=True, nogil=True)
def follow(parts: IntArray, k: int) -> bool:
    """Take what follows of a part; return whether it is ready and no thread had taken it.

    A thread that makes parts ready looks at all parts after the last one of these, so that each
    part is followed by one thread.
    """
    return bool(add(parts, k, READY, 0) != 0 and add(parts, k, FOLLOWED, 1) == 0)
