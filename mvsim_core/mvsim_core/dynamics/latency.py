# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Command latency: set points act some whole steps after they were given.

Set points that change are kept in a ring of QUEUE_SLOTS in DELAY until they are due. If more
than that are on their way, the newest ones merge: the last of them acts when the first was due.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.state.arrays import QUEUE_SLOTS, Row, Rows


@njit(cache=True, nogil=True, error_model="numpy")
def latency_kernel(vehicles: Rows, delays: Rows, dt: float) -> None:
    """Replace the targets of vehicles with a latency by those of so long ago."""
    for i in range(delays.shape[0]):
        d = delays[i]
        if d.vehicle >= 0:
            delay_targets(vehicles[d.vehicle], d, round(d.latency / dt))


@njit(cache=True, nogil=True, error_model="numpy")
def delay_targets(v: Row, d: Row, ticks: int) -> None:
    """Queue the targets of one vehicle and put those that are due in their place."""
    newest = (d.first + d.count - 1) % QUEUE_SLOTS
    waiting = d.count > 0
    if (waiting and differs(v, d.queue[newest])) or (not waiting and differs(v, d.now)):
        if d.count < QUEUE_SLOTS:
            newest = (newest + 1) % QUEUE_SLOTS
            d.count += 1
            d.due[newest] = d.steps + ticks
        d.queue[newest, 0] = v.vx
        d.queue[newest, 1] = v.vy
        d.queue[newest, 2] = v.wz
        d.queue[newest, 3] = v.target_steer
    while d.count > 0 and d.due[d.first] <= d.steps:
        for k in range(4):
            d.now[k] = d.queue[d.first, k]
        d.first = (d.first + 1) % QUEUE_SLOTS
        d.count -= 1
    d.steps += 1
    v.vx, v.vy, v.wz = d.now[0], d.now[1], d.now[2]
    v.target_steer = d.now[3]


@njit(cache=True, nogil=True, error_model="numpy")
def differs(v: Row, kept: Row) -> bool:
    """Return whether the targets of a vehicle are others than those kept."""
    if v.vx != kept[0] or v.vy != kept[1] or v.wz != kept[2]:
        return True
    if math.isnan(v.target_steer):
        return not math.isnan(kept[3])
    return bool(v.target_steer != kept[3])
