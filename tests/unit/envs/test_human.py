# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`render_mode="human"`: the viewer follows the steps and closes with the environment."""

from __future__ import annotations

import socket
import time
import urllib.request
from typing import Any

import gymnasium
import numpy as np
import pytest

import mvsim_core.envs
from mvsim_core import BuildError, MvsimError

pytest.importorskip("viser", reason="viser is not installed")


@pytest.fixture
def env() -> Any:
    made = gymnasium.make("mvsim/Navigation-v0", render_mode="human", rays=0, browser=False)
    yield made
    made.close()


def test_the_viewer_shows_the_world_of_each_step(env: Any) -> None:
    env.reset(seed=3)
    core, viewer = env.unwrapped.core, env.unwrapped._view.viewer
    for _ in range(3):
        env.step(np.array([1.0, 0.5], np.float32))
        shown, real = viewer.world.vehicles["robot"], core.agents.batch[0].vehicles["robot"]
        assert shown.pose == real.pose
        assert viewer.world.time == pytest.approx(core.agents.batch[0].time)
    (mark,) = env.unwrapped._view._marks
    assert mark.position[:2] == pytest.approx(core.task.goal[0])
    assert env.render() is None
    env.reset()  # the next episode has another goal
    assert mark.position[:2] == pytest.approx(core.task.goal[0])
    with urllib.request.urlopen(env.unwrapped.url) as page:
        assert page.status == 200


def test_steps_last_as_long_as_they_do_in_reality(env: Any) -> None:
    env.reset(seed=3)
    env.step(np.zeros(2, np.float32))
    start = time.monotonic()
    for _ in range(4):
        env.step(np.zeros(2, np.float32))
    assert time.monotonic() - start > 0.35  # 0.4 s of simulated time


def test_the_port_is_free_after_close() -> None:
    env = gymnasium.make("mvsim/Navigation-v0", render_mode="human", rays=0, browser=False)
    port = env.unwrapped._view.viewer.port
    env.close()
    end = time.monotonic() + 10.0
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.05)
    pytest.fail(f"port {port} is still open")


def test_browsers_cannot_change_an_episode(env: Any) -> None:
    view = env.unwrapped._view.viewer
    with pytest.raises(MvsimError, match="resets itself"):
        view.controls.reset(view)
    with pytest.raises(MvsimError, match="vehicles of its task"):
        view.controls.remove(view, "robot")
    with pytest.raises(MvsimError, match="vehicles of its task"):
        view.controls.add_vehicle(view, "<vehicle/>", None, (0.0, 0.0, 0.0))


def test_many_robots_are_shown_too() -> None:
    crowd = mvsim_core.envs.parallel_env(
        robots=2, rays=0, obstacles=0, render_mode="human", browser=False
    )
    crowd.reset(seed=1)
    crowd.step({name: np.ones(2, np.float32) for name in crowd.agents})
    world = crowd._view.viewer.world
    for name in crowd.possible_agents:
        assert world.vehicles[name].pose == crowd.core.agents.batch[0].vehicles[name].pose
    assert len(crowd._view._marks) == 2
    crowd.close()


def test_a_vector_environment_has_pictures_only() -> None:
    with pytest.raises(BuildError, match="render_mode: expected one of"):
        gymnasium.make_vec("mvsim/Navigation-v0", num_envs=2, render_mode="human", rays=0)
