# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Grips and walls: friction of the ground and steps of the terrain inside the contact solution.

Grips act where something else does; the velocities have what friction gives without that.
"""

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


def slide(scene: Scene, block: int, dt: float = DT) -> None:
    """Let friction act on a block that slides along x, as if nothing else did."""
    v, m = scene.bodies["cvx"][block], scene.bodies["mass"][block]
    grips = scene.grips[scene.grips["body"] == block]
    impulse = -np.clip(v * m, -grips["limit_y"].sum() * dt, grips["limit_y"].sum() * dt)
    scene.bodies["cvx"][block] += impulse / m
    share = scene.grips["limit_y"] / grips["limit_y"].sum()
    scene.grips["given_x"] = np.where(scene.grips["body"] == block, impulse * share, 0.0)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("grips", [1, 2])
def test_what_is_pushed_below_its_grip_stands(dt: float, grips: int) -> None:
    """40 N do not move 20 kg on mu 0.3; 80 N accelerate by (F - mu m g) / (m + pusher)."""
    for force in (40.0, 80.0):
        scene = Scene()
        block = scene.body(box(0.2, 0.2), mass=MASS)
        pushed, mass = scene.body(box(0.2, 0.2), (-0.2, 0, 0), mass=5.0), MASS + 5.0
        if grips == 1:
            scene.grip(block, LIMIT)
        else:
            corners(scene, block, LIMIT)
        steps = round(2.0 / dt)
        for _ in range(steps):
            scene.bodies["cvx"][pushed] += force / scene.bodies["mass"][pushed] * dt
            slide(scene, block, dt)
            scene.step(dt=dt)
        moved, speed = float(scene.bodies["x"][block]), float(scene.bodies["cvx"][block])
        if force < LIMIT:
            assert abs(moved) < 1e-9
            assert abs(speed) < 1e-9
        else:
            assert speed == pytest.approx((force - LIMIT) / mass * 2.0, rel=1e-6)
        assert abs(scene.bodies["yaw"][block]) < 1e-9


def test_friction_stops_block_and_pusher() -> None:
    """The ground takes the momentum of both, mu m g dt in each step."""
    v = 2.0
    scene = Scene()
    block = scene.body(box(0.2, 0.2), velocity=(v, 0, 0), mass=MASS)
    pusher = scene.body(box(0.2, 0.2), (-0.2, 0, 0), (v, 0, 0), mass=5.0)
    scene.grip(block, LIMIT)
    for _ in range(600):
        slide(scene, block)
        scene.step()
    way = float(scene.bodies["x"][block])
    assert way == pytest.approx(v**2 / (2 * LIMIT / (MASS + 5.0)), abs=v * DT)
    assert scene.bodies["cvx"][[block, pusher]] == pytest.approx(0.0, abs=1e-12)


def test_isotropic_grips_are_bounded_as_a_vector() -> None:
    """The impulse of a step is limit_y dt against the slip, in any direction, beside a wall."""
    for angle in np.linspace(1.6, 4.6, 7):
        scene = Scene()
        c, s = math.cos(angle), math.sin(angle)
        block = scene.body(box(0.2, 0.2), velocity=(1.0, 0, 0), mass=MASS, inertia=1e12)
        scene.grip(block, LIMIT)
        scene.bodies["cvx"], scene.bodies["cvy"] = 10 * c, 10 * s
        # a pusher takes all of the motion but the lightest touch along its normal
        pusher = scene.body(box(0.2, 0.2), (0.2, 0, 0), (20 * c, 10 * s, 0), mass=1e-9)
        scene.step()
        assert scene.bodies["touching"][pusher] == 1
        impulse = MASS * (scene.bodies[["cvx", "cvy"]][block].tolist() - 10 * np.array([c, s]))
        assert impulse == pytest.approx(-LIMIT * DT * np.array([c, s]), abs=1e-6)
        got = [scene.grips[name][0] for name in ("impulse_x", "impulse_y")]
        assert got == pytest.approx(impulse, abs=1e-6)
        assert scene.bodies["impulse_x"][block] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(("limits", "stops"), [((1e4, 0.0), (1, 0)), ((0.0, 1e4), (0, 1))])
def test_directed_grip_acts_along_one_direction(
    limits: tuple[float, float], stops: tuple[int, int]
) -> None:
    """A turned body that is hit moves on along the direction in which nothing grips."""
    direction = 0.4
    c, s = math.cos(direction), math.sin(direction)
    scene = Scene()
    row = scene.body(box(0.2, 0.2), mass=MASS, inertia=1e12)
    scene.body(box(0.2, 0.2), (-0.2, 0, 0), (1.0, 0, 0), mass=5.0, inertia=1e12)
    scene.grip(row, 0.0, round=0, direction=direction, limit_x=limits[0], limit_y=limits[1])
    scene.step()
    vx, vy = float(scene.bodies["cvx"][row]), float(scene.bodies["cvy"][row])
    along, across = c * vx + s * vy, -s * vx + c * vy
    assert (abs(along) < 1e-12, abs(across) < 1e-12) == (stops[0] == 1, stops[1] == 1)


def test_a_brake_within_a_friction_circle() -> None:
    """Along the limit of the brake holds, for the sum of both the circle."""
    scene = Scene()
    row = scene.body(box(0.2, 0.2), mass=MASS, inertia=1e12)
    scene.body(box(0.2, 0.2), (-0.2, 0, 0), (20.0, 0, 0), mass=500.0, inertia=1e12)
    scene.grip(row, LIMIT, direction=0.6, limit_x=0.3 * LIMIT)
    scene.step()
    given = np.array([scene.grips[name][0] for name in ("impulse_x", "impulse_y")]) / DT
    turn = np.array([[math.cos(0.6), math.sin(0.6)], [-math.sin(0.6), math.cos(0.6)]])
    along, across = turn @ given
    assert along == pytest.approx(-0.3 * LIMIT)
    assert math.hypot(along, across) == pytest.approx(LIMIT)
    assert across > 0.0  # it moves to its right


def test_grips_rest_where_nothing_acts() -> None:
    """A gap that stays open: what friction left of the slip is left, to the byte."""
    ends = []
    for near in (False, True):
        scene = Scene()
        row = scene.body(box(0.2, 0.2), velocity=(0.1, 0.2, 0.3), mass=MASS)
        if near:
            scene.body(box(0.2, 0.2), (-0.202, 0, 0), mass=5.0)
        scene.grip(row, LIMIT)
        scene.step()
        ends.append(scene.bodies[row].tobytes())
    assert ends[0] == ends[1]


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
