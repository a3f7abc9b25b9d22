# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Contacts against formulas that can be worked out by hand, to double precision."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.solver.base import Material
from mvsim_core.state.arrays import KINEMATIC, STATIC
from tests.unit.solver.scenes import DT, Scene, box, ngon


@pytest.mark.parametrize(("m1", "m2", "e"), [(1, 1, 1.0), (10, 30, 0.5), (40, 10, 0.0), (1, 9, 1)])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_head_on_collision(m1: float, m2: float, e: float, turn: float) -> None:
    """Momentum stays, relative speed times -e, energy loss (1 - e²) mu u²/2, no spin."""
    u = 3.0
    c, s = math.cos(turn), math.sin(turn)
    scene = Scene()
    bounce = Material(0.0, e)
    scene.body(box(1, 1), (-2 * c, -2 * s, turn), (u * c, u * s, 0), mass=m1, material=bounce)
    scene.body(box(1, 1), (0, 0, turn), mass=m2, material=bounce)
    before = scene.momentum()
    energy = scene.energy()
    scene.step(100)
    assert scene.momentum() == pytest.approx(before, abs=1e-9)
    va, vb = scene.bodies["cvx"] * c + scene.bodies["cvy"] * s
    assert vb - va == pytest.approx(e * u, abs=1e-9)
    reduced = m1 * m2 / (m1 + m2)
    assert energy - scene.energy() == pytest.approx(0.5 * (1 - e**2) * reduced * u**2, abs=1e-9)
    assert np.abs(scene.bodies["wz"]).max() < 1e-12


def test_slow_approaches_do_not_bounce() -> None:
    """Below 1 m/s restitution is zero."""
    for speed, after in ((0.9, 0.0), (1.1, -1.1)):
        scene = Scene()
        scene.fixed(box(1, 4))
        scene.body(box(1, 1), (-1.5, 0, 0), (speed, 0, 0), material=Material(0.0, 1.0))
        scene.step(200)
        assert scene.bodies["cvx"][0] == pytest.approx(after, abs=1e-12)


def test_off_centre_hit_turns_by_the_impulse() -> None:
    """J = (1 + e) u / (1/m + b²/I): the corner of a tall wall hits a plate at a lever arm b."""
    m, inertia, u, b = 2.0, 0.3, 2.0, 0.4
    scene = Scene()
    scene.fixed(np.array([(1.0, b), (2.0, b - 0.5), (2.0, b + 0.5)]))
    row = scene.body(
        box(0.2, 1.2), (0, 0, 0), (u, 0, 0), mass=m, inertia=inertia, material=Material(0, 1)
    )
    scene.step(100)
    impulse = 2 * u / (1 / m + b**2 / inertia)
    body = scene.bodies[row]
    assert body["cvx"] == pytest.approx(u - impulse / m, abs=1e-9)
    assert body["wz"] == pytest.approx(b * impulse / inertia, abs=1e-9)
    assert scene.energy() == pytest.approx(0.5 * m * u**2, abs=1e-9)


def test_coulomb_sliding_collision() -> None:
    """A box that hits a wall aslant loses mu (1 + e) of its normal speed along the wall."""
    mu, e = 0.2, 0.5
    scene = Scene()
    scene.fixed(box(1, 100), Material(mu, 0.0))
    # so much inertia that friction does not turn it
    scene.body(box(1, 1), (-2, 0, 0), (3, 2, 0), mass=2, inertia=1e13, material=Material(mu, e))
    scene.step(200)
    body = scene.bodies[0]
    assert body["cvx"] == pytest.approx(-3 * e, abs=1e-9)
    assert body["cvy"] == pytest.approx(2 - mu * (1 + e) * 3, abs=1e-9)


def test_pressed_body_slides_with_coulomb_friction() -> None:
    """Pressed with F against a wall it decelerates by mu F / m, then rests."""
    mu, force, mass = 0.4, 10.0, 2.0
    scene = Scene()
    scene.fixed(box(1, 40), Material(mu, 0.0))
    scene.body(box(1, 1), (-1, 0, 0), (0, 1, 0), mass=mass, material=Material(mu, 0.0))
    for k in range(300):
        scene.bodies["cvx"] += force / mass * DT
        scene.step()
        want = max(0.0, 1 - mu * force / mass * (k + 1) * DT)
        assert scene.bodies["cvy"][0] == pytest.approx(want, abs=1e-9)
    assert abs(scene.bodies["x"][0] + 1) < 1e-9
    assert abs(scene.bodies["yaw"][0]) < 1e-9


def test_free_body_turns_about_its_centre_of_mass() -> None:
    """The centre of mass moves on a line, yaw grows by wz dt, to the last bit."""
    scene = Scene()
    scene.body(box(2, 1), (3, 4, 0.5), (0.3, -0.2, 1.7), com=(0.4, 0.1))
    x0, y0 = (float(v[0]) for v in scene.centres())
    yaw = 0.5
    for k in range(500):
        scene.step()
        yaw += 1.7 * DT
        assert scene.bodies["yaw"][0] == yaw
        x, y = (float(v[0]) for v in scene.centres())
        assert x == pytest.approx(x0 + 0.3 * DT * (k + 1), abs=1e-12)
        assert y == pytest.approx(y0 - 0.2 * DT * (k + 1), abs=1e-12)
    body = scene.bodies[0]
    rx, ry = x - body["x"], y - body["y"]
    assert body["vx"] == pytest.approx(0.3 + 1.7 * ry, abs=1e-12)
    assert body["vy"] == pytest.approx(-0.2 - 1.7 * rx, abs=1e-12)
    assert body["az"] == 0.0


def test_something_near_changes_no_bit() -> None:
    """What passes closely without a touch moves as if alone."""
    alone, beside = Scene(), Scene()
    beside.fixed(box(20, 1, 0, -1.005))
    for scene in (alone, beside):
        scene.body(box(1, 1), (-2, 0, 0), (1.3, 0, 0), com=(0.1, 0.2))
        scene.step(300)
    for name in ("x", "y", "yaw", "cvx", "cvy", "wz", "vx", "vy", "ax", "ay"):
        assert beside.bodies[name][-1] == alone.bodies[name][-1], name


@pytest.mark.parametrize("seed", range(5))
def test_flush_faces_make_no_spin(seed: int) -> None:
    """A box pushed flat against a wall, in many steps, neither turns nor moves along it."""
    rng = np.random.default_rng(seed)
    w, h = rng.uniform(0.2, 3, 2)
    scene = Scene()
    scene.fixed(box(1, 40, 0.5, 0), Material(0.5, 0.3))
    scene.body(box(w, h), (-w / 2 - 0.01, 0, 0), material=Material(0.5, 0.3))
    for _ in range(300):
        scene.bodies["cvx"] += 5.0 * DT
        scene.step()
    assert abs(scene.bodies["yaw"][0]) < 1e-10
    assert abs(scene.bodies["y"][0]) < 1e-10
    assert scene.bodies["x"][0] == pytest.approx(-w / 2, abs=1e-9)


def test_kinematic_body_pushes_with_infinite_mass() -> None:
    """It keeps its velocity; what it pushes takes it over."""
    scene = Scene()
    pusher = scene.body(box(1, 1), (-2, 0, 0), (0.5, 0, 0), mass=1, kind=KINEMATIC)
    pushed = scene.body(box(1, 1), (0, 0, 0), mass=1e6)
    scene.step(1000)
    assert scene.bodies["cvx"][pusher] == 0.5
    assert scene.bodies["cvx"][pushed] == pytest.approx(0.5, abs=1e-12)
    assert scene.bodies["x"][pushed] - scene.bodies["x"][pusher] == pytest.approx(1, abs=1e-6)


def test_static_body_stands() -> None:
    """It stops others and never moves; moved elsewhere, it stops them there."""
    scene = Scene()
    wall = scene.body(box(1, 4), (2, 0, 0.0), kind=STATIC)
    scene.body(box(1, 1), (0, 0, 0), (1, 0, 0))
    scene.step(400)
    assert scene.bodies["x"][1] == pytest.approx(1.0, abs=1e-9)
    scene.bodies["x"][wall] = 4.0
    scene.data.body_moved(wall)
    scene.bodies["cvx"][1] = 1.0
    scene.step(600)
    assert scene.bodies["x"][1] == pytest.approx(3.0, abs=1e-9)
    assert scene.bodies["x"][wall] == 4.0
    (touch,) = scene.data.touches()
    assert (touch.a, touch.b) == (wall, 1)
    assert touch.nx == pytest.approx(-1.0)
    assert scene.bodies["touching"][1] == 1


@pytest.mark.parametrize("speed", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("turn", [0.0, 0.3, 0.78])
def test_fast_bodies_do_not_tunnel(speed: float, turn: float) -> None:
    """A small box that flies at a wall of 2 cm ends before it."""
    for offset in np.linspace(0.0, 0.3, 16):
        scene = Scene()
        scene.fixed(box(0.02, 10))
        scene.body(box(0.2, 0.2), (-1.0 - offset, 0.1, turn), (speed, 0.3, 0))
        scene.step(100)
        assert scene.bodies["x"][0] < 0.0
        assert scene.bodies["cvx"][0] < 1e-3 * speed  # it may turn about its corner


@pytest.mark.parametrize("gap", [0.002, 0.01, 0.03])
@pytest.mark.parametrize("speed", [1.0, 20.0])
def test_corners_that_are_passed_are_not_hit(gap: float, speed: float) -> None:
    """Passing a corner with a gap, at any phase of the step, changes nothing."""
    for phase in np.linspace(0, 1, 9):
        scene = Scene()
        scene.fixed(box(1, 1, 0, -0.5))
        start = -3.0 - phase * speed * DT
        scene.body(box(0.4, 0.4), (start, 0.2 + gap, 0), (speed, 0, 0))
        scene.step(round(6 / speed / DT))
        assert scene.bodies["cvx"][0] == speed
        assert scene.bodies["cvy"][0] == 0.0


@pytest.mark.parametrize("speed", [0.3, 2.0, 10.0])
def test_seams_between_flush_boxes_are_smooth(speed: float) -> None:
    """A box that is pressed against a row of tiles slides along it without a bump."""
    scene = Scene()
    for k in range(60):
        scene.fixed(box(0.1, 0.1, 0.1 * k, -0.05))
    scene.body(box(0.35, 0.2), (0.5, 0.1, 0.0), (speed, 0, 0))
    for _ in range(round(4 / speed / DT)):
        scene.bodies["cvy"] -= 1.0 * DT
        scene.step()
    assert scene.bodies["cvx"][0] == pytest.approx(speed, abs=1e-9)
    assert abs(scene.bodies["yaw"][0]) < 1e-6


@pytest.mark.parametrize("count", [3, 5, 8, 9, 40, 200])
def test_any_number_of_corners(count: int) -> None:
    """A regular polygon stops where its corner or face meets the wall."""
    scene = Scene()
    scene.fixed(box(1, 10, 1.5, 0))
    scene.body(ngon(count, 0.3, math.pi / count), velocity=(1, 0, 0), inertia=1e9)
    scene.step(400)
    reach = ngon(count, 0.3, math.pi / count)[:, 0].max()
    assert scene.bodies["x"][0] == pytest.approx(1 - reach, abs=1e-6)


def test_overlap_is_pushed_apart_gently() -> None:
    """What is spawned into something leaves it below 3 m/s and keeps no speed."""
    scene = Scene()
    scene.body(box(1, 1), (0, 0, 0.1))
    scene.body(box(1, 1), (0.4, 0.2, 0.3))
    last = scene.bodies.copy()
    for _ in range(400):
        scene.step()
        moved = np.hypot(scene.bodies["x"] - last["x"], scene.bodies["y"] - last["y"])
        assert (moved <= 3.0 * DT + 1e-9).all()
        last = scene.bodies.copy()
        assert scene.energy() == pytest.approx(0.0, abs=1e-12)
    assert scene.data.contacts["separation"].min(initial=0.0) > -1e-3


def test_heights_decide_who_meets() -> None:
    """Shapes meet when their heights overlap by more than a millimetre; z may change."""
    for z, meets in ((0.0, True), (0.9985, True), (0.9995, False), (-1.5, False)):
        scene = Scene()
        scene.fixed(box(1, 4), height=(0.0, 1.0))
        scene.body(box(1, 1), (-2, 0, 0), (1, 0, 0), height=(0.0, 1.0))
        scene.bodies["z"] = z
        scene.step(400)
        assert (scene.bodies["x"][0] < -0.9) == meets


def test_copies_never_meet() -> None:
    """Bodies and static bodies of different copies pass each other; fixed shapes stop all."""
    scene = Scene()
    scene.fixed(box(1, 4, 5.5, 0))
    for copy in range(3):
        scene.body(box(1, 1), (0, 0, 0), (1, 0, 0), copy=copy)
    scene.body(box(1, 1), (2.5, 0, 0), kind=STATIC, copy=1)
    scene.step(2000)
    assert scene.bodies["x"][:3] == pytest.approx([4.5, 1.5, 4.5], abs=1e-9)


def test_first_bad_row_is_named() -> None:
    """Nothing is moved when a velocity or pose is not finite."""
    from mvsim_core.solver.solve import solve

    scene = Scene()
    for k in range(4):
        scene.body(box(1, 1), (3.0 * k, 0, 0), (1, 0, 0))
    for value in (math.nan, math.inf, -1e31):
        scene.bodies["cvy"][2] = value
        before = scene.bodies.copy()
        movers = np.arange(4)
        assert solve(scene.bodies, movers, scene.data, DT) == 2
        assert scene.bodies.tobytes() == before.tobytes()


def test_huge_numbers_do_not_hang() -> None:
    """Velocities and sizes far out of range are handled like others."""
    scene = Scene()
    scene.fixed(box(1e12, 1e12, 1e12, 0))
    scene.body(box(1, 1), (-5, 0, 0), (1e25, -1e25, 1e20))
    scene.body(box(1, 1), (-8, 0, 0), (1, 0, 0))
    scene.step(5)
    assert np.isfinite(scene.bodies["x"]).all()
