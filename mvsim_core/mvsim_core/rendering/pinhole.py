# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The camera model: an ideal pinhole. Optical frames: z forward, x right, y down (REP-103)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.state.arrays import FloatArray

#: From a frame with x forward and z up to the optical frame at the same place.
OPTICAL = Pose(roll=-0.5 * math.pi, yaw=-0.5 * math.pi)
#: And back.
FROM_OPTICAL = Pose(pitch=-0.5 * math.pi, yaw=0.5 * math.pi)


class Pinhole(NamedTuple):
    """Intrinsics [pixel]. The centre of the upper left pixel is (0, 0), as in OpenCV and ROS."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def of_size(
        cls,
        size: tuple[int, int],
        focal: tuple[float, float],
        centre: tuple[float | None, float | None],
    ) -> Pinhole:
        """Return intrinsics whose principal point, where not given, is half the size.

        Args:
            size: Width and height [pixel].
            focal: fx and fy [pixel].
            centre: cx and cy [pixel]; None: width / 2, height / 2, as the original's defaults are.
        """
        cx, cy = (0.5 * n if c is None else c for n, c in zip(size, centre, strict=True))
        return cls(*size, *focal, cx, cy)

    @property
    def matrix(self) -> FloatArray:
        """(3, 3) K: from the optical frame to pixels."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def directions(self) -> FloatArray:
        """Return (height, width, 3) through the pixels' centres; z is 1, so lengths are depths."""
        x = (np.arange(self.width) - self.cx) / self.fx
        y = (np.arange(self.height) - self.cy) / self.fy
        across, down = np.meshgrid(x, y)
        return np.stack([across, down, np.ones_like(across)], axis=2)


def compose(base: Pose, frame: Pose) -> Pose:
    """Return the pose, in the parent of `base`, of a frame that is given in `base`."""
    turn = rotation(base)
    whole = turn @ rotation(frame)
    x, y, z = turn @ np.array(frame[:3]) + np.array(base[:3])
    level = math.hypot(whole[0, 0], whole[1, 0])
    pitch = math.atan2(-whole[2, 0], level)
    if level < 1e-9:  # straight up or down: roll and yaw are one
        return Pose(
            float(x), float(y), float(z), 0.0, pitch, math.atan2(-whole[0, 1], whole[1, 1])
        )
    roll, yaw = math.atan2(whole[2, 1], whole[2, 2]), math.atan2(whole[1, 0], whole[0, 0])
    return Pose(float(x), float(y), float(z), roll, pitch, yaw)
