# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Refuses what a contact solver cannot bear: hundreds of bodies inside each other."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mvsim_core.assembly.nearby import Nearby
from mvsim_core.errors import BuildError, Problem
from mvsim_core.state.entities import Entity

#: So many things of one size in one place are a mistake: contacts grow by the square of it.
MAX_CROWD = 300


def check_crowds(entities: Iterable[Entity]) -> None:
    """Raise BuildError if hundreds of bodies begin at the same place."""
    nearby = Nearby()
    for i, entity in enumerate(entities):
        if entity.solids:
            body = entity.body[0]
            points = entity.solids[0].points
            reach = float(np.sqrt((points * points).sum(axis=1).max()))
            if nearby.add(i, float(body["x"]), float(body["y"]), reach) > MAX_CROWD:
                raise crowd_error(entity)


def crowd_error(entity: Entity) -> BuildError:
    """Return what is wrong where an entity and too many others begin."""
    x, y = float(entity.body["x"][0]), float(entity.body["y"][0])
    text = (
        f"{entity.name!r} and {MAX_CROWD} others begin at the same place, about ({x:g} {y:g}) [m];"
        " does <init_pose> lack a loop variable, as in $f{2*i}?"
    )
    return BuildError(Problem.at(entity.spec.where, "", text))
