# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`Data`: every number that changes while a world runs, and nothing else.

`copy` copies all attributes and shares only `Immutable` objects, so a field that is added later is
part of every snapshot. After MuJoCo's mjData.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import repeat
from typing import Any

import numpy as np

from mvsim_core.errors import BuildError, Problem
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.state.arrays import (
    BODY,
    DELAY,
    FREE,
    GAINS,
    LIMIT,
    PID,
    PIVOT,
    VEHICLE,
    WHEEL,
    IntArray,
    Rows,
)
from mvsim_core.state.entities import (
    Entity,
    EntityModel,
    Immutable,
    new_entities,
    new_tokens,
)
from mvsim_core.state.indices import Indices
from mvsim_core.state.tables import SharedTable, Table, spread

#: Fields of an entity for the rows of a vehicle, and their values for what is none.
VEHICLE_ROWS = ("vehicle_row", "wheel0", "pid0", "limit0", "delay0")
NO_VEHICLE = (-1, 0, 0, 0, 0)

TABLES: dict[str, tuple[np.dtype[Any], dict[str, int]]] = {
    "bodies": (BODY, {"kind": FREE, "leader": -1}),
    "wheels": (WHEEL, {"body": -1}),
    "vehicles": (VEHICLE, {"body": -1}),
    "pids": (PID, {}),
    "gains": (GAINS, {}),
    "limits": (LIMIT, {"vehicle": -1}),
    "delays": (DELAY, {"vehicle": -1}),
    "pivots": (PIVOT, {"a": -1, "b": -1}),
}


@dataclass(frozen=True, slots=True, eq=False)
class JointState(Immutable):
    """A joint as it is in the tables.

    Args:
        spec: Its spec from the world file.
        token: Unique, so that a handle never reaches another joint.
        reference: Yaw of the second body minus that of the first at which angles are zero [rad].
        joint: Its number in the contact solver; -1: its bodies are in one island.
        pivot: Its row of PIVOT; -1: it is not driven.
    """

    spec: Any
    token: int
    reference: float
    joint: int = -1
    pivot: int = -1


class Data:
    """The state of one world.

    Attributes:
        clock: (copies,) steps since the start; one world is one copy.
        seed: Random seed of all sensors.
        bodies: BODY rows, free ones included (kind FREE); these arrays are replaced when they
            grow, so read them from here each time.
        wheels: WHEEL rows, those of a vehicle one after the other; free ones have body -1.
        vehicles: VEHICLE rows; free ones have body -1.
        pids: PID rows.
        gains: GAINS rows, shared by vehicles of the same gains.
        limits: LIMIT rows; free ones have vehicle -1.
        delays: DELAY rows; free ones have vehicle -1.
        pivots: PIVOT rows of the driven pivots; free ones have a = b = -1.
        movers: Rows of BODY that the contact solver moves.
        followers: Rows of BODY that follow the leader of their island.
        contacts: Shapes, joints and contacts of the solver.
        entities: By name, in the order of adding.
        joints: By name.
        joints_of: Names of the joints of each entity that has any.
        relief: Whether the ground was ever more than one level plane.
        welds: Names that each entity is welded to.
        sensors: SensorData by full name.
        added: How many entities were added since the start.
        file: State of the world file for later spawns: classes, variables, random stream.
    """

    bodies: Rows
    wheels: Rows
    vehicles: Rows
    pids: Rows
    gains: Rows
    limits: Rows
    delays: Rows
    pivots: Rows

    def __init__(self, seed: int = 0, file: Any = None) -> None:
        """Start with an empty world at tick 0."""
        self.clock: IntArray = np.zeros(1, np.int64)
        self.seed = seed
        self.file = file
        self.tables = {name: Table(dtype, empty) for name, (dtype, empty) in TABLES.items()}
        self.tables["gains"] = SharedTable(GAINS)
        self.movers = Indices()
        self.followers = Indices()
        self.contacts = ContactData()
        self.entities: dict[str, Entity] = {}
        self.joints: dict[str, JointState] = {}
        self.joints_of: dict[str, tuple[str, ...]] = {}
        self.welds: dict[str, tuple[str, ...]] = {}
        self.sensors: dict[str, Any] = {}
        self.added = 0
        self.relief = False
        self._refresh()

    @property
    def ticks(self) -> int:
        """Steps since the start."""
        return int(self.clock[0])

    # ------------------------------------------------------------ rows
    def insert(self, table: str, rows: Rows) -> int:
        """Copy rows into a table and return where the first one is."""
        return self.insert_all(table, (rows,))[0]

    def insert_all(self, table: str, blocks: Sequence[Rows]) -> list[int]:
        """Copy blocks of rows into a table and return where the first row of each is."""
        firsts = self.tables[table].add_all(blocks)
        setattr(self, table, self.tables[table].rows)
        return firsts

    def delete(self, table: str, first: int, count: int = 1) -> None:
        """Free rows of a table."""
        self.tables[table].remove(first, count)

    def check_names(self, models: Sequence[EntityModel]) -> None:
        """Refuse entities that have names which are used, or given to two of them.

        Raises:
            BuildError: It names the first of them.
        """
        new = {model.name for model in models}
        if len(new) == len(models) and self.entities.keys().isdisjoint(new):
            return
        names = set(self.entities)
        for model in models:
            if model.name in names:
                where = getattr(model.spec, "where", None)
                text = f"there is already something called {model.name!r}"
                raise BuildError(Problem.at(where, "", text) if where else text)
            names.add(model.name)

    def add_rows(self, models: Sequence[EntityModel]) -> list[Entity]:
        """Add the rows of entities; their shapes and sensors are added elsewhere.

        All get the rows that they would get one after the other.
        """
        rows = self.insert_all("bodies", [model.body for model in models])
        bodies = [(row, m) for row, m in zip(rows, models, strict=True) if m.vehicle is not None]
        vehicles = iter(self._add_vehicles(bodies) if bodies else ())
        order = range(self.added, self.added + len(models))
        columns: dict[str, Iterable[Any]] = {
            "model": models,
            "token": new_tokens(len(models)),
            "order": order,
            "row": rows,
        }
        if bodies:
            firsts = [NO_VEHICLE if m.vehicle is None else next(vehicles) for m in models]
            columns |= zip(VEHICLE_ROWS, zip(*firsts, strict=True), strict=True)
        else:
            columns |= zip(VEHICLE_ROWS, map(repeat, NO_VEHICLE), strict=True)
        entities = new_entities(columns, len(models))
        self.added += len(models)
        self.entities.update(zip([model.name for model in models], entities, strict=True))
        return entities

    def _add_vehicles(
        self, bodies: Sequence[tuple[int, EntityModel]]
    ) -> Iterator[tuple[int, int, int, int, int]]:
        """Add the rows of vehicles, given with their rows of BODY.

        Returns:
            For each its row of VEHICLE and its first ones of WHEEL, PID, LIMIT and DELAY.
        """
        rows = [row for row, _ in bodies]
        blocks: dict[str, list[Any]] = {
            "wheels": [model.wheels for _, model in bodies],
            "pids": [model.pids for _, model in bodies],
            "gains": [model.gains for _, model in bodies],
            "vehicles": [model.vehicle for _, model in bodies],
            "limits": [model.limits for _, model in bodies],
            "delays": [model.delays for _, model in bodies],
        }
        firsts = {name: self.insert_all(name, blocks[name]) for name in blocks}
        wheels, pids, own = (np.array(firsts[name]) for name in ("wheels", "pids", "vehicles"))
        vehicles = self.vehicles
        vehicles["body"][own], vehicles["wheel0"][own], vehicles["pid0"][own] = rows, wheels, pids
        vehicles["odo_left"][own] += wheels
        vehicles["odo_right"][own] += wheels
        for name, field, owners in (
            ("wheels", "body", rows),
            ("limits", "vehicle", firsts["vehicles"]),
            ("delays", "vehicle", firsts["vehicles"]),
            ("pids", "gains", firsts["gains"]),
        ):
            counts = [len(block) for block in blocks[name]]
            getattr(self, name)[field][spread(firsts[name], counts)] = np.repeat(owners, counts)
        named = (firsts[name] for name in ("vehicles", "wheels", "pids", "limits", "delays"))
        return zip(*named, strict=True)

    def free_rows(self, entity: Entity) -> None:
        """Free the rows of an entity."""
        del self.entities[entity.name]
        self.delete("bodies", entity.row)
        model = entity.model
        if model.vehicle is not None:
            self.delete("vehicles", entity.vehicle_row)
            self.delete("wheels", entity.wheel0, len(model.wheels))
            if len(model.gains):
                self.delete("gains", int(self.pids["gains"][entity.pid0]))
            self.delete("pids", entity.pid0, len(model.pids))
            self.delete("limits", entity.limit0, len(model.limits))
            self.delete("delays", entity.delay0, len(model.delays))

    # ------------------------------------------------------------ whole state
    def copy(self) -> Data:
        """Return an independent copy of everything."""
        # Entities are immutable: their dict is copied at once and not item by item.
        return copy.deepcopy(self, {id(self.entities): dict(self.entities)})

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes but the views of the tables."""
        return {name: value for name, value in self.__dict__.items() if name not in TABLES}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore all attributes and renew the views."""
        self.__dict__.update(state)
        self._refresh()

    def _refresh(self) -> None:
        for name, table in self.tables.items():
            setattr(self, name, table.rows)

    def __eq__(self, other: object) -> bool:
        """Return whether all numbers are the same to the byte; tokens do not count."""
        return isinstance(other, Data) and not differences(self, other)

    __hash__ = None  # type: ignore[assignment]  # a state is mutable


def differences(a: Any, b: Any, path: str = "data") -> list[str]:
    """Return the paths of all differences between two states, or parts of them.

    Tokens do not count, and models of entities by name only: their numbers are in the tables.
    """
    if a is b:
        return []
    if isinstance(a, EntityModel) and isinstance(b, EntityModel):
        return [] if a.name == b.name else [f"{path}: {a.name} and {b.name}"]
    if type(a) is not type(b):
        return [f"{path}: {type(a).__name__} and {type(b).__name__}"]
    if isinstance(a, Entity | JointState):  # slots, which have a __getstate__ of their own
        return [
            d
            for name in (field.name for field in fields(a) if field.name != "token")
            for d in differences(getattr(a, name), getattr(b, name), f"{path}.{name}")
        ]
    if "__getstate__" in type(a).__dict__:
        return differences(a.__getstate__(), b.__getstate__(), path)
    if isinstance(a, np.ndarray):
        if a.dtype.names and a.shape == b.shape:
            return (
                [
                    f"{path}.{name}[{k}]: {a[name][k]!r} and {b[name][k]!r}"
                    for name in a.dtype.names
                    for k in range(len(a))
                    if a[name][k].tobytes() != b[name][k].tobytes()
                ]
                if a.tobytes() != b.tobytes()
                else []
            )
        same = a.shape == b.shape and a.tobytes() == b.tobytes()
        return [] if same else [f"{path}: {a!r} and {b!r}"]
    parts = dict(_parts(a)), dict(_parts(b))
    if not parts[0] and not parts[1]:
        return [] if a == b or (a != a and b != b) else [f"{path}: {a!r} and {b!r}"]
    if list(parts[0]) != list(parts[1]):
        return [f"{path}: {list(parts[0])} and {list(parts[1])}"]
    return [
        d for key in parts[0] for d in differences(parts[0][key], parts[1][key], f"{path}.{key}")
    ]


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the parts of a value; nothing for plain values."""
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif hasattr(value, "__dict__") or hasattr(value, "__slots__"):
        names = [*getattr(value, "__slots__", ()), *getattr(value, "__dict__", ())]
        yield from ((n, getattr(value, n)) for n in names if n not in ("token", *TABLES))
