# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Heights of the ground at a place, for putting things on it."""

from __future__ import annotations

from collections.abc import Sequence

from mvsim_core.specs.element import HorizontalPlaneSpec


class Ground:
    """The horizontal planes of a world; where there is none, the ground is at height 0.

    Args:
        planes: The planes, whose rectangles lie in the frame of their own pose.
    """

    def __init__(self, planes: Sequence[HorizontalPlaneSpec]) -> None:
        """Keep the planes."""
        self._planes = planes

    def height(self, x: float, y: float, below: float) -> float:
        """Return the highest ground at (x, y) that is not above `below` [m]."""
        found = [
            plane.init_pose.z + plane.z
            for plane in self._planes
            if plane.x_min <= x - plane.init_pose.x <= plane.x_max
            and plane.y_min <= y - plane.init_pose.y <= plane.y_max
        ]
        return max((z for z in found if z <= below), default=0.0)
