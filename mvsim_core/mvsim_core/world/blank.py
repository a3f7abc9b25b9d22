# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is looked up once of the copies of a world, so that resets and new places are quick."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mvsim_core.state.arrays import STATIC, IntArray
from mvsim_core.state.entities import Entity
from mvsim_core.state.rows import Bytes
from mvsim_core.world.data import Data


class Blank:
    """What a reset of copies writes, and where.

    Attributes:
        tables: (copies, bytes) of each table as it was replicated; numpy would copy rows field by
            field, and each copy names rows of its own.
        joints: For each joint its row in each copy (copies,), and the row to return to.
        static: (copies, m) shapes of the static bodies, which have places in the solver's grid.
        of_body: For each row of BODY of the base its static shapes, (copies, m).
    """

    def __init__(self, base: Data, copies: Sequence[Any], shapes: list[IntArray]) -> None:
        """Look all up once."""
        self.tables: dict[str, Bytes] = {}
        self.joints: list[tuple[IntArray, Any]] = []
        for name, joint in base.joints.items():
            if joint.joint >= 0:
                rows = np.array([copy.data.joints[name].joint for copy in copies])
                self.joints.append((rows, base.contacts.joints.rows[joint.joint].copy()))
        numbers = np.array(shapes)
        bodies = base.contacts.shapes.rows["body"]
        still = (bodies >= 0) & (base.bodies["kind"][np.maximum(bodies, 0)] == STATIC)
        self.static: IntArray = numbers[:, still]
        self.of_body: list[IntArray] = [
            numbers[:, still & (bodies == row)] for row in range(len(base.bodies))
        ]


class Places:
    """What changes of entities that are put somewhere, in the first copy.

    Attributes:
        rows: Their rows of BODY.
        wheels: Rows of WHEEL of all of them.
        limits: Rows of LIMIT of all of them.
        shapes: (m, copies) their static shapes in each copy.
    """

    def __init__(self, entities: Sequence[Entity], blank: Blank) -> None:
        """Look all up once."""
        self.rows: IntArray = np.array([entity.row for entity in entities], np.int64)
        self.wheels = _ranges((entity.wheel0, entity.n_wheels) for entity in entities)
        self.limits = _ranges((entity.limit0, len(entity.model.limits)) for entity in entities)
        shapes = [blank.of_body[entity.row].T for entity in entities]
        self.shapes: IntArray = np.concatenate(shapes) if shapes else blank.static.T[:0]


def _ranges(blocks: Iterable[tuple[int, int]]) -> IntArray:
    rows = [first + k for first, count in blocks for k in range(count)]
    return np.array(rows, np.int64)
