# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Scalar constraints of velocities and their solution by projected Gauss-Seidel sweeps.

A row acts on bodies a and b along (nx, ny) with lever arms ja, jb; its relative velocity is
u = n·(v_b - v_a) + jb w_b - ja w_a. A sweep gives each row the impulse that brings u to its
target within its bounds, impulses being accumulated, as in `b2SolveContact` of Box2D 3 and the
block solver of `b2ContactSolver::SolveVelocityConstraints` of Box2D 2.4 (E. Catto, MIT licence).
Unlike there, sweeps go on until the velocities stand still.
"""

from __future__ import annotations

import math

from mvsim_core.solver.compiled import inner
from mvsim_core.solver.sliding import sliding_impulse
from mvsim_core.state.arrays import Row, Rows

#: Kinds of rows. SECOND and PAIR_SECOND are solved with the row before them.
SECOND = 0
EQUAL = 1  # u = target; with softness: a spring
AT_LEAST = 2  # u >= target, impulse >= 0
FRICTION = 3  # u -> target, |impulse| <= limit * impulse of the mate
BOUNDED = 4  # u -> target, |impulse| <= limit
#: This row and the next: u -> target, |impulses| <= limit as a vector; the impulse of this one is
#: within the limit of the next.
VECTOR = 5
PAIR = 6  # this row and the next: both AT_LEAST, solved together
PAIR_SECOND = 7
#: A pair of rows this close to linear dependence is solved one after the other [1].
DEPENDENT = 1e-3


@inner
def speed(r: Row, active: Rows) -> float:
    """Return the relative velocity of a row [m/s]."""
    a, b = active[r.a], active[r.b]
    return float(r.nx * (b.vx - a.vx) + r.ny * (b.vy - a.vy) + r.jb * b.w - r.ja * a.w)


@inner
def apply(r: Row, impulse: float, active: Rows) -> None:
    """Add an impulse [N s] of a row to the velocities of its bodies."""
    b = active[r.b]
    if r.a != 0:  # row 0 is all that is fixed
        a = active[r.a]
        a.vx -= impulse * r.nx * a.inv_mass
        a.vy -= impulse * r.ny * a.inv_mass
        a.w -= impulse * r.ja * a.inv_inertia
    b.vx += impulse * r.nx * b.inv_mass
    b.vy += impulse * r.ny * b.inv_mass
    b.w += impulse * r.jb * b.inv_inertia


@inner
def push_speed(r: Row, active: Rows) -> float:
    """Return the relative pushing velocity of a row [m/s]."""
    a, b = active[r.a], active[r.b]
    return float(r.nx * (b.px - a.px) + r.ny * (b.py - a.py) + r.jb * b.pw - r.ja * a.pw)


@inner
def apply_push(r: Row, impulse: float, active: Rows) -> None:
    """Add an impulse [N s] of a row to the pushing velocities of its bodies."""
    a, b = active[r.a], active[r.b]
    a.px -= impulse * r.nx * a.inv_mass
    a.py -= impulse * r.ny * a.inv_mass
    a.pw -= impulse * r.ja * a.inv_inertia
    b.px += impulse * r.nx * b.inv_mass
    b.py += impulse * r.ny * b.inv_mass
    b.pw += impulse * r.jb * b.inv_inertia


@inner
def fill(
    r: Row,
    active: Rows,
    ends: tuple[int, int],
    normal: tuple[float, float],
    arm_a: tuple[float, float],
    arm_b: tuple[float, float],
) -> None:
    """Set the geometry of a row whose bodies are `ends`, acting at the given arms [m]."""
    r.a, r.b = ends
    r.nx, r.ny = normal
    r.ja = arm_a[0] * r.ny - arm_a[1] * r.nx
    r.jb = arm_b[0] * r.ny - arm_b[1] * r.nx
    finish(r, active)


@inner
def fill_angular(r: Row, active: Rows, ends: tuple[int, int]) -> None:
    """Set the geometry of a row that acts on the angular velocities."""
    r.a, r.b = ends
    r.nx = r.ny = 0.0
    r.ja = r.jb = 1.0
    finish(r, active)


@inner
def finish(r: Row, active: Rows) -> None:
    """Set the masses of a row and zero what it accumulates."""
    a, b = active[r.a], active[r.b]
    r.k = (
        (a.inv_mass + b.inv_mass) * (r.nx * r.nx + r.ny * r.ny)
        + r.ja * r.ja * a.inv_inertia
        + r.jb * r.jb * b.inv_inertia
    )
    r.mass = 1.0 / r.k if r.k > 0.0 else 0.0
    r.cross = 0.0
    r.soft = 0.0
    r.target = 0.0
    r.limit = math.inf
    r.restitution = 0.0
    r.impulse = 0.0
    r.start = 0.0
    r.push = 0.0
    r.pushed = 0.0
    r.mate = -1


@inner
def couple(r: Row, second: Row, active: Rows) -> None:
    """Set how much an impulse of one row changes the velocity of another of the same bodies."""
    a, b = active[r.a], active[r.b]
    r.cross = (
        (a.inv_mass + b.inv_mass) * (r.nx * second.nx + r.ny * second.ny)
        + r.ja * second.ja * a.inv_inertia
        + r.jb * second.jb * b.inv_inertia
    )


@inner
def change(r: Row, impulse: float, active: Rows) -> float:
    """Give a row a new accumulated impulse; return how much its velocity changes [m/s]."""
    more = impulse - r.impulse
    r.impulse = impulse
    if more == 0.0:
        return 0.0
    apply(r, more, active)
    return float(abs(more) * r.k)


@inner
def solve_vector(r: Row, second: Row, active: Rows) -> float:
    """Bring two velocities to their targets with a bounded vector of impulses."""
    det = r.k * second.k - r.cross * r.cross
    if not det > 0.0:
        return 0.0
    u = speed(r, active) - r.target
    v = speed(second, active) - second.target
    x = r.impulse - (second.k * u - r.cross * v) / det
    y = second.impulse - (r.k * v - r.cross * u) / det
    bounded = r.limit < math.inf or second.limit < math.inf
    if bounded and (math.hypot(x, y) > r.limit or abs(x) > second.limit):
        # velocities without the impulses of both
        u -= r.k * r.impulse + r.cross * second.impulse
        v -= r.cross * r.impulse + second.k * second.impulse
        x, y = sliding_impulse(r.k, r.cross, second.k, u, v, r.limit)
        if abs(x) > second.limit:
            x = math.copysign(second.limit, x)
            most = math.sqrt(max(0.0, r.limit * r.limit - x * x))
            y = min(most, max(-most, -second.mass * (v + r.cross * x)))
    return float(max(change(r, x, active), change(second, y, active)))


@inner
def solve_pair(r: Row, second: Row, active: Rows) -> float:
    """Solve two rows AT_LEAST at once by trying the four cases of their complementarity."""
    det = r.k * second.k - r.cross * r.cross
    if det < DEPENDENT * r.k * second.k:
        worst = change(r, max(0.0, r.impulse - r.mass * (speed(r, active) - r.target)), active)
        y = second.impulse - second.mass * (speed(second, active) - second.target)
        return float(max(worst, change(second, max(0.0, y), active)))
    # velocities without the impulses of both
    u = speed(r, active) - r.target - r.k * r.impulse - r.cross * second.impulse
    v = speed(second, active) - second.target - r.cross * r.impulse - second.k * second.impulse
    x = -(second.k * u - r.cross * v) / det
    y = -(r.k * v - r.cross * u) / det
    if x < 0.0 or y < 0.0:
        x, y = max(0.0, -u * r.mass), 0.0
        if r.cross * x + v < 0.0:
            x, y = 0.0, max(0.0, -v * second.mass)
    return float(max(change(r, x, active), change(second, y, active)))


@inner
def sweep(rows: Rows, count: int, active: Rows) -> float:
    """Solve each row once; return the largest change of a velocity [m/s]."""
    worst = 0.0
    for i in range(count):
        r = rows[i]
        kind = r.kind
        if kind in (SECOND, PAIR_SECOND):
            continue
        if kind == VECTOR:
            worst = max(worst, solve_vector(r, rows[i + 1], active))
        elif kind == PAIR:
            worst = max(worst, solve_pair(r, rows[i + 1], active))
        else:
            u = speed(r, active) - r.target + r.soft * r.impulse
            impulse = r.impulse - r.mass * u
            if kind == AT_LEAST:
                impulse = max(0.0, impulse)
            elif kind == FRICTION:
                most = r.limit * rows[r.mate].impulse
                impulse = min(most, max(-most, impulse))
            elif kind == BOUNDED:
                impulse = min(r.limit, max(-r.limit, impulse))
            worst = max(worst, change(r, impulse, active))
    return worst


@inner
def converge(rows: Rows, count: int, active: Rows, most: int, tolerance: float) -> int:
    """Sweep until no velocity changes by more than `tolerance` [m/s]; return how often."""
    for i in range(most):
        if sweep(rows, count, active) <= tolerance:
            return i + 1
    return most


@inner
def push_sweep(rows: Rows, count: int, active: Rows) -> float:
    """Do with pushing velocities what `sweep` does; friction and springs do not push."""
    worst = 0.0
    for i in range(count):
        r = rows[i]
        if r.kind == FRICTION or r.kind == BOUNDED or r.soft > 0.0 or r.limit < math.inf:
            continue
        impulse = r.pushed - r.mass * (push_speed(r, active) - r.push)
        if r.kind == AT_LEAST or r.kind == PAIR or r.kind == PAIR_SECOND:
            impulse = max(0.0, impulse)
        more = impulse - r.pushed
        if more != 0.0:
            r.pushed = impulse
            apply_push(r, more, active)
            worst = max(worst, abs(more) * r.k)
    return worst
