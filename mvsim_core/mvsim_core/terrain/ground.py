# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The ground of a world, and the heights and attitudes of bodies on it.

Derived from the model and the entities alone, so it can be rebuilt at any time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple, Protocol

import numpy as np

from mvsim_core.geometry.polygons import outline_of
from mvsim_core.solver.contact_types import NO_WALLS, WALL
from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray, Row, Rows, State
from mvsim_core.state.entities import Entity, EntityModel, kinds_of
from mvsim_core.state.rows import bytes_of, zero_rows
from mvsim_core.state.tables import Table, spread
from mvsim_core.terrain.attitude import MAX_CONTACTS
from mvsim_core.terrain.following import SUPPORT, follow_kernel, settle_kernel
from mvsim_core.terrain.nearby import MAX_CROWD, Nearby, crowd_error, levels_of
from mvsim_core.terrain.rates import keep_attitude, rates_kernel
from mvsim_core.terrain.standing import PLACED, stand_together
from mvsim_core.terrain.steps import CLIMBABLE, PROBE, steps_kernel
from mvsim_core.terrain.surface import (
    BUMP,
    FLAT,
    NONE,
    PIECE,
    RAMP,
    Surface,
    join_maps,
    place_kernel,
)

#: Most steps, standing still, in which a vehicle that was put somewhere comes to rest (many where
#: it leans steeply over an edge), and the change that counts as rest [m, rad].
STEPS_AT_REST, SETTLED = 500, 1e-12
#: Fewer wheels than this do not determine an attitude: casters ahead and behind are added.
ENOUGH_SUPPORTS = 3
NO_PROBES: Rows = np.zeros(0, PROBE)
CORNER = np.dtype(("f8", (2,)))
#: Blocks that are put on the ground together, if there are not more other pieces of ground than
#: MOST_KNOWN; fewer are put there one by one.
MANY, MOST_KNOWN = 64, 64
#: Kinds of entities whose supports are kept; a world has few, or no two entities of one.
MOST_STANCES = 64


class GroundState(State, Protocol):
    """The state, and whether it needs the ground."""

    relief: bool


class Ground:
    """Pieces of ground, and the supports of the bodies on it.

    Args:
        maps: Elevation maps, as `map_of` returns them.
    """

    def __init__(self, maps: list[tuple[Rows, FloatArray]]) -> None:
        """Start with the maps alone."""
        self.maps = maps
        self._map_rows, self._samples = join_maps(maps)
        self._pieces = Table(PIECE, {"kind": NONE, "body": -1})
        self._corners = Table(CORNER)
        self._supports = Table(SUPPORT, {"body": -1})
        self._probes = Table(PROBE, {"body": -1})
        self._walls: Rows = NO_WALLS
        self._nearby = Nearby()
        self._floors: set[float] = set()
        self._carried: set[int] = set()  # pieces in the frame of a body
        self._stances: dict[tuple[int, int], tuple[Rows, Rows, EntityModel]] = {}
        # By token: a row of pieces, the first corner and their number; rows of other tables.
        self._tops: dict[int, tuple[int, int, int]] = {}
        self._blocks: dict[int, list[tuple[str, int, int]]] = {}

    # ------------------------------------------------------------ the ground
    @property
    def surface(self) -> Surface:
        """The ground as arrays."""
        return Surface(self._pieces.rows, self._corners.rows, self._map_rows, self._samples)

    def _arrays(self) -> tuple[Rows, FloatArray, Rows, FloatArray]:
        return self._pieces.rows, self._corners.rows, self._map_rows, self._samples

    def add_plane(self, spec: Any) -> None:
        """Add a horizontal plane that does not move."""
        x, y, z = spec.init_pose.x, spec.init_pose.y, spec.init_pose.z
        self._floors.add(z + spec.z)
        piece = _plane(spec, x, y, z)
        piece["body"] = piece["copy"] = -1
        piece["c"], piece["far"] = 1.0, _reach(piece[0])
        self._nearby.add(self._pieces.add(piece), 0.0, 0.0, float(piece["far"][0]))

    def _add_pieces(
        self, entities: Sequence[Entity], kinds: Sequence[IntArray], bodies: Rows
    ) -> IntArray:
        """Add the ground that entities are; return the row of the piece of each, -1: it has none.

        `kinds` are the places of the entities of each kind, which have equal pieces.
        """
        owned: IntArray = np.full(len(entities), -1)
        tops = [(places, _top_of(entities[places[0]])) for places in kinds]
        given = [(places, top) for places, top in tops if top is not None]
        if not given:
            return owned
        order = np.sort(np.concatenate([places for places, _ in given]))
        pieces = zero_rows(len(order), PIECE)
        outlines = [given[0][1].corners] * len(order)
        for places, top in given:
            at = np.searchsorted(order, places)
            bytes_of(pieces)[at] = np.frombuffer(top.piece, np.uint8)
            for place in at.tolist() if len(given) > 1 else ():
                outlines[place] = top.corners
        adding = [entities[place] for place in order.tolist()]
        pieces["body"] = [entity.row for entity in adding]
        corners = self._corners.add_all(outlines)
        pieces["first"] = corners
        place_kernel(pieces, bodies)
        rows = self._pieces.add_singly(pieces)
        owned[order] = rows
        tokens = [entity.token for entity in adding]
        blocks = zip(rows, corners, pieces["corners"].tolist(), strict=True)
        self._tops.update(zip(tokens, blocks, strict=True))
        self._carried.update(rows)
        return owned

    def _enter(self, entity: Entity, row: int, place: tuple[float, float], bodies: Rows) -> None:
        """Let others find the piece of an entity at its place [m]; BuildError in a crowd."""
        crowd = self._nearby.add(row, *place, float(self._pieces.rows["far"][row]))
        self._check_crowd(entity, crowd, place, bodies)

    def _check_crowd(
        self, entity: Entity, crowd: int, place: tuple[float, float], bodies: Rows
    ) -> None:
        # further copies of a replicated world repeat the places of the first one
        if crowd > MAX_CROWD and bodies["copy"][entity.row] == 0:
            raise crowd_error(entity.name, entity.spec.where, place)

    def height(self, x: float, y: float, below: float, copy: int = 0) -> float:
        """Return the highest ground at (x, y) that is not above `below`, as things are now [m].

        Moving pieces of ground are at the poses of their last update. `copy` is the copy of the
        world in which the place is.
        """
        found = [*self._nearby.at(x, y)]
        if not found and not self.maps:
            return 0.0
        pieces = self._pieces.rows[found]
        pieces = pieces[_in_copy(pieces, copy)]
        return Surface(pieces, *self._arrays()[1:]).height(x, y, below)

    def standing_height(
        self, model: EntityModel, pose: tuple[float, float, float], z: float, copy: int = 0
    ) -> float:
        """Return the height on which an entity stands that is put at a place at about z [m].

        It is the height of the ground at its reference point, below the middle of the entity if
        there is any. Where the reference point of a vehicle is over an edge, the ground at about z
        under one of its wheels counts.

        Args:
            model: What is put there.
            pose: x, y [m] and yaw [rad].
            z: Approximate height [m].
            copy: Copy of the world in which it is put there.
        """
        x, y, yaw = pose
        below = z + 0.5 * model.top
        found = self.height(x, y, below, copy)
        if model.kind != "vehicle" or not found < z - float(model.wheels["radius"].max()):
            return found
        c, s = math.cos(yaw), math.sin(yaw)
        for p in self._stance(model)[0]:
            at = x + c * p["x"] - s * p["y"], y + s * p["x"] + c * p["y"]
            under = self.height(*at, below, copy)
            if abs(under - z) <= p["reach"]:
                found = max(found, under)
        return found

    # ------------------------------------------------------------ bodies on it
    def add(self, entities: Iterable[Entity], data: GroundState, *, new: bool = False) -> None:
        """Add entities: the tops of blocks, the supports of vehicles.

        Args:
            entities: Entities that were added, or have joined or left an island. Of islands the
                leaders alone are fitted to the ground.
            data: The state with their rows.
            new: Whether those whose height follows from the ground are put on it, each on those
                before it.
        """
        entities, bodies = list(entities), data.bodies
        if not entities:
            return
        kinds = kinds_of(entities)
        pieces = self._add_pieces(entities, kinds, bodies)
        begin = 0
        for are_blocks, some in groupby(entities, key=_is_block):
            alike = list(some)
            own = pieces[begin : begin + len(alike)]
            if new and are_blocks and len(alike) >= MANY and len(self._nearby) <= MOST_KNOWN:
                self._stand_together(alike, own, bodies)
            else:
                self._stand_singly(alike, own.tolist(), bodies, new=new)
            begin += len(alike)
        fits = np.zeros(len(entities), bool)
        for places in kinds:
            fits[places] = _is_fitted(entities[places[0]].model)
        fits &= bodies["leader"][[entity.row for entity in entities]] < 0
        fitted = [entities[place] for place in np.flatnonzero(fits)]
        stances = [self._stance(entity.model) for entity in fitted]
        if fitted:
            supports, probes = zip(*stances, strict=True)
            self._add_rows(fitted, "supports", self._supports, supports)
            self._add_rows(fitted, "probes", self._probes, probes)

    def _stand_singly(
        self, entities: Sequence[Entity], pieces: Sequence[int], bodies: Rows, *, new: bool
    ) -> None:
        """Put entities on the ground, if they are new, and let others find their pieces."""
        heights, rows = self._pieces.rows["pz"], [entity.row for entity in entities]
        places = zip(*(bodies[k][rows].tolist() for k in ("x", "y", "yaw", "z")), strict=True)
        for entity, piece, (x, y, yaw, z) in zip(entities, pieces, places, strict=True):
            model = entity.model
            if new and model.on_ground:
                copy = int(bodies["copy"][entity.row])
                stands = self.standing_height(model, (x, y, yaw), z, copy)
                if stands != z:
                    bodies["z"][entity.row] = stands
                    if piece >= 0:
                        heights[piece] = stands
            if piece >= 0:
                self._enter(entity, piece, (x, y), bodies)

    def _stand_together(self, blocks: Sequence[Entity], own: IntArray, bodies: Rows) -> None:
        """Do the same for new blocks, when there are few pieces besides theirs."""
        placed = np.zeros(len(blocks), PLACED)
        placed["row"] = [block.row for block in blocks]
        placed["piece"] = own
        placed["half"] = 0.5 * np.array([block.model.top for block in blocks])
        placed["stands"] = [block.model.on_ground for block in blocks]
        found = np.flatnonzero(own >= 0)
        reaches = self._pieces.rows["far"][own[found]]
        placed["size"][found] = 2.0 ** levels_of(reaches)
        known = np.array(list(self._nearby), np.int64)
        stand_together(bodies, placed, self.surface, known)
        rows = placed["row"][found]
        places = np.column_stack((bodies["x"][rows], bodies["y"][rows]))
        crowds = self._nearby.add_all(own[found].tolist(), places, reaches)
        for crowd, block, row in zip(crowds, found.tolist(), range(len(found)), strict=True):
            if crowd > MAX_CROWD:
                self._check_crowd(blocks[block], crowd, tuple(places[row].tolist()), bodies)

    def _add_rows(
        self, entities: Sequence[Entity], name: str, table: Table, blocks: Sequence[Rows]
    ) -> None:
        firsts, counts = table.add_all(blocks), [len(block) for block in blocks]
        bodies = np.repeat([entity.row for entity in entities], counts)
        table.rows["body"][spread(firsts, counts)] = bodies
        for entity, first, count in zip(entities, firsts, counts, strict=True):
            if count:
                self._keep(entity, name, first, count)

    def _stance(self, model: EntityModel) -> tuple[Rows, Rows]:
        """Return the supports and probes of an entity without the rows that they belong to."""
        # Entities of a kind share these two arrays, which are kept so that their ids stay valid.
        key = (id(model.wheels), id(model.solids))
        if key not in self._stances:
            if model.kind == "block":
                stance = (_corners(model), NO_PROBES)
            else:
                stance = (_supports(model), _probes(model))
            if len(self._stances) >= MOST_STANCES:
                del self._stances[next(iter(self._stances))]
            self._stances[key] = (*stance, model)
        return self._stances[key][:2]

    def gives_relief(self, entities: Sequence[Entity], heights: Sequence[float]) -> bool:
        """Return whether the ground is more than one level floor with entities at heights [m].

        Tops of blocks do not count on one level floor: nothing can climb them.
        """
        floors = self._floors or {0.0}
        if entities and (self.maps or len(floors) > 1):
            return True
        for places in kinds_of(entities):
            entity = entities[places[0]]
            if _is_uneven(entity):
                return True
            if entity.model.movable and not {heights[place] for place in places} <= floors:
                return True
        return False

    def remove(self, entity: Entity) -> None:
        """Remove an entity."""
        top = self._tops.pop(entity.token, None)
        if top is not None:
            piece, corner, corners = top
            self._pieces.remove(piece)
            self._nearby.remove(piece)
            self._carried.discard(piece)
            self._corners.remove(corner, corners)
        tables = {"supports": self._supports, "probes": self._probes}
        for name, first, count in self._blocks.pop(entity.token, []):
            tables[name].remove(first, count)

    def refit(self, entity: Entity, data: GroundState) -> None:
        """Adapt an entity to another state: its pose, and whether it is a follower."""
        follower = bool(data.bodies["leader"][entity.row] >= 0)
        if entity.model.movable and follower == self._stands(entity):
            self.remove(entity)
            self.add([entity], data)
        else:
            self.moved(entity, data.bodies)

    def _stands(self, entity: Entity) -> bool:
        """Return whether an entity is fitted to the ground, not carried by a leader."""
        stands = any(name == "supports" for name, *_ in self._blocks.get(entity.token, ()))
        return stands or not entity.model.dynamic

    def moved(self, entity: Entity, bodies: Rows) -> None:
        """Update the pieces of ground of an entity that was moved."""
        if entity.token in self._tops:
            first = self._tops[entity.token][0]
            piece = self._pieces.rows[first : first + 1]
            place_kernel(piece, bodies)
            self._nearby.remove(first)
            px, py, far = (float(piece[k][0]) for k in ("px", "py", "far"))
            self._nearby.add(first, px, py, far)

    def all_moved(self, bodies: Rows) -> None:
        """Update the pieces of ground of all entities, of which few were moved."""
        pieces = self._pieces.rows
        before = pieces[["px", "py"]].copy()
        place_kernel(pieces, bodies)
        for row in np.flatnonzero(before != pieces[["px", "py"]]).tolist():
            self._nearby.remove(row)
            self._nearby.add(row, *(float(pieces[k][row]) for k in ("px", "py", "far")))

    def settle(self, entity: Entity, state: GroundState) -> None:
        """Put an entity on the ground at its place, with the attitude of the ground.

        The height of a vehicle must be that of the ground at its reference point
        (`standing_height`). The next step needs its slopes.
        """
        body = state.bodies[entity.row]
        if state.relief:
            for name, first, count in self._blocks.get(entity.token, ()):
                if name != "supports":
                    continue
                supports = self._supports.rows[first : first + count]
                ground = self._around(body, supports)
                if entity.kind == "vehicle":
                    settle_kernel(body, supports, *ground)
                for _ in range(STEPS_AT_REST):  # at edges these may find another attitude
                    before = body["z"] + body["roll"] + body["pitch"]
                    follow_kernel(state.bodies, supports, *ground, 0.0)
                    if abs(body["z"] + body["roll"] + body["pitch"] - before) < SETTLED:
                        break
        keep_attitude(body)

    def put_down(self, entity: Entity, state: GroundState) -> None:
        """Put an entity on the ground below it: what held it is gone."""
        if state.relief:
            body = state.bodies[entity.row]
            pose = float(body["x"]), float(body["y"]), float(body["yaw"])
            z, copy = float(body["z"]), int(body["copy"])
            body["z"] = self.standing_height(entity.model, pose, z, copy)
            self.settle(entity, state)

    def settle_all(self, entities: Iterable[Entity], state: GroundState) -> None:
        """Put all entities on the ground, after loading."""
        if not state.relief:
            return
        place_kernel(self._pieces.rows, state.bodies)
        for entity in entities:
            self.settle(entity, state)

    def _around(self, body: Row, supports: Rows) -> tuple[Rows, FloatArray, Rows, FloatArray]:
        """Return the ground near a body with these supports."""
        pieces, x, y = self._pieces.rows, body["x"], body["y"]
        reach = float(np.hypot(supports["x"], supports["y"]).max())
        far = pieces["far"] + reach
        near = (np.abs(pieces["px"] - x) <= far) & (np.abs(pieces["py"] - y) <= far)
        near &= _in_copy(pieces, int(body["copy"]))
        return pieces[near], *self._arrays()[1:]

    def carries(self, entity: Entity) -> list[tuple[float, float, float]]:
        """Return x, y and radius [m] of the discs in which an entity is ground for others."""
        if entity.token not in self._tops:
            return []
        piece = self._pieces.rows[self._tops[entity.token][0]]
        return [(float(piece["px"]), float(piece["py"]), float(piece["far"]))]

    def apply(self, state: GroundState, dt: float) -> None:
        """Write z, roll, pitch and slope of what stands on it, and the rates of vehicles."""
        if self._carried:
            place_kernel(self._pieces.rows, state.bodies)
        self._fit(state, dt)
        rates_kernel(state.bodies, state.vehicles, dt)

    def walls(self, state: GroundState) -> Rows:
        """Return rows of WALL for all corners of vehicles at steps too high to climb."""
        probes = self._probes.rows
        if not state.relief or not len(probes):
            return NO_WALLS
        if len(self._walls) < len(probes):
            self._walls = np.zeros(len(probes), WALL)
        count = steps_kernel(state.bodies, probes, self._arrays(), self._walls)
        return self._walls[:count]

    def _fit(self, state: GroundState, dt: float) -> None:
        if len(self._supports):
            follow_kernel(state.bodies, self._supports.rows, *self._arrays(), dt)

    def _keep(self, entity: Entity, table: str, first: int, count: int) -> None:
        self._blocks.setdefault(entity.token, []).append((table, first, count))


def _in_copy(pieces: Rows, copy: int) -> BoolArray:
    """Return which pieces are ground in a copy of the world."""
    found: BoolArray = (pieces["copy"] < 0) | (pieces["copy"] == copy)
    return found


def _is_fitted(model: EntityModel) -> bool:
    """Return whether an entity stands on the ground unless another one carries it."""
    if model.kind == "block":
        return model.dynamic
    return model.kind == "vehicle" and model.movable


def _is_block(entity: Entity) -> bool:
    return entity.model.kind == "block"


def _is_uneven(entity: Entity) -> bool:
    """Return whether an entity is ground that is not level, or moves."""
    geometry = getattr(entity.spec, "geometry", None)
    slopes = geometry is not None and geometry.type in ("ramp", "semi_cylinder_bump")
    return slopes or entity.kind == "plane"


class Top(NamedTuple):
    """The ground that entities of a kind are."""

    piece: bytes  # a row of PIECE without places
    corners: FloatArray  # (n, 2) m, of its outline


def _top_of(entity: Entity) -> Top | None:
    """Return a plane that moves, or the top of a block: a ramp, a bump, or flat; None: none."""
    spec, model = entity.spec, entity.model
    if model.kind not in ("block", "plane"):
        return None
    corners = np.zeros((0, 2))
    if entity.kind == "plane":
        piece = _plane(spec, 0.0, 0.0, 0.0)
    else:
        piece = np.zeros(1, PIECE)
        geometry = spec.geometry
        if geometry is not None and geometry.type in ("ramp", "semi_cylinder_bump"):
            half_x, half_y = 0.5 * geometry.lx, 0.5 * geometry.ly
            shift = half_x if geometry.type == "ramp" else 0.0
            piece["kind"] = RAMP if geometry.type == "ramp" else BUMP
            piece["x0"], piece["x1"] = shift - half_x, shift + half_x
            piece["y0"], piece["y1"] = -half_y, half_y
            piece["rise"] = geometry.lz
        elif not spec.static or (spec.intangible and geometry is None):
            return None  # it moves by forces or is intangible
        else:
            corners = outline_of(model.outline)
            piece["kind"] = FLAT
            piece["x0"], piece["y0"] = corners.min(axis=0)
            piece["x1"], piece["y1"] = corners.max(axis=0)
            piece["rise"] = model.top
    piece["c"], piece["far"], piece["corners"] = 1.0, _reach(piece[0]), len(corners)
    return Top(piece.tobytes(), corners)


def _plane(spec: Any, x: float, y: float, z: float) -> Rows:
    """Return the row of PIECE of a horizontal plane at a place [m]."""
    piece = np.zeros(1, PIECE)
    piece["x0"], piece["x1"] = x + spec.x_min, x + spec.x_max
    piece["y0"], piece["y1"] = y + spec.y_min, y + spec.y_max
    piece["z"] = z + spec.z
    return piece


def _reach(piece: Row) -> float:
    """Return how far from its body's reference point a row of PIECE goes at most [m]."""
    x0, x1, y0, y1 = (abs(float(piece[name])) for name in ("x0", "x1", "y0", "y1"))
    return math.hypot(max(x0, x1), max(y0, y1))


def _corners(model: EntityModel) -> Rows:
    """Return the corners of a block; ground above half of its height is a wall to it."""
    outline = outline_of(model.outline)[:MAX_CONTACTS]
    return np.array([(-1, x, y, 0.5 * model.z_range[1], 1) for x, y in outline], SUPPORT)


def _supports(model: EntityModel) -> Rows:
    """Return the wheels of a vehicle, with casters ahead of and behind a two-wheeled one."""
    wheels = model.wheels
    points = [(w["x"], w["y"], w["radius"]) for w in wheels]
    if len(points) < ENOUGH_SUPPORTS:
        outline = model.outline
        reach = float(wheels["radius"].max())
        points += [(outline[:, 0].max(), 0.0, reach), (outline[:, 0].min(), 0.0, reach)]
    return np.array([(-1, *point, 0) for point in points], SUPPORT)


def _probes(model: EntityModel) -> Rows:
    """Return the corners of a chassis."""
    chassis = model.solids[0]
    limit = CLIMBABLE * 2.0 * float(model.wheels["radius"][0])
    centre = chassis.points.mean(axis=0)
    rows = []
    for corner in chassis.points:
        out = (corner - centre) / np.linalg.norm(corner - centre)
        rows.append((-1, *corner, *out, chassis.z_range[1], limit))
    return np.array(rows, PROBE)
