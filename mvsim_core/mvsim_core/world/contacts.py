# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Contacts by name of the entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mvsim_core.solver.contact_types import Touch
from mvsim_core.state.entities import Fixture


class Contact(NamedTuple):
    """Two bodies or fixtures in contact.

    Args:
        a: Name of the first.
        b: Name of the second.
        point: Contact point (x, y) [m], world frame.
        normal: Unit vector from a to b, world frame.
        impulse: Normal impulse of the last step [N s].
    """

    a: str
    b: str
    point: tuple[float, float]
    normal: tuple[float, float]
    impulse: float


def contacts_of(
    touches: list[Touch], names: Mapping[int, str], fixtures: Sequence[Fixture]
) -> list[Contact]:
    """Return the contacts of the last step, sorted by names.

    Args:
        touches: As the solver reports them.
        names: Name of the entity of each row of BODY.
        fixtures: Fixed parts of the world; number k owns what the solver knows as -1 - k.
    """

    def name(owner: int) -> str:
        return names[owner] if owner >= 0 else fixtures[-1 - owner].name

    return sorted(
        Contact(name(t.a), name(t.b), (t.x, t.y), (t.nx, t.ny), t.impulse) for t in touches
    )
