# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The contact solver on Box2D 3, through the batch interface of pyb2d3 (its only import)."""

from __future__ import annotations

import gc
import math
from functools import lru_cache
from typing import Any

import numpy as np
import pyb2d3 as b2

from mvsim_core.errors import BuildError
from mvsim_core.geometry.poses import convex_pieces
from mvsim_core.solver.base import Inertia, JointSettings, Material, Touch
from mvsim_core.solver.layers import Layers
from mvsim_core.state.arrays import DYNAMIC, KINEMATIC, STATIC, FloatArray

_KINDS = {
    STATIC: b2.BodyType.STATIC,
    DYNAMIC: b2.BodyType.DYNAMIC,
    KINEMATIC: b2.BodyType.KINEMATIC,
}


def _revolute(s: JointSettings) -> Any:
    joint = b2.revolute_joint_def(reference_angle=s.angle)
    if s.angles is not None:
        joint.enable_limit = True
        joint.lower_angle, joint.upper_angle = s.angles
    return joint


def _distance(s: JointSettings) -> Any:
    """Return a rope, or with a frequency a spring that rests at the longest distance."""
    joint = b2.distance_joint_def(length=s.lengths[1], enable_limit=True, enable_spring=True)
    joint.min_length, joint.max_length = s.lengths
    joint.hertz, joint.damping_ratio = s.hertz, s.damping_ratio
    return joint


def _weld(s: JointSettings) -> Any:
    return b2.weld_joint_def(reference_angle=s.angle)


def _prismatic(s: JointSettings) -> Any:
    joint = b2.prismatic_joint_def(reference_angle=s.angle, local_axis_a=s.axis)
    if s.limited:
        joint.enable_limit = True
        joint.lower_translation, joint.upper_translation = s.lengths
    return joint


_JOINTS = {
    "revolute": _revolute,
    "distance": _distance,
    "weld": _weld,
    "prismatic": _prismatic,
}


#: How much larger small polygons are while Box2D looks for their hull.
ENLARGED = 256.0


def _polygon(corners: FloatArray) -> Any:
    """Return a Box2D polygon of convex corners (n, 2) [m] that keeps all of them.

    Box2D melts corners that are nearer to each other than 2 cm, and where fewer than three are
    left it makes a box of 1 m at the origin. What it melts goes through an enlarged copy.
    """
    return _cached_polygon(np.ascontiguousarray(corners, dtype=np.float64).tobytes())


@lru_cache(maxsize=1024)  # worlds have thousands of the same shape
def _cached_polygon(raw: bytes) -> Any:
    corners = np.frombuffer(raw).reshape(-1, 2)
    polygon = b2.polygon(points=np.ascontiguousarray(corners, dtype=np.float32))
    if polygon.count == len(corners) and _same_extent(polygon.vertices, corners):
        return polygon
    middle = corners.mean(axis=0)
    enlarged = np.ascontiguousarray((corners - middle) * ENLARGED, dtype=np.float32)
    polygon = b2.polygon(points=enlarged)
    vertices = polygon.vertices  # a view
    vertices[:] = vertices / ENLARGED + middle
    centroid = polygon.centroid
    polygon.centroid = (
        centroid.x / ENLARGED + float(middle[0]),
        centroid.y / ENLARGED + float(middle[1]),
    )
    return polygon


def _same_extent(some: FloatArray, other: FloatArray) -> bool:
    for extreme in (np.min, np.max):
        a, b = extreme(some, axis=0), extreme(other, axis=0)
        if (np.abs(a - b) > 1e-4 + 1e-6 * np.abs(b)).any():
            return False
    return True


class Box2dSolver:
    """A Box2D world without gravity, damping and sleep: it does contacts and nothing else.

    Args:
        layers: The heights at which bodies can meet.
        origin: Place of the world that the solver takes as its origin [m]: single precision has
            few digits left far away from it.
        substeps: Solver iterations a step; four is Box2D's own advice.
    """

    def __init__(
        self, layers: Layers, origin: tuple[float, float] = (0.0, 0.0), substeps: int = 4
    ) -> None:
        """Make an empty world.

        Raises:
            BuildError: Box2D has as many worlds as it can hold.
        """
        self.origin = origin
        self._world = b2.World(gravity=(0.0, 0.0))
        if not self._world.is_valid():
            gc.collect()  # worlds that only know each other go late
            self._world = b2.World(gravity=(0.0, 0.0))
        if not self._world.is_valid():  # anything done to it would end the process
            raise BuildError("Box2D holds at most 128 worlds in one process: let go of some")
        self._layers = layers
        self._substeps = substeps
        self._bodies: dict[int, Any] = {}
        self._next = 0
        self._heights: dict[int, float] = {}  # of bodies that move
        self._shapes: dict[int, list[Any]] = {}  # of bodies that move, with their z-ranges
        self._touching: dict[tuple[int, int], list[Any]] = {}
        self.touch_changes = 0
        self.bind([])

    def add_body(self, kind: int, pose: tuple[float, float, float], inertia: Inertia) -> int:
        """Add a body at x, y, yaw [m, m, rad] and return its key."""
        key = self._next
        self._next += 1
        definition = b2.body_def(
            type=_KINDS[kind], position=(0.0, 0.0), enable_sleep=False, user_data=key
        )
        body = self._world.create_body_from_def(definition)
        body.set_transform(self._local(pose[0], pose[1]), pose[2])
        self._bodies[key] = body
        if kind == DYNAMIC:
            self._set_mass(body, inertia)
        if kind != STATIC:
            self._heights[key] = 0.0
        return key

    def add_polygon(
        self, body: int, points: FloatArray, material: Material, z_range: tuple[float, float]
    ) -> None:
        """Add a convex polygon (n, 2) in the body frame [m]; mass is not touched."""
        handle = self._bodies[body]
        bits = self._bits(body, z_range)
        definition = b2.shape_def(density=0.0, enable_contact_events=True, update_body_mass=False)
        definition.material = b2.surface_material(
            friction=material.friction, restitution=material.restitution
        )
        definition.filter = b2.make_filter(category_bits=bits, mask_bits=bits)
        for piece in convex_pieces(points):
            shape = handle.create_shape(definition, _polygon(piece))
            if body in self._heights:
                self._shapes.setdefault(body, []).append((shape, z_range))

    def add_joint(self, a: int, b: int, settings: JointSettings) -> None:
        """Join two bodies, which then do not collide; the joint goes when one is removed."""
        definition = _JOINTS[settings.kind](settings)
        definition.body_a = self._bodies[a]
        definition.body_b = self._bodies[b]
        definition.local_anchor_a = settings.anchor_a
        definition.local_anchor_b = settings.anchor_b
        definition.collide_connected = False
        create = getattr(self._world, f"create_{settings.kind}_joint")
        create(definition)

    def remove_body(self, body: int) -> None:
        """Remove a body and its shapes."""
        self._bodies.pop(body).destroy()
        self._shapes.pop(body, None)
        self._heights.pop(body, None)
        self._touching = {k: v for k, v in self._touching.items() if body not in k}
        self.touch_changes += 1

    def bind(self, bodies: list[int]) -> None:
        """Fix which bodies the arrays stand for, row by row."""
        n = len(bodies)
        self.linear = np.zeros((n, 2), np.float32)
        self.angular = np.zeros(n, np.float32)
        self.linear_out = np.zeros((n, 2), np.float32)
        self.angular_out = np.zeros(n, np.float32)
        self.poses = np.zeros((n, 4), np.float32)
        self.poses_out = np.zeros((n, 4), np.float32)
        self._batch = b2.Bodies()
        for key in bodies:
            self._batch.append(self._bodies[key].id)
        self._batch.get_transforms(self.poses_out)

    def place(self, body: int, x: float, y: float, yaw: float) -> None:
        """Put a body somewhere else [m, m, rad]."""
        self._bodies[body].set_transform(self._local(x, y), yaw)

    def _local(self, x: float, y: float) -> tuple[float, float]:
        return x - self.origin[0], y - self.origin[1]

    def set_height(self, body: int, z: float) -> None:
        """Say how high the reference point of a moving body is [m]: what it can meet follows."""
        self._heights[body] = z
        for shape, z_range in self._shapes.get(body, []):
            bits = self._bits(body, z_range)
            shape.filter = b2.make_filter(category_bits=bits, mask_bits=bits)

    def _bits(self, body: int, z_range: tuple[float, float]) -> int:
        z = self._heights.get(body, 0.0)
        return self._layers.bits(z + z_range[0], z + z_range[1])

    def refresh(self) -> None:
        """Read the poses again, after `place`."""
        self._batch.get_transforms(self.poses_out)

    def step(self, dt: float) -> None:
        """Take the velocities in, resolve contacts over dt [s], fill the outputs."""
        batch = self._batch
        self.poses, self.poses_out = self.poses_out, self.poses
        batch.set_linear_velocities(self.linear)
        batch.set_angular_velocities(self.angular)
        self._world.step(dt, self._substeps)
        batch.get_transforms(self.poses_out)
        batch.get_linear_velocities(self.linear_out)
        batch.get_angular_velocities(self.angular_out)
        events = self._world.get_contact_events()
        if events.begin_count or events.end_count:
            self._note_contacts(events)

    def touches(self) -> list[Touch]:
        """Return all pairs in contact after the last step."""
        return [Touch(a, b, *manifolds[-1]) for (a, b), manifolds in self._touching.items()]

    def touch_counts(self) -> dict[int, int]:
        """Return the number of touching partners of each body that has any."""
        counts: dict[int, int] = {}
        for pair in self._touching:
            for key in pair:
                counts[key] = counts.get(key, 0) + 1
        return counts

    def _note_contacts(self, events: Any) -> None:
        """Keep the table of touching pairs; a pair may touch with several shapes."""
        self.touch_changes += 1
        for event in events.begin_events():
            a, b = event.shape_a.body, event.shape_b.body
            manifold = event.manifold
            origin = a.position
            anchor = next(iter(manifold.points())).anchor_a
            x, y = origin[0] + anchor[0], origin[1] + anchor[1]
            point = (x + self.origin[0], y + self.origin[1])
            pair = (a.user_data, b.user_data)
            self._touching.setdefault(pair, []).append((*point, *manifold.normal))
        for event in events.end_events():
            shapes = (event.shape_a, event.shape_b)  # None for what was removed meanwhile
            if any(shape is None or not shape.is_valid for shape in shapes):
                continue
            pair = (event.shape_a.body.user_data, event.shape_b.body.user_data)
            manifolds = self._touching.get(pair, [])
            if len(manifolds) > 1:
                manifolds.pop(0)
            else:
                self._touching.pop(pair, None)

    @staticmethod
    def _set_mass(body: Any, inertia: Inertia) -> None:
        if not all(map(math.isfinite, inertia)):
            raise ValueError(f"mass properties must be finite, got {inertia}")
        data = b2.MassData()
        data.mass = inertia.mass
        data.center = (inertia.com_x, inertia.com_y)
        data.rotational_inertia = inertia.about_com
        body.mass_data = data
