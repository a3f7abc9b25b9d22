# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Smooths jagged edges of a finished picture: Lottes, "FXAA", NVIDIA 2009 (the console version).

Where the brightness changes between diagonal neighbours, a pixel is averaged with others along the
edge. It costs a tenth of four samples a pixel in software, and nothing that is even changes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.threads import in_parts

Picture = npt.NDArray[np.uint8]

#: Least contrast of an edge, absolute [levels of 255] and relative to the brighter side.
LEAST_CONTRAST, LEAST_SHARE = 12.0, 0.125
#: How far along an edge is looked [pixel].
SPAN = 8.0
#: Rows that are worth a thread.
ROWS = 120


def smoothed(colors: npt.NDArray[np.uint8]) -> Picture:
    """Return (height, width, 3) without jagged edges, from (height, width, 4)."""
    height, width = colors.shape[:2]
    brightness = np.empty((height, width), np.float32)
    picture: Picture = np.empty((height, width, 3), np.uint8)
    in_parts(height, ROWS, lambda a, b: _brightness_kernel(colors, brightness, picture, a, b))
    in_parts(height, ROWS, lambda a, b: _smooth_kernel(colors, brightness, picture, a, b))
    return picture


@njit(cache=True, nogil=True)
def _brightness_kernel(colors, brightness, picture, first, last):  # type: ignore[no-untyped-def]
    for i in range(first, last):
        for j in range(colors.shape[1]):
            r, g, b = colors[i, j, 0], colors[i, j, 1], colors[i, j, 2]
            brightness[i, j] = np.float32(77 * r + 150 * g + 29 * b) * np.float32(1.0 / 256.0)
            picture[i, j, 0], picture[i, j, 1], picture[i, j, 2] = r, g, b


@njit(cache=True, nogil=True)
def _smooth_kernel(colors, brightness, picture, first, last):  # type: ignore[no-untyped-def]
    height, width = brightness.shape
    inner = np.zeros(3)
    outer = np.zeros(3)
    for i in range(max(first, 1), min(last, height - 1)):
        for j in range(1, width - 1):
            m = brightness[i, j]
            nw, ne = brightness[i - 1, j - 1], brightness[i - 1, j + 1]
            sw, se = brightness[i + 1, j - 1], brightness[i + 1, j + 1]
            low = min(m, nw, ne, sw, se)
            high = max(m, nw, ne, sw, se)
            if high - low < max(LEAST_CONTRAST, LEAST_SHARE * high):
                continue
            x, y = (sw + se) - (nw + ne), (nw + sw) - (ne + se)
            least = max((nw + ne + sw + se) * 0.03125, 2.0)
            scale = 1.0 / (min(abs(x), abs(y)) + least)
            x = min(max(x * scale, -SPAN), SPAN)
            y = min(max(y * scale, -SPAN), SPAN)
            inner[:] = 0.0
            outer[:] = 0.0
            _add(colors, i - y / 6.0, j - x / 6.0, inner)
            _add(colors, i + y / 6.0, j + x / 6.0, inner)
            _add(colors, i - y / 2.0, j - x / 2.0, outer)
            _add(colors, i + y / 2.0, j + x / 2.0, outer)
            for c in range(3):
                outer[c] = 0.25 * (outer[c] + inner[c])
                inner[c] = 0.5 * inner[c]
            bright = (77.0 * outer[0] + 150.0 * outer[1] + 29.0 * outer[2]) / 256.0
            within = low <= bright <= high
            for c in range(3):
                picture[i, j, c] = np.uint8((outer[c] if within else inner[c]) + 0.5)


@njit(cache=True, nogil=True, inline="always")
def _add(colors, row, column, total):  # type: ignore[no-untyped-def]
    """Add the colour at a place between pixels."""
    row = min(max(row, 0.0), colors.shape[0] - 1.001)
    column = min(max(column, 0.0), colors.shape[1] - 1.001)
    i, j = int(row), int(column)
    s, t = row - i, column - j
    for c in range(3):
        upper = (1.0 - t) * colors[i, j, c] + t * colors[i, j + 1, c]
        lower = (1.0 - t) * colors[i + 1, j, c] + t * colors[i + 1, j + 1, c]
        total[c] += (1.0 - s) * upper + s * lower
