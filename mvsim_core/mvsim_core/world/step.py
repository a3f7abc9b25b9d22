# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The physics of one tick, in order; the same for a world and for the copies of a batch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from numba import njit

from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.dynamics.islands import integrate_velocities_kernel, sum_wheel_forces_kernel
from mvsim_core.dynamics.latency import latency_kernel
from mvsim_core.dynamics.odometry import odometry_kernel
from mvsim_core.dynamics.pivots import pivot_kernel
from mvsim_core.friction import contact_kernel, coupled_kernel, hold_kernel
from mvsim_core.solver.ideal import ideal_twist_kernel
from mvsim_core.solver.solve import solve
from mvsim_core.state.arrays import FloatArray, IntArray, Rows
from mvsim_core.state.finite import body_error, wheel_error
from mvsim_core.world.commands import apply_commands_kernel
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.runtime import Runtime

PHASES = (
    "commands",
    "kinematics",
    "animations",
    "controllers",
    "friction",
    "integrate",
    "solver",
    "terrain",
    "odometry",
    "sensors",
    "recording",
)
COMMANDS, KINEMATICS, ANIMATIONS, CONTROLLERS, FRICTION = range(5)
INTEGRATE, SOLVER, TERRAIN, ODOMETRY, SENSORS, RECORDING = range(5, 11)


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
) -> int:
    """Advance the velocities of all movers by the forces of wheels, pivots and brakes.

    One call, since for a single robot each call from Python costs more than its work.

    Returns:
        The first wheel whose spin, torque or force is not finite (then nothing is advanced),
        else -1.
    """
    bad = sum_wheel_forces_kernel(bodies, wheels, movers)
    if bad >= 0:
        return int(bad)
    pivot_kernel(bodies, pivots)
    coupled_kernel(bodies, wheels, vehicles, dt)
    hold_kernel(bodies, wheels, vehicles, dt)
    integrate_velocities_kernel(bodies, movers, rubbed, gravity, dt)
    return -1


def step_physics(
    model: Model, run: Runtime, data: Data, timeout_ticks: int, mark: Callable[[int], None]
) -> None:
    """Advance a state by one tick, without sensors and logs.

    Args:
        model: The compiled world.
        run: Systems, ground and scenes.
        data: The state.
        timeout_ticks: Age at which a command expires; 0: never.
        mark: Called with the number of each phase in PHASES when it ends.

    Raises:
        StepError: A number of the state is not finite.
    """
    dt, gravity, movers = model.dt, model.gravity, data.movers.ids
    apply_commands_kernel(data.vehicles, data.bodies, data.clock, timeout_ticks)
    if len(data.delays):
        latency_kernel(data.vehicles, data.delays, dt)
    mark(COMMANDS)
    if len(run.kinematics):
        run.kinematics.apply(data, dt)
        mark(KINEMATICS)
    for animation in run.animations.values():
        copy = data.bodies["copy"][animation.entity.row]
        animation.apply(data, (int(data.clock[copy]) + 1) * dt, dt)
    mark(ANIMATIONS)
    for controller in run.controllers.systems:
        controller.apply(data, gravity, dt)
    mark(CONTROLLERS)
    contact_kernel(data.bodies, data.wheels, data.vehicles, gravity, dt)
    if len(model.regions):
        model.regions.apply(data)
    for friction in run.friction.systems:
        friction.apply(data, gravity, dt)
    mark(FRICTION)
    grips = run.grips
    grips.begin(len(data.bodies))
    bad = integrate_kernel(
        data.bodies, data.wheels, data.vehicles, data.pivots, movers, grips.rubbed, gravity, dt
    )
    if bad >= 0:
        raise wheel_error(run.entities(), data.wheels, bad, data.ticks + 1)
    mark(INTEGRATE)
    make = partial(grips.make, data, movers, gravity, dt)
    bad = solve(data.bodies, movers, data.contacts, dt, run.ground.walls(data), make)
    if bad >= 0:
        raise body_error(run.entities(), data.bodies, bad, data.ticks + 1)
    grips.store(data, dt)
    if run.ideal:
        ideal_twist_kernel(data.bodies, data.vehicles, dt)
    mark(SOLVER)
    if data.relief:
        run.ground.apply(data, dt)
    if len(data.followers):
        followers_kernel(data.bodies, data.followers.ids)
    mark(TERRAIN)
    odometry_kernel(data.bodies, data.wheels, data.vehicles, dt)
    data.clock += 1
    mark(ODOMETRY)
