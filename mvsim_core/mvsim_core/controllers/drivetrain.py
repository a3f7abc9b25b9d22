# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The controllers of cars with one engine: a single torque for all wheels.

Source: "Ackermann with Drivetrain" and "Motor Controllers" of the physics documentation.
"""

from __future__ import annotations

from typing import ClassVar

from numba import njit

from mvsim_core.controllers.base import CONTROLLERS, IdController
from mvsim_core.controllers.pid import filter_set_point, measure, take_set_point
from mvsim_core.controllers.speed_loop import soften, speed_loop_torque
from mvsim_core.controllers.stopping import BRAKING, stop_mode
from mvsim_core.dynamics.drivetrain import drive_wheels, shaft_speed, wheel_shares
from mvsim_core.dynamics.steering import set_steering, steering_of_twist
from mvsim_core.state.arrays import IntArray, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def engine_pid_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Steer, and control the speed that the rear wheels show by the engine's torque."""
    for i in ids:
        v = vehicles[i]
        p = pids[v.pid0]
        g = gains[p.gains]
        set_steering(v, wheels, steering_of_twist(v), dt)
        want = filter_set_point(p, g, v.vx, dt)
        hill = -bodies[v.body].slope_x * v.chassis_mass * gravity * wheels[v.odo_left].radius
        measure(p, v.odo_vx)
        take_set_point(p, want, hill)
        mode = stop_mode(v, abs(want) < g.zero, g.stop, abs(v.odo_vx), dt)
        forward = g.feedforward * hill
        torque = speed_loop_torque(v, p, g, mode, shaft_speed(v, wheels), forward, dt)
        drive_wheels(v, wheels, torque)
        if mode == BRAKING:
            shares = wheel_shares(v, wheels)
            measures = shares[0] + shares[1] > 0.0  # speed is measured at the rear wheels
            for k in range(4):
                soften(wheels[v.wheel0 + k], p, shares[k] if measures else 0.0)


@njit(cache=True, nogil=True, error_model="numpy")
def engine_raw_kernel(  # noqa: PLR0913 (arrays of a kernel)
    vehicles: Rows,
    wheels: Rows,
    pids: Rows,
    gains: Rows,
    bodies: Rows,
    ids: IntArray,
    gravity: float,
    dt: float,
) -> None:
    """Give the commanded engine torque to the wheels; steer as commanded."""
    for i in ids:
        v = vehicles[i]
        torque = 0.0 if v.expired != 0 else v.cmd_engine
        drive_wheels(v, wheels, torque)
        set_steering(v, wheels, v.cmd_steer, dt)


@CONTROLLERS.register("ackermann_drivetrain/twist_front_steer_pid")
@CONTROLLERS.register("ackermann_drivetrain/front_steer_pid")
class EnginePid(IdController):
    """All drivetrain cars that follow a twist, or speed and steering."""

    accepts: ClassVar[frozenset[str]] = frozenset({"twist", "ackermann"})

    kernel = staticmethod(engine_pid_kernel)


@CONTROLLERS.register("ackermann_drivetrain/raw")
class EngineRaw(IdController):
    """All drivetrain cars whose engine torque is commanded."""

    accepts: ClassVar[frozenset[str]] = frozenset({"torque"})

    kernel = staticmethod(engine_raw_kernel)
