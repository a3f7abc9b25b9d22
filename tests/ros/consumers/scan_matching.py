# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What slam_toolbox does with scans: drop those that break its rules, and match the others.

The match is correlative: of all poses around a guess, the one from which most points lie where
points of an earlier scan are, coarse first and then fine.
"""

from typing import Any

import numpy as np

from tests.ros.consumers.plane import moved
from tests.ros.rules import expected_beams

CELL, SMEAR = 0.01, 0.03  # m, of the table in which matches are looked up
EDGE = 1.0  # m, around all points of the table
#: Half widths [m], [rad] and steps of the search.
COARSE = (0.3, 0.03, 0.2, 0.02)
FINE = (0.03, 0.005, 0.02, 0.002)


def accepted(scan: Any, farthest: float) -> np.ndarray:
    """Return the points (n, 2) [m] that count, in the scan's frame; raise if it is dropped."""
    n = len(scan.ranges)
    expected = expected_beams(scan.angle_min, scan.angle_max, scan.angle_increment, n)
    if n != expected:
        raise ValueError(f"LaserRangeScan contains {n} range readings, expected {expected}")
    r = np.array(scan.ranges)
    angle = scan.angle_min + scan.angle_increment * np.arange(n)
    counts = (r > scan.range_min) & (r < min(farthest, scan.range_max))  # false for NaN
    points: np.ndarray = r[counts, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)[counts]
    return points


class Table:
    """How near to points of a scan each place is, from 0 to 1."""

    def __init__(self, points: np.ndarray) -> None:
        self._corner = points.min(axis=0) - EDGE
        shape = np.ceil((points.max(axis=0) + EDGE - self._corner) / CELL).astype(int)
        self._values = np.zeros(shape)
        reach = round(3 * SMEAR / CELL)
        kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * CELL / SMEAR) ** 2)
        stamp = kernel[:, None] * kernel
        for i, j in ((points - self._corner) / CELL).astype(int) - reach:
            part = self._values[i : i + 2 * reach + 1, j : j + 2 * reach + 1]
            np.maximum(part, stamp, out=part)

    def match(self, points: np.ndarray, guess: np.ndarray) -> np.ndarray:
        """Return the pose near a guess from which points (n, 2) fit best, in the table's frame."""
        return self._best(points, self._best(points, guess, COARSE), FINE)

    def _best(
        self, points: np.ndarray, guess: np.ndarray, search: tuple[float, float, float, float]
    ) -> np.ndarray:
        width, step, turn_width, turn_step = search
        shifts = np.arange(-width, width + step / 2, step)
        dx, dy = (grid.ravel() for grid in np.meshgrid(shifts, shifts))
        found, best = guess, -1.0
        for turn in np.arange(-turn_width, turn_width + turn_step / 2, turn_step):
            pose = guess + np.array([0.0, 0.0, turn])
            x, y = moved(pose, points).T
            scores = self._look_up(x + dx[:, None], y + dy[:, None]).mean(axis=1)
            i = int(scores.argmax())
            if scores[i] > best:
                found, best = pose + np.array([dx[i], dy[i], 0.0]), scores[i]
        return found

    def _look_up(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        rows = ((x - self._corner[0]) / CELL).astype(int).clip(0, self._values.shape[0] - 1)
        columns = ((y - self._corner[1]) / CELL).astype(int).clip(0, self._values.shape[1] - 1)
        found: np.ndarray = self._values[rows, columns]
        return found
