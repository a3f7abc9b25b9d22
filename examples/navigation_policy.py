# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A policy for navigation: a small network in plain numpy, shared by training and the ROS node."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
HIDDEN = 64


class Scales(NamedTuple):
    """What observations and actions are divided by; see docs/learning.md."""

    rays: int
    lidar_range: float  # m
    diagonal: float  # m, of the arena
    max_speed: float  # m/s
    max_turn: float  # rad/s


class Network:
    """Two hidden layers of tanh, with gradients.

    Attributes:
        weights: Matrices and biases, in the order of the layers.
    """

    def __init__(self, weights: list[Floats]) -> None:
        """Use weights."""
        self.weights = weights

    @classmethod
    def new(cls, sizes: tuple[int, ...], last: float, rng: np.random.Generator) -> Network:
        """Return a network with orthogonal weights; those of the last layer are scaled."""
        weights: list[Floats] = []
        for k, (inputs, outputs) in enumerate(pairwise(sizes)):
            square = rng.normal(size=(max(inputs, outputs), min(inputs, outputs)))
            q, _ = np.linalg.qr(square)
            gain = last if k == len(sizes) - 2 else np.sqrt(2.0)
            weights.append((gain * (q if inputs >= outputs else q.T)).astype(np.float32))
            weights.append(np.zeros(outputs, np.float32))
        return cls(weights)

    def forward(self, x: Floats) -> list[Floats]:
        """Return the activations of all layers, the input first."""
        layers = [x]
        last = len(self.weights) // 2 - 1
        for k in range(last + 1):
            x = x @ self.weights[2 * k] + self.weights[2 * k + 1]
            x = x if k == last else np.tanh(x)
            layers.append(x)
        return layers

    def __call__(self, x: Floats) -> Floats:
        """Return the output."""
        return self.forward(x)[-1]

    def backward(self, layers: list[Floats], gradient: Floats) -> list[Floats]:
        """Return the gradients of the weights for one of the output."""
        gradients: list[Floats] = []
        for k in reversed(range(len(self.weights) // 2)):
            gradients += [gradient.sum(axis=0), layers[k].T @ gradient]
            if k:
                gradient = (gradient @ self.weights[2 * k].T) * (1.0 - layers[k] ** 2)
        return gradients[::-1]


class Policy:
    """The mean of a Gaussian policy, and what its inputs mean."""

    def __init__(self, network: Network, scales: Scales) -> None:
        """Keep both."""
        self.network, self.scales = network, scales

    def act(self, observations: Floats) -> Floats:
        """Return actions (n, 2) within -1 … 1."""
        return np.clip(self.network(observations), -1.0, 1.0)

    def save(self, path: Path) -> None:
        """Write an npz file."""
        arrays = {f"w{k}": w for k, w in enumerate(self.network.weights)}
        np.savez(path, **arrays, scales=np.array(self.scales, dtype=np.float64))

    @classmethod
    def load(cls, path: Path) -> Policy:
        """Read an npz file."""
        with np.load(path) as file:
            count = sum(name.startswith("w") for name in file.files)
            weights = [file[f"w{k}"] for k in range(count)]
            rays, *rest = file["scales"].tolist()
        return cls(Network(weights), Scales(int(rays), *rest))


def observation(
    scales: Scales, goal: tuple[float, float], twist: tuple[float, float], ranges: Any
) -> Floats:
    """Return the observation of `mvsim/Navigation-v0`.

    Args:
        scales: Of the policy.
        goal: x, y in the robot's frame [m].
        twist: Speed and turn rate from the odometry [m/s, rad/s].
        ranges: (n,) m, rays all round from -π on; inf: nothing seen.
    """
    distance = float(np.hypot(*goal))
    ranges = np.asarray(ranges, dtype=np.float64)
    # each ray of the policy takes the nearest of those around it that a finer lidar has
    parts = np.array_split(np.roll(ranges, len(ranges) // (2 * scales.rays)), scales.rays)
    nearest = np.array([part.min() for part in parts])
    seen = np.clip(nearest / scales.lidar_range, 0.0, 1.0)
    per_metre = 1.0 / max(distance, 1e-9)
    rest = [
        min(distance / scales.diagonal, 1.0),
        goal[0] * per_metre,
        goal[1] * per_metre,
        np.clip(twist[0] / (2.0 * scales.max_speed), -1.0, 1.0),
        np.clip(twist[1] / (2.0 * scales.max_turn), -1.0, 1.0),
    ]
    return np.concatenate((rest, seen)).astype(np.float32)
