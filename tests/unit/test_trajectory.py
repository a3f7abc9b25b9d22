# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Files that a world file asks for."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.errors import LogError
from tests.physics.worlds import cart, world

IDEAL = '<controller class="twist_ideal"/>'
SAVE = """<save_ground_truth_trajectory>{}</save_ground_truth_trajectory>
  <ground_truth_rate>20</ground_truth_rate>"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def two(path="run.gt.txt"):
    robots = cart(controller=IDEAL), cart("r2", pose="0 5 90", controller=IDEAL)
    made = load_world(text=world(SAVE.format(path), *robots))
    for robot in made.vehicles.values():
        robot.set_twist(0.5, 0.0, 0.3)
    return made


def test_each_vehicle_gets_a_file_of_its_true_poses(tmp_path):
    made = two()
    assert made.warnings == ()
    assert not list(tmp_path.iterdir())
    made.run(1.0)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.gt.r1.txt", "run.gt.r2.txt"]
    rows = np.loadtxt("run.gt.r2.txt")
    np.testing.assert_allclose(rows[:, 0], np.arange(1, 21) / 20, atol=1e-9)
    radius = 0.5 / 0.3
    angle = 0.3 * rows[:, 0]
    np.testing.assert_allclose(rows[:, 1], radius * (np.cos(angle) - 1), atol=1e-3)
    np.testing.assert_allclose(rows[:, 2], 5 + radius * np.sin(angle), atol=1e-3)
    assert (rows[:, 3] == 0.0).all()
    yaw = 2 * np.arctan2(rows[:, 6], rows[:, 7])
    np.testing.assert_allclose(yaw, math.pi / 2 + 0.3 * rows[:, 0], atol=1e-8)
    np.testing.assert_allclose((rows[:, 4:] ** 2).sum(axis=1), 1.0, atol=1e-8)


def test_a_reset_begins_anew_and_newcomers_are_written():
    made = two()
    made.run(1.0)
    made.reset()
    made.run(0.3)
    assert len(np.loadtxt("run.gt.r1.txt")) == 6
    made.add_vehicle(cart("r3", controller=IDEAL), pose=(3, 3, 0))
    made.remove("r1")
    made.run(0.3)
    assert np.loadtxt("run.gt.r3.txt")[0, 0] == pytest.approx(0.35)
    assert len(np.loadtxt("run.gt.r1.txt")) == 6


def test_lines_follow_the_tick_alone_through_close_and_restore():
    made = two()
    made.run(0.33)
    snapshot = made.state()
    made.close()
    made.run(0.12)
    made.restore(snapshot)
    made.run(0.12)
    times = np.loadtxt("run.gt.r1.txt")[:, 0]
    expected = (*np.arange(1, 10), 7, 8, 9)
    np.testing.assert_allclose(times, np.array(expected) / 20, atol=1e-9)


def test_files_that_cannot_be_written_are_named():
    """The log ends with a warning, the run goes on."""
    made = two("no/such/folder/gt.txt")
    with pytest.warns(UserWarning, match=r"r1.*no/such/folder.*this log ends at 0.05 s"):
        made.run(0.1)
    assert made.time == pytest.approx(0.1)
    assert isinstance(made.log_error, LogError)


def test_publishing_of_worlds_is_accepted():
    text = '<publish enabled="true"><publish_topic>/x</publish_topic></publish>'
    assert load_world(text=world(text)).warnings == ()
