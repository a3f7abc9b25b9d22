# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loads the kernels of steps before there is a step that needs them.

A kernel is read from the cache, or compiled, when it is first called: 15 ms, or seconds. So a
world calls this at its load, before a vehicle is added, and when a state with other entities is
restored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import Any

from mvsim_core.errors import StepError
from mvsim_core.friction import FRICTION
from mvsim_core.solver import solve
from mvsim_core.state.entities import EntityModel
from mvsim_core.world import islands
from mvsim_core.world.data import Data
from mvsim_core.world.model import Model
from mvsim_core.world.profile import Profile
from mvsim_core.world.runtime import Runtime, controller_of
from mvsim_core.world.step import PHASES, step_physics
from mvsim_core.world.ticks import Ticks

_WHEELS = attrgetter("wheels")
#: Kinds of entities for which this process has loaded all kernels.
_loaded: set[Hashable] = set()


def load_kernels(model: Model, entities: Iterable[EntityModel]) -> None:
    """Load or compile the kernels that steps of a world with such entities call.

    One entity of each new kind makes steps in a world of its own, on level and on other ground.

    Args:
        model: The compiled world.
        entities: Entities that join it.
    """
    given = list(entities)
    alike = dict(zip(map(id, map(_WHEELS, given)), given, strict=True)).values()
    kinds = {_kind(model, entity): entity for entity in alike}
    new = {kind: entity for kind, entity in kinds.items() if kind not in _loaded}
    if not new and _loaded:
        return
    solve.warm()
    bare: Any = _NothingElse()
    empty = replace(model, entities=(), fixtures=(), grids=(), maps=(), planes=(), assembler=bare)
    data, run = Data(), Runtime(empty)
    present = data.add_rows([_renamed(entity, i) for i, entity in enumerate(new.values())])
    run.add(present, data, new=True)
    islands.add_to_solver(data, present)
    for animation in run.animations.values():
        animation.begin(data)
    run.grips.warm(data)
    for relief in (False, True):
        data.relief = relief
        with suppress(StepError):  # the world will raise it too, in its first step
            step_physics(empty, run, data, 0, Profile(PHASES))
    data.relief = False
    Ticks().warm(empty, run, data)
    _loaded.update(new or {None: None})


def _kind(model: Model, entity: EntityModel) -> Hashable:
    """Return what the kernels of steps depend on."""
    regions = len(model.regions) > 0
    if entity.vehicle is None:
        return regions, entity.kind
    spec = entity.spec
    delayed = len(entity.delays) > 0
    return regions, controller_of(spec), FRICTION.get(spec.friction.kind), delayed


def _renamed(entity: EntityModel, number: int) -> EntityModel:
    """Return an entity under another name, as those of two kinds may have the same."""
    other = object.__new__(EntityModel)
    other.__dict__.update(entity.__dict__, name=str(number))
    return other


class _NothingElse:
    """The assembler of a world without sensors and pictures."""

    def sensors(self, *_: Any) -> list[Any]:
        """Return no sensors."""
        return []

    def parts(self, *_: Any) -> tuple[()]:
        """Return nothing to see."""
        return ()

    def show_fixed(self, *_: Any) -> None:
        """Show nothing."""
