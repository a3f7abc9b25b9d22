# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The physics of one tick, in order; the same for a world and for the copies of a batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numba import njit

from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.islands import integrate_velocities_kernel, sum_wheel_forces_kernel
from mvsim_core.dynamics.latency import latency_kernel
from mvsim_core.dynamics.odometry import odometry_kernel
from mvsim_core.dynamics.pivots import pivot_kernel
from mvsim_core.errors import StepError
from mvsim_core.friction import contact_kernel, coupled_kernel, hold_kernel
from mvsim_core.solver.ideal import ideal_twist_kernel
from mvsim_core.solver.solve import solve
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.state.clock import tick_kernel
from mvsim_core.state.finite import body_error, wheel_error
from mvsim_core.threads import run_all
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.profile import Profile
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.tiles import Tile

PHASES = (
    "animations",
    "commands",
    "kinematics",
    "controllers",
    "friction",
    "integrate",
    "solver",
    "terrain",
    "odometry",
    "sensors",
    "recording",
)
ANIMATIONS, COMMANDS, KINEMATICS, CONTROLLERS, FRICTION = range(5)
INTEGRATE, SOLVER, TERRAIN, ODOMETRY, SENSORS, RECORDING = range(5, 11)
_NONE: IntArray = np.zeros(0, np.int64)


@njit(cache=True, nogil=True, error_model="numpy")
def integrate_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    wheels: Rows,
    vehicles: Rows,
    pivots: Rows,
    movers: IntArray,
    rubbed: FloatArray,
    gravity: float,
    dt: float,
    odometry: bool,
) -> int:
    """Advance the velocities of movers by the forces of wheels, pivots and brakes.

    One call, since for a single robot each call from Python costs more than its work.

    Args:
        bodies: BODY, all rows.
        wheels: WHEEL, all rows.
        vehicles: Rows of VEHICLE whose wheels act.
        pivots: PIVOT, all rows.
        movers: Rows of BODY that they act on.
        rubbed: Output: impulses of `apply_ground_friction` (bodies, 4).
        gravity: Acceleration of gravity [m/s²].
        dt: Time step [s].
        odometry: Whether to advance the odometry too: the spins of this step are known.

    Returns:
        The first wheel whose spin, torque or force is not finite (then nothing is advanced),
        else -1.
    """
    bad = sum_wheel_forces_kernel(bodies, wheels, vehicles, movers)
    if bad >= 0:
        return int(bad)
    pivot_kernel(bodies, pivots)
    coupled_kernel(bodies, wheels, vehicles, dt)
    hold_kernel(bodies, wheels, vehicles, dt)
    integrate_velocities_kernel(bodies, movers, rubbed, gravity, dt)
    if odometry:
        odometry_kernel(bodies, wheels, vehicles, dt)
    return -1


def refuse(error: StepError) -> None:
    """Raise an error."""
    raise error


def step_physics(
    model: Model,
    run: Runtime,
    data: Data,
    timeout_ticks: int,
    profile: Profile,
    take_out: Callable[[StepError], None] = refuse,
) -> None:
    """Advance a state by one tick, without sensors and logs.

    Args:
        model: The compiled world.
        run: Systems, ground and scenes.
        data: The state.
        timeout_ticks: Age at which a command expires; 0: never.
        profile: Measures the phases.
        take_out: Called if a number of an entity is not finite. It removes the entity, of which
            nothing has been advanced yet in the phase in question, or raises; all others make
            this step as they would without it.

    Raises:
        StepError: A number of the state is not finite.
    """
    dt, gravity, movers, mark = model.dt, model.gravity, data.movers.ids, profile.mark
    if run.animations:
        for animation in run.animations.values():
            copy = data.bodies["copy"][animation.entity.row]
            animation.apply(data, (int(data.clock[copy]) + 1) * dt, dt)
        mark(ANIMATIONS)
    grips = run.grips
    grips.begin(data, movers, gravity, dt)
    tiles = run.tiles.of(model, run, data)
    if len(tiles) == 1:
        bad = [_accelerate(model, run, data, tiles[0], timeout_ticks, mark)]
    else:

        def accelerate(tile: Tile) -> tuple[int, Profile]:
            part = profile.part()
            return _accelerate(model, run, data, tile, timeout_ticks, part.mark), part

        found = run_all([partial(accelerate, tile) for tile in tiles])
        bad = [wheel for wheel, _ in found]
        profile.join([part for _, part in found])
    finish_physics(model, run, data, (tiles, bad), profile, take_out)


def finish_physics(
    model: Model,
    run: Runtime,
    data: Data,
    accelerated: tuple[Sequence[Tile], Sequence[int]],
    profile: Profile,
    take_out: Callable[[StepError], None],
) -> None:
    """Do the rest of a tick, from the velocities after its forces.

    Args: As for `step_physics`; `accelerated` has the tiles, and for each the first wheel that is
        not finite, or -1.
    """
    dt, gravity, mark, grips = model.dt, model.gravity, profile.mark, run.grips
    if max(accelerated[1]) >= 0:
        _integrate_without(model, run, data, *accelerated, take_out)
        grips.begin(data, data.movers.ids, gravity, dt)
    while True:
        movers, walls = data.movers.ids, run.ground.walls(data)
        body = solve(data.bodies, movers, data.contacts, dt, walls, grips.make)
        if body < 0:
            break
        take_out(body_error(run.entities(), data.bodies, body, data.ticks + 1))
        grips.begin(data, data.movers.ids, gravity, dt)
    grips.store(data, dt)
    if run.ideal:
        ideal_twist_kernel(data.bodies, data.vehicles, dt)
    mark(SOLVER)
    if data.relief:
        run.ground.apply(data, dt)
        mark(TERRAIN)
    if len(data.followers):
        followers_kernel(data.bodies, data.followers.ids)
        mark(TERRAIN)
    if run.ideal:
        odometry_kernel(data.bodies, data.wheels, data.vehicles, dt)
        mark(ODOMETRY)
    tick_kernel(data.clock)


def _accelerate(
    model: Model,
    run: Runtime,
    data: Data,
    tile: Tile,
    timeout_ticks: int,
    mark: Callable[[int], None],
) -> int:
    """Advance the velocities of the vehicles of a tile, from commands to forces.

    Returns:
        The first wheel that is not finite; then no velocity has been advanced. -1: there is none.
    """
    dt, gravity, vehicles = model.dt, model.gravity, tile.vehicles(data)
    apply_commands_kernel(vehicles, data.bodies, data.clock, timeout_ticks)
    if len(data.delays):
        latency_kernel(vehicles, data.delays, dt)
    mark(COMMANDS)
    if len(run.kinematics):
        run.kinematics.apply(data, dt)
        mark(KINEMATICS)
    for controller in tile.controllers:
        controller.apply(data, gravity, dt)
    mark(CONTROLLERS)
    contact_kernel(data.bodies, data.wheels, vehicles, gravity, dt)
    if len(model.regions):
        model.regions.apply(data)
    for friction in tile.friction:
        friction.apply(data, gravity, dt)
    mark(FRICTION)
    bad = _integrate(model, run, data, vehicles, tile.movers)
    mark(INTEGRATE)
    return bad


def _integrate(model: Model, run: Runtime, data: Data, vehicles: Rows, movers: IntArray) -> int:
    """Advance velocities by forces, as `integrate_kernel` does."""
    bad: int = integrate_kernel(
        data.bodies,
        data.wheels,
        vehicles,
        data.pivots,
        movers,
        run.grips.rubbed,
        model.gravity,
        model.dt,
        # ideal vehicles measure how the solver lets them move
        not run.ideal,
    )
    return bad


def _integrate_without(
    model: Model,
    run: Runtime,
    data: Data,
    tiles: Sequence[Tile],
    bad: Sequence[int],
    take_out: Callable[[StepError], None],
) -> None:
    """Advance the velocities of tiles in which a wheel is not finite, without its vehicle.

    Args: As for `step_physics`; `bad` has what `_accelerate` returned for each of the tiles.
    """
    for k, tile in enumerate(tiles):
        wheel = bad[k]
        while wheel >= 0:
            take_out(wheel_error(run.entities(), data.wheels, wheel, data.ticks + 1))
            # What was connected to the vehicle may move by itself now; it was in the same tile.
            others = [other.movers for other in tiles if other is not tile]
            movers = np.setdiff1d(data.movers.ids, np.concatenate([_NONE, *others]))
            wheel = _integrate(model, run, data, tile.vehicles(data), movers)
