# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which shapes the fans of planar lidars are cast against.

Walls are searched by chunks of neighbours. Bodies are searched by their circles, which are sorted
into cells where many fans look at many bodies. The shapes of a body are placed where it is now
when a ray points at it that has met nothing nearer.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from mvsim_core.sensors.rays import (
    Record,
    Shapes,
    angle_of,
    in_reach,
    place_in_fan,
    trace_shape,
)
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

Cells = tuple[IntArray, IntArray, tuple[float, float, float, int, int, float]]

#: Neighbouring shapes [start, start + count) with a common circle and z-range.
CHUNK = np.dtype(
    [
        ("start", "i8"),
        ("count", "i8"),
        ("x", "f8"),  # m
        ("y", "f8"),
        ("reach", "f8"),  # m
        ("zmin", "f8"),  # m
        ("zmax", "f8"),
    ]
)

#: The shapes [first, first + count) of one body.
OUTLINE = np.dtype(
    [
        ("row", "i8"),  # of BODY
        ("first", "i8"),
        ("count", "i8"),
        ("corner", "i8"),  # first corner of all its shapes
        ("corners", "i8"),  # number of corners of all its shapes
        ("reach", "f8"),  # m, radius of a circle around its reference point
        ("low", "f8"),  # m, lowest and highest point above its reference point
        ("high", "f8"),
        ("x", "f8"),  # m, where the body was when `_refresh` looked last
        ("y", "f8"),
        ("z", "f8"),
        ("at_x", "f8"),  # m, pose for which its placed shapes are right
        ("at_y", "f8"),
        ("at_z", "f8"),
        ("at_yaw", "f8"),  # rad
    ]
)

#: The outlines [start, start + count) of the bodies of one copy of the world.
GROUP = np.dtype(
    [
        ("start", "i8"),
        ("count", "i8"),
        ("room", "i8"),  # number of rows that it may fill
        ("stamp", "i8"),  # call of `trace_kernel` in which its bodies were looked up last
    ]
)

#: Groups with fewer bodies, or looked at by fewer fans in a call, are searched one by one: sorting
#: them into cells would cost more than it saves.
CELLS_FROM, FANS_FROM = 48, 6
#: Bodies that reach farther than this many cells are in no cell.
WIDEST = 1.5
#: Bodies that are farther away [m] are in no cell and never seen.
FARTHEST = 1e12


@njit(cache=True, nogil=True)
def _refresh(outlines: Rows, group: Record, bodies: Rows) -> None:
    """Look up where the bodies of a group are."""
    for i in range(group.start, group.start + group.count):
        outline = outlines[i]
        body = bodies[outline.row]
        outline.x, outline.y, outline.z = body.x, body.y, body.z


@njit(cache=True, nogil=True)
def _place(outline: Record, local: Shapes, placed: Shapes, body: Record) -> None:
    """Write the shapes of a body, given in its frame, where it is now, unless they are there."""
    if (
        outline.at_x == body.x
        and outline.at_y == body.y
        and outline.at_z == body.z
        and outline.at_yaw == body.yaw
    ):
        return
    shapes, corners = local
    out, out_corners = placed
    outline.at_x, outline.at_y = body.x, body.y
    outline.at_z, outline.at_yaw = body.z, body.yaw
    c, s = math.cos(body.yaw), math.sin(body.yaw)
    for k in range(outline.first, outline.first + outline.count):
        shape = shapes[k]
        out[k].x = body.x + c * shape.x - s * shape.y
        out[k].y = body.y + s * shape.x + c * shape.y
        out[k].zmin = body.z + shape.zmin
        out[k].zmax = body.z + shape.zmax
    for i in range(outline.corner, outline.corner + outline.corners):
        out_corners[i, 0] = body.x + c * corners[i, 0] - s * corners[i, 1]
        out_corners[i, 1] = body.y + s * corners[i, 0] + c * corners[i, 1]


@njit(cache=True, nogil=True)
def _into_cells(outlines: Rows, start: int, count: int) -> Cells:
    """Sort bodies into square cells of about one body each.

    Returns:
        Places in ``outlines`` (n,), those of one cell side by side, cells row by row, then those
        in no cell; the first of each cell, and the end; lower corner [m], cells a metre, numbers
        of columns and rows, greatest reach of a body in a cell [m].
    """
    low_x, low_y, high_x, high_y, n = math.inf, math.inf, -math.inf, -math.inf, 0
    for i in range(start, start + count):
        o = outlines[i]
        if abs(o.x) < FARTHEST and abs(o.y) < FARTHEST:
            low_x, high_x = min(low_x, o.x), max(high_x, o.x)
            low_y, high_y = min(low_y, o.y), max(high_y, o.y)
            n += 1
    width, height = max(high_x - low_x, 1e-3), max(high_y - low_y, 1e-3)
    # A row of robots in a corridor must not become millions of empty cells.
    size = max(math.sqrt(width * height / max(n, 1)), max(width, height) / max(n, 1))
    columns, rows = int(width / size) + 1, int(height / size) + 1
    first = np.zeros(columns * rows + 2, np.int64)
    cell_of = np.empty(count, np.int64)
    outside = columns * rows
    reach = 0.0
    for i in range(count):
        o = outlines[start + i]
        cell = outside
        if n and abs(o.x) < FARTHEST and abs(o.y) < FARTHEST and o.reach <= WIDEST * size:
            cell = int((o.y - low_y) / size) * columns + int((o.x - low_x) / size)
            reach = max(reach, o.reach)
        cell_of[i] = cell
        first[cell + 1] += 1
    for cell in range(outside + 1):
        first[cell + 1] += first[cell]
    fill = first.copy()
    order = np.empty(count, np.int64)
    for i in range(count):
        order[fill[cell_of[i]]] = start + i
        fill[cell_of[i]] += 1
    return order, first, (low_x, low_y, 1.0 / size, columns, rows, reach)


@njit(cache=True, nogil=True, error_model="numpy")
def trace_kernel(  # noqa: PLR0913 (arrays of a kernel)
    fans: Rows,
    due: IntArray,
    rays: FloatArray,
    walls: tuple[Rows, FloatArray, Rows],
    groups: Rows,
    outlines: Rows,
    local: Shapes,
    placed: Shapes,
    bodies: Rows,
    stamp: int,
) -> None:
    """Shorten the rays of the fans numbered ``due`` to the nearest shape that they meet.

    Args:
        fans: FAN, aimed.
        due: Which of them.
        rays: (3, n): direction cosine and sine in the fan's plane, length [m], which is shortened.
        walls: SHAPE and corners (n, 2) that are fixed in the world, world frame; CHUNK.
        groups: GROUP, by copy of the world.
        outlines: OUTLINE.
        local: SHAPE and corners of bodies, body frames.
        placed: The same in the world frame; written where needed.
        bodies: BODY.
        stamp: A number that differs from call to call.
    """
    # Arrays are taken out of tuples once: each time costs two atomic operations.
    shapes, corners, chunks = walls
    placed_shapes, placed_corners = placed
    sorted_copy = -1
    order, first, frame = _into_cells(outlines, 0, 0)
    for j in range(due.size):
        fan = fans[due[j]]
        if fan.det == 0.0:
            continue
        for m in range(chunks.size):
            chunk = chunks[m]
            if in_reach(fan, chunk):
                for i in range(chunk.start, chunk.start + chunk.count):
                    trace_shape(fan, shapes[i], corners, rays)
        if not fan.sees_bodies or fan.copy >= groups.size:
            continue
        group = groups[fan.copy]
        if group.stamp != stamp:
            _refresh(outlines, group, bodies)
            group.stamp = stamp
            if group.count >= CELLS_FROM and _is_busy(fans, due, j):
                order, first, frame = _into_cells(outlines, group.start, group.count)
                sorted_copy = fan.copy
        if sorted_copy == fan.copy:
            low_x, low_y, per_metre, columns, rows, reach = frame
            far = fan.range_max + reach
            x0 = _cell(fan.x - far - low_x, per_metre, columns)
            x1 = _cell(fan.x + far - low_x, per_metre, columns)
            y0 = _cell(fan.y - far - low_y, per_metre, rows)
            y1 = _cell(fan.y + far - low_y, per_metre, rows)
            for y in range(y0, y1 + 2):
                begin, last = y * columns + x0, y * columns + x1
                if y == y1 + 1:  # after the last row those in no cell
                    begin = last = columns * rows
                for k in range(first[begin], first[last + 1]):
                    outline = outlines[order[k]]
                    if _is_visible(fan, outline, rays):
                        _place(outline, local, placed, bodies[outline.row])
                        for i in range(outline.first, outline.first + outline.count):
                            trace_shape(fan, placed_shapes[i], placed_corners, rays)
        else:
            for k in range(group.start, group.start + group.count):
                outline = outlines[k]
                if _is_visible(fan, outline, rays):
                    _place(outline, local, placed, bodies[outline.row])
                    for i in range(outline.first, outline.first + outline.count):
                        trace_shape(fan, placed_shapes[i], placed_corners, rays)


@njit(cache=True, nogil=True)
def _is_busy(fans: Rows, due: IntArray, j: int) -> bool:
    """Return whether enough fans look at the group of the j-th one that is due."""
    count = 0
    for m in range(j, due.size):
        count += fans[due[m]].copy == fans[due[j]].copy
        if count >= FANS_FROM:
            return True
    return False


@njit(cache=True, nogil=True, inline="always")
def _cell(distance: float, per_metre: float, count: int) -> int:
    return int(min(max(distance * per_metre, 0.0), count - 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _is_visible(fan: Record, outline: Record, rays: FloatArray) -> bool:
    """Return whether any ray that is longer than the way to a body's circle points at it."""
    dx, dy = outline.x - fan.x, outline.y - fan.y
    far = outline.reach + fan.range_max
    square = dx * dx + dy * dy
    if not square <= far * far or outline.row == fan.body:
        return False
    if not (outline.z + outline.low <= fan.z and fan.z <= outline.z + outline.high):
        return False
    tilt = abs(fan.det)
    distance = math.sqrt(square)
    nearest = distance - outline.reach
    if tilt < 0.5 or nearest <= 0.1 * outline.reach:
        return True
    # The angle of the circle as seen from above: asin q <= q + 0.571 q³. In the plane of a fan
    # that is tilted, angles are at most 1 / |det| times as large.
    q = outline.reach / distance
    half = (q + 0.571 * q * q * q) / tilt
    u, v = fan.w00 * dx + fan.w01 * dy, fan.w10 * dx + fan.w11 * dy
    middle = angle_of(u, v)
    if half > 1.5:
        return True
    begin, end = place_in_fan(fan, middle - half, middle + half)
    lap = -1 if end >= fan.turn else 0
    last_lap = 1 if begin < 0.0 else 0
    while lap <= last_lap:
        shift = lap * fan.turn
        low = max(math.ceil(begin + shift), 0)
        high = min(math.floor(end + shift), fan.n - 1)
        for k in range(fan.first + low, fan.first + high + 1):
            if rays[2, np.uint64(k)] > nearest - 1e-6 * distance:
                return True
        lap += 1
    return False
