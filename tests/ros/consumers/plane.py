# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses in the plane: arrays (3,) of x [m], y [m] and yaw [rad]."""

import math
from bisect import bisect_right

import numpy as np


def planar(matrix: np.ndarray) -> np.ndarray:
    """Return the pose in the plane of a homogeneous matrix."""
    return np.array([*matrix[:2, 3], math.atan2(matrix[1, 0], matrix[0, 0])])


def moved(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return points (n, 2) from the frame at a pose."""
    c, s = math.cos(pose[2]), math.sin(pose[2])
    result: np.ndarray = points @ np.array([[c, s], [-s, c]]) + pose[:2]
    return result


def compose(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return a pose that is known in the frame at another one."""
    return np.array([*moved(a, b[None, :2])[0], math.remainder(a[2] + b[2], math.tau)])


def inverse(a: np.ndarray) -> np.ndarray:
    """Return the pose of the outer frame in that at a pose."""
    c, s = math.cos(a[2]), math.sin(a[2])
    return np.array([-c * a[0] - s * a[1], s * a[0] - c * a[1], -a[2]])


def between(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the pose `b` in the frame at the pose `a`."""
    return compose(inverse(a), b)


class Way:
    """Poses in the plane by stamp [ns]."""

    def __init__(self, poses: dict[int, np.ndarray]) -> None:
        self.stamps = sorted(poses)
        rows = np.array([poses[stamp] for stamp in self.stamps])
        rows[:, 2] = np.unwrap(rows[:, 2])
        self._rows = rows

    def at(self, stamp: int) -> np.ndarray:
        """Return the pose at a time; raise where it would be extrapolated."""
        i = bisect_right(self.stamps, stamp)
        if i == 0 or (i == len(self.stamps) and stamp != self.stamps[-1]):
            raise LookupError(f"extrapolation at {stamp}")
        return np.array([np.interp(stamp, self.stamps, column) for column in self._rows.T])

    def knows(self, stamp: int) -> bool:
        """Whether a time is in between."""
        return self.stamps[0] <= stamp <= self.stamps[-1]

    @property
    def length(self) -> float:
        """The way travelled [m]."""
        return float(np.hypot(*np.diff(self._rows[:, :2], axis=0).T).sum())
