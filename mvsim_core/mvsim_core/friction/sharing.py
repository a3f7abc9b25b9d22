# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forces across of wheels of which more stick than motions are stopped.

Many forces do there. Taken one after the other the first wheels would bear all, and what a tyre
gives along would depend on its place in the list. Here wheels are springs that a force of m/dt
times STIFF moves by 1 m/s, m being what a wheel carries, in row with the slip that it needs. So
the velocity q of a vehicle after the step is the solution of

    (M + Σ k f vᵀ) q = M q₀ - Σ k b f,

q₀ being that without the forces across, v and f what the motion of the vehicle does to a wheel
and its force to the vehicle, k the stiffness of a wheel and b the slip that it has without a
force. What exceeds its limit is given its limit, and the others are solved for again. From there
`friction.coupled` goes on, which has little left to do.
"""

from __future__ import annotations

import math

from numba import njit

from mvsim_core.friction.wheel_rows import (
    FREE_ALONG,
    FREE_LEFT,
    LEFT,
    LFX,
    LVX,
    LVY,
    LW,
    STIFFNESS,
    pushed,
    takes_part,
)
from mvsim_core.state.arrays import FloatArray, Row, Rows

#: Part of its speed that a wheel keeps whose force stops what it carries [1].
STIFF = 1e-9


@njit(cache=True, nogil=True, error_model="numpy")
def only_across(wheels: Rows, v: Row, rows: FloatArray) -> bool:
    """Return whether all forces along wheels of a vehicle are given."""
    for k in range(v.n_wheels):
        if takes_part(wheels[v.wheel0 + k]) and rows[k][FREE_ALONG] != 0.0:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def share_out(  # noqa: PLR0913 (arrays of a kernel)
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    equations: FloatArray,
    velocity: tuple[float, float, float],
    give: tuple[float, float],
    dt: float,
) -> tuple[tuple[float, float, float], bool]:
    """Share the forces across out among the wheels of a vehicle.

    Args:
        wheels: WHEEL.
        v: Row of VEHICLE.
        rows: Its scratch rows; LEFT is written.
        equations: Scratch (3, 4).
        velocity: Velocity of its island after the step with the forces so far.
        give: What 1 N and 1 N m change of it.
        dt: Time step [s].

    Returns:
        The velocity with them; whether all are below their limits, so that no better ones exist.
    """
    start, count = v.wheel0, v.n_wheels
    for k in range(count):
        w, r = wheels[start + k], rows[k]
        r[STIFFNESS] = 0.0
        if takes_part(w) and r[FREE_LEFT] != 0.0:
            r[STIFFNESS] = 1.0 / (w.side_give + STIFF * dt / w.carried)
    free = with_forces_across(wheels, v, rows, velocity, give, -1.0)
    below = True
    for _ in range(count):
        enter_equations(wheels, v, rows, equations, free, give)
        vx, vy, wz = solve3(equations)
        beyond = False
        for k in range(count):
            w, r = wheels[start + k], rows[k]
            if r[STIFFNESS] == 0.0:
                continue
            slip = r[LVX] * vx + r[LVY] * vy + r[LW] * wz + w.side_bias
            r[LEFT] = -slip * r[STIFFNESS]
            if abs(r[LEFT]) > w.limit_y:
                r[LEFT] = math.copysign(w.limit_y, r[LEFT])
                r[STIFFNESS] = 0.0
                beyond = True
        if not beyond:
            break
        below = False
    return with_forces_across(wheels, v, rows, free, give, 1.0), below


@njit(cache=True, nogil=True, error_model="numpy")
def with_forces_across(
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    velocity: tuple[float, float, float],
    give: tuple[float, float],
    share: float,
) -> tuple[float, float, float]:
    """Return the velocity of an island with a share of all free forces across added."""
    for k in range(v.n_wheels):
        r = rows[k]
        if takes_part(wheels[v.wheel0 + k]) and r[FREE_LEFT] != 0.0:
            velocity = pushed(velocity, r, (0.0, share * r[LEFT]), give)
    return velocity


@njit(cache=True, nogil=True, error_model="numpy")
def enter_equations(
    wheels: Rows,
    v: Row,
    rows: FloatArray,
    equations: FloatArray,
    free: tuple[float, float, float],
    give: tuple[float, float],
) -> None:
    """Write the three equations of the velocity of an island whose wheels stick or slip across."""
    a = equations
    a[:] = 0.0
    a[0, 0] = a[1, 1] = 1.0 / give[0]
    a[2, 2] = 1.0 / give[1]
    a[0, 3], a[1, 3], a[2, 3] = free[0] / give[0], free[1] / give[0], free[2] / give[1]
    for k in range(v.n_wheels):
        w, r = wheels[v.wheel0 + k], rows[k]
        if not takes_part(w) or r[FREE_LEFT] == 0.0:
            continue
        stiff = r[STIFFNESS]
        push = -stiff * w.side_bias if stiff > 0.0 else r[LEFT]
        for i in range(3):
            a[i, 0] += stiff * r[LFX + i] * r[LVX]
            a[i, 1] += stiff * r[LFX + i] * r[LVY]
            a[i, 2] += stiff * r[LFX + i] * r[LW]
            a[i, 3] += push * r[LFX + i]


@njit(cache=True, nogil=True, error_model="numpy")
def solve3(a: FloatArray) -> tuple[float, float, float]:
    """Return the solution of three linear equations, rows of (3, 4) `a`, which it destroys."""
    for i in range(3):
        best = i
        for j in range(i + 1, 3):
            if abs(a[j, i]) > abs(a[best, i]):
                best = j
        for k in range(4):
            a[i, k], a[best, k] = a[best, k], a[i, k]
        for j in range(i + 1, 3):
            part = a[j, i] / a[i, i]
            for k in range(i, 4):
                a[j, k] -= part * a[i, k]
    z = a[2, 3] / a[2, 2]
    y = (a[1, 3] - a[1, 2] * z) / a[1, 1]
    return (a[0, 3] - a[0, 1] * y - a[0, 2] * z) / a[0, 0], y, z
