# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command latency: set points act some whole steps after they were given.

Set points that change are kept in a ring of QUEUE_SLOTS in VEHICLE until they are due. If more
than that are on their way, the newest ones merge: the last of them acts when the first was due.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import QUEUE_SLOTS, Row, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def latency_kernel(vehicles: Rows, dt: float) -> None:
    """Replace the targets of vehicles with a latency by those of so long ago."""
    for i in range(vehicles.shape[0]):
        v = vehicles[i]
        if v.body >= 0 and v.latency > 0.0:
            delay_targets(v, round(v.latency / dt))


@njit(cache=True, nogil=True, error_model="numpy")
def delay_targets(v: Row, ticks: int) -> None:
    """Queue the targets of one vehicle and put those that are due in their place."""
    if v.queue_steps == 0:
        v.queue_now[3] = math.nan  # no wished steering yet
    newest = (v.queue_first + v.queue_count - 1) % QUEUE_SLOTS
    waiting = v.queue_count > 0
    if (waiting and differs(v, v.queue[newest])) or (not waiting and differs(v, v.queue_now)):
        if v.queue_count < QUEUE_SLOTS:
            newest = (newest + 1) % QUEUE_SLOTS
            v.queue_count += 1
            v.queue_due[newest] = v.queue_steps + ticks
        v.queue[newest, 0] = v.vx
        v.queue[newest, 1] = v.vy
        v.queue[newest, 2] = v.wz
        v.queue[newest, 3] = v.target_steer
    while v.queue_count > 0 and v.queue_due[v.queue_first] <= v.queue_steps:
        for k in range(4):
            v.queue_now[k] = v.queue[v.queue_first, k]
        v.queue_first = (v.queue_first + 1) % QUEUE_SLOTS
        v.queue_count -= 1
    v.queue_steps += 1
    v.vx, v.vy, v.wz = v.queue_now[0], v.queue_now[1], v.queue_now[2]
    v.target_steer = v.queue_now[3]


@njit(cache=True, nogil=True, error_model="numpy")
def differs(v: Row, kept: Row) -> bool:
    """Return whether the targets of a vehicle are others than those kept."""
    if v.vx != kept[0] or v.vy != kept[1] or v.wz != kept[2]:
        return True
    if math.isnan(v.target_steer):
        return not math.isnan(kept[3])
    return bool(v.target_steer != kept[3])
