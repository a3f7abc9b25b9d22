# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exact balls and cylinders. Triangles around them tell where to look; here is what rays meet."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.state.arrays import Row

#: A ball or a cylinder, in the frame of its model.
ROUND = np.dtype(
    [
        ("centre", "f8", (3,)),  # m
        ("half", "f8", (3,)),  # m, from the centre to the middle of a cap; 0: it is a ball
        ("radius", "f8"),  # m
    ]
)

NOWHERE = (math.nan, 0.0)


Point = tuple[float, float, float]


@njit(cache=True, nogil=True, error_model="numpy")
def round_hit(
    item: Row, body: Row, origin: Point, direction: Point, near: float
) -> tuple[float, float]:
    """Return what `local_round_hit` does, for a ray in the frame of the scene.

    Args:
        item: Row of INSTANCE that the body belongs to.
        body: Row of ROUND.
        origin: Start of the ray [m].
        direction: Its direction; distances are measured in its length.
        near: Nothing nearer is seen [lengths of the direction].
    """
    ox, oy, oz = origin[0] - item.t[0], origin[1] - item.t[1], origin[2] - item.t[2]
    dx, dy, dz = direction
    r = item.r
    start = (
        r[0, 0] * ox + r[1, 0] * oy + r[2, 0] * oz,
        r[0, 1] * ox + r[1, 1] * oy + r[2, 1] * oz,
        r[0, 2] * ox + r[1, 2] * oy + r[2, 2] * oz,
    )
    along = (
        r[0, 0] * dx + r[1, 0] * dy + r[2, 0] * dz,
        r[0, 1] * dx + r[1, 1] * dy + r[2, 1] * dz,
        r[0, 2] * dx + r[1, 2] * dy + r[2, 2] * dz,
    )
    return local_round_hit(body, start, along, near)


@njit(cache=True, nogil=True, error_model="numpy")
def local_round_hit(
    body: Row, origin: Point, direction: Point, near: float
) -> tuple[float, float]:
    """Return where a ray enters a ball or cylinder (leaves it, from within), and the cosine there.

    Args:
        body: Row of ROUND.
        origin: Start of the ray, frame of the model [m].
        direction: Its direction, likewise.
        near: Nothing nearer is seen [lengths of the direction].

    Returns:
        Distance [lengths of the direction] and cosine; NaN and 0 where the ray passes by.
    """
    dx, dy, dz = direction
    ox, oy, oz = origin[0] - body.centre[0], origin[1] - body.centre[1], origin[2] - body.centre[2]
    length = math.sqrt(dx * dx + dy * dy + dz * dz)
    hx, hy, hz = body.half[0], body.half[1], body.half[2]
    half = math.sqrt(hx * hx + hy * hy + hz * hz)
    if half == 0.0:
        enters, leaves = _between(ox, oy, oz, dx, dy, dz, body.radius)
        t = enters if enters >= near else leaves
        if not (enters <= leaves and t >= near):
            return NOWHERE
        across = (ox + t * dx) * dx + (oy + t * dy) * dy + (oz + t * dz) * dz
        return t, abs(across) / (body.radius * length)
    hx, hy, hz = hx / half, hy / half, hz / half
    up, along = ox * hx + oy * hy + oz * hz, dx * hx + dy * hy + dz * hz
    ox, oy, oz = ox - up * hx, oy - up * hy, oz - up * hz
    rx, ry, rz = dx - along * hx, dy - along * hy, dz - along * hz
    enters, leaves = _between(ox, oy, oz, rx, ry, rz, body.radius)
    low, high = _within(up, along, half)
    t = max(enters, low)
    capped = low >= enters
    if not t >= near:
        t = min(leaves, high)
        capped = high <= leaves
    if not (max(enters, low) <= min(leaves, high) and t >= near):
        return NOWHERE
    if capped:
        return t, abs(along) / length
    across = (ox + t * rx) * rx + (oy + t * ry) * ry + (oz + t * rz) * rz
    return t, abs(across) / (body.radius * length)


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _between(  # type: ignore[no-untyped-def]  # noqa: PLR0913 (two vectors)
    ox, oy, oz, dx, dy, dz, radius
) -> tuple[float, float]:
    """Return where a line enters and leaves what is `radius` around the origin; inf, -inf: not."""
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    if a == 0.0:  # along the axis of a cylinder
        inside = ox * ox + oy * oy + oz * oz <= radius * radius
        return (-math.inf, math.inf) if inside else (math.inf, -math.inf)
    middle = -b / a
    px, py, pz = ox + middle * dx, oy + middle * dy, oz + middle * dz  # where it is nearest
    rest = radius * radius - (px * px + py * py + pz * pz)
    if rest < 0.0:
        return math.inf, -math.inf
    reach = math.sqrt(rest / a)
    return middle - reach, middle + reach


@njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _within(up: float, along: float, half: float) -> tuple[float, float]:
    """Return where a line is between two caps; low > high: nowhere."""
    if along == 0.0:
        return (-math.inf, math.inf) if abs(up) <= half else (math.inf, -math.inf)
    one, other = (-half - up) / along, (half - up) / along
    return min(one, other), max(one, other)
