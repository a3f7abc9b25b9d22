# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The world as planar lidars see it: upright polygons, circles and occupancy grids.

A shape is seen by a sensor whose height lies within the shape's z-range; grids are endlessly high.
Solids are seen from outside only. Walls are fixed in the world and seen from all its copies;
bodies are seen from their own copy.

Bodies are kept in one group a copy. A scan looks at the bodies of its group, places the shapes of
those that are in reach, and leaves those alone that hide behind nearer ones. Adding and removing a
body touches nothing of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.sensors.blocks import Blocks, with_room
from mvsim_core.sensors.grid_rays import GRID, grid_kernel
from mvsim_core.sensors.ray_search import CHUNK, GROUP, OUTLINE, place_kernel, trace_kernel
from mvsim_core.sensors.rays import SHAPE, Shapes
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.state.rows import bytes_of

#: Shapes in one chunk. Looking at a shape costs about as much as looking at a chunk.
CHUNK_SIZE = 16
#: Bodies that a group has room for at first.
_FIRST_ROOM = 2

ANY_HEIGHT = (-math.inf, math.inf)


class Solid(Protocol):
    """An upright prism of a body, such as `state.entities.Solid`."""

    @property
    def points(self) -> FloatArray:
        """(n, 2) m, corners of a simple polygon in the body frame; two make a thin wall."""

    @property
    def z_range(self) -> tuple[float, float]:
        """Lower and upper end above the body's reference point [m]."""


class Prism(NamedTuple):
    """The plainest `Solid`."""

    points: npt.ArrayLike
    z_range: tuple[float, float] = ANY_HEIGHT


class Cylinder(NamedTuple):
    """An upright cylinder of a body: centre [m, body frame], radius [m], z-range [m]."""

    center: tuple[float, float]
    radius: float
    z_range: tuple[float, float] = ANY_HEIGHT


@dataclass(frozen=True, slots=True)
class _Shape:
    corners: FloatArray  # (n, 2) m, counter-clockwise; n = 0: a circle
    center: tuple[float, float]
    reach: float
    zmin: float
    zmax: float


class _Outline(NamedTuple):
    """The shapes of one body as arrays; bodies with the same solids share it."""

    row: Rows  # OUTLINE, without places
    shapes: Rows
    corners: FloatArray


class PlaneScene:
    """What stands in the world; ``trace`` casts rays at it.

    Attributes:
        grids: The occupancy grids.
    """

    def __init__(self) -> None:
        """Make an empty scene."""
        self.grids: list[GridMap] = []
        self._grid_rows: list[Rows] = []
        self._fixed: dict[int, _Shape] = {}
        self._next_handle = 0
        self._walls: tuple[Rows, FloatArray, Rows] | None = None
        self._places: dict[int, tuple[int, int]] = {}  # row -> copy, index within its group
        self._groups = np.zeros(0, GROUP)
        self._outlines = np.zeros(0, OUTLINE)
        self._outline_blocks = Blocks()
        self._shape_blocks = Blocks()
        self._corner_blocks = Blocks()
        self._local: Shapes = (np.zeros(0, SHAPE), np.zeros((0, 2)))
        self._placed: Shapes = (np.zeros(0, SHAPE), np.zeros((0, 2)))

    # ------------------------------------------------------------ what is fixed in the world
    def add_polygon(
        self, points: npt.ArrayLike, *, zmin: float = -math.inf, zmax: float = math.inf
    ) -> int:
        """Add a closed polygon that stands still, convex or not; return a handle for ``remove``.

        Args:
            points: (n, 2) corners [m], world frame. Two points make a thin wall.
            zmin: Lower end [m], world frame.
            zmax: Upper end [m].

        Raises:
            ValueError: This is no polygon.
        """
        return self._fix(_polygon(points, (zmin, zmax)))

    def add_circle(
        self,
        center: tuple[float, float],
        radius: float,
        *,
        zmin: float = -math.inf,
        zmax: float = math.inf,
    ) -> int:
        """Add an upright cylinder that stands still; arguments as in ``add_polygon``, radius in m.

        Raises:
            ValueError: This is no circle.
        """
        return self._fix(_circle(center, radius, (zmin, zmax)))

    def add_grid(self, grid: GridMap) -> None:
        """Add an occupancy grid."""
        row = np.zeros(1, GRID)
        row["x"], row["y"] = grid.origin.x, grid.origin.y
        row["cos"], row["sin"] = math.cos(grid.origin.yaw), math.sin(grid.origin.yaw)
        row["per_metre"] = 1.0 / grid.resolution
        self.grids.append(grid)
        self._grid_rows.append(row)

    def remove(self, handle: int) -> None:
        """Remove a polygon or circle that stands still.

        Raises:
            KeyError: There is none with that handle.
        """
        del self._fixed[handle]
        self._walls = None

    # ------------------------------------------------------------ bodies
    def add_body(
        self, row: int, solids: Sequence[Solid | Prism | Cylinder], copy: int = 0
    ) -> None:
        """Add one body; see `add_bodies`."""
        self.add_bodies([row], solids, copy)

    def add_bodies(
        self, rows: Sequence[int], solids: Sequence[Solid | Prism | Cylinder], copy: int = 0
    ) -> None:
        """Add bodies that have the same solids.

        Args:
            rows: Of BODY, where the bodies are looked up in each scan.
            solids: The shapes of each, body frame.
            copy: Copy of the world in which they are seen.

        Raises:
            ValueError: A body is here already, or a solid is no polygon or circle.
        """
        if not self._places.keys().isdisjoint(rows):
            row = next(row for row in rows if row in self._places)
            raise ValueError(f"the scene has the body of row {row} already")
        if not solids:
            return
        packed = _packed(tuple(_key(solid) for solid in solids))
        n, m, count = len(packed.shapes), len(packed.corners), len(rows)
        firsts = np.array(self._shape_blocks.take_all(n, count), np.int64)
        corner0 = np.array(self._corner_blocks.take_all(m, count), np.int64)
        self._local = _with_room(self._local, self._shape_blocks.end, self._corner_blocks.end)
        self._placed = _with_room(self._placed, self._shape_blocks.end, self._corner_blocks.end)
        shape_rows = (firsts[:, None] + np.arange(n)).ravel()
        corner_rows = (corner0[:, None] + np.arange(m)).ravel()
        starts = (corner0[:, None] + packed.shapes["start"]).ravel()
        for shapes, corners in (self._local, self._placed):
            bytes_of(shapes)[shape_rows] = np.tile(bytes_of(packed.shapes), (count, 1))
            shapes["start"][shape_rows] = starts
            corners[corner_rows] = np.tile(packed.corners, (count, 1))
        places = self._enter(rows, copy)
        bytes_of(self._outlines)[places] = bytes_of(packed.row)[0]
        outlines = self._outlines[places]
        outlines["row"], outlines["first"], outlines["corner"] = rows, firsts, corner0

    def remove_body(self, row: int) -> None:
        """Remove the solids of a body; nothing happens if it has none."""
        if row not in self._places:
            return
        copy, index = self._places.pop(row)
        group = self._groups[copy]
        place, last = group["start"] + index, group["start"] + group["count"] - 1
        outline = self._outlines[place]
        self._shape_blocks.give(int(outline["first"]), int(outline["count"]))
        self._corner_blocks.give(int(outline["corner"]), int(outline["corners"]))
        if place != last:
            self._outlines[place] = self._outlines[last]
            self._places[int(self._outlines["row"][place])] = (copy, index)
        group["count"] -= 1

    def clear_bodies(self) -> None:
        """Remove all bodies."""
        for row in list(self._places):
            self.remove_body(row)

    def _enter(self, rows: Sequence[int], copy: int) -> slice:
        """Return where the outlines of new bodies go."""
        if copy >= len(self._groups):
            self._groups = with_room(self._groups, copy + 1)
        group = self._groups[copy]
        start, count, room = int(group["start"]), int(group["count"]), int(group["room"])
        end = count + len(rows)
        if end > room:
            wider = max(2 * room, _FIRST_ROOM, end)
            target = self._outline_blocks.take(wider)
            self._outlines = with_room(self._outlines, self._outline_blocks.end)
            self._outlines[target : target + count] = self._outlines[start : start + count]
            if room:
                self._outline_blocks.give(start, room)
            group["start"], group["room"] = start, room = target, wider
        group["count"] = end
        self._places.update(zip(rows, zip(repeat(copy), range(count, end)), strict=False))
        return slice(start + count, start + end)

    # ------------------------------------------------------------ scans
    def freeze(self) -> None:
        """Lay out what stands still now and not in the first scan."""
        if self._walls is None:
            self._walls = _lay_out(list(self._fixed.values()))
        for grid in self.grids:
            grid.clearance  # noqa: B018 - derived on first use, which would stall the first scan

    def place_all(self, fans: Rows, due: IntArray, bodies: Rows) -> None:
        """Place all bodies that fans may meet; after it threads may call `trace` together.

        Args:
            fans: FAN, aimed.
            due: Which of them are cast.
            bodies: BODY, all rows.
        """
        self.freeze()
        place_kernel(fans, due, self._groups, self._outlines, self._local, self._placed, bodies)

    def trace(self, fans: Rows, due: IntArray, rays: FloatArray, bodies: Rows) -> None:
        """Shorten rays to what they meet first.

        Args:
            fans: FAN, aimed.
            due: Which of them are cast.
            rays: (3, n) of all fans: direction cosine and sine, length [m], which is shortened.
            bodies: BODY, all rows.
        """
        if self._walls is None:
            self._walls = _lay_out(list(self._fixed.values()))
        trace_kernel(
            fans,
            due,
            rays,
            self._walls,
            self._groups,
            self._outlines,
            self._local,
            self._placed,
            bodies,
        )
        for grid, row in zip(self.grids, self._grid_rows, strict=True):
            grid_kernel(fans, due, rays, row, grid.clearance)

    def _fix(self, shape: _Shape) -> int:
        self._walls = None
        self._next_handle += 1
        self._fixed[self._next_handle] = shape
        return self._next_handle


def _polygon(points: npt.ArrayLike, z_range: tuple[float, float]) -> _Shape:
    corners = np.array(points, dtype=np.float64)
    if corners.ndim != 2 or corners.shape[1] != 2 or len(corners) < 2:
        raise ValueError(f"a polygon needs (n, 2) points with n >= 2, got {corners.shape}")
    if not np.isfinite(corners).all():
        raise ValueError("a polygon needs finite points")
    _check_heights(z_range)
    return _Shape(*_measured(corners.tobytes()), *z_range)


def _circle(center: tuple[float, float], radius: float, z_range: tuple[float, float]) -> _Shape:
    if not (radius > 0 and math.isfinite(radius + center[0] + center[1])):
        raise ValueError(f"a circle needs a radius > 0 and a finite centre, got {radius}")
    _check_heights(z_range)
    return _Shape(np.zeros((0, 2)), center, radius, *z_range)


def _check_heights(z_range: tuple[float, float]) -> None:
    if not z_range[0] <= z_range[1]:
        raise ValueError(f"zmin must be <= zmax, got {z_range[0]} and {z_range[1]}")


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


_Key = tuple[bytes, tuple[int, ...], tuple[float, float]] | Cylinder


def _key(solid: Solid | Prism | Cylinder) -> _Key:
    """Return what tells solids apart, to look up their arrays by."""
    if isinstance(solid, Cylinder):
        return solid
    points = np.ascontiguousarray(solid.points, dtype=np.float64)
    return points.tobytes(), points.shape, (solid.z_range[0], solid.z_range[1])


@lru_cache(maxsize=1024)
def _packed(keys: tuple[_Key, ...]) -> _Outline:
    """Return the shapes of a body as arrays."""
    solids = [
        _circle(*key)
        if isinstance(key, Cylinder)
        else _polygon(np.frombuffer(key[0]).reshape(key[1]), key[2])
        for key in keys
    ]
    shapes, corners = _arrays(solids)
    row = np.zeros(1, OUTLINE)
    row["count"], row["corners"] = len(shapes), len(corners)
    row["reach"] = (np.hypot(shapes["x"], shapes["y"]) + shapes["reach"]).max()
    row["low"], row["high"] = shapes["zmin"].min(), shapes["zmax"].max()
    row["at_x"] = np.nan  # equals no pose: its shapes were never placed
    return _Outline(row, shapes, corners)


def _arrays(solids: Sequence[_Shape]) -> Shapes:
    shapes = np.zeros(len(solids), SHAPE)
    counts = np.array([len(s.corners) for s in solids], dtype=np.int64)
    shapes["count"] = counts
    shapes["start"] = np.cumsum(counts) - counts
    for name in ("reach", "zmin", "zmax"):
        shapes[name] = [getattr(s, name) for s in solids]
    if solids:
        shapes["x"], shapes["y"] = np.array([s.center for s in solids]).T
    return shapes, np.concatenate([np.zeros((0, 2)), *(s.corners for s in solids)])


def _with_room(arrays: Shapes, shapes: int, corners: int) -> Shapes:
    return with_room(arrays[0], shapes), with_room(arrays[1], corners)


def _lay_out(solids: list[_Shape]) -> tuple[Rows, FloatArray, Rows]:
    shapes, corners = _arrays(solids)
    shapes = shapes[_neighbours_first(shapes)]
    return shapes, corners, _chunks(shapes)


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
