# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the speed loops of a vehicle see: an integrator for each motion, and the motors' limits.

A torque of KP times the error on each loop accelerates the vehicle by k KP times the error, with
k = (M + I)⁻¹ K as in `assembly/step_length.py`: M is mass or inertia, I the wheels' spin as mass,
K the stiffness of KP = 1. So the vehicle is k/s, in series with a delay of a step and a half: a
controller holds its torque for a step, and measures the spin that followed from the last one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mvsim_core.assembly.load import world_of
from mvsim_core.assembly.step_length import (
    control_loops,
    largest_gain,
    moved_masses,
    slip_torques,
    surface_speeds,
)
from mvsim_core.errors import MvsimError
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.controller import PidSpec
from mvsim_core.specs.vehicle import OdometrySpec, VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray
from mvsim_core.state.entities import EntityModel
from mvsim_core.world.world import World

#: Controllers with gains, for messages.
WITH_GAINS = ("twist_pid", "twist_front_steer_pid", "front_steer_pid")
#: By how much the time step may be longer until wheels are unstable, gripping or slipping.
MARGIN = 1.25
#: Delay of a loop in steps.
DELAY = 1.5


class NoGains(MvsimError):  # noqa: N818 (reads better where it is raised)
    """The controller of a vehicle has no gains that could be tuned."""


@dataclass(frozen=True, slots=True)
class Motion:
    """One way to move: along, or turning.

    Attributes:
        name: "speed" or "turn rate".
        unit: Unit of the velocity.
        gain: Acceleration per velocity error with KP = 1 [1/s per N m s/m].
        fastest: Acceleration by the motors' limit, or that of the grip [m/s² or rad/s²].
    """

    name: str
    unit: str
    gain: float
    fastest: float

    def shortest_rise(self, step: float) -> float:
        """Return the shortest time from 10 to 90 % of a step of the velocity [s]."""
        return 0.8 * step / self.fastest


@dataclass(frozen=True, slots=True)
class Plant:
    """What the speed loops of a vehicle see.

    Attributes:
        motions: Ways in which its loops move it.
        dt: Time step [s].
        most_kp: The largest KP whose wheels are stable with `MARGIN` to spare [N m s/m].
    """

    motions: tuple[Motion, ...]
    dt: float
    most_kp: float


def alone(world: WorldSpec, vehicle: VehicleSpec, dt: float) -> WorldSpec:
    """Return a world with one vehicle on level ground: no sensors, no limits of its commands."""
    if not isinstance(vehicle.dynamics.controller, PidSpec):
        raise NoGains(
            f"{vehicle.name}: the controller {vehicle.dynamics.controller.kind!r} has no gains to"
            f" tune; these have: {', '.join(WITH_GAINS)}"
        )
    only = replace(
        vehicle,
        init_pose=Pose(),
        init_vel=type(vehicle.init_vel)(),
        sensors=(),
        visuals=(),
        kinematics=None,
        odometry=OdometrySpec(),
        auto_start_recording=False,
    )
    return WorldSpec(timestep=dt, gravity=world.gravity, vehicles=(only,))


def world_alone(world: WorldSpec, vehicle: VehicleSpec, dt: float, **gains: Any) -> World:
    """Return the running world of one vehicle alone, with other gains."""
    spec = alone(world, vehicle, dt)
    (only,) = spec.vehicles
    dynamics: Any = only.dynamics
    controller = replace(dynamics.controller, **gains)
    only = replace(only, dynamics=replace(dynamics, controller=controller))
    return world_of(replace(spec, vehicles=(only,)))


def plant_of(world: WorldSpec, vehicle: VehicleSpec, dt: float) -> Plant:
    """Return what the speed loops of a vehicle see.

    Raises:
        NoGains: Its controller has none.
    """
    # with a gain, whatever the file says: bounds are found from it
    running = world_alone(world, vehicle, dt, kp=1.0, ki=0.0, kd=0.0)
    (entity,) = running.model.entities
    most = largest_gain(entity, world.gravity, MARGIN * dt)
    return Plant(tuple(_motions(entity, world.gravity)), dt, most)


def _motions(entity: EntityModel, gravity: float) -> Iterator[Motion]:
    assert entity.vehicle is not None
    steers = float(entity.vehicle["wheelbase"][0]) > 0.0
    kinds = (("speed", "m/s", 0), ("turn rate", "rad/s", 2))
    for name, unit, axis in kinds[: 1 if steers else 2]:
        direction = np.zeros((3, 1))
        direction[axis] = 1.0
        motion = _motion(entity, name, unit, direction, gravity)
        if motion.gain > 0.0:
            yield motion


def _motion(
    entity: EntityModel, name: str, unit: str, direction: FloatArray, gravity: float
) -> Motion:
    assert entity.vehicle is not None
    wheels = entity.wheels
    gives, measures = control_loops(entity)
    speeds = surface_speeds(entity) @ direction  # (wheels, 1) per unit of the velocity
    inertias = wheels["inertia"] / wheels["radius"] ** 2
    mass = float((direction.T @ np.diag(moved_masses(entity)) @ direction).item())
    mass += float((speeds.T @ (inertias[:, None] * speeds)).item())
    per_torque = speeds / wheels["radius"][:, None]  # force on the motion per torque of a wheel
    errors = measures @ speeds  # of the loops, for an error of 1
    gain = float((per_torque.T @ gives @ errors).item()) / mass
    limit = float(entity.gains["max_torque"].max())
    stall = float(entity.vehicle["motor_stall"][0])
    limit = min(limit, stall) if stall > 0.0 else limit
    torques = np.clip(
        gives @ (np.sign(errors) * min(limit, 1e9)),
        -slip_torques(entity, gravity)[:, None],
        slip_torques(entity, gravity)[:, None],
    )
    fastest = abs(float((per_torque.T @ torques).item())) / mass
    return Motion(name, unit, gain, max(fastest, math.ulp(1.0)))
