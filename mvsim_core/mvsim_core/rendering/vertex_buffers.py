# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models as vertices and indices that OpenGL draws, grouped by texture and what else differs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.scene3d.model import Material, Model, Rgba
from mvsim_core.scene3d.tables import Floats
from mvsim_core.state.arrays import FloatArray, IntArray

Indices = npt.NDArray[np.uint32]

#: Vertex: position 3, normal 3, texture coordinates 2, colour 4.
WIDTH = 12
#: Faces that meet at less than 41 degrees are shaded as one round surface.
ROUND = 0.75


#: Surfaces less opaque than this are blended with what is behind them.
OPAQUE = 1.0 - 0.5 / 255


class Stretch(NamedTuple):
    """Triangles that are drawn alike.

    Attributes:
        texture: Image file, "" for none.
        cull_face: As of `Material`.
        opacity: 0 to 1.
        first: First index.
        corners: Number of indices.
        middle: Mean of the corners, frame of the model [m].
    """

    texture: str
    cull_face: str
    opacity: float
    first: int
    corners: int
    middle: tuple[float, float, float]

    @property
    def clear(self) -> bool:
        """Whether one sees through it."""
        return self.opacity < OPAQUE


class Buffers(NamedTuple):
    """A model as OpenGL takes it.

    Attributes:
        vertices: (n, WIDTH).
        indices: (3 m,) rows of vertices, three a triangle.
        stretches: Opaque ones, then those of glass.
        ball: Middle (3) and radius of a ball around the model, its frame [m].
    """

    vertices: Floats
    indices: Indices
    stretches: list[Stretch]
    ball: tuple[float, float, float, float]


def buffers_of(model: Model) -> Buffers:
    """Return what is drawn of a model."""
    looks = [_look(m) for m in model.materials]
    groups = sorted(set(looks))
    which = np.array([groups.index(look) for look in looks])[model.material]
    order = np.argsort(which, kind="stable")
    triangles, material = model.triangles[order], model.material[order]
    count = 3 * len(triangles)
    corners = np.zeros((count, WIDTH), np.float32)
    flat = triangles.ravel()
    corners[:, 0:3] = model.vertices[flat]
    corners[:, 3:6] = _normals(model.vertices, triangles)
    if model.texcoords is not None:
        corners[:, 6:8] = model.texcoords[flat]
    colors = np.array([m.color for m in model.materials])
    corners[:, 8:12] = np.repeat(colors[material], 3, axis=0)
    ends = 3 * np.searchsorted(which[order], np.arange(len(groups)), side="right")
    stretches, first = [], 0
    for (_, cull_face, texture, color), end in zip(groups, ends.tolist(), strict=True):
        if end > first:
            x, y, z = model.vertices[flat[first:end]].mean(axis=0).tolist()
            span = (first, end - first)
            stretches.append(Stretch(texture, cull_face, color[3], *span, (x, y, z)))
        first = end
    vertices, indices = _shared(corners)
    return Buffers(vertices, indices, stretches, _ball(corners[:, :3].astype(np.float64)))


def _shared(corners: Floats) -> tuple[Floats, Indices]:
    """Return the different ones of corners, in order of coming, and where each corner is."""
    size = 1 << max(2 * len(corners) - 1, 1).bit_length()
    table = np.full(size, -1, np.int32)
    indices = np.zeros(len(corners), np.uint32)
    chosen = np.zeros(len(corners), np.int64)
    count = _share_kernel(corners.view(np.uint32), table, indices, chosen)
    return np.ascontiguousarray(corners[chosen[:count]]), indices


def _ball(points: FloatArray) -> tuple[float, float, float, float]:
    if not len(points):
        return 0.0, 0.0, 0.0, 0.0
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    x, y, z = middle.tolist()
    return x, y, z, float(np.sqrt(((points - middle) ** 2).sum(axis=1).max()))


def _look(material: Material) -> tuple[bool, str, str, Rgba]:
    """Return what tells stretches apart: glass of each colour is one, so that it can be sorted."""
    clear = material.color[3] < OPAQUE
    color = material.color if clear else (0.0, 0.0, 0.0, 1.0)
    return clear, material.cull_face, material.texture, color


def _normals(vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """Return (3 m, 3): the mean normal of the faces around each corner that bend gently there."""
    corner = vertices[triangles]
    ahead = np.roll(corner, -1, axis=1) - corner
    back = np.roll(corner, 1, axis=1) - corner
    weighted = np.cross(ahead[:, 0], back[:, 0])
    face = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    turn = np.linalg.norm(np.cross(ahead, back), axis=2)
    angle = np.arctan2(turn, (ahead * back).sum(axis=2)).ravel()
    step = 1e-5 * (float(np.ptp(vertices, axis=0).max()) or 1.0)
    _, point = np.unique(np.round(vertices / step), axis=0, return_inverse=True)
    at = point.reshape(-1)[triangles.ravel()]
    order = np.argsort(at, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(at[order])) + 1, len(at))
    out = np.zeros((len(at), 3))
    _mean_kernel(order, ends, face, angle, out)
    return out


@njit(cache=True, nogil=True)
def _mean_kernel(
    order: IntArray, ends: IntArray, face: FloatArray, angle: FloatArray, out: FloatArray
) -> None:
    """Add, for each group of corners at one point, the faces that bend gently to each corner's."""
    first = 0
    for end in ends:
        for i in order[first:end]:
            a = face[i // 3]
            for j in order[first:end]:
                b = face[j // 3]
                if a[0] * b[0] + a[1] * b[1] + a[2] * b[2] >= ROUND:
                    for k in range(3):
                        out[i, k] += angle[j] * b[k]
        first = end


@njit(cache=True, nogil=True)
def _share_kernel(bits, table, indices, chosen):  # type: ignore[no-untyped-def]
    """Number equal rows alike, through a table of hashes; return how many differ."""
    mask = np.uint64(table.size - 1)
    count = 0
    for i in range(bits.shape[0]):
        key = np.uint64(1469598103934665603)  # FNV-1a, by words
        for k in range(bits.shape[1]):
            key = (key ^ np.uint64(bits[i, k])) * np.uint64(1099511628211)
        at = np.int64((key ^ (key >> np.uint64(29))) & mask)
        while True:
            row = table[at]
            if row < 0:
                table[at] = count
                chosen[count] = i
                row = count
                count += 1
                break
            same = True
            for k in range(bits.shape[1]):
                same = same and bits[chosen[row], k] == bits[i, k]
            if same:
                break
            at = (at + 1) % table.size
        indices[i] = row
    return count
