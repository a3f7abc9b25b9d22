# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lenses that distort: the models plumb_bob and equidistant of sensor_msgs/CameraInfo and OpenCV.

A picture through a lens is made from one of a pinhole that sees more, by looking up for each of
its pixels where its ray meets that picture. The pinhole ends at `WIDEST` from the axis; beyond it
the picture is black.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.errors import BuildError
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.state.arrays import FloatArray

#: Largest angle between the axis and a ray of the pinhole [rad], and its most pixels along a side.
WIDEST, MOST_PIXELS = math.radians(75.0), 8192
#: Steps of Newton's method, and the largest error that may be left [pixel].
STEPS, LEFT_OVER = 30, 1e-6


class Lens(NamedTuple):
    """A lens in front of a camera.

    Args:
        model: "plumb_bob" or "equidistant".
        coefficients: k1, k2, p1, p2, k3, or k1 to k4.
    """

    model: str
    coefficients: tuple[float, ...]

    def distorted(self, ways: FloatArray) -> FloatArray:
        """Return where rays (..., 3) meet the plane at z = 1 behind the lens, (..., 2)."""
        x, y, z = np.moveaxis(np.asarray(ways, dtype=np.float64), -1, 0)
        if self.model == "equidistant":
            across = np.hypot(x, y)
            bent = _bent(np.arctan2(across, z), self.coefficients)
            scale = np.where(across > 0.0, bent / np.maximum(across, 1e-300), 1.0 / z)
            return np.stack((x * scale, y * scale), axis=-1)
        return _plumb_bob(np.stack((x / z, y / z), axis=-1), self.coefficients)

    def directions(self, camera: Pinhole) -> FloatArray:
        """Return unit vectors (height, width, 3) of the rays that make the pixels.

        Raises:
            BuildError: Some pixel has no ray: the distortion cannot be inverted there.
        """
        seen = camera.directions()[..., :2]
        with np.errstate(all="ignore"):  # what diverges is found below
            ways = self._fisheye(seen) if self.model == "equidistant" else self._bowed(seen)
            error = np.abs(self.distorted(ways) - seen).max(axis=-1) * max(camera.fx, camera.fy)
        bad = ~(error < LEFT_OVER)
        if bad.any():
            row, column = np.argwhere(bad)[0].tolist()
            numbers = " ".join(f"{k:g}" for k in self.coefficients)
            raise BuildError(
                f"the distortion {numbers} cannot be inverted at pixel ({column}, {row}): the lens"
                " folds the picture there"
            )
        return ways

    def _fisheye(self, seen: FloatArray) -> FloatArray:
        radius = np.hypot(seen[..., 0], seen[..., 1])
        angle = np.minimum(radius, math.pi)
        for _ in range(STEPS):
            step = 1e-6
            slope = (
                _bent(angle + step, self.coefficients) - _bent(angle, self.coefficients)
            ) / step
            angle = np.clip(angle - (_bent(angle, self.coefficients) - radius) / slope, 0, math.pi)
        scale = np.where(radius > 0.0, np.sin(angle) / np.maximum(radius, 1e-300), 1.0)
        return np.dstack((seen[..., 0] * scale, seen[..., 1] * scale, np.cos(angle)))

    def _bowed(self, seen: FloatArray) -> FloatArray:
        point, step = seen.copy(), 1e-6
        for _ in range(STEPS):
            value = _plumb_bob(point, self.coefficients)
            dx, dy = (
                (_plumb_bob(point + np.array(way) * step, self.coefficients) - value) / step
                for way in ((1.0, 0.0), (0.0, 1.0))
            )
            rest = value - seen
            det = dx[..., 0] * dy[..., 1] - dx[..., 1] * dy[..., 0]
            point[..., 0] -= (rest[..., 0] * dy[..., 1] - rest[..., 1] * dy[..., 0]) / det
            point[..., 1] -= (rest[..., 1] * dx[..., 0] - rest[..., 0] * dx[..., 1]) / det
        ways = np.dstack((point, np.ones(point.shape[:2])))
        return np.asarray(ways / np.linalg.norm(ways, axis=2, keepdims=True))


class LensPictures:
    """Makes the pictures of a camera with a lens from those of a pinhole.

    Attributes:
        directions: (height, width, 3) unit vectors of the rays.
        source: The pinhole whose pictures are taken.
    """

    def __init__(self, camera: Pinhole, lens: Lens) -> None:
        """Find where each pixel looks.

        Raises:
            BuildError: The distortion cannot be inverted.
        """
        self.directions = lens.directions(camera)
        x, y, z = np.moveaxis(self.directions, -1, 0)
        ahead = z > math.cos(WIDEST)
        u, v = (np.where(ahead, w / np.where(ahead, z, 1.0), np.nan) for w in (x, y))
        if not ahead.any():
            raise BuildError("no pixel of the camera looks ahead")
        sides = []
        for values, focal in ((u, camera.fx), (v, camera.fy)):
            low, high = float(np.nanmin(values)), float(np.nanmax(values))
            count = min(math.ceil(focal * (high - low)) + 3, MOST_PIXELS)
            used = (count - 3) / (high - low) if high > low else focal
            sides.append((count, used, 1.0 - used * low))
        (width, fx, cx), (height, fy, cy) = sides
        self.source = Pinhole(width, height, fx, fy, cx, cy)
        self._places = np.stack((fx * u + cx, fy * v + cy), axis=-1)

    def picture(
        self, source: npt.NDArray[np.uint8], rows: slice = slice(None)
    ) -> npt.NDArray[np.uint8]:
        """Return rows of the picture through the lens, interpolated from that of the pinhole."""
        places = self._places[rows]
        out = np.zeros((*places.shape[:2], 3), np.uint8)
        _look_up_kernel(source, places, out)
        return out


def _bent(angle: FloatArray, k: tuple[float, ...]) -> FloatArray:
    q = angle * angle
    bent: FloatArray = angle * (1.0 + q * (k[0] + q * (k[1] + q * (k[2] + q * k[3]))))
    return bent


def _plumb_bob(point: FloatArray, k: tuple[float, ...]) -> FloatArray:
    x, y = point[..., 0], point[..., 1]
    k1, k2, p1, p2, k3 = k
    q = x * x + y * y
    radial = 1.0 + q * (k1 + q * (k2 + q * k3))
    return np.stack(
        (
            x * radial + 2.0 * p1 * x * y + p2 * (q + 2.0 * x * x),
            y * radial + p1 * (q + 2.0 * y * y) + 2.0 * p2 * x * y,
        ),
        axis=-1,
    )


@njit(cache=True, nogil=True)
def _look_up_kernel(source, places, out):  # type: ignore[no-untyped-def]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            u, v = places[i, j, 0], places[i, j, 1]
            if not (0.0 <= u <= source.shape[1] - 1 and 0.0 <= v <= source.shape[0] - 1):
                continue
            a, b = min(int(u), source.shape[1] - 2), min(int(v), source.shape[0] - 2)
            s, t = u - a, v - b
            for c in range(3):
                upper = (1.0 - s) * source[b, a, c] + s * source[b, a + 1, c]
                lower = (1.0 - s) * source[b + 1, a, c] + s * source[b + 1, a + 1, c]
                out[i, j, c] = np.uint8((1.0 - t) * upper + t * lower + 0.5)
