# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A buffer of transforms with the rules of tf2: interpolation in time, and no extrapolation."""

from bisect import bisect_left, bisect_right
from typing import Any

import numpy as np

from tests.ros.node_process import nanoseconds
from tests.ros.rules import matrix_of

Placed = tuple[np.ndarray, np.ndarray]  # translation (3,) [m] and quaternion (4,) x y z w


class Transforms:
    """The transforms of /tf and /tf_static."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}
        self._fixed: dict[str, Placed] = {}
        self._moving: dict[str, dict[int, Placed]] = {}
        self._stamps: dict[str, list[int]] = {}

    def add(self, message: Any, *, static: bool) -> None:
        """Take a TFMessage; raise if a frame gets a second parent, between which it would jump."""
        for t in message.transforms:
            child, parent = t.child_frame_id, t.header.frame_id
            if self._parents.setdefault(child, parent) != parent:
                raise LookupError(f"{child} is in {self._parents[child]} and in {parent}")
            if static:
                self._fixed[child] = _placed(t.transform)
            else:
                self._moving.setdefault(child, {})[nanoseconds(t.header.stamp)] = _placed(
                    t.transform
                )
                self._stamps.pop(child, None)

    @property
    def frames(self) -> set[str]:
        """All frames that are in another one."""
        return set(self._parents)

    @property
    def last(self) -> int:
        """The time [ns] up to which all frames that move are known; 0: none of them is."""
        return min((self._times(frame)[-1] for frame in self._moving), default=0)

    def span(self, frame: str, of: str) -> tuple[int, int]:
        """Return the times [ns] between which the pose of a frame in another one is known."""
        first, last = 0, 2**63
        while frame != of:
            if frame in self._moving:
                times = self._times(frame)
                first, last = max(first, times[0]), min(last, times[-1])
            frame = self._parent(frame)
        return first, last

    def pose(self, frame: str, of: str, stamp: int | None) -> np.ndarray:
        """Return the pose (4×4) of a frame in one above it at a time [ns]; None: the newest.

        Raises:
            LookupError: They are not connected, or the time is not between two known ones.
        """
        matrix = np.eye(4)
        while frame != of:
            parent = self._parent(frame)
            matrix = matrix_of(*self._at(frame, stamp)) @ matrix
            frame = parent
        return matrix

    def _parent(self, frame: str) -> str:
        if frame not in self._parents:
            raise LookupError(f"{frame!r} is not connected")
        return self._parents[frame]

    def _times(self, child: str) -> list[int]:
        if child not in self._stamps:
            self._stamps[child] = sorted(self._moving[child])
        return self._stamps[child]

    def _at(self, child: str, stamp: int | None) -> Placed:
        if child in self._fixed:
            return self._fixed[child]
        times, known = self._times(child), self._moving[child]
        if stamp is None:
            return known[times[-1]]
        if not times[0] <= stamp <= times[-1]:
            raise LookupError(f"{child}: {stamp} is not in [{times[0]}, {times[-1]}]")
        before = times[bisect_right(times, stamp) - 1]
        after = times[bisect_left(times, stamp)]
        if before == after:
            return known[before]
        share = (stamp - before) / (after - before)
        (a, p), (b, q) = known[before], known[after]
        return a + share * (b - a), _slerp(p, q, share)


def _placed(transform: Any) -> Placed:
    t, q = transform.translation, transform.rotation
    return np.array([t.x, t.y, t.z]), np.array([q.x, q.y, q.z, q.w])


def _slerp(p: np.ndarray, q: np.ndarray, share: float) -> np.ndarray:
    cosine = float(p @ q)
    if cosine < 0:
        q, cosine = -q, -cosine
    angle = np.arccos(min(1.0, cosine))
    if angle < 1e-6:
        return p + share * (q - p)
    turned: np.ndarray = np.sin((1 - share) * angle) * p + np.sin(share * angle) * q
    return turned / np.sin(angle)
