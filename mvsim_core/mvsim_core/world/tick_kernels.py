# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that go through the phases of ticks, and call the kernels of these by their addresses.

They do what `world.step` does, in the same order, contacts included. Vehicles go through the
phases up to the forces tile by tile, and groups of copies of a world through all ticks of a call.
"""

from __future__ import annotations

from typing import Any

from mvsim_core.solver.compiled import ZERO, inner, kernel, njit
from mvsim_core.solver.near import CLEAR, MEETING, STALE
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.state.parts import give, take, turn
from mvsim_core.world.calls import call, noted_rows, rows_at

#: Tiles, controllers and friction models; groups of tiles.
Tables = tuple[IntArray, IntArray, IntArray, IntArray]

#: A function that becomes a part of those that call it: numba lets no other return new arrays.
pasted: Any = njit(inline="always")
#: What is near is not known.
UNKNOWN = -1
#: Rows of the table of arrays of a group.
BODIES, WHEELS, VEHICLES, PIDS, GAINS, LIMITS, DELAYS, PIVOTS = range(8)
MOVERS, FOLLOWERS, REGIONS, CLOCK = range(8, 12)
SHAPES, VERTICES, BOXES, LINKS, JOINTS, PLACES = range(12, 18)
GUARDS, FAT, SWEPT, SHAPE_BOXES, STAMPS, MOVER_OF = range(18, 24)
BUCKETS, LEVELS, HITS, NEAR, SPARE, KEYS = range(24, 30)
ACTIVE, SLOTS, MANIFOLDS, POINTS, ROWS, ITEMS, SORTED = range(30, 37)
ISLANDS, ORDER, CONTACTS, HIT = range(37, 41)
#: Contacts after the last tick of a group, and those of all groups before the call; clocks of the
#: copies of a group; which bodies touched something.
PREVIOUS, OLD, WALLS, FRICTION, TOUCHED, CLOCKS, MET = range(41, 48)
ARRAYS = 48
#: Places in the array of addresses; 0: the phase is left out.
COMMAND, LATENCY, FEASIBLE, CONTACT, IN_REGIONS, INTEGRATE = range(6)
FREE, REBUILD, RENEW, PAIRS, MARK, GRIP, SOLVE, STORE = range(6, 14)
IDEAL, FOLLOW, MEASURE, TICK, MEET = range(14, 19)
ADDRESSES = 19
#: Columns of the tables of controllers and friction models.
ADDRESS, IDS, COUNT, PARAMS, SIZE = range(5)
#: Columns of the table of tiles: first vehicle, their number, where the rows of their movers are
#: and how many; first of its controllers and the one after the last, likewise friction models.
FIRST, VEHICLE_COUNT, MOVES, MOVER_COUNT, CONTROLS, CONTROLS_END, GRIPS, GRIPS_END = range(8)
#: Columns of the table of groups, after the first two of those of tiles: first tile, and the one
#: after the last. Bodies of different groups do not meet.
TILES, TILES_END = range(2, 4)
#: Columns of what is known of groups: ticks that are done; how the call ended; whether a tick has
#: been begun; number of near pairs or UNKNOWN; number of contacts, or UNKNOWN: those of OLD; body
#: that is not finite, or -1; room that is needed; next contact that `merge_kernel` merges.
DONE, STATUS, BEGUN, NEAR_COUNT, CONTACT_COUNT, FAULT, NEEDED, OTHERS, HEAD = range(9)
STATES = 9
#: How a call ends for a group: all ticks are done; the rest of a tick needs more than kernels;
#: there is not enough room for what is near, for pairs of shapes, or for their solution.
FINISHED, REST, NEAR_FULL, KEYS_FULL, WORK_FULL = range(5)
#: How a call begins for groups: where the last one ended for want of room; with the contacts that
#: OLD has of all groups; with those that each has of its last tick.
AGAIN, BEGIN, GO_ON = range(3)


@pasted
def vehicles_of(arrays: IntArray, tile: IntArray) -> Any:
    """Return the vehicles of a tile or group, a row of the table of these."""
    size = arrays[VEHICLES, 2]
    return rows_at(arrays[VEHICLES, 0] + tile[FIRST] * size, tile[VEHICLE_COUNT], size)


@inner
def accelerate(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    tables: Tables,
    t: int,
    rubbed: FloatArray,
    timeout: int,
    gravity: float,
    dt: float,
) -> int:
    """Do for a tile what `step._accelerate` does; return the same."""
    tiles, controllers, frictions, _ = tables
    bodies, wheels = noted_rows(arrays, BODIES), noted_rows(arrays, WHEELS)
    vehicles = vehicles_of(arrays, tiles[t])
    # controllers name their vehicles by rows of the whole table
    every, pids, gains = (
        noted_rows(arrays, VEHICLES),
        noted_rows(arrays, PIDS),
        noted_rows(arrays, GAINS),
    )
    call(addresses[COMMAND], (vehicles, bodies, noted_rows(arrays, CLOCK), timeout), None)
    if addresses[LATENCY] != 0:
        call(addresses[LATENCY], (vehicles, noted_rows(arrays, DELAYS), dt), None)
    if addresses[FEASIBLE] != 0:
        call(addresses[FEASIBLE], (vehicles, noted_rows(arrays, LIMITS), dt), None)
    for k in range(tiles[t, CONTROLS], tiles[t, CONTROLS_END]):
        ids = rows_at(controllers[k, IDS], controllers[k, COUNT], 8)
        given = (every, wheels, pids, gains, bodies, ids, gravity, dt)
        call(controllers[k, ADDRESS], given, None)
    call(addresses[CONTACT], (bodies, wheels, vehicles, gravity, dt), None)
    if addresses[IN_REGIONS] != 0:
        call(addresses[IN_REGIONS], (bodies, wheels, noted_rows(arrays, REGIONS)), None)
    for k in range(tiles[t, GRIPS], tiles[t, GRIPS_END]):
        ids = rows_at(frictions[k, IDS], frictions[k, COUNT], 8)
        params = rows_at(frictions[k, PARAMS], frictions[k, COUNT], frictions[k, SIZE])
        call(frictions[k, ADDRESS], (bodies, wheels, params, ids, dt), None)
    movers = rows_at(tiles[t, MOVES], tiles[t, MOVER_COUNT], 8)
    pivots, odometry = noted_rows(arrays, PIVOTS), addresses[IDEAL] == 0
    forces = (bodies, wheels, vehicles, pivots, movers, rubbed, gravity, dt, odometry)
    return int(call(addresses[INTEGRATE], forces, ZERO))


@kernel
def accelerate_kernel(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    tables: Tables,
    bad: IntArray,
    rubbed: FloatArray,
    first: int,
    end: int,
    timeout: int,
    gravity: float,
    dt: float,
) -> None:
    """Do for some tiles what `step._accelerate` does, and write what it returns."""
    for t in range(first, end):
        bad[t] = accelerate(arrays[0], addresses, tables, t, rubbed, timeout, gravity, dt)


@pasted
def stored_of(arrays: IntArray, levels: IntArray) -> Any:
    """Return the arrays of `Stored`."""
    return (
        noted_rows(arrays, SHAPES),
        noted_rows(arrays, VERTICES),
        noted_rows(arrays, BOXES),
        noted_rows(arrays, LINKS),
        noted_rows(arrays, JOINTS),
        noted_rows(arrays, PLACES),
        levels,
    )


@pasted
def found_of(arrays: IntArray) -> Any:
    """Return the arrays of `Found`."""
    return (
        noted_rows(arrays, GUARDS),
        noted_rows(arrays, FAT),
        noted_rows(arrays, SWEPT),
        noted_rows(arrays, SHAPE_BOXES),
        noted_rows(arrays, STAMPS),
        noted_rows(arrays, MOVER_OF),
        noted_rows(arrays, BUCKETS),
        noted_rows(arrays, LEVELS),
        noted_rows(arrays, HITS),
        noted_rows(arrays, NEAR),
        noted_rows(arrays, SPARE),
        noted_rows(arrays, KEYS),
    )


@pasted
def work_of(arrays: IntArray, polygons: FloatArray) -> Any:
    """Return the arrays of `Work`."""
    return (
        noted_rows(arrays, ACTIVE),
        noted_rows(arrays, SLOTS),
        noted_rows(arrays, MANIFOLDS),
        noted_rows(arrays, POINTS),
        noted_rows(arrays, ROWS),
        noted_rows(arrays, ITEMS),
        noted_rows(arrays, SORTED),
        noted_rows(arrays, ISLANDS),
        noted_rows(arrays, ORDER),
        noted_rows(arrays, CONTACTS),
        noted_rows(arrays, HIT),
        polygons[0],
        polygons[1],
    )


@inner
def list_again(
    arrays: IntArray, addresses: IntArray, levels: IntArray, state: IntArray, dt: float
) -> int:
    """List what is near the movers of a group; return FINISHED, or why that is not done."""
    bodies, movers = noted_rows(arrays, BODIES), noted_rows(arrays, MOVERS)
    stored, found = stored_of(arrays, levels), found_of(arrays)
    if addresses[REBUILD] != 0:
        near, most = call(addresses[REBUILD], (bodies, movers, stored, found, dt), (ZERO, ZERO))
        if near > arrays[NEAR, 1] or most > arrays[HITS, 1]:
            state[NEAR_COUNT] = UNKNOWN
            return REST
        state[NEAR_COUNT] = near
        return FINISHED
    before = state[NEAR_COUNT]
    renewed = (bodies, movers, stored, found, before, dt)
    near, most = call(addresses[RENEW], renewed, (ZERO, ZERO))
    if near > arrays[SPARE, 1] or most > arrays[HITS, 1]:
        state[NEEDED], state[OTHERS] = near, most
        return NEAR_FULL
    for k in range(3):
        arrays[NEAR, k], arrays[SPARE, k] = arrays[SPARE, k], arrays[NEAR, k]
    state[NEAR_COUNT] = near
    return FINISHED


@inner
def move(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    group: IntArray,
    polygons: FloatArray,
    levels: IntArray,
    state: IntArray,
    rubbed: FloatArray,
    gravity: float,
    dt: float,
) -> int:
    """Do for a group what `solve` does without joints and walls, and what follows of its grips.

    Returns:
        FINISHED, or why nothing has been changed.
    """
    bodies, movers = noted_rows(arrays, BODIES), noted_rows(arrays, MOVERS)
    guards = noted_rows(arrays, GUARDS)
    near = state[NEAR_COUNT]
    given = (bodies, movers, guards, noted_rows(arrays, NEAR), near, dt, True)
    result = call(addresses[FREE], given, ZERO)
    if result == STALE:
        listed: int = list_again(arrays, addresses, levels, state, dt)
        if listed != FINISHED:
            return listed
        near = state[NEAR_COUNT]
        given = (bodies, movers, guards, noted_rows(arrays, NEAR), near, dt, True)
        result = call(addresses[FREE], given, ZERO)
    if result == MEETING:
        stored = stored_of(arrays, levels)
        pairs = call(addresses[PAIRS], (bodies, movers, stored, found_of(arrays), near, dt), ZERO)
        if pairs > arrays[KEYS, 1]:
            state[NEEDED] = pairs
            return KEYS_FULL
        if pairs > 0:
            acting = rubbed, gravity, dt
            return int(touch(arrays, addresses, group, polygons, levels, state, pairs, acting))
        given = (bodies, movers, guards, noted_rows(arrays, NEAR), ZERO, dt, True)
        result = call(addresses[FREE], given, ZERO)
    if result != CLEAR:
        state[FAULT] = result
        return REST
    state[CONTACT_COUNT] = 0
    return FINISHED


@inner
def touch(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    group: IntArray,
    polygons: FloatArray,
    levels: IntArray,
    state: IntArray,
    pairs: int,
    acting: tuple[FloatArray, float, float],
) -> int:
    """Solve the contacts of a group and advance its movers; return FINISHED or WORK_FULL."""
    rubbed, gravity, dt = acting
    bodies, wheels = noted_rows(arrays, BODIES), noted_rows(arrays, WHEELS)
    movers, vehicles = noted_rows(arrays, MOVERS), vehicles_of(arrays, group)
    stored, keys = stored_of(arrays, levels), rows_at(arrays[KEYS, 0], pairs, 8)
    touched, grips = noted_rows(arrays, TOUCHED), noted_rows(arrays, FRICTION)
    call(addresses[MARK], (stored[0], keys, ZERO + 1, touched), None)
    given = (bodies, wheels, vehicles, movers, touched, rubbed, grips, gravity, dt)
    count = call(addresses[GRIP], given, ZERO)
    call(addresses[MARK], (stored[0], keys, ZERO, touched), None)
    if pairs > arrays[MANIFOLDS, 1] or pairs + count > arrays[ITEMS, 1]:
        state[NEEDED], state[OTHERS] = pairs, count
        return WORK_FULL
    before = noted_rows(arrays, OLD)
    if state[CONTACT_COUNT] != UNKNOWN:
        before = rows_at(arrays[PREVIOUS, 0], state[CONTACT_COUNT], arrays[PREVIOUS, 2])
    grips = rows_at(arrays[FRICTION, 0], count, arrays[FRICTION, 2])
    known, guards = (stored, noted_rows(arrays, MOVER_OF)), noted_rows(arrays, GUARDS)
    work, walls = work_of(arrays, polygons), noted_rows(arrays, WALLS)
    solved = (bodies, movers, known, guards, work, before, keys, walls, grips, dt)
    contacts = call(addresses[SOLVE], solved, ZERO)
    words = contacts * arrays[CONTACTS, 2] // 8
    source, target = rows_at(arrays[CONTACTS, 0], words, 8), rows_at(arrays[PREVIOUS, 0], words, 8)
    for k in range(words):
        target[k] = source[k]
    state[CONTACT_COUNT] = contacts
    call(addresses[STORE], (bodies, wheels, vehicles, grips, dt), None)
    return FINISHED


@inner
def end_tick(
    arrays: IntArray, addresses: IntArray, group: IntArray, many: bool, dt: float
) -> None:
    """Do for a group what a tick has after the contacts; `many`: others follow in this call."""
    bodies, vehicles = noted_rows(arrays, BODIES), vehicles_of(arrays, group)
    followers = noted_rows(arrays, FOLLOWERS)
    if addresses[IDEAL] != 0:
        call(addresses[IDEAL], (bodies, vehicles, dt), None)
    if addresses[FOLLOW] != 0:
        call(addresses[FOLLOW], (bodies, followers), None)
    if addresses[MEASURE] != 0:
        call(addresses[MEASURE], (bodies, noted_rows(arrays, WHEELS), vehicles, dt), None)
    call(addresses[TICK], (noted_rows(arrays, CLOCKS),), None)
    if many:
        met = noted_rows(arrays, MET)
        call(addresses[MEET], (bodies, noted_rows(arrays, MOVERS), met), None)
        call(addresses[MEET], (bodies, followers, met), None)


@kernel
def ticks_kernel(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    tables: Tables,
    polygons: FloatArray,
    states: IntArray,
    bad: IntArray,
    rubbed: FloatArray,
    levels: IntArray,
    parts: IntArray,
    first: int,
    timeout: int,
    gravity: float,
    dt: float,
    begins: int,
    most: int,
) -> None:
    """Advance groups that no other thread has taken by `most` ticks.

    Args:
        arrays: (groups, ARRAYS, 3) where the arrays are, see `note_rows`.
        addresses: (ADDRESSES,) of the kernels.
        tables: Tiles, controllers, friction models and groups.
        polygons: (groups, 2, 4, corners) of `Work`.
        states: (groups, STATES) where the groups are.
        bad: Output: for each tile the first wheel that is not finite, or -1.
        rubbed: As in `integrate_kernel`.
        levels: Of `Stored`.
        parts: (groups, COLUMNS) of `parts`; those become ready of which all ticks are done.
        first: The part at which this thread begins.
        timeout: Age in ticks at which a command expires; 0: never.
        gravity: Acceleration of gravity [m/s²].
        dt: Time step [s].
        begins: How, see AGAIN.
        most: See above.
    """
    for i in range(parts.shape[0]):
        g = turn(parts, first, i)
        if not take(parts, g):
            continue
        own, state, group = arrays[g], states[g], tables[3][g]
        if begins != AGAIN:
            state[DONE] = state[STATUS] = state[BEGUN] = 0
            state[FAULT] = UNKNOWN
        if begins == BEGIN:
            state[CONTACT_COUNT] = UNKNOWN
        while state[DONE] < most and state[STATUS] != REST:
            if state[BEGUN] == 0:
                state[BEGUN] = 1
                for t in range(group[TILES], group[TILES_END]):
                    bad[t] = accelerate(own, addresses, tables, t, rubbed, timeout, gravity, dt)
                    if bad[t] >= 0:
                        state[STATUS] = REST
                if state[STATUS] == REST:
                    break
            state[STATUS] = move(
                own, addresses, group, polygons[g], levels, state, rubbed, gravity, dt
            )
            if state[STATUS] != FINISHED:
                break
            met = addresses[MEET] != 0 and most > 1 and state[CONTACT_COUNT] > 0
            end_tick(own, addresses, group, met, dt)
            state[BEGUN] = 0
            state[DONE] += 1
        if state[STATUS] == FINISHED:
            give(parts, g)


@kernel
def merge_kernel(arrays: IntArray, states: IntArray, words: IntArray) -> None:
    """Write the contacts of all groups, sorted by their pairs as those of each are.

    Args:
        arrays: As in `ticks_kernel`.
        states: Likewise.
        words: Output: (n, fields) the memory of so many rows of CONTACT.
    """
    states[:, HEAD] = 0
    for i in range(words.shape[0]):
        chosen, least = ZERO, UNKNOWN
        for t in range(states.shape[0]):
            if states[t, HEAD] < states[t, CONTACT_COUNT]:
                start = arrays[t, PREVIOUS, 0] + states[t, HEAD] * arrays[t, PREVIOUS, 2]
                ends = rows_at(start, ZERO + 2, 8)
                key = ends[0] << 32 | ends[1]
                if least == UNKNOWN or key < least:
                    chosen, least = t, key
        start = arrays[chosen, PREVIOUS, 0] + states[chosen, HEAD] * arrays[chosen, PREVIOUS, 2]
        row = rows_at(start, words.shape[1], 8)
        for k in range(words.shape[1]):
            words[i, k] = row[k]
        states[chosen, HEAD] += 1
