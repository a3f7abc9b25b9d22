# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Compiles the spec of a world; the only module that knows all parts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from mvsim_core.assembly.actors import build_actor
from mvsim_core.assembly.blocks import (
    build_block,
    build_lift,
    grid_boxes,
    plane_solids,
    wall_solids,
)
from mvsim_core.assembly.guard import building
from mvsim_core.assembly.limits import check_amounts
from mvsim_core.assembly.outline import UNIT_SQUARE, Outlines
from mvsim_core.assembly.scene3d import SceneMaker, lights_of
from mvsim_core.assembly.sensors import SensorMaker
from mvsim_core.assembly.stand_ins import without_stand_ins_around
from mvsim_core.assembly.step_length import automatic_step, step_warning
from mvsim_core.assembly.vehicles import build_vehicle
from mvsim_core.assembly.wall_lines import wall_lines
from mvsim_core.dynamics.wheels import wheel_warnings
from mvsim_core.elements.elevation_map import load_elevation
from mvsim_core.elements.occupancy_grid import GridMap, load_grid
from mvsim_core.elements.point_files import read_cloud
from mvsim_core.errors import ArgumentError, BuildError, Problem
from mvsim_core.geometry.poses import Pose
from mvsim_core.progress import tracked
from mvsim_core.resources.remote_files import RemoteError, local_copy, remote_files
from mvsim_core.scene3d import Part, Scene3d
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.dynamics import FreeWheelsSpec
from mvsim_core.specs.element import (
    ElevationMapSpec,
    HorizontalPlaneSpec,
    OccupancyGridSpec,
    PointcloudSpec,
    PropertyRegionSpec,
    VerticalPlaneSpec,
)
from mvsim_core.specs.params import Spec, sections
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity, EntityModel, Fixture
from mvsim_core.terrain.nearby import crowd_error, first_crowd
from mvsim_core.terrain.regions import Regions
from mvsim_core.world.model import Model
from mvsim_core.xmlfile import FileState, read_vehicle

#: Longest step when the file leaves it to us [s]; stiff controllers need a shorter one.
AUTO_STEP = 0.005
#: Models without an entity that are kept, for vehicles that are added and removed in turn.
RECENT = 16
_OWN_FIELDS = ("where", "name", "init_pose")

Kind = tuple[Any, ...]
S = TypeVar("S", VehicleSpec, BlockSpec)


class Assembler:
    """Compiles the model of a world, and vehicles that are added later.

    Args:
        spec: What the world file says.
        warnings: Warnings so far; more are appended.
    """

    def __init__(self, spec: WorldSpec, warnings: list[Problem]) -> None:
        """Read the maps and clouds.

        Raises:
            BuildError: One of them cannot be used.
        """
        self.spec = spec
        self.warnings = warnings
        remote_files().reset_budget()
        self._outlines = Outlines(self.warn)
        self._shapes = SceneMaker(self._outlines, self.warn)
        self._grids: list[tuple[OccupancyGridSpec, GridMap]] = []
        self._maps: list[tuple[Rows, FloatArray]] = []
        self._clouds: list[tuple[PointcloudSpec, FloatArray]] = []
        # Keys hold ids of specs, which live as long as the model of them.
        self._kinds: WeakValueDictionary[Kind, EntityModel] = WeakValueDictionary()
        self._recent: deque[EntityModel] = deque(maxlen=RECENT)
        check_amounts(spec)
        with building(spec.where, "mvsim_world"):
            self._dt = self._time_step()
        self._sensors = SensorMaker(spec, self._dt, self.warn)
        errors: list[Problem] = []
        for element in spec.elements:
            try:
                with building(element.where, "element"):
                    self._load(element)
            except (BuildError, RemoteError) as error:
                errors.append(Problem.at(element.where, "element", str(error), quotes=True))
        if errors:
            raise BuildError(*errors)

    def model(self) -> Model:
        """Compile the world.

        Raises:
            BuildError: A part of the spec cannot be built.
        """
        spec = self.spec
        planes = [e for e in spec.elements if isinstance(e, HorizontalPlaneSpec)]
        entities = [
            build_lift(f"lift_{i + 1}", e)
            for i, e in enumerate(spec.elements)
            if isinstance(e, HorizontalPlaneSpec) and e.moves
        ]
        blocks = self._all(spec.blocks, self._block, "placing blocks")
        vehicles = self._all(spec.vehicles, self._vehicle, "placing vehicles")
        entities += without_stand_ins_around(blocks, vehicles, self.warn)
        entities += vehicles
        for actor in spec.actors:
            with building(actor.where, "actor", actor.name):
                entities.append(build_actor(actor))
        check_crowds(entities)
        return Model(
            spec=spec,
            dt=self._dt,
            gravity=spec.gravity,
            entities=tuple(entities),
            fixtures=tuple(self._fixtures()),
            grids=tuple(grid for _, grid in self._grids),
            maps=tuple(self._maps),
            planes=tuple(plane for plane in planes if not plane.moves),
            regions=Regions([e for e in spec.elements if isinstance(e, PropertyRegionSpec)]),
            lights=lights_of(spec),
            assembler=self,
            renderers={},
        )

    # ------------------------------------------------------------ for worlds
    def vehicle(
        self,
        file: FileState | None,
        source: Any,
        name: str | None,
        pose: Any,
        taken: Collection[str],
    ) -> tuple[EntityModel, FileState | None]:
        """Compile a vehicle from a VehicleSpec or the text of one; see `World.add_vehicle`.

        Returns:
            The model of the vehicle, and the state of the world file after its text.
        """
        spec = source
        if not isinstance(source, VehicleSpec | str):
            raise ArgumentError(
                f"a vehicle must be a VehicleSpec or the XML text of one, got {source!r:.80}"
            )
        if not isinstance(source, VehicleSpec):
            spec, problems, file = read_vehicle(source, file, name=name or "", taken=taken)
            self.warnings += [p for p in problems if p not in self.warnings]
        if name is not None:
            spec = replace(spec, name=name)
        if pose is not None:
            spec = replace(spec, init_pose=Pose(x=pose[0], y=pose[1], yaw=pose[2]))
        return self._vehicle(spec), file

    def sensors(self, model: EntityModel | None, scene: PlaneScene, scene3d: Scene3d) -> list[Any]:
        """Return the sensors of a vehicle, or (None) those that are fixed in the world."""
        if model is None:
            return self._sensors.standalone(self.spec.sensors, scene, scene3d)
        return self._sensors.of_vehicle(model.spec, scene, scene3d)

    def parts(self, entity: Entity) -> Iterable[Part]:
        """Return the parts of an entity for the 3D scene."""
        return self._shapes.of_entity(entity)

    def show_fixed(self, model: Model, scene: Scene3d) -> None:
        """Add the fixed parts of the world to a 3D scene."""
        shapes = self._shapes
        for fixture in model.fixtures:
            scene.add(("fixture", fixture.name), partial(shapes.of_fixture, fixture))
        for i, grid in enumerate(model.grids, 1):
            scene.add(("map", i), partial(shapes.of_grid, i, grid))
        for number, plane in enumerate(model.planes, 1):
            scene.add(("ground", number), partial(shapes.of_plane, number, plane))
        maps = [e for e in self.spec.elements if isinstance(e, ElevationMapSpec)]
        for i, (spec, (row, samples)) in enumerate(zip(maps, self._maps, strict=True), 1):
            number = len(model.planes) + i
            scene.add(("ground", number), partial(shapes.of_elevation, number, spec, row, samples))
        for sensor in self.spec.sensors:
            if sensor.visuals:
                scene.add(("sensor", sensor.name), partial(shapes.of_sensor, sensor))
        for i, cloud in enumerate(self._clouds, 1):
            scene.add(("points", i), partial(shapes.of_cloud, i, *cloud))

    def warn(self, where: Any, element: str, message: str) -> None:
        """Add a warning once."""
        problem = Problem.at(where, element, message, "warning", quotes=True)
        if problem not in self.warnings:
            self.warnings.append(problem)

    # ------------------------------------------------------------ parts
    def _vehicle(self, spec: VehicleSpec) -> EntityModel:
        return self._of_kind(spec, self._new_vehicle)

    def _block(self, spec: BlockSpec) -> EntityModel:
        return self._of_kind(spec, self._new_block)

    def _all(
        self, specs: Sequence[S], build: Callable[[S], EntityModel], work: str
    ) -> list[EntityModel]:
        """Return the models of specs: the first of each kind is built, the others copied at once.

        Kinds differ by the identity of values, which the reader lets equal specs share,
        unless they follow one another; what else is equal, `build` finds.
        """
        kinds: dict[tuple[int, ...], tuple[EntityModel, list[int]]] = {}
        models: list[Any] = [None] * len(specs)
        last: Any = None
        alike: list[int] = []  # places of further specs with the values `last`
        for place, spec in enumerate(tracked(specs, work)):
            values = _VALUES[type(spec)](spec)
            if values == last:  # mostly the same objects, which takes no time to see
                alike.append(place)
                continue
            key = tuple(map(id, values))
            found = kinds.get(key)
            if found is not None:
                last, alike = values, found[1]
                alike.append(place)
                continue
            before = len(self.warnings)
            models[place] = model = build(spec)
            if len(self.warnings) == before:  # the warning of each entity names it
                last, alike = values, []
                kinds[key] = (model, alike)
        for model, places in kinds.values():
            others = model.of_all([specs[place] for place in places]) if places else []
            for place, other in zip(places, others, strict=True):
                models[place] = other
        return models

    def _of_kind(self, spec: S, build: Callable[[S], EntityModel]) -> EntityModel:
        """Return the model of an entity, by the first one of its kind where there is one."""
        key = _kind_of(spec)
        first = self._kinds.get(key)
        if first is not None:
            return first.of(spec)
        before = len(self.warnings)
        with building(
            spec.where, "vehicle" if isinstance(spec, VehicleSpec) else "block", spec.name
        ):
            model = build(spec)
        if len(self.warnings) == before:  # the warning of each entity names it
            self._kinds[key] = model
            self._recent.append(model)
        return model

    def _new_vehicle(self, spec: VehicleSpec) -> EntityModel:
        outline, z_range = self._outlines.of_vehicle(spec)
        if isinstance(spec.dynamics, FreeWheelsSpec):
            for warning in wheel_warnings(spec.dynamics):
                self.warn(spec.dynamics.where, "dynamics", f"{spec.name}: {warning}")
        model = build_vehicle(spec, outline, z_range, self.spec.gravity)
        warning = step_warning(model, self.spec.gravity, self._dt)
        if warning:
            self.warn(spec.dynamics.where, "dynamics", warning)
        return model

    def _new_block(self, spec: BlockSpec) -> EntityModel:
        outline, z_range = self._outlines.of_block(spec)
        return build_block(spec, outline, z_range, stand_in=outline is UNIT_SQUARE)

    def _fixtures(self) -> Iterator[Fixture]:
        for i, (element, grid) in enumerate(self._grids):
            with building(element.where, "element"):
                boxes = grid_boxes(element, grid)
            yield Fixture(f"map_{i + 1}", element, (), boxes)
        planes = [e for e in self.spec.elements if isinstance(e, VerticalPlaneSpec)]
        for i, plane in enumerate(planes):
            with building(plane.where, "element"):
                solids = tuple(plane_solids(plane))
            yield Fixture(f"plane_{i + 1}", plane, solids)
        for i, walls in enumerate(self.spec.walls):
            with building(walls.where, "walls"):
                solids = tuple(wall_solids(walls, wall_lines(walls, self.warn)))
            yield Fixture(f"walls_{i + 1}", walls, solids)

    def _load(self, element: Spec) -> None:
        """Read the file of a map or cloud; BuildError or RemoteError if that cannot be."""
        if isinstance(element, OccupancyGridSpec):
            self._grids.append((element, self._load_grid(element)))
        elif isinstance(element, ElevationMapSpec):
            self._maps.append(load_elevation(element))
        elif isinstance(element, PointcloudSpec):
            self._load_cloud(element)

    def _load_grid(self, element: OccupancyGridSpec) -> GridMap:
        grid = load_grid(
            local_copy(element.file),
            resolution=element.resolution,
            centerpixel_x=element.centerpixel_x,
            centerpixel_y=element.centerpixel_y,
        )
        for text in grid.warnings:
            self.warn(element.where, "element", text)
        return grid

    def _load_cloud(self, element: PointcloudSpec) -> None:
        """Read a cloud of points; one that cannot be read is named and left out."""
        columns = 3 if element.file_txt_3d else 2
        try:
            file = local_copy(element.file_txt_3d or element.file_txt_2d)
            points, warning = read_cloud(file, columns)
            self._clouds.append((element, points))
        except (BuildError, RemoteError) as error:
            warning = f"{error}; no sensor sees them"
        if warning:
            self.warn(element.where, "element", warning)

    def _time_step(self) -> float:
        """Return the step: as the file says, or automatic."""
        if self.spec.timestep > 0.0:
            return self.spec.timestep
        periods = [s.period for v in self.spec.vehicles for s in v.sensors if s.period > 0.0]
        longest = min([AUTO_STEP, *periods])
        return automatic_step(self._kinds_of_vehicles(), self.spec.gravity, longest)

    def _kinds_of_vehicles(self) -> Iterator[EntityModel]:
        """Yield one vehicle of each kind, for what depends on dynamics and friction alone."""
        seen: list[Any] = []
        for vehicle in self.spec.vehicles:
            kind = (vehicle.dynamics, vehicle.friction)
            if kind not in seen:
                seen.append(kind)
                outline, z_range = self._outlines.of_vehicle(vehicle)
                yield build_vehicle(vehicle, outline, z_range, self.spec.gravity)


def _kind_of(spec: VehicleSpec | BlockSpec) -> Kind:
    """Return what specs share that differ in name, place in the file and pose alone.

    Specs inside are compared by identity: the reader gives equal ones of a class or loop as one
    object, and a comparison of all their values would take longer than building.
    """
    plain, parts = _SHARED[type(spec)]
    return (type(spec), plain(spec), *map(_part, parts(spec)))


def _shared_fields(spec: type[Spec]) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """Return what reads the plain values of a spec that its kind shares, and the specs in it."""
    nested = [field for field, _ in sections(spec)]
    names = [field.name for field in fields(spec) if field.name not in (*_OWN_FIELDS, *nested)]
    return attrgetter(*names), attrgetter(*nested)


_SHARED = {spec: _shared_fields(spec) for spec in (VehicleSpec, BlockSpec)}
#: Of each class of specs, what reads all values that a kind shares.
_VALUES = {
    spec: attrgetter(*(field.name for field in fields(spec) if field.name not in _OWN_FIELDS))
    for spec in _SHARED
}


def _part(value: Any) -> Any:
    if isinstance(value, Spec):
        return id(value)
    if isinstance(value, tuple) and value and isinstance(value[0], Spec):
        return tuple(id(one) for one in value)
    return value


def check_crowds(entities: Iterable[EntityModel]) -> None:
    """Refuse hundreds of bodies that start at one place: solving them would take too long.

    Raises:
        BuildError: There are too many; the message names the last one.
    """
    reaches: dict[int, float] = {}  # by id of the solids, which entities of a kind share
    checked = [model for model in entities if model.solids and model.kind != "actor"]
    radii = []
    for model in checked:
        reach = reaches.get(id(model.solids))
        if reach is None:
            points = model.solids[0].points
            reach = float(np.sqrt((points * points).sum(axis=1).max()))
            reaches[id(model.solids)] = reach
        radii.append(reach)
    numbers = chain.from_iterable([model.spec.init_pose for model in checked])
    places = np.fromiter(numbers, np.float64, 6 * len(checked)).reshape(-1, 6)[:, :2]
    if (first := first_crowd(places, np.array(radii))) is not None:
        model = checked[first]
        x, y = places[first].tolist()
        raise crowd_error(model.name, model.spec.where, (x, y))
