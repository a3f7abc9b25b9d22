# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which shapes may meet in a step.

Each mover has a guard: a region of its reference point within which the list of what is near stays
complete ("Verlet list" with a margin that grows with speed). While all are within theirs, a step
looks at that list only. From it come the shape pairs whose swept boxes overlap now; these do not
depend on when the list was made.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mvsim_core.solver.compiled import ZERO, inner, kernel
from mvsim_core.solver.contact_types import Stored
from mvsim_core.solver.grid import insert_box, overlap, query, remove_box
from mvsim_core.solver.scratch import Found
from mvsim_core.state.arrays import DYNAMIC, IntArray, Row, Rows
from mvsim_core.state.finite import HUGE

#: Beyond its own motion in a step a body is searched for contacts this far away [m].
MARGIN = 0.02
#: How far a guard goes beyond the present place [m], and for how long a mover stays in it [s].
GUARD_MARGIN, GUARD_TIME = 0.05, 0.25
#: Steps ahead for which guards are renewed together.
SOON = 10.0
#: Ranges of height that overlap by less do not collide [m]: a robot may stand on a plate.
HEIGHT_TOLERANCE = 1e-3
#: Results of `check_guards` and `free_kernel` beside the first bad row: nothing can be touched in
#: this step, the list of what is near is out of date, shapes may meet.
CLEAR, STALE, MEETING = -1, -2, -3
#: What is known of the box that a mover sweeps in this step (`Found.stamps`).
UNKNOWN, ROUND, EXACT = 0, 1, 2
#: No row.
NONE: Any = np.int64(-1)


@inner
def drift(b: Row, arm: float, dt: float) -> float:
    """Return a bound of how far the reference point moves in a step [m], wherever it goes."""
    return float((abs(b.cvx) + abs(b.cvy)) * dt + min(abs(b.wz) * dt, 2.0) * arm)


@inner
def leaves_guard(b: Row, row: int, g: Row, dt: float) -> bool:
    """Return whether a mover may leave its guard in this step."""
    way = drift(b, g.arm, dt)
    return bool(
        g.body != row
        or b.x - way < g.min_x
        or b.x + way > g.max_x
        or b.y - way < g.min_y
        or b.y + way > g.max_y
    )


@inner
def check_guards(bodies: Rows, movers: IntArray, guards: Rows, dt: float) -> int:
    """Return CLEAR if all movers are finite and stay in their guards in this step.

    Else the first row of BODY that is not finite (or beyond 1e30), or STALE.
    """
    stale = guards.shape[0] != movers.shape[0]
    for k in range(movers.shape[0]):
        b = bodies[movers[k]]
        if not abs(b.cvx) + abs(b.cvy) + abs(b.wz) + abs(b.x) + abs(b.y) + abs(b.yaw) < HUGE:
            return int(movers[k])
        stale = stale or leaves_guard(b, movers[k], guards[k], dt)
    return STALE if stale else CLEAR


@inner
def round_reach(b: Row, g: Row, dt: float) -> float:
    """Return the radius of a circle about the reference point that holds the step [m]."""
    return float(g.radius + sweep(b, g.radius + g.arm, dt))


@inner
def any_meeting(
    bodies: Rows, movers: IntArray, guards: Rows, near: Rows, count: int, dt: float
) -> bool:
    """Return whether the circles about any near pair overlap in this step.

    The same boxes as those of `sweep_circle`, with which `pairs_kernel` begins.
    """
    for p in range(count):
        pair = near[p]
        a = bodies[movers[pair.a]]
        reach = round_reach(a, guards[pair.a], dt)
        if pair.b < 0:
            min_x, max_x, min_y, max_y = pair.min_x, pair.max_x, pair.min_y, pair.max_y
        else:
            b = bodies[movers[pair.b]]
            other = round_reach(b, guards[pair.b], dt)
            min_x, max_x, min_y, max_y = b.x - other, b.x + other, b.y - other, b.y + other
        if (
            a.x - reach <= max_x
            and min_x <= a.x + reach
            and a.y - reach <= max_y
            and min_y <= a.y + reach
        ):
            return True
    return False


@kernel
def rebuild_kernel(
    bodies: Rows, movers: IntArray, stored: Stored, found: Found, dt: float
) -> tuple[int, int]:
    """Make all guards and list what is near.

    Returns:
        Number of near pairs and the largest result of a query: where they exceed the arrays, the
        list is not complete and the caller makes room and calls again.
    """
    found.buckets[:] = -1
    found.levels[:] = 0
    found.mover_of[:] = -1
    found.stamps[:] = 0
    for k in range(movers.shape[0]):
        found.mover_of[movers[k]] = k
        make_guard(bodies[movers[k]], int(movers[k]), stored, found, k, dt)
    count = ZERO
    most = ZERO
    for k in range(movers.shape[0]):
        count, hits = list_near(bodies, movers, stored, found, k, found.near, count)
        most = max(most, hits)
    return count, most


@kernel
def renew_kernel(
    bodies: Rows, movers: IntArray, stored: Stored, found: Found, near: int, dt: float
) -> tuple[int, int]:
    """Do what `rebuild_kernel` does, for those copies of a world whose movers leave their guards.

    Movers must be sorted by copies, which do not see each other. The list is written into
    `found.spare`.
    """
    count = most = old = begin = ZERO
    while begin < movers.shape[0]:
        copy = bodies[movers[begin]].copy
        stale = False
        end = begin
        while end < movers.shape[0] and bodies[movers[end]].copy == copy:
            row = movers[end]
            # also those that may do so soon: else in each step there is one of a thousand
            stale = stale or leaves_guard(bodies[row], row, found.guards[end], SOON * dt)
            end += 1
        if stale:
            for k in range(begin, end):
                remove_box(found.fat, k, found.buckets, found.levels)
                make_guard(bodies[movers[k]], int(movers[k]), stored, found, k, dt)
            for k in range(begin, end):
                count, hits = list_near(bodies, movers, stored, found, k, found.spare, count)
                most = max(most, hits)
        while old < near and found.near[old].a < end:
            if not stale:
                pair = found.near[old]
                if count < found.spare.shape[0]:
                    found.spare[count] = pair
                count += 1
            old += 1
        begin = end
    return count, most


@inner
def list_near(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    movers: IntArray,
    stored: Stored,
    found: Found,
    k: int,
    near: Rows,
    count: int,
) -> tuple[int, int]:
    """Append what is near a mover; return the new number and the largest result of a query."""
    row = movers[k]
    box = found.fat[k]
    if box.level < 0:
        return count, ZERO
    b = bodies[row]
    moves = b.kind == DYNAMIC
    hits = query(found.fat, found.buckets, found.levels, box, b.copy, box.level, found.hits, ZERO)
    most = hits
    for i in range(min(hits, found.hits.shape[0])):
        other = found.hits[i]
        if found.fat[other].level == box.level and other <= k:
            continue
        if not moves and bodies[movers[other]].kind != DYNAMIC:
            continue
        if joined(stored, row, movers[other]):
            continue
        count = note(near, count, k, other, NONE, box)
    if not moves:
        return count, most
    hits = query(stored.boxes, stored.buckets, stored.levels[0], box, NONE, ZERO, found.hits, ZERO)
    hits = query(
        stored.boxes, stored.buckets, stored.levels[1], box, b.copy, ZERO, found.hits, hits
    )
    most = max(most, hits)
    for i in range(min(hits, found.hits.shape[0])):
        shape = found.hits[i]
        if not joined(stored, row, stored.shapes[shape].body):
            count = note(near, count, k, NONE, shape, stored.boxes[shape])
    return count, most


@inner
def note(near: Rows, count: int, a: int, b: int, shape: int, box: Row) -> int:
    """Append a near pair if there is room, and return the new number; `box` is the shape's."""
    if count < near.shape[0]:
        pair = near[count]
        pair.a, pair.b, pair.shape = a, b, shape
        pair.min_x, pair.min_y = box.min_x, box.min_y
        pair.max_x, pair.max_y = box.max_x, box.max_y
    return count + 1


@inner
def make_guard(b: Row, row: int, stored: Stored, found: Found, k: int, dt: float) -> None:
    """Set the guard and the box of a mover."""
    g = found.guards[k]
    g.body = row
    g.arm = math.hypot(b.com_x, b.com_y)
    g.radius = 0.0
    g.yaw = np.nan
    box = found.fat[k]
    box.copy = b.copy
    box.level = -1
    if row >= stored.links.shape[0] or stored.links[row].shape < 0:
        g.min_x = g.min_y = -np.inf
        g.max_x = g.max_y = np.inf
        return
    # ahead as far as it comes in GUARD_TIME, elsewhere as far as a step can throw it
    back = GUARD_MARGIN + 2.0 * drift(b, g.arm, dt)
    g.min_x = b.x - back + min(0.0, b.cvx) * GUARD_TIME
    g.max_x = b.x + back + max(0.0, b.cvx) * GUARD_TIME
    g.min_y = b.y - back + min(0.0, b.cvy) * GUARD_TIME
    g.max_y = b.y + back + max(0.0, b.cvy) * GUARD_TIME
    g.radius = stored.links[row].radius
    reach = g.radius + MARGIN
    box.min_x = g.min_x - reach
    box.min_y = g.min_y - reach
    box.max_x = g.max_x + reach
    box.max_y = g.max_y + reach
    insert_box(found.fat, k, found.buckets, found.levels)


@inner
def joined(stored: Stored, a: int, b: int) -> bool:
    """Return whether two rows of BODY have a joint."""
    if b < 0 or a >= stored.links.shape[0]:
        return False
    j = stored.links[a].joint
    while j >= 0:
        joint = stored.joints[j]
        if joint.a == a:
            if joint.b == b:
                return True
            j = joint.next_a
        else:
            if joint.a == b:
                return True
            j = joint.next_b
    return False


@inner
def sweep(b: Row, arm: float, dt: float) -> float:
    """Return how far a point may get in a step, MARGIN included, at `arm` from the centre [m].

    What it hits may turn it away into any direction.
    """
    turn = min(abs(b.wz) * dt, 2.0)
    return float(MARGIN + math.hypot(b.cvx, b.cvy) * dt + turn * arm)


@inner
def sweep_circle(bodies: Rows, row: int, found: Found, k: int, dt: float) -> None:
    """Set the box of a mover over this step from its radius: it holds that of `sweep_boxes`."""
    if found.stamps[k] != UNKNOWN:
        return
    found.stamps[k] = ROUND
    b = bodies[row]
    reach = round_reach(b, found.guards[k], dt)
    box = found.swept[k]
    box.min_x = b.x - reach
    box.max_x = b.x + reach
    box.min_y = b.y - reach
    box.max_y = b.y + reach


@inner
def sweep_boxes(bodies: Rows, row: int, stored: Stored, found: Found, k: int, dt: float) -> None:
    """Set the boxes of a mover and of its shapes over this step."""
    if found.stamps[k] == EXACT:
        return
    found.stamps[k] = EXACT
    b = bodies[row]
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    arm = found.guards[k].arm
    whole = found.swept[k]
    whole.min_x = whole.min_y = np.inf
    whole.max_x = whole.max_y = -np.inf
    i = stored.links[row].shape
    while i >= 0:
        shape = stored.shapes[i]
        box = found.shape_boxes[i]
        x = b.x + c * shape.x - s * shape.y
        y = b.y + s * shape.x + c * shape.y
        low_x = low_y = np.inf
        high_x = high_y = -np.inf
        for j in range(shape.vertex, shape.vertex + shape.count):
            v = stored.vertices[j]
            vx = c * v.x - s * v.y
            vy = s * v.x + c * v.y
            low_x = min(low_x, vx)
            high_x = max(high_x, vx)
            low_y = min(low_y, vy)
            high_y = max(high_y, vy)
        more = sweep(b, shape.reach + arm, dt)
        box.min_x = x + low_x - more
        box.max_x = x + high_x + more
        box.min_y = y + low_y - more
        box.max_y = y + high_y + more
        whole.min_x = min(whole.min_x, box.min_x)
        whole.max_x = max(whole.max_x, box.max_x)
        whole.min_y = min(whole.min_y, box.min_y)
        whole.max_y = max(whole.max_y, box.max_y)
        i = shape.next


@inner
def overlap_in_height(za: float, a: Row, zb: float, b: Row) -> bool:
    """Return whether two shapes of bodies at the heights za and zb [m] can meet."""
    return bool(min(za + a.zmax, zb + b.zmax) - max(za + a.zmin, zb + b.zmin) > HEIGHT_TOLERANCE)


@kernel
def pairs_kernel(
    bodies: Rows, movers: IntArray, stored: Stored, found: Found, near: int, dt: float
) -> int:
    """Write the keys of all shape pairs that may meet in this step, sorted; return their number.

    Where it exceeds the array, keys are missing and the caller makes room and calls again.
    """
    found.stamps[:] = UNKNOWN
    count = ZERO
    for p in range(near):
        pair = found.near[p]
        row = movers[pair.a]
        sweep_circle(bodies, row, found, pair.a, dt)
        if pair.b < 0:
            if overlap(found.swept[pair.a], stored.boxes[pair.shape]):
                sweep_boxes(bodies, row, stored, found, pair.a, dt)
                count = pairs_with_shape(bodies, row, stored, found, pair.shape, count, dt)
            continue
        other = movers[pair.b]
        sweep_circle(bodies, other, found, pair.b, dt)
        # most near pairs are apart by more than their radii: corners are looked at for the others
        if not overlap(found.swept[pair.a], found.swept[pair.b]):
            continue
        sweep_boxes(bodies, row, stored, found, pair.a, dt)
        sweep_boxes(bodies, other, stored, found, pair.b, dt)
        if overlap(found.swept[pair.a], found.swept[pair.b]):
            i = stored.links[other].shape
            while i >= 0:
                if overlap(found.swept[pair.a], found.shape_boxes[i]):
                    count = pairs_with_shape(bodies, row, stored, found, i, count, dt)
                i = stored.shapes[i].next
    if count <= found.keys.shape[0]:
        found.keys[:count].sort()
    return int(count)


@inner
def pairs_with_shape(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows, row: int, stored: Stored, found: Found, other: int, count: int, dt: float
) -> int:
    """Append the pairs of a mover's shapes with a shape, and return the new number."""
    shape = stored.shapes[other]
    z = 0.0
    box = stored.boxes[other]
    still = True
    if shape.body >= 0:
        z = bodies[shape.body].z
        if found.mover_of[shape.body] >= 0:
            box = found.shape_boxes[other]
            still = False
    i = stored.links[row].shape
    while i >= 0:
        mine = stored.shapes[i]
        if (
            overlap(found.shape_boxes[i], box)
            and overlap_in_height(bodies[row].z, mine, z, shape)
            # a body beside a long wall that stands askew is in its box all the time
            and not (still and beyond_edge(bodies, row, mine, shape, stored, found, dt))
        ):
            if count < found.keys.shape[0]:
                found.keys[count] = (min(i, other) << 32) | max(i, other)
            count += 1
        i = mine.next
    return count


@inner
def beyond_edge(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows, row: int, mine: Row, shape: Row, stored: Stored, found: Found, dt: float
) -> bool:
    """Return whether a mover's shape stays beyond one edge of a shape that stands still."""
    b = bodies[row]
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    x = b.x + c * mine.x - s * mine.y
    y = b.y + s * mine.x + c * mine.y
    if shape.body >= 0:  # into the frame of the other body
        o = bodies[shape.body]
        c, s = math.cos(o.yaw), math.sin(o.yaw)
        x, y = c * (x - o.x) + s * (y - o.y), -s * (x - o.x) + c * (y - o.y)
    x -= shape.x
    y -= shape.y
    near = mine.radius + sweep(b, mine.reach + found.guards[found.mover_of[row]].arm, dt)
    for j in range(shape.vertex, shape.vertex + shape.count):
        v = stored.vertices[j]
        if v.nx * (x - v.x) + v.ny * (y - v.y) > near:
            return True
    return False
