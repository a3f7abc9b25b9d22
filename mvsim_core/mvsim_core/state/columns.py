# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Columns of numbers for learning: scaled and bounded, and places seen from bodies.

Numpy does the same, but for rows of few columns it needs several times as long as a step of the
physics.
"""

from __future__ import annotations

import math
from typing import Any

from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Rows


@njit(cache=True, nogil=True)
def bound_kernel(values: Any, factors: Any, low: Any, high: Any, out: Any) -> None:
    """Write values (n, m) times factors (m,), within low (m,) and high (m,); NaN stays."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = values[i, k] * factors[k]
            if value < low[k]:
                value = low[k]
            if value > high[k]:
                value = high[k]
            out[i, k] = value


@njit(cache=True, nogil=True)
def bearings_kernel(bodies: Rows, rows: IntArray, points: FloatArray, out: FloatArray) -> None:
    """Write where points are as seen from bodies.

    Args:
        bodies: BODY, all rows.
        rows: (n,) rows of the bodies.
        points: (n, 2) m, world frame.
        out: (n, 3) distance [m], and cosine and sine of the bearing in the body frame.
    """
    for i in range(rows.shape[0]):
        b = bodies[rows[i]]
        dx, dy = points[i, 0] - b.x, points[i, 1] - b.y
        distance = math.sqrt(dx * dx + dy * dy)
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        per_metre = 1.0 / max(distance, 1e-9)
        out[i, 0] = distance
        out[i, 1] = (c * dx + s * dy) * per_metre
        out[i, 2] = (c * dy - s * dx) * per_metre
