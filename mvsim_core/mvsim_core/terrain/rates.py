# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How fast vehicles rise, roll and pitch: the change of what the terrain gives, step by step."""

from __future__ import annotations

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, Rows, State


@njit(cache=True, nogil=True)
def rates_kernel(bodies: Rows, vehicles: Rows, before: FloatArray, dt: float) -> None:
    """Write rates and accelerations of height, roll and pitch from those `before` the step."""
    for i in range(vehicles.shape[0]):
        b = bodies[vehicles[i].body]
        vz = (b.z - before[i, 0]) / dt
        roll_rate = (b.roll - before[i, 1]) / dt
        pitch_rate = (b.pitch - before[i, 2]) / dt
        b.az_up = (vz - b.vz) / dt
        b.roll_acc = (roll_rate - b.roll_rate) / dt
        b.pitch_acc = (pitch_rate - b.pitch_rate) / dt
        b.vz = vz
        b.roll_rate = roll_rate
        b.pitch_rate = pitch_rate
        before[i, 0], before[i, 1], before[i, 2] = b.z, b.roll, b.pitch


@njit(cache=True, nogil=True)
def note_kernel(bodies: Rows, vehicles: Rows, before: FloatArray) -> None:
    """Take height, roll and pitch as they are for those before the next step."""
    for i in range(vehicles.shape[0]):
        b = bodies[vehicles[i].body]
        before[i, 0], before[i, 1], before[i, 2] = b.z, b.roll, b.pitch


class AttitudeRates:
    """Keeps height, roll and pitch of vehicles (n, 3) from step to step [m, rad]."""

    def __init__(self, state: State) -> None:
        """Begin with the attitudes of a state."""
        self._before = np.zeros((len(state.vehicles), 3))
        self.note(state)

    def note(self, state: State) -> None:
        """Begin anew: what was put somewhere has not moved."""
        note_kernel(state.bodies, state.vehicles, self._before)

    def apply(self, state: State, dt: float) -> None:
        """Write vz, az_up and the rates of roll and pitch of all vehicles."""
        rates_kernel(state.bodies, state.vehicles, self._before, dt)
