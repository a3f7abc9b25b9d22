# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Occupancy grids, for lidars, collisions and map publishers.

A grid stands on the world's floor and its walls have unlimited height. This module holds the map
and derived data; `grid_files` reads it from files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_core.elements import grid_kernels
from mvsim_core.errors import BuildError

#: Cell values above it stop rays and bodies.
OCCUPIED_ABOVE = 50
UNKNOWN, FREE, OCCUPIED = -1, 0, 100
#: Boxes of a map that bodies collide with; each takes about a kilobyte. Maps of buildings have
#: some thousand.
MOST_BOXES = 400_000


class GridOrigin(NamedTuple):
    """Pose [m, rad] of the lower-left corner of a grid's lower-left cell in the world."""

    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0


WORLD_ORIGIN = GridOrigin()


@dataclass(frozen=True, eq=False)
class GridMap:
    """One occupancy grid.

    Attributes:
        cells: (h, w) int8 with the values of nav_msgs/OccupancyGrid: -1 unknown, 0 free … 100
            occupied. Row 0 has the lowest y, column 0 the lowest x, in the grid's own frame.
        resolution: Length of a cell's side [m].
        origin: Where the grid's frame lies in the world.
        source: The file that it comes from, "" if it was made in memory.
        warnings: Warnings about that file, one sentence each.
    """

    cells: npt.NDArray[np.int8]
    resolution: float
    origin: GridOrigin = WORLD_ORIGIN
    source: str = ""
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check that the map has cells of a size > 0.

        Raises:
            BuildError: It has none.
        """
        name = self.source or "occupancy grid"
        if self.cells.ndim != 2 or self.cells.size == 0:
            raise BuildError(f"{name}: a map needs at least one cell, got {self.cells.shape}")
        if not (np.isfinite(self.resolution) and self.resolution > 0):
            raise BuildError(f"{name}: resolution must be > 0 [m], got {self.resolution!r}")
        if not np.isfinite(self.origin).all():
            raise BuildError(f"{name}: origin must be three finite numbers, got {self.origin}")

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.cells.shape[1])

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.cells.shape[0])

    @cached_property
    def occupied(self) -> npt.NDArray[np.bool_]:
        """(h, w): which cells stop rays and bodies."""
        return self.cells > OCCUPIED_ABOVE

    @cached_property
    def clearance(self) -> npt.NDArray[np.uint8]:
        """(h + 2, w + 2): how far a ray may jump, see `grid_kernels.clearance`."""
        return grid_kernels.clearance(self.occupied)

    def rectangles(self) -> npt.NDArray[np.float64]:
        """Return boxes that make the outline of the occupied cells solid.

        Returns:
            (n, 4) x0, y0, x1, y1 [m] in the grid's own frame: turn and shift them by `origin`.

        Raises:
            BuildError: There are too many.
        """
        boxes = grid_kernels.boxes(self.occupied)
        if len(boxes) > MOST_BOXES:
            name = self.source or "occupancy grid"
            text = f"{name}: its occupied cells make {len(boxes)} boxes, at most {MOST_BOXES}"
            raise BuildError(f"{text} are allowed")
        return boxes.astype(np.float64) * self.resolution

    def to_world(self, points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return points (n, 2) [m] of the grid's own frame in the world frame."""
        c, s = math.cos(self.origin.yaw), math.sin(self.origin.yaw)
        x, y = points[:, 0], points[:, 1]
        return np.column_stack((self.origin.x + c * x - s * y, self.origin.y + s * x + c * y))


def load_grid(
    path: str | Path,
    *,
    resolution: float = 0.1,
    centerpixel_x: float = -1.0,
    centerpixel_y: float = -1.0,
) -> GridMap:
    """Read a map; the file's extension decides how (a final ``.gz`` does not count).

    ``.yaml`` is a map of Nav2's map_server, ``.gridmap`` one of MRPT, anything else an image.

    Args:
        path: The file.
        resolution: Side of an image's pixel [m]; the other formats know theirs.
        centerpixel_x: Column of the image that becomes x = 0 of the world [pixel].
        centerpixel_y: Row that becomes y = 0, counted from the lowest one [pixel].

    Raises:
        BuildError: The file is missing, unreadable or wrong; the message states what is expected.
    """
    from mvsim_core.elements import grid_files

    path = Path(path)
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise BuildError(f"{path}: the map file {what}")
    suffix = Path(path.stem).suffix if path.suffix.lower() == ".gz" else path.suffix
    if suffix.lower() in (".yaml", ".yml"):
        return grid_files.read_nav2(path)
    if suffix.lower() == ".gridmap":
        return grid_files.read_mrpt(path)
    return grid_files.read_image(path, resolution, (centerpixel_x, centerpixel_y))
