# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rates of height, roll and pitch of vehicles, from their change over a step."""

from __future__ import annotations

from numba import njit

from mvsim_core.state.arrays import Row, Rows


@njit(cache=True, nogil=True)
def rates_kernel(bodies: Rows, vehicles: Rows, dt: float) -> None:
    """Write rates and accelerations of height, roll and pitch over the last step."""
    for i in range(vehicles.shape[0]):
        if vehicles[i].body < 0:
            continue
        b = bodies[vehicles[i].body]
        vz = (b.z - b.z_before) / dt
        roll_rate = (b.roll - b.roll_before) / dt
        pitch_rate = (b.pitch - b.pitch_before) / dt
        b.az_up = (vz - b.vz) / dt
        b.roll_acc = (roll_rate - b.roll_rate) / dt
        b.pitch_acc = (pitch_rate - b.pitch_rate) / dt
        b.vz = vz
        b.roll_rate = roll_rate
        b.pitch_rate = pitch_rate
        keep_attitude(b)


@njit(cache=True, nogil=True)
def keep_attitude(b: Row) -> None:
    """Store height, roll and pitch as those before the next step."""
    b.z_before = b.z
    b.roll_before = b.roll
    b.pitch_before = b.pitch
