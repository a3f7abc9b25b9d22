# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Floor plan: an occupancy grid of the fixed solids of a world at one height.

Cells that walls, planes, static blocks and maps touch at that height are occupied. Cells that can
be reached from the start poses are free. The rest, such as the inside of solids, is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mvsim_core.assembly.load import world_of
from mvsim_core.elements.occupancy_grid import FREE, OCCUPIED, UNKNOWN, GridMap, GridOrigin
from mvsim_core.elements.rasterize import BoolGrid, fill
from mvsim_core.errors import BuildError
from mvsim_core.geometry.poses import moved
from mvsim_core.specs.sensor import LaserSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import STATIC, FloatArray
from mvsim_core.state.entities import Entity
from mvsim_core.world.world import World

#: Default height of the map [m] and default resolution [m].
USUAL_HEIGHT, USUAL_RESOLUTION = 0.2, 0.05
#: Margin around solids and start poses [m].
MARGIN = 1.0
MAX_CELLS = 100_000_000


@dataclass(frozen=True, slots=True)
class FloorPlan:
    """A map, and the height [m] in the world that it shows."""

    grid: GridMap
    z: float


def floor_plan(
    spec: WorldSpec, *, z: float | None = None, resolution: float | None = None
) -> FloorPlan:
    """Return the map of a world as it is at its start.

    Args:
        spec: The world.
        z: Height in the world frame [m]; absent: that of the first planar lidar, else 0.2.
        resolution: Side of a cell [m]; absent: that of the world's first map, else 0.05.

    Raises:
        BuildError: The world cannot be built, or the map would have too many cells.
    """
    world = world_of(spec)
    grids = world.model.grids
    if z is None:
        z = next(_lidar_heights(world), USUAL_HEIGHT)
    if resolution is None:
        resolution = grids[0].resolution if grids else USUAL_RESOLUTION
    if not (math.isfinite(resolution) and resolution > 0):
        raise BuildError(f"resolution must be > 0 [m], got {resolution:g}")
    solids = [*_solids(world, z)]
    starts = [_outline(world, entity) for entity in _of_kind(world, "vehicle")]
    raster = _raster_around(grids, [*_all_outlines(world)], resolution)
    occupied = np.zeros(raster.shape, np.bool_)
    for polygon in solids:
        fill(occupied, raster.cells(polygon))
    unknown = np.zeros_like(occupied)
    for grid in grids:
        _draw(grid, grid.occupied, occupied, raster)
        _draw(grid, grid.cells == UNKNOWN, unknown, raster)
    free = _reached(occupied, unknown, [raster.cells(start) for start in starts])
    cells = np.full(raster.shape, UNKNOWN, np.int8)
    cells[free] = FREE
    cells[occupied] = OCCUPIED
    return FloorPlan(GridMap(cells, resolution, GridOrigin(raster.x, raster.y)), z)


@dataclass(frozen=True, slots=True)
class _Raster:
    """Placement of the cells: the lower left corner [m], the side of a cell, rows and columns."""

    x: float
    y: float
    resolution: float
    shape: tuple[int, int]

    def cells(self, points: FloatArray) -> FloatArray:
        """Return points [m] in cells."""
        return (points - (self.x, self.y)) / self.resolution


def _of_kind(world: World, kind: str) -> list[Entity]:
    return [entity for entity in world.data.entities.values() if entity.kind == kind]


def _lidar_heights(world: World) -> Iterator[float]:
    for entity in _of_kind(world, "vehicle"):
        for sensor in world.sensors_of(entity):
            if isinstance(sensor.spec, LaserSpec):
                yield float(world.bodies["z"][entity.row]) + sensor.spec.pose.z
    for sensor in world.standalone_sensors.values():
        if isinstance(sensor.spec, LaserSpec):
            yield sensor.spec.pose.z


def _solids(world: World, z: float) -> Iterator[FloatArray]:
    """Yield polygons of the fixed solids at a height, world frame; without maps."""
    for fixture in world.model.fixtures[len(world.model.grids) :]:
        for solid in fixture.solids:
            if solid.z_range[0] <= z <= solid.z_range[1]:
                yield solid.points
    for entity in _of_kind(world, "block"):
        row = world.bodies[entity.row]
        for solid in entity.model.solids if row["kind"] == STATIC else ():
            low, high = (float(row["z"]) + end for end in solid.z_range)
            if low <= z <= high:
                yield _placed(world, entity, solid.points)


def _all_outlines(world: World) -> Iterator[FloatArray]:
    """Yield the outlines of all bodies at all heights, without maps."""
    boxes = [_corners(grid) for grid in world.model.grids]
    outlines = [s.points for f in world.model.fixtures[len(boxes) :] for s in f.solids]
    for entity in world.data.entities.values():
        shapes = [solid.points for solid in entity.model.solids] or [np.zeros((1, 2))]
        outlines += [_placed(world, entity, points) for points in shapes]
    for outline in outlines:
        low, high = outline.min(axis=0), outline.max(axis=0)
        if not any((b.min(axis=0) <= low).all() and (high <= b.max(axis=0)).all() for b in boxes):
            yield outline


def _placed(world: World, entity: Entity, points: FloatArray) -> FloatArray:
    row = world.bodies[entity.row]
    return moved(points, (float(row["x"]), float(row["y"]), float(row["yaw"])))


def _outline(world: World, entity: Entity) -> FloatArray:
    solids = entity.model.solids
    return _placed(world, entity, solids[0].points if solids else np.zeros((1, 2)))


def _raster_around(
    grids: Sequence[GridMap], polygons: list[FloatArray], resolution: float
) -> _Raster:
    """Return a raster around everything, aligned with a map of the same resolution."""
    lows = [polygon.min(axis=0) - MARGIN for polygon in polygons]
    highs = [polygon.max(axis=0) + MARGIN for polygon in polygons]
    lattice = np.zeros(2)
    for grid in grids[::-1]:
        corners = _corners(grid)
        lows.append(corners.min(axis=0))
        highs.append(corners.max(axis=0))
        if grid.resolution == resolution and grid.origin.yaw == 0.0:
            lattice = np.array([grid.origin.x, grid.origin.y])
    if not lows:
        lows, highs = [np.full(2, -MARGIN)], [np.full(2, MARGIN)]
    first = np.floor((np.min(lows, axis=0) - lattice) / resolution + 1e-6)
    size = np.ceil((np.max(highs, axis=0) - lattice) / resolution - 1e-6) - first
    if not size.prod() <= MAX_CELLS:
        raise BuildError(
            f"the map would have {size[0]:.0f} x {size[1]:.0f} cells of {resolution:g} m, at most"
            f" {MAX_CELLS} are allowed; choose a coarser resolution"
        )
    # Rounded, because the map file stores a decimal.
    x, y = (round(float(value), 9) for value in lattice + first * resolution)
    return _Raster(x, y, resolution, (max(1, int(size[1])), max(1, int(size[0]))))


def _corners(grid: GridMap) -> FloatArray:
    w, h = grid.width * grid.resolution, grid.height * grid.resolution
    return grid.to_world(np.array([[0.0, 0.0], [w, 0.0], [w, h], [0.0, h]]))


def _draw(grid: GridMap, mask: BoolGrid, on: BoolGrid, raster: _Raster) -> None:
    """Draw the cells of a map that are in `mask` on another raster, run by run."""
    for row, columns in enumerate(mask):
        edges = np.flatnonzero(np.diff(columns.astype(np.int8), prepend=0, append=0))
        for begin, end in edges.reshape(-1, 2):
            corners = np.array([[begin, row], [end, row], [end, row + 1], [begin, row + 1]])
            points = grid.to_world(corners * grid.resolution)
            fill(on, raster.cells(points))


def _reached(occupied: BoolGrid, unknown: BoolGrid, starts: list[FloatArray]) -> BoolGrid:
    """Return the free cells that are connected to a start, or to the border without one."""
    passable = ~occupied & ~unknown
    begin = np.zeros_like(occupied)
    for start in starts:
        fill(begin, start)
    if not starts:
        begin[[0, -1]] = begin[:, [0, -1]] = True
    from scipy import ndimage  # slow to import

    labels, count = ndimage.label(passable)
    wanted = np.zeros(count + 1, np.bool_)
    wanted[labels[begin & passable]] = True
    wanted[0] = False
    reached: BoolGrid = wanted[labels]
    return reached
