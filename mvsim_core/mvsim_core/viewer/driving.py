# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Driving a vehicle by what browsers steer."""

from __future__ import annotations

import time as wall
from typing import TYPE_CHECKING, Any

from mvsim_core.viewer.drive_page import Stick

if TYPE_CHECKING:
    from mvsim_core.viewer.viewer import Viewer

#: A browser that has said nothing for this long lets the vehicle stop [s].
SILENCE = 0.6
#: What full deflection is at first.
SPEED, TURN, TORQUE = 1.0, 1.5, 2.0  # m/s, rad/s, N m


class Driving:
    """Commands the selected vehicle as a browser steers.

    Attributes:
        speed: Full deflection forward [m/s].
        turn: Full deflection to the side [rad/s].
        torque: Full deflection of vehicles that take torques [N m].
        active: Whether a vehicle is being driven now.
    """

    def __init__(self, viewer: Viewer) -> None:
        """Drive nothing."""
        self._viewer = viewer
        self.speed, self.turn, self.torque = SPEED, TURN, TORQUE
        self._driven = ""
        self._last = 0.0

    @property
    def active(self) -> bool:
        """Whether a vehicle is being driven now."""
        return bool(self._driven)

    def steer(self, stick: Stick) -> None:
        """Command the selected vehicle; a stick in the middle stops it."""
        world = self._viewer.world
        name = self._viewer.stage.selected
        if self._driven and self._driven != name:
            self.stop()
        if name not in world.vehicles:
            return
        if stick == Stick():
            self.stop()
            return
        self._driven, self._last = name, wall.perf_counter()
        self._command(world.vehicles[name], stick)

    def stop(self) -> None:
        """Stop what is driven."""
        name, self._driven = self._driven, ""
        vehicles = self._viewer.world.vehicles
        if name in vehicles:
            self._command(vehicles[name], Stick())

    def forget(self) -> None:
        """Drive nothing any more; the world may be gone."""
        self._driven = ""

    def check(self) -> None:
        """Stop what is driven by a browser that is silent."""
        if self._driven and wall.perf_counter() - self._last > SILENCE:
            self.stop()

    def _command(self, vehicle: Any, stick: Stick) -> None:
        accepts = vehicle.accepts
        speed = self.speed * stick.forward
        if "ackermann" in accepts:
            limit = float(vehicle.spec.dynamics.max_steer)
            vehicle.set_ackermann(speed, limit * stick.turn)
        elif "twist" in accepts:
            sideways = self.speed * stick.sideways if vehicle.holonomic else 0.0
            vehicle.set_twist(speed, sideways, self.turn * stick.turn)
        elif "torque" in accepts:
            forward, turn = self.torque * stick.forward, self.torque * stick.turn
            if vehicle.kind == "ackermann_drivetrain":
                vehicle.set_wheel_torques([forward])
            elif vehicle.steerable:
                limit = float(vehicle.spec.dynamics.max_steer)
                torques = [forward] * len(vehicle.wheels)
                vehicle.set_wheel_torques(torques, limit * stick.turn)
            else:
                sides = [1.0 if w.position[1] > 0.0 else -1.0 for w in vehicle.wheels]
                vehicle.set_wheel_torques([forward - side * turn for side in sides])
