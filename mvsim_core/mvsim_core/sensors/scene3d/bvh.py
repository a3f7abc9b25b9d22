# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rays without Embree: a tree of boxes for each model, in double precision (slower)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.sensors.scene3d.model import Model
from mvsim_core.sensors.scene3d.rounds import local_round_hit, round_hit
from mvsim_core.sensors.scene3d.tables import Hits, Rays, Triangles, plane_hit
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

#: A box around `count` triangles from `first`; count 0: around two boxes, `first` and the next.
NODE = np.dtype([("low", "f8", (3,)), ("high", "f8", (3,)), ("first", "i8"), ("count", "i8")])
LEAF = 4  # triangles that are not divided further
BINS = 16
DEEPEST = 64
#: How far outside a triangle a hit may be (in its own coordinates), so that edges have no gaps.
EDGE = 1e-9


class BvhCaster:
    """Casts rays at instances of models; arguments and results as those of `EmbreeCaster`."""

    def __init__(self, models: list[Model], users: list[int], instances: Rows) -> None:
        """Build a tree for each model."""
        self._instances = instances
        trees = [build_tree(m.vertices[m.triangles]) for m in models]
        nodes = np.cumsum([0, *(len(t[0]) for t in trees)])
        faces = np.cumsum([0, *(len(t[1]) for t in trees)])
        for (tree, _), node, face in zip(trees, nodes[:-1], faces[:-1], strict=True):
            tree["first"] += np.where(tree["count"] > 0, face, node)
        self._nodes = np.concatenate([np.zeros(0, NODE), *(t[0] for t in trees)])
        self._order = np.concatenate([np.zeros(0, np.int64), *(t[1] for t in trees)])
        corners = [m.vertices[m.triangles][t[1]] for m, t in zip(models, trees, strict=True)]
        self._corners = np.concatenate([np.zeros((0, 3, 3)), *corners])
        self._roots = nodes[np.array(users, dtype=np.int64)].astype(np.int64)

    def place(self, moved: IntArray) -> None:
        """Take over poses: they are read from the instances with each ray."""

    def cast(self, rays: Rays, triangles: Triangles, origin: FloatArray, hits: Hits) -> None:
        """Write what rays meet; arguments as in `Scene3d`."""
        _cast_kernel(
            (self._instances, self._roots, self._nodes, self._order, self._corners),
            (rays.directions, rays.poses, origin),
            (rays.first, rays.rows, rays.near, rays.reach, np.uint32(rays.mask)),
            tuple(triangles),
            (hits.distance, hits.cosine, hits.material, hits.part),
        )


def build_tree(corners: FloatArray) -> tuple[Rows, IntArray]:
    """Return the nodes (root first) of triangles (n, 3, 3), and the order of the triangles."""
    nodes = np.zeros(max(1, 2 * len(corners)), NODE)
    order = np.arange(len(corners))
    low, high = corners.min(axis=1), corners.max(axis=1)
    used = _build_kernel(low, high, nodes, order) if len(corners) else 1
    return nodes[:used].copy(), order


@njit(cache=True, nogil=True)
def _build_kernel(low: FloatArray, high: FloatArray, nodes: Rows, order: IntArray) -> int:
    nodes[0].first, nodes[0].count = 0, order.size
    used = 1
    waiting = [0]
    while len(waiting) > 0:
        at = waiting.pop()
        node = nodes[at]
        first, count = node.first, node.count
        for k in range(3):
            node.low[k], node.high[k] = np.inf, -np.inf
        for i in order[first : first + count]:
            for k in range(3):
                node.low[k] = min(node.low[k], low[i, k])
                node.high[k] = max(node.high[k], high[i, k])
        if count <= LEAF:
            continue
        middle = _divide(low, high, order, first, count)
        nodes[used].first, nodes[used].count = first, middle - first
        nodes[used + 1].first, nodes[used + 1].count = middle, first + count - middle
        node.first, node.count = used, 0
        waiting.append(used)
        waiting.append(used + 1)
        used += 2
    return used


@njit(cache=True, nogil=True)
def _divide(low: FloatArray, high: FloatArray, order: IntArray, first: int, count: int) -> int:
    """Sort triangles into two groups of least cost (surface area); return where the 2nd begins."""
    best, best_axis, best_cut = np.inf, -1, 0.0
    box = np.zeros((BINS, 6))
    number = np.zeros(BINS, np.int64)
    behind = np.zeros(BINS)
    for axis in range(3):
        c_low, c_high = np.inf, -np.inf
        for i in order[first : first + count]:
            c = low[i, axis] + high[i, axis]
            c_low, c_high = min(c_low, c), max(c_high, c)
        if not c_high > c_low:
            continue
        scale = BINS / (c_high - c_low) * (1.0 - 1e-12)
        number[:] = 0
        box[:, :3], box[:, 3:] = np.inf, -np.inf
        for i in order[first : first + count]:
            b = int((low[i, axis] + high[i, axis] - c_low) * scale)
            number[b] += 1
            for k in range(3):
                box[b, k] = min(box[b, k], low[i, k])
                box[b, 3 + k] = max(box[b, 3 + k], high[i, k])
        reach = np.array([np.inf, np.inf, np.inf, -np.inf, -np.inf, -np.inf])
        n = 0
        for b in range(BINS - 1, 0, -1):
            n += number[b]
            _grow(reach, box[b])
            behind[b] = n * _area(reach)
        reach[:3], reach[3:] = np.inf, -np.inf
        n = 0
        for b in range(BINS - 1):
            n += number[b]
            _grow(reach, box[b])
            cost = n * _area(reach) + behind[b + 1]
            if 0 < n < count and cost < best:
                best, best_axis, best_cut = cost, axis, c_low + (b + 1) / scale
    middle = first
    if best_axis >= 0:
        for k in range(first, first + count):
            i = order[k]
            if low[i, best_axis] + high[i, best_axis] < best_cut:
                order[k], order[middle] = order[middle], i
                middle += 1
    return middle if first < middle < first + count else first + count // 2


@njit(cache=True, nogil=True, inline="always")
def _grow(box: FloatArray, other: FloatArray) -> None:
    for k in range(3):
        box[k] = min(box[k], other[k])
        box[3 + k] = max(box[3 + k], other[3 + k])


@njit(cache=True, nogil=True, inline="always")
def _area(box: FloatArray) -> float:
    x, y, z = box[3] - box[0], box[4] - box[1], box[5] - box[2]
    return float(x * y + y * z + z * x) if x >= 0.0 else 0.0


@njit(cache=True, nogil=True)
def _cast_kernel(scene, grid, limits, tables, hits):  # type: ignore[no-untyped-def]
    instances, roots, nodes, order, corners = scene
    directions, poses, origin = grid
    first, count, near, reach, mask = limits
    planes, rounds, round_of, materials, parts = tables
    distance, cosine, material, part = hits
    o, d, lo, ld = np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    for i in range(count):
        p = poses[i] if poses.shape[0] > 1 else poses[0]
        at = first + i
        for j in range(directions.shape[1]):
            v = directions[at, j]
            for a in range(3):
                o[a] = p[9 + a] - origin[a]
                d[a] = p[3 * a] * v[0] + p[3 * a + 1] * v[1] + p[3 * a + 2] * v[2]
            best, best_face, best_item = reach, -1, -1
            for k in range(instances.shape[0]):
                item = instances[k]
                if not item.mask & mask:
                    continue
                for a in range(3):
                    lo[a] = ld[a] = 0.0
                    for b in range(3):
                        lo[a] += item.r[b, a] * (o[b] - item.t[b])
                        ld[a] += item.r[b, a] * d[b]
                bodies = (rounds, round_of[item.first :])
                ray = (lo, ld, near, best)
                t, face = _trace((nodes, corners, order), roots[k], bodies, ray)
                if face >= 0:
                    best, best_face, best_item = t, item.first + face, k
            if best_face < 0:
                distance[at, j], cosine[at, j] = np.inf, 0.0
                material[at, j] = part[at, j] = -1
                continue
            item = instances[best_item]
            start, along = (o[0], o[1], o[2]), (d[0], d[1], d[2])
            if round_of[best_face] < 0:
                t, c = plane_hit(item, planes[best_face], start, along, best)
            else:
                t, c = round_hit(item, rounds[round_of[best_face]], start, along, near)
            distance[at, j], cosine[at, j] = t, c
            material[at, j] = materials[best_face]
            part[at, j] = item.part if item.part >= 0 else parts[best_face]


@njit(cache=True, nogil=True, error_model="numpy")
def _trace(tree, root, bodies, ray):  # type: ignore[no-untyped-def]
    """Return the distance and the number of the first triangle that a ray meets; -1: none.

    Triangles around something round count where that is met.
    """
    nodes, corners, order = tree
    rounds, round_of = bodies
    o, d, near, best = ray
    stack = np.zeros(2 * DEEPEST, np.int64)
    size, face = 1, -1
    stack[0] = root
    inverse = 1.0 / d
    while size > 0:
        size -= 1
        node = nodes[stack[size]]
        if _enters(node, o, inverse, near, best) == np.inf:
            continue
        if node.count == 0:
            left = _enters(nodes[node.first], o, inverse, near, best)
            right = _enters(nodes[node.first + 1], o, inverse, near, best)
            nearer = 0 if left <= right else 1
            if size + 2 <= stack.size:
                stack[size], stack[size + 1] = node.first + 1 - nearer, node.first + nearer
                size += 2
            continue
        for k in range(node.first, node.first + node.count):
            t = _meets(corners[k], o, d)
            body = round_of[order[k]]
            if body >= 0 and t == t:
                t = local_round_hit(rounds[body], (o[0], o[1], o[2]), (d[0], d[1], d[2]), near)[0]
            if near <= t < best:
                best, face = t, order[k]
    return best, face


@njit(cache=True, nogil=True, inline="always")
def _enters(node, o, inverse, near, far):  # type: ignore[no-untyped-def]
    """Return where a ray enters a box; inf: not within its limits."""
    for k in range(3):
        a, b = (node.low[k] - o[k]) * inverse[k], (node.high[k] - o[k]) * inverse[k]
        if math.isnan(a) or math.isnan(b):  # within a side of the box
            continue
        slack = 1e-12 * (abs(a) + abs(b))
        near, far = max(near, min(a, b) - slack), min(far, max(a, b) + slack)
    return near if near <= far else np.inf


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _meets(corner, o, d):  # type: ignore[no-untyped-def]
    """Return where a ray meets a triangle (Möller and Trumbore 1997); NaN: nowhere."""
    ax, ay, az = corner[0, 0], corner[0, 1], corner[0, 2]
    ux, uy, uz = corner[1, 0] - ax, corner[1, 1] - ay, corner[1, 2] - az
    vx, vy, vz = corner[2, 0] - ax, corner[2, 1] - ay, corner[2, 2] - az
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    det = ux * px + uy * py + uz * pz
    sx, sy, sz = o[0] - ax, o[1] - ay, o[2] - az
    u = (sx * px + sy * py + sz * pz) / det
    qx, qy, qz = sy * uz - sz * uy, sz * ux - sx * uz, sx * uy - sy * ux
    v = (d[0] * qx + d[1] * qy + d[2] * qz) / det
    if u >= -EDGE and v >= -EDGE and u + v <= 1.0 + EDGE:
        return (vx * qx + vy * qy + vz * qz) / det
    return np.nan
