# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is looked up once of the copies of a world, so that resets and new places are quick."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mvsim_core.solver.compiled import kernel
from mvsim_core.state.arrays import BODY, STATIC, BoolArray, FloatArray, IntArray, Rows
from mvsim_core.state.columns import column_of
from mvsim_core.state.entities import Entity
from mvsim_core.state.rows import Bytes
from mvsim_core.state.tables import spread
from mvsim_core.world.base import STILL
from mvsim_core.world.data import Data

#: Columns of BODY, see `numbers_of`, of what is 0 at rest, beside `push_steps`.
STILL_COLUMNS: IntArray = np.array(
    [column_of(BODY, field) for field in STILL if field != "push_steps"], np.int64
)


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
        wheels, limits = [e.n_wheels for e in entities], [len(e.model.limits) for e in entities]
        self.wheels = spread([entity.wheel0 for entity in entities], wheels)
        self.limits = spread([entity.limit0 for entity in entities], limits)
        shapes = [blank.of_body[entity.row].T for entity in entities]
        self.shapes: IntArray = np.concatenate(shapes) if shapes else blank.static.T[:0]


@kernel
def place_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    numbers: FloatArray,
    still: IntArray,
    copies: IntArray,
    rows: IntArray,
    size: int,
    poses: FloatArray,
) -> None:
    """Put bodies of copies somewhere, those that can move at rest.

    Args:
        bodies: BODY, all rows.
        numbers: Of these, see `numbers_of`.
        still: Columns of what is 0 at rest.
        copies: (m,) which.
        rows: (n,) rows in the first copy.
        size: Rows of a copy.
        poses: (m, n, 3) x, y [m] and yaw [rad].
    """
    for i in range(copies.shape[0]):
        for k in range(rows.shape[0]):
            row = size * copies[i] + rows[k]
            body = bodies[row]
            body.x, body.y, body.yaw = poses[i, k, 0], poses[i, k, 1], poses[i, k, 2]
            if body.kind != STATIC:
                body.push_steps = 0
                for column in still:
                    numbers[row, column] = 0.0


@kernel
def keep_kernel(contacts: Rows, shape_copy: IntArray, chosen: BoolArray) -> int:
    """Move the rows of CONTACT to the front of which no shape belongs to a chosen copy.

    Args:
        contacts: (n,) CONTACT.
        shape_copy: For each shape its copy, or -1, which stands for the last of `chosen`.
        chosen: (copies + 1,)

    Returns:
        How many there are.
    """
    count = 0
    for i in range(contacts.shape[0]):
        a, b = contacts[i].shape_a, contacts[i].shape_b
        if not chosen[shape_copy[a]] and not chosen[shape_copy[b]]:
            contacts[count] = contacts[i]
            count += 1
    return count
