# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Groups: copies of a world that go through ticks together, or one world; their work memory.

They do not meet, so that each lists what is near and solves contacts by itself, in any thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mvsim_core.solver.contact_types import BOX, CONTACT, GRIP
from mvsim_core.solver.grid import LEVELS, empty_buckets
from mvsim_core.solver.scratch import GUARD, NEAR, Found, Scratch
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.state.rows import bytes_of
from mvsim_core.world.data import Data
from mvsim_core.world.tiles import Tile

#: Near pairs of a mover, pairs of shapes, and grips for which there is room at first.
NEAR_EACH, PAIRS, GRIPS = 4, 16, 32


class Group(NamedTuple):
    """Copies of a world and what they consist of.

    Args:
        copies: The first one and the one after the last.
        movers: Rows of BODY.
        row: Of the table of groups, see `world.tick_kernels`.
        wheels: Number of wheels, or more.
    """

    copies: tuple[int, int]
    movers: IntArray
    row: tuple[int, int, int, int]
    wheels: int


def groups_of(tiles: Sequence[Tile], data: Data) -> list[Group]:
    """Return the groups of tiles: those of the same copies are one."""
    copies, begin, groups = len(data.clock), 0, []
    each = len(data.movers) // copies, len(data.wheels) // copies
    while begin < len(tiles):
        end = begin + 1
        while end < len(tiles) and tiles[end].copies == tiles[begin].copies:
            end += 1
        first, last, _ = tiles[begin].copies.indices(copies)
        movers = data.movers.ids[each[0] * first : each[0] * last]
        count = sum(len(tile.vehicles(data)) for tile in tiles[begin:end])
        row = tiles[begin].first, count, begin, end
        groups.append(Group((first, last), movers, row, each[1] * (last - first)))
        begin = end
    return groups


class GroupWork:
    """Arrays of a group for the solution of its contacts.

    Attributes:
        scratch: Its `work`; and `found`, where groups list what is near by themselves.
        previous: CONTACT, after its last tick.
        grips: GRIP, of a tick.
    """

    def __init__(self, movers: int, wheels: int, corners: int) -> None:
        """Make room for a group of so many movers and wheels, and some contacts."""
        self.scratch = Scratch()
        self.grips: Rows = np.zeros(2 * movers + wheels + 1, GRIP)
        self.previous: Rows = np.zeros(0, CONTACT)
        self.fit_work(PAIRS, GRIPS, corners)

    def fit_work(self, pairs: int, grips: int, corners: int) -> None:
        """Make room for so many pairs of shapes and grips, and corners of a shape."""
        self.scratch.fit_work(pairs, 0, grips, corners)
        size = len(self.scratch.work.contacts)
        if len(self.previous) < size:
            grown = np.zeros(size, CONTACT)
            bytes_of(grown)[: len(self.previous)] = bytes_of(self.previous)
            self.previous = grown


class SharedWork:
    """Arrays of which groups use different rows.

    Attributes:
        slots: As in `Work`.
        touched: 1 for the rows of BODY that something may act on, else 0.
    """

    def __init__(self, bodies: int) -> None:
        """Make them for so many rows of BODY."""
        self.slots: IntArray = np.full(bodies, -1, np.int64)
        self.touched: IntArray = np.zeros(bodies, np.int64)


def list_by_group(data: Data, movers: Sequence[IntArray], works: Sequence[GroupWork]) -> None:
    """Let groups list what is near by themselves.

    Args:
        data: The state.
        movers: Those of each group; one group after the other they are all that there are.
        works: Work memory of each.
    """
    bodies, shapes = len(data.bodies), len(data.contacts.shapes)
    guards = np.zeros(sum(len(ids) for ids in movers), GUARD)
    mover_of = np.full(bodies, -1, np.int64)
    shape_boxes = np.zeros(shapes, BOX)
    begin = 0
    for ids, work in zip(movers, works, strict=True):
        count = len(ids)
        mover_of[ids] = np.arange(count)
        fat = np.zeros(count, BOX)
        fat["level"] = -1
        work.scratch.found = Found(
            guards=guards[begin : begin + count],
            fat=fat,
            swept=np.zeros(count, BOX),
            shape_boxes=shape_boxes,
            stamps=np.zeros(count, np.int64),
            mover_of=mover_of,
            buckets=empty_buckets(count),
            levels=np.zeros(LEVELS, np.int64),
            hits=np.zeros(64, np.int64),
            near=np.zeros(NEAR_EACH * count + 1, NEAR),
            spare=np.zeros(NEAR_EACH * count + 1, NEAR),
            keys=np.zeros(2 * PAIRS, np.int64),
        )
        begin += count
    data.contacts.scratch.group_guards = guards
    data.contacts.scratch.groups_valid = False


def polygons_of(groups: int, corners: int) -> FloatArray:
    """Return (groups, 2, 4, corners) for the two polygons of a pair, as in `Work`."""
    return np.zeros((groups, 2, 4, max(corners, 1)))


def work_arrays(work: GroupWork, shared: SharedWork) -> list[Any]:
    """Return the arrays of `Work` in their order, without the polygons."""
    return [*work.scratch.work._replace(slots=shared.slots)[:11]]
