# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models as rows of corners that OpenGL draws, grouped by texture."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from mvsim_core.sensors.scene3d import Model
from mvsim_core.sensors.scene3d.tables import Floats
from mvsim_core.state.arrays import FloatArray, IntArray

#: Corner: position 3, normal 3, texture coordinates 2, colour 4.
WIDTH = 12
#: Faces that meet at less than 41 degrees are shaded as one round surface.
ROUND = 0.75


class Stretch(NamedTuple):
    """Corners that are drawn with one texture."""

    texture: str
    first: int
    corners: int


def corners_of(model: Model) -> tuple[Floats, list[Stretch]]:
    """Return (3 m, WIDTH) corners of a model, and the stretches of one texture each."""
    textures = sorted({m.texture for m in model.materials})
    which = np.array([textures.index(m.texture) for m in model.materials])[model.material]
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
    sizes = 3 * np.bincount(which, minlength=len(textures))
    starts = np.cumsum(sizes) - sizes
    return corners, [
        Stretch(texture, int(first), int(n))
        for texture, first, n in zip(textures, starts, sizes, strict=True)
        if n
    ]


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
