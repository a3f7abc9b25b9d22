# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The navigation example: its gradients, its observation over ROS, the policy that it learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import mvsim_core.envs  # noqa: F401 (registers)
from tests.unit.examples.loading import EXAMPLES, load


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return load("train_navigation")


def test_gradients_are_those_of_differences(example: Any) -> None:
    rng = np.random.default_rng(0)
    network = example.Network.new((5, 8, 8, 2), 1.0, rng)
    network.weights = [w.astype(np.float64) for w in network.weights]
    x, slope = rng.normal(size=(7, 5)), rng.normal(size=(7, 2))
    gradients = network.backward(network.forward(x), slope)
    for weights, gradient in zip(network.weights, gradients, strict=True):
        assert weights.shape == gradient.shape
        at = tuple(int(n) - 1 for n in weights.shape)
        values = []
        for change in (1e-6, -2e-6):
            weights[at] += change
            values.append(float((network(x) * slope).sum()))
        weights[at] += 1e-6
        assert gradient[at] == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-5)


def test_a_policy_is_saved_and_loaded(example: Any, tmp_path: Path) -> None:
    policy = example.Policy.load(EXAMPLES / "navigation.npz")
    policy.save(tmp_path / "copy.npz")
    other = example.Policy.load(tmp_path / "copy.npz")
    x = np.random.default_rng(1).uniform(-1, 1, (4, 5 + example.RAYS)).astype(np.float32)
    assert other.act(x).tobytes() == policy.act(x).tobytes()
    assert other.scales == policy.scales


def test_the_observation_over_ros_is_that_of_the_environment(example: Any) -> None:
    from navigation_policy import observation  # type: ignore[import-not-found]

    policy = example.Policy.load(EXAMPLES / "navigation.npz")
    env = gymnasium.make("mvsim/Navigation-v0", **example.OPTIONS).unwrapped
    env.reset(seed=5)
    for _ in range(8):
        want, *_ = env.step(np.array([0.6, 0.4], np.float32))
    distance, c, s = env.core.task.seen[0]
    robot = env.core.agents.batch[0].vehicles["robot"]
    twist = robot.odometry.twist
    goal = (distance * c, distance * s)
    ranges = env.core.agents.ranges[0]
    got = observation(policy.scales, goal, (twist.vx, twist.wz), ranges)
    assert got == pytest.approx(want, abs=1e-6)


def test_the_learned_policy_arrives_from_unseen_seeds(example: Any) -> None:
    policy = example.Policy.load(EXAMPLES / "navigation.npz")
    assert example.success(policy, 100) >= 0.85


def test_learning_begins(example: Any) -> None:
    """A few updates raise the return of the episodes, from the same seed the same way."""
    ppo = example.Ppo(seed=1)
    first, _ = ppo.collect()
    for _ in range(10):
        ppo.improve(ppo.collect()[0], example.RATE)
    last, _ = ppo.collect()
    assert last["r"].mean() > first["r"].mean() + 0.002
