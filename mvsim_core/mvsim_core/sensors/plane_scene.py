# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world as planar lidars see it: upright polygons, circles and occupancy grids.

A shape is seen by a sensor whose height lies within the shape's z-range; grids are endlessly high.
Solids are seen from outside only. Shapes of static bodies are kept with the walls, and looked at
anew when one of these bodies was moved after all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.sensors.grid_rays import GRID, grid_kernel
from mvsim_core.sensors.rays import CHUNK, SHAPE, Shapes, place_kernel, trace_kernel
from mvsim_core.state.arrays import BODY, STATIC, FloatArray, IntArray, Rows

#: Shapes in one chunk. Looking at a shape costs about as much as looking at a chunk.
CHUNK_SIZE = 16


@dataclass(frozen=True, slots=True)
class _Solid:
    corners: FloatArray  # (n, 2) m, counter-clockwise, body frame; n = 0: a circle
    center: tuple[float, float]
    reach: float
    body: int
    zmin: float
    zmax: float


@dataclass(frozen=True, slots=True)
class _Layout:
    """The shapes as arrays."""

    fixed: Shapes
    chunks: Rows
    moving: Shapes
    placed: Shapes
    baked_rows: IntArray
    baked_poses: FloatArray


@dataclass(slots=True)
class PlaneScene:
    """What stands in the world; ``trace`` casts rays at it."""

    grids: list[GridMap] = field(default_factory=list)
    _solids: dict[int, _Solid] = field(default_factory=dict)
    _next_handle: int = 0
    _grid_rows: list[Rows] = field(default_factory=list)
    _layout: _Layout | None = None

    def add_polygon(
        self,
        points: npt.ArrayLike,
        *,
        body: int = -1,
        zmin: float = -math.inf,
        zmax: float = math.inf,
    ) -> int:
        """Add a closed polygon, convex or not; return a handle for ``remove``.

        Args:
            points: (n, 2) corners [m] in the frame of the body. Two points make a thin wall.
            body: Row of BODY; -1: it is fixed in the world and points are in the world frame.
            zmin: Lower end [m] above the body's reference point (or the world's floor).
            zmax: Upper end [m].
        """
        corners = np.array(points, dtype=np.float64)
        if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2:
            raise ValueError(f"a polygon needs (n, 2) points with n >= 2, got {corners.shape}")
        if not np.isfinite(corners).all():
            raise ValueError("a polygon needs finite points")
        return self._add(_Solid(*_measured(corners.tobytes()), body, zmin, zmax))

    def add_circle(
        self,
        center: tuple[float, float],
        radius: float,
        *,
        body: int = -1,
        zmin: float = -math.inf,
        zmax: float = math.inf,
    ) -> int:
        """Add an upright cylinder; arguments as in ``add_polygon``, radius in m."""
        if not (radius > 0 and math.isfinite(radius + center[0] + center[1])):
            raise ValueError(f"a circle needs a radius > 0 and a finite centre, got {radius}")
        no_corners = np.zeros((0, 2))
        return self._add(_Solid(no_corners, center, radius, body, zmin, zmax))

    def add_grid(self, grid: GridMap) -> None:
        """Add an occupancy grid."""
        row = np.zeros(1, GRID)
        row["x"], row["y"] = grid.origin.x, grid.origin.y
        row["cos"], row["sin"] = math.cos(grid.origin.yaw), math.sin(grid.origin.yaw)
        row["per_metre"] = 1.0 / grid.resolution
        self.grids.append(grid)
        self._grid_rows.append(row)

    def remove(self, handle: int) -> None:
        """Remove a polygon or circle.

        Raises:
            KeyError: There is none with that handle.
        """
        del self._solids[handle]
        self._layout = None

    def clear_bodies(self) -> None:
        """Remove all shapes that belong to bodies."""
        self._solids = {k: s for k, s in self._solids.items() if s.body < 0}
        self._layout = None

    def freeze(self, bodies: Rows | None = None) -> None:
        """Lay the shapes out now and not in the next scan, if the bodies are known."""
        self._layout = None if bodies is None else _lay_out(list(self._solids.values()), bodies)
        for grid in self.grids:
            grid.clearance  # noqa: B018 - derived on first use, which would stall the first scan

    def trace(self, fans: Rows, due: IntArray, rays: FloatArray, bodies: Rows) -> None:
        """Shorten rays to what they meet first.

        Args:
            fans: FAN, aimed.
            due: Which of them are cast.
            rays: (3, n) of all fans: direction cosine and sine, length [m], which is shortened.
            bodies: BODY, all rows.
        """
        layout = self._layout
        if layout is None or _moved_kernel(bodies, layout.baked_rows, layout.baked_poses):
            layout = self._layout = _lay_out(list(self._solids.values()), bodies)
        if len(layout.moving[0]):
            place_kernel(layout.moving, bodies, layout.placed)
        trace_kernel(fans, due, rays, layout.fixed, layout.chunks, layout.placed)
        for grid, row in zip(self.grids, self._grid_rows, strict=True):
            grid_kernel(fans, due, rays, row, grid.clearance)

    def _add(self, solid: _Solid) -> int:
        if not solid.zmin <= solid.zmax:
            raise ValueError(f"zmin must be <= zmax, got {solid.zmin} and {solid.zmax}")
        self._layout = None
        self._next_handle += 1
        self._solids[self._next_handle] = solid
        return self._next_handle


@lru_cache(maxsize=1024)  # worlds have thousands of the same shape
def _measured(points: bytes) -> tuple[FloatArray, tuple[float, float], float]:
    """Return corners (n, 2) counter-clockwise, their centre and how far they reach from it."""
    corners = np.frombuffer(points).reshape(-1, 2)
    x, y = corners.T
    if np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)) < 0:
        corners = corners[::-1].copy()
    low, high = corners.min(axis=0), corners.max(axis=0)
    center = 0.5 * (low + high)
    reach = float(np.hypot(*(corners - center).T).max())
    return corners, (float(center[0]), float(center[1])), reach


@njit(cache=True, nogil=True)
def _moved_kernel(bodies: Rows, rows: IntArray, poses: FloatArray) -> bool:
    for k in range(rows.size):
        if rows[k] >= bodies.size:
            return True
        body, pose = bodies[rows[k]], poses[k]
        if body.x != pose[0] or body.y != pose[1] or body.z != pose[2] or body.yaw != pose[3]:
            return True
    return False


def _lay_out(solids: list[_Solid], bodies: Rows) -> _Layout:
    still = [s for s in solids if s.body < 0 or bodies["kind"][s.body] == STATIC]
    moving = [s for s in solids if s.body >= 0 and bodies["kind"][s.body] != STATIC]
    baked = sorted({s.body for s in still if s.body >= 0})
    local = _arrays(still)
    fixed = (local[0].copy(), local[1].copy())
    _bake(local, fixed, bodies)
    order = _neighbours_first(fixed[0])
    fixed = (fixed[0][order], fixed[1])
    arrays = _arrays(moving)
    return _Layout(
        fixed=fixed,
        chunks=_chunks(fixed[0]),
        moving=arrays,
        placed=(arrays[0].copy(), arrays[1].copy()),
        baked_rows=np.array(baked, dtype=np.int64),
        baked_poses=np.array(
            [[bodies[r][name] for name in ("x", "y", "z", "yaw")] for r in baked], dtype=np.float64
        ).reshape(-1, 4),
    )


def _arrays(solids: list[_Solid]) -> Shapes:
    shapes = np.zeros(len(solids), SHAPE)
    counts = np.array([len(s.corners) for s in solids], dtype=np.int64)
    shapes["count"] = counts
    shapes["start"] = np.cumsum(counts) - counts
    for name in ("body", "reach", "zmin", "zmax"):
        shapes[name] = [getattr(s, name) for s in solids]
    if solids:
        shapes["x"], shapes["y"] = np.array([s.center for s in solids]).T
    return shapes, np.concatenate([np.zeros((0, 2)), *(s.corners for s in solids)])


def _bake(local: Shapes, placed: Shapes, bodies: Rows) -> None:
    """Put the shapes of bodies where these are; those without a body stay where they are."""
    with_origin = np.concatenate([bodies, np.zeros(1, BODY)])
    shapes = local[0].copy()
    shapes["body"] = np.where(shapes["body"] < 0, len(bodies), shapes["body"])
    place_kernel((shapes, local[1]), with_origin, placed)


def _neighbours_first(shapes: Rows) -> IntArray:
    """Return an order in which neighbours of a size follow one another (a Z-shaped curve)."""
    if len(shapes) == 0:
        return np.zeros(0, np.int64)
    size = np.floor(np.log2(np.maximum(shapes["reach"], 1e-9)))
    code = np.zeros(len(shapes), np.int64)
    for shift, name in enumerate(("x", "y")):
        low = shapes[name].min()
        span = max(float(np.ptp(shapes[name])), 1e-9)
        cell = ((shapes[name] - low) / span * 1023).astype(np.int64)
        for bit in range(10):
            code |= ((cell >> bit) & 1) << (2 * bit + shift)
    return np.lexsort((code, size)).astype(np.int64)


def _chunks(shapes: Rows) -> Rows:
    chunks = np.zeros(-(-len(shapes) // CHUNK_SIZE), CHUNK)
    for k, chunk in enumerate(chunks):
        part = shapes[k * CHUNK_SIZE : (k + 1) * CHUNK_SIZE]
        chunk["start"], chunk["count"] = k * CHUNK_SIZE, len(part)
        low = np.array([(part[n] - part["reach"]).min() for n in ("x", "y")])
        high = np.array([(part[n] + part["reach"]).max() for n in ("x", "y")])
        chunk["x"], chunk["y"] = 0.5 * (low + high)
        far = np.hypot(part["x"] - chunk["x"], part["y"] - chunk["y"]) + part["reach"]
        chunk["reach"] = far.max()
        chunk["zmin"], chunk["zmax"] = part["zmin"].min(), part["zmax"].max()
    return chunks
