# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Halted studies continue; other commands and changed files are refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mvsim_core.batches import BatchError, run
from tests.unit.batches.conftest import FUNCTIONS, WORLD

COUNT = 12


def settings_of(world: Path, functions: str, folder: Path) -> dict[str, Any]:
    return {
        "world": world, "seeds": range(COUNT), "time": 0.1, "setup": f"{functions}slow",
        "output": folder / "t.csv", "workers": 2,
    }  # fmt: skip


def words_of(world: Path, functions: str, folder: Path) -> list[str]:
    return [
        sys.executable, "-m", "mvsim_core.cli", "batch", str(world), "--seeds", f"0:{COUNT}",
        "--time", "0.1", "--setup", f"{functions}slow", "-o", str(folder / "t.csv"),
        "--workers", "2",
    ]  # fmt: skip


def begun(folder: Path) -> list[int]:
    path = folder / "begun"
    return [int(line) for line in path.read_text().split()] if path.exists() else []


def wait_for(condition: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def children_of(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            if int(path.read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def alive(pid: int) -> bool:
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


@pytest.mark.slow
def test_the_parent_is_killed_again_and_again(world: Path, functions: str, tmp_path: Path) -> None:
    """Nothing that was done is done again, but for what the two workers had in hand."""
    for more in (1, 4, 3):
        before = len(begun(tmp_path))
        process = subprocess.Popen(words_of(world, functions, tmp_path), stderr=subprocess.PIPE)
        wait_for(
            lambda before=before, more=more, process=process: (
                len(begun(tmp_path)) >= before + more or process.poll() is not None
            )
        )
        assert process.poll() is None
        children = children_of(process.pid)
        assert children
        process.kill()
        process.wait()
        wait_for(lambda children=children: not any(map(alive, children)), 5.0)
        assert (tmp_path / "t.csv.journal").exists()
        assert not (tmp_path / "t.csv").exists()
    done = subprocess.run(
        words_of(world, functions, tmp_path), capture_output=True, text=True, check=True
    )
    assert "runs were done before" in done.stderr
    assert len(begun(tmp_path)) <= COUNT + 3 * 2
    assert set(begun(tmp_path)) == set(range(COUNT))
    resumed = (tmp_path / "t.csv").read_bytes()
    assert not (tmp_path / "t.csv.journal").exists()
    run(**settings_of(world, functions, tmp_path))
    assert (tmp_path / "t.csv").read_bytes() == resumed


def test_ctrl_c(world: Path, functions: str, tmp_path: Path) -> None:
    """It goes to all processes of the terminal; one line, no traceback, soon."""
    process = subprocess.Popen(
        words_of(world, functions, tmp_path),
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    wait_for(lambda: len(begun(tmp_path)) >= 3 or process.poll() is not None)
    children = children_of(process.pid)
    start = time.monotonic()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert time.monotonic() - start < 2.0
    assert process.returncode == 1
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "interrupted: the same command continues"
    wait_for(lambda: not any(map(alive, children)), 2.0)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads masks in /proc")
def test_ctrl_c_reaches_no_worker(world: Path, functions: str, tmp_path: Path) -> None:
    """Not even one that still imports: the signal is blocked before the first instruction."""
    process = subprocess.Popen(words_of(world, functions, tmp_path), stderr=subprocess.PIPE)
    wait_for(lambda: begun(tmp_path) or process.poll() is not None)
    masks = []
    for pid in children_of(process.pid):
        if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes():
            status = Path(f"/proc/{pid}/status").read_text()
            masks.append(int(status.split("SigBlk:")[1].split()[0], 16))
    process.kill()
    process.communicate()
    assert len(masks) == 2
    assert all(mask >> (signal.SIGINT - 1) & 1 for mask in masks)


class HaltError(Exception):
    pass


class Halted:
    """A study that was interrupted after three runs.

    Attributes:
        folder: Where its files are.
        settings: Arguments of `run`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        world, functions = folder / "w.world.xml", folder / "mine.py"
        world.write_text(WORLD.replace("<simul", '<include file="part.xml"/><simul', 1))
        functions.write_text(FUNCTIONS)
        (folder / "part.xml").write_text("<mvsim_world></mvsim_world>")
        self.settings = settings_of(world, f"{functions}:", folder)
        halt_after_three(self.settings)
        self._files = {path: path.read_bytes() for path in folder.iterdir() if path.is_file()}

    def restore(self) -> None:
        """Bring its files back to how they were when it was interrupted."""
        for path in self.folder.iterdir():
            if path.is_file():
                path.unlink()
        for path, content in self._files.items():
            path.write_bytes(content)

    def run(self, **changed: Any) -> Any:
        """Continue it, with other arguments perhaps."""
        return run(**{**self.settings, **changed})

    def begun(self) -> list[int]:
        """Return the seeds of the runs that were begun."""
        return begun(self.folder)


def halt_after_three(settings: dict[str, Any]) -> None:
    from mvsim_core.batches.journal import Journal

    add = Journal.add

    def add_three(self: Journal, outcome: Any) -> None:
        add(self, outcome)
        if len(self.done) == 3:
            raise HaltError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Journal, "add", add_three)
        with pytest.raises(HaltError):
            run(**settings)


@pytest.fixture(scope="module")
def halted_once(tmp_path_factory: pytest.TempPathFactory) -> Halted:
    return Halted(tmp_path_factory.mktemp("halted"))


@pytest.fixture
def halted(halted_once: Halted) -> Halted:
    """The same for each test: its workers take seconds to start."""
    halted_once.restore()
    return halted_once


def test_half_a_line_at_the_end(halted: Halted) -> None:
    journal = halted.folder / "t.csv.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    kept = [json.loads(line)["run"] for line in lines if b'"run"' in line]
    journal.write_bytes(b"".join(lines) + lines[-1][:20])
    first = halted.begun()
    results = halted.run()
    again = halted.begun()[len(first) :]
    assert set(again) == set(range(COUNT)) - set(kept)
    assert results.column("seed") == list(range(COUNT))
    assert results.failures == []


def test_another_command_is_refused(halted: Halted) -> None:
    for name, value, text in (
        ("seeds", range(5), '"0:12", now "0:5"'),
        ("time", 0.2, "time was 0.1, now 0.2"),
        ("variables", {"mu": [0.3]}, "variables was"),
        ("twists", {"r1": (1, 0, 0)}, "twists was"),
        ("setup", None, "setup was"),
    ):
        with pytest.raises(BatchError, match="is of another command") as caught:
            halted.run(**{name: value})
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)
    (halted.folder / "t.csv.journal").write_text("{}\n")
    with pytest.raises(BatchError, match="not the journal of a study"):
        halted.run()


def test_workers_columns_and_limits_may_be_others(halted: Halted) -> None:
    results = halted.run(workers=1, columns=["*.x"], timeout=60.0)
    assert results.columns == ("seed", "r1.x", "error")


def test_a_pattern_without_a_column_costs_no_run(halted: Halted) -> None:
    with pytest.raises(BatchError, match=r"no column is called '\*\.u'; measured are time, r1\.x"):
        halted.run(columns=["*.u"])
    count = len(halted.begun())
    assert len(halted.run().rows) == COUNT
    assert len(halted.begun()) == count


@pytest.mark.parametrize("name", ["w.world.xml", "mine.py", "part.xml"])
def test_changed_files_are_refused(halted: Halted, name: str) -> None:
    path = halted.folder / name
    path.write_text(path.read_text() + "\n")
    with pytest.raises(BatchError, match=f"{name} has changed since") as caught:
        halted.run()
    assert "\n" not in str(caught.value)


def test_two_at_once_are_refused(halted: Halted) -> None:
    import fcntl

    with (halted.folder / "t.csv.journal").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(BatchError, match="another process is writing it"):
            halted.run()
