# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The common base of a world and of a copy in a batch: time, entities and their handles."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mvsim_core.dynamics.followers import followers_kernel
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.errors import Problem, UnknownName
from mvsim_core.scene3d import Scene3d
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import LIMIT_MEMORY, STATIC, Rows
from mvsim_core.state.entities import Entity
from mvsim_core.terrain.rates import keep_attitude
from mvsim_core.world.contacts import Contact, contacts_of
from mvsim_core.world.data import Data
from mvsim_core.world.handles import (
    Actor,
    Block,
    ByName,
    Handle,
    Handles,
    Pivot,
    PivotHandles,
)
from mvsim_core.world.joints import root_of
from mvsim_core.world.model import Model
from mvsim_core.world.overlaps import report_overlaps
from mvsim_core.world.runtime import Runtime
from mvsim_core.world.vehicle import Vehicle

#: Fields of BODY that a teleport sets to zero.
STILL = (
    *("vx", "vy", "wz", "cvx", "cvy", "ax", "ay", "az"),
    *("wz_before", "vz", "roll_rate", "pitch_rate", "az_up", "roll_acc", "pitch_acc"),
    "push_steps",
)
#: Removed entities whose reason is kept.
MOST_REASONS = 1000


class StepListener(Protocol):
    """Follows a world, such as a recording does; see `World.listeners`."""

    def after_step(self) -> None:
        """Look at the world after a step, in the thread that steps it."""

    def close(self) -> None:
        """Complete what is being written; called by `World.close`, which ends the listening."""


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
        kinds = {"vehicle": Vehicle, "block": Block, "actor": Actor}
        self._handles = {kind: Handles(self, kind, cls) for kind, cls in kinds.items()}
        self.vehicles: Mapping[str, Vehicle] = self._handles["vehicle"]
        self.blocks: Mapping[str, Block] = self._handles["block"]
        self.actors: Mapping[str, Actor] = self._handles["actor"]
        self.pivots: Mapping[str, Pivot] = PivotHandles(self)
        self._runtime = runtime
        self._removed: dict[int, str] = {}  # token of an entity -> why it was removed

    def __repr__(self) -> str:
        """Return file, time and what is in it."""
        file = self.spec.file.rpartition("/")[2] if self.spec.file else "without a file"
        kinds = [(len(handles), kind) for kind, handles in self._handles.items()]
        shown = [(n, kind) for n, kind in kinds if n or kind == "vehicle"]
        counts = [f"{n} {kind}{'' if n == 1 else 's'}" for n, kind in shown]
        return f"<{type(self).__name__} {file}: t={self.time:.3f} s, {', '.join(counts)}>"

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
        """Warnings about the world file, entities that were added later, and overlaps."""
        self.check_overlaps()
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
        return ByName("sensor", ((s.name, s) for s in self._runtime.fixed_sensors))

    @property
    def scene3d(self) -> Scene3d:
        """What cameras and 3D lidars can see; nothing of it is built before it is asked for."""
        return self._runtime.scene3d

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

    def all_sensors(self) -> list[Any]:
        """Return all sensors, of vehicles and fixed ones, in the order of their readings."""
        return self._runtime.sensors.sensors

    def removal_reason(self, token: int) -> str:
        """Return the reason why an entity was removed."""
        return self._removed.get(token, "is not in this world")

    def _note_removed(self, entity: Entity, reason: str) -> None:
        """Keep the reason for handles that users hold, and give up our own handle."""
        self._removed[entity.token] = reason
        if len(self._removed) > MOST_REASONS:
            del self._removed[next(iter(self._removed))]
        if entity.kind in self._handles:
            self._handles[entity.kind].forget(entity.name)

    # ------------------------------------------------------------ changes
    def check_overlaps(self) -> None:
        """Warn of bodies that were put into others since the last step; each step does so first.

        Each pair is reported once, until it is found apart: by a Python warning and in `warnings`,
        with the depth [m].
        """
        if self._runtime.placed:
            report_overlaps(self.model, self._runtime, self._all_data)

    @property
    def _all_data(self) -> Data:
        """The state with the rows of all copies."""
        return self.data

    def teleport(
        self, name: str | Handle, x: float, y: float, yaw: float, z: float | None = None
    ) -> None:
        """Put a body at a pose of the world, standing still (see `Handle.teleport`)."""
        entity, data, ground = self.entity(name), self.data, self._runtime.ground
        carried = self._carried_by(entity)
        root, off_x, off_y, off_yaw = root_of(data, entity)
        members = self._island(root)
        turn = yaw - off_yaw
        c, s = math.cos(turn), math.sin(turn)
        pose = x - c * off_x + s * off_y, y - s * off_x - c * off_y, turn
        height = float(data.bodies["z"][root])
        if data.relief or z is not None:
            about = height if z is None else z
            copy = int(data.bodies["copy"][root])
            height = ground.standing_height(members[0].model, pose, about, copy)
            if ground.gives_relief(members[:1], [height]):
                data.relief = True
        leader = data.bodies[root]
        leader["roll"] = leader["pitch"] = 0.0
        leader["x"], leader["y"], leader["yaw"] = pose
        leader["z"] = height
        ground.settle(members[0], data)
        if len(data.followers):
            followers_kernel(data.bodies, data.followers.ids)
        for member in members:
            self._put_to_rest(member)
            if data.bodies["kind"][member.row] == STATIC:
                data.contacts.body_moved(member.row)
            ground.moved(member, data.bodies)
        carried += [other for other in self._carried_by(entity) if other not in carried]
        self._put_down(carried)
        self._runtime.placed.update(other.row for other in (*members, *carried))

    def _put_down(self, entities: Sequence[Entity]) -> None:
        """Put entities on the ground below them, with what is welded to them."""
        data, ids = self.data, self.data.followers.ids
        for entity in entities:
            self._runtime.ground.put_down(entity, data)
        if len(ids):
            followers_kernel(data.bodies, ids)
            leads = np.isin(data.bodies["leader"][ids], [entity.row for entity in entities])
            for row in ids[leads].tolist():
                keep_attitude(data.bodies[row])

    def _put_to_rest(self, entity: Entity) -> None:
        """Let a body stand still where it is, and its wheels too."""
        data = self.data
        row = data.bodies[entity.row]
        for field in STILL:
            row[field] = 0.0
        keep_attitude(row)
        data.wheels["omega"][entity.wheel0 : entity.wheel0 + entity.n_wheels] = 0.0
        for limit in range(entity.limit0, entity.limit0 + len(entity.model.limits)):
            for field in LIMIT_MEMORY:
                data.limits[field][limit] = 0.0

    def island_of(self, entity: Entity) -> list[Entity]:
        """Return an entity and all that it is welded to, the one that leads them first."""
        return self._island(root_of(self.data, entity)[0])

    def _island(self, root: int) -> list[Entity]:
        """Return the entities of the island that a row of BODY leads, the leader first."""
        data, ids = self.data, self.data.followers.ids
        rows = [root, *ids[data.bodies["leader"][ids] == root].tolist()]
        return [data.entities[self._runtime.names[row]] for row in rows]

    def _carried_by(self, entity: Entity) -> list[Entity]:
        """Return the entities that an entity which is ground may carry."""
        data = self.data
        discs = self._runtime.ground.carries(entity) if data.relief else []
        found = []
        for other in data.entities.values() if discs else ():
            b = data.bodies[other.row]
            if not other.model.movable or b["leader"] >= 0 or other is entity:
                continue
            reach = float(np.hypot(*other.model.outline.T).max())
            if any(math.hypot(b["x"] - x, b["y"] - y) <= far + reach for x, y, far in discs):
                found.append(other)
        return found
