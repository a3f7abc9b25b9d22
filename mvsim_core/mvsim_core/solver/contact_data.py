# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the contact solver knows from step to step: shapes, joints and open contacts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from mvsim_core.solver.base import JointSettings, Material
from mvsim_core.solver.compiled import kernel
from mvsim_core.solver.contact_types import (
    BOX,
    CONTACT,
    DISTANCE,
    FIXED,
    FREE,
    JOINT,
    LINK,
    PRISMATIC,
    REVOLUTE,
    SHAPE,
    VERTEX,
    WELD,
    Stored,
    Touch,
)
from mvsim_core.solver.grid import LEVELS, empty_buckets, insert_box, rehash_kernel, remove_box
from mvsim_core.solver.scratch import Scratch
from mvsim_core.state.arrays import STATIC, FloatArray, IntArray, Rows
from mvsim_core.state.rows import bytes_of
from mvsim_core.state.tables import Table

NO_BOX: Rows = np.zeros(1, BOX)
NO_BOX["level"] = -1
JOINT_KINDS = {"revolute": REVOLUTE, "distance": DISTANCE, "weld": WELD, "prismatic": PRISMATIC}


class ContactData:
    """Shapes, joints and contacts of the bodies of a world, in plain arrays.

    A copy (`copy.deepcopy`, pickle) is independent and goes on equally to the byte. Bodies are
    named by their rows in BODY, which is not held here.

    Attributes:
        shapes: Table of SHAPE.
        vertices: Table of VERTEX.
        joints: Table of JOINT.
        contacts: Rows of CONTACT after the last step, sorted. They are replaced, never changed.
        most_corners: Of the largest shape that there ever was.
        scratch: Work memory of `solve`; copies start with an empty one.
    """

    def __init__(self) -> None:
        """Start without shapes."""
        self.shapes = Table(SHAPE, {"body": FREE})
        self.vertices = Table(VERTEX)
        self.joints = Table(JOINT, {"a": FREE, "b": FREE})
        self._contacts: Rows = np.zeros(0, CONTACT)
        self._source: Callable[[], Rows] | None = None  # of contacts that were not read yet
        self._boxes = Table(BOX, {"level": -1})  # one row a shape
        self._links = _no_links(0)
        self._buckets: IntArray = empty_buckets(0)
        self._levels: IntArray = np.zeros((2, LEVELS), np.int64)
        self._serial = 0
        self._joint_count = 0
        self.most_corners = 3
        self._pending: list[int] = []  # shapes whose place in the grid is to be looked at
        self.scratch = Scratch()

    # ------------------------------------------------------------ shapes
    def add_shape(
        self,
        body: int,
        owner: int,
        points: npt.ArrayLike,
        material: Material,
        z_range: tuple[float, float],
    ) -> int:
        """Add a convex polygon and return its row.

        Args:
            body: Row of BODY, or -1: fixed in the world, where it meets all copies.
            owner: Number reported in touches: a row of BODY, or < 0 for a fixture.
            points: As in `convex_shape`, in the body frame (the world if fixed) [m].
            material: Friction and restitution.
            z_range: As in `convex_shape`, above the body's reference point (absolute if fixed).

        Raises:
            ValueError: As in `convex_shape`; or body < -1.
        """
        return self.add_shapes([(body, owner, convex_shape(points, material, z_range))])[0]

    def add_shapes(self, shapes: Sequence[tuple[int, int, ConvexShape]]) -> list[int]:
        """Add convex polygons, each with body and owner as in `add_shape`; return their rows.

        Raises:
            ValueError: A body is < -1; no shape is added then.
        """
        bodies = np.array([body for body, _, _ in shapes], np.int64)
        owners = np.array([owner for _, owner, _ in shapes], np.int64)
        return self._add(bodies, owners, [shape for _, _, shape in shapes])

    def add_to_bodies(self, bodies: IntArray, shapes: Sequence[ConvexShape]) -> list[int]:
        """Add convex polygons to rows of BODY that own them, each to one; return their rows."""
        return self._add(bodies, bodies, shapes)

    def _add(self, bodies: IntArray, owners: IntArray, shapes: Sequence[ConvexShape]) -> list[int]:
        if not shapes:
            return []
        if bodies.min() < FIXED:
            raise ValueError(f"body must be a row or -1, got {bodies.min()}")
        rows = self.shapes.add_all([shape.row for shape in shapes])
        # tables that get and lose the same rows have them at equal places
        self._boxes.add_all([NO_BOX] * len(shapes))
        vertices = self.vertices.add_all([shape.vertices for shape in shapes])
        table, ids = self.shapes.rows, np.array(rows, np.int64)
        table["body"][ids] = bodies
        table["owner"][ids] = owners
        table["serial"][ids] = np.arange(self._serial, self._serial + len(shapes))
        table["vertex"][ids] = vertices
        self._serial += len(shapes)
        self.most_corners = max(self.most_corners, int(table["count"][ids].max()))
        self._link(int(bodies.max()))
        link_kernel(table, ids, self._links)
        self._pending += rows
        self.scratch.near_valid = False
        return rows

    def add_boxes(
        self, owner: int, corners: FloatArray, material: Material, z_range: tuple[float, float]
    ) -> None:
        """Add fixed quadrilaterals, with the same rows as `add_shapes` makes one by one.

        Args:
            owner: As in `add_shape`.
            corners: (n, 4, 2) counter-clockwise, world frame [m].
            material: Friction and restitution.
            z_range: Lowest and highest point [m].

        Raises:
            ValueError: One of them is not convex, counter-clockwise and finite.
        """
        n = len(corners)
        if n == 0:
            return
        rows, vertices = np.zeros(n, SHAPE), np.zeros(4 * n, VERTEX)
        if not quads_kernel(np.ascontiguousarray(corners, np.float64), rows, vertices):
            raise ValueError("the corners of boxes must be finite, convex and counter-clockwise")
        rows["body"], rows["owner"], rows["count"], rows["next"] = FIXED, owner, 4, -1
        rows["reach"] = np.hypot(corners[..., 0], corners[..., 1]).max(axis=1)
        rows["zmin"], rows["zmax"] = z_range
        rows["friction"], rows["restitution"] = material.friction, material.restitution
        rows["serial"] = np.arange(self._serial, self._serial + n)
        rows["vertex"] = self.vertices.add_all([vertices])[0] + 4 * np.arange(n)
        first = self.shapes.add_all([rows])[0]
        self._boxes.add_all([np.repeat(NO_BOX, n)])
        self._serial += n
        self.most_corners = max(self.most_corners, 4)
        self._pending += range(first, first + n)
        self.scratch.near_valid = False

    def remove_shape(self, shape: int) -> None:
        """Remove a shape; its contacts end.

        Raises:
            KeyError: There is no such shape.
        """
        row = self._shape(shape)
        body = int(row["body"])
        if body >= 0:
            self._unlink_shape(body, shape)
        remove_kernel(self._boxes.rows, shape, self._buckets, self._levels)
        self.vertices.remove(int(row["vertex"]), int(row["count"]))
        self.shapes.remove(shape)
        self._boxes.remove(shape)
        self.scratch.near_valid = False

    def remove_body(self, body: int) -> None:
        """Remove the shapes, contacts and joints of a row of BODY."""
        if body >= len(self._links):
            return
        while (shape := int(self._links["shape"][body])) >= 0:
            self.remove_shape(shape)
        while (joint := int(self._links["joint"][body])) >= 0:
            self.remove_joint(joint)

    def body_moved(self, body: int) -> None:
        """Renew the place of a body's shapes: a static one was moved, or BODY.kind changed."""
        if body < len(self._links):
            self._pending.extend(self._chain(body))
        self.scratch.near_valid = False

    def shapes_moved(self, shapes: IntArray, movers: IntArray | None = None) -> None:
        """Renew the places of shapes of static bodies that were moved.

        Args:
            shapes: Which.
            movers: Numbers of all movers that could meet them, before or now; None: all.
        """
        scratch = self.scratch
        self._pending.extend(shapes.tolist())
        if movers is None or not scratch.by_copy:
            scratch.near_valid = False
        else:
            scratch.forget(movers)

    # ------------------------------------------------------------ joints
    def add_joint(self, a: int, b: int, settings: JointSettings) -> int:
        """Join two rows of BODY, which then do not collide, and return the row of the joint.

        A distance joint without a spring keeps the distance between the limits, one with a spring
        pulls to the longest distance from both sides.

        Raises:
            ValueError: The kind is not known, or a body is joined to itself.
        """
        if settings.kind not in JOINT_KINDS:
            raise ValueError(f"unknown kind of joint {settings.kind!r}")
        if a == b or min(a, b) < 0:
            raise ValueError(f"a joint needs two bodies, got rows {a} and {b}")
        row = np.zeros(1, JOINT)
        row["a"], row["b"], row["kind"] = a, b, JOINT_KINDS[settings.kind]
        row["ax"], row["ay"] = settings.anchor_a
        row["bx"], row["by"] = settings.anchor_b
        row["angle"] = settings.angle
        length = math.hypot(*settings.axis)
        if settings.kind == "prismatic":
            if length == 0.0:
                raise ValueError("the axis of a prismatic joint has no direction")
            row["axis_x"], row["axis_y"] = np.asarray(settings.axis) / length
        if settings.kind == "revolute":
            row["limited"] = settings.angles is not None
            row["lower"], row["upper"] = settings.angles or (0.0, 0.0)
        else:
            row["limited"] = settings.limited or settings.kind == "distance"
            row["lower"], row["upper"] = settings.lengths
        row["hertz"], row["damping_ratio"] = settings.hertz, settings.damping_ratio
        row["next_a"], row["next_b"] = self._link(a)["joint"], self._link(b)["joint"]
        joint = self.joints.add(row)
        self._links["joint"][[a, b]] = joint
        self._joint_count += 1
        self.scratch.near_valid = False
        return joint

    def remove_joint(self, joint: int) -> None:
        """Remove a joint; its bodies collide again.

        Raises:
            KeyError: There is no such joint.
        """
        if not 0 <= joint < len(self.joints) or self.joints.rows["a"][joint] == FREE:
            raise KeyError(f"there is no joint {joint}")
        for body in (int(self.joints.rows["a"][joint]), int(self.joints.rows["b"][joint])):
            self._unlink_joint(body, joint)
        self.joints.remove(joint)
        self._joint_count -= 1
        self.scratch.near_valid = False

    @property
    def has_joints(self) -> bool:
        """Whether there is any joint."""
        return self._joint_count > 0

    @property
    def placed(self) -> bool:
        """Whether all shapes are where they belong in the grid."""
        return not self._pending

    # ------------------------------------------------------------ results
    @property
    def contacts(self) -> Rows:
        """See above."""
        if self._source is not None:
            self.contacts = self._source()
        return self._contacts

    @contacts.setter
    def contacts(self, rows: Rows) -> None:
        self._contacts, self._source = rows, None

    def set_source(self, source: Callable[[], Rows]) -> None:
        """Let `source` return the contacts when they are first read, in the state of then."""
        self._source = source

    def has_source(self, source: Callable[[], Rows]) -> bool:
        """Whether contacts are still those of a source, which has not been asked for them."""
        return self._source == source

    def known_contacts(self) -> Rows:
        """Return the contacts of shapes that are there; others lost one of theirs meanwhile."""
        rows, serials = self.contacts, self.shapes.rows["serial"]
        there = np.ones(len(rows), bool)
        for end in ("a", "b"):
            there &= serials[rows[f"shape_{end}"]] == rows[f"serial_{end}"]
        return rows if there.all() else rows[there]

    def touches(self) -> list[Touch]:
        """Return the pairs in contact after the last step, by owners, sorted."""
        found: dict[tuple[int, int], Touch] = {}
        weight: dict[tuple[int, int], tuple[float, float]] = {}
        shapes = self.shapes.rows
        contacts = self.known_contacts()
        for c in contacts[contacts["touching"] != 0]:
            sa, sb = shapes[c["shape_a"]], shapes[c["shape_b"]]
            if FREE in (sa["body"], sb["body"]):
                continue
            a, b, sign = int(sa["owner"]), int(sb["owner"]), 1.0
            if a > b:
                a, b, sign = b, a, -1.0
            impulse = float(c["impulse"])
            rank = (impulse, -float(c["separation"]))
            pair = (a, b)
            total = impulse + (found[pair].impulse if pair in found else 0.0)
            if pair in found and rank <= weight[pair]:
                found[pair] = found[pair]._replace(impulse=total)
                continue
            weight[pair] = rank
            nx, ny = sign * float(c["nx"]), sign * float(c["ny"])
            found[pair] = Touch(a, b, float(c["x"]), float(c["y"]), nx, ny, total)
        return [found[pair] for pair in sorted(found)]

    # ------------------------------------------------------------ for `solve`
    def arrays(self) -> Stored:
        """Return all arrays for kernels; valid until something is added."""
        return Stored(
            self.shapes.rows,
            self.vertices.rows,
            self._boxes.rows,
            self._links,
            self.joints.rows,
            self._buckets,
            self._levels,
        )

    def place_pending(self, bodies: Rows) -> None:
        """Put shapes that were added or moved where they belong in the grid."""
        if not self._pending:
            return
        if len(self._buckets) < len(self._boxes.rows):
            self._buckets = empty_buckets(2 * len(self._boxes.rows))
            rehash_kernel(self._boxes.rows, self._buckets)
        self._link(len(bodies) - 1)
        rows = np.array(self._pending, np.int64)
        self._pending.clear()
        place_kernel(bodies, self.arrays(), rows)

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the work memory."""
        state = {**self.__dict__, "_contacts": self.contacts, "_source": None}
        del state["scratch"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become the data whose state this is."""
        self.__dict__.update(state)
        self.scratch = Scratch()

    # ------------------------------------------------------------ internal
    def _shape(self, shape: int) -> Any:
        if not 0 <= shape < len(self.shapes) or self.shapes.rows["body"][shape] == FREE:
            raise KeyError(f"there is no shape {shape}")
        return self.shapes.rows[shape]

    def _link(self, body: int) -> Any:
        if body >= len(self._links):
            # a power of 2, the same whether bodies come one by one or all at once
            grown = _no_links(1 << body.bit_length())
            bytes_of(grown)[: len(self._links)] = bytes_of(self._links)
            self._links = grown
        return self._links[body] if body >= 0 else None

    def _chain(self, body: int) -> list[int]:
        """Return the shapes of a body."""
        chain = []
        shape = int(self._links["shape"][body])
        while shape >= 0:
            chain.append(shape)
            shape = int(self.shapes.rows["next"][shape])
        return chain

    def _unlink_shape(self, body: int, shape: int) -> None:
        rows = self.shapes.rows
        left = [other for other in self._chain(body) if other != shape]
        for first, second in pairwise([*left, -1]):
            rows["next"][first] = second
        link = self._links[body]
        link["shape"] = left[0] if left else -1
        link["radius"] = max((rows["reach"][s] for s in left), default=0.0)

    def _unlink_joint(self, body: int, joint: int) -> None:
        rows = self.joints.rows
        following = rows["next_a" if rows["a"][joint] == body else "next_b"][joint]
        at = int(self._links["joint"][body])
        if at == joint:
            self._links["joint"][body] = following
            return
        while True:
            name = "next_a" if rows["a"][at] == body else "next_b"
            if rows[name][at] == joint:
                rows[name][at] = following
                return
            at = int(rows[name][at])


def _no_links(count: int) -> Rows:
    links = np.zeros(count, LINK)
    links["shape"] = links["joint"] = -1
    return links


class ConvexShape(NamedTuple):
    """A convex polygon without its places in the tables; equal ones share it."""

    row: Rows  # one of SHAPE
    vertices: Rows  # VERTEX


def convex_shape(
    points: npt.ArrayLike, material: Material, z_range: tuple[float, float]
) -> ConvexShape:
    """Return a convex polygon for `ContactData.add_shapes`.

    Args:
        points: (n, 2) corners, counter-clockwise [m].
        material: Friction and restitution.
        z_range: Lowest and highest point [m].

    Raises:
        ValueError: The polygon is not convex, counter-clockwise and finite, has less than three
            corners, or coincident ones.
    """
    corners = np.ascontiguousarray(points, dtype=np.float64)
    return _shape_of(
        corners.tobytes(), corners.shape, material.friction, material.restitution, *z_range
    )


@lru_cache(maxsize=1024)  # worlds have thousands of equal shapes
def _shape_of(
    points: bytes,
    size: tuple[int, ...],
    friction: float,
    restitution: float,
    zmin: float,
    zmax: float,
) -> ConvexShape:
    """Return a shape of corners (n, 2) with a material and a z-range [m]."""
    corners = np.frombuffer(points).reshape(size)
    vertices, middle, radius = _polygon(corners)
    row = np.zeros(1, SHAPE)
    row["count"] = len(vertices)
    row["x"], row["y"], row["radius"] = middle[0], middle[1], radius
    row["reach"] = np.hypot(corners[:, 0], corners[:, 1]).max()
    row["zmin"], row["zmax"] = zmin, zmax
    row["friction"], row["restitution"] = friction, restitution
    row["next"] = -1
    row.flags.writeable = vertices.flags.writeable = False
    return ConvexShape(row, vertices)


def _polygon(corners: FloatArray) -> tuple[Rows, tuple[float, float], float]:
    """Return rows of VERTEX, the mean of the corners and the radius about it [m]."""
    if corners.ndim != 2 or corners.shape[1:] != (2,) or len(corners) < 3:
        raise ValueError(f"a shape needs (n >= 3, 2) corners, got shape {corners.shape}")
    rows = np.zeros(len(corners), VERTEX)
    x, y, radius, convex = polygon_kernel(corners, rows)
    if not math.isfinite(x + y + radius):
        raise ValueError("the corners of a shape must be finite")
    if not convex:
        raise ValueError("the corners of a shape must be distinct, convex and counter-clockwise")
    return rows, (x, y), radius


#: Turn of an edge to the right that is rounding, of a collinear corner [rad].
HAIR = 1e-9


@kernel
def polygon_kernel(corners: FloatArray, rows: Rows) -> tuple[float, float, float, bool]:
    """Write the rows of VERTEX of corners (n, 2) [m].

    Returns:
        Mean of the corners and radius about it [m], and whether they are distinct, convex,
        counter-clockwise, and go round once.
    """
    n = corners.shape[0]
    x = y = 0.0
    for i in range(n):  # near the first corner the sums lose no digits
        x += (corners[i, 0] - corners[0, 0]) / n
        y += (corners[i, 1] - corners[0, 1]) / n
    x += corners[0, 0]
    y += corners[0, 1]
    radius = 0.0
    for i in range(n):
        rows[i].x = corners[i, 0] - x
        rows[i].y = corners[i, 1] - y
        radius = max(radius, math.hypot(rows[i].x, rows[i].y))
    convex = True
    turned = 0.0
    before_x = rows[0].x - rows[n - 1].x
    before_y = rows[0].y - rows[n - 1].y
    for i in range(n):
        j = i + 1 if i + 1 < n else 0
        ex, ey = rows[j].x - rows[i].x, rows[j].y - rows[i].y
        length = math.hypot(ex, ey)
        rows[i].nx, rows[i].ny = ey / length, -ex / length
        angle = math.atan2(before_x * ey - before_y * ex, before_x * ex + before_y * ey)
        convex = convex and length > 0.0 and -HAIR < angle < math.pi - HAIR
        turned += angle
        before_x, before_y = ex, ey
    return x, y, radius, convex and abs(turned - 2.0 * math.pi) < 1.0


@kernel
def quads_kernel(corners: FloatArray, shapes: Rows, vertices: Rows) -> bool:
    """Write middle and radius of quadrilaterals (n, 4, 2) [m], and four rows of VERTEX each.

    Returns whether all are finite, convex and counter-clockwise.
    """
    good = True
    for i in range(corners.shape[0]):
        x, y, radius, convex = polygon_kernel(corners[i], vertices[4 * i : 4 * i + 4])
        shapes[i].x, shapes[i].y, shapes[i].radius = x, y, radius
        good = good and convex and math.isfinite(x + y + radius)
    return good


@kernel
def link_kernel(shapes: Rows, rows: IntArray, links: Rows) -> None:
    """Put new shapes before the others of their bodies."""
    for k in range(rows.shape[0]):
        shape = shapes[rows[k]]
        if shape.body >= 0:
            link = links[shape.body]
            shape.next = link.shape
            link.shape = rows[k]
            link.radius = max(link.radius, shape.reach)


@kernel
def remove_kernel(boxes: Rows, shape: int, buckets: IntArray, levels: IntArray) -> None:
    """Take the box of a shape out of the grid if it is in it."""
    box = boxes[shape]
    if box.level >= 0:
        remove_box(boxes, shape, buckets, levels[0 if box.copy < 0 else 1])


@kernel
def place_kernel(bodies: Rows, stored: Stored, rows: IntArray) -> None:
    """Put fixed shapes and those of static bodies into the grid; take others out."""
    for k in range(rows.shape[0]):
        shape = stored.shapes[rows[k]]
        box = stored.boxes[rows[k]]
        if box.level >= 0:
            side = 0 if box.copy < 0 else 1
            remove_box(stored.boxes, rows[k], stored.buckets, stored.levels[side])
        c, s, x, y = 1.0, 0.0, shape.x, shape.y
        box.copy = -1
        if shape.body == FREE:
            continue
        if shape.body >= 0:
            b = bodies[shape.body]
            if b.kind != STATIC:
                continue
            c, s = math.cos(b.yaw), math.sin(b.yaw)
            x = b.x + c * shape.x - s * shape.y
            y = b.y + s * shape.x + c * shape.y
            box.copy = b.copy
        box.min_x = box.min_y = np.inf
        box.max_x = box.max_y = -np.inf
        for i in range(shape.vertex, shape.vertex + shape.count):
            v = stored.vertices[i]
            vx = x + c * v.x - s * v.y
            vy = y + s * v.x + c * v.y
            box.min_x = min(box.min_x, vx)
            box.min_y = min(box.min_y, vy)
            box.max_x = max(box.max_x, vx)
            box.max_y = max(box.max_y, vy)
        insert_box(stored.boxes, rows[k], stored.buckets, stored.levels[0 if box.copy < 0 else 1])
