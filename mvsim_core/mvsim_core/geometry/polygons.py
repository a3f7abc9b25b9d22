# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Simple polygons that need not be convex: validity, outline, convex parts.

Shapely finds hulls, orientations and edges that touch; earcut triangulates. Triangles are merged
again over all diagonals that no reflex corner needs (Hertel and Mehlhorn, Fast triangulation of
simple polygons, 1983): at most four times as many parts as the fewest possible.
"""

from __future__ import annotations

from functools import lru_cache

import mapbox_earcut
import numpy as np
import numpy.typing as npt
import shapely

from mvsim_core.geometry.poses import FloatArray

#: Corners closer to each other, or to the line through their neighbours, are redundant [m].
TOLERANCE = 1e-7
#: Relative tolerance: of lengths to the polygon's size, of areas to the square of its size.
RELATIVE = 1e-12

Edge = tuple[tuple[float, float], tuple[float, float]]


def crossing_edges(points: FloatArray) -> tuple[Edge, Edge] | None:
    """Return the first two edges that cross or touch; None for a simple polygon.

    Args:
        points: (n, 2) corners, the first of which may be repeated at the end [m].

    Adjacent edges may share their common corner only: a polygon that runs back over itself, as
    around a hole, is not simple either.
    """
    p = _without_duplicates(points)
    n = len(p)
    if n < 2:
        return None
    q = np.roll(p, -1, axis=0)
    lines = np.asarray(shapely.linestrings(np.stack([p, q], axis=1)))
    pairs = (
        shapely.STRtree(lines).query(lines, predicate="dwithin", distance=RELATIVE * _size(p)).T
    )
    gap = (pairs[:, 1] - pairs[:, 0]) % n
    found = pairs[(gap > 1) & (gap < n - 1)]
    reversals = np.flatnonzero(_reverses(p))
    found = np.concatenate([found, np.column_stack(((reversals - 1) % n, reversals))])
    if len(found) == 0:
        return None
    i, k = min((min(i, k), max(i, k)) for i, k in found.tolist())
    return _edge(p[i], q[i]), _edge(p[k], q[k])


def outline_of(points: FloatArray) -> FloatArray:
    """Return a simple polygon counter-clockwise, without redundant corners; (0, 2) if it is flat.

    A convex one starts at its corner of lowest x, as `convex_hull` does. The array is read-only,
    because equal polygons share it.
    """
    return _outline(np.ascontiguousarray(points, dtype=np.float64).tobytes())


@lru_cache(maxsize=1024)  # worlds have thousands of equal shapes
def _outline(corners: bytes) -> FloatArray:
    p = _without_duplicates(np.frombuffer(corners).reshape(-1, 2).copy())
    if len(p) > 2 and not shapely.is_ccw(shapely.linearrings(p)):
        p = p[::-1]
    turns = _turns(p)
    # shapely.simplify would keep a redundant first corner
    if _is_convex(p):
        p = _from_lowest(p[turns > _least_area(p)])
    else:
        edges = np.linalg.norm(np.roll(p, -1, axis=0) - p, axis=1)
        p = p[np.abs(turns) > TOLERANCE * edges]
    return _read_only(np.ascontiguousarray(p))


def convex_hull(points: FloatArray) -> FloatArray:
    """Return the convex hull (m, 2) of points (n, 2) without collinear corners.

    It is counter-clockwise and starts at the corner of lowest x, of these the one of lowest y.
    Points on one line give its two ends; a single point gives none.
    """
    hull = shapely.convex_hull(shapely.MultiPoint(points))
    corners: FloatArray = shapely.get_coordinates(hull)
    if isinstance(hull, shapely.Polygon):
        corners = corners[:-1] if hull.exterior.is_ccw else corners[:0:-1]
    elif len(corners) < 2:
        return np.zeros((0, 2))
    return _from_lowest(corners)


def convex_parts(outline: FloatArray) -> list[FloatArray]:
    """Return convex polygons, counter-clockwise, that fill a simple one and do not overlap.

    Args:
        outline: (n, 2) corners, counter-clockwise [m]; a convex one is returned as it is.

    The arrays are read-only, because equal polygons share them.
    """
    return list(_parts(np.ascontiguousarray(outline, dtype=np.float64).tobytes()))


@lru_cache(maxsize=1024)
def _parts(corners: bytes) -> tuple[FloatArray, ...]:
    outline = np.frombuffer(corners).reshape(-1, 2).copy()
    if _is_convex(outline):
        return (_read_only(outline),)
    rings = np.array([len(outline)], np.uint32)
    triangles = mapbox_earcut.triangulate_float64(outline, rings).reshape(-1, 3).astype(np.int64)
    a, b, c = outline[triangles].transpose(1, 0, 2)
    areas = _cross(b - a, c - a)
    triangles[areas < 0.0] = triangles[areas < 0.0, ::-1]
    return tuple(
        _read_only(outline[part]) for part in _merged(outline, triangles[areas != 0.0].tolist())
    )


def _from_lowest(p: FloatArray) -> FloatArray:
    """Return the corners rotated to start at the one of lowest x, then of lowest y."""
    return np.roll(p, -int(np.lexsort(p.T[::-1])[0]), axis=0) if len(p) else p


def _size(p: FloatArray) -> float:
    """Return the longer side of the bounding box [m]."""
    return float(np.ptp(p, axis=0).max(initial=0.0))


def _least_area(p: FloatArray) -> float:
    """Return up to which a cross product of edges counts as 0 [m²]; inf for absurd sizes."""
    size = _size(p)
    return RELATIVE * size * size


def _read_only(points: FloatArray) -> FloatArray:
    points.setflags(write=False)
    return points


def _without_duplicates(points: FloatArray) -> FloatArray:
    """Return the corners without those that equal their predecessor, cyclically."""
    distinct = np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) > TOLERANCE
    return points[distinct] if distinct.any() else points[:1]


def _edge(a: FloatArray, b: FloatArray) -> Edge:
    return (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def _cross(u: FloatArray, v: FloatArray) -> FloatArray:
    product: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
    return product


def _turns(p: FloatArray) -> FloatArray:
    """Return for each corner the cross product of the edges before and after it [m²]."""
    return _cross(p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p)


def _is_convex(p: FloatArray) -> bool:
    """Return whether a counter-clockwise simple polygon is convex, but for rounding."""
    return bool((_turns(p) >= -_least_area(p)).all())


def _reverses(p: FloatArray) -> npt.NDArray[np.bool_]:
    """Return at which corners the edge after it runs back over the edge before it."""
    before, after = p - np.roll(p, 1, axis=0), np.roll(p, -1, axis=0) - p
    backwards = (before * after).sum(axis=1) < 0.0
    collinear = np.abs(_cross(before, after)) <= _least_area(p)
    reverses: npt.NDArray[np.bool_] = backwards & collinear
    return reverses


def _merged(p: FloatArray, parts: list[list[int]]) -> list[list[int]]:
    """Merge neighbouring convex parts, as corner indices, while their union stays convex.

    Angles only grow by merging: two parts that cannot be merged once never can.
    """
    owner = {edge: k for k, part in enumerate(parts) for edge in _edges(part)}
    left: list[list[int] | None] = list(parts)
    for k, part in enumerate(left):
        while part is not None:
            fits = sorted({owner[b, a] for a, b in _edges(part) if owner.get((b, a), -1) > k})
            pairs = ((j, _union(p, part, parts[j])) for j in fits)
            j, union = next(((j, union) for j, union in pairs if union is not None), (-1, None))
            if union is None:
                break
            owner.update(dict.fromkeys(_edges(union), k))
            left[k] = part = parts[k] = union
            left[j] = None
    return [part for part in left if part is not None]


def _edges(part: list[int]) -> list[tuple[int, int]]:
    return list(zip(part, [*part[1:], part[0]], strict=True))


def _union(p: FloatArray, one: list[int], other: list[int]) -> list[int] | None:
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
