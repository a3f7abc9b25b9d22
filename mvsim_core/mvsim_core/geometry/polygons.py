# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simple polygons that need not be convex: are they proper, and of which convex parts.

Ears are clipped to triangles, which are merged again over all diagonals that no corner needs
(Hertel and Mehlhorn, Fast triangulation of simple polygons, 1983): at most four times as many
parts as the fewest possible. For shapes of some hundred corners, not for maps.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.poses import FloatArray, convex_hull

#: Corners nearer to each other are one, and nearer to the line of their neighbours none [m].
SAME = 1e-7
#: Share of a polygon's square size below which an area counts as none.
FLAT = 1e-12

Edge = tuple[tuple[float, float], tuple[float, float]]
Triangle = tuple[int, int, int]
IntArray = npt.NDArray[np.int64]


def crossing_edges(points: FloatArray) -> tuple[Edge, Edge] | None:
    """Return two edges that cross or touch where they should not; None for a simple polygon.

    Args:
        points: (n, 2) corners, the first of which may be repeated at the end [m].

    Neighbours may meet in their common corner only, so that a polygon which runs back over itself,
    as around a hole, is not simple either.
    """
    p = without_doubles(points)
    n = len(p)
    q = np.roll(p, -1, axis=0)
    size = float(np.ptp(p, axis=0).max(initial=0.0))
    tiny = FLAT * size * size
    for i in range(n - 1):
        hits = _touches(p[i], q[i], p[i + 1 :], q[i + 1 :], tiny)
        if i + 1 < n:  # the next edge starts where this one ends
            hits[0] = _turns_back(p[i], q[i], q[i + 1], tiny)
        if i == 0 and n > 2:  # and the last one ends where the first starts
            hits[-1] = _turns_back(p[-1], p[0], q[0], tiny)
        if hits.any():
            k = i + 1 + int(np.argmax(hits))
            return _edge(p[i], q[i]), _edge(p[k], q[k])
    return None


def outline_of(points: FloatArray) -> FloatArray:
    """Return a simple polygon counter-clockwise, without doubled corners and those in line.

    A convex one begins at its lowest x, as `convex_hull` has it.
    """
    return _outline(np.ascontiguousarray(points, dtype=np.float64).tobytes())


@lru_cache(maxsize=1024)  # worlds have thousands of the same shape
def _outline(corners: bytes) -> FloatArray:
    p = without_doubles(np.frombuffer(corners).reshape(-1, 2).copy())
    hull = convex_hull(p)
    if _signed_area(p) < 0.0:
        p = p[::-1]
    size = float(np.ptp(p, axis=0).max(initial=0.0))
    turns = _turns(p)
    if (turns >= -FLAT * size * size).all():
        return _shared(hull)
    kept = p[np.abs(turns) > SAME * np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)]
    return _shared(np.ascontiguousarray(kept))


def _shared(points: FloatArray) -> FloatArray:
    """Return points that many may hold, so that nobody may change them."""
    points.setflags(write=False)
    return points


def convex_parts(outline: FloatArray) -> list[FloatArray]:
    """Return convex polygons, counter-clockwise, that fill a simple one and do not overlap.

    Args:
        outline: (n, 2) corners, counter-clockwise [m]; a convex one is returned as it is.
    """
    return list(_parts(np.ascontiguousarray(outline, dtype=np.float64).tobytes()))


@lru_cache(maxsize=1024)
def _parts(corners: bytes) -> tuple[FloatArray, ...]:
    outline = np.frombuffer(corners).reshape(-1, 2).copy()
    size = float(np.ptp(outline, axis=0).max(initial=0.0))
    if (_turns(outline) >= -FLAT * size * size).all():
        return (_shared(outline),)
    parts: list[list[int]] = [list(triangle) for triangle in _ears(outline)]
    return tuple(_shared(outline[part]) for part in _merged(outline, parts))


def without_doubles(points: FloatArray) -> FloatArray:
    """Return the corners of which none equals the one before it (the last one included)."""
    apart = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) > SAME
    return points[apart] if apart.any() else points[:1]


def _edge(a: FloatArray, b: FloatArray) -> Edge:
    return (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return product


def _turns(p: FloatArray) -> FloatArray:
    """Return for each corner the cross product of the edges before and after it [m²]."""
    return _cross(p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p)


def _signed_area(p: FloatArray) -> float:
    shifted = p - p[0]
    return 0.5 * float(_cross(shifted, np.roll(shifted, -1, axis=0)).sum())


def _touches(
    a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, tiny: float
) -> npt.NDArray[np.bool_]:
    """Tell for each segment c-d whether it has a point in common with the segment a-b."""
    sides = [
        _cross(b - a, c - a),
        _cross(b - a, d - a),
        _cross(d - c, a - c),
        _cross(d - c, b - c),
    ]
    s = [np.where(np.abs(side) <= tiny, 0.0, np.sign(side)) for side in sides]
    apart = (s[0] * s[1] > 0.0) | (s[2] * s[3] > 0.0)
    overlap = (np.minimum(c, d) <= np.maximum(a, b)) & (np.maximum(c, d) >= np.minimum(a, b))
    touching: npt.NDArray[np.bool_] = ~apart & overlap.all(axis=1)
    return touching


def _turns_back(a: FloatArray, b: FloatArray, c: FloatArray, tiny: float) -> bool:
    """Tell whether the way a, b, c runs back over itself at b."""
    return bool(abs(_cross(b - a, c - b)) <= tiny and np.dot(b - a, c - b) < 0.0)


def _ears(p: FloatArray) -> list[Triangle]:
    """Return the triangles of a counter-clockwise polygon, as rows of its corners.

    Each time the roundest ear goes. What stands in the way of an ear is counted once, and
    counted down as corners go, so that an ear costs one pass over the corners that are left.
    """
    left = np.arange(len(p))
    before, after = np.roll(left, 1), np.roll(left, -1)
    roundness = np.zeros(len(p))
    blockers = np.zeros(len(p), np.int64)
    for k in range(len(p)):
        _measure(p, k, (before, after), left, roundness, blockers)
    triangles: list[Triangle] = []
    while len(left) > 3:
        free = np.where((blockers[left] > 0) & (roundness[left] > 0.0), -0.5, roundness[left])
        found = int(np.argmax(free))
        k = int(left[found])
        a, c = int(before[k]), int(after[k])
        if free[found] > 0.0:
            triangles.append((a, k, c))
        left = np.delete(left, found)
        others = left[(left != a) & (left != c)]
        blockers[others] -= _holds(p, before[others], others, after[others], p[k])
        after[a], before[c] = c, a
        for corner in (a, c):
            _measure(p, corner, (before, after), left, roundness, blockers)
    triangles.append((int(left[0]), int(left[1]), int(left[2])))
    return triangles


def _measure(
    p: FloatArray,
    k: int,
    neighbours: tuple[IntArray, IntArray],
    left: IntArray,
    roundness: FloatArray,
    blockers: IntArray,
) -> None:
    """Note how good an ear corner k is (height over longest side; below 0: none), and what blocks.

    Args:
        p: Corners (n, 2) [m].
        k: The corner.
        neighbours: The corner before and after each.
        left: The corners that are left.
        roundness: Where to note it.
        blockers: Where to note how many of the other corners lie in the ear.
    """
    i, j = int(neighbours[0][k]), int(neighbours[1][k])
    a, b, c = p[i], p[k], p[j]
    area = float(_cross(b - a, c - a))
    longest = max(float(np.sum((u - v) ** 2)) for u, v in ((a, b), (b, c), (c, a)))
    roundness[k] = area / longest if area > 0.0 else area / longest - 1.0
    others = p[left[(left != i) & (left != k) & (left != j)]]
    blockers[k] = np.count_nonzero(_holds(p, i, k, j, others))


def _holds(
    p: FloatArray, a: int | IntArray, b: int | IntArray, c: int | IntArray, points: FloatArray
) -> npt.NDArray[np.bool_]:
    """Tell which triangles hold which points, one of each kind or as many of both."""
    one, two, three = p[a], p[b], p[c]
    inside: npt.NDArray[np.bool_] = (
        (_cross(two - one, points - one) >= 0.0)
        & (_cross(three - two, points - two) >= 0.0)
        & (_cross(one - three, points - three) >= 0.0)
    )
    return inside


def _merged(p: FloatArray, parts: list[list[int]]) -> list[list[int]]:
    """Join neighbours while the result stays convex.

    Angles only grow by joining: what does not fit once never does.
    """
    owner = {edge: k for k, part in enumerate(parts) for edge in _edges(part)}
    left: list[list[int] | None] = list(parts)
    for k, part in enumerate(left):
        while part is not None:
            fits = sorted({owner[b, a] for a, b in _edges(part) if owner.get((b, a), -1) > k})
            pairs = ((j, _joined(p, part, parts[j])) for j in fits)
            j, joined = next(((j, union) for j, union in pairs if union is not None), (-1, None))
            if joined is None:
                break
            owner.update(dict.fromkeys(_edges(joined), k))
            left[k] = part = parts[k] = joined
            left[j] = None
    return [part for part in left if part is not None]


def _edges(part: list[int]) -> list[tuple[int, int]]:
    return list(zip(part, [*part[1:], part[0]], strict=True))


def _joined(p: FloatArray, one: list[int], other: list[int]) -> list[int] | None:
    """Return the union of two convex parts that share an edge, if it is convex."""
    for i, a in enumerate(one):
        b = one[(i + 1) % len(one)]
        if a not in other or b not in other:
            continue
        j = other.index(b)
        if other[(j + 1) % len(other)] != a:
            continue
        rest = [other[(j + 2 + m) % len(other)] for m in range(len(other) - 2)]
        union = [*one[: i + 1], *rest, *one[i + 1 :]]
        return union if (_turns(p[union]) > 0.0).all() else None
    return None
