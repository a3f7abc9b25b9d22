# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Train navigation with stable-baselines3 on the native vector environment.

    pip install 'mvsim_core[envs]' stable-baselines3
    python examples/train_sb3.py [--steps 300000] [--envs 64] [--video navigation.mp4]

`SB3VecEnv` is the interface of stable-baselines3 over an environment of `gymnasium.make_vec`: all
copies are stepped at once, where `DummyVecEnv` would loop over single environments.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from navigation_video import write_video
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecEnv

import mvsim_core.envs  # noqa: F401 (registers)

OPTIONS: dict[str, Any] = {"rays": 24, "obstacles": 20, "dt": 0.01, "frame_skip": 10}
UNSEEN = 1_000_000  # first seed of the test


class SB3VecEnv(VecEnv):  # type: ignore[misc]
    """A vector environment of gymnasium as stable-baselines3 wants it: reset in the same step."""

    def __init__(self, name: str, num_envs: int, **options: Any) -> None:
        """Make the environment."""
        self.envs = gymnasium.make_vec(name, num_envs, autoreset_mode="SameStep", **options)
        spaces = (self.envs.single_observation_space, self.envs.single_action_space)
        super().__init__(num_envs, *spaces)
        self._actions: Any = None

    def reset(self) -> Any:
        """Begin an episode in all copies, with the seed of the last `seed`."""
        given = self._seeds[0]
        observation, self.reset_infos = self.envs.reset(seed=given)[0], [{}] * self.num_envs
        self._reset_seeds()
        return observation

    def step_async(self, actions: Any) -> None:
        """Keep the actions for `step_wait`."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Act for one step."""
        seen, reward, ended, cut, more = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(ended | cut):
            infos[k] = {
                "terminal_observation": more["final_obs"][k],
                "TimeLimit.truncated": bool(cut[k] and not ended[k]),
                "is_success": bool(more["final_info"]["success"][k]),
            }
        return seen, reward.astype(np.float32), ended | cut, infos

    def close(self) -> None:
        """Close the environment."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the whole, once for each copy."""
        value = self.envs.render_mode if attr_name == "render_mode" else None
        return [value] * len(self._get_indices(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: all copies share one object, so that one of them has no attribute of its own."""
        raise AttributeError(f"{attr_name!r} cannot be set: the copies share one environment")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        """Refuse, likewise."""
        raise AttributeError(f"{method_name!r} cannot be called: the copies share one environment")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Return that no copy is wrapped."""
        return [False] * len(self._get_indices(indices))


def success(model: PPO, seeds: int = 100) -> float:
    """Return the part of episodes with unseen seeds that end at the goal."""
    envs = gymnasium.make_vec("mvsim/Navigation-v0", num_envs=seeds, **OPTIONS)
    seen, _ = envs.reset(seed=UNSEEN)
    over, arrived = np.zeros(seeds, bool), np.zeros(seeds, bool)
    while not over.all():
        actions, _ = model.predict(seen, deterministic=True)
        seen, _, ended, cut, infos = envs.step(actions)
        arrived |= ~over & ended & infos["success"]
        over |= ended | cut
    return float(arrived.mean())


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, test, save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=float, default=3e5)
    parser.add_argument("--envs", type=int, default=64)
    parser.add_argument("--out", type=Path, default=Path("navigation_sb3.zip"))
    parser.add_argument("--video", type=Path, help="of episodes of the trained policy, .mp4")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)  # networks this small are faster so
    envs = SB3VecEnv("mvsim/Navigation-v0", given.envs, **OPTIONS)
    envs.seed(0)
    model = PPO(
        "MlpPolicy",
        envs,
        n_steps=64,
        batch_size=1024,
        n_epochs=4,
        gamma=0.98,
        ent_coef=2e-3,
        learning_rate=7e-4,
        device="cpu",
        verbose=1,
    )
    model.learn(int(given.steps), log_interval=10)
    model.save(given.out)
    print(f"100 unseen seeds: {success(model):.0%} arrive")
    if given.video is not None:

        def act(seen: Any) -> Any:
            return model.predict(seen, deterministic=True)[0]

        write_video(given.video, act, OPTIONS, seeds=range(UNSEEN, UNSEEN + 3))


if __name__ == "__main__":
    main()
