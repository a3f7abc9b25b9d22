# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A recording in the viewer: the scene follows the time bar."""

import threading
import time
from pathlib import Path

import pytest

pytest.importorskip("viser", reason="viser is not installed")
pytest.importorskip("mcap", reason="mcap is not installed")
pytest.importorskip("rosbags", reason="rosbags is not installed")

from mvsim_core import Recording, load_world, record
from mvsim_core.viewer import TimeBar, Viewer
from tests.ros import worlds


def test_a_recording_is_played(tmp_path: Path) -> None:
    live, path = load_world(worlds.all_sensors(tmp_path)), tmp_path / "run.mcap"
    with record(live, path):
        live.vehicles["r1"].set_twist(0.6, 0.0, 0.3)
        live.run(0.5)
        live.add_vehicle('<vehicle class="courier"/>', name="late", pose=(-3.0, -2.0, 0.0))
        live.run(0.5)
    with Recording.open(path) as recording:
        world = recording.load_world()
        bar = TimeBar(recording.duration, lambda at: recording.seek(world, at), speed=2.0)
        with Viewer(world, controls=bar, port=0) as viewer:
            thread = threading.Thread(target=viewer.run)
            thread.start()
            deadline = time.monotonic() + 20.0
            while bar.time < bar.duration and time.monotonic() < deadline:
                time.sleep(0.05)
            assert world.vehicles["r1"].pose == live.vehicles["r1"].pose
            assert world.vehicles["late"].pose == live.vehicles["late"].pose
            assert world.vehicles["r1"].sensors["scanner"].last is not None
            viewer.submit(lambda: bar.seek(0.3))
            deadline = time.monotonic() + 5.0
            while "late" in world.data.entities and time.monotonic() < deadline:
                time.sleep(0.05)
            assert set(world.vehicles) == {"r1", "car"}
            viewer.close()
            thread.join(10.0)
            assert not thread.is_alive()
