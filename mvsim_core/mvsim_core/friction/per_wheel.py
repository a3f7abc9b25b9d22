# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Friction models in ten lines of plain Python, one wheel at a time.

For trying an idea, or a plug-in that few robots use: several hundred times slower than a kernel
over all wheels such as `default.py`, which is the pattern for everything else.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from mvsim_core.errors import StepError
from mvsim_core.friction.casters import caster_forces
from mvsim_core.state.arrays import IntArray, State


class WheelContact:
    """One wheel on the ground in this step; numbers are plain floats in SI.

    Attributes:
        spec: Parameters of its friction model, as the world file gives them.
        vx: Velocity of the wheel's centre over the ground along its rolling direction [m/s].
        vy: The same to its left [m/s].
        omega: Spin, positive rolls forward [rad/s].
        radius: Radius [m].
        inertia: About the axle [kg m²].
        carried: Mass that the wheel stands for: its share of the chassis and its own [kg].
        normal: Force across the ground [N].
        torque: Of the motor less the bearing's damping, positive drives forward [N m].
        slope_x: Weight along the rolling direction, on a slope [N].
        slope_y: Weight to its left [N].
        idle: Whether no motor of its vehicle gives torque.
        region_mu: Friction coefficient of the region it stands in, None outside of regions [1].
        region_c_rr: Rolling resistance of the region, None outside of regions [1].
        dt: Time step [s].
    """

    def __init__(self, row: Any, spec: Any, dt: float) -> None:
        """Copy what a model needs out of one row of WHEEL."""
        self.spec = spec
        self.dt = dt
        self.vx, self.vy = float(row["vx"]), float(row["vy"])
        self.omega, self.radius = float(row["omega"]), float(row["radius"])
        self.inertia, self.carried = float(row["inertia"]), float(row["carried"])
        self.normal = float(row["normal"])
        self.slope_x, self.slope_y = float(row["slope_x"]), float(row["slope_y"])
        self.torque = float(row["torque"]) - float(spec.c_damping) * self.omega
        self.idle = bool(row["idle"])
        mu, c_rr = float(row["region_mu"]), float(row["region_c_rr"])
        self.region_mu = None if math.isnan(mu) else mu
        self.region_c_rr = None if math.isnan(c_rr) else c_rr

    def no_slip(self) -> float:
        """Return the force along the wheel after which it just rolls [N]: (τ - I α) / R."""
        alpha = (self.vx / self.radius - self.omega) / self.dt
        return (self.torque - self.inertia * alpha) / self.radius

    def no_slide(self) -> float:
        """Return the lateral force that stops the wheel's sideways motion [N]."""
        return -self.vy * self.carried / self.dt - self.slope_y


class PerWheelFriction(ABC):
    """Base of friction models that look at one wheel at a time.

    A model states its parameters (a subclass of FrictionSpec) and gives the force::

        class Ice(PerWheelFriction):
            Spec = IceSpec

            def force(self, wheel: WheelContact) -> tuple[float, float]:
                limit = wheel.spec.mu * wheel.normal
                return clamp(wheel.no_slip(), limit), clamp(wheel.no_slide(), limit)

    Spin, frames and ideal vehicles are taken care of here. Wheels with rollers grip along another
    direction than they roll: a vehicle that has them needs another model.
    """

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of WHEEL; `specs[k]` holds the parameters of `ids[k]`."""
        self._specs = {int(i): spec for i, spec in zip(ids, specs, strict=True)}

    def add(self, spec: Any, ids: Iterable[int]) -> None:
        """Serve more rows of WHEEL, which share a spec."""
        self._specs |= dict.fromkeys(ids, spec)

    def remove(self, ids: Iterable[int]) -> None:
        """Serve some rows no longer."""
        for index in ids:
            self._specs.pop(index, None)

    @abstractmethod
    def force(self, wheel: WheelContact) -> tuple[float, float]:
        """Return the force of the ground on a wheel [N], along its rolling direction and left."""

    def drag(self, wheel: WheelContact) -> float:
        """Return a force on the vehicle along the rolling direction that does not turn the wheel.

        What resists motion (sand, tall grass) is such a force [N]; what resists rolling is a
        torque. None unless a model says otherwise.
        """
        return 0.0

    def grip(self, wheel: WheelContact) -> float:
        """Return the largest force of the ground [N], with which a wheel can be held.

        The parameter `mu`, or that of a region, times the normal force, unless a model says
        otherwise.
        """
        mu = wheel.region_mu
        if mu is None:
            mu = float(getattr(wheel.spec, "mu", 0.0))
        return mu * wheel.normal

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.fx, fy and advance WHEEL.omega.

        Raises:
            StepError: A wheel has rollers.
        """
        for i, spec in self._specs.items():
            row: Any = state.wheels[i]
            if state.bodies[row["body"]]["ideal"]:
                continue
            if row["rollers"]:
                raise StepError(f"friction {spec.kind!r} knows no wheels with rollers")
            wheel = WheelContact(row, spec, dt)
            if row["caster"]:
                c_rr = spec.c_rr if wheel.region_c_rr is None else wheel.region_c_rr
                turn = float(state.bodies[row["body"]]["wz"])
                caster_forces(row, turn, float(c_rr), self.grip(wheel), dt)
                continue
            row["limit_x"] = row["limit_y"] = self.grip(wheel)
            row["limit_round"] = 0
            if row["held"]:
                continue
            along, lateral = self.force(wheel)
            spin = (wheel.torque - wheel.radius * along) / wheel.inertia
            row["omega"] = wheel.omega + spin * dt
            row["drag"] = drag = self.drag(wheel)
            along += drag
            c, s = math.cos(row["yaw"]), math.sin(row["yaw"])
            row["fx"] = c * along - s * lateral
            row["fy"] = s * along + c * lateral
