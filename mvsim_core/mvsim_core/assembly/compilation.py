# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reports the compilation of kernels, which takes long once for each version of the sources."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from numba.core import event

from mvsim_core import progress

#: What numba calls for products of matrices.
BLAS = "scipy.linalg.cython_blas"
#: Time [s] between two lines.
PERIOD = 5.0
FIRST = (
    "compiling kernels, once for this version of the sources: some seconds to two minutes, by"
    " what the world uses"
)


class Compilations(event.Listener):
    """Counts the functions that numba compiles, not those that it reads from its cache."""

    def __init__(self) -> None:
        """Start with none."""
        self._count = 0

    def on_start(self, event: Any) -> None:
        """Say what is being waited for."""
        progress.announce_once(FIRST)

    def on_end(self, event: Any) -> None:
        """Report the progress."""
        self._count += 1
        progress.count("compiling kernels, functions", self._count, period=PERIOD)


@cache
def report() -> None:
    """Report compilations from now on, as lines of progress; call it before the first kernel."""
    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]
    _import_array_functions()


def _import_array_functions() -> None:
    """Import numba's functions of arrays without scipy's linear algebra, which takes 0.15 s.

    numba imports `BLAS` to see whether it is there, and again when a compiled function calls it.
    Kernels call none, so an empty module stands for it in the first import.
    """
    arrays = "numba.np.arraymath"
    scipy = find_spec("scipy")
    if scipy is None or scipy.origin is None or BLAS in sys.modules or arrays in sys.modules:
        return
    if not any((Path(scipy.origin).parent / "linalg").glob("cython_blas.*")):
        return
    sys.modules[BLAS] = ModuleType(BLAS)
    try:
        import_module(arrays)
    finally:
        del sys.modules[BLAS]
