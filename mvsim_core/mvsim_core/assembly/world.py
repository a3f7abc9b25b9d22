# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From the spec of a world to its running parts. The only place that knows all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from mvsim_core.animation.keyframes import KeyframeAnimation
from mvsim_core.assembly.actors import build_actor, build_walker
from mvsim_core.assembly.blocks import (
    build_block,
    build_fixture,
    build_lift,
    grid_solids,
    plane_solids,
    wall_solids,
)
from mvsim_core.assembly.contents import Contents
from mvsim_core.assembly.crowds import check_crowds
from mvsim_core.assembly.islands import enter
from mvsim_core.assembly.joints import add_joints
from mvsim_core.assembly.outline import Outlines
from mvsim_core.assembly.scene3d import SceneMaker, lights_of
from mvsim_core.assembly.sensors import SensorMaker
from mvsim_core.assembly.step_length import automatic_step, step_warning
from mvsim_core.assembly.terrain import Ground
from mvsim_core.assembly.vehicles import build_vehicle
from mvsim_core.assembly.wall_lines import wall_lines
from mvsim_core.dynamics.wheels import doubts
from mvsim_core.elements.elevation_map import load_elevation
from mvsim_core.elements.occupancy_grid import GridMap, load_grid
from mvsim_core.elements.point_files import read_cloud
from mvsim_core.errors import BuildError, Problem
from mvsim_core.geometry.poses import Pose
from mvsim_core.progress import watched
from mvsim_core.recording.rawlog import OBSERVATIONS, RawlogFiles
from mvsim_core.recording.trajectory import TrajectoryFiles
from mvsim_core.resources.remote_files import RemoteError, local_copy, remote_files
from mvsim_core.sensors.plane_scene import PlaneScene
from mvsim_core.sensors.scene3d import Part, Scene3d
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.solver.layers import Layers
from mvsim_core.specs.actor import ActorSpec
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
from mvsim_core.specs.params import Spec
from mvsim_core.specs.simulable import SimulableSpec
from mvsim_core.specs.vehicle import VehicleSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity
from mvsim_core.terrain.regions import Regions
from mvsim_core.xmlfile import read_vehicle

#: Farther from the origin than this the contact solver gets an origin of its own [m].
FAR = 5e3
#: Longest step when the file leaves it to us [s]; stiff controllers need a shorter one.
AUTO_STEP = 0.005


@dataclass
class Builder:
    """Makes the contents of a world; keeps what is costly (maps, meshes) for the next reset."""

    spec: WorldSpec
    warnings: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Read the maps."""
        remote_files().begin()
        self._outlines = Outlines(self.warn)
        self._canvas: dict[str, Any] = {}
        self._scenes = SceneMaker(self._outlines, self.warn)
        self._grids: list[tuple[OccupancyGridSpec, GridMap]] = []
        self._maps: list[tuple[Rows, FloatArray]] = []
        self._clouds: list[tuple[PointcloudSpec, FloatArray]] = []
        faults: list[Problem] = []
        for element in self.spec.elements:
            try:
                self._load(element)
            except (BuildError, RemoteError) as error:
                faults.append(Problem.at(element.where, "element", str(error)))
        if faults:
            raise BuildError(*faults)
        self._walls = [wall_lines(walls, self.warn) for walls in self.spec.walls]

    def contents(self, spec: WorldSpec, seed: int) -> Contents:
        """Return fresh contents: entities, solver, scene, sensors.

        Raises:
            BuildError: Something of the spec cannot be.
        """
        dt = self._time_step()
        ground, lifts = self._ground()
        scene = PlaneScene()
        scene3d = Scene3d(
            lambda: self._seen(contents), lights=lights_of(spec), canvas=self._canvas
        )
        sensors = SensorMaker(spec, seed, dt, self.warn, scene3d)

        def make_vehicle(vehicle: Any, name: str | None, pose: Any) -> Entity:
            if not isinstance(vehicle, VehicleSpec):
                vehicle, problems = read_vehicle(vehicle, world=spec, name=name or "")
                self.warnings += [p for p in problems if p not in self.warnings]
            if name is not None:
                vehicle = replace(vehicle, name=name)
            if pose is not None:
                vehicle = replace(vehicle, init_pose=Pose(x=pose[0], y=pose[1], yaw=pose[2]))
            entity = self._vehicle(vehicle, ground)
            doubt = step_warning(entity, spec.gravity, dt)
            if doubt:
                self.warn(vehicle.dynamics.where, "dynamics", doubt)
            entity.sensors = sensors.of_vehicle(vehicle, scene)
            return entity

        blocks = [self._block(b, ground) for b in watched(spec.blocks, "placing blocks")]
        vehicles = [
            make_vehicle(v, None, None) for v in watched(spec.vehicles, "placing vehicles")
        ]
        actors = [build_actor(a, ground) for a in spec.actors]
        fixtures = self._fixtures()
        everything = [*vehicles, *blocks, *actors, *fixtures]
        check_crowds([*vehicles, *blocks])
        solver = Box2dSolver(
            Layers([_absolute(e, s.z_range) for e in everything for s in e.solids]),
            _origin([*vehicles, *blocks]),
        )
        contents = Contents(
            dt=dt,
            gravity=spec.gravity,
            solver=solver,
            scene=scene,
            scene3d=scene3d,
            make_vehicle=make_vehicle,
            grids=[grid for _, grid in self._grids],
            standalone=sensors.standalone(spec.sensors, scene),
            ground=ground,
            regions=Regions([e for e in spec.elements if isinstance(e, PropertyRegionSpec)]),
        )
        self._fill(contents, [*vehicles, *blocks, *actors, *lifts], fixtures)
        return contents

    def warn(self, where: Any, element: str, message: str) -> None:
        """Note a warning once."""
        problem = Problem.at(where, element, message, "warning")
        if problem not in self.warnings:
            self.warnings.append(problem)

    def _fill(self, contents: Contents, entities: list[Entity], fixtures: list[Entity]) -> None:
        for entity in watched(entities, "making bodies"):
            walker = None
            if isinstance(entity.spec, ActorSpec):
                walker = build_walker(entity, contents.solver)
            if walker is not None:
                contents.animations.append(walker)
            elif isinstance(entity.spec, SimulableSpec) and entity.spec.animation is not None:
                frames = entity.spec.animation.frames
                animation = KeyframeAnimation(entity, frames, contents.solver)
                contents.animations.append(animation)
            contents.add(entity)
        welds = [j for j in self.spec.joints if j.type == "weld"]
        contents.joints = self.spec.joints
        contents.set_welds([(j.body_a, j.body_b) for j in welds])
        if self.spec.save_ground_truth_trajectory:
            path, rate = self.spec.save_ground_truth_trajectory, self.spec.ground_truth_rate
            contents.animations.append(TrajectoryFiles(path, rate, contents.entities))
        if self.spec.save_to_rawlog:
            path, rate = self.spec.save_to_rawlog, self.spec.rawlog_odometry_rate
            contents.rawlog = RawlogFiles(path, rate, contents.dt, contents.entities)
            for kind in sorted({s.kind for s in contents.sensors()} - OBSERVATIONS.keys()):
                text = f"MRPT's data sets have no place for readings of class {kind!r}"
                self.warn(self.spec.where, "save_to_rawlog", text)
        add_joints(self.spec.joints, contents.entities, contents.solver)
        for fixture in fixtures:
            enter(contents.solver, fixture)
            contents.fixtures.append(fixture)
            if isinstance(fixture.spec, OccupancyGridSpec):
                continue
            for solid in fixture.solids:
                low, high = solid.z_range
                contents.scene.add_polygon(solid.points, body=-1, zmin=low, zmax=high)
        for _, grid in self._grids:
            contents.scene.add_grid(grid)

    def _seen(self, contents: Contents) -> Iterator[Part]:
        """Iterate over what 3D sensors see now."""
        grounds: list[Any] = [
            (e, None, None)
            for e in self.spec.elements
            if isinstance(e, HorizontalPlaneSpec) and not e.moves
        ]
        maps = [e for e in self.spec.elements if isinstance(e, ElevationMapSpec)]
        grounds += [(e, *m) for e, m in zip(maps, self._maps, strict=True)]
        things = (contents.entities, contents.fixtures, contents.grids)
        return chain(self._scenes.parts(*things, grounds), self._scenes.points(self._clouds))

    def _vehicle(self, spec: VehicleSpec, ground: Ground) -> Entity:
        chassis = spec.dynamics.chassis
        outline, z_range = self._outlines.of_vehicle(spec)
        pose = _settle(spec, ground, 0.5 * chassis.zmax)
        if isinstance(spec.dynamics, FreeWheelsSpec):
            for doubt in doubts(spec.dynamics):
                self.warn(spec.dynamics.where, "dynamics", f"{spec.name}: {doubt}")
        return build_vehicle(spec, pose, outline, z_range, self.spec.gravity)

    def _block(self, spec: BlockSpec, ground: Ground) -> Entity:
        outline, z_range = self._outlines.of_block(spec)
        pose = _settle(spec, ground, 0.5 * z_range[1])
        entity = build_block(spec, pose, outline, z_range)
        ground.add_block(entity, outline, z_range[1])
        return entity

    def _ground(self) -> tuple[Ground, list[Entity]]:
        """Return the ground without blocks, and the planes that move."""
        ground, lifts = Ground(maps=self._maps), []
        for i, plane in enumerate(self.spec.elements):
            if not isinstance(plane, HorizontalPlaneSpec):
                continue
            lift = None
            if plane.moves:
                lift = build_lift(f"lift_{i + 1}", plane)
                lifts.append(lift)
            ground.add_plane(plane, lift)
        return ground, lifts

    def _fixtures(self) -> list[Entity]:
        fixtures = []
        for i, (element, grid) in enumerate(self._grids):
            fixtures.append(build_fixture(f"map_{i + 1}", element, grid_solids(element, grid)))
        planes = [e for e in self.spec.elements if isinstance(e, VerticalPlaneSpec)]
        for i, plane in enumerate(planes):
            fixtures.append(build_fixture(f"plane_{i + 1}", plane, plane_solids(plane)))
        for i, (walls, lines) in enumerate(zip(self.spec.walls, self._walls, strict=True)):
            fixtures.append(build_fixture(f"walls_{i + 1}", walls, wall_solids(walls, lines)))
        return fixtures

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
            points, doubt = read_cloud(file, columns)
            self._clouds.append((element, points))
        except (BuildError, RemoteError) as error:
            doubt = f"{error}; no sensor sees them"
        if doubt:
            self.warn(element.where, "element", doubt)

    def _time_step(self) -> float:
        """Return the step: as the file says, or automatic."""
        periods = [s.period for v in self.spec.vehicles for s in v.sensors if s.period > 0.0]
        shortest = min(periods, default=AUTO_STEP)
        if self.spec.timestep <= 0.0:
            return automatic_step(
                self._kinds_of_vehicles(), self.spec.gravity, min(AUTO_STEP, shortest)
            )
        if periods and self.spec.timestep > shortest:
            self.warn(
                self.spec.where,
                "simul_timestep",
                f"the step of {self.spec.timestep:g} s is longer than the shortest sensor period"
                f" of {shortest:g} s: that sensor will read once a step",
            )
        return self.spec.timestep

    def _kinds_of_vehicles(self) -> Iterator[Entity]:
        """Yield one vehicle of each kind, for what depends on dynamics and friction alone."""
        seen: list[Any] = []
        for vehicle in self.spec.vehicles:
            kind = (vehicle.dynamics, vehicle.friction)
            if kind not in seen:
                seen.append(kind)
                outline, z_range = self._outlines.of_vehicle(vehicle)
                yield build_vehicle(vehicle, Pose(), outline, z_range, self.spec.gravity)


def _settle(spec: SimulableSpec, ground: Ground, above: float) -> Pose:
    """Return the initial pose with z from the ground below it, unless the file forbids that."""
    pose = spec.init_pose
    if spec.skip_elevation_adjust:
        return pose
    return pose._replace(z=ground.height(pose.x, pose.y, pose.z + above))


def _origin(entities: list[Entity]) -> tuple[float, float]:
    """Return where the solver's origin shall be: at the first thing if that is far away [m]."""
    for entity in entities:
        x, y = float(entity.body["x"][0]), float(entity.body["y"][0])
        if math.hypot(x, y) > FAR:
            return round(x), round(y)
        break
    return 0.0, 0.0


def _absolute(entity: Entity, z_range: tuple[float, float]) -> tuple[float, float]:
    z = float(entity.body["z"][0])
    return z + z_range[0], z + z_range[1]
