# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`mvsim record`, `mvsim run --record` and `mvsim replay`."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("mcap")
pytest.importorskip("rosbags")

from mvsim_core.bags import Recording
from tests.ros import worlds
from tests.unit.cli.conftest import Outcome
from tests.unit.sensors3d.test_cameras import needs_gl

Mvsim = Callable[..., Outcome]


@pytest.fixture
def recorded(mvsim: Mvsim, tmp_path: Path) -> str:
    path = str(tmp_path / "run.mcap")
    world = str(worlds.one_robot(tmp_path))
    code, out, _ = mvsim("record", world, "--time", "1", "-o", path, "--twist", "r1", "0.5", "0.1")
    assert code == 0
    assert re.search(rf"recording: \d+ messages, 0\.\d MB in {path}\n", out)
    return path


def test_what_is_in_a_recording(mvsim: Mvsim, recorded: str) -> None:
    code, out, _ = mvsim("replay", "--info", recorded)
    assert code == 0
    first, second, *topics = out.splitlines()
    assert re.fullmatch(rf"{recorded}: 0\.\d MB, 1\.00 s, \d+ messages", first)
    assert second.endswith("test.world.xml, seed 0")
    found = [line.split() for line in topics]
    assert ["/odom", "nav_msgs/msg/Odometry", "51", "51.0", "Hz"] in found
    assert ["/cmd_vel", "geometry_msgs/msg/Twist", "1"] in found


def test_a_run_can_be_recorded(mvsim: Mvsim, tmp_path: Path) -> None:
    path = str(tmp_path / "run.mcap")
    world = str(worlds.one_robot(tmp_path))
    words = ("--time", "0.5", "--realtime-factor", "max", "--record", path)
    code, out, _ = mvsim("run", world, *words)
    assert code == 0
    assert f"MB in {path}" in out
    with Recording.open(path) as recording:
        assert recording.duration == pytest.approx(0.5, abs=0.01)


def test_a_full_disk_leaves_the_result(mvsim: Mvsim, tmp_path: Path) -> None:
    world = str(worlds.one_robot(tmp_path))
    words = ("--time", "0.5", "--realtime-factor", "max", "--record", "/dev/full")
    code, out, err = mvsim("run", world, *words)
    assert code == 1
    assert "simulated 0.50 s" in out
    assert err.count("No space left on device") == 1
    assert "Traceback" not in err


def test_topics_that_are_left_out(mvsim: Mvsim, tmp_path: Path) -> None:
    path = str(tmp_path / "run.mcap")
    world = str(worlds.all_sensors(tmp_path))
    words = ("--exclude", "/r1/.*", "--exclude", "/clock", "--compression", "zstd", "--derived")
    assert mvsim("record", world, "--time", "0.3", "-o", path, *words)[0] == 0
    with Recording.open(path) as recording:
        assert "/car/odom" in recording.topics
        assert not [topic for topic in recording.topics if topic.startswith(("/r1", "/clock"))]


def test_a_recording_that_was_cut_off_can_be_completed(
    mvsim: Mvsim, recorded: str, tmp_path: Path
) -> None:
    part, whole = tmp_path / "part.mcap", tmp_path / "whole.mcap"
    part.write_bytes(Path(recorded).read_bytes()[:-100])
    assert "its end is missing (--recover" in mvsim("replay", "--info", str(part))[1]
    code, out, _ = mvsim("replay", str(part), "--recover", str(whole))
    assert code == 0
    assert out.endswith(f"messages in {whole}\n")
    with Recording.open(whole) as recording:
        assert recording.complete
    code, _, err = mvsim("replay", str(part), "--recover", str(part))
    assert code == 1
    assert "name another one" in err


def test_the_viewer_shows_a_recording(
    mvsim: Mvsim, recorded: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []

    class Viewer:
        def __init__(self, world: Any, **options: Any) -> None:
            self.world, self.options = world, options

        def __enter__(self) -> "Viewer":
            return self

        def __exit__(self, *error: object) -> None:
            pass

        def run(self) -> None:
            bar = self.options["controls"]
            bar.on_seek(0.8)
            shown.append((bar, self.world.time, self.options["server"]))

    def time_bar(duration: float, on_seek: Any, **options: Any) -> Any:
        return SimpleNamespace(duration=duration, on_seek=on_seek, **options)

    pytest.importorskip("viser", reason="viser is not installed")
    import mvsim_core.viewer

    monkeypatch.setattr(mvsim_core.viewer, "Viewer", Viewer)
    monkeypatch.setattr(mvsim_core.viewer, "TimeBar", time_bar)
    code, out, _ = mvsim("replay", recorded, "--no-browser", "--port", "0", "--speed", "2")
    assert code == 0
    ((bar, seconds, server),) = shown
    assert out == f"viewer: {server.url}\n"
    assert (bar.duration, bar.speed) == (pytest.approx(1.0, abs=0.01), 2.0)
    assert seconds == pytest.approx(0.8, abs=0.02)


@needs_gl
def test_a_recording_as_pictures_and_as_a_video(
    mvsim: Mvsim, recorded: str, tmp_path: Path
) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed")
    clip, size = tmp_path / "clip.mp4", ("--size", "64x48", "--top")
    code, out, _ = mvsim("render", recorded, "--video", str(clip), "--fps", "5", *size)
    assert (code, out) == (0, f"{clip}: 5 pictures of 64 x 48, 5 a second\n")
    with av.open(str(clip)) as container:
        assert len(list(container.decode(video=0))) == 5
    pictures = []
    for time_of in ("0", "0.9"):
        shot = tmp_path / f"{time_of}.png"
        assert mvsim("render", recorded, "-o", str(shot), "--time", time_of, *size)[0] == 0
        pictures.append(np.asarray(Image.open(shot), np.int64))
    assert np.abs(pictures[1] - pictures[0]).max() > 50  # it has driven
    code, _, err = mvsim("render", recorded, "-o", str(shot), "--seed", "2")
    assert code == 2
    assert "--seed is for a world file, not for a recording" in err


def test_files_that_are_no_recordings(mvsim: Mvsim, tmp_path: Path) -> None:
    other = tmp_path / "x.mcap"
    other.write_text("no recording")
    code, _, err = mvsim("replay", "--info", str(other))
    assert (code, err) == (1, f"error: {other} is no MCAP file\n")


def test_ctrl_c_completes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.mcap"
    words = ["record", str(worlds.one_robot(tmp_path)), "-o", str(path)]
    process = subprocess.Popen([sys.executable, "-m", "mvsim_core.cli", *words])
    deadline = time.monotonic() + 300.0
    while not (path.is_file() and path.stat().st_size > 20_000) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(20.0) == 0
    with Recording.open(path) as recording:
        assert recording.complete
        assert recording.duration > 0.5
