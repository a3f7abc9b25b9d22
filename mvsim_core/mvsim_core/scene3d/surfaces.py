# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How bright surfaces with pictures are where rays meet them: what lidars call intensity."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.scene3d.model import Model
from mvsim_core.scene3d.textures import brightness_of
from mvsim_core.state.arrays import FloatArray, IntArray, Row, Rows

#: A triangle with a picture: its texture coordinates as functions of the point (x, y, z, 1) [m] in
#: the frame of the model, and where the picture is in the table of texels.
SURFACE = np.dtype(
    [
        ("u", "f4", (4,)),
        ("v", "f4", (4,)),
        ("first", "i8"),
        ("width", "i4"),
        ("height", "i4"),
    ]
)
TEXEL = np.dtype("u1")
Point = tuple[float, float, float]


class Surfaces(NamedTuple):
    """The triangles of a model that have pictures.

    Attributes:
        which: (m,) row of `rows` of each triangle; -1: it has none.
        rows: SURFACE; `first` counts from the first texel of the model.
        texels: Brightness of all pictures, row by row from the top, 0 to 255.
    """

    which: IntArray
    rows: Rows
    texels: npt.NDArray[np.uint8]


def surfaces_of(model: Model) -> Surfaces:
    """Return the triangles of a model that have pictures, each picture once for each colour."""
    which = np.full(len(model.triangles), -1)
    rows, texels, count = [np.zeros(0, SURFACE)], [np.zeros(0, TEXEL)], 0
    if model.texcoords is None:
        return Surfaces(which, rows[0], texels[0])
    first = 0
    for number, material in enumerate(model.materials):
        chosen = np.flatnonzero(model.material == number)
        picture = brightness_of(material) if material.texture and len(chosen) else None
        if picture is None:
            continue
        block = np.zeros(len(chosen), SURFACE)
        corners = model.triangles[chosen]
        block["u"], block["v"] = _gradients(model.vertices[corners], model.texcoords[corners])
        block["first"] = first
        block["height"], block["width"] = picture.shape
        which[chosen] = np.arange(count, count + len(chosen))
        rows.append(block)
        texels.append(picture.ravel())
        count += len(chosen)
        first += picture.size
    return Surfaces(which, np.concatenate(rows), np.concatenate(texels))


def _gradients(corners: FloatArray, texcoords: FloatArray) -> FloatArray:
    """Return (2, n, 4): u and v of triangles (n, 3, 3) as functions of (x, y, z, 1)."""
    a = corners[:, 1] - corners[:, 0]
    b = corners[:, 2] - corners[:, 0]
    aa, ab, bb = (a * a).sum(axis=1), (a * b).sum(axis=1), (b * b).sum(axis=1)
    det = np.maximum(aa * bb - ab * ab, 1e-300)
    out = np.zeros((2, len(corners), 4))
    for k in range(2):
        base = texcoords[:, 0, k]
        along_a, along_b = texcoords[:, 1, k] - base, texcoords[:, 2, k] - base
        slope = ((bb * along_a - ab * along_b) / det)[:, None] * a
        slope += ((aa * along_b - ab * along_a) / det)[:, None] * b
        out[k, :, :3] = slope
        # Whole turns of a repeated picture are left out, for single precision.
        out[k, :, 3] = (base - (slope * corners[:, 0]).sum(axis=1)) % 1.0
    return out


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def brightness_at(  # noqa: PLR0913 (a ray, a triangle and two tables)
    face: Row,
    item: Row,
    origin: Point,
    direction: Point,
    t: float,
    surfaces: Rows,
    texels: npt.NDArray[np.uint8],
) -> float:
    """Return how bright a triangle (TRIANGLE) is where a ray meets it, 0 to 1."""
    if face.surface < 0:
        return float(face.brightness)
    surface = surfaces[face.surface]
    x = origin[0] + t * direction[0] - item.t[0]
    y = origin[1] + t * direction[1] - item.t[1]
    z = origin[2] + t * direction[2] - item.t[2]
    u, v = np.float64(surface.u[3]), np.float64(surface.v[3])
    for k in range(3):
        along = item.r[0, k] * x + item.r[1, k] * y + item.r[2, k] * z
        u += surface.u[k] * along
        v += surface.v[k] * along
    u, v = u - math.floor(u), v - math.floor(v)
    column = min(int(u * surface.width), surface.width - 1)
    row = surface.height - 1 - min(int(v * surface.height), surface.height - 1)
    return float(texels[surface.first + row * surface.width + column]) / 255.0
