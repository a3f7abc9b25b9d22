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

#: Least contrast of an edge [levels of 255]; relative to the brighter side it is an eighth.
LEAST_CONTRAST = 12
#: How far along an edge is looked [pixel]: farther, corners are rounded, which locate markers.
SPAN = 4.0
#: Rows that are worth a thread.
ROWS = 120


def smoothed(colors: npt.NDArray[np.uint8]) -> Picture:
    """Return (height, width, 3) without jagged edges, from (height, width, 4)."""
    height, width = colors.shape[:2]
    brightness = np.empty((height, width), np.uint16)
    picture: Picture = np.empty((height, width, 3), np.uint8)
    in_parts(height, ROWS, lambda a, b: _brightness_kernel(colors, brightness, picture, a, b))
    in_parts(height, ROWS, lambda a, b: _smooth_kernel(colors, brightness, picture, a, b))
    return picture


@njit(cache=True, nogil=True)
def _brightness_kernel(colors, brightness, picture, first, last):  # type: ignore[no-untyped-def]
    """Write the brightness [levels of 255 * 256] and copy the colours."""
    for i in range(first, last):
        row, bright, out = colors[i].reshape(-1), brightness[i], picture[i].reshape(-1)
        for j in range(bright.size):
            bright[j] = 77 * row[4 * j] + 150 * row[4 * j + 1] + 29 * row[4 * j + 2]
        for j in range(bright.size):
            out[3 * j], out[3 * j + 1] = row[4 * j], row[4 * j + 1]
            out[3 * j + 2] = row[4 * j + 2]


@njit(cache=True, nogil=True)
def _edge_kernel(above, here, below, edges):  # type: ignore[no-untyped-def]
    """Mark, in whole numbers that the processor handles many at a time, where edges are."""
    least = np.uint16(LEAST_CONTRAST * 256)
    for j in range(1, here.size - 1):
        low = min(min(above[j - 1], above[j + 1]), min(below[j - 1], below[j + 1]))
        high = max(max(above[j - 1], above[j + 1]), max(below[j - 1], below[j + 1]))
        low, high = min(low, here[j]), max(high, here[j])
        span = np.uint16(high - low)
        # An eighth, rounded up.
        enough = np.uint16((high >> 3) + ((high & 7) > 0))
        edges[j] = (span >= least) & (span >= enough)


@njit(cache=True, nogil=True)
def _smooth_kernel(colors, brightness, picture, first, last):  # type: ignore[no-untyped-def]
    height, width = brightness.shape
    inner = np.zeros(3)
    outer = np.zeros(3)
    edges = np.zeros(8 * (width // 8 + 1), np.uint8)
    eights = edges.view(np.uint64)
    for i in range(max(first, 1), min(last, height - 1)):
        _edge_kernel(brightness[i - 1], brightness[i], brightness[i + 1], edges)
        for group in range(eights.size):
            if eights[group] == 0:
                continue
            for j in range(8 * group, 8 * group + 8):
                if edges[j]:
                    _smooth_pixel(colors, brightness, (i, j), (inner, outer), picture)


@njit(cache=True, nogil=True, inline="always")
def _smooth_pixel(colors, brightness, at, sums, picture):  # type: ignore[no-untyped-def]
    i, j = at
    inner, outer = sums
    scale = np.float32(1.0 / 256.0)
    m = scale * brightness[i, j]
    nw, ne = scale * brightness[i - 1, j - 1], scale * brightness[i - 1, j + 1]
    sw, se = scale * brightness[i + 1, j - 1], scale * brightness[i + 1, j + 1]
    low = min(m, nw, ne, sw, se)
    high = max(m, nw, ne, sw, se)
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
