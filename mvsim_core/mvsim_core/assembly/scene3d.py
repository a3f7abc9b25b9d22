# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From what a world holds to what its 3D sensors see."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from mvsim_core.assembly.outline import Outlines
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.geometry.poses import rotation
from mvsim_core.meshes.readers import MeshError
from mvsim_core.scene3d import Lights, Material, Model, Part, solids
from mvsim_core.scene3d.mesh_models import read_looks
from mvsim_core.scene3d.model import join
from mvsim_core.scene3d.textures import texture_of
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec, WallsSpec
from mvsim_core.specs.element import (
    ElevationMapSpec,
    HorizontalPlaneSpec,
    PointcloudSpec,
    SkyboxSpec,
    VerticalPlaneSpec,
)
from mvsim_core.specs.sensor import SensorSpec
from mvsim_core.specs.visual import VisualSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity, Fixture

#: Walls of occupancy grids are endless for planar lidars; 3D sensors see them from here to there
#: above the floor [m].
GRID_WALL = (-0.5, 3.0)
GRID_COLOR = (0.55, 0.55, 0.6, 1.0)
#: Points of a cloud are seen as if they were this large [m].
POINT_SIZE = 0.02
#: Models that are kept although nothing shows them.
RECENT = 64
WHITE = (1.0, 1.0, 1.0, 1.0)


def lights_of(spec: WorldSpec) -> Lights:
    """Return the sun and the sky of a world."""
    lights = spec.lights
    boxes = [e.textures for e in spec.elements if isinstance(e, SkyboxSpec)]
    return Lights(
        azimuth=lights.light_azimuth,
        elevation=lights.light_elevation,
        color=lights.light_color[:3],
        ambient=min(lights.light_ambient, 1.0),
        shadows=lights.enable_shadows,
        sky_box=boxes[0] if boxes else "",
    )


class SceneMaker:
    """Makes parts of the 3D scene; equal things share a model.

    Models live as long as parts that show them, and the newest `RECENT` somewhat longer, so that
    a reset or a thing that goes and comes again does not read its files again.

    Args:
        outlines: Finds the shapes of blocks.
        warn: Called with where, element and message.
    """

    def __init__(self, outlines: Outlines, warn: Callable[[Any, str, str], None]) -> None:
        """Start without models."""
        self._outlines = outlines
        self._warn = warn
        self._models: WeakValueDictionary[Any, Model] = WeakValueDictionary()
        self._recent: deque[Model] = deque(maxlen=RECENT)
        self._unreadable: set[Any] = set()

    def of_entity(self, entity: Entity) -> Iterator[Part]:
        """Yield the parts of a vehicle, block, actor or moving plane; its rows must be known."""
        if entity.kind == "vehicle":
            yield from self._vehicle(entity)
        elif isinstance(entity.spec, BlockSpec):
            yield Part(self._block(entity.spec), entity.name, "block", entity.row)
        elif isinstance(entity.spec, ActorSpec):
            yield Part(self._actor(entity), entity.name, "actor", entity.row)
        elif isinstance(entity.spec, HorizontalPlaneSpec):
            yield Part(self._plane(entity.spec), entity.name, "ground", entity.row)

    def of_fixture(self, fixture: Fixture) -> Iterator[Part]:
        """Yield the part of walls, world frame."""
        if isinstance(fixture.spec, WallsSpec | VerticalPlaneSpec) and fixture.solids:
            yield Part(self._walls(fixture), fixture.name, "wall")

    def of_grid(self, number: int, grid: GridMap) -> Iterator[Part]:
        """Yield the walls of the occupancy grid of a number."""
        yield Part(self._grid(grid), f"map_{number}", "map")

    def of_plane(self, number: int, spec: HorizontalPlaneSpec) -> Iterator[Part]:
        """Yield a horizontal plane that does not move, the ground of a number."""
        yield Part(self._plane(spec, spec.init_pose[:3]), f"ground_{number}", "ground")

    def of_elevation(
        self, number: int, spec: ElevationMapSpec, row: Rows, samples: FloatArray
    ) -> Iterator[Part]:
        """Yield an elevation map, the ground of a number, from its row of MAP and its samples."""
        yield Part(self._elevation(spec, row, samples), f"ground_{number}", "ground")

    def of_sensor(self, spec: SensorSpec) -> Iterator[Part]:
        """Yield the visual of a sensor that is fixed in the world."""
        model = self._sensor(spec)
        if model is not None:
            yield Part(model, spec.name, "sensor", sensor=spec.name)

    def of_cloud(self, number: int, spec: PointcloudSpec, places: FloatArray) -> Iterator[Part]:
        """Yield a cloud of points (n, 3) [m], each point a small octahedron."""
        model = self._once(("points", id(places)), partial(_cloud, spec, places))
        yield Part(model, f"points_{number}", "points")

    def _once(self, key: Any, make: Callable[[], Model]) -> Model:
        model = self._models.get(key)
        if model is None:
            model = self._models[key] = make()
        self._recent.append(model)
        return model

    def _vehicle(self, entity: Entity) -> Iterator[Part]:
        spec = entity.spec
        chassis = spec.dynamics.chassis
        body = self._visuals(spec.visuals, spec.where)
        if body is None:
            solid = entity.model.solids[0]
            key = ("prism", solid.points.tobytes(), solid.z_range, chassis.color)
            body = self._once(
                key, lambda: solids.prism(solid.points, *solid.z_range, Material(chassis.color))
            )
        yield Part(body, entity.name, "vehicle", entity.row)
        for k, wheel in enumerate(spec.dynamics.wheels):
            model = self._visuals(wheel.visuals, wheel.where)
            if model is None:
                size = (wheel.radius, wheel.width, Material(wheel.color))
                model = self._once(("wheel", *size), partial(solids.wheel, *size))
            yield Part(model, entity.name, "vehicle", entity.row, entity.wheel0 + k)
        for sensor in spec.sensors:
            model = self._sensor(sensor)
            if model is not None:
                full_name = f"{entity.name}/{sensor.name}"
                yield Part(model, entity.name, "vehicle", entity.row, sensor=full_name)

    def _sensor(self, spec: SensorSpec) -> Model | None:
        """Return the visual of a sensor in the frame of what carries it; None: it has none."""
        visual = self._visuals(spec.visuals, spec.where)
        if visual is None:
            return None
        key = ("mounted", *map(_visual_key, spec.visuals), spec.pose)
        return self._once(key, lambda: visual.moved(rotation(spec.pose), spec.pose[:3]))

    def _block(self, spec: BlockSpec) -> Model:
        look = Material(spec.color)
        model = self._visuals(spec.visuals, spec.where)
        if model is None:
            points, z_range = self._outlines.of_block(spec)
            key = ("block", points.tobytes(), z_range, spec.geometry, spec.color)
            model = self._once(key, lambda: _solid(spec, points, z_range, look))
        return model

    def _actor(self, entity: Entity) -> Model:
        spec = entity.spec
        model = self._visuals(spec.visuals, spec.where)
        if model is None:
            solid = entity.model.solids[0]
            key = ("actor", spec.collision_radius, spec.collision_height)
            model = self._once(key, lambda: solids.prism(solid.points, *solid.z_range))
        return model

    def _plane(
        self, spec: HorizontalPlaneSpec, place: tuple[float, float, float] = (0.0, 0.0, 0.0)
    ) -> Model:
        look = self._look(spec.color, spec.texture, spec.where, spec.cull_face)
        tile = (spec.texture_size_x, spec.texture_size_y)
        limits = ((spec.x_min, spec.x_max), (spec.y_min, spec.y_max))
        return self._once(
            ("plane", limits, spec.z, tile, look, place),
            lambda: solids.rectangle(*limits, spec.z, tile, look).moved(np.eye(3), place),
        )

    def _walls(self, fixture: Fixture) -> Model:
        spec = fixture.spec
        if isinstance(spec, VerticalPlaneSpec):
            look = self._look(spec.color, spec.texture, spec.where, spec.cull_face)
            return self._once(("wall", spec, look), lambda: _wall(fixture, look))
        look = Material(spec.color)
        return self._once(
            ("walls", spec),
            lambda: join([solids.prism(s.points, *s.z_range, look) for s in fixture.solids]),
        )

    def _grid(self, grid: GridMap) -> Model:
        return self._once(
            ("grid", id(grid)), lambda: solids.grid_walls(grid, *GRID_WALL, Material(GRID_COLOR))
        )

    def _elevation(self, spec: ElevationMapSpec, row: Rows, samples: FloatArray) -> Model:
        look = self._look(WHITE, spec.texture_image, spec.where)
        if not look.texture:
            look = Material(spec.mesh_color)
        heights = samples.reshape(int(row["rows"][0]), int(row["columns"][0]))
        corner = (float(row["x0"][0]), float(row["y0"][0]))
        extent = (spec.texture_extension_x, spec.texture_extension_y)
        return self._once(
            ("elevation", spec, look),
            lambda: solids.height_field(
                heights, float(row["step"][0]), corner, extent, look, spec.texture_image_rotate
            ),
        )

    def _look(self, color: Any, texture: str, where: Any, cull_face: str = "NONE") -> Material:
        look, fault = texture_of(tuple(color), texture)
        if fault and self._outlines.first_report(fault):
            self._warn(where, "texture", f"{fault}: a plain colour stands for it")
        return look._replace(cull_face=cull_face)

    def _visuals(self, visuals: tuple[VisualSpec, ...], where: Any) -> Model | None:
        """Return the models of visuals as one; None if none of them can be read."""
        shown = tuple(v for v in visuals if v.enabled and v.model_uri)
        if not shown:
            return None
        key = ("visuals", *map(_visual_key, shown))
        if key in self._unreadable:
            return None
        try:
            return self._once(key, lambda: self._read(shown, where))
        except MeshError:
            self._unreadable.add(key)
            return None

    def _read(self, visuals: tuple[VisualSpec, ...], where: Any) -> Model:
        """Return the models of visuals as one; MeshError if none of them can be read."""
        models = []
        for visual in visuals:
            try:
                model = read_looks(visual.model_uri.removeprefix("file://"), visual.model_color)
            except MeshError as error:
                if self._outlines.first_report(str(error)):
                    self._warn(where, "visual", f"{error}: 3D sensors see its plain shape")
                continue
            if len(model.triangles):
                cull_face = visual.model_cull_faces
                looks = tuple(m._replace(cull_face=cull_face) for m in model.materials)
                model = replace(model, materials=looks)
                scaled = visual.model_scale * rotation(visual.pose)
                models.append(model.moved(scaled, visual.pose[:3]))
        if not models:
            raise MeshError("no visual of it can be read")
        return join(models)


def _visual_key(visual: VisualSpec) -> tuple[Any, ...]:
    """Return what the model of a visual depends on."""
    return (
        visual.model_uri,
        visual.model_scale,
        visual.pose,
        visual.model_color,
        visual.model_cull_faces,
    )


def _wall(fixture: Fixture, look: Material) -> Model:
    """Return the pieces of a vertical plane, whose texture runs on from one to the next."""
    spec: VerticalPlaneSpec = fixture.spec
    ends = np.array([(spec.x0, spec.y0), (spec.x1, spec.y1)])
    tile = (spec.texture_size_x, spec.texture_size_y)
    return join(
        [solids.slab(s.points, s.z_range, ends, spec.z, tile, look) for s in fixture.solids]
    )


def _cloud(spec: PointcloudSpec, places: FloatArray) -> Model:
    return solids.points(places, POINT_SIZE).moved(rotation(spec.pose), spec.pose[:3])


def _solid(
    spec: BlockSpec, points: FloatArray, z_range: tuple[float, float], look: Material
) -> Model:
    """Return the true shape of a block without a mesh, between its limits of height."""
    shape = spec.geometry
    if shape is None or not spec.is_geometry:
        return solids.prism(points, *z_range, look)
    low, high = z_range
    if shape.type == "sphere" and math.isclose(high - low, 2.0 * shape.radius):
        ball = solids.sphere(shape.radius, material=look)
        return ball.moved(np.eye(3), (0.0, 0.0, low + shape.radius))
    size = (shape.lx, shape.ly, high - low)
    if shape.type == "ramp":
        return solids.ramp(size, look).moved(np.eye(3), (0.0, 0.0, low))
    if shape.type == "semi_cylinder_bump":
        return solids.bump(size, material=look).moved(np.eye(3), (0.0, 0.0, low))
    return solids.prism(points, *z_range, look)
