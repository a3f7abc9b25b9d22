# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim run --keyboard` in a pseudo-terminal: what keys do, and its mode afterwards."""

from __future__ import annotations

import os
import pty
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import typer

from mvsim_core import load_world
from mvsim_core.cli.keyboard import Keyboard
from tests.unit.cli.terminal import Terminal

WORLD = """<mvsim_world>
  <simul_timestep>0.01</simul_timestep>
  <vehicle name="a"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="car"><init_pose>0 9 0</init_pose>
    <dynamics class="ackermann"><controller class="twist_ideal"/></dynamics></vehicle>
  <vehicle name="raw"><init_pose>0 5 0</init_pose>
    <dynamics class="differential"><controller class="raw"/></dynamics></vehicle>
</mvsim_world>"""
UP, DOWN, RIGHT, LEFT = b"\x1b[A", b"\x1b[B", b"\x1b[C", b"\x1b[D"


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Terminal]]:
    world = tmp_path / "w.world.xml"
    world.write_text(WORLD)
    made: list[Terminal] = []

    def begin(*options: str) -> Terminal:
        words = "-m", "mvsim_core.cli", "run", str(world), "--keyboard"
        made.append(Terminal(*options, *words))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def test_keys_drive_the_vehicles(start: Callable[..., Terminal]) -> None:
    terminal = start()
    terminal.wait_for(r"driving +a: 0\.0 m/s, 0\.0 rad/s")
    assert terminal.raw
    terminal.press(b"w", UP, b"\x1bOA", b"a")
    terminal.wait_for(r"a: 0\.3 m/s, 0\.2 rad/s")
    terminal.wait_for(r" 0\.300 m/s +0\.200 rad/s")
    terminal.press(b"S", DOWN, b"d", RIGHT)
    terminal.wait_for(r"a: 0\.1 m/s, -0\.2 rad/s")
    terminal.press(b"\t", b"w", LEFT)  # the other one that follows a velocity
    terminal.wait_for(r"car: 0\.1 m/s, steering 0\.05 rad")
    terminal.press(*(b"a" for _ in range(60)))  # as far as it steers
    shown = terminal.wait_for(r"car: 0\.1 m/s, steering 0\.[2-9]")
    assert "Traceback" not in shown
    terminal.press(b" ")
    terminal.wait_for(r"car: 0\.0 m/s, steering 0\.00 rad")
    terminal.press(b"\t", b"?", b"\x1b")  # other keys do nothing; half an arrow is waited for
    terminal.press(b"[A")
    terminal.wait_for(r"a: 0\.2 m/s, -0\.2 rad/s")
    terminal.press(b"q")
    assert terminal.end() == 0
    assert "simulated" in terminal.shown
    assert terminal.restored


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 0), (b"\x04", 0), (b"Q", 0)])
def test_ways_out(start: Callable[..., Terminal], key: bytes, code: int) -> None:
    terminal = start()
    terminal.wait_for("driving")
    terminal.press(key)
    assert terminal.end() == code
    assert terminal.restored


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_signals_put_the_terminal_back(start: Callable[..., Terminal], number: int) -> None:
    terminal = start()
    terminal.wait_for("driving")
    terminal.process.send_signal(number)
    assert terminal.end() == 128 + number
    assert terminal.restored


def test_an_error_puts_the_terminal_back(start: Callable[..., Terminal], tmp_path: Path) -> None:
    code = (
        "import runpy, sys, mvsim_core.world.world as m\n"
        "step = m.World.step\n"
        "def broken(self):\n"
        "    if self.ticks > 50: raise RuntimeError('broken step')\n"
        "    step(self)\n"
        "m.World.step = broken\n"
        "sys.argv = ['mvsim', *sys.argv[3:]]\n"  # without -m and the name of the module
        "runpy.run_module('mvsim_core.cli', run_name='__main__')\n"
    )
    file = tmp_path / "broken.py"
    file.write_text(code)
    terminal = start(str(file))
    assert terminal.end() == 1
    assert "RuntimeError: broken step" in terminal.shown
    assert terminal.restored


def test_stopped_and_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    """While Ctrl-Z stops the process, the shell has the terminal as it was."""
    master, slave = pty.openpty()
    with open(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        before = termios.tcgetattr(slave)
        modes = []
        monkeypatch.setattr(os, "kill", lambda *_: modes.append(termios.tcgetattr(slave)))
        with Keyboard(load_world(text=WORLD)) as keys:
            assert termios.tcgetattr(slave) != before
            signal.raise_signal(signal.SIGTSTP)
            assert modes == [before]
            assert termios.tcgetattr(slave) != before
            os.write(master, b"w")
            keys.follow()
            assert keys.status() == "a: 0.1 m/s, 0.0 rad/s"
        assert termios.tcgetattr(slave) == before
    os.close(master)


def test_a_world_without_a_vehicle_to_drive(monkeypatch: pytest.MonkeyPatch) -> None:
    master, slave = pty.openpty()
    with open(slave) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with pytest.raises(typer.BadParameter, match="no vehicle of this world takes a twist"):
            Keyboard(load_world(text="<mvsim_world/>"))
    os.close(master)
