# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Current log values of a vehicle, without a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from mvsim_core.recording.columns import (
    PID,
    POSE,
    WHEEL,
    PidHistory,
    PoseHistory,
    WheelHistory,
    filled,
    log_columns,
)
from mvsim_core.state.arrays import FloatArray, Rows, State

if TYPE_CHECKING:
    from mvsim_core.state.entities import Entity


class Source(Protocol):
    """The part of a world that is needed here."""

    @property
    def data(self) -> State:
        """The arrays."""

    @property
    def ticks(self) -> int:
        """Number of steps so far."""

    @property
    def dt(self) -> float:
        """Length of a step [s]."""


class LiveLog:
    """The current row of each table of a vehicle's log.

    Args:
        vehicle: The vehicle.
        world: Its world.

    Attributes:
        columns: Names of the columns of each table: "pose", and "wheel_1" and so on.
    """

    def __init__(self, vehicle: Entity, world: Source) -> None:
        """Compute nothing yet."""
        self._vehicle = vehicle
        self._world = world
        self.columns = log_columns(vehicle)

    def row(self, table: str) -> FloatArray:
        """Return the values of a table's columns, in their order; units as in files."""
        of_table = self._pose() if table == "pose" else self._wheel(int(table[len("wheel_") :]))
        return np.concatenate([[self._world.ticks * self._world.dt], *of_table])

    def _pose(self) -> list[FloatArray]:
        state, vehicle = self._world.data, self._vehicle
        history = PoseHistory(
            _Current(state.bodies, vehicle.row), _Current(state.vehicles, vehicle.vehicle_row)
        )
        return [filled(tuple(POSE), POSE, history).ravel()]

    def _wheel(self, number: int) -> list[FloatArray]:
        wheels, vehicle = self._world.data.wheels, self._vehicle
        columns = self.columns[f"wheel_{number}"][1:]
        own = tuple(name for name in columns if name in WHEEL)
        history = WheelHistory(_Current(wheels, vehicle.wheel0 + number - 1), self._world.dt)
        values = [filled(own, WHEEL, history).ravel()]
        if len(own) < len(columns):
            values.append(self._pids())
        return values

    def _pids(self) -> FloatArray:
        state, vehicle = self._world.data, self._vehicle
        first = vehicle.wheel0 + int(state.vehicles["driven0"][vehicle.vehicle_row])
        torques = _Current(state.wheels, first, 2)["torque"]
        history = PidHistory(_Current(state.pids, vehicle.pid0, 2), torques)
        return filled(tuple(PID), PID, history).ravel()


class _Current(dict[str, FloatArray]):
    """Fields of some rows as histories of one step, (rows, 1); gathered on first use."""

    def __init__(self, array: Rows, first: int, count: int = 1) -> None:
        super().__init__()
        self._rows = array[first : first + count]

    def __missing__(self, name: str) -> FloatArray:
        field = self[name] = self._rows[name].reshape(-1, 1)
        return field
