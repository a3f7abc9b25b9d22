# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Work memory of the contact solver: grows as needed, holds nothing that a result depends on."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mvsim_core.solver.contact_types import BOX, CONTACT
from mvsim_core.solver.grid import LEVELS, empty_buckets
from mvsim_core.solver.polygons import HIT
from mvsim_core.state.arrays import FloatArray, IntArray, Rows

#: Where a moving body may be before its neighbours are searched again.
GUARD = np.dtype(
    [
        ("body", "i8"),  # row of BODY
        ("min_x", "f8"),  # m, of the reference point
        ("max_x", "f8"),
        ("min_y", "f8"),
        ("max_y", "f8"),
        ("arm", "f8"),  # m, distance of the centre of mass from the reference point
        ("radius", "f8"),  # m, distance of the furthest corner from the reference point
        ("yaw", "f8"),  # rad, whose cosine and sine are c and s
        ("c", "f8"),
        ("s", "f8"),
    ]
)

#: A moving body and what is near it.
NEAR = np.dtype(
    [
        ("a", "i8"),  # index among the movers
        ("b", "i8"),  # index among the movers; -1: a shape that does not move
        ("shape", "i8"),  # that shape
        ("min_x", "f8"),  # m, its box in the world
        ("min_y", "f8"),
        ("max_x", "f8"),
        ("max_y", "f8"),
    ]
)

#: A body that takes part in contacts of this step. Row 0 stands for all that is fixed.
ACTIVE = np.dtype(
    [
        ("row", "i8"),  # of BODY; -1: fixed
        ("mover", "i8"),  # index among the movers; -1: does not move
        ("island", "i8"),  # union-find parent; number of the island later
        ("driven", "i8"),  # 1: a kinematic body that moves: it may give energy
        ("acted", "i8"),  # 1: a contact, joint or wall acts on it
        ("inv_mass", "f8"),  # 1/kg; 0: nothing moves it
        ("inv_inertia", "f8"),  # 1/(kg m²)
        ("x", "f8"),  # m, centre of mass at the start of the step (0, 0 for fixed shapes)
        ("y", "f8"),
        ("yaw", "f8"),  # rad, at the start
        ("c", "f8"),  # 1, cosine and sine of yaw + da
        ("s", "f8"),
        ("com_x", "f8"),  # m, in the body frame
        ("com_y", "f8"),
        ("vx", "f8"),  # m/s, of the centre of mass
        ("vy", "f8"),
        ("w", "f8"),  # rad/s
        ("px", "f8"),  # m/s, velocity that moves but is not kept: pushes overlaps apart
        ("py", "f8"),
        ("pw", "f8"),  # rad/s
        ("old_vx", "f8"),  # m/s, at the start of the substep
        ("old_vy", "f8"),
        ("old_w", "f8"),
        ("mid_vx", "f8"),  # m/s, before restitution
        ("mid_vy", "f8"),
        ("mid_w", "f8"),
        ("dx", "f8"),  # m, moved since the start of the step
        ("dy", "f8"),
        ("da", "f8"),  # rad
        ("way", "f8"),  # m, longest way in this step
        ("reach", "f8"),  # m, no corner is further from the centre of mass
        ("grip_x", "f8"),  # N s, impulse of the ground beyond what it gave without contacts
        ("grip_y", "f8"),
        ("changed", "i8"),  # 1: something pushed it
        ("touching", "i8"),  # number of contacts
    ]
)

#: Two shapes that may meet in this step.
MANIFOLD = np.dtype(
    [
        ("shape_a", "i8"),
        ("shape_b", "i8"),
        ("a", "i8"),  # rows of ACTIVE
        ("b", "i8"),
        ("old", "i8"),  # row of CONTACT of the last step; -1: none
        ("count", "i8"),  # contact points now
        ("renew", "i8"),  # 1: to be looked at in each substep
        ("horizon", "f8"),  # s, time for which a gap was looked at
        ("used", "i8"),  # points that take part in this substep
        ("friction", "f8"),  # 1
        ("restitution", "f8"),  # 1
        ("reach", "f8"),  # m, points further apart do not matter
        ("nx", "f8"),  # 1, from a to b
        ("ny", "f8"),
        ("ax", "f8"),  # m, motion (dx, dy, da) of both when the points were found
        ("ay", "f8"),
        ("aa", "f8"),
        ("bx", "f8"),
        ("by", "f8"),
        ("ba", "f8"),
        ("total", "f8"),  # N s, normal impulse of all substeps
        ("largest", "f8"),  # N s, of one point in one substep
        ("x", "f8"),  # m, where that was, from the centre of mass of a at the start of the step
        ("y", "f8"),
    ]
)

#: A point of a manifold (two each).
POINT = np.dtype(
    [
        ("id", "i8"),
        ("ax", "f8"),  # m, from the centre of mass of a when it was found, world axes
        ("ay", "f8"),
        ("bx", "f8"),
        ("by", "f8"),
        ("s", "f8"),  # m, separation when it was found
        ("normal", "f8"),  # N s, impulses of the first substep
        ("tangent", "f8"),
        ("row", "i8"),  # constraint row of its normal in this substep; -1: out of reach
    ]
)

#: A scalar constraint of the velocities of two bodies, see `solver.rows`.
ROW = np.dtype(
    [
        ("kind", "i8"),
        ("a", "i8"),  # rows of ACTIVE
        ("b", "i8"),
        ("mate", "i8"),  # of friction: the row of the normal
        ("nx", "f8"),  # 1, direction; 0, 0: angular
        ("ny", "f8"),
        ("ja", "f8"),  # m, lever arms (1 if angular)
        ("jb", "f8"),
        ("k", "f8"),  # 1/kg, velocity per impulse
        ("mass", "f8"),  # kg, 1 / (k + soft)
        ("cross", "f8"),  # 1/kg, velocity of the next row per impulse of this one
        ("soft", "f8"),  # 1/kg, yields by this times the impulse
        ("target", "f8"),  # m/s, relative velocity that is to be reached
        ("limit", "f8"),  # N s, of the impulse; of friction: the coefficient [1]
        ("restitution", "f8"),  # 1
        ("before", "f8"),  # m/s, relative velocity at the start of the substep
        ("impulse", "f8"),  # N s
        ("start", "f8"),  # N s, given in earlier substeps
        ("kept", "f8"),  # N s, before restitution
        ("push", "f8"),  # m/s, that pushes an error out
        ("pushed", "f8"),  # N s, its impulse
    ]
)

#: What joins an island: the kind and number of a joint, grip, manifold or wall.
ITEM = np.dtype(
    [
        ("kind", "i8"),  # JOINT_ITEM, GRIP_ITEM, PAIR_ITEM or WALL_ITEM of `solver.islands`
        ("index", "i8"),  # its row
        ("a", "i8"),  # rows of ACTIVE
        ("b", "i8"),
        ("row", "i8"),  # its first constraint row in this substep
        ("end", "i8"),  # the constraint row after its last one
    ]
)

#: Bodies that act on each other in this step.
ISLAND = np.dtype(
    [
        ("item", "i8"),  # first of `sorted_items`
        ("items", "i8"),  # their number
        ("body", "i8"),  # first of `order`
        ("bodies", "i8"),  # their number
        ("driven", "i8"),  # 1: something in it may give energy
    ]
)

#: Most corners of the polygons that fit at first.
FIRST_CORNERS = 16


class Found(NamedTuple):
    """Arrays of the search for what is near."""

    guards: Rows  # GUARD, one a mover
    fat: Rows  # BOX, one a mover: where it may go while its guard holds
    swept: Rows  # BOX, one a mover: where it may go in this step
    shape_boxes: Rows  # BOX, one a shape: likewise, for shapes of movers
    stamps: IntArray  # of movers whose boxes are those of this step
    mover_of: IntArray  # index among the movers of each row of BODY; -1: none
    buckets: IntArray
    levels: IntArray
    hits: IntArray  # result of one query
    near: Rows  # NEAR
    spare: Rows  # NEAR, as long: where `renew_kernel` makes the next list
    keys: IntArray  # shape pairs of this step: (first << 32) | second


class Work(NamedTuple):
    """Arrays of the solution of contacts."""

    active: Rows  # ACTIVE
    slots: IntArray  # row of ACTIVE of each row of BODY; -1: none
    manifolds: Rows  # MANIFOLD
    points: Rows  # POINT
    rows: Rows  # ROW
    items: Rows  # ITEM
    sorted_items: Rows  # ITEM, by island
    islands: Rows  # ISLAND
    order: IntArray  # rows of ACTIVE that can be moved, by island
    contacts: Rows  # CONTACT, of the next step
    hit: Rows  # HIT
    first: FloatArray  # (4, corners) polygons of a pair
    second: FloatArray


class Scratch:
    """Arrays that are made once and grow.

    Attributes:
        near_valid: Whether `found.near` and the guards fit the shapes and joints that there are.
        groups_valid: Likewise, of guards and lists that are kept for groups of copies of a world.
        group_guards: GUARD, one a mover: the guards of all groups.
        near_count: Used rows of `found.near`.
        by_copy: Whether movers are sorted by the copies of the world that they belong to, so that
            what is near can be listed again copy by copy.
        touched: 1 for the rows of BODY that something may act on in this step, else 0.
    """

    def __init__(self) -> None:
        """Start small."""
        self._near_valid = self.groups_valid = False
        self.near_count = 0
        self.by_copy = False
        self.group_guards: Rows = np.zeros(0, GUARD)
        self.touched: IntArray = np.zeros(0, np.int64)
        self.found = Found(
            np.zeros(0, GUARD),
            np.zeros(0, BOX),
            np.zeros(0, BOX),
            np.zeros(0, BOX),
            np.zeros(0, np.int64),
            np.zeros(0, np.int64),
            empty_buckets(0),
            np.zeros(LEVELS, np.int64),
            np.zeros(64, np.int64),
            np.zeros(16, NEAR),
            np.zeros(16, NEAR),
            np.zeros(16, np.int64),
        )
        self.work = Work(
            np.zeros(0, ACTIVE),
            np.zeros(0, np.int64),
            np.zeros(0, MANIFOLD),
            np.zeros(0, POINT),
            np.zeros(0, ROW),
            np.zeros(0, ITEM),
            np.zeros(0, ITEM),
            np.zeros(0, ISLAND),
            np.zeros(0, np.int64),
            np.zeros(0, CONTACT),
            np.zeros(1, HIT),
            np.zeros((4, FIRST_CORNERS)),
            np.zeros((4, FIRST_CORNERS)),
        )

    @property
    def near_valid(self) -> bool:
        """See above. What makes it false holds for groups too."""
        return self._near_valid

    @near_valid.setter
    def near_valid(self, valid: bool) -> None:
        self._near_valid = valid
        if not valid:
            self.groups_valid = False

    def forget(self, movers: IntArray) -> None:
        """Let what is near some movers be listed again in the next step."""
        if self._near_valid:
            self.found.guards["body"][movers] = -1
        if self.groups_valid:
            self.group_guards["body"][movers] = -1

    def fit_movers(self, bodies: int, movers: int, shapes: int) -> None:
        """Make room for so many bodies, movers (exactly) and shapes."""
        found = self.found
        if len(found.guards) != movers or len(found.mover_of) != bodies:
            self.found = found._replace(
                guards=np.zeros(movers, GUARD),
                fat=np.zeros(movers, BOX),
                swept=np.zeros(movers, BOX),
                stamps=np.zeros(movers, np.int64),
                mover_of=np.full(bodies, -1, np.int64),
                buckets=empty_buckets(movers),
            )
            self.work = self.work._replace(slots=np.full(bodies, -1, np.int64))
            self.touched = np.zeros(bodies, np.int64)
            self.near_valid = False
        if len(found.shape_boxes) < shapes:
            self.found = self.found._replace(shape_boxes=np.zeros(2 * shapes, BOX))

    def fit_near(self, near: int, hits: int) -> None:
        """Make room for so many near pairs and results of a query."""
        found = self.found
        self.found = found._replace(
            near=_grown(found.near, near),
            spare=_grown(found.spare, near),
            hits=_grown(found.hits, hits),
        )

    def fit_pairs(self, pairs: int) -> None:
        """Make room for so many shape pairs."""
        self.found = self.found._replace(keys=_grown(self.found.keys, pairs))

    def fit_work(self, pairs: int, joints: int, others: int, corners: int) -> None:
        """Make room for so many pairs, joints, walls and grips, and corners of a polygon."""
        w = self.work
        items = pairs + joints + others
        if len(w.items) < items or len(w.manifolds) < pairs or w.first.shape[1] < corners:
            bodies = 2 * pairs + 2 * joints + others + 1
            corners = max(corners, w.first.shape[1])
            self.work = Work(
                _grown(w.active, bodies),
                w.slots,
                _grown(w.manifolds, pairs),
                _grown(w.points, 2 * pairs),
                _grown(w.rows, 4 * items),
                _grown(w.items, items),
                _grown(w.sorted_items, items),
                _grown(w.islands, bodies),
                _grown(w.order, bodies),
                _grown(w.contacts, pairs),
                w.hit,
                np.zeros((4, corners)),
                np.zeros((4, corners)),
            )


def _grown(rows: Any, count: int) -> Any:
    """Return the array, or a larger empty one if it has less than `count` rows."""
    return rows if len(rows) >= count else np.zeros(2 * count, rows.dtype)
