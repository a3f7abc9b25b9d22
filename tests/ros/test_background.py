# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Worlds are read in a thread of their own, with pictures, reports and errors."""

from pathlib import Path
from threading import get_ident

import numpy as np
import pytest

from mvsim_core import World, load_world, progress
from mvsim_ros2.runtime.background import in_background
from tests.ros.worlds import all_sensors


def test_opengl_goes_to_the_thread_and_comes_back(tmp_path: Path) -> None:
    """A picture is taken in each load; those of the worlds before go on between the loads."""
    path = all_sensors(tmp_path)
    worlds: list[World] = []
    for _ in range(3):
        worlds.append(in_background(lambda: load_world(path), print).result())
        for world in worlds:
            world.run(0.2)
    if worlds[0].vehicles["r1"].sensors["eye"].last is None:
        pytest.skip("OpenGL is not available")
    pictures = []
    for world in worlds:
        world.reset()
        world.run(0.2)
        pictures.append(world.vehicles["r1"].sensors["eye"].last.rgb)
    assert pictures[0].std() > 1.0
    assert all(np.array_equal(picture, pictures[0]) for picture in pictures)


def test_reports_and_errors_come_out() -> None:
    lines: list[str] = []

    def work() -> int:
        progress.announce("working")
        return get_ident()

    assert in_background(work, lines.append).result() != get_ident()
    assert lines == ["working"]
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0, print).result()
