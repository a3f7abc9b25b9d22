# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The common base of a world and of a copy in a batch: time, entities and their handles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.errors import Problem, UnknownName
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import LIMIT_MEMORY, STATIC, Rows
from mvsim_core.state.entities import Entity
from mvsim_core.world.contacts import Contact, contacts_of
from mvsim_core.world.data import Data
from mvsim_core.world.handles import Actor, Block, Handle, Handles, Pivot, PivotHandles
from mvsim_core.world.joints import root_of
from mvsim_core.world.model import Model
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.vehicle import Vehicle

#: Fields of BODY that a teleport sets to zero.
RESTING = (
    *("roll", "pitch", "vx", "vy", "wz", "cvx", "cvy", "ax", "ay", "az"),
    *("wz_before", "vz", "roll_rate", "pitch_rate", "az_up", "roll_acc", "pitch_acc"),
)


class Entities:
    """Time, entities and handles of a world.

    Attributes:
        model: The compiled world; it never changes.
        data: Every number that changes.
        vehicles: Handles of the vehicles, by name.
        blocks: Handles of the blocks, by name.
        actors: Handles of the actors, by name.
        pivots: Handles of the driven pivots, by name of the joint.
        new_readings: Sensors with a new reading in the last step.
    """

    def __init__(self, model: Model, data: Data, runtime: Runtime) -> None:
        """Make handles of the entities of a state."""
        self.model = model
        self.data = data
        self.new_readings: list[Any] = []
        self.vehicles: Mapping[str, Vehicle] = Handles(self, "vehicle", Vehicle)
        self.blocks: Mapping[str, Block] = Handles(self, "block", Block)
        self.actors: Mapping[str, Actor] = Handles(self, "actor", Actor)
        self.pivots: Mapping[str, Pivot] = PivotHandles(self)
        self._runtime = runtime
        self._removed: dict[int, str] = {}  # token of an entity -> why it was removed

    # ------------------------------------------------------------ time
    @property
    def dt(self) -> float:
        """Length of a tick [s]."""
        return self.model.dt

    @property
    def ticks(self) -> int:
        """Number of steps since the start."""
        return self.data.ticks

    @property
    def time(self) -> float:
        """Simulated time [s]."""
        return self.data.ticks * self.model.dt

    def ns(self) -> int:
        """Return the simulated time in whole nanoseconds."""
        return round(self.data.ticks * self.model.dt * 1e9)

    # ------------------------------------------------------------ contents
    @property
    def spec(self) -> WorldSpec:
        """Spec of the world from its file."""
        return self.model.spec

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return self.data.seed

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Warnings about the world file and about entities that were added later."""
        return tuple(self.model.assembler.warnings)

    @property
    def gravity(self) -> float:
        """Acceleration of gravity [m/s²]."""
        return self.model.gravity

    @property
    def bodies(self) -> Rows:
        """The BODY array, one row a body; rows of kind FREE are not in use."""
        return self.data.bodies

    @property
    def contacts(self) -> list[Contact]:
        """Pairs in contact now, sorted by names."""
        return contacts_of(self.data.contacts.touches(), self._runtime.names, self.model.fixtures)

    @property
    def grids(self) -> tuple[GridMap, ...]:
        """The occupancy grids of the world."""
        return self.model.grids

    @property
    def standalone_sensors(self) -> dict[str, Any]:
        """Sensors that are fixed in the world, by name."""
        return {sensor.name: sensor for sensor in self._runtime.fixed_sensors}

    def entity(self, name: str | Handle) -> Entity:
        """Return the entity of a name or a valid handle.

        Raises:
            UnknownName: There is no such entity; the message says why.
        """
        if isinstance(name, Handle):
            name.check(self)
            name = name.name
        found = self.data.entities.get(name)
        if found is None:
            raise UnknownName("entity", name, self.data.entities)
        return found

    def sensors_of(self, entity: Entity) -> list[Any]:
        """Return the sensors of a vehicle, in file order."""
        return self._runtime.sensors_of(entity)

    def removal_reason(self, token: int) -> str:
        """Return the reason why an entity was removed."""
        return self._removed.get(token, "is not in this world")

    # ------------------------------------------------------------ changes
    def teleport(
        self, name: str | Handle, x: float, y: float, yaw: float, z: float | None = None
    ) -> None:
        """Put a body at a pose of the world, standing still (see `Handle.teleport`)."""
        entity, data = self.entity(name), self.data
        row = data.bodies[entity.row]
        if data.relief:
            above = float(row["z"]) if z is None else z
            half = 0.5 * entity.model.z_range[1]
            row["z"] = self._runtime.ground.height(x, y, above + half)
        self._put(entity, x, y, yaw)
        data.wheels["omega"][entity.wheel0 : entity.wheel0 + entity.n_wheels] = 0.0
        for limit in range(entity.limit0, entity.limit0 + len(entity.model.limits)):
            for field in LIMIT_MEMORY:
                data.limits[field][limit] = 0.0
        if row["kind"] == STATIC:
            data.contacts.body_moved(entity.row)
        self._runtime.ground.moved(entity, data.bodies)
        self._runtime.ground.settle(entity, data)

    def _put(self, entity: Entity, x: float, y: float, yaw: float) -> None:
        """Write a pose; the other members of its island move with it."""
        data = self.data
        root, off_x, off_y, off_yaw = root_of(data, entity)
        turn = yaw - off_yaw
        c, s = math.cos(turn), math.sin(turn)
        leader = data.bodies[root]
        leader["x"], leader["y"] = x - c * off_x + s * off_y, y - s * off_x - c * off_y
        leader["yaw"], leader["z"] = turn, data.bodies["z"][entity.row]
        for row in {root, entity.row}:
            for field in RESTING:
                data.bodies[field][row] = 0.0
        data.bodies["x"][entity.row], data.bodies["y"][entity.row] = x, y
        data.bodies["yaw"][entity.row] = yaw
        if len(data.followers):
            followers_kernel(data.bodies, data.followers.ids)
