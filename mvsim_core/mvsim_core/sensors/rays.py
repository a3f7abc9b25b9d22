# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Exact planar rays: kernels that cast the fans of many lidars against shapes and grids.

A fan is a set of rays at almost equal angles. Instead of asking each ray for the shapes that it
meets, each visible edge is drawn into the rays that its two ends enclose. Distances are exact to
rounding, and neighbouring edges share their end points bit by bit, so no ray slips between them.

The plane of a fan need not be level: the shapes are mapped into it by the inverse of M, the two
columns of the sensor's rotation that span the fan, seen from above. A ray of length t then meets
the same edge point as its projection on the ground does, so ranges are measured along the ray.
Fans that hang upside down are the case det M < 0. Nothing here knows of heights along a ray.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mvsim_core.state.arrays import FloatArray, IntArray, Rows

Shapes = tuple[Rows, FloatArray]
Cells = tuple[IntArray, IntArray, tuple[float, float, float, int, int, float]]
Record = Any  # one row of a structured array

#: One fan. The last part is filled by `aim_kernel` from the pose of the body.
FAN = np.dtype(
    [
        ("body", "i8"),  # row of BODY that carries it and that it does not see; -1: the world
        ("copy", "i8"),  # copy of the world that it belongs to
        ("name", "u8"),  # of its sensor, for noise
        ("first", "i8"),  # its first ray in the arrays of rays
        ("n", "i8"),  # number of rays
        ("sees_bodies", "i8"),  # 0: only what is fixed in the world
        ("range_min", "f8"),  # m
        ("range_max", "f8"),  # m
        ("range_sigma", "f8"),  # m, standard deviation of ranges
        ("angle_sigma", "f8"),  # rad, of the angles of rays
        ("angle_min", "f8"),  # rad, of the first ray
        ("step", "f8"),  # rad, from ray to ray
        ("per_step", "f8"),  # 1/rad
        ("turn", "f8"),  # steps in a full turn
        ("slack", "f8"),  # steps, how far any ray may be from its place in the fan
        ("mount_x", "f8"),  # m, body frame
        ("mount_y", "f8"),
        ("mount_z", "f8"),
        ("r00", "f8"),  # 1, from the fan's plane to the body frame
        ("r01", "f8"),
        ("r10", "f8"),
        ("r11", "f8"),
        ("r20", "f8"),
        ("r21", "f8"),
        ("x", "f8"),  # m, world frame
        ("y", "f8"),
        ("z", "f8"),
        ("m00", "f8"),  # 1, from the fan's plane to the ground plane
        ("m01", "f8"),
        ("m10", "f8"),
        ("m11", "f8"),
        ("w00", "f8"),  # 1, its inverse
        ("w01", "f8"),
        ("w10", "f8"),
        ("w11", "f8"),
        ("det", "f8"),  # 1, determinant of m; 0: the fan stands upright and sees nothing
    ]
)

#: A polygon (count corners, counter-clockwise) or a circle (count 0) that stands upright.
SHAPE = np.dtype(
    [
        ("start", "i8"),  # first corner
        ("count", "i8"),  # number of corners
        ("x", "f8"),  # m, centre of a circle around it
        ("y", "f8"),
        ("reach", "f8"),  # m, radius of that circle
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

#: A fan steeper than about 89.9 degrees has no plan view to speak of.
FLATTEST = 1e-3
#: Error bound of `_angle` [rad].
ANGLE_ERROR = 4e-6


#: Groups with fewer bodies, or looked at by fewer fans in a call, are searched one by one: sorting
#: them into cells would cost more than it saves.
CELLS_FROM, FANS_FROM = 48, 6
#: Bodies that reach farther than this many cells are in no cell.
WIDEST = 1.5
#: Bodies that are farther away [m] are in no cell and never seen.
FARTHEST = 1e12


@njit(cache=True, nogil=True)
def aim_kernel(fans: Rows, due: IntArray, bodies: Rows) -> None:
    """Put the fans numbered ``due`` where their bodies are now."""
    for k in due:
        fan = fans[k]
        x, y, z = fan.mount_x, fan.mount_y, fan.mount_z
        m00, m01, m10, m11 = fan.r00, fan.r01, fan.r10, fan.r11
        if fan.body >= 0:
            body = bodies[fan.body]
            cr, sr = math.cos(body.roll), math.sin(body.roll)
            cp, sp = math.cos(body.pitch), math.sin(body.pitch)
            cy, sy = math.cos(body.yaw), math.sin(body.yaw)
            b00, b01, b02 = cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr
            b10, b11, b12 = sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr
            m00 = b00 * fan.r00 + b01 * fan.r10 + b02 * fan.r20
            m01 = b00 * fan.r01 + b01 * fan.r11 + b02 * fan.r21
            m10 = b10 * fan.r00 + b11 * fan.r10 + b12 * fan.r20
            m11 = b10 * fan.r01 + b11 * fan.r11 + b12 * fan.r21
            x, y, z = (
                body.x + b00 * x + b01 * y + b02 * z,
                body.y + b10 * x + b11 * y + b12 * z,
                body.z - sp * x + cp * sr * y + cp * cr * z,
            )
        fan.x, fan.y, fan.z = x, y, z
        fan.m00, fan.m01 = m00, m01
        fan.m10, fan.m11 = m10, m11
        det = m00 * m11 - m01 * m10
        if not abs(det) >= FLATTEST:  # neither when an angle is not a number
            fan.det = 0.0
            continue
        fan.det = det
        fan.w00, fan.w01 = m11 / det, -m01 / det
        fan.w10, fan.w11 = -m10 / det, m00 / det


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
            if _in_reach(fan, chunk):
                for i in range(chunk.start, chunk.start + chunk.count):
                    _trace_shape(fan, shapes[i], corners, rays)
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
                            _trace_shape(fan, placed_shapes[i], placed_corners, rays)
        else:
            for k in range(group.start, group.start + group.count):
                outline = outlines[k]
                if _is_visible(fan, outline, rays):
                    _place(outline, local, placed, bodies[outline.row])
                    for i in range(outline.first, outline.first + outline.count):
                        _trace_shape(fan, placed_shapes[i], placed_corners, rays)


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
    middle = _angle(u, v)
    if half > 1.5:
        return True
    begin, end = _place_in_fan(fan, middle - half, middle + half)
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


@njit(cache=True, nogil=True, inline="always")
def _in_reach(fan: Record, shape: Record) -> bool:
    if not (shape.zmin <= fan.z and fan.z <= shape.zmax):
        return False
    dx, dy = shape.x - fan.x, shape.y - fan.y
    far = shape.reach + fan.range_max
    return bool(dx * dx + dy * dy <= far * far)


@njit(cache=True, nogil=True, error_model="numpy")
def _trace_shape(fan: Record, shape: Record, corners: FloatArray, rays: FloatArray) -> None:
    if not _in_reach(fan, shape):
        return
    if shape.count == 0:
        _trace_circle(fan, shape, rays)
        return
    x0, y0 = _into_plane(fan, corners, shape.start + shape.count - 1)
    a0 = _angle(x0, y0)
    for i in range(shape.start, shape.start + shape.count):
        x1, y1 = _into_plane(fan, corners, i)
        a1 = _angle(x1, y1)
        # Only edges that face the sensor: all others are hidden behind them.
        if (x0 * y1 - y0 * x1) * fan.det < 0.0:
            if fan.det > 0.0:
                _draw_edge(fan, (x1, y1, a1), (x0, y0, a0), rays)
            else:
                _draw_edge(fan, (x0, y0, a0), (x1, y1, a1), rays)
        x0, y0, a0 = x1, y1, a1


@njit(cache=True, nogil=True, inline="always")
def _into_plane(fan: Record, corners: FloatArray, i: int) -> tuple[float, float]:
    k = np.uint64(i)
    dx, dy = corners[k, 0] - fan.x, corners[k, 1] - fan.y
    return fan.w00 * dx + fan.w01 * dy, fan.w10 * dx + fan.w11 * dy


@njit(cache=True, nogil=True, inline="always", error_model="numpy")
def _angle(x: float, y: float) -> float:
    """Return atan2(y, x) to `ANGLE_ERROR`, ten times as fast; only for choosing rays."""
    ax, ay = abs(x), abs(y)
    big = max(ax, ay)
    a = min(ax, ay) / big if big > 0.0 else 0.0
    s = a * a
    r = ((((-0.0117212 * s + 0.05265332) * s - 0.11643287) * s + 0.19354346) * s - 0.33262347) * s
    r = (r + 0.99997726) * a
    if ay > ax:
        r = 0.5 * math.pi - r
    if x < 0.0:
        r = math.pi - r
    return -r if y < 0.0 else r


@njit(cache=True, nogil=True, inline="always")
def _place_in_fan(fan: Record, low: float, high: float) -> tuple[float, float]:
    """Return where the angles from low to high begin and end, counted in rays, with slack."""
    begin = (low - fan.angle_min) * fan.per_step
    begin -= math.floor(begin / fan.turn) * fan.turn
    width = high - low
    if width < -1.0:  # an edge spans less than half a turn: this one crosses the cut at 180°
        width += 2.0 * math.pi
    return begin - fan.slack, begin + width * fan.per_step + fan.slack


@njit(cache=True, nogil=True, error_model="numpy")
def _draw_edge(
    fan: Record,
    low: tuple[float, float, float],
    high: tuple[float, float, float],
    rays: FloatArray,
) -> None:
    """Shorten the rays between two points (x, y, angle) of the fan's plane to the line there."""
    x0, y0, a0 = low
    x1, y1, a1 = high
    cross = x0 * y1 - y0 * x1
    begin, end = _place_in_fan(fan, a0, a1)
    # What reaches over the fan's end, or by the slack before its begin, comes again a turn later.
    lap = -1 if end >= fan.turn else 0
    last_lap = 1 if begin < 0.0 else 0
    while lap <= last_lap:
        shift = lap * fan.turn
        first = max(math.ceil(begin + shift), 0)
        last = min(math.floor(end + shift), fan.n - 1)
        for k in range(fan.first + first, fan.first + last + 1):
            i = np.uint64(k)
            after_low = x0 * rays[1, i] - y0 * rays[0, i]
            before_high = rays[0, i] * y1 - rays[1, i] * x1
            t = cross / (after_low + before_high)
            inside = (after_low >= 0.0) & (before_high >= 0.0)
            rays[2, i] = t if inside & (t < rays[2, i]) else rays[2, i]
        lap += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _trace_circle(fan: Record, circle: Record, rays: FloatArray) -> None:
    cx, cy = circle.x - fan.x, circle.y - fan.y
    power = cx * cx + cy * cy - circle.reach * circle.reach
    if power <= 0.0:  # not seen from inside, like any other solid
        return
    root = math.sqrt(power)
    x0, y0 = root * cx + circle.reach * cy, root * cy - circle.reach * cx
    x1, y1 = root * cx - circle.reach * cy, root * cy + circle.reach * cx
    if fan.det < 0.0:
        x0, y0, x1, y1 = x1, y1, x0, y0
    low = _angle(fan.w00 * x0 + fan.w01 * y0, fan.w10 * x0 + fan.w11 * y0)
    high = _angle(fan.w00 * x1 + fan.w01 * y1, fan.w10 * x1 + fan.w11 * y1)
    begin, end = _place_in_fan(fan, low, high)
    for lap in range(-1, 2):
        first = max(math.ceil(begin + lap * fan.turn), 0)
        last = min(math.floor(end + lap * fan.turn), fan.n - 1)
        for k in range(fan.first + first, fan.first + last + 1):
            i = np.uint64(k)
            ux = fan.m00 * rays[0, i] + fan.m01 * rays[1, i]
            uy = fan.m10 * rays[0, i] + fan.m11 * rays[1, i]
            b = ux * cx + uy * cy
            under = b * b - (ux * ux + uy * uy) * power
            if b > 0.0 and under >= 0.0:
                rays[2, i] = min(rays[2, i], power / (b + math.sqrt(under)))
