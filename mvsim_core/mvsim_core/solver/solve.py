# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One step of all bodies: contacts and joints solved, poses advanced, in double precision."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from mvsim_core.solver.base import Material
from mvsim_core.solver.compiled import ZERO, inner, kernel
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.contact_types import NO_GRIPS, NO_WALLS, Stored
from mvsim_core.solver.islands import (
    Known,
    can_move,
    collect_items,
    find_manifolds,
    set_fixed,
    sort_islands,
)
from mvsim_core.solver.motion_kernels import (
    advance_active,
    advance_free,
    free_kernel,
    meeting_kernel,
)
from mvsim_core.solver.near import (
    CLEAR,
    MEETING,
    STALE,
    pairs_kernel,
    rebuild_kernel,
    renew_kernel,
)
from mvsim_core.solver.scratch import Scratch, Work
from mvsim_core.solver.substeps import smallest_gap, solve_island
from mvsim_core.state.arrays import BODY, DYNAMIC, IntArray, Row, Rows
from mvsim_core.state.rows import copy_rows
from mvsim_core.state.tables import Table
from mvsim_core.threads import in_parts

#: Makes the rows of GRIP of the rows of BODY that are 1 in an array.
Grips = Callable[[IntArray], Rows]
#: Movers that one thread advances; more are shared out.
MANY = 2000
#: Squares of `warm`: more than the first hash table of a grid has room for.
WARM = 40
#: Gap up to which two shapes count as touching [m].
TOUCH = 1e-3


def solve(
    bodies: Rows,
    movers: IntArray,
    contacts: ContactData,
    dt: float,
    walls: Rows = NO_WALLS,
    grips: Grips | None = None,
) -> int:
    """Advance all movers by `dt` from the velocities of their centres of mass.

    Poses, velocities after contact, accelerations, contact impulses and counts of contacts are
    written into BODY; a body that nothing touches advances by yaw += wz dt, com += cv dt exactly.

    Args:
        bodies: Rows of BODY.
        movers: Its rows that move (DYNAMIC or KINEMATIC), in any order, each once. All others
            stand still.
        contacts: Shapes, joints and contacts; the contacts are updated.
        dt: Time step [s].
        walls: Rows of WALL for this step; their impulses are written.
        grips: Called if something may act on a body, with an array that is 1 for the rows of
            BODY that this holds for, else 0. Returns rows of GRIP: the friction of the ground on
            these bodies (others do no harm). Their impulses are written.

    Returns:
        The first row of `movers` whose velocity or pose is not finite or beyond 1e30 (then nothing
        has been changed), else -1.
    """
    scratch = contacts.scratch
    acting = contacts.has_joints or len(walls) > 0
    count = scratch.near_count if scratch.near_valid else -1
    found = scratch.found
    advance = free_kernel if len(movers) <= MANY else _advance_in_parts
    result = advance(bodies, movers, found.guards, found.near, count, dt, not acting)
    if result >= 0:
        return result
    if result == STALE or count < 0:
        find_near(bodies, movers, contacts, dt)
        found, count = scratch.found, scratch.near_count
        result = advance(bodies, movers, found.guards, found.near, count, dt, not acting)
    if result == CLEAR and not acting:
        _keep_contacts(contacts, contacts.contacts, 0)
        return -1
    pairs = 0 if result == CLEAR else find_pairs(bodies, movers, contacts, dt)
    if pairs or acting:
        _solve_contacts(bodies, movers, contacts, dt, (walls, grips, pairs))
    else:
        advance(bodies, movers, scratch.found.guards, found.near, 0, dt, True)
        _keep_contacts(contacts, contacts.contacts, 0)
    return -1


def _advance_in_parts(bodies: Rows, movers: IntArray, guards: Rows, *others: Any) -> int:
    """Do what `free_kernel` does, with its arguments; each thread has a part of the movers."""
    near, count, dt, advances = others

    def free(first: int, end: int, advances: bool) -> int:
        part = slice(first, end)
        return int(free_kernel(bodies, movers[part], guards[part], near, 0, dt, advances))

    results = in_parts(len(movers), MANY // 2, partial(free, advances=False))
    if results.count(CLEAR) < len(results):
        return next((result for result in results if result >= 0), STALE)
    if meeting_kernel(bodies, movers, guards, near, count, dt):
        return MEETING
    if advances and count >= 0:
        in_parts(len(movers), MANY // 2, partial(free, advances=True))
    return CLEAR


@cache
def warm() -> None:
    """Compile or load all that `solve` runs, so that the first contact does not stall a step."""
    bodies, contacts = Table(BODY), ContactData()
    for x in range(WARM):  # squares in a row, each with a common edge with the next
        body = np.zeros(1, BODY)
        body["x"], body["mass"], body["inertia"], body["kind"] = x, 1.0, 1.0, DYNAMIC
        row = bodies.add(body)
        corners = ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
        contacts.add_shape(row, row, corners, Material(0.0, 0.0), (0.0, 1.0))
    movers, dt = np.arange(len(bodies)), 1e-3
    solve(bodies.rows, movers, contacts, dt, grips=lambda _: NO_GRIPS)
    found = contacts.scratch.found
    renew_kernel(bodies.rows, movers[:0], contacts.arrays(), found, 0, dt)
    meeting_kernel(bodies.rows, movers, found.guards, found.near, 0, dt)
    mark_kernel(contacts.shapes.rows, found.keys[:0], 0, contacts.scratch.touched)


def find_near(bodies: Rows, movers: IntArray, contacts: ContactData, dt: float) -> None:
    """List what is near each mover."""
    contacts.place_pending(bodies)
    scratch = contacts.scratch
    scratch.fit_movers(len(bodies), len(movers), len(contacts.shapes))
    if scratch.near_valid and scratch.by_copy:
        found = scratch.found
        near, most = renew_kernel(bodies, movers, contacts.arrays(), found, scratch.near_count, dt)
        if near <= len(found.spare) and most <= len(found.hits):
            scratch.found = found._replace(near=found.spare, spare=found.near)
            scratch.near_count = near
            return
    while True:
        found = scratch.found
        near, most = rebuild_kernel(bodies, movers, contacts.arrays(), found, dt)
        if near <= len(found.near) and most <= len(found.hits):
            break
        scratch.fit_near(near, most)
    scratch.near_count = near
    scratch.near_valid = True


def find_pairs(bodies: Rows, movers: IntArray, contacts: ContactData, dt: float) -> int:
    """Return how many shape pairs may meet in this step; their keys are in the scratch."""
    scratch = contacts.scratch
    while True:
        found = scratch.found
        pairs: int = pairs_kernel(bodies, movers, contacts.arrays(), found, scratch.near_count, dt)
        if pairs <= len(found.keys):
            return pairs
        scratch.fit_pairs(pairs)


def _solve_contacts(
    bodies: Rows,
    movers: IntArray,
    contacts: ContactData,
    dt: float,
    acting: tuple[Rows, Grips | None, int],
) -> None:
    walls, ground, pairs = acting
    scratch: Scratch = contacts.scratch
    grips = NO_GRIPS
    if ground is not None:
        touched = scratch.touched
        touched_kernel(contacts.arrays(), scratch.found.keys[:pairs], walls, touched)
        grips = ground(touched)
    others = len(walls) + len(grips)
    scratch.fit_work(pairs, len(contacts.joints), others, contacts.most_corners)
    found, work = scratch.found, scratch.work
    count = contacts_kernel(
        bodies,
        movers,
        Known(contacts.arrays(), found.mover_of),
        found.guards,
        work,
        contacts.contacts,
        found.keys[:pairs],
        walls,
        grips,
        dt,
    )
    _keep_contacts(contacts, work.contacts, count)


def _keep_contacts(contacts: ContactData, rows: Rows, count: int) -> None:
    """Make copies of the first `count` rows of CONTACT the contacts of this step."""
    if count or len(contacts.contacts):
        contacts.contacts = copy_rows(rows[:count])


@inner
def mark(shapes: Rows, keys: IntArray, value: int, touched: IntArray) -> None:
    """Write a value for the rows of BODY of pairs of shapes."""
    for i in range(keys.shape[0]):
        for shape in (keys[i] >> 32, keys[i] & 0xFFFFFFFF):
            if shapes[shape].body >= 0:
                touched[shapes[shape].body] = value


@kernel
def mark_kernel(shapes: Rows, keys: IntArray, value: int, touched: IntArray) -> None:
    """Do what `mark` does."""
    mark(shapes, keys, value, touched)


@kernel
def touched_kernel(stored: Stored, keys: IntArray, walls: Rows, touched: IntArray) -> None:
    """Write 1 for the rows of BODY that pairs of shapes, joints or walls may act on, else 0."""
    touched[:] = 0
    mark(stored.shapes, keys, ZERO + 1, touched)
    for j in range(stored.joints.shape[0]):
        if stored.joints[j].a >= 0:
            touched[stored.joints[j].a] = touched[stored.joints[j].b] = 1
    for w in range(walls.shape[0]):
        touched[walls[w].body] = 1


@kernel
def contacts_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    movers: IntArray,
    known: Known,
    guards: Rows,
    work: Work,
    contacts: Rows,
    keys: IntArray,
    walls: Rows,
    grips: Rows,
    dt: float,
) -> int:
    """Solve all islands, advance all movers and return the number of contacts of this step."""
    active, manifolds, slots = work.active, work.manifolds, work.slots
    stored = known.stored
    set_fixed(active[0])
    count, manifold_count = find_manifolds(bodies, known, work, contacts, keys, ZERO + 1, dt)
    count, items = collect_items(bodies, known, work, walls, grips, (count, manifold_count), dt)
    island_count = sort_islands(stored, work, count, items)
    for i in range(island_count):
        if work.islands[i].items > 0:
            solve_island(work.islands[i], stored, work, walls, grips, dt)
    number = ZERO
    for m in range(manifold_count):
        number = keep_contact(manifolds[m], m, stored, work, number)
    for w in range(walls.shape[0]):
        if walls[w].impulse > 0.0:
            active[slots[walls[w].body]].touching += 1
    for g in range(grips.shape[0]):
        slot = slots[grips[g].body]
        if slot >= 0:
            active[slot].grip_x += grips[g].impulse_x - grips[g].given_x
            active[slot].grip_y += grips[g].impulse_y - grips[g].given_y
    for k in range(movers.shape[0]):
        b = bodies[movers[k]]
        b.touching = 0
        slot = slots[movers[k]]
        if slot < 0:
            advance_free(b, guards[k], b.old_share, dt)
            continue
        a = active[slot]
        b.touching = a.touching
        if not can_move(a):
            a.changed = 0
        advance_active(b, guards[k], a, dt)
    for slot in range(1, count):
        slots[active[slot].row] = -1
    return int(number)


@inner
def keep_contact(m: Row, number: int, stored: Stored, work: Work, count: int) -> int:
    """Append the contact of a manifold, if it has points, and return the new number."""
    active, points = work.active, work.points
    gap = smallest_gap(m, number, work)
    touching = m.total > 0.0 or gap <= TOUCH
    if m.count == 0 and not touching:
        return count
    a, b = active[m.a], active[m.b]
    c = work.contacts[count]
    c.shape_a, c.shape_b = m.shape_a, m.shape_b
    c.serial_a, c.serial_b = stored.shapes[m.shape_a].serial, stored.shapes[m.shape_b].serial
    c.count = m.count
    c.touching = 1 if touching else 0
    a.touching += c.touching
    b.touching += c.touching
    c.nx, c.ny = m.nx, m.ny
    c.separation = gap
    c.impulse = m.total
    p, q = points[2 * number], points[2 * number + 1]
    if m.total == 0.0:
        second = m.count > 1 and q.s < p.s
        m.x, m.y = a.dx + (q.ax if second else p.ax), a.dy + (q.ay if second else p.ay)
    c.x, c.y = a.x + m.x, a.y + m.y
    c.id0 = p.id if m.count > 0 else 0
    c.id1 = q.id if m.count > 1 else 0
    c.normal0 = p.normal if m.count > 0 else 0.0
    c.normal1 = q.normal if m.count > 1 else 0.0
    c.tangent0 = p.tangent if m.count > 0 else 0.0
    c.tangent1 = q.tangent if m.count > 1 else 0.0
    return count + 1
