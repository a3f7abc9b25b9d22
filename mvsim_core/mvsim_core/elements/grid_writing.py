# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes occupancy grids as Nav2's map_server reads them: a yaml file and a picture beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mvsim_core.elements.grid_files import UNKNOWN_GRAY
from mvsim_core.elements.occupancy_grid import UNKNOWN, GridMap
from mvsim_core.errors import BuildError

FREE_GRAY, OCCUPIED_GRAY = 254, 0
#: Below 0.1961, or map_server would read unknown cells as free ones.
FREE_THRESHOLD, OCCUPIED_THRESHOLD = 0.196, 0.65


def save_nav2(grid: GridMap, path: Path) -> Path:
    """Write `path`, a yaml file, and a PGM picture of the same name; return the picture's path.

    Cells become trinary: what stops bodies, what is unknown, what is free.

    Raises:
        BuildError: A file cannot be written.
    """
    picture = path.with_suffix(".pgm")
    gray = np.full(grid.cells.shape, FREE_GRAY, np.uint8)
    gray[grid.cells == UNKNOWN] = UNKNOWN_GRAY
    gray[grid.occupied] = OCCUPIED_GRAY
    head = f"P5\n{grid.width} {grid.height}\n255\n"
    try:
        picture.write_bytes(head.encode() + gray[::-1].tobytes())
        path.write_text(_description(grid, picture.name), encoding="utf-8")
    except OSError as error:
        raise BuildError(f"{error.filename}: cannot be written ({error.strerror})") from None
    return picture


def _description(grid: GridMap, picture: str) -> str:
    origin = ", ".join(_decimal(value) for value in grid.origin)
    quoted = picture.replace("'", "''")
    return (
        f"image: '{quoted}'\n"
        "mode: trinary\n"
        f"resolution: {_decimal(grid.resolution)}\n"
        f"origin: [{origin}]\n"
        "negate: 0\n"
        f"occupied_thresh: {OCCUPIED_THRESHOLD}\n"
        f"free_thresh: {FREE_THRESHOLD}\n"
    )


def _decimal(value: float) -> str:
    """Return a number that YAML takes for one; it has no exponent."""
    text = np.format_float_positional(value, trim="0")
    return "0.0" if float(text) == 0.0 else text
