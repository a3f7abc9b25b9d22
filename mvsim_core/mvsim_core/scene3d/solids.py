# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Triangles of simple solids, planes, height fields and the walls of occupancy grids [m]."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.geometry.polygons import convex_parts, outline_of
from mvsim_core.scene3d.model import GREY, Material, Model, join
from mvsim_core.scene3d.rounds import ROUND
from mvsim_core.state.arrays import FloatArray, IntArray

#: Sides of what is round and says nothing else.
SIDES = 24
#: How far the flat faces of a ball may be from its corners' sphere [m].
FINE = 1e-3
#: A wall up to so thick [m] has no rim where one looks through it.
THIN = 0.05

Point = tuple[float, float, float]


def prism(points: npt.ArrayLike, low: float, high: float, material: Material = GREY) -> Model:
    """Return an upright prism over a simple polygon (n, 2) from `low` to `high`."""
    outline = np.asarray(points, dtype=np.float64)
    n = len(outline)
    if n > 3 and not _convex(outline):
        return join([prism(p, low, high, material) for p in convex_parts(outline_of(outline))])
    rim = np.arange(n)
    after = (rim + 1) % n
    vertices = np.vstack(
        [np.column_stack((outline, np.full(n, z))) for z in (low, high)],
    )
    fan = np.column_stack((np.zeros(n - 2, np.int64), rim[1:-1], rim[2:]))
    sides = np.vstack(
        [np.column_stack((rim, after, after + n)), np.column_stack((rim, after + n, rim + n))]
    )
    return Model(vertices, np.vstack([fan[:, ::-1], fan + n, sides]), (material,))


def slab(
    corners: FloatArray,
    z_range: tuple[float, float],
    ends: FloatArray,
    z: float,
    tile: tuple[float, float] = (1.0, 1.0),
    material: Material = GREY,
) -> Model:
    """Return a piece of an upright wall.

    Its texture begins at the lower left corner of the whole wall, seen from either side, and is
    not mirrored on either. A wall whose right side is culled ("FRONT") is seen from its left, and
    through it from the right; "BACK" is the reverse.

    Args:
        corners: (4, 2) counter-clockwise [m]: along the right side of the wall, back on the left.
        z_range: Lower and upper end [m].
        ends: (2, 2) from where to where the whole wall runs [m].
        z: Lower end of the whole wall [m].
        tile: Width and height that its texture covers [m].
        material: Its look.
    """
    length = float(np.linalg.norm(ends[1] - ends[0]))
    along = (ends[1] - ends[0]) / length
    s = (corners - ends[0]) @ along
    t = (corners - ends[0]) @ (-along[1], along[0])
    (low, high), (a, b, c, d) = z_range, range(4)
    hidden = material._replace(cull_face="BOTH")
    shown = material._replace(cull_face="BACK")
    sides = {"FRONT": (hidden, shown), "BACK": (shown, hidden)}
    plain = material._replace(cull_face="NONE")
    right, left = sides.get(material.cull_face, (plain, plain))
    thickness = float(t.max() - t.min())
    if material.cull_face != "NONE" and thickness <= THIN:
        plain = hidden  # else its rim flickers where its sides are not seen
    upright = (  # lower left, lower right corner as seen from outside; where the texture begins
        (a, b, s, right),
        (c, d, length - s, left),
        (d, a, -t, plain),
        (b, c, t, plain),
    )
    faces = []
    for first, second, across, look in upright:
        ring = [(first, low), (second, low), (second, high), (first, high)]
        vertices = np.array([(*corners[k], h) for k, h in ring])
        uv = np.array([(across[k] / tile[0], (h - z) / tile[1]) for k, h in ring])
        faces.append(Model(vertices, _QUAD, (look,), texcoords=uv))
    flat = np.column_stack((s, t)) / tile
    for height, order in ((high, [a, b, c, d]), (low, [d, c, b, a])):
        vertices = np.column_stack((corners, np.full(4, height)))[order]
        faces.append(Model(vertices, _QUAD, (plain,), texcoords=flat[order]))
    return join(faces)


_QUAD = np.array([(0, 1, 2), (0, 2, 3)])


def _convex(outline: FloatArray) -> bool:
    edge = np.roll(outline, -1, axis=0) - outline
    after = np.roll(edge, -1, axis=0)
    turn = edge[:, 0] * after[:, 1] - edge[:, 1] * after[:, 0]
    return bool((turn >= 0.0).all() or (turn <= 0.0).all())


def box(low: npt.ArrayLike, high: npt.ArrayLike, material: Material = GREY) -> Model:
    """Return a box between two corners (x, y, z)."""
    (x0, y0, z0), (x1, y1, z1) = np.asarray(low, float), np.asarray(high, float)
    return prism([(x0, y0), (x1, y0), (x1, y1), (x0, y1)], z0, z1, material)


def cylinder(
    radius: float, length: float, *, sides: int = SIDES, material: Material = GREY
) -> Model:
    """Return an upright cylinder on z = 0, exact for rays; its flat sides touch the true ones."""
    angle = 2.0 * math.pi * np.arange(sides) / sides
    around = radius / math.cos(math.pi / sides)
    circle = around * np.column_stack((np.cos(angle), np.sin(angle)))
    half = (0.0, 0.0, 0.5 * length)
    return _around(prism(circle, 0.0, length, material), half, half, radius)


def _around(hull: Model, centre: Point, half: Point, radius: float) -> Model:
    """Return triangles around a ball or cylinder, with what they are around."""
    body = np.array([(centre, half, radius)], ROUND)
    return replace(hull, rounds=body, round_of=np.zeros(len(hull.triangles), np.int64))


def wheel(radius: float, width: float, material: Material = GREY) -> Model:
    """Return a cylinder about the y axis, centred at the origin."""
    upright = cylinder(radius, width, material=material)
    lying = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)])
    return upright.moved(lying, (0.0, 0.5 * width, 0.0))


def sphere(radius: float, *, sides: int = 0, material: Material = GREY) -> Model:
    """Return a ball about the origin, exact for rays; `sides` is the number of its meridians.

    Its triangles touch the true one, and are nowhere farther than some millimetres from it.
    """
    if sides == 0:
        sides = min(max(SIDES, math.ceil(math.pi / math.sqrt(2.0 * FINE / radius))), 512)
    rings = max(2, sides // 2)
    polar = math.pi * np.arange(rings + 1) / rings
    azimuth = 2.0 * math.pi * np.arange(sides) / sides
    p, a = np.meshgrid(polar, azimuth, indexing="ij")
    vertices = radius * np.stack([np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)], axis=2)
    vertices[[0, -1], :, :2] = 0.0
    row, column = np.meshgrid(np.arange(rings), np.arange(sides), indexing="ij")
    at = (row * sides + column).ravel()
    right = (row * sides + (column + 1) % sides).ravel()
    triangles = np.vstack(
        [
            np.column_stack((at, at + sides, right + sides)),
            np.column_stack((at, right + sides, right)),
        ]
    )
    inside = Model(vertices.reshape(-1, 3), triangles, (material,))
    hull = inside.moved(np.eye(3) * radius / np.abs(inside.planes[:, 3]).min(), np.zeros(3))
    return _around(hull, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), radius)


def ramp(size: tuple[float, float, float], material: Material = GREY) -> Model:
    """Return a wedge (lx, ly, lz) that rises along x from 0, centred in y."""
    lx, ly, lz = size
    profile = np.array([(0.0, 0.0), (lx, 0.0), (lx, lz)])
    return _extruded(profile, (-0.5 * ly, 0.5 * ly), material)


def bump(size: tuple[float, float, float], sides: int = SIDES, material: Material = GREY) -> Model:
    """Return half an elliptic cylinder (lx, ly, lz), centred, its crest along x."""
    lx, ly, lz = size
    angle = math.pi * np.arange(sides + 1) / sides
    profile = np.column_stack((0.5 * ly * np.cos(angle), lz * np.sin(angle)))
    lying = _extruded(profile, (-0.5 * lx, 0.5 * lx), material)
    return Model(lying.vertices[:, [1, 0, 2]], lying.triangles[:, ::-1], (material,))


def _extruded(profile: FloatArray, ends: tuple[float, float], material: Material) -> Model:
    """Return a prism whose convex profile (n, 2) lies in x-z and whose ends are at two y."""
    upright = prism(profile, *ends, material)
    return Model(upright.vertices[:, [0, 2, 1]], upright.triangles[:, ::-1], (material,))


def points(places: FloatArray, size: float, material: Material = GREY) -> Model:
    """Return a small octahedron at each of (n, 3) places."""
    corners = 0.5 * size * np.vstack([np.eye(3), -np.eye(3)])
    faces = [(i, j, k) for i in (0, 3) for j in (1, 4) for k in (2, 5)]
    vertices = (places[:, None, :] + corners).reshape(-1, 3)
    first = 6 * np.arange(len(places))[:, None, None]
    return Model(vertices, (first + np.array(faces)).reshape(-1, 3), (material,))


def rectangle(
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    z: float,
    tile: tuple[float, float] = (1.0, 1.0),
    material: Material = GREY,
) -> Model:
    """Return a level rectangle; a texture covers `tile` (x, y) [m] of it and is repeated.

    The first row of the picture lies at the least y, as in the original.
    """
    (x0, x1), (y0, y1) = x_range, y_range
    vertices = np.array([(x0, y0, z), (x1, y0, z), (x1, y1, z), (x0, y1, z)])
    texcoords = (vertices[:, :2] - vertices[0, :2]) / tile * (1.0, -1.0)
    return Model(vertices, np.array([(0, 1, 2), (0, 2, 3)]), (material,), texcoords=texcoords)


def height_field(
    heights: FloatArray,
    step: float,
    corner: tuple[float, float],
    extent: tuple[float, float] = (0.0, 0.0),
    material: Material = GREY,
    turn: int = 0,
) -> Model:
    """Return the surface of a grid of heights: rows along x, columns along y.

    Each cell is cut from its lowest to its highest indices, as the ground of vehicles is. The
    rows of its texture lie as those of the grid do: the first at the least x.

    Args:
        heights: (rows, columns) m.
        step: Distance of the samples [m].
        corner: x, y of the first sample [m].
        extent: What a texture covers [m]; 0: the whole.
        material: Its look.
        turn: Angle of its texture, seen from above [deg, counter-clockwise, quarters only].
    """
    rows, columns = heights.shape
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    local = np.column_stack((i.ravel() * step, j.ravel() * step))
    vertices = np.column_stack((local + corner, heights.ravel()))
    at = (i[:-1, :-1] * columns + j[:-1, :-1]).ravel()
    low = np.column_stack((at, at + columns, at + columns + 1))
    high = np.column_stack((at, at + columns + 1, at + 1))
    size = [e or (n - 1) * step for e, n in zip(extent, heights.shape, strict=True)]
    x, y = (local / size).T
    turned = {0: (y, -x), 90: (-x, -y), 180: (-y, x), 270: (x, y)}
    texcoords = np.column_stack(turned[turn % 360])
    return Model(vertices, np.vstack([low, high]), (material,), texcoords=texcoords)


def grid_walls(grid: GridMap, low: float, high: float, material: Material = GREY) -> Model:
    """Return the walls around the occupied cells of a grid, with a top on each.

    Walls run as far as they are straight, so that they meet only where their ends do.
    """
    solid = np.pad(grid.occupied, 1)
    across = _runs(solid[:, 1:] != solid[:, :-1])  # between columns: walls along y
    along = _runs((solid[1:, :] != solid[:-1, :]).T)
    ends = np.vstack(
        [
            np.column_stack((across[:, 0], across[:, 1] - 1, across[:, 0], across[:, 2] - 1)),
            np.column_stack((along[:, 1] - 1, along[:, 0], along[:, 2] - 1, along[:, 0])),
        ]
    ).astype(np.float64)
    ends *= grid.resolution
    a, b = grid.to_world(ends[:, :2]), grid.to_world(ends[:, 2:])
    n = len(a)
    sides = np.vstack([_at(p, z) for p, z in ((a, low), (b, low), (b, high), (a, high))])
    row = np.arange(n)
    quads = np.column_stack((row, row + n, row + 2 * n, row + 3 * n))
    boxes = grid.rectangles()
    tops = np.vstack(
        [_at(grid.to_world(boxes[:, [x, y]]), high) for x, y in ((0, 1), (2, 1), (2, 3), (0, 3))]
    )
    row, m = np.arange(len(boxes)), len(boxes)
    caps = 4 * n + np.column_stack((row, row + m, row + 2 * m, row + 3 * m))
    quads = np.vstack([quads, caps])
    triangles = np.vstack([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return Model(np.vstack([sides, tops]), triangles, (material,))


def _at(points: FloatArray, z: float) -> FloatArray:
    return np.column_stack((points, np.full(len(points), z)))


def _runs(border: npt.NDArray[np.bool_]) -> IntArray:
    """Return (k, 3) column + 1, first row and end row of each unbroken run down a column."""
    padded = np.zeros((border.shape[0] + 2, border.shape[1]), np.int8)
    padded[1:-1] = border
    change = np.diff(padded, axis=0).T
    column, first = np.nonzero(change == 1)
    _, end = np.nonzero(change == -1)
    return np.column_stack((column, first, end)).astype(np.int64)
