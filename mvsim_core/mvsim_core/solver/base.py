# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is joined, and how surfaces behave, as the contact solver takes them."""

from __future__ import annotations

from typing import NamedTuple

from mvsim_core.state.entities import Material

__all__ = ["JointSettings", "Material"]


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
