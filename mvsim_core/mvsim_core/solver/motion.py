# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kernels between our double-precision state and the solver's single-precision one.

The pose of a body that touches nothing is integrated here, in double precision; the solver only
has the last word where it changed a velocity or holds a contact. So a free body keeps its
precision far from the origin, and contacts are still solved consistently.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from mvsim_core.state.arrays import IntArray, Row, Rows
from mvsim_core.state.finite import HUGE

F32 = npt.NDArray[np.float32]

#: A free body whose solver copy is further off than this gets its copy renewed [m, rad].
DRIFT = 1e-4


@njit(cache=True, nogil=True)
def gather_kernel(bodies: Rows, movers: IntArray, linear: F32, angular: F32) -> int:
    """Write the velocities of the centres of mass of `movers` for the solver.

    Returns the first row whose velocity or pose is not finite (or too large for single precision),
    else -1.
    """
    for k in range(movers.shape[0]):
        b = bodies[movers[k]]
        if not abs(b.cvx) + abs(b.cvy) + abs(b.wz) + abs(b.x) + abs(b.y) + abs(b.yaw) < HUGE:
            return int(movers[k])
        linear[k, 0] = b.cvx
        linear[k, 1] = b.cvy
        angular[k] = b.wz
    return -1


@njit(cache=True, nogil=True)
def absorb_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    movers: IntArray,
    pushed: tuple[F32, F32],
    poses: tuple[F32, F32],
    pulled: tuple[F32, F32],
    origin: tuple[float, float],
    dt: float,
    stale: npt.NDArray[np.bool_],
) -> int:
    """Advance all movers by one step and return how many solver copies have drifted.

    Args:
        bodies: Rows of BODY.
        movers: Rows that move, in the solver's order.
        pushed: Linear and angular velocities given to the solver.
        poses: (n, 4) x, y, cos, sin before and after the solver's step.
        pulled: Linear and angular velocities after it.
        origin: Place of the world that is the solver's origin [m].
        dt: Time step [s].
        stale: Output, True where the solver's copy shall be renewed.
    """
    drifted = 0
    before, after = poses
    for k in range(movers.shape[0]):
        b = bodies[movers[k]]
        old_vx, old_vy = b.vx, b.vy
        free = (
            pushed[0][k, 0] == pulled[0][k, 0]
            and pushed[0][k, 1] == pulled[0][k, 1]
            and pushed[1][k] == pulled[1][k]
        )
        c0, s0 = math.cos(b.yaw), math.sin(b.yaw)
        px = b.x + c0 * b.com_x - s0 * b.com_y
        py = b.y + s0 * b.com_x + c0 * b.com_y
        b.impulse_x = 0.0
        b.impulse_y = 0.0
        if free and b.touching == 0:
            b.yaw += b.wz * dt
            px += b.cvx * dt
            py += b.cvy * dt
        else:
            b.impulse_x = b.mass * (pulled[0][k, 0] - b.cvx)
            b.impulse_y = b.mass * (pulled[0][k, 1] - b.cvy)
            c, s = before[k, 2], before[k, 3]
            b.yaw += math.atan2(
                c * after[k, 3] - s * after[k, 2], c * after[k, 2] + s * after[k, 3]
            )
            px += after[k, 0] - before[k, 0] + com_shift(b, before, after, k, 0)
            py += after[k, 1] - before[k, 1] + com_shift(b, before, after, k, 1)
            if not free:
                b.cvx = pulled[0][k, 0]
                b.cvy = pulled[0][k, 1]
                b.wz = pulled[1][k]
        c1, s1 = math.cos(b.yaw), math.sin(b.yaw)
        rx = c1 * b.com_x - s1 * b.com_y
        ry = s1 * b.com_x + c1 * b.com_y
        b.x = px - rx
        b.y = py - ry
        b.vx = b.cvx + b.wz * ry
        b.vy = b.cvy - b.wz * rx
        b.ax = (b.vx - old_vx) / dt
        b.ay = (b.vy - old_vy) / dt
        b.az = (b.wz - b.wz_before) / dt
        b.wz_before = b.wz
        stale[k] = b.touching == 0 and (
            abs(b.x - origin[0] - after[k, 0]) > DRIFT
            or abs(b.y - origin[1] - after[k, 1]) > DRIFT
            or abs(c1 - after[k, 2]) > DRIFT
            or abs(s1 - after[k, 3]) > DRIFT
        )
        drifted += stale[k]
    return drifted


@njit(cache=True, nogil=True)
def com_shift(b: Row, before: F32, after: F32, k: int, axis: int) -> float:
    """Return how far the centre of mass moved more than the reference point along an axis [m]."""
    dc = after[k, 2] - before[k, 2]
    ds = after[k, 3] - before[k, 3]
    if axis == 0:
        return float(dc * b.com_x - ds * b.com_y)
    return float(ds * b.com_x + dc * b.com_y)
