# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a world holds, and how its arrays are laid out for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mvsim_core.assembly.islands import enter, form
from mvsim_core.assembly.joints import drives_of
from mvsim_core.assembly.terrain import Ground
from mvsim_core.controllers import controller_class
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.errors import BuildError, Problem
from mvsim_core.friction import FRICTION
from mvsim_core.kinematics.limits import limit_systems
from mvsim_core.progress import watched
from mvsim_core.recording.rawlog import RawlogFiles
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.scene3d import Scene3d
from mvsim_core.sensors.schedule import Schedule
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec, JointSpec
from mvsim_core.specs.params import NOWHERE
from mvsim_core.state.arrays import IntArray, Rows, State, allocate
from mvsim_core.state.entities import Entity
from mvsim_core.terrain.following import Terrain
from mvsim_core.terrain.regions import Regions
from mvsim_core.world.contacts import Contact, contacts_of
from mvsim_core.xmlfile import FileState


@dataclass
class Systems:
    """The arrays of a world and all that works on them."""

    state: State
    moving: int
    movers: IntArray
    mover_keys: list[int]
    kinematics: list[Any]
    controllers: list[Any]
    friction: list[Any]
    animations: list[Any]
    drives: Rows
    drive_names: list[str]
    terrain: list[Any]
    regions: Regions | None
    schedule: Schedule


@dataclass
class Contents:
    """Entities, solver, scene and sensors of one world.

    Args:
        dt: Length of a tick [s].
        gravity: Acceleration of gravity [m/s²].
        solver: The contact solver.
        scene: What planar lidars see.
        scene3d: What 3D sensors see.
        ground: What carries.
        regions: Where friction differs.
        make_vehicle: From a spec or XML text, a name and a pose to an entity.
        file_state: What reading the file and later texts left, for the next text.
    """

    dt: float
    gravity: float
    solver: Box2dSolver
    scene: PlaneScene
    scene3d: Scene3d
    make_vehicle: Callable[[Any, str | None, Any], Entity]
    ground: Ground
    regions: Regions
    entities: list[Entity] = field(default_factory=list)
    fixtures: list[Entity] = field(default_factory=list)
    grids: list[GridMap] = field(default_factory=list)
    standalone: list[Any] = field(default_factory=list)
    animations: list[Any] = field(default_factory=list)
    joints: tuple[JointSpec, ...] = ()
    welds: list[tuple[str, str]] = field(default_factory=list)
    state: State | None = None
    rawlog: RawlogFiles | None = None
    file_state: FileState | None = None
    names: set[str] = field(default_factory=set)

    def vehicles(self) -> list[Entity]:
        """Return the vehicles, in file order."""
        return [e for e in self.entities if e.vehicle is not None]

    def blocks(self) -> list[Entity]:
        """Return the blocks, in file order."""
        return [e for e in self.entities if isinstance(e.spec, BlockSpec)]

    def actors(self) -> list[Entity]:
        """Return the actors, in file order."""
        return [e for e in self.entities if isinstance(e.spec, ActorSpec)]

    def sensors(self) -> Iterator[Any]:
        """Iterate over all sensors: vehicle by vehicle, then the standalone ones."""
        for entity in self.entities:
            yield from entity.sensors
        yield from self.standalone

    def add(self, entity: Entity) -> None:
        """Take an entity in and give its solids to the solver.

        Raises:
            BuildError: The name is taken.
        """
        if entity.name in self.names:
            where = getattr(entity.spec, "where", NOWHERE)
            text = f"there is already something called {entity.name!r}"
            raise BuildError(Problem.at(where, "", text))
        enter(self.solver, entity)
        self.entities.append(entity)
        self.names.add(entity.name)

    def add_vehicle(self, vehicle: Any, name: str | None, pose: Any) -> Entity:
        """Make and take in a vehicle."""
        entity = self.make_vehicle(vehicle, name, pose)
        self.add(entity)
        return entity

    def remove(self, entity: Entity) -> None:
        """Take an entity out."""
        self._save()
        self.welds = [weld for weld in self.welds if entity.name not in weld]
        form(self.entities, self.welds, self.solver)
        if entity.key >= 0:
            self.solver.remove_body(entity.key)
        self.entities.remove(entity)
        self.names.remove(entity.name)
        self.animations = [a for a in self.animations if a.entity is not entity]

    def contacts(self, state: State) -> list[Contact]:
        """Return the pairs in contact now."""
        known = {e.key: e for e in [*self.entities, *self.fixtures] if e.key >= 0}
        return contacts_of(self.solver.touches(), known, state)

    def assemble(self) -> Systems:
        """Lay out the arrays: what moves comes first; rows keep their values."""
        self._save()
        ordered = sorted(self.entities, key=lambda e: not e.moves)
        state = self._rows(ordered)
        movers = [e for e in ordered if e.moves]
        self.solver.bind([e.key for e in movers])
        self.state = state
        self._scene(ordered, state.bodies)
        self.scene3d.bind(state.wheels)
        drives, names = drives_of(self.joints, self.entities)
        sensors = list(self.sensors())
        for entity in self.entities:
            wheels = state.wheels[entity.wheel0 : entity.wheel0 + len(entity.wheels)]
            for sensor in entity.sensors:
                sensor.body, sensor.wheels = entity.row, wheels
        terrain = self.ground.terrain(self.entities, self.solver)
        ground = next((t.surface for t in terrain if isinstance(t, Terrain)), None)
        for animation in self.animations:
            animation.ground = ground
        return Systems(
            state=state,
            moving=len(movers),
            movers=np.arange(len(movers), dtype=np.int64),
            mover_keys=[e.key for e in movers],
            kinematics=limit_systems(
                [(e.limit0, e.kinematics) for e in self.vehicles() if len(e.limits)]
            ),
            controllers=self._controllers(),
            friction=self._friction(),
            animations=self.animations,
            drives=drives,
            drive_names=names,
            terrain=terrain,
            regions=self.regions if len(self.regions) else None,
            schedule=Schedule(sensors, self.dt),
        )

    def _save(self) -> None:
        """Take all rows back from the arrays, once."""
        if self.state is not None:
            for entity in self.entities:
                entity.save(self.state)
            self.state = None
            self.ground.forget_places()

    def set_welds(self, welds: list[tuple[str, str]]) -> None:
        """Join exactly these pairs rigidly, from where they are now."""
        self._save()
        self.welds = welds
        form(self.entities, self.welds, self.solver)

    def _rows(self, ordered: list[Entity]) -> State:
        vehicles = [e for e in ordered if e.vehicle is not None]
        state = allocate(
            len(ordered),
            sum(len(e.wheels) for e in vehicles),
            len(vehicles),
            sum(len(e.pids) for e in vehicles),
            sum(len(e.limits) for e in vehicles),
        )
        wheel = pid = limit = 0
        for row, entity in enumerate(ordered):
            entity.row = row
            state.bodies[row] = entity.body[0]
        for entity in ordered:
            row = state.bodies[entity.row]
            row["leader"] = -1 if entity.leader is None else entity.leader.row
            row["off_x"], row["off_y"], row["off_yaw"] = entity.offset
        for row, entity in enumerate(vehicles):
            assert entity.vehicle is not None
            n, m = len(entity.wheels), len(entity.pids)
            entity.vehicle_row, entity.wheel0, entity.pid0 = row, wheel, pid
            state.wheels[wheel : wheel + n] = entity.wheels
            state.wheels["body"][wheel : wheel + n] = entity.row
            state.pids[pid : pid + m] = entity.pids
            target = state.vehicles[row : row + 1]
            old_wheel0 = int(entity.vehicle["wheel0"][0])
            target[:] = entity.vehicle
            target["body"], target["wheel0"], target["pid0"] = entity.row, wheel, pid
            target["odo_left"] += wheel - old_wheel0
            target["odo_right"] += wheel - old_wheel0
            wheel, pid = wheel + n, pid + m
            entity.limit0 = limit
            for limits in entity.limits:
                state.limits[limit] = limits
                state.limits["vehicle"][limit] = row
                limit += 1
        return state

    def _scene(self, ordered: list[Entity], bodies: Rows) -> None:
        self.scene.clear_bodies()
        for entity in watched(ordered, "making what lidars see"):
            for solid in entity.solids:
                self.scene.add_polygon(
                    solid.points, body=entity.row, zmin=solid.z_range[0], zmax=solid.z_range[1]
                )
        self.scene.freeze(bodies)

    def _controllers(self) -> list[Any]:
        groups: dict[Any, tuple[list[Any], list[int]]] = {}
        for entity in self.vehicles():
            dynamics = entity.spec.dynamics
            cls = controller_class(dynamics.kind, dynamics.controller.kind)
            specs, rows = groups.setdefault(cls, ([], []))
            specs.append(dynamics.controller)
            rows.append(entity.vehicle_row)
        return [
            cls(specs, np.array(rows, dtype=np.int64)) for cls, (specs, rows) in groups.items()
        ]

    def _friction(self) -> list[Any]:
        groups: dict[str, tuple[list[Any], list[int]]] = {}
        for entity in self.vehicles():
            specs, rows = groups.setdefault(entity.spec.friction.kind, ([], []))
            for k in range(len(entity.wheels)):
                specs.append(entity.spec.friction)
                rows.append(entity.wheel0 + k)
        return [
            FRICTION.get(name)(specs, np.array(rows, dtype=np.int64))
            for name, (specs, rows) in groups.items()
        ]
