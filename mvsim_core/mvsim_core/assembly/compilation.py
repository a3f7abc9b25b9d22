# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reports the compilation of kernels, which takes long once for each version of the sources."""

from __future__ import annotations

from functools import cache
from typing import Any

from numba.core import event

from mvsim_core import progress

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
    """Report compilations from now on, as lines of progress."""
    event.register("numba:compile", Compilations())  # type: ignore[no-untyped-call]
