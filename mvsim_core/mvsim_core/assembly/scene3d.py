# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From what a world holds to what its 3D sensors see."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from mvsim_core.assembly.outline import Outlines
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.geometry.poses import rotation
from mvsim_core.meshes.readers import MeshError
from mvsim_core.sensors.scene3d import Lights, Material, Model, Part, solids
from mvsim_core.sensors.scene3d.mesh_models import read_looks, texture_of
from mvsim_core.sensors.scene3d.model import join
from mvsim_core.specs.actor import ActorSpec
from mvsim_core.specs.block import BlockSpec, WallsSpec
from mvsim_core.specs.element import (
    ElevationMapSpec,
    HorizontalPlaneSpec,
    PointcloudSpec,
    SkyboxSpec,
    VerticalPlaneSpec,
)
from mvsim_core.specs.visual import VisualSpec
from mvsim_core.specs.world import WorldSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.state.entities import Entity

#: Walls of occupancy grids are endless for planar lidars; 3D sensors see them from here to there
#: above the floor [m].
GRID_WALL = (-0.5, 3.0)
GRID_COLOR = (0.55, 0.55, 0.6, 1.0)
#: Points of a cloud are seen as if they were this large [m].
POINT_SIZE = 0.02
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
    """Makes parts of the 3D scene; equal things share a model, also after a reset.

    Args:
        outlines: Finds the shapes of blocks.
        warn: Called with where, element and message.
    """

    def __init__(self, outlines: Outlines, warn: Callable[[Any, str, str], None]) -> None:
        """Start without models."""
        self._outlines = outlines
        self._warn = warn
        self._models: dict[Any, Model | None] = {}

    def parts(
        self,
        entities: Iterable[Entity],
        fixtures: Iterable[Entity],
        grids: Iterable[GridMap],
        grounds: Iterable[tuple[Any, Rows, FloatArray]],
    ) -> Iterator[Part]:
        """Yield all that is seen.

        Args:
            entities: Vehicles, blocks, actors and planes that move; their rows must be known.
            fixtures: Walls, in the world frame.
            grids: Occupancy grids.
            grounds: Planes that do not move (the spec alone counts), and elevation maps with
                their row of MAP and their samples.
        """
        for entity in entities:
            if entity.vehicle is not None:
                yield from self._vehicle(entity)
            elif isinstance(entity.spec, BlockSpec):
                yield Part(self._block(entity.spec), entity.name, "block", entity.row)
            elif isinstance(entity.spec, ActorSpec):
                yield Part(self._actor(entity), entity.name, "actor", entity.row)
            elif isinstance(entity.spec, HorizontalPlaneSpec):
                yield Part(self._plane(entity.spec), entity.name, "ground", entity.row)
        for fixture in fixtures:
            if isinstance(fixture.spec, WallsSpec | VerticalPlaneSpec) and fixture.solids:
                yield Part(self._walls(fixture), fixture.name, "wall")
        for i, grid in enumerate(grids):
            yield Part(self._grid(grid), f"map_{i + 1}", "map")
        for i, (spec, row, samples) in enumerate(grounds):
            model = self._ground(spec, row, samples)
            yield Part(model, f"ground_{i + 1}", "ground")

    def points(self, clouds: Iterable[tuple[PointcloudSpec, FloatArray]]) -> Iterator[Part]:
        """Yield clouds of points (n, 3) [m], each point a small octahedron."""
        for i, (spec, places) in enumerate(clouds):
            model = self._once(("points", id(places)), partial(_cloud, spec, places))
            assert model is not None
            yield Part(model, f"points_{i + 1}", "points")

    def _once(self, key: Any, make: Callable[[], Model | None]) -> Model | None:
        if key not in self._models:
            self._models[key] = make()
        return self._models[key]

    def _vehicle(self, entity: Entity) -> Iterator[Part]:
        spec = entity.spec
        chassis = spec.dynamics.chassis
        body = self._visuals(spec.visuals, spec.where)
        if body is None:
            solid = entity.solids[0]
            key = ("prism", solid.points.tobytes(), solid.z_range, chassis.color)
            body = self._once(
                key, lambda: solids.prism(solid.points, *solid.z_range, Material(chassis.color))
            )
        assert body is not None
        yield Part(body, entity.name, "vehicle", entity.row)
        for k, wheel in enumerate(spec.dynamics.wheels):
            model = self._visuals(wheel.visuals, wheel.where)
            if model is None:
                size = (wheel.radius, wheel.width, Material(wheel.color))
                model = self._once(("wheel", *size), partial(solids.wheel, *size))
            assert model is not None
            yield Part(model, entity.name, "vehicle", entity.row, entity.wheel0 + k)

    def _block(self, spec: BlockSpec) -> Model:
        look = Material(spec.color)
        model = self._visuals(spec.visuals, spec.where)
        if model is None:
            points, z_range = self._outlines.of_block(spec)
            key = ("block", points.tobytes(), z_range, spec.geometry, spec.color)
            model = self._once(key, lambda: _solid(spec, points, z_range, look))
        assert model is not None
        return model

    def _actor(self, entity: Entity) -> Model:
        spec = entity.spec
        model = self._visuals(spec.visuals, spec.where)
        if model is None:
            solid = entity.solids[0]
            key = ("actor", spec.collision_radius, spec.collision_height)
            model = self._once(key, lambda: solids.prism(solid.points, *solid.z_range))
        assert model is not None
        return model

    def _plane(self, spec: HorizontalPlaneSpec) -> Model:
        look = self._look(spec.color, spec.texture, spec.where)
        tile = (spec.texture_size_x, spec.texture_size_y)
        limits = ((spec.x_min, spec.x_max), (spec.y_min, spec.y_max))
        model = self._once(
            ("plane", limits, spec.z, tile, look),
            lambda: solids.rectangle(*limits, spec.z, tile, look),
        )
        assert model is not None
        return model

    def _walls(self, fixture: Entity) -> Model:
        spec = fixture.spec
        look = self._look(spec.color, getattr(spec, "texture", ""), spec.where)
        model = self._once(
            ("walls", spec),
            lambda: join([solids.prism(s.points, *s.z_range, look) for s in fixture.solids]),
        )
        assert model is not None
        return model

    def _grid(self, grid: GridMap) -> Model:
        model = self._once(
            ("grid", id(grid)), lambda: solids.grid_walls(grid, *GRID_WALL, Material(GRID_COLOR))
        )
        assert model is not None
        return model

    def _ground(self, spec: Any, row: Rows, samples: FloatArray) -> Model:
        if not isinstance(spec, ElevationMapSpec):
            place = spec.init_pose[:3]
            plane = self._plane(spec)
            placed = self._once(
                ("placed", id(plane), place), lambda: plane.moved(np.eye(3), place)
            )
            assert placed is not None
            return placed
        color = WHITE if spec.texture_image else spec.mesh_color
        look = self._look(color, spec.texture_image, spec.where)
        heights = samples.reshape(int(row["rows"][0]), int(row["columns"][0]))
        corner = (float(row["x0"][0]), float(row["y0"][0]))
        extent = (spec.texture_extension_x, spec.texture_extension_y)
        model = self._once(
            ("elevation", spec),
            lambda: solids.height_field(
                heights, float(row["step"][0]), corner, extent, look, spec.texture_image_rotate
            ),
        )
        assert model is not None
        return model

    def _look(self, color: Any, texture: str, where: Any) -> Material:
        look, fault = texture_of(tuple(color), texture)
        if fault and self._outlines.first_report(fault):
            self._warn(where, "texture", f"{fault}: a plain colour stands for it")
        return look

    def _visuals(self, visuals: tuple[VisualSpec, ...], where: Any) -> Model | None:
        """Return the models of visuals as one; None if none of them can be read."""
        shown = tuple(v for v in visuals if v.enabled and v.model_uri)
        if not shown:
            return None
        key = ("visuals", *((v.model_uri, v.model_scale, v.pose, v.model_color) for v in shown))
        return self._once(key, lambda: self._read(shown, where))

    def _read(self, visuals: tuple[VisualSpec, ...], where: Any) -> Model | None:
        models = []
        for visual in visuals:
            try:
                model = read_looks(visual.model_uri.removeprefix("file://"), visual.model_color)
            except MeshError as error:
                if self._outlines.first_report(str(error)):
                    self._warn(where, "visual", f"{error}: 3D sensors see its plain shape")
                continue
            if len(model.triangles):
                scaled = visual.model_scale * rotation(visual.pose)
                models.append(model.moved(scaled, visual.pose[:3]))
        return join(models) if models else None


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
