# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Many robots in one world, each an agent."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

from mvsim_core import BuildError
from mvsim_core.envs import parallel_env


def test_pettingzoos_own_checks() -> None:
    env = parallel_env(robots=4, rays=8, obstacles=3)
    parallel_api_test(env, num_cycles=300)
    assert list(env.reset(seed=1)[0]) == env.possible_agents  # all are back
    parallel_seed_test(lambda: parallel_env(robots=3, rays=8, obstacles=2), num_cycles=20)


def test_robots_see_and_hit_each_other() -> None:
    env = parallel_env(robots=2, rays=4, obstacles=0, scaled=False)
    env.reset(seed=1)
    copy = env.core.agents.batch[0]
    copy.vehicles["robot1"].teleport(-0.6, 0.0, 0.0)
    copy.vehicles["robot2"].teleport(0.6, 0.0, math.pi)
    env.core.task.goal[:] = [[4.0, 0.0], [-4.0, 0.0]]
    still = dict.fromkeys(env.agents, np.zeros(2, np.float32))
    observations, *_ = env.step(still)
    ranges = observations["robot1"][env.core.observations.slices["ranges"]]
    assert ranges[2] == pytest.approx(1.0, abs=0.06)  # straight ahead, to the other's front
    forward = {name: np.array([1.0, 0.0], np.float32) for name in env.agents}
    ended: dict[str, Any] = {}
    for _ in range(15):
        _, rewards, ended, _, infos = env.step(forward)
        if any(ended.values()):
            break
    assert ended == {"robot1": True, "robot2": True}
    assert all(info["collision"] for info in infos.values())
    assert max(rewards.values()) < 0.0
    assert env.agents == []


def test_a_robot_that_arrived_stays_and_the_others_go_on() -> None:
    env = parallel_env(robots=3, rays=0, obstacles=0)
    env.reset(seed=4)
    pose = env.core.agents.batch[0].vehicles["robot2"].pose
    env.core.task.goal[1] = (pose.x, pose.y)
    still = dict.fromkeys(env.agents, np.zeros(2, np.float32))
    _, _, ended, _, infos = env.step(still)
    assert ended == {"robot1": False, "robot2": True, "robot3": False}
    assert infos["robot2"]["success"]
    assert env.agents == ["robot1", "robot3"]
    observations, *_ = env.step({name: still[name] for name in env.agents})
    assert sorted(observations) == ["robot1", "robot3"]


def test_snapshots() -> None:
    env = parallel_env(robots=3, rays=6, obstacles=2)
    env.reset(seed=2)
    act = {name: np.array([0.2, 0.5], np.float32) for name in env.agents}
    env.step(act)
    kept = env.snapshot()
    want = [env.step(act)[0]["robot1"].tobytes() for _ in range(5)]
    env.restore(kept)
    assert [env.step(act)[0]["robot1"].tobytes() for _ in range(5)] == want


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(BuildError, match="robots: expected at least 2, got 1"):
        parallel_env(robots=1)


@pytest.mark.parametrize(
    ("missing", "code", "extra"),
    [
        ("gymnasium", "import mvsim_core.envs", "mvsim_core.envs needs gymnasium"),
        ("pettingzoo", "import mvsim_core.envs as e; e.parallel_env()", "needs pettingzoo"),
    ],
)
def test_one_line_says_what_is_missing(missing: str, code: str, extra: str) -> None:
    hidden = f"import sys; sys.modules[{missing!r}] = None; {code}"
    ran = subprocess.run(
        [sys.executable, "-c", hidden], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    last = ran.stderr.strip().splitlines()[-1]
    assert extra in last
    assert "pip install 'mvsim_core[envs]'" in last
