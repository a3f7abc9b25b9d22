# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Several ticks in one compiled call, while nothing but the physics has to be done.

To a world of one robot the calls of a tick's kernels from Python cost several times what the
kernels do. `Ticks.advance` calls the same kernels, by their addresses, in the same order. It ends
where a tick needs more: contacts to solve, a number that is not finite. What it has done of that
tick counts, and `finish_physics` does the rest, so that nothing has to be predicted.
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
from mvsim_core.solver.compiled import ZERO, inner, kernel
from mvsim_core.solver.ideal import ideal_twist_kernel
from mvsim_core.solver.motion_kernels import free_kernel
from mvsim_core.solver.near import CLEAR, MEETING, STALE, pairs_kernel, rebuild_kernel
from mvsim_core.solver.solve import MANY
from mvsim_core.state.arrays import FloatArray, IntArray
from mvsim_core.state.clock import tick_kernel
from mvsim_core.terrain.regions import regions_kernel
from mvsim_core.world.calls import address_of, call, note_rows, noted_rows, place_of, rows_at
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.profile import Profile
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.step import SENSORS, finish_physics, integrate_kernel

#: Most bodies times ticks of a call, a few milliseconds, so that Ctrl-C is answered.
MOST = 5000
#: Results of `ticks_kernel` beside a wheel that is not finite: all ticks are done; the solver is
#: to do the rest of the last one.
FINISHED, OPEN = -1, -2
#: What is near is not known.
UNKNOWN = -1
#: Rows of the table of arrays.
BODIES, WHEELS, VEHICLES, PIDS, GAINS, LIMITS, DELAYS, PIVOTS = range(8)
MOVERS, FOLLOWERS, REGIONS, CLOCK = range(8, 12)
SHAPES, VERTICES, BOXES, LINKS, JOINTS, PLACES = range(12, 18)
GUARDS, FAT, SWEPT, SHAPE_BOXES, STAMPS, MOVER_OF = range(18, 24)
BUCKETS, LEVELS, HITS, NEAR, KEYS = range(24, 29)
ARRAYS = 29
#: Places in the array of addresses; 0: the phase is left out.
COMMANDS, LATENCY, FEASIBLE, CONTACT, IN_REGIONS, INTEGRATE = range(6)
FREE, REBUILD, PAIRS, IDEAL, FOLLOW, MEASURE, TICK = range(6, 13)
ADDRESSES = 13
#: Columns of the table of systems.
ADDRESS, IDS, COUNT, PARAMS, SIZE = range(5)


@inner
def accelerate(  # noqa: PLR0913 (arrays of a kernel)
    arrays: IntArray,
    addresses: IntArray,
    systems: tuple[IntArray, IntArray],
    rubbed: FloatArray,
    timeout: int,
    gravity: float,
    dt: float,
) -> int:
    """Do what `step._accelerate` does; return the same."""
    bodies, wheels = noted_rows(arrays, BODIES), noted_rows(arrays, WHEELS)
    vehicles, movers = noted_rows(arrays, VEHICLES), noted_rows(arrays, MOVERS)
    controllers, frictions = systems
    pids, gains = noted_rows(arrays, PIDS), noted_rows(arrays, GAINS)
    call(addresses[COMMANDS], (vehicles, bodies, noted_rows(arrays, CLOCK), timeout), None)
    if addresses[LATENCY] != 0:
        call(addresses[LATENCY], (vehicles, noted_rows(arrays, DELAYS), dt), None)
    if addresses[FEASIBLE] != 0:
        call(addresses[FEASIBLE], (vehicles, noted_rows(arrays, LIMITS), dt), None)
    for k in range(controllers.shape[0]):
        ids = rows_at(controllers[k, IDS], controllers[k, COUNT], 8)
        given = (vehicles, wheels, pids, gains, bodies, ids, gravity, dt)
        call(controllers[k, ADDRESS], given, None)
    call(addresses[CONTACT], (bodies, wheels, vehicles, gravity, dt), None)
    if addresses[IN_REGIONS] != 0:
        call(addresses[IN_REGIONS], (bodies, wheels, noted_rows(arrays, REGIONS)), None)
    for k in range(frictions.shape[0]):
        ids = rows_at(frictions[k, IDS], frictions[k, COUNT], 8)
        params = rows_at(frictions[k, PARAMS], frictions[k, COUNT], frictions[k, SIZE])
        call(frictions[k, ADDRESS], (bodies, wheels, params, ids, dt), None)
    pivots, odometry = noted_rows(arrays, PIVOTS), addresses[IDEAL] == 0
    forces = (bodies, wheels, vehicles, pivots, movers, rubbed, gravity, dt, odometry)
    return int(call(addresses[INTEGRATE], forces, ZERO))


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
    systems: tuple[IntArray, IntArray],
    rubbed: FloatArray,
    levels: IntArray,
    near: int,
    timeout: int,
    gravity: float,
    dt: float,
    most: int,
) -> tuple[int, int, int]:
    """Advance a world by up to `most` ticks.

    Args:
        arrays: (ARRAYS, 3) where the arrays are, see `note_rows`.
        addresses: (ADDRESSES,) of the kernels.
        systems: (n, 5) controllers, and friction models.
        rubbed: As in `integrate_kernel`.
        levels: Of `Stored`.
        near: Number of near pairs.
        timeout: Age in ticks at which a command expires; 0: never.
        gravity: Acceleration of gravity [m/s²].
        dt: Time step [s].
        most: See above.

    Returns:
        How many ticks are done; FINISHED, OPEN, or a wheel that is not finite; and the number of
        near pairs, or UNKNOWN.
    """
    bodies, vehicles = noted_rows(arrays, BODIES), noted_rows(arrays, VEHICLES)
    for done in range(most):
        bad = accelerate(arrays, addresses, systems, rubbed, timeout, gravity, dt)
        if bad >= 0:
            return done, bad, near
        free, near = move(arrays, addresses, levels, near, dt)
        if not free:
            return done, OPEN, near
        if addresses[IDEAL] != 0:
            call(addresses[IDEAL], (bodies, vehicles, dt), None)
        if addresses[FOLLOW] != 0:
            call(addresses[FOLLOW], (bodies, noted_rows(arrays, FOLLOWERS)), None)
        if addresses[IDEAL] != 0:
            wheels = noted_rows(arrays, WHEELS)
            call(addresses[MEASURE], (bodies, wheels, vehicles, dt), None)
        call(addresses[TICK], (noted_rows(arrays, CLOCK),), None)
    return most, FINISHED, near


class Ticks:
    """Runs several ticks of a world in one call."""

    def __init__(self) -> None:
        """Start without a world."""
        self._known: list[Any] = []  # arrays whose addresses are below; they are kept alive so
        self._arrays: IntArray = np.zeros((ARRAYS, 3), np.int64)
        self._addresses: IntArray = np.zeros(ADDRESSES, np.int64)
        self._controllers: IntArray = np.zeros((0, 5), np.int64)
        self._frictions: IntArray = np.zeros((0, 5), np.int64)
        self._compiled = False

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
        if not profile.running or not self._fit(model, run, data):
            return 0
        profile.start()
        done, what = self._run(model, data, run.grips.rubbed, *limits)
        profile.divide(SENSORS)
        if what == FINISHED:
            return done
        bad = [-1 if what == OPEN else what]
        finish_physics(model, run, data, (run.tiles.of(model, run, data), bad), profile, take_out)
        return done + 1

    def warm(self, model: Model, run: Runtime, data: Data) -> None:
        """Load or compile the kernel."""
        if self._fit(model, run, data):
            self._run(model, data, run.grips.rubbed, 1, 0)

    def _fit(self, model: Model, run: Runtime, data: Data) -> bool:
        """Prepare for a state; return whether its ticks consist of kernels alone.

        Not where bodies touch, are joined, animated or on ground with relief; nor where classes of
        third parties take part; nor in worlds that are shared out to threads.
        """
        contacts = data.contacts
        if (
            not contacts.scratch.near_valid
            or len(contacts.contacts)
            or contacts.has_joints
            or data.relief
            or run.placed
            or run.animations
            or run.transfers
            or not run.kinematics.compiled
            or len(data.vehicles) > run.tiles.size
            or len(data.movers) > MANY
        ):
            return False
        run.grips.begin(data, data.movers.ids, model.gravity, model.dt)
        needed = self._needed(model, run, data)
        if len(needed) != len(self._known) or not all(map(is_, needed, self._known)):
            self._known = needed
            self._compiled = self._note(model, run, data)
        return self._compiled

    def _run(
        self, model: Model, data: Data, rubbed: FloatArray, most: int, timeout: int
    ) -> tuple[int, int]:
        """Advance by up to `most` ticks after `_fit`.

        Returns:
            How many are done, and FINISHED, OPEN or a wheel as `ticks_kernel` returns them.
        """
        scratch = data.contacts.scratch
        done, what, near = ticks_kernel(
            self._arrays,
            self._addresses,
            (self._controllers, self._frictions),
            rubbed,
            data.contacts.arrays().levels,
            scratch.near_count,
            timeout,
            model.gravity,
            model.dt,
            min(most, max(1, MOST // (len(data.movers) + 1))),
        )
        scratch.near_count, scratch.near_valid = max(near, 0), near != UNKNOWN
        return done, what

    def _needed(self, model: Model, run: Runtime, data: Data) -> list[Any]:
        """Return the arrays in the order of their rows, and what else the tables depend on.

        Each list of rows that changes replaces its array, and so do tables that grow.
        """
        controllers, frictions = run.controllers.systems, run.friction.systems
        return [
            *(data.bodies, data.wheels, data.vehicles, data.pids, data.gains),
            *(data.limits, data.delays, data.pivots, data.movers.ids, data.followers.ids),
            *(model.regions.rows, data.clock),
            *(rows for rows in data.contacts.arrays() if rows.ndim == 1),
            *data.contacts.scratch.found,
            *(part for one in controllers for part in (one, getattr(one, "ids", None))),
            *(part for one in frictions for part in (one, _ids(one))),
        ]

    def _note(self, model: Model, run: Runtime, data: Data) -> bool:
        """Look up all addresses; return whether all systems are compiled."""
        for k in range(ARRAYS):
            note_rows(self._arrays, k, self._known[k])
        dt, gravity = model.dt, model.gravity
        bodies, wheels, vehicles = data.bodies, data.wheels, data.vehicles
        movers, near = data.movers.ids, data.contacts.scratch.found.near
        solver = bodies, movers, data.contacts.arrays(), data.contacts.scratch.found
        forces = bodies, wheels, vehicles, data.pivots, movers, run.grips.rubbed
        uses: list[tuple[Any, bool, tuple[Any, ...]]] = [
            (apply_commands_kernel, True, (vehicles, bodies, data.clock, 0)),
            (latency_kernel, len(data.delays) > 0, (vehicles, data.delays, dt)),
            (limit_twists_kernel, len(run.kinematics) > 0, (vehicles, data.limits, dt)),
            (contact_kernel, True, (bodies, wheels, vehicles, gravity, dt)),
            (regions_kernel, len(model.regions) > 0, (bodies, wheels, model.regions.rows)),
            (integrate_kernel, True, (*forces, gravity, dt, True)),
            (free_kernel, True, (bodies, movers, solver[3].guards, near, 0, dt, True)),
            (rebuild_kernel, True, (*solver, dt)),
            (pairs_kernel, True, (*solver, 0, dt)),
            (ideal_twist_kernel, run.ideal > 0, (bodies, vehicles, dt)),
            (followers_kernel, len(data.followers) > 0, (bodies, data.followers.ids)),
            (odometry_kernel, run.ideal > 0, (bodies, wheels, vehicles, dt)),
            (tick_kernel, True, (data.clock,)),
        ]
        for k, (phase, used, arguments) in enumerate(uses):
            self._addresses[k] = address_of(phase, *arguments) if used else 0
        tables = vehicles, wheels, data.pids, data.gains, bodies
        self._controllers = np.zeros((len(run.controllers.systems), 5), np.int64)
        for row, one in zip(self._controllers, run.controllers.systems, strict=True):
            if not isinstance(one, IdController) or type(one).apply is not IdController.apply:
                return False
            row[ADDRESS] = address_of(one.kernel, *tables, one.ids, gravity, dt)
            row[IDS], row[COUNT] = place_of(one.ids), len(one.ids)
        self._frictions = np.zeros((len(run.friction.systems), 5), np.int64)
        for row, one in zip(self._frictions, run.friction.systems, strict=True):
            if not isinstance(one, TableFriction) or type(one).apply is not TableFriction.apply:
                return False
            params, ids = one.table.params, one.table.ids
            row[ADDRESS] = address_of(one.kernel, bodies, wheels, params, ids, dt)
            row[IDS], row[COUNT] = place_of(ids), len(ids)
            row[PARAMS], row[SIZE] = place_of(params), params.itemsize
        return all(self._controllers[:, ADDRESS]) and all(self._frictions[:, ADDRESS])


def _ids(friction: Any) -> Any:
    table = getattr(friction, "table", None)
    return None if table is None else table.ids
