# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Entities: things with a body in the world, and the rows of the tables that belong to them.

`EntityModel` is compiled from a spec once and never changes. `Entity` is one of its instances in a
`Data`: a token and row numbers, which stay the same from adding to removing it.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, repeat
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from mvsim_core.state.arrays import (
    BODY,
    DELAY,
    DYNAMIC,
    GAINS,
    LIMIT,
    PID,
    STATIC,
    WHEEL,
    FloatArray,
    IntArray,
    Rows,
)
from mvsim_core.state.rows import bytes_of, zero_rows

NO_TWIST = (0.0, 0.0, 0.0)
#: Where `set_motions` writes in a row of BODY, all of whose fields have 8 bytes; one assignment
#: takes a tenth of the time of one for each field.
_MOTION = [
    BODY.fields[name][1] // 8  # type: ignore[index]
    for name in (
        *("x", "y", "z", "roll", "pitch", "yaw"),
        *("cvx", "cvy", "wz", "wz_before", "vx", "vy"),
    )
]


class Immutable:
    """Base of objects that never change: copies of a state share them."""

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        """Return the object itself."""
        return self


class Inertia(NamedTuple):
    """Mass [kg], centre of mass in the body frame [m], inertia about it [kg m²]."""

    mass: float
    com_x: float
    com_y: float
    about_com: float


@dataclass(frozen=True, slots=True)
class Material:
    """Contact properties of a surface: Coulomb friction [1] and restitution [1]."""

    friction: float
    restitution: float


@dataclass(frozen=True, slots=True)
class Solid(Immutable):
    """A collision shape; it need not be convex.

    Args:
        points: (n, 2) corners of a simple polygon in the body frame, counter-clockwise [m].
        material: Its surface.
        z_range: Lower and upper end above the body's reference point [m].
    """

    points: FloatArray
    material: Material
    z_range: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Boxes(Immutable):
    """Many rectangles of one material and one range of heights.

    Args:
        corners: (n, 4, 2) counter-clockwise, world frame [m].
        material: Their surface.
        z_range: Lower and upper end [m].
    """

    corners: FloatArray
    material: Material
    z_range: tuple[float, float]


@dataclass(frozen=True, eq=False)
class EntityModel(Immutable):
    """What a vehicle, block, actor or moving plane consists of, compiled from its spec.

    Args:
        kind: "vehicle", "block", "actor" or "plane".
        name: Its name in the world.
        spec: Its spec from the world file.
        body: One row of BODY at the start; a height that follows from the ground is not in it.
        inertia: Its own mass properties; a rigid island adds to them.
        solids: Its collision shapes.
        outline: (n, 2) corners of its chassis or of a block, also of an intangible one [m].
        top: Height of its highest point above its reference point [m].
        wheels: Rows of WHEEL.
        vehicle: One row of VEHICLE, or None.
        pids: Rows of PID.
        gains: One row of GAINS for all of them, if there are any.
        limits: At most one row of LIMIT.
        delays: At most one row of DELAY.
        kinematics: Limits of its commands, or None.
        on_ground: Whether its height follows from the ground where it is put.
        stand_in: Whether its shape replaces models that cannot be read.
    """

    kind: str
    name: str
    spec: Any
    body: Rows
    inertia: Inertia
    solids: tuple[Solid, ...] = ()
    outline: FloatArray = field(default_factory=lambda: np.zeros((0, 2)))
    top: float = 0.0
    wheels: Rows = field(default_factory=lambda: np.zeros(0, WHEEL))
    vehicle: Rows | None = None
    pids: Rows = field(default_factory=lambda: np.zeros(0, PID))
    gains: Rows = field(default_factory=lambda: np.zeros(0, GAINS))
    limits: Rows = field(default_factory=lambda: np.zeros(0, LIMIT))
    delays: Rows = field(default_factory=lambda: np.zeros(0, DELAY))
    kinematics: Any = None
    on_ground: bool = False
    stand_in: bool = False

    def __post_init__(self) -> None:
        """Make the rows read-only."""
        drive = (self.wheels, self.vehicle, self.pids, self.gains, self.limits, self.delays)
        for rows in (self.body, *drive):
            if rows is not None:
                rows.flags.writeable = False

    def of(self, spec: Any) -> EntityModel:
        """Return the model of a spec that differs from this one's in name and pose alone."""
        return self.of_all([spec])[0]

    def of_all(self, specs: Sequence[Any]) -> list[EntityModel]:
        """Return the models of specs that differ from this one's in name and pose alone."""
        bodies = np.empty(len(specs), BODY)
        bytes_of(bodies)[:] = bytes_of(self.body)
        numbers = chain.from_iterable([spec.init_pose for spec in specs])
        poses = np.fromiter(numbers, np.float64, 6 * len(specs)).reshape(-1, 6)
        twist = specs[0].init_vel if self.dynamic else NO_TWIST
        set_motions(bodies, poses, np.tile(twist, (len(specs), 1)), self.inertia)
        bodies.flags.writeable = False
        # All else is shared; the constructor would take longer than what it makes.
        shared, new, put = self.__dict__, object.__new__, object.__setattr__
        models = []
        for k, spec in enumerate(specs):
            values = shared.copy()
            values["name"], values["spec"], values["body"] = spec.name, spec, bodies[k : k + 1]
            model = new(EntityModel)
            put(model, "__dict__", values)
            models.append(model)
        return models

    @property
    def movable(self) -> bool:
        """Whether the contact solver moves it when it is in no island."""
        return bool(self.solids) and int(self.body["kind"][0]) != STATIC

    @property
    def dynamic(self) -> bool:
        """Whether forces move it."""
        return bool(self.solids) and int(self.body["kind"][0]) == DYNAMIC

    @cached_property
    def z_range(self) -> tuple[float, float]:
        """Lowest and highest point above its reference point [m]."""
        if not self.solids:
            return (0.0, 0.0)
        return min(s.z_range[0] for s in self.solids), max(s.z_range[1] for s in self.solids)


@dataclass(frozen=True, slots=True, eq=False)
class Entity(Immutable):
    """An instance of a model in the tables of a `Data`.

    Args:
        model: What it consists of.
        token: Unique among all entities of all worlds, so that a handle never reaches another one.
        order: How many entities were added before it since the start.
        row: Its row of BODY.
        vehicle_row: Its row of VEHICLE; -1: it is none.
        wheel0: Its first row of WHEEL.
        pid0: Its first row of PID.
        limit0: Its row of LIMIT, if it has one.
        delay0: Its row of DELAY, if it has one.
    """

    model: EntityModel
    token: int
    order: int
    row: int
    vehicle_row: int = -1
    wheel0: int = 0
    pid0: int = 0
    limit0: int = 0
    delay0: int = 0

    @property
    def name(self) -> str:
        """Its name in the world."""
        return self.model.name

    @property
    def kind(self) -> str:
        """Return "vehicle", "block", "actor" or "plane"."""
        return self.model.kind

    @property
    def spec(self) -> Any:
        """Its spec from the world file."""
        return self.model.spec

    @property
    def n_wheels(self) -> int:
        """Number of its wheels."""
        return len(self.model.wheels)

    @property
    def n_pids(self) -> int:
        """Number of its speed controllers."""
        return len(self.model.pids)


@dataclass(frozen=True, eq=False)
class Fixture(Immutable):
    """A fixed part of the world without a row of its own: walls, planes, grid maps.

    Args:
        name: Its name in the list of contacts.
        spec: Its spec from the world file.
        solids: Collision shapes in the world frame.
        boxes: More of them, of grid maps, which have hundreds of thousands; None: none.
    """

    name: str
    spec: Any
    solids: tuple[Solid, ...]
    boxes: Boxes | None = None


def new_token() -> int:
    """Return a number that no other entity of any process has, for all practical purposes."""
    return secrets.randbits(62)


def new_tokens(count: int) -> list[int]:
    """Return as many numbers of which each is as `new_token` gives them."""
    numbers: list[int] = (np.frombuffer(secrets.token_bytes(8 * count), np.uint64) >> 2).tolist()
    return numbers


def body_row(
    pose: tuple[float, float, float, float, float, float],
    twist: tuple[float, float, float],
    inertia: Inertia,
    kind: int = DYNAMIC,
) -> Rows:
    """Return one row of BODY.

    Args:
        pose: x, y, z [m], roll, pitch, yaw [rad], world frame.
        twist: vx, vy [m/s] of the centre of mass in the body frame, wz [rad/s].
        inertia: Mass properties.
        kind: STATIC, DYNAMIC or KINEMATIC.
    """
    row: Rows = zero_rows(1, BODY)
    set_motion(row, pose, twist, inertia)
    row["mass"], row["com_x"], row["com_y"], row["inertia"] = inertia
    row["plan_xx"] = row["plan_yy"] = 1.0
    row["kind"] = kind
    row["leader"] = -1
    return row


def set_motion(
    row: Rows,
    pose: tuple[float, float, float, float, float, float],
    twist: tuple[float, float, float],
    inertia: Inertia,
) -> None:
    """Give one row of BODY a pose and a velocity; arguments as in `body_row`."""
    set_motions(row, np.array([pose]), np.array([twist]), inertia)


def set_motions(rows: Rows, poses: FloatArray, twists: FloatArray, inertia: Inertia) -> None:
    """Give contiguous rows (n,) of BODY poses (n, 6) and velocities (n, 3), as in `body_row`."""
    vx, vy, wz = twists.T
    c, s = np.cos(poses[:, 5]), np.sin(poses[:, 5])
    motion = np.empty((len(rows), len(_MOTION)))
    motion[:, :6] = poses
    motion[:, 6], motion[:, 7] = c * vx - s * vy, s * vx + c * vy
    motion[:, 8] = motion[:, 9] = wz
    motion[:, 10] = motion[:, 6] + wz * (s * inertia.com_x + c * inertia.com_y)
    motion[:, 11] = motion[:, 7] - wz * (c * inertia.com_x - s * inertia.com_y)
    rows.view(np.float64).reshape(len(rows), -1)[:, _MOTION] = motion


def new_entities(columns: Mapping[str, Iterable[Any]], count: int) -> list[Entity]:
    """Return entities with values for all their fields, one of each column an entity.

    Field by field for all of them, so that the loops are those of the interpreter; the constructor
    takes four times as long.
    """
    entities = list(map(object.__new__, repeat(Entity, count)))
    for field_, values in columns.items():
        deque(map(getattr(Entity, field_).__set__, entities, values), maxlen=0)
    return entities


_WHEELS, _SOLIDS = attrgetter("model.wheels"), attrgetter("model.solids")


def kinds_of(entities: Sequence[Entity]) -> list[IntArray]:
    """Return the places of all entities of each kind, those of one kind together.

    Entities are of a kind if their models are made one from another and have the same solids.
    """
    wheels = list(map(id, map(_WHEELS, entities)))
    solids = list(map(id, map(_SOLIDS, entities)))
    if len(set(wheels)) == len(set(solids)) == 1:
        return [np.arange(len(entities))]
    found: dict[tuple[int, int], list[int]] = {}
    for place, key in enumerate(zip(wheels, solids, strict=True)):
        found.setdefault(key, []).append(place)
    return [np.array(places) for places in found.values()]
