# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Several ticks in one compiled call, while nothing but the physics has to be done.

To a world of one robot the calls of a tick's kernels from Python cost several times what the
kernels do. `Ticks.advance` calls the same kernels, by their addresses, in the same order. It ends
where a tick needs more: contacts to solve, a number that is not finite. What it has done of that
tick counts, and `finish_physics` does the rest, so that nothing has to be predicted. `Ticks.step`
does so for one tick of many vehicles, in threads.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

import numpy as np

from mvsim_core.controllers.base import IdController
from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.latency import latency_kernel
from mvsim_core.dynamics.odometry import odometry_kernel
from mvsim_core.errors import StepError
from mvsim_core.friction import contact_kernel
from mvsim_core.friction.base import TableFriction
from mvsim_core.kinematics.limits import limit_twists_kernel
from mvsim_core.solver.ideal import ideal_twist_kernel
from mvsim_core.solver.motion_kernels import free_kernel
from mvsim_core.solver.near import pairs_kernel, rebuild_kernel
from mvsim_core.solver.solve import MANY
from mvsim_core.state.arrays import IntArray
from mvsim_core.state.clock import tick_kernel
from mvsim_core.terrain.regions import regions_kernel
from mvsim_core.threads import in_parts
from mvsim_core.world.calls import address_of, note_rows, place_of
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.profile import Profile
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.step import (
    COMMANDS,
    SENSORS,
    SOLVER,
    finish_physics,
    integrate_kernel,
    refuse,
)
from mvsim_core.world.tick_kernels import (
    ADDRESS,
    ADDRESSES,
    ARRAYS,
    COMMAND,
    CONTACT,
    FEASIBLE,
    FOLLOW,
    FREE,
    IDEAL,
    IN_REGIONS,
    INTEGRATE,
    LATENCY,
    MEASURE,
    PAIRS,
    REBUILD,
    SHAPES,
    TICK,
    UNKNOWN,
    Tables,
    accelerate_kernel,
    ticks_kernel,
)
from mvsim_core.world.tiles import Tile, Tiles

#: Most bodies times ticks of a call, a few milliseconds, so that Ctrl-C is answered.
MOST = 5000
#: Vehicles of a tile, and least tiles of a thread.
TILE, LEAST_TILES = 125, 2
NO_ROWS: IntArray = np.zeros((0, 0), np.int64)
NO_TABLES: Tables = (NO_ROWS, NO_ROWS, NO_ROWS)


class Ticks:
    """Runs several ticks of a world in one call, or the first half of one, in threads.

    Args:
        size: Vehicles of a tile.
    """

    def __init__(self, size: int = TILE) -> None:
        """Start without a world."""
        # arrays whose addresses are below, which are kept alive so: of forces, and of the solver
        self._known: list[Any] = []
        self._searched: list[Any] = []
        self._arrays: IntArray = np.zeros((ARRAYS, 3), np.int64)
        self._addresses: IntArray = np.zeros(ADDRESSES, np.int64)
        self._tables: Tables = NO_TABLES
        self._tiles = Tiles(size)
        self._used: list[Tile] = []  # it holds the rows that the tables name
        self._bad: IntArray = np.zeros(0, np.int64)
        self._compiled = False

    def __reduce__(self) -> Any:
        """Return how to make an empty one: copies have other arrays at other addresses."""
        return Ticks, (self._tiles.size,)

    def advance(
        self,
        model: Model,
        run: Runtime,
        data: Data,
        limits: tuple[int, int],
        profile: Profile,
        take_out: Callable[[StepError], None],
    ) -> int:
        """Advance by some ticks, as `step_physics` does one by one.

        Args: As for `step_physics`; `limits` are the most ticks, and the age at which a command
            expires.

        Returns:
            How many are done; 0: the next one needs more than kernels.
        """
        if not profile.running or not _is_free(run, data) or not self._fit(model, run, data):
            return 0
        self._fit_search(model, data)
        profile.start()
        done, begun = self._run(model, run, data, *limits)
        profile.divide(0, SENSORS)
        if not begun:
            return done
        finish_physics(model, run, data, (self._used, self._bad.tolist()), profile, take_out)
        return done + 1

    def step(self, model: Model, run: Runtime, data: Data, timeout: int, profile: Profile) -> bool:
        """Do what `step_physics` does, if kernels can; return whether they can."""
        if not profile.running or run.animations or not self._fit(model, run, data):
            return False

        def accelerate(first: int, end: int) -> None:
            kinds = self._tables, self._bad, run.grips.rubbed
            numbers = timeout, model.gravity, model.dt
            accelerate_kernel(self._arrays, self._addresses, *kinds, first, end, *numbers)

        in_parts(len(self._used), LEAST_TILES, accelerate)
        profile.divide(COMMANDS, SOLVER)
        finish_physics(model, run, data, (self._used, self._bad.tolist()), profile, refuse)
        return True

    def warm(self, model: Model, run: Runtime, data: Data) -> None:
        """Load or compile the kernels."""
        if _is_free(run, data) and self._fit(model, run, data):
            self._fit_search(model, data)
            self._run(model, run, data, 1, 0)
            numbers = 0, 0, 0, model.gravity, model.dt
            kinds = self._tables, self._bad, run.grips.rubbed
            accelerate_kernel(self._arrays, self._addresses, *kinds, *numbers)

    def _fit(self, model: Model, run: Runtime, data: Data) -> bool:
        """Prepare for a state; return whether kernels do all up to the forces.

        Not where classes of third parties take part.
        """
        run.grips.begin(data, data.movers.ids, model.gravity, model.dt)
        needed = self._needed(model, run, data)
        if not _same(needed, self._known):
            self._known = needed
            self._compiled = self._note(model, run, data)
        return self._compiled and run.kinematics.compiled

    def _fit_search(self, model: Model, data: Data) -> None:
        """Look up the addresses of what the solver needs where nothing touches."""
        scratch, stored = data.contacts.scratch, data.contacts.arrays()
        needed = [*(rows for rows in stored if rows.ndim == 1), *scratch.found]
        if _same(needed, self._searched):
            return
        self._searched = needed
        for k, rows in enumerate(needed):
            note_rows(self._arrays, SHAPES + k, rows)
        found, dt = scratch.found, model.dt
        movers = data.bodies, data.movers.ids
        alone = (*movers, found.guards, found.near, 0, dt, True)
        self._addresses[FREE] = address_of(free_kernel, *alone)
        self._addresses[REBUILD] = address_of(rebuild_kernel, *movers, stored, found, dt)
        self._addresses[PAIRS] = address_of(pairs_kernel, *movers, stored, found, 0, dt)

    def _run(
        self, model: Model, run: Runtime, data: Data, most: int, timeout: int
    ) -> tuple[int, bool]:
        """Advance by up to `most` ticks after `_fit`; return how many, as `ticks_kernel` does."""
        scratch = data.contacts.scratch
        done, begun, near = ticks_kernel(
            self._arrays,
            self._addresses,
            self._tables,
            self._bad,
            run.grips.rubbed,
            data.contacts.arrays().levels,
            scratch.near_count,
            timeout,
            model.gravity,
            model.dt,
            min(most, max(1, MOST // (len(data.movers) + 1))),
        )
        scratch.near_count, scratch.near_valid = max(near, 0), near != UNKNOWN
        return done, begun

    def _needed(self, model: Model, run: Runtime, data: Data) -> list[Any]:
        """Return the arrays of forces in the order of their rows, and what tables depend on.

        Each list of rows that changes replaces its array, and so do tables that grow.
        """
        controllers, frictions = run.controllers.systems, run.friction.systems
        return [
            *(data.bodies, data.wheels, data.vehicles, data.pids, data.gains),
            *(data.limits, data.delays, data.pivots, data.movers.ids, data.followers.ids),
            *(model.regions.rows, data.clock),
            *(part for one in controllers for part in (one, getattr(one, "ids", None))),
            *(part for one in frictions for part in (one, _ids(one))),
        ]

    def _note(self, model: Model, run: Runtime, data: Data) -> bool:
        """Look up all addresses; return whether all systems are compiled."""
        for k in range(SHAPES):
            note_rows(self._arrays, k, self._known[k])
        dt, gravity = model.dt, model.gravity
        bodies, wheels, vehicles = data.bodies, data.wheels, data.vehicles
        forces = bodies, wheels, vehicles, data.pivots, data.movers.ids, run.grips.rubbed
        regions = bodies, wheels, model.regions.rows
        uses: list[tuple[int, Any, bool, tuple[Any, ...]]] = [
            (COMMAND, apply_commands_kernel, True, (vehicles, bodies, data.clock, 0)),
            (LATENCY, latency_kernel, len(data.delays) > 0, (vehicles, data.delays, dt)),
            (FEASIBLE, limit_twists_kernel, len(run.kinematics) > 0, (vehicles, data.limits, dt)),
            (CONTACT, contact_kernel, True, (bodies, wheels, vehicles, gravity, dt)),
            (IN_REGIONS, regions_kernel, len(model.regions) > 0, regions),
            (INTEGRATE, integrate_kernel, True, (*forces, gravity, dt, True)),
            (IDEAL, ideal_twist_kernel, run.ideal > 0, (bodies, vehicles, dt)),
            (FOLLOW, followers_kernel, len(data.followers) > 0, (bodies, data.followers.ids)),
            (MEASURE, odometry_kernel, run.ideal > 0, (bodies, wheels, vehicles, dt)),
            (TICK, tick_kernel, True, (data.clock,)),
        ]
        for k, phase, used, arguments in uses:
            self._addresses[k] = address_of(phase, *arguments) if used else 0
        return self._note_tiles(model, run, data)

    def _note_tiles(self, model: Model, run: Runtime, data: Data) -> bool:
        """Write the tables; return whether all systems are compiled."""
        self._used = self._tiles.of(model, run, data)
        self._bad = np.full(len(self._used), -1, np.int64)
        tiles: list[tuple[int, ...]] = []
        controllers: list[tuple[int, ...]] = []
        frictions: list[tuple[int, ...]] = []
        for tile in self._used:
            begin = len(controllers), len(frictions)
            controllers += [_controller_row(one, model, data) for one in tile.controllers]
            frictions += [_friction_row(one, model, data) for one in tile.friction]
            count = len(tile.vehicles(data))
            movers = place_of(tile.movers), len(tile.movers)
            ends = begin[0], len(controllers), begin[1], len(frictions)
            tiles.append((tile.first, count, *movers, *ends))
        self._tables = (
            np.array(tiles, np.int64).reshape(-1, 8),
            np.array(controllers, np.int64).reshape(-1, 5),
            np.array(frictions, np.int64).reshape(-1, 5),
        )
        return all(row[ADDRESS] != 0 for row in (*controllers, *frictions))


def _is_free(run: Runtime, data: Data) -> bool:
    """Return whether kernels do all of the next tick, or find out that they cannot.

    Not where bodies touch, are joined, animated or on ground with relief, nor in worlds that are
    shared out to threads.
    """
    contacts, found = data.contacts, data.contacts.scratch.found
    return not (
        not contacts.scratch.near_valid
        or len(found.guards) != len(data.movers)
        or len(found.mover_of) != len(data.bodies)
        or not contacts.placed
        or len(contacts.contacts)
        or contacts.has_joints
        or data.relief
        or run.placed
        or run.animations
        or run.transfers
        or len(data.vehicles) > run.tiles.size
        or len(data.movers) > MANY
    )


def _controller_row(one: Any, model: Model, data: Data) -> tuple[int, int, int, int, int]:
    """Return the row of a controller; its address is 0 if it is not compiled."""
    if not isinstance(one, IdController) or type(one).apply is not IdController.apply:
        return 0, 0, 0, 0, 0
    tables = data.vehicles, data.wheels, data.pids, data.gains, data.bodies
    address = address_of(one.kernel, *tables, one.ids, model.gravity, model.dt)
    return address, place_of(one.ids), len(one.ids), 0, 0


def _friction_row(one: Any, model: Model, data: Data) -> tuple[int, int, int, int, int]:
    """Return the row of a friction model; its address is 0 if it is not compiled."""
    if not isinstance(one, TableFriction) or type(one).apply is not TableFriction.apply:
        return 0, 0, 0, 0, 0
    params, ids = one.table.params, one.table.ids
    address = address_of(one.kernel, data.bodies, data.wheels, params, ids, model.dt)
    return address, place_of(ids), len(ids), place_of(params), params.itemsize


def _same(some: list[Any], others: list[Any]) -> bool:
    """Return whether two lists hold the same objects."""
    return len(some) == len(others) and all(map(is_, some, others))


def _ids(friction: Any) -> Any:
    table = getattr(friction, "table", None)
    return None if table is None else table.ids
