# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a friction model is: wheel motion, load and torque in; ground force and spin out."""

from __future__ import annotations

from typing import Any, Protocol

from mvsim_core.registry import Registry
from mvsim_core.state.arrays import IntArray, State


class Friction(Protocol):
    """A friction class serves all wheels of a world that use it, in one call a step."""

    def __init__(self, specs: list[Any], ids: IntArray) -> None:
        """Serve the rows `ids` of WHEEL; `specs[k]` holds the parameters of `ids[k]`."""

    def apply(self, state: State, gravity: float, dt: float) -> None:
        """Write WHEEL.fx, fy (vehicle frame) and advance WHEEL.omega by dt.

        It also writes the largest forces that the ground can give, WHEEL.limit_x along and
        limit_y across the grip, and limit_round. A wheel that is held (WHEEL.held) gets its force
        and spin from `friction.hold` and is left alone otherwise. Vehicles on a model that does
        not write limits are not held: their wheels coast.
        """


FRICTION: Registry[Friction] = Registry("friction model", "mvsim.friction")
