# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A pytest plug-in that runs kernels as plain Python: `pytest -p tests.mutation.plain_kernels`.

A mutated kernel would have to be recompiled, and with it each kernel that calls it, since
numba's cache knows only the file of the outermost one: half a minute a mutant. In plain Python a
mutant costs nothing but its tests. numba gives the rows of structured arrays attribute access,
which numpy does for record arrays only: arguments are passed as such, the same memory.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import numba
import numpy as np


def as_records(value: Any) -> Any:
    """Return structured arrays and rows with attribute access, floats that divide as numpy's."""
    if type(value) is float:
        return np.float64(value)
    if isinstance(value, np.ndarray) and value.dtype.names and type(value) is np.ndarray:
        return value.view(np.recarray)
    if type(value) is np.void and value.dtype.names:
        return value.view(np.record) if value.base is None else _row(value)
    if type(value) is tuple:
        return tuple(as_records(item) for item in value)
    return value


def _row(value: Any) -> Any:
    return np.asarray(value).view(np.recarray)[()]


def plain(*_: Any, **__: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Stand in for `numba.njit` with arguments."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*arguments: Any) -> Any:
            return function(*(as_records(argument) for argument in arguments))

        call.py_func = function  # type: ignore[attr-defined]
        return call

    return decorate


if "mvsim_core" in sys.modules:
    raise RuntimeError("mvsim_core was imported before its kernels could be made plain")
numba.njit = plain
np.seterr(all="ignore")  # as compiled code does
