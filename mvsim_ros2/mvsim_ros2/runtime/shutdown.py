# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Shutdown on SIGINT, SIGTERM, SIGHUP: exit code 0, no traceback, at any time, however often."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

#: Ctrl-C, a request to end, and a terminal or connection that was closed.
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Time [s] until `Stopped` is raised again where C code has swallowed it.
RETRY_DELAY = 0.02


class Stopped(BaseException):
    """A signal arrived in a block that it may interrupt."""


class StopSignals:
    """Records that a signal has arrived; calling it returns whether one has.

    The handlers only set a flag: an exception at a random place of the simulation, or a second one
    during the clean-up of the first, would end in a traceback. The start of the node (imports,
    world files, compilation of kernels) takes long and can be interrupted by an exception.
    """

    def __init__(self) -> None:
        """Install the handlers."""
        self._stopped = False
        self._raises = False
        self._exits = False
        for number in STOP_SIGNALS:
            if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
                continue  # started by nohup, to outlive its terminal
            signal.signal(number, self._handle)

    def __call__(self) -> bool:
        """Return whether a signal has arrived."""
        return self._stopped

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._stopped = True
        if self._exits:
            os._exit(0)
        if self._raises:
            self._raises = False  # a second exception would interrupt the clean-up
            raise Stopped

    @contextmanager
    def exit_process(self) -> Iterator[None]:
        """Let a signal end the process within a block that holds nothing to be released.

        Modules are imported in such blocks: C code among them prints exceptions that it catches.
        """
        self._exits = True
        try:
            if self._stopped:
                os._exit(0)
            yield
        finally:
            self._exits = False

    @contextmanager
    def raise_stopped(self) -> Iterator[None]:
        """Let the first signal raise `Stopped` within a block."""
        signal.signal(signal.SIGALRM, self._handle)
        sys.unraisablehook = self._raise_again
        self._raises = True
        try:
            if self._stopped:
                raise Stopped
            yield
        finally:
            self._raises = False
            sys.unraisablehook = sys.__unraisablehook__

    def _raise_again(self, unraisable: sys.UnraisableHookArgs) -> None:
        """Raise `Stopped` a little later: callbacks from C, as numba has them, swallow it."""
        if not isinstance(unraisable.exc_value, Stopped):
            sys.__unraisablehook__(unraisable)
            return
        self._raises = True
        signal.setitimer(signal.ITIMER_REAL, RETRY_DELAY)

    @staticmethod
    def ignore() -> None:
        """Ignore further signals, while the interpreter ends."""
        for number in (*STOP_SIGNALS, signal.SIGALRM):
            signal.signal(number, signal.SIG_IGN)
