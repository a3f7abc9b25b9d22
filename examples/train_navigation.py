# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Train a robot to drive to a goal among boxes, by PPO in plain numpy.

    python examples/train_navigation.py [--steps 3e6] [--out navigation]

Writes navigation.npz, the policy that policy_node.py drives a robot with, and navigation.png, the
learning curve (needs matplotlib); prints the rate of success on 100 seeds that were not trained
on. PPO is after Schulman et al. 2017, with the usual details: advantages by GAE, normalised;
clipped ratios; Adam.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from navigation_policy import HIDDEN, Floats, Network, Policy, Scales

import mvsim_core.envs  # noqa: F401 (registers)

ENVS, HORIZON, EPOCHS, PARTS = 128, 64, 4, 8
GAMMA, LAMBDA, CLIP, ENTROPY = 0.98, 0.95, 0.2, 2e-3
RATE = 7e-4  # of learning, falls to a tenth
REWARD_SCALE = 0.1
RAYS, BOXES = 24, 20
OPTIONS: dict[str, Any] = {"rays": RAYS, "obstacles": BOXES, "dt": 0.01, "frame_skip": 10}
UNSEEN = 1_000_000  # first seed of the final test


class Adam:
    """Adam, with the norm of the gradient limited to 0.5."""

    def __init__(self, arrays: list[Floats]) -> None:
        """Start for arrays, which are changed in place."""
        self.arrays = arrays
        self.first = [np.zeros_like(a) for a in arrays]
        self.second = [np.zeros_like(a) for a in arrays]
        self.count = 0

    def step(self, gradients: list[Floats], rate: float) -> None:
        """Move against gradients."""
        self.count += 1
        norm = float(np.sqrt(sum(float((g * g).sum()) for g in gradients)))
        limit = min(1.0, 0.5 / (norm + 1e-8))
        rate *= np.sqrt(1.0 - 0.999**self.count) / (1.0 - 0.9**self.count)
        for a, g, m, v in zip(self.arrays, gradients, self.first, self.second, strict=True):
            g = g * limit
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            a -= (rate * m / (np.sqrt(v) + 1e-8)).astype(np.float32)


class Ppo:
    """Actor, critic, and the vector environment that they learn on."""

    def __init__(self, seed: int) -> None:
        """Make all."""
        self.rng = np.random.default_rng(seed)
        self.envs = gymnasium.make_vec(
            "mvsim/Navigation-v0", num_envs=ENVS, autoreset_mode="SameStep", **OPTIONS
        )
        width = self.envs.single_observation_space.shape[0]
        self.actor = Network.new((width, HIDDEN, HIDDEN, 2), 0.01, self.rng)
        self.critic = Network.new((width, HIDDEN, HIDDEN, 1), 1.0, self.rng)
        self.log_std: Floats = np.full(2, -0.5, np.float32)
        self.optimiser = Adam([*self.actor.weights, *self.critic.weights, self.log_std])
        self.seen, _ = self.envs.reset(seed=seed)

    def collect(self) -> tuple[dict[str, Any], list[bool]]:
        """Drive for a horizon; return what was seen, and whether ended episodes succeeded."""
        kept: dict[str, list[Any]] = {k: [] for k in ("x", "a", "logp", "r", "v", "over")}
        outcomes: list[bool] = []
        for _ in range(HORIZON):
            mean, value = self.actor(self.seen), self.critic(self.seen)[:, 0]
            noise = self.rng.standard_normal(mean.shape).astype(np.float32)
            action = mean + np.exp(self.log_std) * noise
            following, reward, ended, cut, infos = self.envs.step(np.clip(action, -1.0, 1.0))
            reward, over = REWARD_SCALE * reward, ended | cut
            if over.any():
                final = infos["final_info"]
                outcomes += final["success"][over].tolist()
                lost = np.flatnonzero(cut & ~ended)
                if len(lost):  # time was up: what would have followed counts
                    last = np.stack(list(infos["final_obs"][lost]))
                    reward[lost] += GAMMA * self.critic(last)[:, 0]
            logp = -0.5 * (noise**2).sum(axis=1) - self.log_std.sum()
            for key, item in zip(
                kept, (self.seen, action, logp, reward, value, over), strict=True
            ):
                kept[key].append(item)
            self.seen = following
        batch: dict[str, Any] = {k: np.stack(v) for k, v in kept.items()}
        batch["adv"] = self._advantages(batch)
        batch["ret"] = batch["adv"] + batch["v"]
        flat = {k: v.reshape(-1, *v.shape[2:]).astype(np.float32) for k, v in batch.items()}
        return flat, outcomes

    def _advantages(self, batch: dict[str, Any]) -> npt.NDArray[Any]:
        value, total = self.critic(self.seen)[:, 0], np.zeros(ENVS)
        advantages = np.zeros((HORIZON, ENVS))
        for t in reversed(range(HORIZON)):
            goes_on = 1.0 - batch["over"][t]
            delta = batch["r"][t] + GAMMA * goes_on * value - batch["v"][t]
            total = delta + GAMMA * LAMBDA * goes_on * total
            advantages[t], value = total, batch["v"][t]
        return advantages

    def improve(self, batch: dict[str, Any], rate: float) -> None:
        """Learn from what was seen."""
        count = len(batch["x"])
        for _ in range(EPOCHS):
            for part in np.array_split(self.rng.permutation(count), PARTS):
                self._learn({k: v[part] for k, v in batch.items()}, rate)

    def _learn(self, b: dict[str, Any], rate: float) -> None:
        n = len(b["x"])
        actor, critic = self.actor.forward(b["x"]), self.critic.forward(b["x"])
        std = np.exp(self.log_std)
        z = (b["a"] - actor[-1]) / std
        ratio = np.exp(-0.5 * (z**2).sum(axis=1) - self.log_std.sum() - b["logp"])
        adv = (b["adv"] - b["adv"].mean()) / (b["adv"].std() + 1e-8)
        # gradient of min(ratio adv, clip(ratio) adv): none where the clipped one is less
        used = np.where(adv > 0.0, ratio < 1.0 + CLIP, ratio > 1.0 - CLIP)
        weight = (-(adv * ratio * used) / n)[:, None]
        to_mean = (weight * z / std).astype(np.float32)
        to_log_std = (weight * (z**2 - 1.0)).sum(axis=0) - ENTROPY
        to_value = ((critic[-1][:, 0] - b["ret"]) / n)[:, None].astype(np.float32)
        gradients = [
            *self.actor.backward(actor, to_mean),
            *self.critic.backward(critic, to_value),
            to_log_std.astype(np.float32),
        ]
        self.optimiser.step(gradients, rate)


def success(policy: Policy, seeds: int = 100) -> float:
    """Return the part of episodes with unseen seeds that end at the goal."""
    envs = gymnasium.make_vec("mvsim/Navigation-v0", num_envs=seeds, **OPTIONS)
    seen, _ = envs.reset(seed=UNSEEN)
    over, arrived = np.zeros(seeds, bool), np.zeros(seeds, bool)
    while not over.all():
        seen, _, ended, cut, infos = envs.step(policy.act(seen))
        arrived |= ~over & ended & infos["success"]
        over |= ended | cut
    return float(arrived.mean())


def draw(curve: list[tuple[float, float, float]], path: Path) -> None:
    """Draw the learning curve."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    steps, rates, _ = zip(*curve, strict=True)
    figure, axes = plt.subplots(figsize=(6.4, 3.6))
    axes.plot(np.array(steps) / 1e6, 100.0 * np.array(rates))
    axes.set(xlabel="agent steps [million]", ylabel="episodes that arrive [%]", ylim=(0, 100))
    axes.grid(alpha=0.4)
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def main() -> None:
    """Train, test, save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=float, default=3e6)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("navigation"))
    given = parser.parse_args()
    ppo, began = Ppo(given.seed), perf_counter()
    task = ppo.envs.unwrapped.core.task
    scales = Scales(RAYS, 6.0, task.diagonal, task.limits.speed, task.limits.turn)
    curve: list[tuple[float, float, float]] = []
    recent: list[bool] = []
    rounds = max(1, round(given.steps / (ENVS * HORIZON)))
    for k in range(rounds):
        batch, outcomes = ppo.collect()
        ppo.improve(batch, RATE * (1.0 - 0.9 * k / rounds))
        recent = (recent + outcomes)[-1000:]
        rate = float(np.mean(recent)) if recent else 0.0
        curve.append(((k + 1) * ENVS * HORIZON, rate, perf_counter() - began))
        if k % 10 == 9 or k == rounds - 1:
            steps, _, seconds = curve[-1]
            print(f"{steps:9,.0f} steps, {seconds:5.0f} s: {rate:.0%} arrive", flush=True)
            Policy(ppo.actor, scales).save(given.out.with_suffix(".npz"))
    policy = Policy(ppo.actor, scales)
    draw(curve, given.out.with_suffix(".png"))
    print(f"100 unseen seeds: {success(policy):.0%} arrive")


if __name__ == "__main__":
    main()
