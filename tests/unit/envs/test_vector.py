# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vector environments: each copy as a single environment, autoreset, final observations."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import mvsim_core.envs  # noqa: F401 (registers)
from mvsim_core.envs import Randomization
from tests.unit.envs.worlds import IDS, OPTIONS

EACH = pytest.mark.parametrize(("name", "options"), OPTIONS, ids=IDS)
VARY = Randomization(friction=(0.4, 0.9), mass=(0.8, 1.3), lidar_noise=(0.0, 0.05))
COUNT = 6


def make_vec(name: str, count: int = COUNT, **options: Any) -> Any:
    return gymnasium.make_vec(f"mvsim/{name}-v0", num_envs=count, **options)


def singles(name: str, count: int = COUNT, **options: Any) -> list[Any]:
    return [gymnasium.make(f"mvsim/{name}-v0", **options) for _ in range(count)]


@EACH
def test_copies_equal_single_environments_to_the_byte(name: str, options: dict[str, Any]) -> None:
    options = {**options, "randomization": VARY, "max_episode_steps": 7}
    envs = make_vec(name, autoreset_mode="SameStep", **options)
    alone = singles(name, **options)
    assert envs.single_observation_space == alone[0].observation_space
    assert envs.single_action_space == alone[0].action_space
    observed, _ = envs.reset(seed=20)
    for k, env in enumerate(alone):
        assert env.reset(seed=20 + k)[0].tobytes() == observed[k].tobytes()
    rng = np.random.default_rng(1)
    for _ in range(18):
        actions = rng.uniform(-0.4, 0.4, (COUNT, 2)).astype(np.float32)
        observed, rewards, terminated, truncated, infos = envs.step(actions)
        for k, env in enumerate(alone):
            want, reward, ended, cut, _ = env.step(actions[k])
            assert (reward, ended, cut) == (rewards[k], terminated[k], truncated[k])
            if ended or cut:
                assert infos["final_obs"][k].tobytes() == want.tobytes()
                want, _ = env.reset()
            assert observed[k].tobytes() == want.tobytes()


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_autoreset_as_gymnasiums_own_vector_environment(mode: AutoresetMode) -> None:
    """Rewards, ends, observations and infos are those of SyncVectorEnv over single ones."""
    options = {"rays": 6, "obstacles": 3, "max_episode_steps": 5}
    envs = make_vec("Navigation", autoreset_mode=mode, **options)
    assert envs.metadata["autoreset_mode"] == mode
    makers = [lambda: gymnasium.make("mvsim/Navigation-v0", **options) for _ in range(COUNT)]
    sync = gymnasium.vector.SyncVectorEnv(makers, autoreset_mode=mode)
    both = (envs, sync)
    first, second = (it.reset(seed=9)[0] for it in both)
    assert first.tobytes() == second.tobytes()
    rng = np.random.default_rng(2)
    resets = 0
    for step in range(19):
        actions = rng.uniform(-0.5, 0.5, (COUNT, 2)).astype(np.float32)
        got, want = (it.step(actions) for it in both)
        for one, other in zip(got[:4], want[:4], strict=True):
            assert one.dtype == other.dtype
            np.testing.assert_array_equal(one, other)
        same_infos(got[4], want[4])
        over = got[2] | got[3]
        resets += int(over.sum())
        if mode == AutoresetMode.DISABLED and over.any():
            if step % 2:
                with pytest.raises(RuntimeError, match="have ended"):
                    envs.step(actions)
            again = [it.reset(options={"reset_mask": over.copy()})[0] for it in both]
            np.testing.assert_array_equal(*again)
    assert resets >= 2 * COUNT


def same_infos(got: dict[str, Any], want: dict[str, Any]) -> None:
    assert got.keys() == want.keys() | {key for key in got if not mask_of(got, key).any()}
    for key, values in want.items():
        if isinstance(values, dict):
            same_infos(got[key], values)
            continue
        there = mask_of(want, key)
        np.testing.assert_array_equal(mask_of(got, key), there)
        for k in np.flatnonzero(there):
            np.testing.assert_array_equal(got[key][k], values[k])


def mask_of(infos: dict[str, Any], key: str) -> Any:
    return infos[key if key.startswith("_") else f"_{key}"]


def test_a_partial_reset_leaves_the_other_copies_alone() -> None:
    options = {"rays": 8, "obstacles": 4}
    one, other = (make_vec("Navigation", autoreset_mode="Disabled", **options) for _ in range(2))
    before = [it.reset(seed=3)[0] for it in (one, other)]
    act = np.full((COUNT, 2), 0.3, np.float32)
    for it in (one, other):
        before = it.step(act)[0]
    mask = np.array([False, True, False, False, True, False])
    after, _ = one.reset(options={"reset_mask": mask})
    assert after[~mask].tobytes() == before[~mask].tobytes()
    assert not (after[mask] == before[mask]).all(axis=1).any()
    for _ in range(5):
        got, want = (it.step(act)[0] for it in (one, other))
        assert got[~mask].tobytes() == want[~mask].tobytes()
    with pytest.raises(ValueError, match="reset_mask"):
        one.reset(options={"reset_mask": np.zeros(COUNT, bool)})


def test_the_number_of_copies_changes_nothing() -> None:
    def run(count: int) -> list[bytes]:
        envs = make_vec("Navigation", count, rays=16, obstacles=8, randomization=VARY)
        found = [envs.reset(seed=1)[0][:3].tobytes()]
        for k in range(6):
            act = np.full((count, 2), 0.1 * k, np.float32)
            found.append(envs.step(act)[0][:3].tobytes())
        return found

    assert run(3) == run(150)  # 150 lidars are shared out to threads


def test_snapshots_of_all_copies() -> None:
    envs = make_vec("Navigation", rays=6, max_episode_steps=4)
    envs.reset(seed=3)
    act = np.full((COUNT, 2), 0.2, np.float32)
    for _ in range(3):
        envs.step(act)
    kept = envs.state()
    want = [envs.step(act) for _ in range(6)]
    envs.restore(kept)
    for step in want:
        for one, other in zip(envs.step(act)[:4], step[:4], strict=True):
            assert one.tobytes() == other.tobytes()


def test_seeds_of_copies() -> None:
    envs = make_vec("Navigation", rays=0)
    by_number, _ = envs.reset(seed=5)
    by_list, _ = envs.reset(seed=[5, 6, 7, 8, 9, 10])
    assert by_list.tobytes() == by_number.tobytes()
    mixed, _ = envs.reset(seed=[5, None, 7, 8, 9, 10])
    assert (mixed == by_number).all(axis=1).tolist() == [True, False, True, True, True, True]
    with pytest.raises(ValueError, match="expected 6 seeds, got 2"):
        envs.reset(seed=[1, 2])
    with pytest.raises(ValueError, match="expected actions of shape"):
        envs.step(np.zeros((2, 2), np.float32))
