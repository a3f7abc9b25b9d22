# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that go through the phases of ticks, and call the kernels of these by their addresses.

They do what `world.step` does, in the same order. Vehicles go through the phases up to the forces
tile by tile.
"""

from __future__ import annotations

from mvsim_core.solver.compiled import ZERO, inner, kernel
from mvsim_core.solver.near import CLEAR, MEETING, STALE
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.world.calls import call, noted_rows, rows_at

#: Tiles, controllers and friction models.
Tables = tuple[IntArray, IntArray, IntArray]

#: What is near is not known.
UNKNOWN = -1
#: Rows of the table of arrays.
BODIES, WHEELS, VEHICLES, PIDS, GAINS, LIMITS, DELAYS, PIVOTS = range(8)
MOVERS, FOLLOWERS, REGIONS, CLOCK = range(8, 12)
SHAPES, VERTICES, BOXES, LINKS, JOINTS, PLACES = range(12, 18)
GUARDS, FAT, SWEPT, SHAPE_BOXES, STAMPS, MOVER_OF = range(18, 24)
BUCKETS, LEVELS, HITS, NEAR, SPARE, KEYS = range(24, 30)
ARRAYS = 30
#: Places in the array of addresses; 0: the phase is left out.
COMMAND, LATENCY, FEASIBLE, CONTACT, IN_REGIONS, INTEGRATE = range(6)
FREE, REBUILD, PAIRS, IDEAL, FOLLOW, MEASURE, TICK = range(6, 13)
ADDRESSES = 13
#: Columns of the tables of controllers and friction models.
ADDRESS, IDS, COUNT, PARAMS, SIZE = range(5)
#: Columns of the table of tiles: first vehicle, their number, where the rows of their movers are
#: and how many; first of its controllers and the one after the last, likewise friction models.
FIRST, VEHICLE_COUNT, MOVES, MOVER_COUNT, CONTROLS, CONTROLS_END, GRIPS, GRIPS_END = range(8)


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
    tiles, controllers, frictions = tables
    bodies, wheels = noted_rows(arrays, BODIES), noted_rows(arrays, WHEELS)
    size = arrays[VEHICLES, 2]
    begin = arrays[VEHICLES, 0] + tiles[t, FIRST] * size
    vehicles = rows_at(begin, tiles[t, VEHICLE_COUNT], size)
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
        bad[t] = accelerate(arrays, addresses, tables, t, rubbed, timeout, gravity, dt)


@inner
def move(
    arrays: IntArray, addresses: IntArray, levels: IntArray, near: int, dt: float
) -> tuple[bool, int]:
    """Do what `solve` does without contacts, joints and walls.

    Returns:
        Whether all bodies have been advanced; else nothing has been changed. And the number of
        near pairs, or UNKNOWN.
    """
    bodies, movers = noted_rows(arrays, BODIES), noted_rows(arrays, MOVERS)
    guards, pairs = noted_rows(arrays, GUARDS), noted_rows(arrays, NEAR)
    hits = noted_rows(arrays, HITS)
    stored = (
        noted_rows(arrays, SHAPES),
        noted_rows(arrays, VERTICES),
        noted_rows(arrays, BOXES),
        noted_rows(arrays, LINKS),
        noted_rows(arrays, JOINTS),
        noted_rows(arrays, PLACES),
        levels,
    )
    found = (
        guards,
        noted_rows(arrays, FAT),
        noted_rows(arrays, SWEPT),
        noted_rows(arrays, SHAPE_BOXES),
        noted_rows(arrays, STAMPS),
        noted_rows(arrays, MOVER_OF),
        noted_rows(arrays, BUCKETS),
        noted_rows(arrays, LEVELS),
        hits,
        pairs,
        noted_rows(arrays, SPARE),
        noted_rows(arrays, KEYS),
    )
    advances = near >= 0
    result = call(addresses[FREE], (bodies, movers, guards, pairs, near, dt, advances), ZERO)
    if result == STALE:
        near, most = call(addresses[REBUILD], (bodies, movers, stored, found, dt), (ZERO, ZERO))
        if near > pairs.shape[0] or most > hits.shape[0]:
            return False, UNKNOWN
        result = call(addresses[FREE], (bodies, movers, guards, pairs, near, dt, advances), ZERO)
    if result == MEETING:
        meeting = call(addresses[PAIRS], (bodies, movers, stored, found, near, dt), ZERO)
        if meeting == 0:
            given = (bodies, movers, guards, pairs, ZERO, dt, advances)
            result = call(addresses[FREE], given, ZERO)
    return result == CLEAR, near


@kernel
def ticks_kernel(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    tables: Tables,
    bad: IntArray,
    rubbed: FloatArray,
    levels: IntArray,
    near: int,
    timeout: int,
    gravity: float,
    dt: float,
    most: int,
) -> tuple[int, bool, int]:
    """Advance a world by up to `most` ticks.

    Args:
        arrays: (ARRAYS, 3) where the arrays are, see `note_rows`.
        addresses: (ADDRESSES,) of the kernels.
        tables: Tiles, controllers and friction models.
        bad: Output: for each tile the first wheel that is not finite, or -1.
        rubbed: As in `integrate_kernel`.
        levels: Of `Stored`.
        near: Number of near pairs.
        timeout: Age in ticks at which a command expires; 0: never.
        gravity: Acceleration of gravity [m/s²].
        dt: Time step [s].
        most: See above.

    Returns:
        How many ticks are done; whether the next one has been begun, and `finish_physics` is to
        do the rest; the number of near pairs, or UNKNOWN.
    """
    bodies, vehicles = noted_rows(arrays, BODIES), noted_rows(arrays, VEHICLES)
    for done in range(most):
        worst = ZERO - 1
        for t in range(bad.shape[0]):
            bad[t] = accelerate(arrays, addresses, tables, t, rubbed, timeout, gravity, dt)
            worst = max(worst, bad[t])
        if worst >= 0:
            return done, True, near
        free, near = move(arrays, addresses, levels, near, dt)
        if not free:
            return done, True, near
        if addresses[IDEAL] != 0:
            call(addresses[IDEAL], (bodies, vehicles, dt), None)
        if addresses[FOLLOW] != 0:
            call(addresses[FOLLOW], (bodies, noted_rows(arrays, FOLLOWERS)), None)
        if addresses[IDEAL] != 0:
            wheels = noted_rows(arrays, WHEELS)
            call(addresses[MEASURE], (bodies, wheels, vehicles, dt), None)
        call(addresses[TICK], (noted_rows(arrays, CLOCK),), None)
    return most, False, near
