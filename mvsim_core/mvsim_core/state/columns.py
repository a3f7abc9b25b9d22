# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Columns of numbers for learning: scaled and bounded, and places seen from bodies.

Numpy does the same, but for rows of few columns it needs several times as long as a step of the
physics.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from mvsim_core.state.arrays import BoolArray, FloatArray, IntArray, Rows
from mvsim_core.state.parts import END, FIRST, follow, turn


def numbers_of(rows: Rows) -> FloatArray:
    """Return (n, m) float64, the memory of rows of a dtype of whole cache lines.

    Column `column_of` has a field; a kernel can be given the field by that number.
    """
    numbers: FloatArray = rows.view(np.float64).reshape(len(rows), -1)
    return numbers


def column_of(dtype: Any, field: str) -> int:
    """Return the column of a field of float64 in `numbers_of`."""
    kind, offset = dtype.fields[field][:2]
    if kind != np.float64 or offset % 8:
        raise ValueError(f"{field} is no float64 in a column")
    return int(offset) // 8


@njit(cache=True, nogil=True)
def bound_kernel(values: Any, factors: Any, low: Any, high: Any, out: Any) -> None:
    """Write values (n, m) times factors (m,), within low (m,) and high (m,); NaN stays."""
    for i in range(values.shape[0]):
        for k in range(values.shape[1]):
            value = values[i, k] * factors[k]
            if value < low[k]:
                value = low[k]
            if value > high[k]:
                value = high[k]
            out[i, k] = value


@njit(cache=True, nogil=True)
def bearings_kernel(bodies: Rows, rows: IntArray, points: FloatArray, out: FloatArray) -> None:
    """Write where points are as seen from bodies.

    Args:
        bodies: BODY, all rows.
        rows: (n,) rows of the bodies.
        points: (n, 2) m, world frame.
        out: (n, 3) distance [m], and cosine and sine of the bearing in the body frame.
    """
    for i in range(rows.shape[0]):
        b = bodies[rows[i]]
        dx, dy = points[i, 0] - b.x, points[i, 1] - b.y
        distance = math.sqrt(dx * dx + dy * dy)
        c, s = math.cos(b.yaw), math.sin(b.yaw)
        per_metre = 1.0 / max(distance, 1e-9)
        out[i, 0] = distance
        out[i, 1] = (c * dx + s * dy) * per_metre
        out[i, 2] = (c * dy - s * dx) * per_metre


@njit(cache=True, nogil=True)
def write_fields_kernel(  # noqa: PLR0913 (arrays of a kernel)
    values: Any,
    factors: Any,
    low: Any,
    high: Any,
    numbers: FloatArray,
    rows: IntArray,
    columns: IntArray,
) -> None:
    """Write what `bound_kernel` gives for values (n, m) into fields of rows.

    Args:
        values: (n, m).
        factors: (m,).
        low: (m,).
        high: (m,).
        numbers: Of all rows, see `numbers_of`.
        rows: (n,).
        columns: (m,) columns of the fields.
    """
    for i in range(rows.shape[0]):
        for k in range(columns.shape[0]):
            value = values[i, k] * factors[k]
            if value < low[k]:
                value = low[k]
            if value > high[k]:
                value = high[k]
            numbers[rows[i], columns[k]] = value


@njit(cache=True, nogil=True)
def read_fields_kernel(
    numbers: FloatArray, rows: IntArray, columns: IntArray, factors: FloatArray, out: Any
) -> None:
    """Write fields of rows times factors (m,) into `out` (n, m); see `write_fields_kernel`."""
    for i in range(rows.shape[0]):
        for k in range(columns.shape[0]):
            out[i, k] = numbers[rows[i], columns[k]] * factors[k]


@njit(cache=True, nogil=True)
def touching_kernel(bodies: Rows, met: BoolArray, rows: IntArray, touched: BoolArray) -> None:
    """Note which bodies touch something, beside those that were noted before.

    Args:
        bodies: BODY, all rows.
        met: For all rows, whether they touched something meanwhile.
        rows: (n,) rows of the bodies.
        touched: (n,)
    """
    for i in range(rows.shape[0]):
        if bodies[rows[i]].touching != 0 or met[rows[i]]:
            touched[i] = True


@njit(cache=True, nogil=True)
def met_kernel(bodies: Rows, rows: IntArray, met: BoolArray) -> None:
    """Note which of some rows (n,) of BODY touch something, in an array of all rows."""
    for i in range(rows.shape[0]):
        if bodies[rows[i]].touching != 0:
            met[rows[i]] = True


@njit(cache=True, nogil=True)
def approach_kernel(  # noqa: PLR0913 (arrays of a kernel)
    before: FloatArray,
    seen: FloatArray,
    touched: BoolArray,
    near: float,
    prizes: tuple[float, float],
    reward: FloatArray,
    distance: FloatArray,
    success: BoolArray,
    ended: BoolArray,
) -> None:
    """Judge the way of agents to places.

    Args:
        before: (n, 3) what `bearings_kernel` wrote before the step.
        seen: (n, 3) and after it.
        touched: (n,) who touched something.
        near: Distance that counts as arrival [m].
        prizes: For arrival, and for touching.
        reward: Output: metres that they came nearer, and prizes.
        distance: Output [m].
        success: Output: who arrived without touching.
        ended: Output: who arrived or touched.
    """
    for i in range(seen.shape[0]):
        there = seen[i, 0] < near
        arrived = 1.0 if there else 0.0
        hit = 1.0 if touched[i] else 0.0
        reward[i] = before[i, 0] - seen[i, 0] + prizes[0] * arrived + prizes[1] * hit
        distance[i] = seen[i, 0]
        success[i] = there and not touched[i]
        ended[i] = there or touched[i]


@njit(cache=True, nogil=True)
def arrive_kernel(  # noqa: PLR0913 (arrays of a kernel)
    parts: IntArray,
    begin: int,
    each: int,
    touching: Any,
    points: FloatArray,
    before: FloatArray,
    seen: FloatArray,
    near: float,
    prizes: tuple[float, float],
    results: Any,
    readings: Any,
    bounds: Any,
    out: Any,
) -> None:
    """Follow parts of agents: do what `touching_kernel`, `bearings_kernel`, `approach_kernel` do.

    Args:
        parts: Of the copies, see `parts.follow`.
        begin: The part at which this thread begins.
        each: Agents of a copy.
        touching: What `touching_kernel` takes.
        points: As in `bearings_kernel`.
        before: As in `approach_kernel`, and so are the next ones.
        seen: Output.
        near: See there.
        prizes: See there.
        results: Output: reward, distance, success and ended.
        readings: What `read_fields_kernel` takes before `out`.
        bounds: Factors, low and high of `bound_kernel`.
        out: Output (agents, m): bounded, `seen` and then the fields of `readings`; empty: none.
    """
    bodies, met, rows, touched = touching
    reward, distance, success, ended = results
    numbers, vehicles, columns, scales = readings
    factors, low, high = bounds
    for turns in range(parts.shape[0]):
        part = turn(parts, begin, turns)
        if not follow(parts, part):
            continue
        first, end = each * parts[part, FIRST], each * parts[part, END]
        touching_kernel(bodies, met, rows[first:end], touched[first:end])
        bearings_kernel(bodies, rows[first:end], points[first:end], seen[first:end])
        approach_kernel(
            before[first:end],
            seen[first:end],
            touched[first:end],
            near,
            prizes,
            reward[first:end],
            distance[first:end],
            success[first:end],
            ended[first:end],
        )
        if out.shape[0] == 0:
            continue
        for i in range(first, end):
            for k in range(3):
                out[i, k] = seen[i, k]
        read_fields_kernel(numbers, vehicles[first:end], columns, scales, out[first:end, 3:])
        bound_kernel(out[first:end], factors, low, high, out[first:end])


@njit(cache=True, nogil=True)
def count_kernel(
    steps: IntArray,
    most: int,
    begun: BoolArray,
    terminated: BoolArray,
    truncated: BoolArray,
    ended: BoolArray,
) -> int:
    """Count a step of each episode, and note which episodes end with it.

    Args:
        steps: (n,) steps of the episodes, renewed.
        most: Steps after which an episode is truncated.
        begun: (n,) episodes that begin in this step, with no step yet.
        terminated: (n,) episodes that end by themselves, if they do not begin.
        truncated: Output (n,).
        ended: Output (n,): terminated or truncated.

    Returns:
        How many episodes end.
    """
    count = 0
    for i in range(steps.shape[0]):
        if begun[i]:
            steps[i] = 0
            truncated[i] = ended[i] = False
            continue
        steps[i] += 1
        truncated[i] = steps[i] >= most
        ended[i] = terminated[i] or truncated[i]
        if ended[i]:
            count += 1
    return count
