# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Progress of long work: bars in a terminal, lines of text elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from mvsim_core import load_world, progress
from mvsim_core.cli.bars import TerminalBar
from mvsim_core.progress import reporting, tracked
from tests.unit.cli.terminal import Terminal

Outcome = tuple[int, str, str]
BLOCKS = "".join(f'<block name="b{i}"><init_pose>{i} 0 0</init_pose></block>' for i in range(200))
WORLD = """<mvsim_world> <simul_timestep>0.001</simul_timestep>
  <vehicle name="a"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics></vehicle>
</mvsim_world>"""


class Recorded:
    """A bar that only remembers."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, int, int | None]] = []
        self.ended = 0

    def show(self, work: str, done: int, total: int | None) -> None:
        self.calls.append((work, done, total))

    def end(self) -> None:
        self.ended += 1


def test_loading_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_REPORT", 0.0)
    bar, lines = Recorded(), list[str]()
    with reporting(lines.append, bar):
        load_world(text=f"<mvsim_world>{BLOCKS}</mvsim_world>")
    assert ("placing blocks", 64, 200) in bar.calls
    assert not any("placing" in line for line in lines)
    assert bar.ended >= 2


def test_quick_work_shows_no_bar() -> None:
    bar = Recorded()
    with reporting(print, bar):
        assert len(list(tracked(range(1000), "counting"))) == 1000
    assert bar.calls == []


def test_lines_can_be_shown_in_a_second_place_too() -> None:
    bar, lines, more = Recorded(), list[str](), list[str]()
    with reporting(lines.append, bar):
        progress.announce_once("known")
        with progress.reporting_too(more.append):
            for text in ("known", "new", "new"):
                progress.announce_once(text)
            for _ in range(2):
                progress.announce("at once")
            assert len(list(tracked(range(200), "counting"))) == 200
        progress.announce_once("new")
        progress.announce_once("later")
    assert lines == ["known", "new", "at once", "at once", "later"]
    assert more == ["known", "new", "at once", "at once"]
    with progress.reporting_too(more.append):
        progress.announce("alone")
    assert more[-1] == "alone"


def test_a_bar_comes_and_goes(capsys: pytest.CaptureFixture[str]) -> None:
    bar = TerminalBar()
    bar.line("before")
    bar.show("drawing", 1, 4)
    bar.line("in between")
    bar.show("compiling", 2, None)
    bar.end()
    bar.end()
    err = capsys.readouterr().err
    assert err.startswith("before\n")
    assert "in between" in err


def test_a_run_in_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(WORLD)
    words = "run", str(file), "--time", "60", "--realtime-factor", "max"
    terminal = Terminal("-m", "mvsim_core.cli", *words)
    terminal.wait_for(r"[1-9]\d?%, \d+ s left")
    assert terminal.end() == 0
    assert "simulated 60.00 s" in terminal.shown
    terminal.close()


def test_a_video_in_a_terminal_shows_how_far_it_is(tmp_path: Path) -> None:
    pytest.importorskip("av")
    file = tmp_path / "w.world.xml"
    file.write_text(WORLD)
    code = (
        "import sys; from mvsim_core import progress; progress.FIRST_REPORT = 0.0;"
        "from mvsim_core.cli import main; main()"
    )
    words = "render", str(file), "--video", str(tmp_path / "v.mp4"), "--time", "2"
    terminal = Terminal("-c", code, *words, "--size", "64x48")
    terminal.wait_for(r"writing pictures .*/50")
    assert terminal.end() == 0
    terminal.close()


def test_without_a_terminal_there_are_no_bars(
    mvsim: Callable[..., Outcome], tmp_path: Path
) -> None:
    file = tmp_path / "w.world.xml"
    file.write_text(WORLD)
    code, out, err = mvsim("run", str(file), "--time", "0.1", "--realtime-factor", "max")
    assert (code, err) == (0, "")
    assert "%" not in out
    assert "\x1b" not in out
