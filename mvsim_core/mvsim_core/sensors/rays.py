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

#: A fan steeper than about 89.9 degrees has no plan view to speak of.
FLATTEST = 1e-3
#: Error bound of `angle_of` [rad].
ANGLE_ERROR = 4e-6


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


@njit(cache=True, nogil=True, inline="always")
def in_reach(fan: Record, shape: Record) -> bool:
    """Return whether a shape or chunk is as high as a fan and within its greatest range."""
    if not (shape.zmin <= fan.z and fan.z <= shape.zmax):
        return False
    dx, dy = shape.x - fan.x, shape.y - fan.y
    far = shape.reach + fan.range_max
    return bool(dx * dx + dy * dy <= far * far)


@njit(cache=True, nogil=True, error_model="numpy")
def trace_shape(fan: Record, shape: Record, corners: FloatArray, rays: FloatArray) -> None:
    """Shorten the rays of a fan to a shape, given in the world frame."""
    if not in_reach(fan, shape):
        return
    if shape.count == 0:
        _trace_circle(fan, shape, rays)
        return
    x0, y0 = _into_plane(fan, corners, shape.start + shape.count - 1)
    a0 = angle_of(x0, y0)
    for i in range(shape.start, shape.start + shape.count):
        x1, y1 = _into_plane(fan, corners, i)
        a1 = angle_of(x1, y1)
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
def angle_of(x: float, y: float) -> float:
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
def place_in_fan(fan: Record, low: float, high: float) -> tuple[float, float]:
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
    begin, end = place_in_fan(fan, a0, a1)
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
    low = angle_of(fan.w00 * x0 + fan.w01 * y0, fan.w10 * x0 + fan.w11 * y0)
    high = angle_of(fan.w00 * x1 + fan.w01 * y1, fan.w10 * x1 + fan.w11 * y1)
    begin, end = place_in_fan(fan, low, high)
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
