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


def report_overlaps(model: Model, run: Runtime, data: Data, *, loading: bool = False) -> None:
    """Warn of the overlaps of all bodies that were put somewhere since the last call.

    Each pair is reported once. The warnings join those of the world; once it runs they are Python
    warnings too.

    Args:
        model: The compiled world.
        run: It knows which bodies were placed, and forgets it.
        data: The state.
        loading: Whether the world is just being loaded.
    """
    placed, run.placed = run.placed, set()
    found = overlaps(data.bodies, data.movers.ids, data.contacts, model.dt)
    reported = {pair: depth for pair, depth in found.items() if placed & set(pair)}
    if not reported:
        return
    entities = {entity.row: entity for entity in run.entities()}
    for (a, b), depth in reported.items():
        things = [entities[n] if n >= 0 else model.fixtures[-1 - n] for n in (a, b)]
        names = tuple(sorted(thing.name for thing in things))
        if names in run.overlapping:
            continue
        run.overlapping.add(names)
        newest = entities[max(n for n in (a, b) if n in placed)]
        other = next(thing for thing in things if thing is not newest)
        where = getattr(newest.spec, "where", ("", 0))
        text = (
            f"{newest.name!r} was put {depth:.3g} m deep into {other.name!r}:"
            " they are pushed apart"
        )
        problem = Problem.at(where, newest.kind, text, "warning")
        model.assembler.warnings.append(problem)
        if not loading:
            warnings.warn(str(problem), stacklevel=1)
