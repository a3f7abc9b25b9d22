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
    SETTLED,
    SETTLING,
    STEEP,
    WORK_ROWS,
    horn_rotation,
    level,
    set_slope,
    steep_angles,
)
from mvsim_core.terrain.surface import choose_pieces, heights_at

#: A support of a body: a wheel, a caster that a vehicle with fewer than three wheels needs, or a
#: corner of a block.
SUPPORT = np.dtype(
    [
        ("body", "i8"),  # row of BODY; -1: the row is free
        ("x", "f8"),  # m, body frame
        ("y", "f8"),  # m
        ("reach", "f8"),  # m, how far above the contact point the search for ground starts
        ("corner", "i8"),  # 1: a corner of a block; these go around its outline
    ]
)
#: Part of the reach of its supports by which a body may rise or sink in a step on a slope.
FAST = 0.2
#: How much farther than its supports the ground about a body is looked at, against rounding [m].
SPARE = 1e-3


@njit(cache=True, nogil=True)
def follow_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    supports: Rows,
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
    dt: float,
) -> None:
    """Fit each body to the ground under its supports; x, y and yaw stay.

    Bodies have moved for a time dt [s] since the last fit; 0: they have not.
    """
    local = np.zeros((MAX_CONTACTS, 3))
    world = np.zeros((MAX_CONTACTS, 3))
    raised = np.zeros(MAX_CONTACTS)
    work = np.zeros((WORK_ROWS, 4))
    room = np.empty_like(pieces)
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
        far, reach = 0.0, math.inf
        for k in range(first, end):
            far = max(far, math.hypot(supports[k].x, supports[k].y))
            reach = min(reach, supports[k].reach)
        keep_plane(b, far, reach, dt)
        around = choose_pieces(pieces, room, b.copy, b.x, b.y, far + SPARE)
        for _ in range(ROUNDS):
            n = 0
            a = axes(b)
            for k in range(first, min(end, first + MAX_CONTACTS)):
                p = supports[k]
                x, y, z = point_in_world(b, a, p.x, p.y)
                found, _ = heights_at(around, outlines, maps, samples, x, y, z + p.reach)
                if math.isnan(found):  # all ground is higher than it can climb: a step
                    found = z
                local[n, 0], local[n, 1] = p.x, p.y
                world[n, 0], world[n, 1], world[n, 2] = x, y, found
                n += 1
            if supports[first].corner != 0:
                x, y, z = point_in_world(b, a, b.com_x, b.com_y)
                z += supports[first].reach
                found, _ = heights_at(around, outlines, maps, samples, x, y, z)
                overhang((b.com_x, b.com_y, found), local, world, n, raised)
            rest_on(b, local, world, n, work)
        first = end


@njit(cache=True, nogil=True)
def keep_plane(b: Row, far: float, reach: float, dt: float) -> None:
    """Keep a body in the plane it was in if it moved far on a slope.

    Ground is looked for from a `reach` above its supports [m], which are up to `far` from its
    reference point [m]. The plane may have risen out of reach below one that moves or turns fast.
    """
    way = (abs(b.vx) + abs(b.vy) + abs(b.wz) * far) * dt
    if (abs(b.slope_x) + abs(b.slope_y)) * way < FAST * reach:
        return
    up_x = math.sin(b.pitch) * math.cos(b.roll)  # the normal of the plane, in the old heading
    up_y = -math.sin(b.roll)
    up_z = math.cos(b.pitch) * math.cos(b.roll)
    c, s = math.cos(b.wz * dt), math.sin(b.wz * dt)
    up_x, up_y = c * up_x + s * up_y, c * up_y - s * up_x
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    along, across = c * b.vx + s * b.vy, c * b.vy - s * b.vx
    b.z -= (up_x * along + up_y * across) * dt / up_z
    b.roll = -math.asin(up_y)
    b.pitch = math.atan2(up_x, up_z)


@njit(cache=True, nogil=True)
def settle_kernel(
    b: Row,
    supports: Rows,
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
) -> None:
    """Put one vehicle on the ground, whatever its attitude was; x, y and yaw stay.

    `follow_kernel` looks for ground near the plane of the wheels, which is not known before a
    vehicle stands. Here the ground of each support is found by following the surface from the
    reference point, whose height BODY.z is.
    """
    local = np.zeros((MAX_CONTACTS, 3))
    world = np.zeros((MAX_CONTACTS, 3))
    work = np.zeros((WORK_ROWS, 4))
    z = b.z
    level(b, z)
    for _ in range(SETTLING):
        roll, pitch = b.roll, b.pitch
        n = 0
        a = axes(b)
        for k in range(min(supports.shape[0], MAX_CONTACTS)):
            p = supports[k]
            x, y, _ = point_in_world(b, a, p.x, p.y)
            found = height_along(
                pieces, outlines, maps, samples, (b.x, b.y, z), (x, y), float(p.reach)
            )
            local[n, 0], local[n, 1] = p.x, p.y
            world[n, 0], world[n, 1], world[n, 2] = x, y, found
            n += 1
        rest_on(b, local, world, n, work)
        if abs(b.roll - roll) + abs(b.pitch - pitch) < SETTLED:
            return


@njit(cache=True, nogil=True)
def height_along(  # noqa: PLR0913 (arrays of a kernel)
    pieces: Rows,
    outlines: FloatArray,
    maps: Rows,
    samples: FloatArray,
    start: tuple[float, float, float],
    end: tuple[float, float],
    climb: float,
) -> float:
    """Return the height of the ground at a place that is reached along a line [m].

    The ground is followed from `start` (x, y, z) in steps of half of `climb` [m], so that slopes
    up to 63° are continuous; a rise by more than `climb` is an obstacle, and a drop by more than
    it a gap: over both the height so far is kept.
    """
    dx, dy = end[0] - start[0], end[1] - start[1]
    steps = max(1, math.ceil(math.hypot(dx, dy) / (0.5 * climb)))
    z = start[2]
    for i in range(1, steps + 1):
        x, y = start[0] + dx * i / steps, start[1] + dy * i / steps
        found, _ = heights_at(pieces, outlines, maps, samples, x, y, z + climb)
        if i == steps and not math.isnan(found):
            return found
        if found >= z - climb:
            z = found
    return z


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
def overhang(
    centre: tuple[float, float, float],
    local: FloatArray,
    world: FloatArray,
    n: int,
    raised: FloatArray,
) -> None:
    """Raise the ground below the corners of a block that overhang the ground below its centre.

    A block does not tip over an edge while its centre of mass is on the near side of it. So the
    ground of a corner counts as no lower than the line from the opposite side of the outline over
    the ground below the centre, and that of the opposite side as no lower than there.

    Args:
        centre: Centre of mass x, y, body frame, and the height of the ground below it [m]; NaN:
            there is none that the block could lie on.
        local: (n, 3) corners, in their order around the outline, body frame [m].
        world: (n, 3) ground points below them [m]; the heights are raised.
        n: Number of corners.
        raised: (n,) scratch memory.
    """
    cx, cy, height = centre
    if math.isnan(height):
        return
    for k in range(n):
        raised[k] = world[k, 2]
        rx, ry = local[k, 0] - cx, local[k, 1] - cy
        far = 0.0  # how far the opposite side is, in units of the corner's distance
        opposite = height
        for i in range(n):
            if world[k, 2] >= height:
                break
            j = i + 1 if i + 1 < n else 0
            px, py = local[i, 0] - cx, local[i, 1] - cy
            qx, qy = local[j, 0] - cx, local[j, 1] - cy
            one, other = rx * py - ry * px, rx * qy - ry * qx
            if (one > 0.0) == (other > 0.0):
                continue
            share = one / (one - other)
            along = rx * (px + share * (qx - px)) + ry * (py + share * (qy - py))
            away = -along / (rx * rx + ry * ry)
            if away > far:
                far = away
                opposite = world[i, 2] + share * (world[j, 2] - world[i, 2])
        if far > 0.0:
            raised[k] = max(raised[k], height - max(0.0, opposite - height) / far)
    for k in range(n):
        world[k, 2] = raised[k]


@njit(cache=True, nogil=True)
def rest_on(b: Row, local: FloatArray, world: FloatArray, n: int, work: FloatArray) -> None:
    """Put a body on its first `n` support points, level if their ground is."""
    lowest = math.inf
    highest = -math.inf
    for k in range(n):
        lowest = min(lowest, world[k, 2])
        highest = max(highest, world[k, 2])
    if highest - lowest < LEVEL or n < 3:
        level(b, 0.5 * (lowest + highest))
    else:
        fit(b, local, world, n, work)


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
    if max(abs(pitch), abs(roll)) > STEEP:
        roll, pitch = steep_angles(work[6], b.yaw)
    b.roll = roll
    b.pitch = pitch
    set_slope(b)
    b.z = cz + math.sin(pitch) * cl0 - math.cos(pitch) * math.sin(roll) * cl1
