# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of the contact solver: what it remembers, and what a step gets from outside.

Lengths in m, angles in rad, impulses in N s, SI throughout. "Row of BODY" counts from 0; the
fields of BODY are in `state.arrays`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mvsim_core.state.arrays import IntArray, Rows

#: Values of SHAPE.body for a shape that is fixed in the world, and for a free row.
FIXED, FREE = -1, -2

#: A convex polygon of a body, or one that is fixed in the world (body -1).
SHAPE = np.dtype(
    [
        ("body", "i8"),  # row of BODY; FIXED or FREE
        ("owner", "i8"),  # number reported in touches: row of BODY, or < 0: a fixture
        ("serial", "i8"),  # grows with each shape, so that a reused row is another shape
        ("vertex", "i8"),  # first row of VERTEX
        ("count", "i8"),  # number of corners
        ("next", "i8"),  # next shape of the body; -1: none
        ("x", "f8"),  # m, mean of the corners in the body frame (in the world if fixed)
        ("y", "f8"),  # m
        ("radius", "f8"),  # m, distance of the furthest corner from there
        ("reach", "f8"),  # m, distance of the furthest corner from the origin of the body frame
        ("zmin", "f8"),  # m, above the reference point of the body (absolute if fixed)
        ("zmax", "f8"),  # m
        ("friction", "f8"),  # 1, Coulomb
        ("restitution", "f8"),  # 1
    ]
)

#: A corner of a shape, counter-clockwise, and the edge that starts at it.
VERTEX = np.dtype(
    [
        ("x", "f8"),  # m, from (SHAPE.x, SHAPE.y), axes of the body
        ("y", "f8"),  # m
        ("nx", "f8"),  # 1, outward normal of the edge to the next corner, axes of the body
        ("ny", "f8"),  # 1
    ]
)

#: An axis-aligned box in the world and its place in a hash grid (`solver.grid`).
BOX = np.dtype(
    [
        ("min_x", "f8"),  # m
        ("min_y", "f8"),  # m
        ("max_x", "f8"),  # m
        ("max_y", "f8"),  # m
        ("copy", "i8"),  # as in BODY; -1: meets all copies
        ("level", "i8"),  # of the grid, cells have CELL * 2**level [m]; -1: not in the grid
        ("ix", "i8"),  # cell of its centre
        ("iy", "i8"),
        ("next", "i8"),  # row of the next and the previous box of the same bucket; -1: none
        ("prev", "i8"),
    ]
)

#: What belongs to a row of BODY.
LINK = np.dtype(
    [
        ("shape", "i8"),  # its first shape; -1: none
        ("joint", "i8"),  # its first joint; -1: none
        ("radius", "f8"),  # m, distance of its furthest corner from the reference point
    ]
)

#: Two shapes that touched or were about to in the last step; sorted by (shape_a, shape_b).
CONTACT = np.dtype(
    [
        ("shape_a", "i8"),  # row of SHAPE, less than shape_b
        ("shape_b", "i8"),
        ("serial_a", "i8"),  # SHAPE.serial of both when the contact was made
        ("serial_b", "i8"),
        ("count", "i8"),  # contact points, 1 or 2
        ("touching", "i8"),  # 1: an impulse passed, or the gap is at most TOUCH
        ("nx", "f8"),  # 1, normal from a to b, world frame
        ("ny", "f8"),
        ("x", "f8"),  # m, the point with the larger impulse (or smaller gap), world frame
        ("y", "f8"),
        ("separation", "f8"),  # m, smallest gap at the end of the step; < 0: overlap
        ("impulse", "f8"),  # N s, along the normal, over the step
        ("id0", "i8"),  # features that make the points
        ("id1", "i8"),
        ("normal0", "f8"),  # N s, impulses of the first substep, where the next step starts
        ("normal1", "f8"),
        ("tangent0", "f8"),
        ("tangent1", "f8"),
    ]
)

REVOLUTE, DISTANCE, WELD, PRISMATIC = 0, 1, 2, 3
#: Most constraint rows of a joint.
JOINT_ROWS = 4

#: A joint of two rows of BODY; the impulses are of the first substep of the last step.
JOINT = np.dtype(
    [
        ("a", "i8"),  # row of BODY; FREE: no joint
        ("b", "i8"),
        ("next_a", "i8"),  # next joint of the same body; -1: none
        ("next_b", "i8"),
        ("kind", "i8"),  # REVOLUTE, DISTANCE, WELD or PRISMATIC
        ("limited", "i8"),  # 1: lower and upper hold
        ("ax", "f8"),  # m, anchor in the frame of a
        ("ay", "f8"),
        ("bx", "f8"),  # m, anchor in the frame of b
        ("by", "f8"),
        ("axis_x", "f8"),  # 1, unit vector of a prismatic joint in the frame of a
        ("axis_y", "f8"),
        ("angle", "f8"),  # rad, yaw of b minus yaw of a at which the angle counts as zero
        ("lower", "f8"),  # rad or m
        ("upper", "f8"),  # rad or m
        ("hertz", "f8"),  # Hz, of the spring; 0: none
        ("damping_ratio", "f8"),  # 1
        ("impulse0", "f8"),  # N s or N m s, of its constraint rows
        ("impulse1", "f8"),
        ("impulse2", "f8"),
        ("impulse3", "f8"),
    ]
)

#: A step of the terrain that a body cannot climb; made for each step, nothing is remembered.
WALL = np.dtype(
    [
        ("body", "i8"),  # row of BODY
        ("x", "f8"),  # m, point of the body that may hit, world frame
        ("y", "f8"),
        ("nx", "f8"),  # 1, unit normal from the obstacle towards the body, world frame
        ("ny", "f8"),
        ("separation", "f8"),  # m, gap along the normal; < 0: overlap
        ("friction", "f8"),  # 1, Coulomb
        ("impulse", "f8"),  # N s, output: along the normal over the step
    ]
)

#: Friction of the ground at a point of a body, in this step. Over a step of dt a force gives an
#: impulse of force * dt at most.
GRIP = np.dtype(
    [
        ("body", "i8"),  # row of BODY
        ("owner", "i8"),  # number for the caller
        ("x", "f8"),  # m, body frame
        ("y", "f8"),
        ("direction", "f8"),  # rad, body frame
        ("limit_x", "f8"),  # N, largest force along the direction; 0: none acts along it
        ("limit_y", "f8"),  # N, across it; of the vector sum of both if `round`
        ("round", "i8"),  # 1: the vector sum is bounded
        ("given_x", "f8"),  # N s, what friction gave without contacts; the velocities have it
        ("given_y", "f8"),  # world frame
        ("impulse_x", "f8"),  # N s, output: over the step, world frame
        ("impulse_y", "f8"),
    ]
)

NO_WALLS: Rows = np.zeros(0, WALL)
NO_GRIPS: Rows = np.zeros(0, GRIP)


class Touch(NamedTuple):
    """Two things in contact, by their owners (a < b; numbers < 0 are fixtures).

    Args:
        a: Owner of the one.
        b: Owner of the other.
        x: Point of the contact with the largest impulse, world frame [m].
        y: Its other coordinate [m].
        nx: Unit normal there from a to b, world frame.
        ny: Its other component.
        impulse: Sum along the normals in the last step [N s].
    """

    a: int
    b: int
    x: float
    y: float
    nx: float
    ny: float
    impulse: float


class Stored(NamedTuple):
    """The arrays of `ContactData` as kernels take them."""

    shapes: Rows  # SHAPE
    vertices: Rows  # VERTEX
    boxes: Rows  # BOX, of shapes that do not move
    links: Rows  # LINK
    joints: Rows  # JOINT
    buckets: IntArray  # of the grid of `boxes`: first row; -1: none
    levels: IntArray  # (2, LEVELS), boxes that are fixed, and those of static bodies
