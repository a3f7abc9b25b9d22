# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rows and shapes of the copies of a world: which are whose, and how they refer to each other."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from mvsim_core.solver.contact_data import ContactData
from mvsim_core.state.arrays import IntArray, Rows
from mvsim_core.state.entities import Entity, Material, new_token
from mvsim_core.world.data import TABLES, Data

#: Fields that hold row numbers: table -> field -> table that they refer to. Values < 0 refer to
#: nothing.
REFERENCES = {
    "bodies": {"leader": "bodies"},
    "wheels": {"body": "bodies"},
    "vehicles": {
        "body": "bodies",
        "wheel0": "wheels",
        "pid0": "pids",
        "odo_left": "wheels",
        "odo_right": "wheels",
    },
    "limits": {"vehicle": "vehicles"},
    "delays": {"vehicle": "vehicles"},
    "pivots": {"a": "bodies", "b": "bodies"},
}
#: Tables of which each copy has rows of its own; parameters are shared.
OWN = tuple(name for name in TABLES if name != "gains")


def entity_of(entity: Entity, sizes: dict[str, int], index: int) -> Entity:
    """Return the entity of a copy that corresponds to one of the base."""
    vehicle = entity.vehicle_row >= 0
    return replace(
        entity,
        token=new_token(),
        row=entity.row + index * sizes["bodies"],
        vehicle_row=entity.vehicle_row + index * sizes["vehicles"] if vehicle else -1,
        wheel0=entity.wheel0 + index * sizes["wheels"],
        pid0=entity.pid0 + index * sizes["pids"],
        limit0=entity.limit0 + index * sizes["limits"],
        delay0=entity.delay0 + index * sizes["delays"],
    )


def shift_rows(table: str, rows: Rows, sizes: dict[str, int], copies: int) -> None:
    """Shift the row references of a table to another copy."""
    for field, target in REFERENCES.get(table, {}).items():
        rows[field] += np.where(rows[field] >= 0, copies * sizes[target], 0)


def layout_of(data: Data) -> tuple[Any, ...]:
    """Return which entities there are, where their rows are, and how they are joined."""
    entities = [(e.name, e.row, e.vehicle_row, e.wheel0) for e in data.entities.values()]
    welds = sorted((name, tuple(sorted(others))) for name, others in data.welds.items())
    joined = [(name, joint.joint >= 0, joint.pivot) for name, joint in data.joints.items()]
    shapes = data.contacts.shapes.rows["body"]
    return entities, joined, welds, shapes.tobytes(), data.gains.tobytes()


def replicated(base: Data, count: int) -> Data:
    """Return tables that hold `count` copies of the rows of a state, and no contacts."""
    data = Data(base.seed, base.file)
    data.clock = np.repeat(base.clock, count)
    data.relief = base.relief
    sizes = {name: len(getattr(base, name)) for name in OWN}
    data.tables["gains"] = deepcopy(base.tables["gains"])
    data._refresh()
    for name in OWN:
        copies = []
        for k in range(count):
            rows = getattr(base, name).copy()
            shift_rows(name, rows, sizes, k)
            copies.append(rows)
        data.insert(name, np.concatenate(copies))
    data.bodies["copy"] = np.repeat(np.arange(count), sizes["bodies"])
    for source, target in ((base.movers, data.movers), (base.followers, data.followers)):
        shifts = sizes["bodies"] * np.arange(count)[:, None]
        target.__setstate__((source.ids + shifts).ravel())
    return data


def replicate_shapes(base: Data, contacts: ContactData, count: int) -> list[IntArray]:
    """Enter the shapes of all copies; return for each the new numbers of the base's shapes."""
    shapes, vertices = base.contacts.shapes.rows, base.contacts.vertices.rows
    size = len(base.bodies)
    fixed = np.full(len(shapes), -1, np.int64)

    def enter(number: int, k: int) -> int:
        s = shapes[number]
        corners = vertices[s["vertex"] : s["vertex"] + s["count"]]
        points = np.column_stack((corners["x"] + s["x"], corners["y"] + s["y"]))
        body, owner = int(s["body"]), int(s["owner"])
        if body >= 0:
            body, owner = body + k * size, owner + k * size
        material = Material(float(s["friction"]), float(s["restitution"]))
        return contacts.add_shape(body, owner, points, material, (s["zmin"], s["zmax"]))

    for number in np.flatnonzero(shapes["body"] == -1):
        fixed[number] = enter(int(number), 0)
    result = []
    for k in range(count):
        numbers = fixed.copy()
        for number in np.flatnonzero(shapes["body"] >= 0):
            numbers[number] = enter(int(number), k)
        result.append(numbers)
    return result
