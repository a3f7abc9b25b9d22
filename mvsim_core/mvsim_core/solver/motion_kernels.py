# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From the velocities after contacts to the poses at the end of the step, and derived fields."""

from __future__ import annotations

import math

from mvsim_core.solver.compiled import inner, kernel
from mvsim_core.solver.near import CLEAR, MEETING, any_meeting, check_guards
from mvsim_core.state.arrays import IntArray, Row, Rows


@inner
def turn_to(g: Row, yaw: float) -> None:
    """Keep cosine and sine of a yaw [rad] in a guard: a body starts where it ended."""
    if g.yaw != yaw:
        g.yaw = yaw
        g.c, g.s = math.cos(yaw), math.sin(yaw)


@inner
def advance(b: Row, g: Row, old: tuple[float, float], px: float, py: float, dt: float) -> None:
    """Set the pose and what follows from it, given yaw and the place of the centre of mass [m].

    `old` is the velocity of the reference point before the step [m/s], `g` the body's guard.
    """
    turn_to(g, b.yaw)
    rx = g.c * b.com_x - g.s * b.com_y
    ry = g.s * b.com_x + g.c * b.com_y
    b.x = px - rx
    b.y = py - ry
    b.vx = b.cvx + b.wz * ry
    b.vy = b.cvy - b.wz * rx
    b.ax = (b.vx - old[0]) / dt
    b.ay = (b.vy - old[1]) / dt
    b.az = (b.wz - b.wz_before) / dt
    b.wz_before = b.wz


@inner
def advance_free(b: Row, g: Row, old_share: float, dt: float) -> None:
    """Advance a body whose velocity no contact changes.

    Its way is that of its new velocity and, with a share, that of the velocity before the step.
    Where something may touch it in this step there is no share, as the contact solver counts.
    """
    turn_to(g, b.yaw)
    px = b.x + g.c * b.com_x - g.s * b.com_y
    py = b.y + g.s * b.com_x + g.c * b.com_y
    b.impulse_x = 0.0
    b.impulse_y = 0.0
    vx, vy, wz = b.cvx, b.cvy, b.wz
    if old_share > 0.0:
        vx += old_share * (b.vx - b.wz_before * (py - b.y) - vx)
        vy += old_share * (b.vy + b.wz_before * (px - b.x) - vy)
        wz += old_share * (b.wz_before - wz)
    b.yaw += wz * dt
    px += vx * dt
    py += vy * dt
    advance(b, g, (b.vx, b.vy), px, py, dt)


@inner
def advance_active(b: Row, g: Row, a: Row, dt: float) -> None:
    """Advance a body by what the contact solution, a row of ACTIVE, says."""
    if a.changed == 0:
        advance_free(b, g, 0.0, dt)
        return
    # relative to the start of the step, so that small motions far from the origin stay exact
    turn_to(g, b.yaw)
    px = b.x + g.c * b.com_x - g.s * b.com_y + a.dx
    py = b.y + g.s * b.com_x + g.c * b.com_y + a.dy
    b.impulse_x = b.mass * (a.vx - b.cvx) - a.grip_x
    b.impulse_y = b.mass * (a.vy - b.cvy) - a.grip_y
    b.yaw += a.da
    b.cvx, b.cvy, b.wz = a.vx, a.vy, a.w
    advance(b, g, (b.vx, b.vy), px, py, dt)


@kernel
def meeting_kernel(
    bodies: Rows, movers: IntArray, guards: Rows, near: Rows, count: int, dt: float
) -> bool:
    """Return the result of `any_meeting`, for all movers."""
    return bool(any_meeting(bodies, movers, guards, near, count, dt))


@kernel
def free_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    movers: IntArray,
    guards: Rows,
    near: Rows,
    count: int,
    dt: float,
    advances: bool,
) -> int:
    """Check all movers, and advance them if nothing can be touched in this step.

    Args:
        bodies: Rows of BODY.
        movers: Its rows that move.
        guards: Rows of GUARD, one a mover.
        near: Rows of NEAR.
        count: How many of them are in use; -1: what is near is not known.
        dt: Time step [s].
        advances: Whether to advance them; False: only check.

    Returns:
        The result of `check_guards`, or MEETING where near pairs may meet in this step. Movers are
        advanced if it is CLEAR.
    """
    result = check_guards(bodies, movers, guards, dt)
    if result != CLEAR:
        return int(result)
    if any_meeting(bodies, movers, guards, near, count, dt):
        return MEETING
    if not advances or count < 0:
        return CLEAR
    for k in range(movers.shape[0]):
        b = bodies[movers[k]]
        b.touching = 0
        advance_free(b, guards[k], b.old_share, dt)
    return CLEAR
