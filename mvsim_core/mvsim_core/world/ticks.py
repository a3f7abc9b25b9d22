# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Several ticks in one compiled call, while nothing but the physics has to be done.

To a world of one robot the calls of a tick's kernels from Python cost several times what the
kernels do. `Ticks.advance` calls the same kernels, by their addresses, in the same order, contacts
included. It ends where a tick needs more: a number that is not finite. What it has done of that
tick counts, and `finish_physics` does the rest, so that nothing has to be predicted. Copies of a
world go through all ticks of a call in groups, which threads share out. `Ticks.step` does all up
to the forces for one tick of many vehicles, where joints or the ground need more.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any
from weakref import ref

import numpy as np

from mvsim_core.controllers.base import IdController
from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.latency import latency_kernel
from mvsim_core.dynamics.odometry import odometry_kernel
from mvsim_core.errors import StepError
from mvsim_core.friction import contact_kernel
from mvsim_core.friction.base import TableFriction
from mvsim_core.friction.ground_grips import grips_kernel, store_kernel
from mvsim_core.kinematics.limits import limit_twists_kernel
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.contact_types import CONTACT as CONTACT_ROW
from mvsim_core.solver.contact_types import NO_WALLS
from mvsim_core.solver.ideal import ideal_twist_kernel
from mvsim_core.solver.islands import Known
from mvsim_core.solver.motion_kernels import free_kernel
from mvsim_core.solver.near import pairs_kernel, rebuild_kernel, renew_kernel
from mvsim_core.solver.solve import MANY, contacts_kernel, mark_kernel
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray, Rows
from mvsim_core.state.clock import tick_kernel
from mvsim_core.state.columns import met_kernel
from mvsim_core.state.finite import body_error, wheel_error
from mvsim_core.state.parts import free, parts_of
from mvsim_core.state.rows import copy_rows
from mvsim_core.terrain.regions import regions_kernel
from mvsim_core.threads import in_parts, in_threads
from mvsim_core.world.calls import address_of, note_rows, place_of
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.data import Data
from mvsim_core.world.groups import (
    Group,
    GroupWork,
    SharedWork,
    groups_of,
    list_by_group,
    polygons_of,
    work_arrays,
)
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
    ACTIVE,
    ADDRESS,
    ADDRESSES,
    AGAIN,
    ARRAYS,
    BEGIN,
    CLOCKS,
    COMMAND,
    CONTACT,
    CONTACT_COUNT,
    DONE,
    FAULT,
    FEASIBLE,
    FOLLOW,
    FREE,
    FRICTION,
    GO_ON,
    GRIP,
    GUARDS,
    HITS,
    IDEAL,
    IN_REGIONS,
    INTEGRATE,
    KEYS,
    KEYS_FULL,
    LATENCY,
    MARK,
    MEASURE,
    MEET,
    MET,
    MOVERS,
    NEAR,
    NEAR_COUNT,
    NEAR_FULL,
    NEEDED,
    OLD,
    OTHERS,
    PAIRS,
    PREVIOUS,
    REBUILD,
    RENEW,
    REST,
    SHAPES,
    SOLVE,
    SPARE,
    STATES,
    STATUS,
    STORE,
    TICK,
    TOUCHED,
    UNKNOWN,
    WALLS,
    Tables,
    accelerate_kernel,
    merge_kernel,
    ticks_kernel,
)
from mvsim_core.world.tiles import Tile, Tiles

#: Most bodies times ticks of a call, a few milliseconds, so that Ctrl-C is answered; of copies of
#: a world some more, so that their rows stay in the caches for the ticks of an agent's step.
MOST, MOST_OF_COPIES = 5000, 25000
#: Vehicles of a tile, and least tiles or groups of a thread in a call of one tick.
TILE, LEAST_TILES = 125, 2
NO_ROWS: IntArray = np.zeros((0, 0), np.int64)
NO_TABLES: Tables = (NO_ROWS, NO_ROWS, NO_ROWS, NO_ROWS)
NO_MET: BoolArray = np.zeros(0, bool)
#: Is called in each thread that has advanced parts of the copies, with all parts and the one at
#: which the thread begins: it takes what follows of those that are ready, see `parts.follow`.
Finish = Callable[[IntArray, int], None]


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
        self._levels: IntArray = np.zeros((2, 0), np.int64)  # of `Stored`
        self._arrays: IntArray = np.zeros((0, ARRAYS, 3), np.int64)
        self._addresses: IntArray = np.zeros(ADDRESSES, np.int64)
        self._tables: Tables = NO_TABLES
        self._tiles = Tiles(size)
        self._used: list[Tile] = []  # it holds the rows that the tables name
        self._groups: list[Group] = []
        self._parts = parts_of(())  # copies of each group
        self._bad: IntArray = np.zeros(0, np.int64)
        self._states: IntArray = np.zeros((0, STATES), np.int64)
        self._works: list[GroupWork] = []
        self._shared = SharedWork(0)
        self._polygons: FloatArray = polygons_of(0, 0)
        self._largest = (0, 0)  # most vehicles and movers of a group
        self._old: Any = None  # contacts before the call
        # to whom groups hold the contacts of the last call
        self._owner: Callable[[], ContactData | None] = _none
        self._compiled = False

    def __reduce__(self) -> Any:
        """Return how to make an empty one: copies have other arrays at other addresses."""
        return Ticks, (self._tiles.size,)

    def advance(  # noqa: PLR0913 (parts of a world)
        self,
        model: Model,
        run: Runtime,
        data: Data,
        limits: tuple[int, int],
        profile: Profile,
        take_out: Callable[[StepError], None],
        met: BoolArray = NO_MET,
        finish: Finish | None = None,
    ) -> int:
        """Advance by some ticks, as `step_physics` does one by one.

        Args: As for `step_physics`; `limits` are the most ticks, and the age at which a command
            expires. In `met`, (bodies,) or empty, the rows of BODY become true that touch
            something after any of several ticks. If all ticks are to be done, `finish` is called
            with parts of the copies of the world.

        Returns:
            How many are done; 0: the next one needs more than kernels.

        Raises:
            StepError: A number of a copy of a world is not finite; other copies may have gone on.
        """
        by_copy = data.contacts.scratch.by_copy
        if not profile.running or not _is_free(run, data):
            return 0
        if by_copy:
            data.contacts.place_pending(data.bodies)
        elif not _is_listed(data):
            return 0
        if not self._fit(model, run, data) or self._is_large(run):
            return 0
        self._fit_search(model, run, data, met)
        profile.start()
        most = min(limits[0], max(1, _most(by_copy) // (len(data.movers) + 1)))
        status = self._run(
            model, run, data, most, limits[1], finish if most == limits[0] else None
        )
        self._keep_contacts(data)
        profile.divide(0, SENSORS)
        if by_copy:
            if status == REST:
                self._refuse(run, data, data.ticks - int(self._states[0, DONE]), take_out)
            return most
        scratch, state = data.contacts.scratch, self._states[0]
        near = int(state[NEAR_COUNT])
        scratch.near_count, scratch.near_valid = max(near, 0), near != UNKNOWN
        if state[STATUS] != REST:
            return most
        finish_physics(model, run, data, (self._used, self._bad.tolist()), profile, take_out)
        return int(state[DONE]) + 1

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
        if _is_free(run, data) and _is_listed(data) and self._fit(model, run, data):
            self._fit_search(model, run, data, NO_MET)
            self._run(model, run, data, 1, 0)
            numbers = 0, 0, 0, model.gravity, model.dt
            kinds = self._tables, self._bad, run.grips.rubbed
            accelerate_kernel(self._arrays, self._addresses, *kinds, *numbers)
            merge_kernel(self._arrays, self._states, np.zeros((0, 0), np.int64))

    def _fit(self, model: Model, run: Runtime, data: Data) -> bool:
        """Prepare for a state; return whether kernels do all up to the forces.

        Not where classes of third parties take part.
        """
        run.grips.begin(data, data.movers.ids, model.gravity, model.dt)
        needed = self._needed(model, run, data)
        if not _same(needed, self._known):
            self._settle()
            self._known = needed
            self._compiled = self._note(model, run, data)
        return self._compiled and run.kinematics.compiled

    def _fit_search(self, model: Model, run: Runtime, data: Data, met: BoolArray) -> None:
        """Prepare for the solver: look up the addresses of what it needs."""
        contacts, scratch = data.contacts, data.contacts.scratch
        stored = contacts.arrays()
        found = (scratch.group_guards,) if scratch.by_copy else scratch.found
        needed = [*found, *stored, met, run.grips.rubbed]
        if not _same(needed, self._searched):
            if scratch.by_copy:
                list_by_group(data, [group.movers for group in self._groups], self._works)
                needed[0] = scratch.group_guards
            self._searched, self._levels = needed, stored.levels
            self._note_search(model, data, met)
        if self._polygons.shape[::3] != (len(self._groups), contacts.most_corners):
            self._polygons = polygons_of(len(self._groups), contacts.most_corners)
        if scratch.by_copy and not scratch.groups_valid:
            scratch.group_guards["body"] = -1
            self._states[:, NEAR_COUNT] = 0
            scratch.groups_valid = True
        elif not scratch.by_copy:
            self._states[0, NEAR_COUNT] = scratch.near_count
        if contacts.has_source(self._merged):
            return
        self._settle()
        if self._old is not contacts.contacts:
            self._old = contacts.contacts
            self._arrays[:, OLD] = _noted(self._old)

    def _run(
        self,
        model: Model,
        run: Runtime,
        data: Data,
        most: int,
        timeout: int,
        finish: Finish | None = None,
    ) -> int:
        """Advance by `most` ticks, or until groups need more than kernels; return the status."""
        kinds = self._tables, self._polygons, self._states, self._bad, run.grips.rubbed
        levels, parts = self._levels, self._parts
        begins = GO_ON if data.contacts.has_source(self._merged) else BEGIN

        def advance(first: int) -> None:
            numbers = first, timeout, model.gravity, model.dt, begins, most
            ticks_kernel(self._arrays, self._addresses, *kinds, levels, parts, *numbers)
            if finish is not None:
                finish(parts, first)

        while True:
            free(parts)
            in_threads(len(parts), LEAST_TILES if most == 1 else 1, advance)
            worst: int = max(self._states[:, STATUS].tolist())
            if worst <= REST:
                return worst
            for g in np.flatnonzero(self._states[:, STATUS] > REST).tolist():
                self._make_room(g, data)
            begins = AGAIN

    def _make_room(self, g: int, data: Data) -> None:
        """Make room for what a group lacks."""
        status, needed, others = self._states[g, [STATUS, NEEDED, OTHERS]].tolist()
        contacts, work = data.contacts, self._works[g]
        scratch = work.scratch if contacts.scratch.by_copy else contacts.scratch
        if status == NEAR_FULL:
            scratch.fit_near(needed, others)
            scratch.found.guards["body"] = -1
            self._states[g, NEAR_COUNT] = 0
            for k in (NEAR, SPARE, HITS):
                note_rows(self._arrays[g], k, scratch.found[k - GUARDS])
        elif status == KEYS_FULL:
            scratch.fit_pairs(needed)
            note_rows(self._arrays[g], KEYS, scratch.found.keys)
        else:
            work.fit_work(needed, others, contacts.most_corners)
            self._note_work(g)

    def _keep_contacts(self, data: Data) -> None:
        """Make the contacts of all groups those of the state: they are merged when it is asked."""
        contacts, counts = data.contacts, self._states[:, CONTACT_COUNT].tolist()
        if (len(counts) == 1 and counts[0] == UNKNOWN) or contacts.has_source(self._merged):
            return  # not one tick was done, or they are already
        if max(counts) > 0:
            contacts.set_source(self._merged)
            self._owner = ref(contacts)
        elif len(contacts.contacts):
            contacts.contacts = copy_rows(contacts.contacts[:0])

    def _merged(self) -> Rows:
        """Return the contacts of all groups."""
        total = sum(count for count in self._states[:, CONTACT_COUNT].tolist() if count > 0)
        words = np.empty((total, CONTACT_ROW.itemsize // 8), np.int64)
        merge_kernel(self._arrays, self._states, words)
        return words.reshape(-1).view(CONTACT_ROW)

    def _settle(self) -> None:
        """Merge the contacts that groups hold, before these get others or others' contacts."""
        owner = self._owner()
        if owner is not None and owner.has_source(self._merged):
            owner.contacts = self._merged()

    def _refuse(
        self, run: Runtime, data: Data, ticks: int, take_out: Callable[[StepError], None]
    ) -> None:
        """Report the first copy of which a number is not finite."""
        states = self._states
        failed = []  # the first tick first, in it wheels before bodies, as in single steps
        for g in np.flatnonzero(states[:, STATUS] == REST).tolist():
            _, _, first, end = self._tables[3][g].tolist()
            bad = self._bad[first:end]
            wheel = int(bad[bad >= 0][0]) if (bad >= 0).any() else -1
            failed.append((int(states[g, DONE]), wheel < 0, g, wheel))
        done, _, g, wheel = min(failed)
        tick = ticks + done + 1
        if wheel >= 0:
            take_out(wheel_error(run.entities(), data.wheels, wheel, tick))
        else:
            take_out(body_error(run.entities(), data.bodies, int(states[g, FAULT]), tick))

    def _needed(self, model: Model, run: Runtime, data: Data) -> list[Any]:
        """Return the arrays of forces in the order of their rows, and what tables depend on.

        Each list of rows that changes replaces its array, and so do tables that grow.
        """
        needed: list[Any] = [
            *(data.bodies, data.wheels, data.vehicles, data.pids, data.gains),
            *(data.limits, data.delays, data.pivots, data.movers.ids, data.followers.ids),
            *(model.regions.rows, data.clock),
        ]
        for one in run.controllers.systems:
            needed += (one, getattr(one, "ids", None))
        for one in run.friction.systems:
            needed += (one, _ids(one))
        return needed

    def _note(self, model: Model, run: Runtime, data: Data) -> bool:
        """Look up all addresses; return whether all systems are compiled."""
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
            vehicles = len(tile.vehicles(data))
            movers = place_of(tile.movers), len(tile.movers)
            ends = begin[0], len(controllers), begin[1], len(frictions)
            tiles.append((tile.first, vehicles, *movers, *ends))
        self._groups = groups_of(self._used, data)
        self._tables = (
            np.array(tiles, np.int64).reshape(-1, 8),
            np.array(controllers, np.int64).reshape(-1, 5),
            np.array(frictions, np.int64).reshape(-1, 5),
            np.array([group.row for group in self._groups], np.int64).reshape(-1, 4),
        )
        self._note_groups(data)
        return all(row[ADDRESS] != 0 for row in (*controllers, *frictions))

    def _note_groups(self, data: Data) -> None:
        """Make the work memory of groups, and write what does not depend on the solver."""
        count, corners = len(self._groups), data.contacts.most_corners
        self._states = np.zeros((count, STATES), np.int64)
        self._arrays = np.zeros((count, ARRAYS, 3), np.int64)
        for k in range(SHAPES):
            self._arrays[:, k] = _noted(self._known[k])
        for table, group in zip(self._arrays, self._groups, strict=True):
            note_rows(table, MOVERS, group.movers)
            note_rows(table, CLOCKS, data.clock[slice(*group.copies)])
        self._parts = parts_of(group.copies for group in self._groups)
        self._works = [GroupWork(len(one.movers), one.wheels, corners) for one in self._groups]
        self._shared = SharedWork(len(data.bodies))
        sizes = [(one.row[1], len(one.movers)) for one in self._groups]
        self._largest = max(size for size, _ in sizes), max(size for _, size in sizes)
        self._searched, self._old = [], None

    def _is_large(self, run: Runtime) -> bool:
        """Return whether a group is better shared out to threads phase by phase."""
        return self._largest[0] > run.tiles.size or self._largest[1] > MANY

    def _note_search(self, model: Model, data: Data, met: BoolArray) -> None:
        """Look up what the solver needs."""
        scratch, by_copy = data.contacts.scratch, data.contacts.scratch.by_copy
        stored = [rows for rows in data.contacts.arrays() if rows.ndim == 1]
        for g, work in enumerate(self._works):
            found = work.scratch.found if by_copy else scratch.found
            for k, rows in enumerate((*stored, *found)):
                note_rows(self._arrays[g], SHAPES + k, rows)
            self._note_work(g)
        self._arrays[:, WALLS] = _noted(NO_WALLS)
        self._arrays[:, TOUCHED] = _noted(self._shared.touched)
        self._arrays[:, MET] = _noted(met)
        self._note_solver(model, data, met)

    def _note_solver(self, model: Model, data: Data, met: BoolArray) -> None:
        """Look up the addresses of the solver's kernels."""
        scratch, by_copy = data.contacts.scratch, data.contacts.scratch.by_copy
        all_stored, dt, gravity = data.contacts.arrays(), model.dt, model.gravity
        work, found = self._works[0].scratch.work, scratch.found
        bodies, movers, wheels, vehicles = self._known[0], data.movers.ids, *self._known[1:3]
        near, keys, touched = (bodies, movers, all_stored, found), found.keys, self._shared.touched
        grips, known = self._works[0].grips, Known(all_stored, found.mover_of)
        rows = bodies, wheels, vehicles
        solved = known, found.guards, work, data.contacts.contacts, keys, NO_WALLS, grips, dt
        uses: list[tuple[int, Any, bool, tuple[Any, ...]]] = [
            (FREE, free_kernel, True, (bodies, movers, found.guards, found.near, 0, dt, True)),
            (REBUILD, rebuild_kernel, not by_copy, (*near, dt)),
            (RENEW, renew_kernel, by_copy, (*near, 0, dt)),
            (PAIRS, pairs_kernel, True, (*near, 0, dt)),
            (MARK, mark_kernel, True, (all_stored.shapes, keys, 0, touched)),
            (GRIP, grips_kernel, True, (*rows, movers, touched, _RUBBED, grips, gravity, dt)),
            (SOLVE, contacts_kernel, True, (bodies, movers, *solved)),
            (STORE, store_kernel, True, (*rows, grips, dt)),
            (MEET, met_kernel, len(met) > 0, (bodies, movers, met)),
        ]
        for k, phase, used, arguments in uses:
            self._addresses[k] = address_of(phase, *arguments) if used else 0

    def _note_work(self, g: int) -> None:
        """Look up the arrays in which a group solves contacts."""
        table, work = self._arrays[g], self._works[g]
        for k, rows in enumerate(work_arrays(work, self._shared)):
            note_rows(table, ACTIVE + k, rows)
        note_rows(table, PREVIOUS, work.previous)
        note_rows(table, FRICTION, work.grips)


def _none() -> None:
    return None


#: Stands for `GroundGrips.rubbed`.
_RUBBED: FloatArray = np.zeros((0, 4))


def _most(by_copy: bool) -> int:
    return MOST_OF_COPIES if by_copy else MOST


def _is_free(run: Runtime, data: Data) -> bool:
    """Return whether kernels do all of the next tick, or find out that they cannot.

    Not where bodies are joined, animated or on ground with relief.
    """
    return not (
        data.contacts.has_joints or data.relief or run.placed or run.animations or run.transfers
    )


def _is_listed(data: Data) -> bool:
    """Return whether what is near is known for a world that is not one of copies."""
    contacts, found = data.contacts, data.contacts.scratch.found
    return not (
        not contacts.scratch.near_valid
        or len(found.guards) != len(data.movers)
        or len(found.mover_of) != len(data.bodies)
        or not contacts.placed
    )


def _noted(rows: Any) -> tuple[int, int, int]:
    """Return what `note_rows` writes."""
    return place_of(rows), len(rows), rows.itemsize


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
