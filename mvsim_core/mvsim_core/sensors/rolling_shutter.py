# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rolling shutters: rows of a picture are taken one after the other while the camera moves."""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.sensors.laser3d import mounted
from mvsim_core.state.arrays import FloatArray, Rows

#: Distance at which the motion of a camera is judged [m], and most bands of a picture.
NEAR, MOST_BANDS = 2.0, 64


def row_poses(mount: Pose, body: int, bodies: Rows, times: FloatArray) -> FloatArray:
    """Return (n, 12) poses of a sensor at times before now [s, <= 0], by the twist it has now."""
    if body < 0:
        return mounted(mount, body, bodies)
    row = bodies[body]
    earlier = np.repeat(bodies[body : body + 1], len(times))
    earlier["x"] = row["x"] + row["vx"] * times
    earlier["y"] = row["y"] + row["vy"] * times
    earlier["yaw"] = row["yaw"] + row["wz"] * times
    return np.concatenate([mounted(mount, k, earlier) for k in range(len(times))])


def bands_of(camera: Pinhole, body: int, bodies: Rows, readout: float) -> list[tuple[int, int]]:
    """Return the first and last row of bands within which the picture moves by about a pixel."""
    count = 1
    if body >= 0:
        row = bodies[body]
        speed = math.hypot(row["vx"], row["vy"]) / NEAR + abs(float(row["wz"]))
        pixels = speed * readout * max(camera.fx, camera.fy)
        # A power of two, so that pictures of few sizes are rendered.
        count = 1 << max(math.ceil(math.log2(max(pixels, 1.0))), 0)
    height = -(-camera.height // min(count, MOST_BANDS, camera.height))
    return [(a, min(a + height, camera.height)) for a in range(0, camera.height, height)]


def band(camera: Pinhole, first: int, last: int) -> Pinhole:
    """Return the camera that sees some rows only."""
    return camera._replace(height=last - first, cy=camera.cy - first)
