# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the result of contacts must not depend on, and what must never grow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvsim_core.solver.base import Material
from mvsim_core.state.arrays import FloatArray
from tests.unit.solver.scenes import DT, Scene, box, ngon

Parts = list[tuple[FloatArray, tuple[float, float, float], tuple[float, float, float], float]]


def parts_of(seed: int, count: int = 3) -> Parts:
    """Return bodies around the origin that fly at each other: shape, pose, velocity, mass."""
    rng = np.random.default_rng(seed)
    parts: Parts = []
    for k in range(count):
        angle = 2 * math.pi * k / count + rng.uniform(-0.3, 0.3)
        shape = (
            box(*rng.uniform(0.3, 1.0, 2)) if rng.random() < 0.6 else ngon(rng.integers(3, 9), 0.4)
        )
        x, y = 1.5 * math.cos(angle), 1.5 * math.sin(angle)
        speed = rng.uniform(0.5, 4)
        velocity = (-speed * x / 1.5, -speed * y / 1.5, rng.uniform(-1, 1))
        parts.append((shape, (x, y, rng.uniform(-3, 3)), velocity, rng.uniform(0.5, 5)))
    return parts


def played(
    parts: Parts,
    material: Material,
    turn: float = 0.0,
    shift: tuple[float, float] = (0.0, 0.0),
    steps: int = 200,
) -> Scene:
    """Run bodies that were turned about the origin and shifted."""
    c, s = math.cos(turn), math.sin(turn)
    scene = Scene()
    for shape, (x, y, yaw), (vx, vy, wz), mass in parts:
        pose = (c * x - s * y + shift[0], s * x + c * y + shift[1], yaw + turn)
        velocity = (c * vx - s * vy, s * vx + c * vy, wz)
        scene.body(shape, pose, velocity, mass=mass, inertia=0.1 * mass, material=material)
    scene.step(steps)
    return scene


SEEDS = st.integers(0, 10_000)
FEW = settings(max_examples=20, deadline=None)


def first_hit(parts: Parts, material: Material) -> int:
    """Return the number of steps up to 30 after the first touch."""
    scene = played(parts, material, steps=0)
    for k in range(200):
        scene.step()
        if scene.data.touches():
            return k + 30
    return 200


@FEW
@given(SEEDS, st.floats(-3, 3))
def test_rotation(seed: int, turn: float) -> None:
    """The world turned by an angle does the same, turned."""
    parts, material = parts_of(seed, 2), Material(0.3, 0.4)
    steps = first_hit(parts, material)
    one, other = played(parts, material, steps=steps), played(parts, material, turn, steps=steps)
    c, s = math.cos(turn), math.sin(turn)
    x, y = one.bodies["cvx"], one.bodies["cvy"]
    assert other.bodies["cvx"] == pytest.approx(c * x - s * y, abs=1e-6)
    assert other.bodies["cvy"] == pytest.approx(s * x + c * y, abs=1e-6)
    assert other.bodies["wz"] == pytest.approx(one.bodies["wz"], abs=1e-6)


@FEW
@given(SEEDS)
def test_translation_to_a_thousand_kilometres(seed: int) -> None:
    """At 1e6 m the poses have 1e-10 m left; velocities follow to 1e-6."""
    parts, material = parts_of(seed, 2), Material(0.3, 0.4)
    steps = first_hit(parts, material)
    one = played(parts, material, steps=steps)
    far = played(parts, material, shift=(1e6, -1e6), steps=steps)
    for name in ("cvx", "cvy", "wz", "yaw"):
        assert far.bodies[name] == pytest.approx(one.bodies[name], abs=1e-6)
    assert far.bodies["x"] - 1e6 == pytest.approx(one.bodies["x"], abs=1e-6)


@FEW
@given(SEEDS)
def test_mirror(seed: int) -> None:
    """The world seen in a mirror does the same, mirrored."""
    parts, material = parts_of(seed, 2), Material(0.3, 0.4)
    steps = first_hit(parts, material)
    seen = [
        (shape[::-1] * (1, -1), (x, -y, -yaw), (vx, -vy, -wz), mass)
        for shape, (x, y, yaw), (vx, vy, wz), mass in parts
    ]
    one, other = played(parts, material, steps=steps), played(seen, material, steps=steps)
    assert other.bodies["cvx"] == pytest.approx(one.bodies["cvx"], abs=1e-6)
    assert other.bodies["cvy"] == pytest.approx(-one.bodies["cvy"], abs=1e-6)
    assert other.bodies["wz"] == pytest.approx(-one.bodies["wz"], abs=1e-6)


@FEW
@given(SEEDS, st.permutations(range(3)))
def test_order_of_bodies(seed: int, order: list[int]) -> None:
    """Which body comes first does not matter, as sweeps go on until they agree."""
    parts, material = parts_of(seed), Material(0.2, 0.0)
    one = played(parts, material)
    other = played([parts[k] for k in order], material)
    for name in ("cvx", "cvy", "wz"):
        assert other.bodies[name] == pytest.approx(one.bodies[name][order], abs=1e-5)


def test_order_of_movers_changes_no_bit() -> None:
    """Movers are a set."""
    from mvsim_core.solver.solve import solve

    scenes = []
    for reverse in (False, True):
        scene = played(parts_of(7, 6), Material(0.3, 0.2), steps=0)
        movers = np.arange(6)[:: -1 if reverse else 1].copy()
        for _ in range(300):
            solve(scene.bodies, movers, scene.data, DT)
        scenes.append(scene)
    assert scenes[0].bodies.tobytes() == scenes[1].bodies.tobytes()
    assert scenes[0].data.contacts.tobytes() == scenes[1].data.contacts.tobytes()


def test_islands_do_not_depend_on_each_other() -> None:
    """A collision among others is the same to the bit as alone."""
    alone = played(parts_of(3), Material(0.3, 0.4))
    scene = played(parts_of(3), Material(0.3, 0.4), steps=0)
    for shape, (x, y, yaw), velocity, mass in parts_of(11):
        scene.body(shape, (x + 50, y, yaw), velocity, mass=mass)
    scene.step(200)
    for name in ("x", "y", "yaw", "cvx", "cvy", "wz"):
        assert scene.bodies[name][:3].tolist() == alone.bodies[name].tolist()


@pytest.mark.parametrize("batch", range(6))
def test_energy_never_grows(batch: int) -> None:
    """300 random worlds of 2 to 7 bodies, overlaps, friction, restitution and pivots."""
    for seed in range(50 * batch, 50 * batch + 50):
        rng = np.random.default_rng(seed)
        scene = Scene()
        material = Material(rng.uniform(0, 1), rng.choice([0.0, 0.5, 1.0]))
        for shape, pose, velocity, mass in parts_of(seed, int(rng.integers(2, 8))):
            scene.body(shape, pose, velocity, mass=mass, inertia=0.1 * mass, material=material)
        if rng.random() < 0.3:
            scene.joint("revolute", 0, 1, anchor_a=(1.5, 0.0), anchor_b=(-1.0, 0.5))
        if rng.random() < 0.5:
            for k in range(4):
                c, s = (1, 0, -1, 0)[k], (0, 1, 0, -1)[k]
                scene.fixed(box(0.2 if c else 6, 6 if c else 0.2, 2.5 * c, 2.5 * s), material)
        energy = scene.energy()
        for _ in range(150):
            scene.step()
            now = scene.energy()
            assert now <= energy * (1 + 1e-9) + 1e-15, seed
            energy = now


def test_momentum_of_free_collisions() -> None:
    """Momentum and angular momentum of 40 random pairs, to 1e-9 and the push-out's part."""
    for seed in range(40):
        parts = parts_of(seed, 2)
        scene = played(parts, Material(0.5, 0.3), steps=0)
        before = scene.momentum()
        scene.step(200)
        assert scene.momentum()[:2] == pytest.approx(before[:2], abs=1e-9)
        assert scene.momentum()[2] == pytest.approx(before[2], abs=5e-3 * (1 + abs(before[2])))


def test_bounces_converge_with_the_step() -> None:
    """Velocities after bounces with friction: 1 % (median) between steps of 5 ms and 0.3 ms."""
    material = Material(0.3, 0.6)
    errors = []
    for seed in range(30):
        results = []
        for part in (1, 16):
            scene = played(parts_of(seed, 2), material, steps=0)
            scene.step(150 * part, DT / part)
            results.append(np.array([scene.bodies[n] for n in ("cvx", "cvy", "wz")]))
        errors.append(np.abs(results[0] - results[1]).max() / np.abs(results[1]).max())
    assert np.median(errors) < 0.01
