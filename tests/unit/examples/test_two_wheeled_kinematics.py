# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The experiment with four alternatives shows what its documentation says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.unit.examples.loading import load

example: Any = load("two_wheeled_kinematics")


@pytest.fixture(scope="module", params=["navground", "ours"])
def runs(request: pytest.FixtureRequest) -> Any:
    if request.param == "ours":
        return example.experiment(lambda: example.aim_past)
    pytest.importorskip("navground.core", reason="navground is not installed")
    return example.experiment(example.orca)


def most(values: Any) -> float:
    """Return the largest absolute value."""
    return float(np.abs(values).max())


def test_all_arrive_without_a_collision(runs: Any) -> None:
    for run in runs.values():
        assert run.arrival < 12.5
        assert not run.collided


def test_trajectories_are_similar(runs: Any) -> None:
    """Limits are wide enough: all pass the obstacle on the same side, about as closely."""
    beside = [np.interp(5.0, run.at[:, 0], run.at[:, 1]) for run in runs.values()]
    assert max(beside) - min(beside) < 0.15
    assert max(map(abs, beside)) > 1.8


def test_limits_hold_where_they_are_set(runs: Any) -> None:
    speeds, accelerations, torques, motors = runs.values()
    assert most(speeds.wheel_speeds) <= 1.0 + 1e-9
    assert most(accelerations.wheel_speeds) <= 1.0 + 1e-9
    assert most(accelerations.acceleration[:, 0]) <= 1.0 + 1e-9
    assert most(accelerations.acceleration[:, 1]) <= 4.0 + 1e-9
    assert most(torques.forces) <= 1.0 + 1e-9
    assert most(motors.forces) <= 1.0 + 1e-9


def test_forces_without_their_limit_exceed_it(runs: Any) -> None:
    """So does the documentation observe, also for limited accelerations when both add up."""
    speeds, accelerations, _, _ = runs.values()
    assert most(speeds.forces) > 5.0
    assert most(accelerations.forces) > 1.5


def test_figures_are_drawn(runs: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    files = example.draw(runs, tmp_path)
    assert len(files) == 5
    assert all(file.read_bytes().startswith(b"\x89PNG") for file in files)


def test_navground_simulates_the_same_path() -> None:
    """Its own simulator takes the robot of the first alternative along the same way.

    It moves robots by straight steps, ours move on arcs, which feeds back into the plan: they may
    be a step of 0.1 m apart.
    """
    sim = pytest.importorskip("navground.sim", reason="navground is not installed")
    experiment = sim.load_experiment(EXPERIMENT)
    experiment.run()
    theirs = next(iter(experiment.runs.values())).poses[:, 0, :2]
    (run, *_) = example.experiment(example.orca).values()
    there = int(run.arrival / example.DT)
    assert np.hypot(*(run.at[:there] - theirs[:there]).T).max() < 0.15


EXPERIMENT = """
steps: 140
time_step: 0.1
record_pose: true
terminate_when_all_idle_or_stuck: false
scenario:
  obstacles:
    - radius: 1
      position: [5, 0.1]
  groups:
    - number: 1
      radius: 1
      control_period: 0.1
      kinematics: {type: 2WDiff, wheel_axis: 1, max_speed: 1}
      behavior: {type: ORCA, safety_margin: 0.05}
      state_estimation: {type: Bounded, range: 10.0}
      task: {type: Waypoints, waypoints: [[10, 0]], loop: false, tolerance: 1}
"""
