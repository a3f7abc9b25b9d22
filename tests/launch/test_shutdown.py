# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The end of the simulator ends launch once, whichever of them ends first."""

import sys

import pytest

pytest.importorskip("launch")
pytest.importorskip("launch_ros")
pytest.importorskip("ament_index_python")

from launch.actions import ExecuteProcess, RegisterEventHandler, Shutdown, TimerAction
from launch.event_handlers import OnShutdown

from launch import LaunchDescription, LaunchService
from mvsim_ros2.launch_helpers import shutdown_once


@pytest.mark.parametrize(
    ("seconds", "reasons"), [(0.0, ["the simulator has ended"]), (60.0, ["interrupted"])]
)
def test_one_shutdown(seconds: float, reasons: list[str]) -> None:
    """By the end of a process, or by another cause, which ends the process."""
    found: list[str] = []
    service = LaunchService(noninteractive=True)
    service.include_launch_description(
        LaunchDescription(
            [
                RegisterEventHandler(
                    OnShutdown(on_shutdown=lambda event, _: found.append(event.reason))
                ),
                ExecuteProcess(
                    cmd=[sys.executable, "-c", f"import time; time.sleep({seconds})"],
                    on_exit=shutdown_once("the simulator has ended"),
                ),
                TimerAction(period=2.0, actions=[Shutdown(reason="interrupted")]),
            ]
        )
    )
    assert service.run() == 0
    assert found == reasons
