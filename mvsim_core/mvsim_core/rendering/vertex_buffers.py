# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Models as rows of corners that OpenGL draws, grouped by texture and what else differs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from mvsim_core.scene3d.model import Material, Model, Rgba
from mvsim_core.scene3d.tables import Floats
from mvsim_core.state.arrays import FloatArray, IntArray

#: Corner: position 3, normal 3, texture coordinates 2, colour 4.
WIDTH = 12
#: Faces that meet at less than 41 degrees are shaded as one round surface.
ROUND = 0.75


#: Surfaces less opaque than this are blended with what is behind them.
OPAQUE = 1.0 - 0.5 / 255


class Stretch(NamedTuple):
    """Corners that are drawn alike.

    Attributes:
        texture: Image file, "" for none.
        cull_face: As of `Material`.
        clear: Whether one sees through it.
        first: First corner.
        corners: Number of corners.
        middle: Mean of the corners, frame of the model [m].
    """

    texture: str
    cull_face: str
    clear: bool
    first: int
    corners: int
    middle: tuple[float, float, float]


def corners_of(model: Model) -> tuple[Floats, list[Stretch]]:
    """Return (3 m, WIDTH) corners of a model, and their stretches, those of glass last.

    Surfaces that are never drawn are left out.
    """
    looks = [_look(m) for m in model.materials]
    groups = sorted(set(looks))
    which = np.array([groups.index(look) for look in looks])[model.material]
    which[np.array([m.cull_face == "BOTH" for m in model.materials])[model.material]] = len(groups)
    order = np.argsort(which, kind="stable")[: int((which < len(groups)).sum())]
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
    for (clear, cull_face, texture, _), end in zip(groups, ends.tolist(), strict=True):
        if end > first:
            x, y, z = model.vertices[flat[first:end]].mean(axis=0).tolist()
            stretches.append(Stretch(texture, cull_face, clear, first, end - first, (x, y, z)))
        first = end
    return corners, stretches


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
