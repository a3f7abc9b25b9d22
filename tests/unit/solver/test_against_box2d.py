# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Collisions end as they do with Box2D 3, whose algorithm the contact solver follows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mvsim_core.solver.contact_data import ContactData
from mvsim_core.solver.solve import solve
from mvsim_core.state.entities import Inertia, Material, body_row

b2: Any = pytest.importorskip("pyb2d3")

DT, STEPS = 0.005, 300
Motion = list[tuple[float, float, float]]


def random_pair(seed: int) -> tuple[list[Any], list[tuple[float, ...]], list[tuple[float, ...]]]:
    """Return half sizes, poses (x, y, yaw) and velocities (vx, vy, wz) of two boxes that meet."""
    rng = np.random.default_rng(seed)
    halves = [tuple(rng.uniform(0.2, 0.6, 2)) for _ in range(2)]
    poses = [(-1.2, rng.uniform(-0.2, 0.2), rng.uniform(-3, 3)), (0.0, 0.0, rng.uniform(-3, 3))]
    speeds = [(rng.uniform(0.8, 2.0), 0.0, 0.0), (0.0, 0.0, rng.uniform(-0.5, 0.5))]
    return halves, poses, speeds


def ours(halves: Any, poses: Any, speeds: Any, friction: float) -> Motion:
    bodies, contacts = [], ContactData()
    for k, ((a, b), (x, y, yaw), (vx, vy, wz)) in enumerate(
        zip(halves, poses, speeds, strict=True)
    ):
        mass = 4.0 * a * b * 10.0
        inertia = Inertia(mass, 0.0, 0.0, mass * (a * a + b * b) / 3.0)
        row = body_row((x, y, 0.0, 0.0, 0.0, yaw), (0.0, 0.0, wz), inertia)
        row["cvx"] = row["vx"] = vx
        row["cvy"] = row["vy"] = vy
        bodies.append(row)
        corners = [(-a, -b), (a, -b), (a, b), (-a, b)]
        contacts.add_shape(k, k, corners, Material(friction, 0.0), (0.0, 1.0))
    rows = np.concatenate(bodies)
    for _ in range(STEPS):
        assert solve(rows, np.arange(2), contacts, DT) == -1
    return [(float(r["cvx"]), float(r["cvy"]), float(r["wz"])) for r in rows]


def box2d(halves: Any, poses: Any, speeds: Any, friction: float) -> Motion:
    world = b2.World(gravity=(0.0, 0.0))
    made = []
    for (a, b), (x, y, yaw), (vx, vy, wz) in zip(halves, poses, speeds, strict=True):
        body = world.create_dynamic_body(position=(x, y), enable_sleep=False)
        shape = b2.shape_def(density=10.0)
        shape.material = b2.surface_material(friction=friction, restitution=0.0)
        body.create_shape(shape, b2.box(a, b))
        body.set_transform((x, y), yaw)
        body.linear_velocity, body.angular_velocity = (vx, vy), wz
        made.append(body)
    for _ in range(STEPS):
        world.step(DT, 4)
    return [(*tuple(m.linear_velocity), m.angular_velocity) for m in made]


@pytest.mark.parametrize("seed", range(50))
def test_velocities_after_a_collision_are_those_of_box2d(seed: int) -> None:
    """Single precision, soft contacts and 2 cm of margin let Box2D differ by some per cent."""
    scene = random_pair(seed)
    friction = 0.0 if seed % 2 else 0.5
    mine, theirs = ours(*scene, friction), box2d(*scene, friction)
    speed = max(abs(v) for v in scene[2][0])
    for (vx, vy, wz), (ux, uy, uw) in zip(mine, theirs, strict=True):
        assert math.hypot(vx - ux, vy - uy) < 0.05 * speed
        assert abs(wz - uw) < 0.15 * speed
