# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Coarser models of large ground, which would take a browser seconds to load."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from mvsim_core.scene3d import Model
from mvsim_core.state.arrays import IntArray

#: Triangles of a piece of ground that are sent at most, about.
MOST_TRIANGLES = 100_000


def decimated(model: Model, most: int = MOST_TRIANGLES) -> Model:
    """Return a model of ground with about `most` triangles at most.

    Of all vertices that are nearest to the same point of a level lattice, the nearest one stands
    for all. The lattice ends where the model ends, so that its border stays where it is.
    """
    count = len(model.triangles)
    if count <= most:
        return model
    level = model.vertices[:, :2]
    low, size = level.min(axis=0), np.ptp(level, axis=0)
    spacing = math.sqrt(2.0 * float(np.prod(size)) / most)
    cells = np.maximum(np.round(size / max(spacing, 1e-9)), 1.0)
    place = (level - low) / np.maximum(size / cells, 1e-9)
    nearest = np.round(place)
    key = (nearest[:, 0] * (cells[1] + 1.0) + nearest[:, 1]).astype(np.int64)
    order = np.lexsort((((place - nearest) ** 2).sum(axis=1), key))
    _, first, of_vertex = np.unique(key[order], return_index=True, return_inverse=True)
    stands_for = np.empty(len(level), np.int64)
    stands_for[order] = order[first][of_vertex]
    return _with_corners(model, stands_for[model.triangles])


def _with_corners(model: Model, triangles: IntArray) -> Model:
    """Return a model with other corners of its triangles, without those that are lines now."""
    a, b, c = triangles.T
    kept = (a != b) & (b != c) & (c != a)
    used, corners = np.unique(triangles[kept], return_inverse=True)
    uv = model.texcoords
    return replace(
        model,
        vertices=model.vertices[used],
        triangles=corners.reshape(-1, 3),
        material=model.material[kept],
        texcoords=None if uv is None else uv[used],
        round_of=model.round_of[kept],
    )
