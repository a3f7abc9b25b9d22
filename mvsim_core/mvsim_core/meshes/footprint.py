# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Collision outlines from 3D models (``<shape_from_visual>``).

The outline is the convex hull of the model in plan view, on a grid with cells of 1/100 of the
model's diagonal: the hull of the centres of all cells that an edge of the model passes through,
reduced to at most 12 corners. The C++ simulator finds its outlines in the same way, and the
trajectories of a vehicle depend on their inertia.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mvsim_core.geometry.polygons import convex_hull
from mvsim_core.geometry.poses import Pose, area_of, rotation
from mvsim_core.meshes.readers import Mesh, MeshError, read_mesh
from mvsim_core.state.arrays import FloatArray

#: Most corners of an outline.
MAX_CORNERS = 12
#: Grid cells along the diagonal of a model.
SQUARES = 100
#: Tolerance of given z-limits [m].
Z_SLACK = 1e-3

Cells = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Footprint:
    """The area that a model covers on the ground.

    Attributes:
        polygon: (n, 2) m, convex, counter-clockwise, 3 to 12 corners, in the owner's frame.
        zmin: Lowest point [m].
        zmax: Highest point [m].
    """

    polygon: FloatArray
    zmin: float
    zmax: float


class Visual(Protocol):
    """The part of a `VisualSpec` that is needed here."""

    @property
    def enabled(self) -> bool:
        """Whether it is used."""

    @property
    def model_uri(self) -> str:
        """File or remote address."""

    @property
    def model_scale(self) -> float:
        """Scale."""

    @property
    def pose(self) -> Pose:
        """Pose of the scaled model in its owner's frame."""


class _Part(NamedTuple):
    path: str
    scale: float
    pose: Pose


def footprint(
    visuals: Sequence[Visual],
    *,
    zmin: float | None = None,
    zmax: float | None = None,
    scale: float | None = None,
    warn: Callable[[str], None],
) -> Footprint | None:
    """Return the common footprint of the models of visuals, or None if none of them can be used.

    Args:
        visuals: The visuals of one vehicle or block.
        zmin: Parts below are ignored [m]; None: no limit.
        zmax: Parts above are ignored [m]; None: no limit.
        scale: Replaces the scale of every visual.
        warn: Called with one sentence for each model that cannot be used.
    """
    parts = []
    for visual in visuals:
        if not (visual.enabled and visual.model_uri):
            continue
        path = visual.model_uri.removeprefix("file://")
        try:
            read_mesh(path)
        except MeshError as error:
            warn(str(error))
            continue
        parts.append(_Part(path, visual.model_scale if scale is None else scale, visual.pose))
    if not parts:
        return None
    meshes = tuple(read_mesh(part.path) for part in parts)
    low = -math.inf if zmin is None else zmin
    high = math.inf if zmax is None else zmax
    found = _footprint(meshes, tuple(parts), low, high)
    if found is None:
        names = ", ".join(part.path for part in parts)
        limits = "" if zmin is None and zmax is None else f" between z = {low:g} and {high:g} m"
        warn(f"{names}: the model has no volume{limits}")
    return found


@lru_cache(maxsize=256)
def _footprint(
    meshes: tuple[Mesh, ...], parts: tuple[_Part, ...], low: float, high: float
) -> Footprint | None:
    """Return the footprint of placed models; the cache compares meshes by identity."""
    placed = [
        part.scale * mesh.vertices @ rotation(part.pose).T + np.array(part.pose[:3])
        for mesh, part in zip(meshes, parts, strict=True)
    ]
    corners = np.concatenate(placed)
    size = float(np.hypot(*np.ptp(corners[:, :2], axis=0))) / SQUARES
    if size <= 0.0:
        return None
    points = np.concatenate(
        [
            _edge_points(vertices, mesh, size, (low - Z_SLACK, high + Z_SLACK))
            for vertices, mesh in zip(placed, meshes, strict=True)
        ]
    )
    if len(points) == 0:
        return None
    corners_in_cells = _simplified(_hull(_occupied_cells(points[:, :2], size))).astype(np.float64)
    polygon: FloatArray = (corners_in_cells + 0.5) * size
    bottom = max(float(points[:, 2].min()), low)
    top = min(float(points[:, 2].max()), high)
    if len(polygon) < 3 or area_of(polygon).area * (top - bottom) < 1e-8:
        return None
    return Footprint(polygon, bottom, top)


def _edge_points(
    vertices: FloatArray, mesh: Mesh, size: float, limits: tuple[float, float]
) -> FloatArray:
    """Return points on all edges, no farther apart than ``size``, within the z-limits."""
    edges = np.concatenate(
        [
            mesh.triangles[:, [0, 1]],
            mesh.triangles[:, [1, 2]],
            mesh.triangles[:, [2, 0]],
            mesh.lines,
        ]
    )
    if len(edges) == 0:  # a cloud of points
        inside = (vertices[:, 2] >= limits[0]) & (vertices[:, 2] <= limits[1])
        return vertices[inside]
    begin, end = vertices[edges[:, 0]], vertices[edges[:, 1]]
    begin, end = _clipped(begin, end, limits)
    length = np.linalg.norm(end - begin, axis=1)
    counts = np.ceil(length / size).astype(np.int64) + 1
    edge = np.repeat(np.arange(len(counts)), counts)
    step = np.arange(len(edge)) - np.repeat(np.cumsum(counts) - counts, counts)
    part = step / np.maximum(counts[edge] - 1, 1)
    points: FloatArray = begin[edge] + part[:, None] * (end - begin)[edge]
    return points


def _clipped(
    begin: FloatArray, end: FloatArray, limits: tuple[float, float]
) -> tuple[FloatArray, FloatArray]:
    """Return the parts of edges between two heights, without edges that are outside."""
    z0, rise = begin[:, 2], end[:, 2] - begin[:, 2]
    low, high = limits
    with np.errstate(divide="ignore", invalid="ignore"):
        at_low, at_high = (low - z0) / rise, (high - z0) / rise
    level = rise == 0
    inside = (z0 >= low) & (z0 <= high)
    at_low[level], at_high[level] = np.where(inside[level], -np.inf, np.inf), np.inf
    first = np.clip(np.minimum(at_low, at_high), 0.0, None)
    last = np.clip(np.maximum(at_low, at_high), None, 1.0)
    kept = first <= last
    span = (end - begin)[kept]
    start = begin[kept]
    return start + first[kept, None] * span, start + last[kept, None] * span


def _occupied_cells(points: FloatArray, size: float) -> Cells:
    """Return the cells (n, 2) that contain a point and touch another such cell."""
    cells = np.unique(np.floor(points / size).astype(np.int64), axis=0)
    corner = cells.min(axis=0) - 1
    grid = np.zeros(np.ptp(cells, axis=0) + 3, np.int64)
    column, row = (cells - corner).T
    grid[column, row] = 1
    around = sum(
        grid[column + dx, row + dy] for dx in (-1, 0, 1) for dy in (-1, 0, 1) if (dx, dy) != (0, 0)
    )
    connected = cells[np.asarray(around) > 0]
    return connected if len(connected) else cells


def _hull(cells: Cells) -> Cells:
    """Return the convex hull, counter-clockwise from the leftmost of the lowest cells."""
    hull = convex_hull(cells.astype(np.float64)).astype(np.int64)
    return np.roll(hull, -int(np.lexsort(hull.T)[0]), axis=0)


def _simplified(hull: Cells) -> Cells:
    """Return at most `MAX_CORNERS` corners, after removing those that cost the least area.

    Of equal ones the first is removed, as in the C++ simulator; integers make that exact.
    (shapely.simplify removes by distance to a line and does not take a number of corners.)
    """
    while len(hull) > MAX_CORNERS:
        before, after = hull - np.roll(hull, 1, axis=0), np.roll(hull, -1, axis=0) - hull
        loss = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
        hull = np.delete(hull, int(np.argmin(loss)), axis=0)
    return hull
