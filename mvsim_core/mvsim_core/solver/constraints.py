# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Constraint rows of joints, grips, contacts and walls in one substep.

After `b2PrepareContactsTask` (contact_solver.c) and `b2SolveRevoluteJoint`,
`b2SolveDistanceJoint`, `b2SolvePrismaticJoint` of Box2D 3 (E. Catto, MIT licence). Errors of
position are not put into the velocities, as there, but into pushing velocities beside them
(`ROW.push`), so that what pushes an overlap apart never becomes energy.
"""

from __future__ import annotations

import math

from mvsim_core.solver.compiled import ZERO, inner
from mvsim_core.solver.contact_types import DISTANCE, PRISMATIC, REVOLUTE, WELD
from mvsim_core.solver.rows import (
    AT_LEAST,
    BOUNDED,
    EQUAL,
    FRICTION,
    PAIR,
    PAIR_SECOND,
    SECOND,
    VECTOR,
    couple,
    fill,
    fill_angular,
    speed,
)
from mvsim_core.state.arrays import Row, Rows

#: Overlap to which is pushed apart what overlaps by more than SLOP + PATIENCE [m].
SLOP, PATIENCE = 2e-4, 5e-5
#: Slower approaches do not bounce [m/s].
BOUNCE_SPEED = 1.0
#: Gaps up to this close like those of what is pressed slowly [m].
SMALL_GAP = 1e-4
#: What is deeper is pushed apart at this rate [1/s], at most this part a substep [1], and never
#: faster than this [m/s]: only what was put into something else is that deep.
PUSH_RATE, PUSH_PART, PUSH_SPEED = 20.0, 0.25, 0.5
#: Part of a joint's error that is pushed away in a substep [1], and the highest speed [m/s or
#: rad/s].
JOINT_PART, JOINT_SPEED = 0.5, 3.0


@inner
def horizon_of(speed: float, times: tuple[float, float]) -> float:
    """Return the time over which a gap may close [s], given substep and rest of the step.

    What hits comes close within the substep. What is pressed slowly closes its gap over the rest
    of the step: forces come in once a step, so that a body that came to rest on one corner before
    the other would start to rock, with nothing to hold it down.
    """
    return times[0] if speed > BOUNCE_SPEED else times[1]


@inner
def push_of(separation: float, h: float) -> float:
    """Return how fast an overlap is pushed apart in a substep of h [m/s]."""
    depth = -separation - SLOP
    if depth < PATIENCE:
        return 0.0
    return min(PUSH_SPEED, depth * min(PUSH_RATE, PUSH_PART / h))


@inner
def correction(error: float, h: float) -> float:
    """Return the velocity that takes a joint's error away [m/s or rad/s]."""
    return max(-JOINT_SPEED, min(JOINT_SPEED, -JOINT_PART * error / h))


@inner
def contact_rows(  # noqa: PLR0913 (arrays of a kernel)
    m: Row,
    points: Rows,
    first: int,
    rows: Rows,
    n: int,
    active: Rows,
    near: tuple[float, float, float],
) -> int:
    """Append the rows of a manifold: normals, then frictions; return the new number of rows.

    Its points are the rows of `points` from `first`; `near` has the substep and the rest of the
    step [s], and the gap up to which a point takes part [m].
    """
    h, reach = near[0], near[2]
    m.used = 0
    for i in range(first, first + m.count):
        s = separation_now(m, points[i], active)
        points[i].row = -1
        if s <= reach:
            points[i].row = n + m.used
            rows[n + m.used].target = s
            m.used += 1
    for i in range(first, first + m.count):
        p = points[i]
        if p.row < 0:
            continue
        r, f = rows[p.row], rows[p.row + m.used]
        s = r.target
        ends = (m.a, m.b)
        fill(r, active, ends, (m.nx, m.ny), (p.ax, p.ay), (p.bx, p.by))
        r.kind = AT_LEAST
        r.restitution = m.restitution
        r.before = speed(r, active)
        r.target = -max(0.0, s) / (m.horizon if s > SMALL_GAP else near[1])
        r.push = push_of(s, h)
        fill(f, active, ends, (-m.ny, m.nx), (p.ax, p.ay), (p.bx, p.by))
        f.kind = FRICTION
        f.limit = m.friction
        f.mate = p.row
        f.before = speed(f, active)
    if m.used == 2:
        rows[n].kind = PAIR
        rows[n + 1].kind = PAIR_SECOND
        couple(rows[n], rows[n + 1], active)
    return int(n + 2 * m.used)


@inner
def separation_now(m: Row, p: Row, active: Rows) -> float:
    """Return the separation of a contact point after what the bodies moved since it was found."""
    a, b = active[m.a], active[m.b]
    ta, tb = a.da - m.aa, b.da - m.ba
    x = (b.dx - m.bx - tb * p.by) - (a.dx - m.ax - ta * p.ay)
    y = (b.dy - m.by + tb * p.bx) - (a.dy - m.ay + ta * p.ax)
    return float(p.s + m.nx * x + m.ny * y)


@inner
def wall_rows(
    wall: Row, slot: int, rows: Rows, n: int, active: Rows, near: tuple[float, float, float]
) -> int:
    """Append the rows of a wall: normal and friction; return the new number of rows."""
    h = near[0]
    b = active[slot]
    arm = (wall.x - b.x, wall.y - b.y)
    moved = b.dx - b.da * arm[1], b.dy + b.da * arm[0]
    s = wall.separation + wall.nx * moved[0] + wall.ny * moved[1]
    r = rows[n]
    fill(r, active, (ZERO, slot), (wall.nx, wall.ny), (0.0, 0.0), arm)
    r.kind = AT_LEAST
    r.before = speed(r, active)
    r.target = -max(0.0, s) / horizon_of(-r.before, (h, near[1]))
    r.push = push_of(s, h)
    f = rows[n + 1]
    fill(f, active, (ZERO, slot), (-wall.ny, wall.nx), (0.0, 0.0), arm)
    f.kind = FRICTION
    f.limit = wall.friction
    f.mate = n
    f.before = speed(f, active)
    return n + 2


@inner
def grip_rows(grip: Row, slot: int, rows: Rows, n: int, active: Rows, dt: float) -> int:
    """Append the rows of a grip, `grip_row_count` of them; return the new number of rows.

    What it gave before counts: its bound is that of the whole step `dt` [s].
    """
    b = active[slot]
    x, y = grip.x - b.com_x, grip.y - b.com_y
    arm = (b.c * x - b.s * y, b.s * x + b.c * y)
    c, s = math.cos(grip.direction), math.sin(grip.direction)
    along = (b.c * c - b.s * s, b.s * c + b.c * s)
    across = (-along[1], along[0])
    given = (grip.impulse_x, grip.impulse_y)
    if grip.round != 0:
        r, second = rows[n], rows[n + 1]
        ground_row(r, active, slot, along, arm, given)
        ground_row(second, active, slot, across, arm, given)
        r.kind, second.kind = VECTOR, SECOND
        r.limit, second.limit = grip.limit_y * dt, grip.limit_x * dt
        couple(r, second, active)
        return n + 2
    if grip.limit_x > 0.0:
        ground_row(rows[n], active, slot, along, arm, given)
        rows[n].limit = grip.limit_x * dt
        n += 1
    if grip.limit_y > 0.0:
        ground_row(rows[n], active, slot, across, arm, given)
        rows[n].limit = grip.limit_y * dt
        n += 1
    return n


@inner
def ground_row(
    r: Row,
    active: Rows,
    slot: int,
    normal: tuple[float, float],
    arm: tuple[float, float],
    given: tuple[float, float],
) -> None:
    """Make a row that stops a point along a direction, starting from an impulse given so far."""
    fill(r, active, (ZERO, slot), normal, (0.0, 0.0), arm)
    r.kind = BOUNDED
    r.impulse = r.start = normal[0] * given[0] + normal[1] * given[1]
    r.before = speed(r, active)


@inner
def grip_row_count(grip: Row) -> int:
    """Return how many rows a grip has."""
    if grip.round != 0:
        return 2
    return (1 if grip.limit_x > 0.0 else 0) + (1 if grip.limit_y > 0.0 else 0)


@inner
def joint_rows(
    joint: Row, ends: tuple[int, int], rows: Rows, n: int, active: Rows, h: float
) -> int:
    """Append the rows of a joint between two rows of ACTIVE; return the new number of rows."""
    a, b = active[ends[0]], active[ends[1]]
    x, y = joint.ax - a.com_x, joint.ay - a.com_y
    arm_a = (a.c * x - a.s * y, a.s * x + a.c * y)
    x, y = joint.bx - b.com_x, joint.by - b.com_y
    arm_b = (b.c * x - b.s * y, b.s * x + b.c * y)
    dx = (b.x - a.x) + (b.dx - a.dx) + arm_b[0] - arm_a[0]
    dy = (b.y - a.y) + (b.dy - a.dy) + arm_b[1] - arm_a[1]
    angle = (b.yaw - a.yaw) + (b.da - a.da) - joint.angle
    start = n
    if joint.kind == REVOLUTE or joint.kind == WELD:
        n = point_rows(ends, (dx, dy), (arm_a, arm_b), rows, n, active, h)
        if joint.kind == WELD:
            n = angle_row(ends, angle, rows, n, active, h)
        elif joint.limited:
            for side in range(2):
                fill_angular(rows[n], active, ends)
                n = limit_row(joint, side, angle, rows, n, h)
    elif joint.kind == DISTANCE:
        n = distance_rows(joint, ends, (dx, dy), (arm_a, arm_b), rows, n, active, h)
    elif joint.kind == PRISMATIC:
        n = angle_row(ends, angle, rows, n, active, h)
        axis = (
            a.c * joint.axis_x - a.s * joint.axis_y,
            a.s * joint.axis_x + a.c * joint.axis_y,
        )
        # the force acts at the anchor of b: on a it has the arm to that point
        arm_a = (arm_a[0] + dx, arm_a[1] + dy)
        r = rows[n]
        fill(r, active, ends, (-axis[1], axis[0]), arm_a, arm_b)
        r.kind = EQUAL
        r.push = correction(axis[0] * dy - axis[1] * dx, h)
        n += 1
        if joint.limited:
            for side in range(2):
                fill(rows[n], active, ends, axis, arm_a, arm_b)
                n = limit_row(joint, side, axis[0] * dx + axis[1] * dy, rows, n, h)
    for i in range(start, n):
        rows[i].before = speed(rows[i], active)
    return n


@inner
def point_rows(  # noqa: PLR0913 (arrays of a kernel)
    ends: tuple[int, int],
    error: tuple[float, float],
    arms: tuple[tuple[float, float], tuple[float, float]],
    rows: Rows,
    n: int,
    active: Rows,
    h: float,
) -> int:
    """Append two rows that keep two anchors together."""
    r, t = rows[n], rows[n + 1]
    fill(r, active, ends, (1.0, 0.0), arms[0], arms[1])
    fill(t, active, ends, (0.0, 1.0), arms[0], arms[1])
    r.kind, t.kind = VECTOR, SECOND
    couple(r, t, active)
    r.push, t.push = correction(error[0], h), correction(error[1], h)
    return n + 2


@inner
def angle_row(
    ends: tuple[int, int], angle: float, rows: Rows, n: int, active: Rows, h: float
) -> int:
    """Append a row that keeps two bodies from turning against each other."""
    fill_angular(rows[n], active, ends)
    rows[n].kind = EQUAL
    rows[n].push = correction(angle, h)
    return n + 1


@inner
def limit_row(joint: Row, side: int, value: float, rows: Rows, n: int, h: float) -> int:
    """Make of a row, whose geometry is set, the lower (side 0) or upper limit of `value`."""
    r = rows[n]
    left = value - joint.lower
    if side == 1:
        left = joint.upper - value
        r.nx, r.ny, r.ja, r.jb = -r.nx, -r.ny, -r.ja, -r.jb
    r.kind = AT_LEAST
    r.target = -max(0.0, left) / h
    r.push = max(0.0, correction(left, h)) if left < 0.0 else 0.0
    return n + 1


@inner
def distance_rows(  # noqa: PLR0913 (arrays of a kernel)
    joint: Row,
    ends: tuple[int, int],
    between: tuple[float, float],
    arms: tuple[tuple[float, float], tuple[float, float]],
    rows: Rows,
    n: int,
    active: Rows,
    h: float,
) -> int:
    """Append a spring to the longest distance, or the limits of the distance (a rope, a rod).

    The spring's stiffness is that of the reduced mass of both bodies at the given frequency,
    wherever the anchors are; it is integrated implicitly.
    """
    length = math.hypot(between[0], between[1])
    if length < 1e-9:
        return n  # it has no direction there
    normal = (between[0] / length, between[1] / length)
    if joint.hertz > 0.0:
        r = rows[n]
        fill(r, active, ends, normal, arms[0], arms[1])
        r.kind = EQUAL
        inverse = active[ends[0]].inv_mass + active[ends[1]].inv_mass
        if not inverse > 0.0:
            return n
        pulsation = 2.0 * math.pi * joint.hertz
        stiffness = pulsation * pulsation / inverse
        damping = 2.0 * joint.damping_ratio * pulsation / inverse
        r.soft = 1.0 / (h * (damping + h * stiffness))
        r.target = -(length - joint.upper) * h * stiffness * r.soft
        r.mass = 1.0 / (r.k + r.soft)
        return n + 1
    for side in range(2):
        if side == 0 and joint.lower <= 0.0:
            continue
        fill(rows[n], active, ends, normal, arms[0], arms[1])
        n = limit_row(joint, side, length, rows, n, h)
    return n
