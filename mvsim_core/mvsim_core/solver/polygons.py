# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Contact points of two convex polygons, in double precision and near the origin.

After `b2CollidePolygons`, `b2FindMaxSeparation` and `b2ClipPolygons` of Box2D 3 (manifold.c,
E. Catto, MIT licence). Different here: polygons have any number of corners; the search of the
deepest face is linear in their number; what moves fast is swept along its way, so that it neither
passes through thin things nor stumbles over the corners of what it passes by.

A polygon is an array (4, n): x, y of the corners [m], nx, ny of the edges that start there.
"""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.solver.compiled import inner
from mvsim_core.state.arrays import FloatArray, Row, Rows

#: Overlap that counts as touching only [m]: along faces that are flush nothing is an obstacle.
SKIN = 5e-4
#: A face of the second polygon is preferred if it is better by this [m].
PREFERENCE = 1e-9
#: From this gap on [m], corners that face each other make one contact along their connection.
APART = 1e-6
#: Cosine of the angle up to which two edges count as parallel.
PARALLEL = 0.99

#: Contact points of two polygons; x, y in the frame of the query.
HIT = np.dtype(
    [
        ("count", "i8"),  # number of contact points; -1: further apart than asked for
        ("gap", "f8"),  # m, largest separation over all edge normals
        ("nx", "f8"),  # 1, normal from the first to the second polygon
        ("ny", "f8"),
        ("x0", "f8"),  # m, midway between the two surfaces
        ("y0", "f8"),
        ("s0", "f8"),  # m, separation; < 0: overlap
        ("id0", "i8"),  # features that made it
        ("x1", "f8"),
        ("y1", "f8"),
        ("s1", "f8"),
        ("id1", "i8"),
    ]
)


@inner
def place_polygon(
    vertices: Rows,
    shape: Row,
    turn: tuple[float, float],
    middle: tuple[float, float],
    out: FloatArray,
) -> None:
    """Write a shape with its axes turned by (c, s) and its middle at (x, y)."""
    c, s = turn
    x, y = middle
    for i in range(shape.count):
        v = vertices[shape.vertex + i]
        out[0, i] = x + c * v.x - s * v.y
        out[1, i] = y + s * v.x + c * v.y
        out[2, i] = c * v.nx - s * v.ny
        out[3, i] = s * v.nx + c * v.ny


@inner
def support(b: FloatArray, m: int, nx: float, ny: float, start: int) -> int:
    """Return the corner of `b` that is lowest along (nx, ny), going on from `start`."""
    j = start
    low = nx * b[0, j] + ny * b[1, j]
    for _ in range(m):
        following = j + 1 if j + 1 < m else 0
        value = nx * b[0, following] + ny * b[1, following]
        if value > low:
            break
        low = value
        j = following
    return j


@inner
def lowest(b: FloatArray, m: int, nx: float, ny: float) -> int:
    """Return the corner of `b` that is lowest along (nx, ny)."""
    best = 0
    low = nx * b[0, 0] + ny * b[1, 0]
    for j in range(1, m):
        value = nx * b[0, j] + ny * b[1, j]
        if value < low:
            low = value
            best = j
    return best


@inner
def deepest_face(a: FloatArray, n: int, b: FloatArray, m: int) -> tuple[float, int]:
    """Return the largest separation over the edge normals of `a`, and the edge.

    The support corner goes round `b` once while the normals go round `a`.
    """
    best = -np.inf
    face = 0
    j = lowest(b, m, a[2, 0], a[3, 0])
    for i in range(n):
        nx, ny = a[2, i], a[3, i]
        if i > 0:
            j = support(b, m, nx, ny, j)
        gap = nx * (b[0, j] - a[0, i]) + ny * (b[1, j] - a[1, i])
        if gap > best:
            best = gap
            face = i
    return best, face


@inner
def gentlest_face(
    a: FloatArray, n: int, b: FloatArray, m: int, dx: float, dy: float
) -> tuple[float, float, int]:
    """Return, of the edges of `a` from which `b` is at most SKIN deep, the least approached one.

    Args:
        a: The polygon whose edges are looked at.
        n: Number of its corners.
        b: The other one.
        m: Number of its corners.
        dx: Motion of `b` against `a` [m].
        dy: Its other component.

    Returns:
        Motion away from the edge [m], separation [m], edge (-1: none).
    """
    best = -np.inf
    gap = -np.inf
    face = -1
    j = lowest(b, m, a[2, 0], a[3, 0])
    for i in range(n):
        nx, ny = a[2, i], a[3, i]
        if i > 0:
            j = support(b, m, nx, ny, j)
        here = nx * (b[0, j] - a[0, i]) + ny * (b[1, j] - a[1, i])
        away = nx * dx + ny * dy
        if here >= -SKIN and away > best:
            best = away
            gap = here
            face = i
    return best, gap, face


@inner
def sweep_faces(  # noqa: PLR0913 (two polygons of a kernel)
    a: FloatArray,
    n: int,
    b: FloatArray,
    m: int,
    way: tuple[float, float],
    skin: float,
    but: tuple[float, float],
) -> tuple[float, float, int]:
    """Return between which parts of the way `way` of `b` no edge of `a` keeps them apart.

    An edge lets `b` in where it is `skin` [m] deep; edges along the normal `but` do not count.

    Returns:
        When the last edge lets `b` in, when the first one is passed [1], and the edge of entry.
    """
    enter, leave, face = -np.inf, np.inf, -1
    j = lowest(b, m, a[2, 0], a[3, 0])
    for i in range(n):
        nx, ny = a[2, i], a[3, i]
        if i > 0:
            j = support(b, m, nx, ny, j)
        if nx * but[0] + ny * but[1] > PARALLEL:
            continue
        gap = nx * (b[0, j] - a[0, i]) + ny * (b[1, j] - a[1, i]) + skin
        speed = nx * way[0] + ny * way[1]
        if speed < 0.0:
            t = gap / -speed
            if t > enter:
                enter = t
                face = i
        elif speed > 0.0:
            leave = min(leave, -gap / speed)
        elif gap > 0.0:
            leave = -np.inf
    return enter, leave, face


@inner
def sweep(
    a: FloatArray, n: int, b: FloatArray, m: int, way: tuple[float, float], slack: float
) -> tuple[float, bool, int]:
    """Return when `b` hits `a` on its way, whether an edge of `b` is hit, and the edge (-1: none).

    What passes with an overlap of less than SKIN does not hit. Time 0 says that they are so near
    that rotation alone lets them meet.
    """
    back = (-way[0], -way[1])
    in_a, _, on_a = sweep_faces(a, n, b, m, way, -slack, (0.0, 0.0))
    in_b, _, on_b = sweep_faces(b, m, a, n, back, -slack, (0.0, 0.0))
    flipped = in_b > in_a
    face = on_b if flipped else on_a
    enter = max(in_a, in_b)
    if face < 0 or enter >= 1.0:
        return 1.0, flipped, -1
    if enter <= 0.0:
        return 0.0, flipped, face
    normal = (-b[2, face], -b[3, face]) if flipped else (a[2, face], a[3, face])
    in_a, out_a, on_a = sweep_faces(a, n, b, m, way, SKIN - slack, normal)
    in_b, out_b, on_b = sweep_faces(b, m, a, n, back, SKIN - slack, (-normal[0], -normal[1]))
    leave = min(out_a, out_b)
    if max(in_a, in_b) >= min(1.0, leave) or enter >= leave:
        return 1.0, flipped, -1
    return enter, flipped, face


@inner
def clip(  # noqa: PLR0913 (arrays of a kernel)
    a: FloatArray, n: int, face: int, b: FloatArray, m: int, way: tuple[float, float], hit: Row
) -> None:
    """Write the points where an edge of `b`, displaced by `way`, lies over an edge of `a`.

    Separations are those without the displacement. If no part of it lies over the edge, but the
    two are apart, the nearest corners make one point along their connection.
    """
    nx, ny = a[2, face], a[3, face]
    j = 0
    facing = np.inf
    for i in range(m):
        value = nx * b[2, i] + ny * b[3, i]
        if value < facing:
            facing = value
            j = i
    k = j + 1 if j + 1 < m else 0
    after = face + 1 if face + 1 < n else 0
    tx, ty = -ny, nx  # along the edge of a; the edge of b goes the other way
    length = tx * (a[0, after] - a[0, face]) + ty * (a[1, after] - a[1, face])
    along = tx * way[0] + ty * way[1]
    upper = tx * (b[0, j] - a[0, face]) + ty * (b[1, j] - a[1, face]) + along
    lower = tx * (b[0, k] - a[0, face]) + ty * (b[1, k] - a[1, face]) + along
    # an impulse acts on both at one point, or angular momentum is lost: midway along the way
    ox, oy = a[0, face] - 0.5 * along * tx, a[1, face] - 0.5 * along * ty
    gap_j = nx * (b[0, j] - a[0, face]) + ny * (b[1, j] - a[1, face])
    gap_k = nx * (b[0, k] - a[0, face]) + ny * (b[1, k] - a[1, face])
    hit.nx, hit.ny = nx, ny
    moved = way[0] != 0.0 or way[1] != 0.0
    if not moved and (upper < 0.0 or lower > length) and min(gap_j, gap_k) > -SKIN:
        at = face if upper < 0.0 else after
        corners(a, at, b, j, k, hit)
        return
    hit.count = 2
    hit.id0 = (face << 24) | (k << 1)
    hit.id1 = (face << 24) | (j << 1)
    span = upper - lower
    t0, s0, t1, s1 = lower, gap_k, upper, gap_j
    if lower < 0.0 and span > 0.0:
        part = min(1.0, -lower / span)
        t0, s0 = lower + part * span, gap_k + part * (gap_j - gap_k)
        hit.id0 = (face << 24) | (j << 1) | 1
    if upper > length and span > 0.0:
        part = min(1.0, (upper - length) / span)
        t1, s1 = upper - part * span, gap_j + part * (gap_k - gap_j)
        hit.id1 = (face << 24) | (k << 1) | 1
    hit.x0, hit.y0, hit.s0 = ox + t0 * tx + 0.5 * s0 * nx, oy + t0 * ty + 0.5 * s0 * ny, s0
    hit.x1, hit.y1, hit.s1 = ox + t1 * tx + 0.5 * s1 * nx, oy + t1 * ty + 0.5 * s1 * ny, s1


@inner
def corners(a: FloatArray, at: int, b: FloatArray, j: int, k: int, hit: Row) -> None:
    """Write one point between corner `at` of `a` and the nearer of the corners j and k of `b`."""
    dx, dy = b[0, j] - a[0, at], b[1, j] - a[1, at]
    ex, ey = b[0, k] - a[0, at], b[1, k] - a[1, at]
    nearest = j
    if ex * ex + ey * ey < dx * dx + dy * dy:
        dx, dy, nearest = ex, ey, k
    distance = math.hypot(dx, dy)
    if distance > APART:
        hit.nx, hit.ny = dx / distance, dy / distance
    else:  # along the normal of the edge
        distance = hit.nx * dx + hit.ny * dy
    hit.count = 1
    hit.x0 = a[0, at] + 0.5 * dx
    hit.y0 = a[1, at] + 0.5 * dy
    hit.s0 = distance
    hit.id0 = (1 << 48) | (at << 24) | nearest


@inner
def collide(  # noqa: PLR0913 (arrays of a kernel)
    a: FloatArray,
    n: int,
    b: FloatArray,
    m: int,
    reach: float,
    way: tuple[float, float],
    slack: float,
    hit: Row,
) -> None:
    """Write the contact points of two polygons into a row of HIT.

    Args:
        a: The first polygon.
        n: Number of its corners.
        b: The second polygon.
        m: Number of its corners.
        reach: Contact points further apart than this are left out [m].
        way: How far `b` moves against `a` until the next call [m].
        slack: How much further a corner may move because of rotation [m].
        hit: Output.
    """
    gap_a, face_a = deepest_face(a, n, b, m)
    hit.count = -1
    hit.gap = gap_a
    if gap_a > reach:
        return
    gap_b, face_b = deepest_face(b, m, a, n)
    hit.gap = max(gap_a, gap_b)
    if hit.gap > reach:
        return
    flipped = gap_b > gap_a + PREFERENCE
    face = face_b if flipped else face_a
    away = -(b[2, face] * way[0] + b[3, face] * way[1]) if flipped else (
        a[2, face] * way[0] + a[3, face] * way[1]
    )  # fmt: skip
    if -SKIN <= hit.gap <= SKIN and away < 0.0:
        # of faces that are all but flush the deepest counts, but for sliding along another
        away_a, gap_a, on_a = gentlest_face(a, n, b, m, way[0], way[1])
        away_b, gap_b, on_b = gentlest_face(b, m, a, n, -way[0], -way[1])
        best = max(away_a, away_b)
        if best > away + 0.01 * abs(away) + PREFERENCE:
            flipped = away_b > away_a
            face = on_b if flipped else on_a
    clip_either(a, n, b, m, (flipped, face), (0.0, 0.0), hit)
    if hit.gap > 0.0:
        least = min(hit.s0, hit.s1) if hit.count == 2 else hit.s0
        if least + hit.nx * way[0] + hit.ny * way[1] < slack:  # it would get there: do they meet?
            part, flipped, face = sweep(a, n, b, m, way, slack)
            if face < 0:
                hit.count = 0
                return
            if part > 0.0:
                clip_either(a, n, b, m, (flipped, face), (part * way[0], part * way[1]), hit)
    drop_far(hit, reach)


@inner
def clip_either(  # noqa: PLR0913 (two polygons of a kernel)
    a: FloatArray,
    n: int,
    b: FloatArray,
    m: int,
    side: tuple[bool, int],
    way: tuple[float, float],
    hit: Row,
) -> None:
    """Clip with an edge of `a`, or of `b` where `side` says (True, edge); the normal is a to b."""
    if side[0]:
        clip(b, m, side[1], a, n, (-way[0], -way[1]), hit)
        hit.nx, hit.ny = -hit.nx, -hit.ny
        hit.id0 |= 1 << 52
        hit.id1 |= 1 << 52
    else:
        clip(a, n, side[1], b, m, way, hit)


@inner
def drop_far(hit: Row, reach: float) -> None:
    """Drop points further apart than `reach` [m], and the second of two coincident ones."""
    if hit.count == 2 and hit.s1 > reach:
        hit.count = 1
    if hit.s0 > reach:
        hit.count -= 1
        hit.s0, hit.x0, hit.y0, hit.id0 = hit.s1, hit.x1, hit.y1, hit.id1
    if hit.count == 2:
        dx, dy = hit.x1 - hit.x0, hit.y1 - hit.y0
        if dx * dx + dy * dy < 1e-18:
            hit.count = 1
