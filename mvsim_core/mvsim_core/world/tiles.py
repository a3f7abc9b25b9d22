# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Tiles: groups of vehicles that go through the phases of a step one group after the other.

The rows of ten thousand vehicles do not fit into the caches of a processor: a phase that passes
over all of them waits for memory, and so does the next one. Those of a tile stay in the cache
from their first phase to the last. Phases of one vehicle touch no other one, so results are the
same to the byte, and tiles can go through them in several threads: kernels release the GIL.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from mvsim_core.state.arrays import IntArray, Rows

if TYPE_CHECKING:
    from mvsim_core.world.data import Data
    from mvsim_core.world.model import Model
    from mvsim_core.world.runtime import Runtime

#: Vehicles of a tile: some 1.5 kB each, and each kernel call costs as much as ten vehicles.
TILE = 1000
ALL = slice(None)


class Tile:
    """Some vehicles, what they move, and the systems that serve them.

    Args:
        first: First row of VEHICLE.
        end: The row after the last one; -1: all rows.
        copies: The copies of the world to which they belong.
        movers: Rows of BODY whose velocities are advanced with them.
        controllers: Controllers of these vehicles.
        friction: Friction models of their wheels.
    """

    __slots__ = ("controllers", "copies", "end", "first", "friction", "movers")

    def __init__(
        self,
        first: int,
        end: int,
        movers: IntArray,
        controllers: Sequence[Any],
        friction: Sequence[Any],
        copies: slice = ALL,
    ) -> None:
        """Keep the parts."""
        self.first, self.end, self.movers, self.copies = first, end, movers, copies
        self.controllers, self.friction = controllers, friction

    def vehicles(self, data: Data) -> Rows:
        """Return the rows of VEHICLE of the tile."""
        rows = data.vehicles
        return rows if self.end < 0 else rows[self.first : self.end]


class Tiles:
    """The tiles of a world, made again when vehicles or islands change.

    Attributes:
        size: Vehicles of a tile.
    """

    def __init__(self, size: int = TILE) -> None:
        """Start without tiles."""
        self.size = size
        self._tiles: list[Tile] = []
        self._movers: IntArray | None = None

    def of(self, model: Model, run: Runtime, data: Data) -> list[Tile]:
        """Return the tiles of a state: one, unless it has many vehicles that are independent.

        Tiles have whole copies of a world, or parts of one.

        Welds, driven pivots and the kinematics of commands connect rows of several tables in ways
        that only their own kernels know; a system without `part` serves all its rows at once.
        """
        if (
            len(data.vehicles) <= self.size
            or len(data.delays)
            or len(data.followers)
            or len(data.pivots)
            or len(run.kinematics)
            or len(model.regions)
        ):
            systems = run.controllers.systems, run.friction.systems
            return [Tile(0, -1, data.movers.ids, *systems)]
        if self._movers is not data.movers.ids:  # any change of vehicles or islands renews it
            self._movers = data.movers.ids
            self._tiles = self._split(run, data)
        return self._tiles

    def _split(self, run: Runtime, data: Data) -> list[Tile]:
        systems = run.controllers.systems, run.friction.systems
        if not all(hasattr(system, "part") for kind in systems for system in kind):
            return [Tile(0, -1, data.movers.ids, *systems)]
        vehicles, count, copies = data.vehicles, len(data.vehicles), len(data.clock)
        rows, own = np.arange(count), count // copies  # a copy has the latter
        together = max(1, self.size // own)  # copies of a tile
        tiles = -(-own // self.size)  # tiles of a copy
        tile_of = rows // own // together * tiles + rows % own // self.size
        used = vehicles["body"] >= 0
        # blocks go with the last vehicles of their copy
        of_body = data.bodies["copy"] // together * tiles + tiles - 1
        of_body[vehicles["body"][used]] = tile_of[used]
        of_wheel = of_body[data.wheels["body"]]
        of_mover = of_body[data.movers.ids]
        firsts = np.searchsorted(tile_of, np.arange(tile_of[-1] + 2)).tolist()
        found = []
        for k, (first, end) in enumerate(pairwise(firsts)):
            copy = first // own
            found.append(
                Tile(
                    first,
                    end,
                    data.movers.ids[of_mover == k],
                    _parts(systems[0], tile_of == k),
                    _parts(systems[1], of_wheel == k),
                    slice(copy, min(copy + together, copies)),
                )
            )
        return found


def _parts(systems: Sequence[Any], chosen: Any) -> list[Any]:
    """Return the parts of systems that serve the chosen rows."""
    return [system.part(chosen) for system in systems]
