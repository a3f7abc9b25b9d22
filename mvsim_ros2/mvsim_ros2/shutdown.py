# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ending on SIGINT and SIGTERM with exit code 0 and no traceback, whenever and however often."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Time [s] until `Stopped` is raised again where it got lost.
RETRY = 0.02


class Stopped(BaseException):
    """A signal came while something was started that may take long."""


class StopSignals:
    """Remembers that a signal has come.

    The handlers only set a flag: an exception at a random place of the simulation, or a second one
    within the clean-up of the first, would end in a traceback. While the node starts (imports,
    world files, compilation of kernels) an exception is nevertheless the quickest way out.
    """

    def __init__(self) -> None:
        """Install the handlers."""
        self._stopped = False
        self._interrupts = False
        self._ends = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        """Return whether a signal has come."""
        return self._stopped

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True
        if self._ends:
            os._exit(0)
        if self._interrupts:
            self._interrupts = False  # once is enough, and clean-up must not be interrupted
            raise Stopped

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Let a signal end the process within a block that holds nothing to be given back.

        Modules are imported in such blocks: C code among them prints exceptions that it meets.
        """
        self._ends = True
        try:
            if self._stopped:
                os._exit(0)
            yield
        finally:
            self._ends = False

    @contextmanager
    def interrupting(self) -> Iterator[None]:
        """Let the first signal raise `Stopped` within a block."""
        signal.signal(signal.SIGALRM, self._handle)
        sys.unraisablehook = self._try_again
        self._interrupts = True
        try:
            if self._stopped:
                raise Stopped
            yield
        finally:
            self._interrupts = False
            sys.unraisablehook = sys.__unraisablehook__

    def _try_again(self, lost: sys.UnraisableHookArgs) -> None:
        """Raise `Stopped` a little later: callbacks from C, as numba has them, swallow it."""
        if not isinstance(lost.exc_value, Stopped):
            sys.__unraisablehook__(lost)
            return
        self._interrupts = True
        signal.setitimer(signal.ITIMER_REAL, RETRY)

    @staticmethod
    def ignore() -> None:
        """Ignore further signals, while the interpreter ends."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
