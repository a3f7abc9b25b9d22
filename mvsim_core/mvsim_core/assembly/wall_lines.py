# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Lines of straight walls: between points of the file, or along the lines of a 3D model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.meshes.readers import Mesh, MeshError, read_mesh
from mvsim_core.specs.block import WallsSpec
from mvsim_core.state.arrays import FloatArray, IntArray

#: Most lines of a model that become walls; each is a shape for lidars and contacts.
MOST_LINES = 50_000


def wall_lines(spec: WallsSpec, warn: Callable[[Any, str, str], None]) -> FloatArray:
    """Return the two ends (n, 2, 2) of each wall in the world frame [m].

    Args:
        spec: Its spec from the world file.
        warn: Called with where, element and message if no walls can be made of its model.
    """
    points = np.array(spec.segments, dtype=np.float64).reshape(-1, 2)
    points = np.column_stack((points, np.zeros(len(points))))
    if not spec.shape:
        try:
            points = _model_lines(spec.model_uri, read_mesh(spec.model_uri))
        except MeshError as error:
            warn(spec.where, "walls", f"{error}: no walls are made of it")
    if len(points) > 2 * MOST_LINES:
        text = f"{len(points) // 2} lines are too many for walls: {MOST_LINES} are made"
        warn(spec.where, "walls", text)
        points = points[: 2 * MOST_LINES]
    places = np.column_stack((points, np.ones(len(points)))) @ np.array(spec.transformation).T
    lines: FloatArray = places[:, :2].reshape(-1, 2, 2)
    return lines


def _model_lines(name: str, mesh: Mesh) -> FloatArray:
    """Return the ends (2n, 3) of the lines that a model draws, or of the edges of its faces [m].

    Raises:
        MeshError: It has neither.
    """
    rows = mesh.lines if len(mesh.lines) else _edges(mesh.triangles)
    if len(rows) == 0:
        raise MeshError(f"{name}: the model has neither lines nor faces")
    ends: FloatArray = mesh.vertices[rows.ravel()]
    return ends


def _edges(triangles: IntArray) -> IntArray:
    edges = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    found: IntArray = np.unique(np.sort(edges, axis=1), axis=0)
    return found
