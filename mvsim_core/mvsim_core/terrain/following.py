# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels that keep vehicles and blocks on the ground."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, Row, Rows
from mvsim_core.terrain.attitude import (
    LEVEL,
    MAX_CONTACTS,
    ROUNDS,
    WORK_ROWS,
    horn_rotation,
    level,
    set_slope,
)
from mvsim_core.terrain.surface import heights_at

#: A support of a body: a wheel, a caster that a vehicle with fewer than three wheels needs, or a
#: corner of a block.
SUPPORT = np.dtype(
    [
        ("body", "i8"),  # row of BODY; -1: the row is free
        ("x", "f8"),  # m, body frame
        ("y", "f8"),  # m
        ("reach", "f8"),  # m, how far above the contact point the search for ground starts
    ]
)


@njit(cache=True, nogil=True)
def follow_kernel(
    bodies: Rows,
    supports: Rows,
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
) -> None:
    """Fit each body to the ground under its supports; x, y and yaw stay."""
    local = np.zeros((MAX_CONTACTS, 3))
    world = np.zeros((MAX_CONTACTS, 3))
    work = np.zeros((WORK_ROWS, 4))
    first = 0
    while first < supports.shape[0]:
        body = supports[first].body
        if body < 0:
            first += 1
            continue
        end = first + 1
        while end < supports.shape[0] and supports[end].body == body:
            end += 1
        b = bodies[body]
        for _ in range(ROUNDS):
            n = 0
            lowest = math.inf
            highest = -math.inf
            a = axes(b)
            for k in range(first, min(end, first + MAX_CONTACTS)):
                p = supports[k]
                x, y, z = point_in_world(b, a, p.x, p.y)
                found, _ = heights_at(pieces, outlines, maps, samples, x, y, z + p.reach)
                if math.isnan(found):  # all ground is higher than it can climb: a step
                    found = z
                local[n, 0], local[n, 1] = p.x, p.y
                world[n, 0], world[n, 1], world[n, 2] = x, y, found
                lowest = min(lowest, found)
                highest = max(highest, found)
                n += 1
            if highest - lowest < LEVEL or n < 3:
                level(b, 0.5 * (lowest + highest))
            else:
                fit(b, local, world, n, work)
        first = end


@njit(cache=True, nogil=True)
def in_world(b: Row, px: float, py: float) -> tuple[float, float, float]:
    """Return a point of the plane z = 0 of a body in the world frame [m]."""
    return point_in_world(b, axes(b), px, py)


@njit(cache=True, nogil=True)
def axes(b: Row) -> tuple[float, float, float, float, float, float]:
    """Return cosine and sine of yaw, pitch and roll of a body."""
    return (
        math.cos(b.yaw),
        math.sin(b.yaw),
        math.cos(b.pitch),
        math.sin(b.pitch),
        math.cos(b.roll),
        math.sin(b.roll),
    )


@njit(cache=True, nogil=True)
def point_in_world(
    b: Row, turn: tuple[float, float, float, float, float, float], px: float, py: float
) -> tuple[float, float, float]:
    """Return a point of the plane z = 0 of a body whose `axes` are known [m]."""
    cy, sy, cp, sp, cr, sr = turn
    along = cp * px + sp * sr * py  # in the vertical plane of the heading
    across = cr * py
    return (
        b.x + cy * along - sy * across,
        b.y + sy * along + cy * across,
        b.z - sp * px + cp * sr * py,
    )


@njit(cache=True, nogil=True)
def fit(b: Row, local: FloatArray, world: FloatArray, n: int, work: FloatArray) -> None:
    """Take height, roll and pitch from the rigid fit of support to ground points."""
    cl0 = 0.0
    cl1 = 0.0
    cx = 0.0
    cy = 0.0
    cz = 0.0
    for k in range(n):
        cl0 += local[k, 0] / n
        cl1 += local[k, 1] / n
        cx += world[k, 0] / n
        cy += world[k, 1] / n
        cz += world[k, 2] / n
    for k in range(n):
        local[k, 0] -= cl0
        local[k, 1] -= cl1
        world[k, 0] -= cx
        world[k, 1] -= cy
        world[k, 2] -= cz
    roll, pitch, _ = horn_rotation(local, world, n, work)
    b.roll = roll
    b.pitch = pitch
    set_slope(b)
    b.z = cz + math.sin(pitch) * cl0 - math.cos(pitch) * math.sin(roll) * cl1
