# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`Runtime`: systems, ground, scenes and sensors, derived from the model and the entities alone.

It holds no state that a snapshot needs: `sync` adapts it to any state of the same model.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any
from weakref import ref

from mvsim_core.animation.keyframes import KeyframeAnimation
from mvsim_core.animation.waypoint_path import PathFollower, WaypointPath
from mvsim_core.controllers import controller_class
from mvsim_core.errors import UnknownName
from mvsim_core.friction import FRICTION
from mvsim_core.friction.ground_grips import GroundGrips
from mvsim_core.kinematics.limits import TwistLimits
from mvsim_core.scene3d import Scene3d
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.sensor_set import SensorSet
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.element import OccupancyGridSpec
from mvsim_core.state.entities import Entity, EntityModel, kinds_of
from mvsim_core.terrain.ground import Ground
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.systems import SystemGroups
from mvsim_core.world.tiles import Tiles


class Runtime:
    """Systems, ground, scenes and sensors of a world.

    Attributes:
        kinematics: Limits of commands.
        controllers: Motor controllers, by class.
        friction: Friction models, by class.
        animations: Motions that are functions of time.
        ground: Height of the ground.
        scene: Scene of the planar lidars.
        scene3d: Scene of the 3D sensors.
        sensors: All sensors and their schedule.
        names: Name of the entity of each row of BODY.
        grips: Friction of the ground inside contacts.
        tiles: Groups of vehicles that go through a step one after the other.
        ideal: Number of vehicles that are driven kinematically.
        placed: Rows of BODY that were put somewhere since the last look for overlaps.
        overlapping: Names of the pairs whose overlap was reported and lasts.
        transfers: Number of vehicles whose wheel loads follow their accelerations.
    """

    def __init__(self, model: Model) -> None:
        """Add the fixed parts of the world; entities are added by `add`."""
        self.model = model
        self.kinematics = TwistLimits()
        self.controllers = SystemGroups()
        self.friction = SystemGroups()
        self.animations: dict[int, Any] = {}
        self.grips = GroundGrips()
        self.tiles = Tiles()
        self.ground = Ground(list(model.maps))
        self.scene = PlaneScene()
        self.scene3d = Scene3d(lights=model.lights, renderers=model.renderers)
        self.sensors = SensorSet()
        self.names: dict[int, str] = {}
        self.ideal = 0
        self.placed: set[int] = set()
        self.overlapping: set[frozenset[str]] = set()
        self.transfers = 0
        self._entities: dict[int, Entity] = {}
        self._sensors: dict[int, list[Any]] = {}
        # Sensors of removed entities, which may come back by a restore, while a user holds them.
        self._retired: dict[int, list[ref[Any]]] = {}
        self._bare: set[int] = set()  # entities without sensors, whatever their specs say
        for plane in model.planes:
            self.ground.add_plane(plane)
        for fixture in model.fixtures:
            for solid in () if isinstance(fixture.spec, OccupancyGridSpec) else fixture.solids:
                low, high = solid.z_range
                self.scene.add_polygon(solid.points, zmin=low, zmax=high)
        for grid in model.grids:
            self.scene.add_grid(grid)
        model.assembler.show_fixed(model, self.scene3d)
        self.fixed_sensors = model.assembler.sensors(None, self.scene, self.scene3d)

    def add(self, entities: Sequence[Entity], data: Data, *, new: bool = False) -> None:
        """Add entities whose rows are in the tables; `new_sensors` makes their sensors.

        With `new` they are put on the ground, each on those before it.
        """
        self.ground.add(entities, data, new=new)
        rows, tokens = [entity.row for entity in entities], [entity.token for entity in entities]
        copies = data.bodies["copy"][rows].tolist()
        self._entities.update(zip(tokens, entities, strict=True))
        self.names.update(zip(rows, [entity.model.name for entity in entities], strict=True))
        served: dict[tuple[int, int], list[Entity]] = {}  # vehicles by controller and friction
        for entity in [entity for entity in entities if _is_driven(entity.model)]:
            spec = entity.spec
            if entity.model.vehicle is not None:
                key = id(spec.dynamics), id(spec.friction)
                served.setdefault(key, []).append(entity)
            elif isinstance(spec, ActorSpec) and spec.path is not None and spec.path.waypoints:
                ground = self.ground if entity.model.on_ground else None
                self.animations[entity.token] = PathFollower(entity, _path(spec), ground)
            elif spec.animation is not None:
                self.animations[entity.token] = KeyframeAnimation(entity, spec.animation.frames)
        self.scene3d.add_all(tokens, self.model.assembler.parts, entities, copies)
        different = set(copies)
        for places in kinds_of(entities):
            solids = entities[places[0]].model.solids
            there: dict[int, list[int]] = {}  # rows by copy
            for place in places.tolist() if solids and len(different) > 1 else ():
                there.setdefault(copies[place], []).append(rows[place])
            if solids and len(different) == 1:
                there[copies[0]] = [rows[place] for place in places.tolist()]
            for copy, some in there.items():
                self.scene.add_bodies(some, solids, copy)
        for vehicles in served.values():
            self._add_vehicles(vehicles)

    def remove(self, entity: Entity, tick: int) -> None:
        """Remove an entity; its rows may be free already."""
        del self._entities[entity.token], self.names[entity.row]
        self.placed.discard(entity.row)
        self.ground.remove(entity)
        self.animations.pop(entity.token, None)
        self.scene.remove_body(entity.row)
        self.scene3d.remove(entity.token)
        self._retire(entity, tick)
        if entity.model.vehicle is None:
            return
        spec = entity.spec
        self.ideal -= int(entity.model.body["ideal"][0])
        self.transfers -= int(spec.dynamics.weight_transfer)
        self.controllers.remove(controller_of(spec), [entity.vehicle_row])
        rows = range(entity.wheel0, entity.wheel0 + entity.n_wheels)
        self.friction.remove(spec.friction.kind, rows)
        if len(entity.model.limits):
            self.kinematics.remove(entity.limit0)

    def _retire(self, entity: Entity, tick: int) -> None:
        sensors = self._sensors.pop(entity.token, [])
        self.sensors.remove(sensors, tick)
        for sensor in sensors:
            sensor.bind(RemovedSensorData(sensor.full_name))
        kept = {k: v for k, v in self._retired.items() if any(one() is not None for one in v)}
        if sensors:
            kept[entity.token] = [ref(sensor) for sensor in sensors]
        self._retired = kept

    def begin(self, data: Data) -> None:
        """Schedule the fixed sensors of a new state."""
        self.schedule(self.fixed_sensors, data)

    def sync(self, data: Data) -> list[Entity]:
        """Adapt to another state of the same model: remove and add entities until both agree.

        Returns:
            The entities that were added.
        """
        self.placed.clear()
        there = {entity.token: entity for entity in data.entities.values()}
        for entity in [e for token, e in self._entities.items() if token not in there]:
            self.remove(entity, data.ticks)
        new = [entity for token, entity in there.items() if token not in self._entities]
        self.add(new, data)
        self.schedule([sensor for entity in new for sensor in self.new_sensors(entity)], data)
        for entity in there.values():
            self.ground.refit(entity, data)
        sensors = {sensor.full_name: sensor for sensor in self.all_sensors()}
        for name in [name for name in data.sensors if name not in sensors]:
            del data.sensors[name]  # of sensors that were removed for good
        for name, sensor in sensors.items():
            sensor.bind(data.sensors[name])
        self.sensors.resync(data.ticks)
        return new

    def remove_sensors(self, tick: int) -> None:
        """Remove all sensors for good."""
        for entity in list(self._entities.values()):
            self._retire(entity, tick)
            self._retired.pop(entity.token, None)
            self._bare.add(entity.token)
        self.sensors.remove(self.fixed_sensors, tick)
        self.fixed_sensors = []

    def entities(self) -> Iterable[Entity]:
        """Return all entities, of all copies."""
        return self._entities.values()

    def sensors_of(self, entity: Entity) -> list[Any]:
        """Return the sensors of a vehicle, in file order."""
        return self._sensors.get(entity.token, [])

    def all_sensors(self) -> Iterator[Any]:
        """Iterate over all sensors: vehicle by vehicle, then the fixed ones."""
        for sensors in self._sensors.values():
            yield from sensors
        yield from self.fixed_sensors

    def _add_vehicles(self, vehicles: Sequence[Entity]) -> None:
        """Add vehicles that share the specs of dynamics and friction."""
        spec = vehicles[0].spec
        cls = controller_of(spec)
        rows = [entity.vehicle_row for entity in vehicles]
        self.controllers.add(cls, cls, spec.dynamics.controller, rows)
        wheels = [e.wheel0 + k for e in vehicles for k in range(e.n_wheels)]
        kind = spec.friction.kind
        self.friction.add(kind, FRICTION.get(kind), spec.friction, wheels)
        self.transfers += len(vehicles) * int(spec.dynamics.weight_transfer)
        for entity in vehicles:
            self.ideal += int(entity.model.body["ideal"][0])
            if len(entity.model.limits):
                self.kinematics.add(entity.limit0, entity.model.kinematics)

    def new_sensors(
        self, entity: Entity, copy: int = 0, known: Container[str] | None = None
    ) -> list[Any]:
        """Return the sensors of a vehicle in a copy; those that are still held if it came back.

        Those are left out whose full names are not `known`; None: all are.
        """
        if entity.model.vehicle is None:
            return []
        sensors: list[Any] = [one() for one in self._retired.pop(entity.token, ())]
        if entity.token not in self._bare and (not sensors or None in sensors):
            new = self.model.assembler.sensors(entity.model, self.scene, self.scene3d)
            held = sensors or [None] * len(new)
            sensors = [other if one is None else one for one, other in zip(held, new, strict=True)]
        sensors = [one for one in sensors if known is None or one.full_name in known]
        for sensor in sensors:
            sensor.bind_rows(entity.row, entity.wheel0, entity.n_wheels, copy)
        self._sensors[entity.token] = sensors
        return sensors

    def schedule(self, sensors: list[Any], data: Data) -> None:
        """Schedule sensors with their data in a state, or with new data."""
        for sensor in sensors:
            kept = data.sensors.get(sensor.full_name)
            if kept is None:
                kept = data.sensors[sensor.full_name] = sensor.new_data(data.seed)
            sensor.bind(kept)
        self.sensors.add(sensors, data.ticks)


class RemovedSensorData:
    """Replaces the data of a sensor whose vehicle was removed: every access raises UnknownName."""

    def __init__(self, name: str) -> None:
        """Keep the name for the message."""
        self.__dict__["_name"] = name

    def __getattr__(self, field: str) -> Any:
        """Raise the error.

        Raises:
            UnknownName: Always.
        """
        if field.startswith("__"):
            raise AttributeError(field)
        raise UnknownName("sensor", self._name, reason="was removed with its vehicle")


def _is_driven(model: EntityModel) -> bool:
    """Return whether something in a step moves an entity, besides contacts and friction."""
    return model.kind != "block" or model.spec.animation is not None


def controller_of(spec: Any) -> type[Any]:
    """Return the class of the controller of a VehicleSpec."""
    cls: type[Any] = controller_class(spec.dynamics.kind, spec.dynamics.controller.kind)
    return cls


def _path(spec: ActorSpec) -> WaypointPath:
    assert spec.path is not None
    return WaypointPath(
        spec.init_pose,
        spec.path.waypoints,
        loop=spec.path.loop,
        speeds=(spec.walking_speed, spec.running_speed),
    )
