# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Contacts as people ask for them: by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from mvsim_core.solver.base import Touch
from mvsim_core.state.arrays import State

if TYPE_CHECKING:
    from mvsim_core.state.entities import Entity


class Contact(NamedTuple):
    """Two things that touch.

    Args:
        a: Name of the first.
        b: Name of the second.
        point: Where contact began (x, y) [m], world frame.
        normal: Unit vector from a to b, world frame.
        impulse: What the contact gave along the normal in the last step [N s]; where a body has
            several contacts it is the sum of theirs.
    """

    a: str
    b: str
    point: tuple[float, float]
    normal: tuple[float, float]
    impulse: float


def contacts_of(touches: list[Touch], known: dict[int, Entity], state: State) -> list[Contact]:
    """Return the contacts of the last step, sorted by names."""
    found = []
    for touch in touches:
        a, b = known[touch.a], known[touch.b]
        impulse = 0.0
        for entity in (a, b):
            if entity.moves:
                row = state.bodies[entity.row]
                along = float(row["impulse_x"]) * touch.nx + float(row["impulse_y"]) * touch.ny
                impulse = max(impulse, abs(along))
        found.append(Contact(a.name, b.name, (touch.x, touch.y), (touch.nx, touch.ny), impulse))
    return sorted(found)
