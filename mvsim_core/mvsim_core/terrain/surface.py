# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The height of the ground at a place: planes, ramps, bumps, tops of blocks, elevation maps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, Row, Rows

FLAT, RAMP, BUMP = 0, 1, 2
#: Kind of a row of PIECE that is not in use.
NONE = -1
#: What is this near to the edge of a piece is on it, so that no rounding decides whether a body
#: stands on another one of its size [m].
EDGE = 1e-9

#: A piece of ground in the frame of a body (or of the world, body -1).
PIECE = np.dtype(
    [
        ("kind", "i8"),  # FLAT, RAMP (rises along x), BUMP (half an ellipse across y) or NONE
        ("body", "i8"),  # row of BODY whose frame it is in; -1: the world
        ("copy", "i8"),  # copy of the world of that body, for which alone it is ground; -1: all
        ("x0", "f8"),  # m, extent in that frame
        ("x1", "f8"),  # m
        ("y0", "f8"),  # m
        ("y1", "f8"),  # m
        ("z", "f8"),  # m, height of its lowest part above the body's reference point
        ("rise", "f8"),  # m, how much higher its highest part is
        ("first", "i8"),  # first row of the outline's corners
        ("corners", "i8"),  # number of corners; 0: the whole extent
        ("px", "f8"),  # m, where the body's frame is in the world now
        ("py", "f8"),  # m
        ("pz", "f8"),  # m
        ("c", "f8"),  # cosine and sine of its yaw
        ("s", "f8"),
        ("far", "f8"),  # m, nothing of the piece is farther from (px, py)
    ]
)

#: A grid of heights; rows of samples run along +x, columns along +y.
MAP = np.dtype(
    [
        ("x0", "f8"),  # m, world frame, of the first sample
        ("y0", "f8"),  # m
        ("step", "f8"),  # m, distance of samples
        ("rows", "i8"),
        ("columns", "i8"),
        ("first", "i8"),  # index of the first sample
    ]
)


@dataclass
class Surface:
    """All ground of a world.

    Args:
        pieces: Rows of PIECE.
        outlines: (n, 2) corners of all outlines [m].
        maps: Rows of MAP.
        samples: Heights of all maps, one after the other [m].
    """

    pieces: Rows
    outlines: FloatArray
    maps: Rows
    samples: FloatArray

    def height(self, x: float, y: float, below: float) -> float:
        """Return the highest ground at (x, y) not above `below`, else the lowest above it [m]."""
        under, over = heights_at(self.pieces, self.outlines, self.maps, self.samples, x, y, below)
        return float(over if math.isnan(under) else under)

    def place(self, bodies: Rows) -> None:
        """Move the pieces to the poses of their bodies."""
        place_kernel(self.pieces, bodies)


def empty_surface() -> Surface:
    """Return a surface without ground: height 0 everywhere."""
    return Surface(np.zeros(0, PIECE), np.zeros((0, 2)), np.zeros(0, MAP), np.zeros(0))


@njit(cache=True, nogil=True)
def map_height(m: Row, samples: FloatArray, x: float, y: float) -> float:
    """Return the height of a map [m]; beyond its border that of the border.

    Each cell is two triangles that share the diagonal from its lowest to its highest indices.
    """
    u = min(max((x - m.x0) / m.step, 0.0), m.rows - 1.0)
    v = min(max((y - m.y0) / m.step, 0.0), m.columns - 1.0)
    i = min(int(u), m.rows - 2)
    j = min(int(v), m.columns - 2)
    u -= i
    v -= j
    at = m.first + i * m.columns + j
    z00 = samples[at]
    z01 = samples[at + 1]
    z10 = samples[at + m.columns]
    z11 = samples[at + m.columns + 1]
    if u >= v:
        return float(z00 + (z10 - z00) * u + (z11 - z10) * v)
    return float(z00 + (z11 - z01) * u + (z01 - z00) * v)


@njit(cache=True, nogil=True)
def inside(outlines: FloatArray, first: int, corners: int, x: float, y: float) -> bool:
    """Return whether a point is inside an outline (ray crossing) or within EDGE of it."""
    crossed = False
    j = first + corners - 1
    for i in range(first, first + corners):
        xi, yi = outlines[i, 0], outlines[i, 1]
        xj, yj = outlines[j, 0], outlines[j, 1]
        if is_between(x, xi, xj) and is_between(y, yi, yj):
            dx, dy = xj - xi, yj - yi
            away = dx * (y - yi) - dy * (x - xi)
            if away * away <= EDGE * EDGE * (dx * dx + dy * dy):
                return True
        if (yi > y) != (yj > y) and x < (xj - xi) * (y - yi) / (yj - yi) + xi:
            crossed = not crossed
        j = i
    return crossed


@njit(cache=True, nogil=True)
def is_between(value: float, one: float, other: float) -> bool:
    """Return whether a coordinate is between two others, or within EDGE of one [m]."""
    return bool(min(one, other) - EDGE <= value <= max(one, other) + EDGE)


@njit(cache=True, nogil=True)
def place_kernel(pieces: Rows, bodies: Rows) -> None:
    """Copy the poses of the bodies, and in which copy of the world they are, to their pieces."""
    for i in range(pieces.shape[0]):
        p = pieces[i]
        if p.body >= 0:
            b = bodies[p.body]
            p.copy = b.copy
            p.px, p.py, p.pz = b.x, b.y, b.z
            p.c, p.s = math.cos(b.yaw), math.sin(b.yaw)


@njit(cache=True, nogil=True)
def piece_height(p: Row, outlines: FloatArray, x: float, y: float) -> float:
    """Return the height of a piece at a place of the world [m]; NaN beside it."""
    dx, dy = x - p.px, y - p.py
    if p.kind == NONE or abs(dx) > p.far + EDGE or abs(dy) > p.far + EDGE:
        return math.nan
    x = p.c * dx + p.s * dy
    y = -p.s * dx + p.c * dy
    base = p.pz + p.z
    if not (is_between(x, p.x0, p.x1) and is_between(y, p.y0, p.y1)):
        return math.nan
    if p.corners > 0 and not inside(outlines, p.first, p.corners, x, y):
        return math.nan
    if p.kind == RAMP:
        return float(base + p.rise * (x - p.x0) / (p.x1 - p.x0))
    if p.kind == BUMP:
        across = (2.0 * y - p.y0 - p.y1) / (p.y1 - p.y0)
        return float(base + p.rise * math.sqrt(max(0.0, 1.0 - across * across)))
    return float(base + p.rise)


@njit(cache=True, nogil=True)
def heights_at(  # noqa: PLR0913 (arrays of a kernel)
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
    x: float,
    y: float,
    below: float,
) -> tuple[float, float]:
    """Return the highest ground at (x, y) not above `below`, and the lowest above it [m].

    Each is NaN if there is none. Where there is no ground at all, the nearest elevation map is
    extended from its border; without maps the ground is at height 0.
    """
    under = math.nan
    over = math.nan
    for i in range(pieces.shape[0]):
        z = piece_height(pieces[i], outlines, x, y)
        if z <= below and not z <= under:
            under = z
        if z > below and not z >= over:
            over = z
    nearest = math.inf
    border = 0.0
    for i in range(maps.shape[0]):
        m = maps[i]
        dx = max(m.x0 - x, 0.0, x - m.x0 - m.step * (m.rows - 1))
        dy = max(m.y0 - y, 0.0, y - m.y0 - m.step * (m.columns - 1))
        away = dx * dx + dy * dy
        if away > 0.0:
            if away < nearest:
                nearest = away
                border = map_height(m, samples, x, y)
            continue
        z = map_height(m, samples, x, y)
        if z <= below and not z <= under:
            under = z
        if z > below and not z >= over:
            over = z
    if math.isnan(under) and math.isnan(over):
        return border, math.nan
    return under, over


@njit(cache=True, nogil=True)
def choose_pieces(pieces: Rows, chosen: Rows, copy: int, x: float, y: float, reach: float) -> Rows:
    """Return the pieces that places within `reach` of (x, y) [m] may be on, in their order.

    Args:
        pieces: Rows of PIECE.
        chosen: Room for as many rows.
        copy: Copy of the world in which the places are.
        x: Place in the world [m].
        y: Its other coordinate [m].
        reach: Largest distance from there [m].
    """
    count = 0
    for i in range(pieces.shape[0]):
        p = pieces[i]
        if p.copy >= 0 and p.copy != copy:
            continue
        if abs(x - p.px) <= p.far + EDGE + reach and abs(y - p.py) <= p.far + EDGE + reach:
            chosen[count] = p
            count += 1
    return chosen[:count]


def map_of(
    heights: FloatArray, step: float, corner: tuple[float, float]
) -> tuple[Rows, FloatArray]:
    """Return one row of MAP and its samples for heights (rows along x, columns along y) [m]."""
    row = np.zeros(1, MAP)
    row["x0"], row["y0"], row["step"] = corner[0], corner[1], step
    row["rows"], row["columns"] = heights.shape
    return row, np.ascontiguousarray(heights, dtype=float).ravel()


def join_maps(maps: list[tuple[Rows, FloatArray]]) -> tuple[Rows, FloatArray]:
    """Return the rows and samples of several maps as one."""
    if not maps:
        return np.zeros(0, MAP), np.zeros(0)
    rows = np.concatenate([row for row, _ in maps])
    sizes = [len(samples) for _, samples in maps]
    rows["first"] = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return rows, np.concatenate([samples for _, samples in maps])
