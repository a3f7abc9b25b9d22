# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rays without Embree: a tree of boxes for each model, in double precision (slower)."""

from __future__ import annotations

import math
from weakref import WeakKeyDictionary

import numpy as np
from numba import njit

from mvsim_core.scene3d.caster import Tables
from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.pool import block_size
from mvsim_core.scene3d.rounds import local_round_hit, round_hit
from mvsim_core.scene3d.surfaces import brightness_at
from mvsim_core.scene3d.tables import GLASS, Hits, Rays, plane_hit
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.state.tables import Table

#: A box around `count` triangles from `first`; count 0: around two boxes, `first` and the next.
NODE = np.dtype([("low", "f8", (3,)), ("high", "f8", (3,)), ("first", "i8"), ("count", "i8")])
LEAF = 4  # triangles that are not divided further
BINS = 16
DEEPEST = 64
#: How far outside a triangle a hit may be (in its own coordinates), so that edges have no gaps.
EDGE = 1e-9


#: A triangle of a tree: its corners [m] and its number in the model.
FACE = np.dtype([("corners", "f8", (3, 3)), ("number", "i8")])


class BvhCaster:
    """Casts rays at instances of models; a `Caster`."""

    def __init__(self) -> None:
        """Start without instances."""
        self._nodes = Table(NODE)
        self._faces = Table(FACE)
        self._used: dict[Model, list[int]] = {}  # first node, first face, number of users
        self._roots = np.zeros(1, np.int64)

    def attach(self, row: int, model: Model, mask: int, visual: bool = False) -> None:
        """Take in an instance, as in `Caster`."""
        del mask  # it is read from the instance
        used = self._used.get(model)
        if used is None:
            used = self._used[model] = self._take_in(model)
        used[2] += 1
        if row >= len(self._roots):
            self._roots = np.resize(self._roots, 2 * (row + 1))
        self._roots[row] = used[0]

    def detach(self, row: int, model: Model) -> None:
        """Take out an instance, as in `Caster`."""
        del row  # a free row of INSTANCE has no mask
        used = self._used[model]
        used[2] -= 1
        if used[2] == 0:
            nodes, faces = tree_of(model)
            self._nodes.remove(used[0], block_size(len(nodes)))
            self._faces.remove(used[1], block_size(len(faces)))
            del self._used[model]

    def place(self, instances: Rows, moved: IntArray) -> None:
        """Do nothing: poses are read from the instances with each ray."""

    def cast(self, rays: Rays, tables: Tables, origin: FloatArray, hits: Hits) -> None:
        """Write what rays meet, as in `Caster`."""
        glass = GLASS if rays.pass_glass else 0.0
        sight = (np.uint32(rays.mask), glass, rays.own_row)
        _cast_kernel(
            (tables.instances, self._roots, self._nodes.rows, self._faces.rows),
            (rays.directions, rays.poses, origin),
            (rays.first, rays.rows, rays.near, rays.reach, *sight),
            tables[1:],
            (hits.distance, hits.cosine, hits.brightness, hits.part),
        )

    def _take_in(self, model: Model) -> list[int]:
        nodes, faces = tree_of(model)
        face_block = np.zeros(block_size(len(faces)), FACE)
        face_block[: len(faces)] = faces
        first_face = self._faces.add(face_block)
        # A block is where the table's end is or where one of its size was: known once it is in.
        node_block = np.zeros(block_size(len(nodes)), NODE)
        node_block[: len(nodes)] = nodes
        first_node = self._nodes.add(node_block)
        placed = self._nodes.rows[first_node : first_node + len(nodes)]
        placed["first"] += np.where(placed["count"] > 0, first_face, first_node)
        return [first_node, first_face, 0]


_trees: WeakKeyDictionary[Model, tuple[Rows, Rows]] = WeakKeyDictionary()


def tree_of(model: Model) -> tuple[Rows, Rows]:
    """Return NODE (root first) and FACE rows of a model, which are computed once."""
    if model not in _trees:
        corners = model.vertices[model.triangles]
        nodes, order = build_tree(corners)
        faces = np.zeros(len(order), FACE)
        faces["corners"], faces["number"] = corners[order], order
        _trees[model] = (nodes, faces)
    return _trees[model]


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
    instances, roots, nodes, faces = scene
    directions, poses, origin = grid
    first, count, near, reach, mask, glass, own = limits
    triangles, rounds, (surfaces, texels) = tables
    distance, cosine, brightness, part = hits
    named = part.size > 0
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
                if not item.mask & mask or k == own:
                    continue
                for a in range(3):
                    lo[a] = ld[a] = 0.0
                    for b in range(3):
                        lo[a] += item.r[b, a] * (o[b] - item.t[b])
                        ld[a] += item.r[b, a] * d[b]
                looks = (rounds, triangles[item.first :], glass)
                ray = (lo, ld, near, best)
                t, face = _trace((nodes, faces), roots[k], looks, ray)
                if face >= 0:
                    best, best_face, best_item = t, item.first + face, k
            if best_face < 0:
                distance[at, j], cosine[at, j] = np.inf, 0.0
                brightness[at, j] = 0.0
                if named:
                    part[at, j] = -1
                continue
            item, face_row = instances[best_item], triangles[best_face]
            start, along = (o[0], o[1], o[2]), (d[0], d[1], d[2])
            if face_row.round < 0:
                t, c = plane_hit(item, face_row.plane, start, along, best)
            else:
                t, c = round_hit(item, rounds[face_row.round], start, along, near)
            distance[at, j], cosine[at, j] = t, c
            brightness[at, j] = brightness_at(face_row, item, start, along, t, surfaces, texels)
            if named:
                part[at, j] = face_row.part if face_row.part < -1 else best_item


@njit(cache=True, nogil=True, error_model="numpy")
def _trace(tree, root, looks, ray):  # type: ignore[no-untyped-def]
    """Return the distance and the number of the first triangle that a ray meets; -1: none.

    Triangles around something round count where that is met, glass that is passed does not.
    """
    nodes, faces = tree
    rounds, triangles, glass = looks
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
            t = _meets(faces[k].corners, o, d)
            look = triangles[faces[k].number]
            body = look.round
            if look.opacity < glass:
                continue
            if body >= 0 and t == t:
                t = local_round_hit(rounds[body], (o[0], o[1], o[2]), (d[0], d[1], d[2]), near)[0]
            if near <= t < best:
                best, face = t, faces[k].number
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
