# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One island over one step: substeps of velocities, restitution, pushing and motion.

After the "Soft Step" solver of Box2D 3 (`b2SolverStage_*` in solver.c; `b2ApplyRestitutionTask`;
E. Catto, MIT licence). Its frame is kept: substeps, warm starting, speculative contacts, a pass
for restitution at the end. What differs, and why:

* each substep is solved until velocities stand still, so that the order of rows does not matter;
* overlaps and errors of joints are pushed away by velocities of their own, which are forgotten
  after the substep: nothing that is pushed apart keeps speed, so no relaxation is needed;
* forces of a step come in as velocities before it, so the first substep carries their load: only
  it starts from the impulses of the last step, and bounds of ground friction hold for the step;
* restitution bounces all points of an island together, with friction, to the same tolerance;
* if an island would end a substep with more kinetic energy than it had, its impulses are scaled
  back to what keeps it (friction with restitution, or sweeps that ended early, can do that).
"""

from __future__ import annotations

import math

from mvsim_core.solver.compiled import ZERO, inner
from mvsim_core.solver.constraints import (
    BOUNCE_SPEED,
    SLOP,
    contact_rows,
    grip_row_count,
    grip_rows,
    joint_rows,
    separation_now,
    wall_rows,
)
from mvsim_core.solver.contact_types import Stored
from mvsim_core.solver.islands import (
    GRIP_ITEM,
    JOINT_ITEM,
    PAIR_ITEM,
    SUBSTEPS,
    move_driven,
    renew,
)
from mvsim_core.solver.rows import (
    AT_LEAST,
    EQUAL,
    PAIR,
    PAIR_SECOND,
    VECTOR,
    apply,
    converge,
    push_sweep,
    speed,
)
from mvsim_core.solver.scratch import Work
from mvsim_core.state.arrays import Row, Rows

#: Most sweeps of a substep, and the change of velocities at which they end, relative to the
#: largest relative velocity.
MOST_SWEEPS, TOLERANCE = 50, 1e-11
#: Large islands visit this many rows in the first substep, but in each sweep them so often at
#: least: warm starting lets a pile converge over steps.
ROW_VISITS, LEAST_SWEEPS = 10000, 5
#: A contact point takes part if it can be reached in a substep at this multiple of the highest
#: speed in the island.
REACHED = 4.0
#: Growth of energy that counts as rounding [1].
ROUNDING = 1e-13
#: Sweeps of the pushing velocities need less precision. None moves a point faster than this [m/s].
PUSH_TOLERANCE, MOST_PUSHED = 1e-3, 1.0


@inner
def solve_island(
    island: Row, stored: Stored, work: Work, walls: Rows, grips: Rows, dt: float
) -> None:
    """Take an island over one step of `dt` [s]."""
    h = dt / SUBSTEPS
    for k in range(SUBSTEPS):
        reach = SLOP + REACHED * h * start_substep(island, work, k * h)
        count = build_rows(island, stored, work, walls, grips, (k, dt, reach))
        most = min(MOST_SWEEPS, max(LEAST_SWEEPS, ROW_VISITS // max(1, count)))
        if k > 0 and most < MOST_SWEEPS:
            most = LEAST_SWEEPS
        tolerance = TOLERANCE * largest_speed(work.rows, count)
        level = kinetic_energy(island, work)
        if k == 0:
            warm_start(work.rows, count, work.active)
        if acts(work.rows, count, work.active):
            converge(work.rows, count, work.active, most, tolerance)
            if bounce(island, work, count):
                converge(work.rows, count, work.active, most, tolerance)
                if island.driven == 0:
                    limit_bounce(island, work, count, level)
            elif island.driven == 0:
                limit_energy(island, work, count, level)
            push(island, work, count, most)
        store(island, stored, work, walls, grips, k)
        move(island, work, h)


@inner
def start_substep(island: Row, work: Work, time: float) -> float:
    """Note the velocities at the start of a substep and put kinematic bodies where they are.

    Returns the highest speed of any point of the bodies [m/s].
    """
    active, order, sorted_items = work.active, work.order, work.sorted_items
    fastest = 0.0
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        b.old_vx, b.old_vy, b.old_w = b.vx, b.vy, b.w
        b.px = b.py = b.pw = 0.0
        fastest = max(fastest, math.hypot(b.vx, b.vy) + abs(b.w) * b.reach)
    if island.driven != 0:
        for i in range(island.item, island.item + island.items):
            item = sorted_items[i]
            for slot in (item.a, item.b):
                b = active[slot]
                move_driven(b, time)
                if b.driven != 0:
                    speed_b = math.hypot(b.vx, b.vy) + abs(b.w) * b.reach
                    fastest = max(fastest, speed_b)
    return fastest


@inner
def build_rows(
    island: Row,
    stored: Stored,
    work: Work,
    walls: Rows,
    grips: Rows,
    when: tuple[int, float, float],
) -> int:
    """Make the constraint rows of an island and return their number.

    `when` has the number of the substep, the length of the step [s], and the gap up to which
    contact points take part [m].
    """
    active, rows, points, manifolds, sorted_items = (
        work.active,
        work.rows,
        work.points,
        work.manifolds,
        work.sorted_items,
    )
    n = ZERO
    k, dt, reach = when
    h = dt / SUBSTEPS
    near = (h, dt - k * h, reach)
    for i in range(island.item, island.item + island.items):
        item = sorted_items[i]
        item.row = n
        if item.kind == JOINT_ITEM:
            joint = stored.joints[item.index]
            n = joint_rows(joint, (item.a, item.b), rows, n, active, h)
            if k == 0:
                load_joint(joint, rows, item.row, n)
        elif item.kind == GRIP_ITEM:
            n = grip_rows(grips[item.index], item.b, rows, n, active, dt)
        elif item.kind == PAIR_ITEM:
            m = manifolds[item.index]
            if k > 0:
                renew(m, item.index, stored, work, (h, dt - k * h))
            first = 2 * item.index
            n = contact_rows(m, points, first, rows, n, active, near)
            if k == 0:
                for j in range(first, first + m.count):
                    if points[j].row >= 0:
                        rows[points[j].row].impulse = points[j].normal
                        rows[points[j].row + m.used].impulse = points[j].tangent
        else:
            n = wall_rows(walls[item.index], item.b, rows, n, active, near)
        item.end = n
    return int(n)


@inner
def load_joint(joint: Row, rows: Rows, first: int, end: int) -> None:
    """Let the rows of a joint start from the impulses of the last step."""
    if joint.hertz > 0.0:
        return
    impulses = (joint.impulse0, joint.impulse1, joint.impulse2, joint.impulse3)
    for j in range(end - first):
        rows[first + j].impulse = impulses[j]


@inner
def largest_speed(rows: Rows, count: int) -> float:
    """Return the largest relative velocity of rows [m/s], to which tolerances are relative."""
    most = 0.0
    for i in range(count):
        r = rows[i]
        most = max(most, abs(r.before))
        if r.kind != AT_LEAST and r.kind != PAIR and r.kind != PAIR_SECOND:
            most = max(most, abs(r.target))
    return most


@inner
def warm_start(rows: Rows, count: int, active: Rows) -> None:
    """Apply the impulses that rows start from and the velocities do not have."""
    for i in range(count):
        r = rows[i]
        if r.impulse != r.start:
            apply(r, r.impulse - r.start, active)


@inner
def acts(rows: Rows, count: int, active: Rows) -> bool:
    """Return whether any contact or joint changes velocities or pushes; else grips rest too."""
    for i in range(count):
        r = rows[i]
        if r.kind == EQUAL or (r.kind == VECTOR and r.limit == math.inf) or r.push != 0.0:
            return True
        one_sided = r.kind == AT_LEAST or r.kind == PAIR or r.kind == PAIR_SECOND
        if one_sided and (r.impulse != 0.0 or speed(r, active) < r.target):
            return True
    return False


@inner
def bounce(island: Row, work: Work, count: int) -> bool:
    """Ask the rows that were hit for their velocity of restitution; return whether there are any.

    The restitution of a point is that of `b2ApplyRestitutionTask`: it was approached faster than
    BOUNCE_SPEED and an impulse acts.
    """
    active, order, rows = work.active, work.order, work.rows
    found = False
    for i in range(count):
        r = rows[i]
        if r.restitution > 0.0 and r.before < -BOUNCE_SPEED and r.impulse > 0.0:
            found = True
            r.target = -r.restitution * r.before
    if found:
        for i in range(count):
            rows[i].kept = rows[i].impulse
        for i in range(island.body, island.body + island.bodies):
            b = active[order[i]]
            b.mid_vx, b.mid_vy, b.mid_w = b.vx, b.vy, b.w
    return found


@inner
def inertia_of(b: Row) -> tuple[float, float]:
    """Return mass [kg] and inertia [kg m²], 0 where nothing can be changed."""
    mass = 1.0 / b.inv_mass if b.inv_mass > 0.0 else 0.0
    inertia = 1.0 / b.inv_inertia if b.inv_inertia > 0.0 else 0.0
    return mass, inertia


@inner
def kinetic_energy(island: Row, work: Work) -> float:
    """Return the kinetic energy of an island [J]."""
    active, order = work.active, work.order
    energy = 0.0
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        mass, inertia = inertia_of(b)
        energy += 0.5 * (mass * (b.vx * b.vx + b.vy * b.vy) + inertia * b.w * b.w)
    return energy


@inner
def limit_energy(island: Row, work: Work, count: int, level: float) -> None:
    """Scale the impulses of a substep back if the kinetic energy exceeds `level` [J].

    Velocities become v0 + t (v - v0), v0 those of the start, with the largest t <= 1 that keeps
    the energy.
    """
    active, order, rows = work.active, work.order, work.rows
    if kinetic_energy(island, work) <= level * (1.0 + ROUNDING):
        return
    linear = square = 0.0
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        mass, inertia = inertia_of(b)
        ux, uy, uw = b.vx - b.old_vx, b.vy - b.old_vy, b.w - b.old_w
        linear += mass * (b.old_vx * ux + b.old_vy * uy) + inertia * b.old_w * uw
        square += 0.5 * (mass * (ux * ux + uy * uy) + inertia * uw * uw)
    if not square > 0.0:
        return
    t = min(1.0, max(0.0, -linear / square))
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        b.vx = b.old_vx + t * (b.vx - b.old_vx)
        b.vy = b.old_vy + t * (b.vy - b.old_vy)
        b.w = b.old_w + t * (b.w - b.old_w)
    for i in range(count):
        r = rows[i]
        r.impulse = r.start + t * (r.impulse - r.start)


@inner
def limit_bounce(island: Row, work: Work, count: int, level: float) -> None:
    """Do what `limit_energy` does, from the velocities before restitution."""
    active, order, rows = work.active, work.order, work.rows
    if kinetic_energy(island, work) <= level * (1.0 + ROUNDING):
        return
    linear = square = before = 0.0
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        mass, inertia = inertia_of(b)
        ux, uy, uw = b.vx - b.mid_vx, b.vy - b.mid_vy, b.w - b.mid_w
        before += 0.5 * (mass * (b.mid_vx * b.mid_vx + b.mid_vy * b.mid_vy))
        before += 0.5 * inertia * b.mid_w * b.mid_w
        linear += mass * (b.mid_vx * ux + b.mid_vy * uy) + inertia * b.mid_w * uw
        square += 0.5 * (mass * (ux * ux + uy * uy) + inertia * uw * uw)
    t = 0.0
    if before < level and square > 0.0:
        root = math.sqrt(max(0.0, linear * linear + 4.0 * square * (level - before)))
        t = min(1.0, max(0.0, (root - linear) / (2.0 * square)))
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        b.vx = b.mid_vx + t * (b.vx - b.mid_vx)
        b.vy = b.mid_vy + t * (b.vy - b.mid_vy)
        b.w = b.mid_w + t * (b.w - b.mid_w)
    for i in range(count):
        r = rows[i]
        r.impulse = r.kept + t * (r.impulse - r.kept)
    limit_energy(island, work, count, level)


@inner
def push(island: Row, work: Work, count: int, sweeps: int) -> None:
    """Solve the pushing velocities, if anything overlaps or a joint is off.

    Where many push against each other, some would have to move fast: all move slower then.
    """
    active, order, rows = work.active, work.order, work.rows
    most = 0.0
    for i in range(count):
        most = max(most, abs(rows[i].push))
    if most < 1e-9:
        return
    for i in range(count):  # velocities that separate push too
        r = rows[i]
        if r.kind == AT_LEAST or r.kind == PAIR or r.kind == PAIR_SECOND:
            r.push -= max(0.0, speed(r, active) - min(0.0, r.target))
    for _ in range(sweeps):
        if push_sweep(rows, count, active) <= PUSH_TOLERANCE * most:
            break
    fastest = 0.0
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        fastest = max(fastest, math.hypot(b.px, b.py) + abs(b.pw) * b.reach)
    if fastest > MOST_PUSHED:
        for i in range(island.body, island.body + island.bodies):
            b = active[order[i]]
            b.px *= MOST_PUSHED / fastest
            b.py *= MOST_PUSHED / fastest
            b.pw *= MOST_PUSHED / fastest


@inner
def store(island: Row, stored: Stored, work: Work, walls: Rows, grips: Rows, k: int) -> None:
    """Take the impulses of a substep out of the rows."""
    rows, manifolds, sorted_items = work.rows, work.manifolds, work.sorted_items
    active, points = work.active, work.points
    for i in range(island.item, island.item + island.items):
        item = sorted_items[i]
        r = rows[item.row]
        if item.kind == PAIR_ITEM:
            store_contact(manifolds[item.index], 2 * item.index, points, rows, active, k)
        elif item.kind == GRIP_ITEM:
            grip = grips[item.index]
            grip.impulse_x = grip.impulse_y = 0.0
            for j in range(item.row, item.row + grip_row_count(grip)):
                grip.impulse_x += rows[j].impulse * rows[j].nx
                grip.impulse_y += rows[j].impulse * rows[j].ny
        elif item.kind == JOINT_ITEM:
            if k == 0:
                store_joint(stored.joints[item.index], rows, item.row, item.end)
        else:
            walls[item.index].impulse += r.impulse


@inner
def store_joint(joint: Row, rows: Rows, first: int, end: int) -> None:
    """Keep the impulses of a joint for the next step."""
    n = end - first
    joint.impulse0 = rows[first].impulse if n > 0 else 0.0
    joint.impulse1 = rows[first + 1].impulse if n > 1 else 0.0
    joint.impulse2 = rows[first + 2].impulse if n > 2 else 0.0
    joint.impulse3 = rows[first + 3].impulse if n > 3 else 0.0


@inner
def store_contact(m: Row, first: int, points: Rows, rows: Rows, active: Rows, k: int) -> None:
    """Keep the impulses of a manifold whose points start at `first`."""
    a = active[m.a]
    for j in range(m.count):
        p = points[first + j]
        impulse = tangent = 0.0
        if p.row >= 0:
            impulse = rows[p.row].impulse
            tangent = rows[p.row + m.used].impulse
        if k == 0:
            p.normal, p.tangent = impulse, tangent
        m.total += impulse
        if impulse > m.largest:
            m.largest = impulse
            m.x, m.y = a.dx + p.ax, a.dy + p.ay


@inner
def move(island: Row, work: Work, h: float) -> None:
    """Move the bodies of an island over a substep of `h` [s]."""
    active, order = work.active, work.order
    for i in range(island.body, island.body + island.bodies):
        b = active[order[i]]
        if (
            b.vx != b.old_vx
            or b.vy != b.old_vy
            or b.w != b.old_w
            or b.px != 0.0
            or b.py != 0.0
            or b.pw != 0.0
        ):
            b.changed = 1
        dx, dy = b.dx + (b.vx + b.px) * h, b.dy + (b.vy + b.py) * h
        far = math.hypot(dx, dy)
        if b.changed != 0 and far > b.way:  # beyond that nothing was searched for
            dx *= b.way / far
            dy *= b.way / far
        b.dx, b.dy = dx, dy
        b.da += (b.w + b.pw) * h
        b.c, b.s = math.cos(b.yaw + b.da), math.sin(b.yaw + b.da)


@inner
def smallest_gap(m: Row, number: int, work: Work) -> float:
    """Return the smallest separation of a manifold now [m]; inf without points."""
    active, points = work.active, work.points
    least = math.inf
    for j in range(m.count):
        least = min(least, separation_now(m, points[2 * number + j], active))
    return least
