# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Random collisions in Box2D and in the contact solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mvsim_core.solver.base import Material
from tests.unit.solver.scenes import DT, Scene, box

b2 = pytest.importorskip("pyb2d3", reason="Box2D (pyb2d3) is not installed")


def in_box2d(sizes: Any, poses: Any, velocities: Any, masses: Any, material: Material) -> Any:
    """Return vx, vy, wz of two boxes after 60 steps in Box2D."""
    world = b2.World(gravity=(0.0, 0.0))
    bodies = []
    for size, pose, velocity, mass in zip(sizes, poses, velocities, masses, strict=True):
        body = world.create_dynamic_body(position=tuple(pose[:2]))
        body.set_transform(tuple(pose[:2]), pose[2])
        shape = b2.shape_def(density=mass / (size[0] * size[1]))
        shape.material = b2.surface_material(
            friction=material.friction, restitution=material.restitution
        )
        body.create_shape(shape, b2.box(size[0] / 2, size[1] / 2))
        body.linear_velocity = tuple(velocity[:2])
        body.angular_velocity = velocity[2]
        bodies.append(body)
    for _ in range(60 * 4):
        world.step(DT / 4, 4)
    return np.array([[*body.linear_velocity, body.angular_velocity] for body in bodies])


def test_velocities_after_collisions_agree() -> None:
    """50 collisions of two boxes with friction: the median differs by 1 %, the worst by 5 %.

    Without restitution: Box2D bounces two points one after the other and without friction, so
    that its velocities after a bounce change by 10 % with the step length.
    """
    rng = np.random.default_rng(5)
    errors = []
    for _ in range(50):
        sizes = rng.uniform(0.4, 1.0, (2, 2))
        poses = np.array([[-0.8, *rng.uniform(-0.3, 0.3, 1), 0], [0.8, 0, 0]])
        poses[:, 2] = rng.uniform(-3, 3, 2)
        velocities = rng.uniform(-0.5, 0.5, (2, 3))
        velocities[0, 0] += rng.uniform(4, 6)
        masses = rng.uniform(1, 5, 2)
        material = Material(rng.uniform(0, 0.6), 0.0)
        want = in_box2d(sizes, poses, velocities, masses, material)
        scene = Scene()
        for size, pose, velocity, mass in zip(sizes, poses, velocities, masses, strict=True):
            inertia = mass * (size**2).sum() / 12
            scene.body(
                box(*size), tuple(pose), tuple(velocity), mass=mass, inertia=inertia,
                material=material,
            )  # fmt: skip
        scene.step(60 * 4, DT / 4)
        got = np.column_stack([scene.bodies[name] for name in ("cvx", "cvy", "wz")])
        errors.append(np.abs(got - want).max() / np.abs(want).max())
    assert np.median(errors) < 0.01
    assert max(errors) < 0.05
