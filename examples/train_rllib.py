# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Train navigation with RLlib: PPO on the native vector environment.

    pip install 'mvsim_core[envs]' 'ray[rllib]' torch
    python examples/train_rllib.py [--iterations 10] [--envs 64]

RLlib calls `gymnasium.make_vec`, and with `vector_entry_point` that is MVSim's own vector
environment: all copies of a runner are stepped at once.
"""

from __future__ import annotations

import argparse
from typing import Any

from gymnasium import VectorizeMode
from ray.rllib.algorithms.ppo import PPOConfig

OPTIONS: dict[str, Any] = {"rays": 24, "obstacles": 20, "dt": 0.01, "frame_skip": 10}
#: The part before the colon is imported by the runners, which registers the names.
NAME = "mvsim_core.envs:mvsim/Navigation-v0"


def config(envs: int) -> PPOConfig:
    """Return the settings of a training in this process."""
    return (
        PPOConfig()
        .environment(NAME, env_config=OPTIONS)
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=envs,
            gym_env_vectorize_mode=VectorizeMode.VECTOR_ENTRY_POINT,
            rollout_fragment_length=64,
        )
        .training(
            train_batch_size=64 * envs, minibatch_size=1024, num_epochs=4, lr=7e-4, gamma=0.98
        )
    )


def main() -> None:
    """Train and print the mean return of each iteration."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--envs", type=int, default=64)
    given = parser.parse_args()
    algorithm = config(given.envs).build_algo()
    for k in range(given.iterations):
        result = algorithm.train()
        runners = result["env_runners"]
        steps, mean = runners["num_env_steps_sampled_lifetime"], runners["episode_return_mean"]
        print(f"{k + 1:4d}: {steps:9,.0f} steps, mean return {mean:7.2f}", flush=True)
    algorithm.stop()


if __name__ == "__main__":
    main()
