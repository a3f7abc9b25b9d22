# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a friction model is: wheel motion, load and torque in; ground force and spin out."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from itertools import groupby
from typing import Any, ClassVar, Protocol

import numpy as np

from mvsim_core.registry import Registry
from mvsim_core.state.arrays import BoolArray, IntArray, State
from mvsim_core.state.indices import ParameterTable


class Friction(Protocol):
    """A friction class serves all wheels of a world that use it, in one call a step.

    A class that also has `add(spec, ids)` and `remove(ids)` takes wheels in and out while the
    world runs at a cost that does not depend on the others; one without them is rebuilt then. One
    that also has `part(chosen)` is called for some wheels at a time in large worlds.
    """

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of WHEEL; `specs[k]` holds the parameters of `ids[k]`."""

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.fx, fy (vehicle frame) and advance WHEEL.omega by dt.

        It also writes the largest forces that the ground can give, WHEEL.limit_x along and
        limit_y across the grip, and limit_round. A wheel that is held (WHEEL.held) gets its force
        and spin from `friction.hold` and is left alone otherwise. Vehicles on a model that does
        not write limits are not held: their wheels coast.
        """


class TableFriction(ABC):
    """The common part of friction models whose parameters are rows of one dtype.

    `World.run` calls the kernel itself.
    """

    #: The parameters of a wheel.
    PARAMS: ClassVar[np.dtype[Any]]
    #: (bodies, wheels, params, ids, dt): writes WHEEL.fx, fy and advances WHEEL.omega.
    kernel: ClassVar[Callable[..., None]]

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of WHEEL; `specs[k]` holds the parameters of `ids[k]`."""
        self.table = ParameterTable(self.PARAMS)
        for _, group in groupby(zip(specs, ids.tolist(), strict=True), lambda one: id(one[0])):
            alike = list(group)
            self.add(alike[0][0], [index for _, index in alike])

    @abstractmethod
    def parameters(self, spec: Any) -> dict[str, float]:
        """Return the fields of PARAMS of a spec."""

    def add(self, spec: Any, ids: Iterable[int]) -> None:
        """Serve more rows of WHEEL, which share a spec."""
        row = np.zeros(1, self.PARAMS)
        for name, value in self.parameters(spec).items():
            row[name] = value
        self.table.add_with(ids, row[0])

    def remove(self, ids: Iterable[int]) -> None:
        """Serve some rows no longer."""
        for index in ids:
            self.table.discard(index)

    def part(self, chosen: BoolArray) -> TableFriction:
        """Return the same system for those of its rows that are true in (wheels,) `chosen`."""
        other = copy.copy(self)
        other.table = self.table.part(chosen)
        return other

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.fx, fy and advance WHEEL.omega."""
        self.kernel(state.bodies, state.wheels, self.table.params, self.table.ids, dt)


FRICTION: Registry[Friction] = Registry("friction model", "mvsim.friction")
