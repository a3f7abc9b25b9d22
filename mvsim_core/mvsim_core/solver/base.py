# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the suite needs of a planar contact solver."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mvsim_core.state.arrays import FloatArray
from mvsim_core.state.entities import Inertia, Material

__all__ = ["Inertia", "JointSettings", "Material", "Solver", "Touch"]


class JointSettings(NamedTuple):
    """A joint of two bodies, each anchor in its body's frame [m].

    Args:
        kind: "revolute", "distance", "weld" or "prismatic".
        anchor_a: On the first body.
        anchor_b: On the second body.
        axis: Direction of a prismatic joint in the first body's frame.
        angle: Yaw of the second minus that of the first at which angles are zero [rad].
        angles: Lower and upper limit of a revolute joint [rad]; None: free.
        lengths: Shortest and longest distance of a distance joint, limits of a prismatic one [m].
        limited: Whether a prismatic joint has limits.
        hertz: Frequency of the spring of a distance joint [Hz]; 0: a rope.
        damping_ratio: Of that spring [1].
    """

    kind: str
    anchor_a: tuple[float, float]
    anchor_b: tuple[float, float]
    axis: tuple[float, float]
    angle: float
    angles: tuple[float, float] | None
    lengths: tuple[float, float]
    limited: bool
    hertz: float
    damping_ratio: float


class Touch(NamedTuple):
    """A pair of bodies (by their keys) in contact.

    The point is in the world frame, where contact began; the normal points from `a` to `b`.
    """

    a: int
    b: int
    x: float
    y: float
    nx: float
    ny: float


class Solver(Protocol):
    """Bodies with shapes that collide; velocities in, velocities and poses out.

    Bodies are named by integer keys, which the solver gives out and never reuses. The order of
    `bind` is the order of the rows of the velocity and pose arrays.
    """

    linear: npt.NDArray[np.float32]
    angular: npt.NDArray[np.float32]
    linear_out: npt.NDArray[np.float32]
    angular_out: npt.NDArray[np.float32]
    poses: npt.NDArray[np.float32]
    poses_out: npt.NDArray[np.float32]

    def add_body(self, kind: int, pose: tuple[float, float, float], inertia: Inertia) -> int:
        """Add a body (kind: STATIC, DYNAMIC or KINEMATIC) at x, y, yaw and return its key."""

    def add_polygon(
        self, body: int, points: FloatArray, material: Material, z_range: tuple[float, float]
    ) -> None:
        """Add a convex polygon (n, 2) in the body frame; mass is not touched."""

    def add_joint(self, a: int, b: int, settings: JointSettings) -> None:
        """Join two bodies; it goes when one of them is removed."""

    def remove_body(self, body: int) -> None:
        """Remove a body and its shapes."""

    def bind(self, bodies: list[int]) -> None:
        """Fix which bodies the arrays stand for, row by row."""

    def place(self, body: int, x: float, y: float, yaw: float) -> None:
        """Put a body somewhere else."""

    def set_height(self, body: int, z: float) -> None:
        """Say how high the reference point of a moving body is [m]."""

    def step(self, dt: float) -> None:
        """Take the velocities in, resolve contacts over dt [s], fill the outputs."""

    def touches(self) -> list[Touch]:
        """Return all pairs in contact after the last step."""
