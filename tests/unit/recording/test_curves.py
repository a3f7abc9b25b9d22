# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of logs."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import load_world
from mvsim_core.errors import LogError
from mvsim_core.recording.curves import draw_logs
from tests.physics.worlds import cart, twist_pid, world


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the logs of two robots."""
    folder = tmp_path_factory.mktemp("logs")
    pid = twist_pid()
    w = load_world(text=world(cart("r1", controller=pid), cart("r2", "0 4 0", controller=pid)))
    for robot in w.vehicles.values():
        robot.set_twist(0.5, 0.0, 0.3)
    w.start_logging(folder)
    w.run(1.0)
    w.stop_logging()
    return folder


def test_one_picture_a_vehicle(logs: Path, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pictures = draw_logs([logs], tmp_path / "new")
    assert [path.name.split("mvsim_")[1] for path in pictures] == ["r1.png", "r2.png"]
    for path in pictures:
        with Image.open(path) as image:
            colours = np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0)
            assert min(image.size) > 1000
        assert len(colours) > 100


def test_single_files_are_drawn_beside_themselves(logs: Path) -> None:
    pytest.importorskip("matplotlib")
    (pose,) = logs.glob("*r1_pose.csv")
    (picture,) = draw_logs([pose])
    assert picture.parent == logs
    picture.unlink()


def test_a_log_without_rows_can_be_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    w = load_world(text=world(cart()))
    w.start_logging(tmp_path)
    w.stop_logging()
    assert len(draw_logs([tmp_path])) == 1


def test_nothing_to_draw(tmp_path: Path) -> None:
    with pytest.raises(LogError, match="no logs in this folder"):
        draw_logs([tmp_path])
    with pytest.raises(LogError, match="no such log file"):
        draw_logs([tmp_path / "none.csv"])


def test_without_matplotlib(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(LogError, match="plots need matplotlib: pip install matplotlib"):
        draw_logs([logs], tmp_path)
