# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Gains from the model of a vehicle, chosen among few by its simulated step responses.

The proportional gain is that of internal model control (SIMC) for an integrator k/s with a delay
θ, S. Skogestad, "Simple analytic rules for model reduction and PID controller tuning", Journal of
Process Control 13 (2003) 291-309, eq. 24 and 25:

    KP = 1 / (k (τ + θ)),  KI = KP / T,  T = 4 (τ + θ),

where τ is the time constant of the closed loop, at least θ, which leaves gain and phase margins
above 3 and 45 degrees. His T = 4 (τ + θ) is for a process whose load is disturbed. Set points
overshoot by 13.5 % with it, a double pole and a zero, so that larger T are tried too: the integral
has only to carry what resists rolling, and in turns scrubbing.

τ is by default such that the linear response rises twice as fast as the motors, or the grip, let
the vehicle: with more gain the torque is only longer at its limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from mvsim_core.specs.controller import PidSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.tuning.plant import DELAY, Motion, Plant, plant_of
from mvsim_core.tuning.response import Response, step_response

#: Rise of a first-order response from 10 to 90 %, in time constants: ln 9.
RISE = math.log(9.0)
#: Integral times that are tried, in closed-loop time constants: Skogestad's, and longer ones.
INTEGRAL_TIMES = (4.0, 6.0, 9.0, 16.0, 25.0, 40.0)
#: How much faster the linear response is than the motors let the vehicle.
FASTER = 2.0
#: Largest overshoot that costs nothing, as a part of the step, and what a larger one costs [s].
FREE_OVERSHOOT, OVERSHOOT_COST = 0.05, 10.0
#: Length of a response in rise times, and its bounds [s].
LENGTH, SHORTEST, LONGEST = 25.0, 2.0, 30.0


@dataclass(frozen=True, slots=True)
class Row:
    """The step responses of one motion with the gains of the file and the proposed ones."""

    motion: Motion
    before: Response
    after: Response


@dataclass(frozen=True, slots=True)
class Proposal:
    """Gains for the controller of a vehicle.

    Attributes:
        before: The controller of the file.
        kp: Proportional gain [N m s/m].
        ki: Integral gain [N m/m].
        rise: Rise time of speed that is promised, for steps that the motors can follow [s].
        bounded_by: What keeps the response from being faster.
        rows: Step responses.
    """

    before: PidSpec
    kp: float
    ki: float
    rise: float
    bounded_by: str
    rows: tuple[Row, ...]

    @property
    def after(self) -> PidSpec:
        """The controller with the proposed gains."""
        return replace(self.before, kp=self.kp, ki=self.ki, kd=0.0)


def tune_vehicle(
    world: WorldSpec,
    vehicle: VehicleSpec,
    dt: float,
    *,
    speed: float = 0.5,
    turn: float = 0.5,
    rise: float | None = None,
) -> Proposal:
    """Return gains for the speed loops of a vehicle, and its step responses.

    Args:
        world: The world that it is in; only gravity matters.
        vehicle: The vehicle.
        dt: Time step [s].
        speed: Step of the speed [m/s].
        turn: Step of the turn rate [rad/s].
        rise: Wanted rise time of the speed from 10 to 90 % [s]; None: as fast as the motors, the
            grip and the time step allow.

    Raises:
        NoGains: Its controller has none.
    """
    plant = plant_of(world, vehicle, dt)
    steps = {"speed": speed, "turn rate": turn}
    kp, rise, bounded_by = _proportional(plant, speed, rise)
    before = vehicle.dynamics.controller
    assert isinstance(before, PidSpec)
    seconds = min(max(LENGTH * _slowest(plant, kp, steps), SHORTEST), LONGEST)

    def respond(motion: Motion, **gains: float) -> Response:
        return step_response(world, vehicle, dt, motion, steps[motion.name], seconds, **gains)

    tau = 1.0 / (kp * plant.motions[0].gain)
    tried = []
    for ratio in INTEGRAL_TIMES:
        gains = _gains(kp, _rounded(kp / (ratio * tau)))
        responses = [respond(motion, **gains) for motion in plant.motions]
        tried.append((_cost(responses), gains["ki"], responses))
    _, ki, after = min(tried, key=lambda one: one[0])
    rows = tuple(
        Row(motion, respond(motion), response)
        for motion, response in zip(plant.motions, after, strict=True)
    )
    return Proposal(before, kp, ki, rise, bounded_by, rows)


def _gains(kp: float, ki: float) -> dict[str, float]:
    """Return the fields of a controller's spec: there is no need of a derivative."""
    return {"kp": kp, "ki": ki, "kd": 0.0}


def _proportional(plant: Plant, speed: float, rise: float | None) -> tuple[float, float, str]:
    """Return KP, the rise time of speed that follows, and what bounds it."""
    motion = plant.motions[0]
    fastest = motion.shortest_rise(speed)
    wanted = fastest / FASTER if rise is None else rise
    bounds = {
        ("the motors' torque, or the grip" if rise is None else "the wanted rise time"): (
            RISE / (wanted * motion.gain)
        ),
        "the delay of the loop, by the time step": min(
            1.0 / (2.0 * DELAY * plant.dt * one.gain) for one in plant.motions
        ),
        "the stability of the wheels, by the time step": plant.most_kp,
    }
    bounded_by = min(bounds, key=lambda name: bounds[name])
    kp = _rounded(bounds[bounded_by])
    return kp, max(RISE / (kp * motion.gain), fastest), bounded_by


def _slowest(plant: Plant, kp: float, steps: dict[str, float]) -> float:
    return max(
        max(RISE / (kp * motion.gain), motion.shortest_rise(steps[motion.name]))
        for motion in plant.motions
    )


def _cost(responses: list[Response]) -> float:
    """Return what is to be small: settling times, and overshoot beyond what is free [s]."""
    excess = sum(max(0.0, one.overshoot - FREE_OVERSHOOT) for one in responses)
    return OVERSHOOT_COST * excess + sum(min(one.settling, LONGEST) for one in responses)


def _rounded(gain: float) -> float:
    """Return a gain with two digits, rounded down."""
    scale = 10.0 ** (1 - math.floor(math.log10(gain)))
    return math.floor(gain * scale * (1.0 + 1e-9)) / scale
