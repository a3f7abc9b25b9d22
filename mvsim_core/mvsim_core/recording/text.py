# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers to text without the interpreter: a log of many wheels is mostly this.

Ten significant digits, no trailing zeros, like `format(x, ".10g")`. The last digit of very large
or small numbers may be one off, as the scaling is done in double precision.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.state.arrays import FloatArray

Bytes = npt.NDArray[np.uint8]

DIGITS = 10
#: Room for one number and its separator [bytes].
LONGEST = 20
#: Exponents of ten that are written without an e.
_PLAIN_FROM, _PLAIN_TO = -5, DIGITS

#: Powers of ten; number `_LAST` is 1.
_LAST = 308
_TENS = np.array([float(f"1e{k}") for k in range(-_LAST, _LAST + 1)])
_SMALLEST = DIGITS - 1 - _LAST
_ZERO, _POINT, _MINUS, _PLUS, _E = (ord(c) for c in "0.-+e")
_COMMA, _NEWLINE = ord(","), ord("\n")
_I, _N, _F, _A = (ord(c) for c in "infa")


def csv_rows(columns: FloatArray) -> Bytes:
    """Return lines of comma-separated numbers for columns (columns, rows)."""
    out = np.empty(columns.size * LONGEST, np.uint8)
    return out[: csv_kernel(columns, out)]


@njit(cache=True, nogil=True)
def csv_kernel(columns: FloatArray, out: Bytes) -> int:
    """Write columns as text and return the number of bytes; repeated numbers are copied."""
    n, rows = columns.shape
    starts = np.zeros(n, np.int64)
    ends = np.zeros(n, np.int64)
    at = 0
    for i in range(rows):
        for j in range(n):
            start = at
            if i > 0 and columns[j, i] == columns[j, i - 1]:
                for k in range(starts[j], ends[j]):
                    out[at] = out[k]
                    at += 1
            else:
                at = put_number(columns[j, i], out, at)
            starts[j], ends[j] = start, at
            out[at] = _COMMA
            at += 1
        out[at - 1] = _NEWLINE
    return at


@njit(cache=True, nogil=True)
def put_number(x: float, out: Bytes, at: int) -> int:
    """Write one number from place `at` on and return the place after it."""
    if math.isnan(x):
        out[at], out[at + 1], out[at + 2] = _N, _A, _N
        return at + 3
    if x < 0.0:
        out[at] = _MINUS
        at += 1
        x = -x
    if x == 0.0:
        out[at] = _ZERO
        return at + 1
    if math.isinf(x):
        out[at], out[at + 1], out[at + 2] = _I, _N, _F
        return at + 3
    exponent = math.floor(math.log10(x))
    if exponent < _SMALLEST:  # its scale would be infinite
        whole = int(x * 1e300 * _TENS[_LAST + DIGITS - 301 - exponent] + 0.5)
    else:
        whole = int(x * _TENS[_LAST + DIGITS - 1 - exponent] + 0.5)
    if whole >= 10**DIGITS:  # rounded up to the next power of ten, or a rounding of the logarithm
        whole = (whole + 5) // 10
        exponent += 1
    digits = DIGITS
    while whole % 10 == 0:
        whole //= 10
        digits -= 1
    if exponent < _PLAIN_FROM or exponent >= _PLAIN_TO:
        at = put_digits(whole, digits, 1, out, at)
        return put_exponent(exponent, out, at)
    if exponent >= 0:
        at = put_digits(whole, digits, exponent + 1, out, at)
        for _ in range(digits, exponent + 1):
            out[at] = _ZERO
            at += 1
        return at
    out[at], out[at + 1] = _ZERO, _POINT
    at += 2
    for _ in range(-exponent - 1):
        out[at] = _ZERO
        at += 1
    return put_digits(whole, digits, digits, out, at)


@njit(cache=True, nogil=True)
def put_digits(whole: int, digits: int, before: int, out: Bytes, at: int) -> int:
    """Write digits with a point after the first `before` of them, if any are left then."""
    point = 1 if digits > before else 0
    last = at + digits + point - 1
    for k in range(digits - 1, -1, -1):
        out[last] = _ZERO + whole % 10
        last -= 1
        whole //= 10
        if point == 1 and k == before:
            out[last] = _POINT
            last -= 1
    return at + digits + point


@njit(cache=True, nogil=True)
def put_exponent(exponent: int, out: Bytes, at: int) -> int:
    """Write e+12 or e-123."""
    out[at] = _E
    out[at + 1] = _PLUS if exponent >= 0 else _MINUS
    size = abs(exponent)
    digits = 3 if size >= 100 else 2
    return put_digits(size, digits, digits, out, at + 2)
