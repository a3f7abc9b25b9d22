# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Warnings about bodies that are put into each other."""

from __future__ import annotations

import warnings

from mvsim_core.errors import Problem
from mvsim_core.solver.overlaps import overlaps
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.runtime import Runtime

#: Most pairs that are named at a time, and most warnings that a world keeps for that.
MOST_REPORTED, MOST_KEPT = 20, 1000


def report_overlaps(model: Model, run: Runtime, data: Data, *, loading: bool = False) -> None:
    """Warn of the overlaps of all bodies that were put somewhere since the last call.

    Each pair is reported once, until it is found apart. The warnings join those of the world; once
    it runs they are Python warnings too.

    Args:
        model: The compiled world.
        run: It knows which bodies were placed, and forgets it.
        data: The state.
        loading: Whether the world is just being loaded.
    """
    placed, run.placed = run.placed, set()
    found = overlaps(data.bodies, data.movers.ids, data.contacts, model.dt)
    if not found:
        run.overlapping = set()
        return
    entities = {entity.row: entity for entity in run.entities()}
    problems = []
    known, run.overlapping = run.overlapping, set()
    for (a, b), depth in found.items():
        first, second = (entities[n] if n >= 0 else model.fixtures[-1 - n] for n in (a, b))
        names = frozenset((first.name, second.name))
        if names not in known and not {a, b} & placed:
            continue
        run.overlapping.add(names)
        if names in known:
            continue
        newest = entities[max({a, b} & placed)]
        other = first if newest is second else second
        text = (
            f"{newest.name!r} was put {depth:.3g} m deep into {other.name!r}:"
            " they are pushed apart"
        )
        where = getattr(newest.spec, "where", ("", 0))
        problems.append(Problem.at(where, newest.kind, text, "warning"))
    if len(problems) > MOST_REPORTED:
        text = (
            f"and {len(problems) - MOST_REPORTED} other pairs of bodies were put into each other"
        )
        last = Problem(file=problems[0].file, line=0, element="", message=text, severity="warning")
        problems[MOST_REPORTED:] = [last]
    if len(model.assembler.warnings) < MOST_KEPT:
        model.assembler.warnings += problems
    if not loading:
        for problem in problems:
            warnings.warn(str(problem), stacklevel=1)
