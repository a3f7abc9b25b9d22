# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Steps too high to climb, as constraints that stop a vehicle.

The contact solver is planar and has no ground. Just outside each corner of a chassis the ground
is looked up; where it is higher above the wheels than they can climb, the corner may not move on
towards it: a unilateral constraint for the contact solver, recomputed in each step.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, Row, Rows
from mvsim_core.terrain.following import axes, point_in_world
from mvsim_core.terrain.surface import choose_pieces, heights_at

#: A step higher than this fraction of a wheel's diameter cannot be climbed.
CLIMBABLE = 0.55
#: How far outside the chassis the ground is looked up [m].
AHEAD = 0.04
#: Places around a corner at which the direction of a step is found.
AROUND = 8
#: Halvings of the way to the edge of a step: it is found to AHEAD / 2^6, below a millimetre.
HALVINGS = 6

#: A corner of a chassis.
PROBE = np.dtype(
    [
        ("body", "i8"),  # row of BODY; -1: the row is free
        ("x", "f8"),  # m, vehicle frame
        ("y", "f8"),  # m
        ("out_x", "f8"),  # 1, direction away from the chassis, vehicle frame
        ("out_y", "f8"),
        ("top", "f8"),  # m, height of the chassis: what is above it is a bridge
        ("limit", "f8"),  # m, highest step that the wheels climb
    ]
)


@njit(cache=True, nogil=True)
def is_step(
    b: Row,
    p: Row,
    place: tuple[float, float],
    surface: tuple[Rows, FloatArray, Rows, FloatArray],
) -> bool:
    """Return whether the ground at a place of the vehicle's frame is too high to climb."""
    x, y, z = point_in_world(b, axes(b), place[0], place[1])
    pieces, outlines, maps, samples = surface
    ground, _ = heights_at(pieces, outlines, maps, samples, x, y, z + 1.05 * p.top)
    return bool(ground - z > p.limit)


@njit(cache=True, nogil=True)
def steps_kernel(
    bodies: Rows,
    probes: Rows,
    surface: tuple[Rows, FloatArray, Rows, FloatArray],
    walls: Rows,
) -> int:
    """Write one row of WALL for each corner at a step; return how many."""
    count = 0
    everywhere, outlines, maps, samples = surface
    room = np.empty_like(everywhere)
    around = everywhere
    body = -1
    for k in range(probes.shape[0]):
        p = probes[k]
        if p.body < 0:
            continue
        b = bodies[p.body]
        if p.body != body:  # corners of a body follow each other
            body = p.body
            far = 0.0
            for i in range(k, probes.shape[0]):
                if probes[i].body != body:
                    break
                far = max(far, math.hypot(probes[i].x, probes[i].y))
            around = choose_pieces(everywhere, room, b.copy, b.x, b.y, far + 3.0 * AHEAD)
        surface = (around, outlines, maps, samples)
        tip = (p.x + AHEAD * p.out_x, p.y + AHEAD * p.out_y)
        if not is_step(b, p, tip, surface):
            continue
        # away from the step: where it is not, seen from the place outside the corner
        nx = 0.0
        ny = 0.0
        for i in range(AROUND):
            angle = 2.0 * math.pi * i / AROUND
            dx, dy = math.cos(angle), math.sin(angle)
            if is_step(b, p, (tip[0] + AHEAD * dx, tip[1] + AHEAD * dy), surface):
                nx -= dx
                ny -= dy
        size = math.hypot(nx, ny)
        if size < 1e-9:  # a single peak, or steps all around: push back to the chassis
            nx, ny, size = -p.out_x, -p.out_y, 1.0
        nx, ny = nx / size, ny / size
        low = 0.0
        high = 1.0
        if not is_step(b, p, (p.x, p.y), surface):
            for _ in range(HALVINGS):
                middle = 0.5 * (low + high)
                place = (p.x + middle * AHEAD * p.out_x, p.y + middle * AHEAD * p.out_y)
                if is_step(b, p, place, surface):
                    high = middle
                else:
                    low = middle
        x, y, _ = point_in_world(b, axes(b), p.x, p.y)
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        w = walls[count]
        w.body = p.body
        w.x, w.y = x, y
        w.nx, w.ny = c * nx - s * ny, s * nx + c * ny
        w.separation = low * AHEAD * max(0.0, -(p.out_x * nx + p.out_y * ny))
        w.friction = 0.0
        count += 1
    return count
