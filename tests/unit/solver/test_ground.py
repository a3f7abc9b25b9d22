# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Grips and walls: friction of the ground and steps of the terrain inside the contact solution."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.solver.base import Material
from mvsim_core.solver.contact_types import WALL
from tests.unit.solver.scenes import DT, Scene, box

MASS, LIMIT = 20.0, 0.3 * 20.0 * 9.81


def corners(scene: Scene, row: int, force: float) -> None:
    """Let a block of 0.2 m rest on two points, each carrying half of its weight."""
    for x in (-0.1, 0.1):
        scene.grip(row, 0.5 * force, x)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("through", [False, True])
@pytest.mark.parametrize("grips", [1, 2])
def test_what_is_pushed_below_its_grip_stands(dt: float, through: bool, grips: int) -> None:
    """40 N do not move 20 kg on mu 0.3; 80 N accelerate by (F - mu m g) / (m + pusher)."""
    for force in (40.0, 80.0):
        scene = Scene()
        block = scene.body(box(0.2, 0.2), mass=MASS)
        pushed, mass = block, MASS
        if through:
            pushed, mass = scene.body(box(0.2, 0.2), (-0.2, 0, 0), mass=5.0), MASS + 5.0
        if grips == 1:
            scene.grip(block, LIMIT)
        else:
            corners(scene, block, LIMIT)
        steps = round(2.0 / dt)
        for _ in range(steps):
            scene.bodies["cvx"][pushed] += force / scene.bodies["mass"][pushed] * dt
            scene.step(dt=dt)
        moved, speed = float(scene.bodies["x"][block]), float(scene.bodies["cvx"][block])
        if force < LIMIT:
            assert abs(moved) < 1e-9
            assert abs(speed) < 1e-9
        else:
            assert speed == pytest.approx((force - LIMIT) / mass * 2.0, rel=1e-6)
        assert abs(scene.bodies["yaw"][block]) < 1e-9


def test_sliding_block_stops_after_v2_by_2_mu_g() -> None:
    """Semi-implicit steps stop it within one step of v / (mu g)."""
    v = 2.0
    scene = Scene()
    block = scene.body(box(0.2, 0.2), velocity=(v * 0.6, v * 0.8, 0), mass=MASS)
    scene.grip(block, LIMIT)
    scene.step(400)
    way = math.hypot(scene.bodies["x"][block], scene.bodies["y"][block])
    assert way == pytest.approx(v**2 / (2 * 0.3 * 9.81), abs=v * DT)
    assert scene.bodies["cvx"][block] == 0.0
    assert scene.bodies["y"][block] / scene.bodies["x"][block] == pytest.approx(4 / 3, rel=1e-9)


def test_isotropic_grips_are_bounded_as_a_vector() -> None:
    """The impulse of a step is max_force dt in any direction."""
    for angle in np.linspace(0, 6, 7):
        scene = Scene()
        c, s = math.cos(angle), math.sin(angle)
        block = scene.body(None, velocity=(10 * c, 10 * s, 0), mass=MASS)
        scene.grip(block, LIMIT)
        scene.step()
        impulse = -MASS * (scene.bodies["cvx"][block] - 10 * c)
        assert impulse == pytest.approx(LIMIT * DT * c, abs=1e-12)
        assert scene.grips["impulse_x"][0] == pytest.approx(-LIMIT * DT * c, abs=1e-12)
        assert scene.bodies["impulse_x"][block] == pytest.approx(0.0, abs=1e-12)


def test_directed_grip_acts_along_its_direction_only() -> None:
    """In the body frame: it stops the motion across a turned body's wheel, not along it."""
    yaw = 0.4
    scene = Scene()
    row = scene.body(None, (0, 0, yaw), (1.0, 0, 0), mass=MASS)
    scene.grip(row, 1e4, isotropic=0, direction=math.pi / 2)
    scene.step()
    along = math.cos(yaw)
    assert scene.bodies["cvx"][row] == pytest.approx(along * math.cos(yaw), abs=1e-12)
    assert scene.bodies["cvy"][row] == pytest.approx(along * math.sin(yaw), abs=1e-12)


def test_grip_drives_to_its_velocity() -> None:
    """A belt of 0.5 m/s takes a body along with its friction, then carries it."""
    scene = Scene()
    row = scene.body(None, mass=MASS)
    scene.grip(row, LIMIT, isotropic=0, velocity=0.5)
    scene.step(20)
    assert scene.bodies["cvx"][row] == pytest.approx(LIMIT / MASS * 20 * DT, abs=1e-12)
    scene.step(200)
    assert scene.bodies["cvx"][row] == pytest.approx(0.5, abs=1e-12)


def wall(row: int, x: float, y: float, **fields: float) -> np.ndarray:
    """Return a wall before a body's point that faces -x."""
    rows = np.zeros(1, WALL)
    rows["body"], rows["x"], rows["y"], rows["nx"] = row, x, y, -1.0
    for name, value in fields.items():
        rows[name] = value
    return rows


def test_wall_stops_what_runs_into_it() -> None:
    """A step of the terrain at x = 1 stops the front corner there, and counts as a touch."""
    scene = Scene()
    row = scene.body(None, velocity=(0.7, 0, 0), inertia=1e12)
    for _ in range(400):
        tip = float(scene.bodies["x"][row]) + 0.5
        scene.walls = wall(row, tip, 0.0, separation=1.0 - tip)
        scene.step()
    assert scene.bodies["x"][row] == pytest.approx(0.5, abs=1e-9)
    assert scene.bodies["cvx"][row] == 0.0
    scene.bodies["cvx"][row] = 0.5
    scene.step()
    assert scene.bodies["touching"][row] == 1
    assert scene.walls["impulse"][0] == pytest.approx(0.5, abs=1e-9)
    assert scene.bodies["impulse_x"][row] == pytest.approx(-0.5, abs=1e-9)


def test_wall_rubs() -> None:
    """Friction along a wall is mu times its impulse."""
    scene = Scene()
    row = scene.body(None, velocity=(1.0, 2.0, 0), inertia=1e12)
    scene.walls = wall(row, 0.5, 0.0, friction=0.4)
    scene.step()
    assert scene.bodies["cvx"][row] == pytest.approx(0.0, abs=1e-12)
    assert scene.bodies["cvy"][row] == pytest.approx(2.0 - 0.4 * 1.0, abs=1e-9)


def test_pushed_against_a_block_that_leans_on_a_wall() -> None:
    """A row of blocks between a wall and 100 N stands still, its friction helping or not."""
    scene = Scene()
    stone = Material(0.5, 0.0)
    scene.fixed(box(1, 4, 1.5, 0), stone)
    rows = [scene.body(box(0.2, 0.2), (0.9 - 0.2 * k, 0, 0), material=stone) for k in range(5)]
    for row in rows:
        scene.grip(row, 3.0)
    for _ in range(400):
        scene.bodies["cvx"][rows[-1]] += 100.0 * DT
        scene.step()
    assert scene.bodies["x"][rows] == pytest.approx([0.9, 0.7, 0.5, 0.3, 0.1], abs=1e-4)
    touches = scene.data.touches()
    assert [(t.a, t.b) for t in touches] == [(-1, 0), (0, 1), (1, 2), (2, 3), (3, 4)]
    impulses = [t.impulse for t in touches]
    assert impulses[-1] <= 100.0 * DT
    assert impulses == sorted(impulses)
