# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What every run measures: the distance that each vehicle drives, and its contacts."""

from __future__ import annotations

from typing import Any

import numpy as np

from mvsim_core.batches.outcome import Cell
from mvsim_core.state.arrays import BODY
from mvsim_core.world.world import World

#: Rows of BODY that are kept until they are evaluated, in bytes and in steps.
MOST_BYTES, MOST_STEPS = 4_000_000, 256
#: A row of BODY as plain bytes: numpy copies structures field by field, in 30 times the time.
BYTES = np.dtype(f"V{BODY.itemsize}")


class Meter:
    """Distance, number of collisions and time in contact of all vehicles of a world.

    Call `begin` once, `record` after each step and `row` at the end. Rows of BODY are copied in
    each step and evaluated together, as single numbers would cost as much as the step.
    """

    def __init__(self, world: World) -> None:
        """Measure the vehicles that are in the world now and all that come later."""
        self._world = world
        self._sums: dict[int, list[float]] = {}  # token -> distance, collisions, steps in contact
        self._key: Any = None
        self._tokens: list[int] = []
        self.follow()

    def follow(self) -> None:
        """Take up vehicles that were added and drop those that were removed."""
        data = self._world.data
        key = id(data), data.added, len(data.entities)
        if key == self._key:
            return
        if self._tokens:
            self._evaluate()
        vehicles = [e for e in data.entities.values() if e.kind == "vehicle"]
        self._key = key
        self._tokens = [entity.token for entity in vehicles]
        self._rows = np.array([entity.row for entity in vehicles], dtype=np.intp)
        size = max(1, len(vehicles)) * data.bodies.dtype.itemsize
        steps = max(1, min(MOST_STEPS, MOST_BYTES // size))
        self._kept = np.zeros((steps + 1, len(vehicles)), data.bodies.dtype)
        self._kept_bytes = self._kept.view(BYTES)
        self._kept[0] = data.bodies[self._rows]
        for k, token in enumerate(self._tokens):
            if token not in self._sums:
                self._sums[token] = [0.0, 0.0, 0.0]
                self._kept["touching"][0, k] = 0
        self._count = 1

    def record(self) -> None:
        """Take note of the state after a step."""
        self._kept_bytes[self._count] = self._world.data.bodies.view(BYTES)[self._rows]
        self._count += 1
        if self._count == len(self._kept):
            self._evaluate()

    def _evaluate(self) -> None:
        kept = self._kept[: self._count]
        way = sum(np.diff(kept[axis], axis=0) ** 2 for axis in ("x", "y", "z"))
        distance = np.sqrt(way).sum(axis=0)
        touching = kept["touching"] != 0
        collisions = (touching[1:] & ~touching[:-1]).sum(axis=0)
        contact = touching[1:].sum(axis=0)
        for k, token in enumerate(self._tokens):
            sums = self._sums[token]
            for part, values in enumerate((distance, collisions, contact)):
                sums[part] += float(values[k])
        self._kept[0] = kept[-1]
        self._count = 1

    def row(self) -> dict[str, Cell]:
        """Return the columns of the table: time, and pose and sums of each vehicle."""
        self.follow()
        self._evaluate()
        world = self._world
        row: dict[str, Cell] = {"time": world.time}
        for name, vehicle in world.vehicles.items():
            distance, collisions, contact = self._sums[world.data.entities[name].token]
            for field, value in vehicle.pose._asdict().items():
                row[f"{name}.{field}"] = value
            row[f"{name}.distance"] = distance
            row[f"{name}.collisions"] = int(collisions)
            row[f"{name}.contact_time"] = contact * world.dt
        return row
