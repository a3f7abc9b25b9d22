# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simple polygons that need not be convex: are they proper, and of which convex parts.

Ears are clipped to triangles, which are merged again over all diagonals that no corner needs
(Hertel and Mehlhorn, Fast triangulation of simple polygons, 1983): at most four times as many
parts as the fewest possible. For shapes of some hundred corners, not for maps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry import FloatArray, convex_hull

#: Corners nearer to each other are one, and nearer to the line of their neighbours none [m].
SAME = 1e-7
#: Share of a polygon's square size below which an area counts as none.
FLAT = 1e-12

Edge = tuple[tuple[float, float], tuple[float, float]]
Triangle = tuple[int, int, int]


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
    p = without_doubles(points)
    hull = convex_hull(p)
    if _signed_area(p) < 0.0:
        p = p[::-1]
    size = float(np.ptp(p, axis=0).max(initial=0.0))
    turns = _turns(p)
    if (turns >= -FLAT * size * size).all():
        return hull
    kept = p[np.abs(turns) > SAME * np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)]
    return np.ascontiguousarray(kept)


def convex_parts(outline: FloatArray) -> list[FloatArray]:
    """Return convex polygons, counter-clockwise, that fill a simple one and do not overlap.

    Args:
        outline: (n, 2) corners, counter-clockwise [m]; a convex one is returned as it is.
    """
    size = float(np.ptp(outline, axis=0).max(initial=0.0))
    if (_turns(outline) >= -FLAT * size * size).all():
        return [outline]
    parts: list[list[int]] = [list(triangle) for triangle in _ears(outline)]
    return [outline[part] for part in _merged(outline, parts)]


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
    """Return the triangles of a counter-clockwise polygon, as rows of its corners."""
    left = list(range(len(p)))
    triangles: list[Triangle] = []
    while len(left) > 3:
        best, found = -np.inf, -1
        for k in range(len(left)):
            corners = (left[k - 1], left[k], left[(k + 1) % len(left)])
            roundness = _ear(p, corners, left)
            if roundness > best:
                best, found = roundness, k
        corners = (left[found - 1], left[found], left[(found + 1) % len(left)])
        if best > 0.0:
            triangles.append(corners)
        del left[found]
    triangles.append((left[0], left[1], left[2]))
    return triangles


def _ear(p: FloatArray, corners: Triangle, left: list[int]) -> float:
    """Return how good an ear is (height over longest side); less than 0 if it is none."""
    a, b, c = (p[i] for i in corners)
    area = float(_cross(b - a, c - a))
    longest = max(float(np.sum((u - v) ** 2)) for u, v in ((a, b), (b, c), (c, a)))
    if area <= 0.0:
        return area / longest - 1.0
    others = p[[i for i in left if i not in corners]]
    inside = (
        (_cross(b - a, others - a) >= 0.0)
        & (_cross(c - b, others - b) >= 0.0)
        & (_cross(a - c, others - c) >= 0.0)
    )
    return -0.5 if inside.any() else area / longest


def _merged(p: FloatArray, parts: list[list[int]]) -> list[list[int]]:
    """Join neighbours while the result stays convex."""
    k = 0
    while k < len(parts):
        joined = None
        for j in range(k + 1, len(parts)):
            joined = _joined(p, parts[k], parts[j])
            if joined is not None:
                parts[k] = joined
                del parts[j]
                break
        if joined is None:
            k += 1
        else:
            k = 0  # what did not fit before may do now
    return parts


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
