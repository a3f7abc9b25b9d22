# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What acts on what in a step: active bodies, manifolds and islands of them.

Islands are as in Box2D (island.c): bodies that can be moved and that joints and contacts connect.
Each is solved on its own, so that its result does not depend on others.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from mvsim_core.solver.compiled import ZERO, inner
from mvsim_core.solver.constraints import horizon_of, separation_now
from mvsim_core.solver.contact_types import FREE, Stored
from mvsim_core.solver.near import MARGIN
from mvsim_core.solver.polygons import APART, collide, place_polygon
from mvsim_core.solver.scratch import Work
from mvsim_core.state.arrays import DYNAMIC, KINEMATIC, IntArray, Row, Rows

JOINT_ITEM, GRIP_ITEM, PAIR_ITEM, WALL_ITEM = np.arange(4)
#: Substeps of a step, as Box2D advises.
SUBSTEPS = 4
#: Motion against each other [m], and turn [rad], after which contact points are searched again.
STALE_WAY, STALE_TURN = 1e-3, 1e-3


class Known(NamedTuple):
    """What the search for contacts knows of bodies beside BODY."""

    stored: Stored
    mover_of: IntArray  # index among the movers of each row of BODY; -1: none


@inner
def set_fixed(b: Row) -> None:
    """Make a row of ACTIVE stand for all that is fixed in the world."""
    b.row = b.mover = b.island = -1
    b.driven = b.acted = b.changed = b.touching = 0
    b.inv_mass = b.inv_inertia = 0.0
    b.x = b.y = b.yaw = b.com_x = b.com_y = 0.0
    b.c, b.s = 1.0, 0.0
    b.vx = b.vy = b.w = b.px = b.py = b.pw = 0.0
    b.dx = b.dy = b.da = b.way = b.reach = 0.0
    b.grip_x = b.grip_y = 0.0


@inner
def activate(
    bodies: Rows, row: int, known: Known, work: Work, count: int, dt: float
) -> tuple[int, int]:
    """Return the row of ACTIVE of a body, made if it has none yet, and their new number."""
    active = work.active
    if row < 0:
        return 0, count
    slot = work.slots[row]
    if slot >= 0:
        return int(slot), count
    work.slots[row] = count
    a, b = active[count], bodies[row]
    set_fixed(a)
    a.row = row
    a.mover = known.mover_of[row]
    a.island = count
    a.yaw = b.yaw
    a.c, a.s = math.cos(b.yaw), math.sin(b.yaw)
    a.com_x, a.com_y = b.com_x, b.com_y
    a.x = b.x + a.c * b.com_x - a.s * b.com_y
    a.y = b.y + a.s * b.com_x + a.c * b.com_y
    if row < known.stored.links.shape[0]:
        a.reach = known.stored.links[row].radius + math.hypot(b.com_x, b.com_y)
    if a.mover >= 0:
        a.vx, a.vy, a.w = b.cvx, b.cvy, b.wz
        a.way = math.hypot(b.cvx, b.cvy) * dt + MARGIN
        if b.kind == DYNAMIC:
            a.inv_mass = 1.0 / b.mass if b.mass > 0.0 else 0.0
            a.inv_inertia = 1.0 / b.inertia if b.inertia > 0.0 else 0.0
        elif b.kind == KINEMATIC and (b.cvx != 0.0 or b.cvy != 0.0 or b.wz != 0.0):
            a.driven = 1
    return count, count + 1


@inner
def move_driven(b: Row, time: float) -> None:
    """Put a kinematic body where it is at a time of the step [s]."""
    if b.driven != 0:
        b.dx, b.dy, b.da = b.vx * time, b.vy * time, b.w * time
        b.c, b.s = math.cos(b.yaw + b.da), math.sin(b.yaw + b.da)


@inner
def detect(m: Row, number: int, stored: Stored, work: Work, times: tuple[float, float]) -> None:
    """Find the contact points of a manifold where the bodies are now.

    What may close its gap within its horizon is swept over that; `times` are the substep and the
    rest of the step [s]. Points that were there before keep their
    impulses.
    """
    active, points, first, second = work.active, work.points, work.first, work.second
    a, b = active[m.a], active[m.b]
    sa, sb = stored.shapes[m.shape_a], stored.shapes[m.shape_b]
    x, y = sa.x - a.com_x, sa.y - a.com_y
    ax, ay = a.c * x - a.s * y, a.s * x + a.c * y
    x, y = sb.x - b.com_x, sb.y - b.com_y
    bx, by = b.c * x - b.s * y, b.s * x + b.c * y
    # from the middle of the first shape to that of the second
    ox = (b.x - a.x) - ax + bx + (b.dx - a.dx)
    oy = (b.y - a.y) - ay + by + (b.dy - a.dy)
    place_polygon(stored.vertices, sa, (a.c, a.s), (0.0, 0.0), first)
    place_polygon(stored.vertices, sb, (b.c, b.s), (ox, oy), second)
    ux = (b.vx - b.w * by) - (a.vx - a.w * ay)
    uy = (b.vy + b.w * bx) - (a.vy + a.w * ax)
    spin = abs(a.w) * sa.radius + abs(b.w) * sb.radius
    speed = math.hypot(ux, uy) + spin
    h = m.horizon = horizon_of(speed, times)
    hit = work.hit[0]
    collide(first, sa.count, second, sb.count, m.reach, (ux * h, uy * h), spin * h, hit)
    m.renew = 1 if speed * h > STALE_WAY else 0
    m.ax, m.ay, m.aa = a.dx, a.dy, a.da
    m.bx, m.by, m.ba = b.dx, b.dy, b.da
    m.nx, m.ny = hit.nx, hit.ny
    p, q = points[2 * number], points[2 * number + 1]
    old = (p.id, p.normal, p.tangent, q.id, q.normal, q.tangent, m.count)
    m.count = max(0, hit.count)
    for i in range(m.count):
        p = points[2 * number + i]
        hx, hy, p.s, p.id = hit.x0, hit.y0, hit.s0, hit.id0
        if i == 1:
            hx, hy, p.s, p.id = hit.x1, hit.y1, hit.s1, hit.id1
        p.ax, p.ay = hx + ax, hy + ay
        p.bx, p.by = hx - ox + bx, hy - oy + by
        p.normal = p.tangent = 0.0
        if old[6] > 0 and old[0] == p.id:
            p.normal, p.tangent = old[1], old[2]
        elif old[6] > 1 and old[3] == p.id:
            p.normal, p.tangent = old[4], old[5]


@inner
def renew(m: Row, number: int, stored: Stored, work: Work, times: tuple[float, float]) -> None:
    """Renew the points of a manifold if its bodies moved since, move fast, or come to touch.

    What comes to touch was only near when its points were found: whether it really meets is a
    question of its way.
    """
    active, points = work.active, work.points
    a, b = active[m.a], active[m.b]
    ta, tb = a.da - m.aa, b.da - m.ba
    moved = abs((b.dx - m.bx) - (a.dx - m.ax)) + abs((b.dy - m.by) - (a.dy - m.ay))
    stale = moved > STALE_WAY or abs(ta) + abs(tb) > STALE_TURN
    if m.renew == 0 and m.count > 0 and not stale:
        speed = math.hypot(b.vx - a.vx, b.vy - a.vy)
        speed += abs(a.w) * a.reach + abs(b.w) * b.reach
        way = speed * horizon_of(speed, times)
        for i in range(m.count):
            p = points[2 * number + i]
            stale = stale or (p.s > APART and separation_now(m, p, active) <= way)
    if m.renew != 0 or m.count == 0 or stale:
        detect(m, number, stored, work, times)


@inner
def restore_points(m: Row, number: int, old: Row, points: Rows) -> None:
    """Let a manifold start from the points of the last step."""
    m.count = old.count
    p, q = points[2 * number], points[2 * number + 1]
    p.id, p.normal, p.tangent = old.id0, old.normal0, old.tangent0
    q.id, q.normal, q.tangent = old.id1, old.normal1, old.tangent1


@inner
def find_manifolds(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    known: Known,
    work: Work,
    contacts: Rows,
    keys: IntArray,
    count: int,
    dt: float,
) -> tuple[int, int]:
    """Make the manifolds of shape pairs that are near enough for this step.

    Args:
        bodies: Rows of BODY.
        known: Shapes, and which bodies are movers.
        work: Output: active bodies, manifolds, points.
        contacts: Those of the last step.
        keys: Sorted keys of the pairs.
        count: Number of active bodies so far.
        dt: Time step [s].

    Returns:
        Number of active bodies and of manifolds.
    """
    active, manifolds, points = work.active, work.manifolds, work.points
    number = ZERO
    old = ZERO
    stored = known.stored
    for i in range(keys.shape[0]):
        first, second = keys[i] >> 32, keys[i] & 0xFFFFFFFF
        sa, sb = stored.shapes[first], stored.shapes[second]
        m = manifolds[number]
        m.shape_a, m.shape_b = first, second
        m.a, count = activate(bodies, sa.body, known, work, count, dt)
        m.b, count = activate(bodies, sb.body, known, work, count, dt)
        a, b = active[m.a], active[m.b]
        way = math.hypot(a.vx - b.vx, a.vy - b.vy) * dt
        turn_a, turn_b = min(abs(a.w) * dt, 2.0), min(abs(b.w) * dt, 2.0)
        if turn_a > 0.0:
            way += turn_a * (sa.radius + math.hypot(sa.x - a.com_x, sa.y - a.com_y))
        if turn_b > 0.0:
            way += turn_b * (sb.radius + math.hypot(sb.x - b.com_x, sb.y - b.com_y))
        m.reach = way + MARGIN
        m.friction = math.sqrt(sa.friction * sb.friction)
        m.restitution = max(sa.restitution, sb.restitution)
        m.total = m.largest = 0.0
        m.count = 0
        while (
            old < contacts.shape[0]
            and (contacts[old].shape_a << 32) | (contacts[old].shape_b) < keys[i]
        ):
            old += 1
        if old < contacts.shape[0]:
            c = contacts[old]
            same = c.shape_a == first and c.shape_b == second
            if same and c.serial_a == sa.serial and c.serial_b == sb.serial:
                restore_points(m, number, c, points)
        detect(m, number, stored, work, (dt / SUBSTEPS, dt))
        if work.hit[0].count >= 0:
            number += 1
    return count, number


@inner
def root_of(active: Rows, slot: int) -> int:
    """Return the representative of an island."""
    while active[slot].island != slot:
        active[slot].island = active[active[slot].island].island
        slot = active[slot].island
    return slot


@inner
def add_item(work: Work, count: int, kind: int, index: int, a: int, b: int) -> int:
    """Append an item and join the islands of its bodies; return the new number of items."""
    active, items = work.active, work.items
    can_a, can_b = can_move(active[a]), can_move(active[b])
    if not can_a and not can_b:
        return count
    item = items[count]
    item.kind, item.index, item.a, item.b = kind, index, a, b
    if can_a and can_b:
        root_a, root_b = root_of(active, a), root_of(active, b)
        active[max(root_a, root_b)].island = min(root_a, root_b)
    return count + 1


@inner
def can_move(b: Row) -> bool:
    """Return whether impulses change the velocity of an active body."""
    return bool(b.inv_mass > 0.0 or b.inv_inertia > 0.0)


@inner
def collect_items(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    known: Known,
    work: Work,
    walls: Rows,
    grips: Rows,
    counts: tuple[int, int],
    dt: float,
) -> tuple[int, int]:
    """List joints, grips, manifolds and walls, connecting bodies to islands.

    Of the grips only those of bodies on which something else acts are needed: what friction gives
    without that is in the velocities.

    `counts` are the numbers of active bodies and of manifolds; returns those of bodies and items.
    """
    active, manifolds = work.active, work.manifolds
    count, manifold_count = counts
    items = ZERO
    stored, mover_of = known
    for j in range(stored.joints.shape[0]):
        joint = stored.joints[j]
        if joint.a == FREE or (mover_of[joint.a] < 0 and mover_of[joint.b] < 0):
            continue
        a, count = activate(bodies, joint.a, known, work, count, dt)
        b, count = activate(bodies, joint.b, known, work, count, dt)
        active[a].acted = active[b].acted = 1
        items = add_item(work, items, JOINT_ITEM, j, a, b)
    for m in range(manifold_count):
        active[manifolds[m].a].acted = active[manifolds[m].b].acted = 1
    for w in range(walls.shape[0]):
        walls[w].impulse = 0.0
        if mover_of[walls[w].body] >= 0:
            b, count = activate(bodies, walls[w].body, known, work, count, dt)
            active[b].acted = 1
    for g in range(grips.shape[0]):
        grips[g].impulse_x, grips[g].impulse_y = grips[g].given_x, grips[g].given_y
        slot = work.slots[grips[g].body]
        if slot >= 0 and active[slot].acted != 0:
            items = add_item(work, items, GRIP_ITEM, g, ZERO, slot)
    for m in range(manifold_count):
        pair = manifolds[m]
        items = add_item(work, items, PAIR_ITEM, m, pair.a, pair.b)
    for w in range(walls.shape[0]):
        if mover_of[walls[w].body] >= 0:
            items = add_item(work, items, WALL_ITEM, w, ZERO, work.slots[walls[w].body])
    return count, items


@inner
def sort_islands(stored: Stored, work: Work, active_count: int, item_count: int) -> int:
    """Number the islands and sort items and bodies by them; return how many there are."""
    active, islands = work.active, work.islands
    count = 0
    for slot in range(1, active_count):  # roots come before all others of their islands
        b = active[slot]
        if not can_move(b):
            b.island = -1
        elif b.island == slot:
            b.island = count
            clear_island(islands[count])
            count += 1
        else:
            root = b.island
            b.island = active[root].island
        if b.island >= 0:
            islands[b.island].bodies += 1
    for i in range(item_count):
        item = work.items[i]
        island = islands[island_of(item, active)]
        island.items += 1
        if item.kind == JOINT_ITEM and stored.joints[item.index].hertz > 0.0:
            island.driven = 1
        if active[item.a].driven + active[item.b].driven > 0:
            island.driven = 1
    for i in range(1, count):
        islands[i].item = islands[i - 1].item + islands[i - 1].items
        islands[i].body = islands[i - 1].body + islands[i - 1].bodies
    for i in range(count):
        islands[i].items = islands[i].bodies = 0
    for i in range(item_count):
        island = islands[island_of(work.items[i], active)]
        work.sorted_items[island.item + island.items] = work.items[i]
        island.items += 1
    for slot in range(1, active_count):
        if active[slot].island >= 0:
            island = islands[active[slot].island]
            work.order[island.body + island.bodies] = slot
            island.bodies += 1
    return count


@inner
def clear_island(island: Row) -> None:
    """Make an island empty."""
    island.item = island.items = island.body = island.bodies = island.driven = 0


@inner
def island_of(item: Row, active: Rows) -> int:
    """Return the island of an item, once bodies have their numbers."""
    return int(max(active[item.a].island, active[item.b].island))
