# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From specs of ground to a surface, and from vehicles to their supports."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from mvsim_core.assembly.crowds import MAX_CROWD, crowd_error
from mvsim_core.assembly.nearby import Nearby
from mvsim_core.geometry.polygons import outline_of
from mvsim_core.solver.box2d import Box2dSolver
from mvsim_core.specs.block import BlockSpec
from mvsim_core.specs.element import HorizontalPlaneSpec
from mvsim_core.state.arrays import DYNAMIC, FloatArray, Row, Rows
from mvsim_core.state.entities import Entity
from mvsim_core.terrain.following import SUPPORT, Terrain
from mvsim_core.terrain.steps import AHEAD, CLIMBABLE, PROBE, Steps
from mvsim_core.terrain.surface import BUMP, FLAT, PIECE, RAMP, Surface, join_maps

#: Fewer wheels than this do not fix an attitude: casters ahead and behind help.
ENOUGH_SUPPORTS = 3

Piece = tuple[Rows, FloatArray, Entity | None]


class _Places:
    """Pieces as rows where their bodies are now, and an index of them by place."""

    def __init__(self, maps: tuple[Rows, FloatArray]) -> None:
        self.maps = maps
        self.nearby = Nearby()
        self.count = 0
        self.rows = np.zeros(16, PIECE)
        self.corners = np.zeros((64, 2))
        self._used = 0

    def add(self, piece: Piece) -> None:
        """Add one more; BuildError if there are too many at its place."""
        row, outline, owner = piece
        if self.count == len(self.rows):
            self.rows = np.concatenate([self.rows, np.zeros_like(self.rows)])
        end = self._used + len(outline)
        while end > len(self.corners):
            self.corners = np.concatenate([self.corners, np.zeros_like(self.corners)])
        self.corners[self._used : end] = outline
        self.rows[self.count] = row[0]
        place = self.rows[self.count]
        place["first"], place["corners"], place["body"] = self._used, len(outline), -1
        place["far"], place["c"] = _reach(row[0]), 1.0
        if owner is not None:
            body = owner.body[0]
            place["px"], place["py"], place["pz"] = body["x"], body["y"], body["z"]
            place["c"], place["s"] = math.cos(body["yaw"]), math.sin(body["yaw"])
        reach = float(place["far"])
        crowd = self.nearby.add(self.count, float(place["px"]), float(place["py"]), reach)
        if crowd > MAX_CROWD and owner is not None:
            raise crowd_error(owner)
        self.count += 1
        self._used = end


@dataclass
class Ground:
    """All ground of a world, before rows of bodies are known.

    Args:
        maps: Elevation maps, as `map_of` returns them.
        pieces: Pieces of ground: a row of PIECE, its outline, and the entity whose frame it is in.
    """

    maps: list[tuple[Rows, FloatArray]] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    _placed: _Places | None = None

    def add_plane(self, spec: HorizontalPlaneSpec, entity: Entity | None) -> None:
        """Add a horizontal plane; `entity` is its body if it moves."""
        piece = np.zeros(1, PIECE)
        x = y = z = 0.0
        if entity is None:
            x, y, z = spec.init_pose.x, spec.init_pose.y, spec.init_pose.z
        piece["x0"], piece["x1"] = x + spec.x_min, x + spec.x_max
        piece["y0"], piece["y1"] = y + spec.y_min, y + spec.y_max
        piece["z"] = z + spec.z
        self.pieces.append((piece, np.zeros((0, 2)), entity))

    def add_block(self, entity: Entity, outline: FloatArray, top: float) -> None:
        """Add the top of a block: a ramp or bump if its geometry is one, else flat."""
        spec: BlockSpec = entity.spec
        piece = np.zeros(1, PIECE)
        corners = np.zeros((0, 2))
        geometry = spec.geometry
        if geometry is not None and geometry.type in ("ramp", "semi_cylinder_bump"):
            half_x, half_y = 0.5 * geometry.lx, 0.5 * geometry.ly
            shift = half_x if geometry.type == "ramp" else 0.0
            piece["kind"] = RAMP if geometry.type == "ramp" else BUMP
            piece["x0"], piece["x1"] = shift - half_x, shift + half_x
            piece["y0"], piece["y1"] = -half_y, half_y
            piece["rise"] = geometry.lz
        elif not spec.static or (spec.intangible and geometry is None):
            return  # it moves itself, or is mere decoration
        else:
            corners = outline_of(outline)
            piece["kind"] = FLAT
            piece["x0"], piece["y0"] = corners.min(axis=0)
            piece["x1"], piece["y1"] = corners.max(axis=0)
            piece["rise"] = top
        self.pieces.append((piece, corners, entity))

    def height(self, x: float, y: float, below: float) -> float:
        """Return the highest ground at (x, y) that is not above `below`, as things are now [m]."""
        places = self._places()
        found = [*places.nearby.at(x, y)]
        if not found and not self.maps:
            return 0.0
        return Surface(places.rows[found], places.corners, *places.maps).height(x, y, below)

    def forget_places(self) -> None:
        """Look anew where the pieces are: their bodies may have moved."""
        self._placed = None

    def _places(self) -> _Places:
        """Return where the pieces are.

        Raises:
            BuildError: There are so many at one place that finding the ground would take forever.
        """
        if self._placed is None:
            self._placed = _Places(join_maps(self.maps))
        for piece in self.pieces[self._placed.count :]:
            self._placed.add(piece)
        return self._placed

    def _surface(self, chosen: list[Piece], row_of: Callable[[Entity], int]) -> Surface:
        rows, outlines, first = [], [], 0
        for piece, corners, entity in chosen:
            row = piece.copy()
            row["body"] = -1 if entity is None else row_of(entity)
            row["c"] = 1.0
            row["far"] = _reach(piece[0])
            row["first"], row["corners"] = first, len(corners)
            first += len(corners)
            rows.append(row)
            outlines.append(corners)
        pieces = np.concatenate(rows) if rows else np.zeros(0, PIECE)
        points = np.concatenate(outlines) if outlines else np.zeros((0, 2))
        return Surface(pieces, points, *join_maps(self.maps))

    def terrain(self, entities: list[Entity], solver: Box2dSolver) -> list[Terrain | Steps]:
        """Return the systems that keep entities on the ground; none where it is level."""
        if self._level(entities):
            return []
        surface = self._surface(self.pieces, lambda e: e.row)
        blocks = [e for e in entities if isinstance(e.spec, BlockSpec) and _movable(e)]
        vehicles = [e for e in entities if e.vehicle is not None and e.leader is None]
        movers = [e for e in entities if e.moves]
        following = Terrain(
            surface,
            _supports(vehicles),
            np.array([e.row for e in blocks], dtype=np.int64),
            np.array([0.5 * e.z_range[1] for e in blocks]),
        )
        rows = np.array([e.row for e in movers], dtype=np.int64)
        return [
            following,
            Steps(surface, _probes(vehicles), solver, rows, [e.key for e in movers]),
        ]

    def _level(self, entities: list[Entity]) -> bool:
        """Tell whether everything stands on one level floor and cannot leave it.

        Tops of blocks do not count then: nothing can climb them.
        """
        if self.maps or any(e is not None and _lifts(p, e) for p, _, e in self.pieces):
            return False
        floors = {float(p["z"][0]) for p, _, e in self.pieces if e is None} or {0.0}
        return len(floors | {float(e.body["z"][0]) for e in entities if e.moves}) == 1


def _reach(piece: Row) -> float:
    """Return how far from its body's reference point a row of PIECE goes at most [m]."""
    x0, x1, y0, y1 = (abs(float(piece[name])) for name in ("x0", "x1", "y0", "y1"))
    return math.hypot(max(x0, x1), max(y0, y1))


def _lifts(piece: Rows, owner: Entity) -> bool:
    """Tell whether a piece of ground can raise a vehicle that comes along on the floor."""
    return int(piece["kind"][0]) != FLAT or isinstance(owner.spec, HorizontalPlaneSpec)


def _movable(entity: Entity) -> bool:
    return int(entity.body["kind"][0]) == DYNAMIC and entity.key >= 0


def _supports(vehicles: list[Entity]) -> Rows:
    """Return the wheels of all vehicles, with casters ahead of and behind two-wheeled ones."""
    rows = []
    for entity in vehicles:
        wheels = entity.wheels
        points = [(w["x"], w["y"], w["radius"]) for w in wheels]
        if len(points) < ENOUGH_SUPPORTS:
            outline = entity.solids[0].points
            reach = float(wheels["radius"].max())
            points += [(outline[:, 0].max(), 0.0, reach), (outline[:, 0].min(), 0.0, reach)]
        rows += [(entity.vehicle_row, *point) for point in points]
    return np.array(rows, SUPPORT)


def _probes(vehicles: list[Entity]) -> Rows:
    """Return a probe just outside each corner of each chassis."""
    rows = []
    for entity in vehicles:
        chassis = entity.solids[0]
        limit = CLIMBABLE * 2.0 * float(entity.wheels["radius"][0])
        centre = chassis.points.mean(axis=0)
        for corner in chassis.points:
            out = (corner - centre) / np.linalg.norm(corner - centre)
            x, y = corner + AHEAD * out
            rows.append((entity.row, x, y, chassis.z_range[1], limit, -1))
    return np.array(rows, PROBE)
