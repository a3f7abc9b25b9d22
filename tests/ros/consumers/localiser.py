# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A localiser as AMCL is one: particles moved by odometry and weighed by the distance to walls.

The motion model has noise in turns and ways in proportion to both, the sensor model is a field of
likelihood that is made from the map; what AMCL makes of ranges and its defaults are kept.
"""

import math
from typing import Any

import numpy as np

from tests.ros.consumers.plane import between

NOISE = 0.2  # alpha1 to alpha4
SIGMA, HIT, RANDOM = 0.2, 0.5, 0.5  # sigma_hit [m], z_hit, z_rand
FARTHEST = 2.0  # laser_likelihood_max_dist [m]
BEAMS = 60


def beams(scan: Any) -> np.ndarray:
    """Return the ends (n, 2) of the rays that count, in the scan's frame.

    As in navigation2, nav2_amcl/src/amcl_node.cpp:841-872: what is too near becomes the farthest
    range, and the farthest are not weighed.
    """
    assert scan.range_max > 0
    r = np.array(scan.ranges)
    r = np.where(r <= scan.range_min, scan.range_max, r)
    angle = scan.angle_min + scan.angle_increment * np.arange(len(r))
    step = max(1, (len(r) - 1) // (BEAMS - 1))
    r, angle = r[::step], angle[::step]
    counts = r < scan.range_max  # false for NaN
    ends: np.ndarray = r[counts, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)[counts]
    return ends


class Localiser:
    """Particles (n, 3) x, y, yaw in the frame of a map, with weights (n,)."""

    def __init__(self, grid: Any, pose: np.ndarray, spread: np.ndarray, seed: int) -> None:
        self._dice = np.random.default_rng(seed)
        self.particles = pose + spread * self._dice.standard_normal((1000, 3))
        self.weights = np.full(1000, 1e-3)
        self._cell = grid.info.resolution
        self._corner = np.array([grid.info.origin.position.x, grid.info.origin.position.y])
        self._field = self._distances(np.reshape(grid.data, (grid.info.height, grid.info.width)))

    def _distances(self, cells: np.ndarray) -> np.ndarray:
        """Return how far [m] each cell is from an occupied one."""
        walls = np.argwhere(cells == 100)
        rows, columns = np.indices(cells.shape)
        distances = np.full(cells.shape, FARTHEST)
        for row, column in walls:
            np.minimum(
                distances, self._cell * np.hypot(rows - row, columns - column), out=distances
            )
        return distances

    def move(self, before: np.ndarray, after: np.ndarray) -> None:
        """Move all by a change of odometry: turn, go, turn."""
        x, y, turned = between(before, after)
        way = math.hypot(x, y)
        first = math.atan2(y, x) if way > 0.01 else 0.0
        if abs(first) > math.pi / 2:  # backwards
            first, way = math.remainder(first - math.pi, math.tau), -way
        last = math.remainder(turned - first, math.tau)
        n = len(self.particles)

        def noisy(value: float, *others: float) -> np.ndarray:
            sigma = math.sqrt(NOISE * (value**2 + sum(other**2 for other in others)))
            return value - sigma * self._dice.standard_normal(n)

        first_turn, length, last_turn = (
            noisy(first, way),
            noisy(way, first, last),
            noisy(last, way),
        )
        heading = self.particles[:, 2] + first_turn
        self.particles[:, 0] += length * np.cos(heading)
        self.particles[:, 1] += length * np.sin(heading)
        self.particles[:, 2] = heading + last_turn

    def weigh(self, ends: np.ndarray, range_max: float) -> None:
        """Weigh all by where rays end (n, 2) [m] in the robot's frame; draw new ones."""
        c, s = np.cos(self.particles[:, 2]), np.sin(self.particles[:, 2])
        turns = np.stack([np.stack([c, -s], axis=1), np.stack([s, c], axis=1)], axis=1)
        points = np.einsum("pij,bj->pbi", turns, ends) + self.particles[:, None, :2]
        cells = np.floor((points - self._corner) / self._cell).astype(int)
        rows, columns = cells[..., 1], cells[..., 0]
        inside = (rows >= 0) & (rows < self._field.shape[0])
        inside &= (columns >= 0) & (columns < self._field.shape[1])
        distance = np.where(
            inside, self._field[np.where(inside, rows, 0), np.where(inside, columns, 0)], FARTHEST
        )
        likelihood = HIT * np.exp(-0.5 * (distance / SIGMA) ** 2) + RANDOM / range_max
        self.weights *= 1.0 + (likelihood**3).sum(axis=1)
        self.weights /= self.weights.sum()
        n = len(self.weights)
        places = (self._dice.random() + np.arange(n)) / n
        chosen = np.searchsorted(np.cumsum(self.weights), places).clip(max=n - 1)
        self.particles, self.weights = self.particles[chosen], np.full(n, 1.0 / n)

    @property
    def pose(self) -> np.ndarray:
        """The mean of all."""
        x, y = self.weights @ self.particles[:, :2]
        s, c = (
            self.weights @ np.sin(self.particles[:, 2]),
            self.weights @ np.cos(self.particles[:, 2]),
        )
        return np.array([x, y, math.atan2(s, c)])

    @property
    def spread(self) -> np.ndarray:
        """Standard deviations."""
        errors = self.particles - self.pose
        errors[:, 2] = np.angle(np.exp(1j * errors[:, 2]))
        result: np.ndarray = np.sqrt(self.weights @ errors**2)
        return result
