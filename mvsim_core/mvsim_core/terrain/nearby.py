# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A spatial index of discs: finds those that contain a point, among 100,000 and more."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mvsim_core.errors import BuildError, Problem
from mvsim_core.state.arrays import FloatArray, IntArray

#: More discs of one size in one place are an error: contacts grow by the square of their number.
MAX_CROWD = 300
#: Smallest and largest cells are 2^SMALLEST and 2^LARGEST metres wide; wider discs are few.
SMALLEST, LARGEST = -7, 30

Cell = tuple[int, float, float]
Disc = tuple[float, float, float, int]


class Nearby:
    """Discs by place. Each is in one cell of a grid whose cells are as wide as the disc.

    So discs of all sizes can be mixed, and a look-up costs nine cells for each size that occurs.
    """

    def __init__(self) -> None:
        """Start without discs."""
        self._cells: dict[Cell, list[Disc]] = {}
        self._levels: set[int] = set()
        self._wide: list[Disc] = []
        self._homes: dict[int, list[Disc]] = {}

    def add(self, item: int, x: float, y: float, reach: float) -> int:
        """Add a disc about (x, y) [m]; return how many of its size are in its cell now."""
        level = level_of(reach)
        cell = self._wide
        if reach <= 2.0**LARGEST:
            self._levels.add(level)
            size = 2.0**level
            cell = self._cells.setdefault((level, x // size, y // size), [])
        cell.append((x, y, reach, item))
        self._homes[item] = cell
        return len(cell)

    def __len__(self) -> int:
        """Return the number of discs."""
        return len(self._homes)

    def __iter__(self) -> Iterator[int]:
        """Iterate over the items."""
        return iter(self._homes)

    def add_all(
        self, items: Sequence[int], places: FloatArray, reaches: FloatArray
    ) -> Iterator[int]:
        """Add discs at places (n, 2) [m] as `add` does; yield after each what `add` returns."""
        levels = levels_of(reaches)
        sizes = 2.0**levels
        wide = reaches > 2.0**LARGEST
        self._levels.update(np.unique(levels[~wide]).tolist())
        columns = (places / sizes[:, None] // 1.0).T.tolist()
        cells = zip(levels.tolist(), *columns, strict=True)
        discs = zip(*places.T.tolist(), reaches.tolist(), items, strict=True)
        known, homes = self._cells, self._homes
        for key, disc, is_wide in zip(cells, discs, wide.tolist(), strict=True):
            cell = self._wide if is_wide else known.get(key)
            if cell is None:
                cell = known[key] = []
            cell.append(disc)
            homes[disc[3]] = cell
            yield len(cell)

    def remove(self, item: int) -> None:
        """Remove the disc that was last added for an item."""
        cell = self._homes.pop(item)
        cell[:] = [disc for disc in cell if disc[3] != item]

    def at(self, x: float, y: float) -> Iterator[int]:
        """Iterate over the items whose disc contains the point (x, y) [m]."""
        for cell in (self._wide, *self._around(x, y)) if self._homes else ():
            for cx, cy, reach, item in cell:
                if math.hypot(x - cx, y - cy) <= reach + 1e-6:
                    yield item

    def _around(self, x: float, y: float) -> Iterator[list[Disc]]:
        for level in self._levels:
            size = 2.0**level
            column, row = x // size, y // size
            for i in (column - 1.0, column, column + 1.0):
                for j in (row - 1.0, row, row + 1.0):
                    cell = self._cells.get((level, i, j))
                    if cell:
                        yield cell


def level_of(reach: float) -> int:
    """Return the level of discs of a size [m]: their cells are 2^level metres wide."""
    return max(SMALLEST, math.frexp(reach)[1])


def levels_of(reaches: FloatArray) -> IntArray:
    """Return `level_of` each of many sizes [m]."""
    levels: IntArray = np.maximum(np.frexp(reaches)[1].astype(np.int64), SMALLEST)
    return levels


def first_crowd(places: FloatArray, reaches: FloatArray) -> int | None:
    """Return the first disc that is one too many in its cell, if any is.

    Args:
        places: (n, 2) m, centres of discs.
        reaches: (n,) m, their radii.
    """
    if len(reaches) <= MAX_CROWD:
        return None
    levels = levels_of(reaches)
    x, y = (places / 2.0 ** levels[:, None] // 1.0).T
    order = np.lexsort((y, x, levels))  # stable: equal cells stay in order
    new = np.ones(len(order), bool)
    new[1:] = False
    for key in (levels, x, y):
        new[1:] |= np.diff(key[order]) != 0
    begins = np.flatnonzero(new)
    number = np.arange(len(order)) - np.repeat(begins, np.diff([*begins, len(order)]))
    crowded = order[number >= MAX_CROWD]
    return int(crowded.min()) if len(crowded) else None


def crowd_error(name: str, where: Any, place: tuple[float, float]) -> BuildError:
    """Return the error for an entity that starts at the same place as too many others.

    Args:
        name: Name of the entity.
        where: Its place in the world file.
        place: x, y [m].
    """
    text = (
        f"{name!r} and {MAX_CROWD} others begin at the same place, about"
        f" ({place[0]:g} {place[1]:g}) [m]; does <init_pose> lack a loop variable, as in"
        " $f{2*i}?"
    )
    return BuildError(Problem.at(where, "", text))
