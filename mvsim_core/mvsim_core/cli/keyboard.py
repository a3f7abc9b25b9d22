# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Driving by the keyboard of the terminal: W, A, S, D and the arrows.

A terminal reports that a key is pressed, not that it is released, so each press changes the
command by a step. The terminal is in cbreak mode meanwhile: keys come one by one and are not
echoed, Ctrl-C still interrupts. Its settings are put back on every way out: at the end of the
block, after an exception, at SIGTERM and SIGHUP, and while the process is stopped by Ctrl-Z.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from types import FrameType
from typing import TYPE_CHECKING, Any

from mvsim_core.cli.command import wrong

if TYPE_CHECKING:
    from mvsim_core.world.vehicle import Vehicle
    from mvsim_core.world.world import World

#: Change of the command by one press: speed [m/s] and turn rate [rad/s], or steering [rad].
SPEED_STEP, TURN_STEP, STEER_STEP = 0.1, 0.2, 0.05
_KEYS = {
    b"w": (1, 0), b"s": (-1, 0), b"a": (0, 1), b"d": (0, -1),
    b"\x1b[A": (1, 0), b"\x1b[B": (-1, 0), b"\x1b[D": (0, 1), b"\x1b[C": (0, -1),
    b"\x1bOA": (1, 0), b"\x1bOB": (-1, 0), b"\x1bOD": (0, 1), b"\x1bOC": (0, -1),
}  # fmt: skip
_ENDS = (signal.SIGTERM, signal.SIGHUP)


class Keyboard:
    """Drives one vehicle of a world at a time; a context manager around the run.

    Attributes:
        quit: Whether Q, or Ctrl-D, was pressed.
    """

    def __init__(self, running: World) -> None:
        """Drive the first vehicle that follows a velocity.

        Raises:
            typer.BadParameter: There is none, or the input is no terminal.
        """
        if not sys.stdin.isatty():
            raise wrong("--keyboard", "expected a terminal as input, to read keys from")
        self.quit = False
        self._running = running
        self._input = sys.stdin.fileno()
        self._begun = b""  # the first bytes of a key that sends several
        self._commands: dict[str, tuple[int, int]] = {}  # in steps
        self._name = ""
        self._before: Any = None
        self._handlers: dict[int, Any] = {}
        if not self._next():
            raise wrong("--keyboard", "no vehicle of this world takes a twist")

    def __enter__(self) -> Keyboard:
        """Read keys one by one from now on."""
        self._before = termios.tcgetattr(self._input)
        for number in _ENDS:
            self._handlers[number] = signal.signal(number, _end)
        self._handlers[signal.SIGTSTP] = signal.signal(signal.SIGTSTP, self._stop)
        tty.setcbreak(self._input, termios.TCSANOW)
        return self

    def __exit__(self, *error: object) -> None:
        """Put the terminal back into its mode."""
        termios.tcsetattr(self._input, termios.TCSANOW, self._before)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Stop, as Ctrl-Z asks for, with the terminal in its own mode."""
        termios.tcsetattr(self._input, termios.TCSANOW, self._before)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)  # goes on here after SIGCONT
        signal.signal(signal.SIGTSTP, self._stop)
        tty.setcbreak(self._input, termios.TCSANOW)

    def follow(self) -> None:
        """Carry out the keys that were pressed since the last call."""
        while select.select([self._input], [], [], 0.0)[0]:
            data = os.read(self._input, 64)
            if not data:
                self.quit = True  # the terminal is gone
                return
            for key in self._split(data):
                self._press(key)

    def status(self) -> str:
        """Return which vehicle is driven, and its command."""
        speed, turn = self._commands[self._name]
        vehicle = self._vehicle
        if vehicle is not None and self._steers(vehicle):
            return (
                f"{self._name}: {speed * SPEED_STEP:.1f} m/s, steering {turn * STEER_STEP:.2f} rad"
            )
        return f"{self._name}: {speed * SPEED_STEP:.1f} m/s, {turn * TURN_STEP:.1f} rad/s"

    def _split(self, data: bytes) -> list[bytes]:
        """Return the keys; arrows come as several bytes, perhaps not all at once."""
        keys = []
        data, self._begun = self._begun + data, b""
        while data:
            length = 3 if data[:1] == b"\x1b" and data[1:2] in (b"", b"[", b"O") else 1
            if len(data) < length:
                self._begun = data
                break
            keys.append(data[:length])
            data = data[length:]
        return keys

    def _press(self, key: bytes) -> None:
        key = key.lower() if len(key) == 1 else key
        if key in (b"q", b"\x04"):
            self.quit = True
        elif key == b"\t":
            self._next()
        elif key == b" ":
            self._change(None)
        elif key in _KEYS:
            self._change(_KEYS[key])

    @property
    def _vehicle(self) -> Vehicle | None:
        """The vehicle that is driven, None if it was removed."""
        return self._running.vehicles.get(self._name)

    def _next(self) -> bool:
        """Drive the next vehicle that follows a velocity; the present one keeps its command."""
        names = [
            name
            for name, one in self._running.vehicles.items()
            if {"twist", "ackermann"} & one.accepts
        ]
        if not names:
            return False
        at = names.index(self._name) + 1 if self._name in names else 0
        self._name = names[at % len(names)]
        self._commands.setdefault(self._name, (0, 0))
        return True

    def _steers(self, vehicle: Vehicle) -> bool:
        return vehicle.steerable and "ackermann" in vehicle.accepts

    def _change(self, change: tuple[int, int] | None) -> None:
        """Add steps to the command; None: stop."""
        vehicle = self._vehicle
        if vehicle is None:
            return
        speed, turn = self._commands[self._name]
        speed, turn = (0, 0) if change is None else (speed + change[0], turn + change[1])
        if self._steers(vehicle):
            most = int(vehicle.max_steering / STEER_STEP)
            turn = max(-most, min(most, turn))
            vehicle.set_ackermann(speed * SPEED_STEP, turn * STEER_STEP)
        else:
            vehicle.set_twist(speed * SPEED_STEP, 0.0, turn * TURN_STEP)
        self._commands[self._name] = speed, turn


def _end(number: int, frame: FrameType | None) -> None:
    """End the process by an exception, so that the terminal is put back."""
    sys.exit(128 + number)
