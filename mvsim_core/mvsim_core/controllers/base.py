# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The interface of controllers: from targets of vehicles to wheel torques and steering."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, Protocol

from mvsim_core.registry import Registry
from mvsim_core.state.arrays import BoolArray, IntArray, State
from mvsim_core.state.indices import Indices


class Controller(Protocol):
    """A controller class serves all vehicles of a world that use it, in one call a step.

    A class that also has `add(spec, ids)` and `remove(ids)` adds and removes vehicles while
    the world runs, at a cost that does not depend on the others. Without them the system is
    rebuilt. One that also has `part(chosen)` is called for some vehicles at a time in large
    worlds.
    """

    #: Kinds of command that it accepts: "twist", "ackermann", "torque".
    accepts: ClassVar[frozenset[str]]
    #: True when the body is driven kinematically and wheel forces do not act on it.
    ideal: ClassVar[bool]

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of VEHICLE; `specs[k]` holds the parameters of `ids[k]`."""

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.torque, WHEEL.yaw and VEHICLE.steer of its vehicles."""


CONTROLLERS: Registry[Controller] = Registry("controller", "mvsim.controllers")


def controller_class(dynamics: str, controller: str) -> type[Controller]:
    """Return the class of a controller: the one of this dynamics class, or the general one.

    Raises:
        UnknownName: There is none of that name.
    """
    own = f"{dynamics}/{controller}"
    return CONTROLLERS.get(own if own in CONTROLLERS else controller)


class IdController:
    """Base of the built-in controllers: a kernel, and the rows that it serves.

    Their parameters are in GAINS, written by the assembly. `World.run` calls the kernel itself.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"twist"})
    ideal: ClassVar[bool] = False
    #: (vehicles, wheels, pids, gains, bodies, ids, gravity, dt): targets to torques and steering.
    kernel: ClassVar[Callable[..., None]]

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of VEHICLE."""
        self._rows = Indices()
        self.add(None, map(int, ids))

    @property
    def ids(self) -> IntArray:
        """Rows of VEHICLE that it serves."""
        return self._rows.ids

    def add(self, spec: Any, ids: Iterable[int]) -> None:
        """Serve more rows of VEHICLE."""
        for row in ids:
            self._rows.add(row)

    def remove(self, ids: Iterable[int]) -> None:
        """Stop serving some rows."""
        for row in ids:
            self._rows.discard(row)

    def part(self, chosen: BoolArray) -> IdController:
        """Return the same system for those of its rows that are true in (vehicles,) `chosen`."""
        other = copy.copy(self)
        other._rows = self._rows.part(chosen)
        return other

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Turn targets and odometry into steering angles and wheel torques."""
        rows = state.vehicles, state.wheels, state.pids, state.gains, state.bodies
        self.kernel(*rows, self.ids, gravity, dt)
