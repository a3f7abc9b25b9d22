# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""How deep bodies are in each other."""

from __future__ import annotations

import math

import numpy as np

from mvsim_core.solver.compiled import inner, kernel
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.contact_types import Stored
from mvsim_core.solver.motion_kernels import free_kernel
from mvsim_core.solver.near import STALE
from mvsim_core.solver.polygons import HIT, collide, place_polygon
from mvsim_core.solver.solve import find_near, find_pairs
from mvsim_core.state.arrays import FloatArray, IntArray, Row, Rows

#: What is less deep only touches [m].
TOUCHING = 1e-3


def overlaps(
    bodies: Rows, movers: IntArray, contacts: ContactData, dt: float
) -> dict[tuple[int, int], float]:
    """Return how deep bodies are in each other [m], by pairs of owners, the lower one first.

    A shape that consists of convex parts is as deep as the deepest of its parts. Bodies that
    nothing moves are not looked at among each other, nor what is joined.

    Args:
        bodies: Rows of BODY.
        movers: Its rows that move.
        contacts: Shapes and joints.
        dt: Time step [s].
    """
    scratch = contacts.scratch
    found = scratch.found
    checked = free_kernel(bodies, movers, found.guards, found.near, -1, dt, False)
    if checked >= 0:
        return {}  # not finite: the next step says which
    if checked == STALE or not scratch.near_valid:
        find_near(bodies, movers, contacts, dt)
    count = find_pairs(bodies, movers, contacts, dt) if scratch.near_count else 0
    keys, depths = scratch.found.keys[:count], np.zeros(count)
    first, second = (np.zeros((4, contacts.most_corners)) for _ in range(2))
    depths_kernel(bodies, contacts.arrays(), keys, first, second, np.zeros(1, HIT), depths)
    owners = contacts.shapes.rows["owner"]
    depth_of: dict[tuple[int, int], float] = {}
    for i in np.flatnonzero(depths > TOUCHING):
        a, b = int(owners[keys[i] >> 32]), int(owners[keys[i] & 0xFFFFFFFF])
        pair = (min(a, b), max(a, b))
        depth_of[pair] = max(depth_of.get(pair, 0.0), float(depths[i]))
    return depth_of


@inner
def place_of(bodies: Rows, shape: Row) -> tuple[float, float, float, float]:
    """Return the middle of a shape in the world [m], and cosine and sine of its yaw."""
    if shape.body < 0:
        return float(shape.x), float(shape.y), 1.0, 0.0
    b = bodies[shape.body]
    c, s = math.cos(b.yaw), math.sin(b.yaw)
    return b.x + c * shape.x - s * shape.y, b.y + s * shape.x + c * shape.y, c, s


@kernel
def depths_kernel(  # noqa: PLR0913 (arrays of a kernel)
    bodies: Rows,
    stored: Stored,
    keys: IntArray,
    first: FloatArray,
    second: FloatArray,
    hit: Rows,
    depths: FloatArray,
) -> None:
    """Write how deep the shapes of each pair are in each other [m]; < 0: apart."""
    for i in range(keys.shape[0]):
        sa = stored.shapes[keys[i] >> 32]
        sb = stored.shapes[keys[i] & 0xFFFFFFFF]
        ax, ay, ac, asn = place_of(bodies, sa)
        bx, by, bc, bsn = place_of(bodies, sb)
        place_polygon(stored.vertices, sa, (ac, asn), (0.0, 0.0), first)
        place_polygon(stored.vertices, sb, (bc, bsn), (bx - ax, by - ay), second)
        collide(first, sa.count, second, sb.count, 0.0, (0.0, 0.0), 0.0, hit[0])
        depths[i] = -hit[0].gap
