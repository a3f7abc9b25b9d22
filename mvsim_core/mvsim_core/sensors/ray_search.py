# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which shapes the fans of planar lidars are cast against.

Walls are searched by chunks of neighbours. Bodies are searched by their circles; where many fans
look at many bodies, these are sorted into cells, and rays go from cell to cell. The shapes of a
body are placed where it is now when a ray may meet it before anything nearer.
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

Cells = tuple[IntArray, IntArray, tuple[float, float, float, int, int]]

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
    ]
)

#: Groups with fewer bodies, or looked at by fewer fans in a call, are searched one by one: sorting
#: them into cells would cost more than it saves.
CELLS_FROM, FANS_FROM = 48, 6
#: Rays go from cell to cell if more than one body for so many rays is in range, each counted in
#: all its cells; otherwise the fan looks at these bodies. One costs as much as some cells.
RAYS_A_BODY = 1
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
def place_kernel(  # noqa: PLR0913 (arrays of a kernel)
    fans: Rows,
    due: IntArray,
    groups: Rows,
    outlines: Rows,
    local: Shapes,
    placed: Shapes,
    bodies: Rows,
) -> None:
    """Place the shapes of all bodies that the fans numbered ``due`` may meet.

    Args: As for `trace_kernel`, which writes no shape after this.
    """
    done = np.zeros(groups.size, np.bool_)
    for j in range(due.size):
        fan = fans[due[j]]
        if not fan.sees_bodies or fan.copy >= groups.size or done[fan.copy]:
            continue
        done[fan.copy] = True
        group = groups[fan.copy]
        for i in range(group.start, group.start + group.count):
            _place(outlines[i], local, placed, bodies[outlines[i].row])


@njit(cache=True, nogil=True)
def _into_cells(outlines: Rows, start: int, count: int) -> Cells:
    """Sort bodies into all square cells that their circles meet; there is about a cell a body.

    Returns:
        Places in ``outlines``, those of one cell side by side, cells row by row, then those in no
        cell; the first of each cell, and the end; lower corner [m], cells a metre, numbers of
        columns and rows.
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
    low_x, low_y = low_x - 2.0 * WIDEST * size, low_y - 2.0 * WIDEST * size
    columns, rows = int(width / size + 4.0 * WIDEST) + 1, int(height / size + 4.0 * WIDEST) + 1
    if n == 0:
        low_x, low_y, columns, rows = 0.0, 0.0, 1, 1
    outside = columns * rows
    first = np.zeros(outside + 2, np.int64)
    box = np.empty((count, 4), np.int64)
    for i in range(count):
        o = outlines[start + i]
        box[i, 0] = -1
        if abs(o.x) < FARTHEST and abs(o.y) < FARTHEST and o.reach <= WIDEST * size:
            far = o.reach + 1e-6 * size  # rays may pass a border by their rounding errors
            box[i, 0], box[i, 1] = int((o.x - far - low_x) / size), int((o.x + far - low_x) / size)
            box[i, 2], box[i, 3] = int((o.y - far - low_y) / size), int((o.y + far - low_y) / size)
            for y in range(box[i, 2], box[i, 3] + 1):
                for x in range(box[i, 0], box[i, 1] + 1):
                    first[y * columns + x + 1] += 1
        else:
            first[outside + 1] += 1
    for cell in range(outside + 1):
        first[cell + 1] += first[cell]
    fill = first.copy()
    order = np.empty(first[outside + 1], np.int64)
    for i in range(count):
        if box[i, 0] < 0:
            order[fill[outside]] = start + i
            fill[outside] += 1
            continue
        for y in range(box[i, 2], box[i, 3] + 1):
            for x in range(box[i, 0], box[i, 1] + 1):
                order[fill[y * columns + x]] = start + i
                fill[y * columns + x] += 1
    return order, first, (low_x, low_y, 1.0 / size, columns, rows)


@njit(cache=True, nogil=True, inline="always")
def _limits(
    at: float, per_way: float, size: float, begin: float, end: float
) -> tuple[float, float]:
    """Return the part of a ray at + t / per_way, begin <= t <= end, that is between 0 and size."""
    if math.isinf(per_way):
        return (begin, end) if 0.0 <= at <= size else (1.0, 0.0)
    a, b = -at * per_way, (size - at) * per_way
    return max(begin, min(a, b)), min(end, max(a, b))


@njit(cache=True, nogil=True, inline="always")
def _is_as_high(outline: Record, z: float) -> bool:
    """Return whether a body reaches a height [m]."""
    return bool(outline.z + outline.low <= z and z <= outline.z + outline.high)


@njit(cache=True, nogil=True, error_model="numpy")
def _walk_cells(  # noqa: PLR0913 (arrays of a kernel)
    fan: Record,
    number: int,
    order: IntArray,
    first: IntArray,
    frame: tuple[float, float, float, int, int],
    seen: IntArray,
    outlines: Rows,
    local: Shapes,
    placed: Shapes,
    bodies: Rows,
    rays: FloatArray,
) -> None:
    """Cast a fan at the bodies in the cells that its rays pass before they meet anything.

    After Amanatides and Woo, "A Fast Voxel Traversal Algorithm for Ray Tracing", 1987. A body is
    drawn into all rays when the first one comes to it.

    Args:
        fan: FAN, aimed.
        number: A number > 0 of the fan.
        order: Bodies by cell, as `_into_cells` returns them.
        first: The first of each cell.
        frame: Place and size of the cells.
        seen: (outlines,) number of the fan that has looked at a body last; written.
        outlines: OUTLINE.
        local: Shapes of bodies, body frames.
        placed: The same in the world frame; written where needed.
        bodies: BODY.
        rays: (3, n): as for `trace_kernel`.
    """
    placed_shapes, placed_corners = placed
    low_x, low_y, per_metre, columns, rows = frame
    fan_x, fan_y, fan_z, fan_body = fan.x, fan.y, fan.z, fan.body  # not again after each write
    m00, m01 = fan.m00 * per_metre, fan.m01 * per_metre
    m10, m11 = fan.m10 * per_metre, fan.m11 * per_metre
    at_x, at_y = (fan_x - low_x) * per_metre, (fan_y - low_y) * per_metre
    for k in range(fan.first, fan.first + fan.n):
        i = np.uint64(k)
        way_x = m00 * rays[0, i] + m01 * rays[1, i]
        way_y = m10 * rays[0, i] + m11 * rays[1, i]
        per_x, per_y = 1.0 / way_x, 1.0 / way_y  # infinite along an axis
        t, end = _limits(at_x, per_x, columns, 0.0, rays[2, i])
        t, end = _limits(at_y, per_y, rows, t, end)
        if not t <= end:
            continue
        x = min(max(int(at_x + t * way_x), 0), columns - 1)
        y = min(max(int(at_y + t * way_y), 0), rows - 1)
        square = (way_x * way_x + way_y * way_y) * (1.0 + 1e-9)
        step_x, step_y = (1 if way_x > 0.0 else -1), (1 if way_y > 0.0 else -1)
        next_x = (x + (way_x > 0.0) - at_x) * per_x if not math.isinf(per_x) else math.inf
        next_y = (y + (way_y > 0.0) - at_y) * per_y if not math.isinf(per_y) else math.inf
        each_x, each_y = abs(per_x), abs(per_y)
        while t <= rays[2, i] and 0 <= x < columns and 0 <= y < rows:
            cell = y * columns + x
            for p in range(first[np.uint64(cell)], first[np.uint64(cell + 1)]):
                place = np.uint64(order[np.uint64(p)])
                if seen[place] == number:
                    continue
                outline = outlines[place]
                aside = (outline.x - fan_x) * way_y - (outline.y - fan_y) * way_x
                if not aside * aside <= outline.reach * outline.reach * square:
                    continue  # the ray passes its circle
                seen[place] = number
                if outline.row == fan_body or not _is_as_high(outline, fan_z):
                    continue
                _place(outline, local, placed, bodies[outline.row])
                for m in range(outline.first, outline.first + outline.count):
                    trace_shape(fan, placed_shapes[m], placed_corners, rays)
            if next_x < next_y:
                t, x, next_x = next_x, x + step_x, next_x + each_x
            else:
                t, y, next_y = next_y, y + step_y, next_y + each_y


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
    """
    # Arrays are taken out of tuples once: each time costs two atomic operations.
    shapes, corners, chunks = walls
    refreshed = np.zeros(groups.size, np.bool_)
    sorted_copy = -1
    order, first, frame = _into_cells(outlines, 0, 0)
    seen = np.zeros(0, np.int64)
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
        if not refreshed[fan.copy]:
            _refresh(outlines, group, bodies)
            refreshed[fan.copy] = True
            if group.count >= CELLS_FROM and _is_busy(fans, due, j):
                order, first, frame = _into_cells(outlines, group.start, group.count)
                sorted_copy = fan.copy
                seen = np.zeros(outlines.size, np.int64)
        by_cell = sorted_copy == fan.copy and abs(fan.x) < FARTHEST and abs(fan.y) < FARTHEST
        if not by_cell:
            for k in range(group.start, group.start + group.count):
                _look_at(fan, outlines[k], local, placed, bodies, rays)
            continue
        for k in range(first[first.size - 2], first[first.size - 1]):  # those in no cell
            _look_at(fan, outlines[order[k]], local, placed, bodies, rays)
        box = _box_of(fan, frame)
        if _bodies_in(box, first, frame) * RAYS_A_BODY <= fan.n:
            for y in range(box[2], box[3] + 1):
                row = y * frame[3]
                for k in range(first[row + box[0]], first[row + box[1] + 1]):
                    place = order[k]
                    if seen[place] != j + 1:
                        seen[place] = j + 1
                        _look_at(fan, outlines[place], local, placed, bodies, rays)
        else:
            _walk_cells(
                fan,
                j + 1,
                order,
                first,
                frame,
                seen,
                outlines,
                local,
                placed,
                bodies,
                rays,
            )


@njit(cache=True, nogil=True)
def _is_busy(fans: Rows, due: IntArray, j: int) -> bool:
    """Return whether enough fans look at the group of the j-th one that is due."""
    count = 0
    for m in range(j, due.size):
        count += fans[due[m]].copy == fans[due[j]].copy
        if count >= FANS_FROM:
            return True
    return False


@njit(cache=True, nogil=True)
def _box_of(fan: Record, frame: tuple[float, float, float, int, int]) -> tuple[int, int, int, int]:
    """Return the first and the last column and row of the cells within the range of a fan."""
    low_x, low_y, per_metre, columns, rows = frame
    far = fan.range_max
    return (
        _cell(fan.x - far - low_x, per_metre, columns),
        _cell(fan.x + far - low_x, per_metre, columns),
        _cell(fan.y - far - low_y, per_metre, rows),
        _cell(fan.y + far - low_y, per_metre, rows),
    )


@njit(cache=True, nogil=True)
def _bodies_in(
    box: tuple[int, int, int, int],
    first: IntArray,
    frame: tuple[float, float, float, int, int],
) -> int:
    """Return how many bodies are in a box of cells, each counted in all its cells."""
    count = 0
    for y in range(box[2], box[3] + 1):
        count += first[y * frame[3] + box[1] + 1] - first[y * frame[3] + box[0]]
    return count


@njit(cache=True, nogil=True, inline="always")
def _cell(distance: float, per_metre: float, count: int) -> int:
    return int(min(max(distance * per_metre, 0.0), count - 1.0))


@njit(cache=True, nogil=True, error_model="numpy")
def _look_at(
    fan: Record, outline: Record, local: Shapes, placed: Shapes, bodies: Rows, rays: FloatArray
) -> None:
    """Shorten the rays of a fan to the shapes of a body, if any ray may meet them."""
    if _is_visible(fan, outline, rays):
        _place(outline, local, placed, bodies[outline.row])
        shapes, corners = placed
        for i in range(outline.first, outline.first + outline.count):
            trace_shape(fan, shapes[i], corners, rays)


@njit(cache=True, nogil=True, error_model="numpy")
def _is_visible(fan: Record, outline: Record, rays: FloatArray) -> bool:
    """Return whether any ray that is longer than the way to a body's circle points at it."""
    dx, dy = outline.x - fan.x, outline.y - fan.y
    far = outline.reach + fan.range_max
    square = dx * dx + dy * dy
    if not square <= far * far or outline.row == fan.body:
        return False
    if not _is_as_high(outline, fan.z):
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
