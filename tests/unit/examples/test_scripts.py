# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The short examples run, and the environment keeps the contract of gymnasium."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import pytest

from tests.unit.examples.loading import load


@pytest.fixture(params=["with gymnasium", "with numpy only"])
def gym_env(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "with gymnasium":
        pytest.importorskip("gymnasium", reason="gymnasium is not installed")
    else:
        monkeypatch.setattr(importlib.util, "find_spec", _without_gymnasium)
    return load("gym_env")


_find_spec = importlib.util.find_spec


def _without_gymnasium(name: str, package: str | None = None) -> Any:
    return None if name == "gymnasium" else _find_spec(name, package)


def test_headless(capsys: pytest.CaptureFixture[str]) -> None:
    load("headless")
    assert capsys.readouterr().out.startswith("t = 10.0 s: Pose(")


def test_observations_and_actions_are_in_their_spaces(gym_env: Any) -> None:
    env = gym_env.NavigationEnv()
    observation, info = env.reset(seed=3)
    assert env.observation_space.contains(observation)
    assert info["distance"] > gym_env.ARRIVED
    for _ in range(20):
        action = env.action_space.sample()
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(observation)
        assert np.isfinite(reward)
        assert isinstance(terminated, bool)
        assert isinstance(truncated, bool)
    env.close()


def test_same_seed_same_episode(gym_env: Any) -> None:
    """Also in a second environment, and after other episodes."""
    env = gym_env.NavigationEnv()
    first = gym_env.episode(env, 1)
    gym_env.episode(env, 2)
    assert gym_env.episode(env, 1) == first
    assert gym_env.episode(gym_env.NavigationEnv(), 1) == first
    assert first[1]["arrived"]
    assert first[0] > 10.0


def test_collisions_and_time_end_episodes(gym_env: Any) -> None:
    env = gym_env.NavigationEnv()
    env.reset(seed=0)
    for _ in range(gym_env.MAX_STEPS):
        *_, reward, terminated, truncated, info = env.step([1.0, 0.0])
        if terminated:
            break
    assert info["collision"]
    assert reward < -9.0
    assert not truncated
    env.reset(seed=0)
    for _ in range(gym_env.MAX_STEPS):
        *_, terminated, truncated, info = env.step([0.0, 0.0])
        assert not terminated
    assert truncated


def test_gymnasium_approves() -> None:
    checker = pytest.importorskip("gymnasium.utils.env_checker", reason="no gymnasium")
    checker.check_env(load("gym_env").NavigationEnv(), skip_render_check=True)
