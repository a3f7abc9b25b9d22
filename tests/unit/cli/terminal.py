# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A process in a pseudo-terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time


class Terminal:
    """A process in a terminal of its own."""

    def __init__(self, *words: str) -> None:
        """Start Python with some arguments."""
        self.master, self.slave = pty.openpty()
        termios.tcsetwinsize(self.slave, (40, 160))
        self.mode = termios.tcgetattr(self.slave)
        self.shown = ""
        self.process = subprocess.Popen(
            [sys.executable, *words],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env={**os.environ, "TERM": "xterm"},
            preexec_fn=_own_terminal,
        )

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)

    def press(self, *keys: bytes) -> None:
        """Press keys."""
        for key in keys:
            os.write(self.master, key)
            time.sleep(0.02)

    def wait_for(self, pattern: str, seconds: float = 60.0) -> str:
        """Return the screen when a pattern is on it; what was shown before is forgotten."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.read()
            if re.search(pattern, self.shown):
                found, self.shown = self.shown, ""
                return found
        raise AssertionError(f"{pattern!r} is not in {self.shown[-2000:]!r}")

    def read(self) -> None:
        """Read what is there to be read."""
        if select.select([self.master], [], [], 0.1)[0]:
            self.shown += os.read(self.master, 65536).decode(errors="replace")

    def end(self) -> int:
        """Read the output to the end and return the exit code."""
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            self.read()
        return self.process.wait(1)

    @property
    def raw(self) -> bool:
        """Whether the terminal does not echo and passes on each key."""
        return not termios.tcgetattr(self.slave)[3] & (termios.ICANON | termios.ECHO)

    @property
    def restored(self) -> bool:
        """Whether the terminal is in the mode in which it was at the start."""
        return termios.tcgetattr(self.slave) == self.mode


def _own_terminal() -> None:
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
