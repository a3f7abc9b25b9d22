# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files that a world asks for are complete when the node ends or changes to another world."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from simulation_interfaces.msg import Result

from tests.physics.worlds import cart, world
from tests.ros.node_process import NodeProcess, Observer, eventually
from tests.ros.service_client import Client

pytestmark = pytest.mark.ros


@pytest.fixture
def recording(domain: int, tmp_path: Path) -> Iterator[tuple[NodeProcess, Observer]]:
    log = "<auto_start_recording>true</auto_start_recording>"
    robot = cart().replace("</vehicle>", f"{log}<log_path>{tmp_path}/</log_path></vehicle>")
    file = tmp_path / "logged.world.xml"
    tag = "save_ground_truth_trajectory"
    file.write_text(world(f"<{tag}>{tmp_path}/run.txt</{tag}>", robot))
    process, observer = NodeProcess(domain, file), Observer(domain)
    try:
        observer.subscribe("/clock", Clock)
        eventually(
            lambda: any(m.clock.sec >= 1 for m in observer.all("/clock")), "a simulated second"
        )
        yield process, observer
    finally:
        observer.close()
        process.close()


def recorded(folder: Path) -> tuple[float, float]:
    """Return the last times in the trajectory and in the table of poses [s]."""
    trajectory = np.loadtxt(folder / "run.r1.txt")
    (table,) = folder.glob("*pose.csv")
    rows = np.genfromtxt(table, delimiter=",", skip_header=2)
    return float(trajectory[-1, 0]), float(rows[-1, 0])


def test_nothing_is_lost_when_the_node_ends(
    recording: tuple[NodeProcess, Observer], tmp_path: Path
) -> None:
    process, _ = recording
    code, _ = process.interrupt()
    assert code == 0, process.output
    saved, logged = recorded(tmp_path)
    assert logged >= 1.0
    assert logged - 0.021 < saved <= logged + 1e-9  # lines at 50 Hz


def test_nothing_is_lost_when_the_world_is_unloaded(
    recording: tuple[NodeProcess, Observer], tmp_path: Path
) -> None:
    _, observer = recording
    assert Client(observer.node).call("UnloadWorld").result.result == Result.RESULT_OK
    saved, logged = recorded(tmp_path)
    assert logged >= 1.0
    assert logged - 0.021 < saved <= logged + 1e-9
