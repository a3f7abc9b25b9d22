# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""New rows and copies of rows, as plain bytes.

numpy copies structured arrays field by field and looks up a conversion for each field first: some
100 µs for one row of BODY, where its bytes take less than 1 µs. Worlds of thousands of entities
load by these functions in a fraction of the time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

#: Rows of more bytes are copied once; for fewer, twice as plain bytes takes less time.
LARGE = 1 << 18

Bytes = npt.NDArray[np.uint8]


def zero_rows(count: int, dtype: np.dtype[Any]) -> Any:
    """Return (count,) rows of a structured dtype, all zero."""
    return np.ndarray(count, dtype, bytearray(count * dtype.itemsize))


def copy_rows(rows: Any) -> Any:
    """Return a writable copy (n,) of contiguous or strided rows (n,) of a structured dtype."""
    if rows.nbytes > LARGE and rows.flags.c_contiguous:
        return bytes_of(rows).copy().reshape(-1).view(rows.dtype).reshape(rows.shape)
    return np.ndarray(rows.shape, rows.dtype, bytearray(rows.tobytes()))


def bytes_of(rows: Any) -> Bytes:
    """Return (n, bytes a row) uint8, a view of contiguous rows of any dtype and shape (n, ...).

    Raises:
        ValueError: The rows are not contiguous.
    """
    if not rows.flags.c_contiguous:
        raise ValueError("the rows must be contiguous")
    # The bytes of one row are given, not -1: numpy can't infer them where there are no rows.
    size = rows.itemsize * math.prod(rows.shape[1:]) if rows.ndim > 1 else 0
    view: Bytes = rows.view(np.uint8).reshape(len(rows), size or rows.itemsize)
    return view
