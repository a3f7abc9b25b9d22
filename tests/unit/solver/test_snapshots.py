# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of the contact solver's data, what is added and removed, and what is reported."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest

from mvsim_core.solver.base import Material
from mvsim_core.solver.contact_data import ContactData
from mvsim_core.state.arrays import STATIC
from tests.unit.solver.scenes import DT, SMOOTH, Scene, box

STONE = Material(0.5, 0.3)
EVER = (-math.inf, math.inf)


def crowd(seed: int = 0) -> Scene:
    """Return twelve bodies in a yard, two of them on a pivot, pressed together."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    for k in range(12):
        pose = (0.8 * (k % 4), 0.8 * (k // 4), rng.uniform(-1, 1))
        scene.body(box(0.7, 0.5), pose, tuple(rng.uniform(-1, 1, 3)), material=STONE)
    scene.joint("revolute", 0, 5, anchor_a=(0.5, 0.5))
    scene.joint("distance", 2, 9, lengths=(0.0, 2.0))
    for c, s in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        scene.fixed(box(0.2 if c else 8, 8 if c else 0.2, 1.2 + 3 * c, 0.8 + 3 * s), STONE)
    scene.body(box(0.2, 0.2), (1.2, 0.4, 0.3), kind=STATIC, material=STONE)
    scene.grip(3, 20.0)
    return scene


def press(scene: Scene, steps: int) -> None:
    """Step with a force towards the middle."""
    for _ in range(steps):
        scene.bodies["cvx"] -= (scene.bodies["x"] - 1.2) * DT
        scene.bodies["cvy"] -= (scene.bodies["y"] - 0.8) * DT
        scene.step()


@pytest.mark.parametrize("steps", [0, 1, 40, 150])
@pytest.mark.parametrize("way", ["deepcopy", "pickle"])
def test_copies_go_on_to_the_byte(steps: int, way: str) -> None:
    """At any step, with contacts and joints open, 200 steps later all bytes are equal."""
    scene = crowd()
    press(scene, steps)
    if steps:
        assert len(scene.data.contacts)
    copy = scene.copy() if way == "deepcopy" else pickle.loads(pickle.dumps(scene))
    press(scene, 200)
    press(copy, 200)
    assert copy.bodies.tobytes() == scene.bodies.tobytes()
    assert copy.data.contacts.tobytes() == scene.data.contacts.tobytes()
    assert copy.data.joints.rows.tobytes() == scene.data.joints.rows.tobytes()
    assert copy.data.touches() == scene.data.touches()
    for one, other in zip(scene.data.arrays(), copy.data.arrays(), strict=True):
        assert one.tobytes() == other.tobytes()


JOINTS: dict[str, tuple[str, dict[str, object]]] = {
    "revolute": ("revolute", {"anchor_a": (1.0, 0.0), "anchor_b": (-1.0, 0.0)}),
    "limited": ("revolute", {"anchor_a": (1.0, 0.0), "limited": True, "angles": (-0.1, 0.1)}),
    "rope": ("distance", {"lengths": (0.0, 2.1)}),
    "rod": ("distance", {"lengths": (2.0, 2.0)}),
    "spring": ("distance", {"lengths": (1.0, 2.0), "hertz": 2.0, "damping_ratio": 0.1}),
    "prismatic": ("prismatic", {"lengths": (-0.2, 0.2), "limited": True}),
    "weld": ("weld", {}),
}


@pytest.mark.parametrize("name", JOINTS)
def test_a_joint_keeps_its_own_impulses_only(name: str) -> None:
    """A joint alone goes on as its copy, whatever was solved in the same work memory before."""
    kind, settings = JOINTS[name]
    scene = Scene()
    for x in (0.0, 2.0):
        scene.body(box(1, 1), (x, 0, 0), (0.1 * x, 0.3, 0.2 * x), material=STONE)
    for k in range(3):
        scene.body(box(0.5, 0.5), (0.9 * k, 0.8, 0.1 * k), material=STONE)
    scene.joint(kind, 0, 1, **settings)
    floor = scene.fixed(box(20, 0.2, 0.0, -0.7), STONE)
    for _ in range(80):
        scene.bodies["cvy"] -= 9.81 * DT
        scene.step()
    assert scene.data.contacts["normal0"].max() > 0.0
    scene.data.remove_shape(floor)
    for k in range(2, 5):
        scene.data.remove_body(k)
    for _ in range(40):
        copy = scene.copy()  # its work memory is empty
        scene.step()
        copy.step()
        assert copy.data.joints.rows.tobytes() == scene.data.joints.rows.tobytes()
        assert copy.bodies.tobytes() == scene.bodies.tobytes()


def test_a_copy_is_independent() -> None:
    """What happens to it leaves the original alone."""
    scene = crowd()
    press(scene, 50)
    before = pickle.dumps(scene.data)
    copy = scene.copy()
    copy.data.remove_body(3)
    copy.data.add_shape(-1, -7, box(1, 1), SMOOTH, EVER)
    copy.step(20)
    assert pickle.dumps(scene.data) == before


def test_removed_things_are_gone() -> None:
    """Neither shapes nor contacts nor joints of a body remain; the others go on."""
    scene = crowd()
    press(scene, 100)
    for row in (0, 5, 12):
        scene.data.remove_body(row)
    assert all({t.a, t.b}.isdisjoint({0, 5, 12}) for t in scene.data.touches())
    assert (scene.data.joints.rows["a"] >= 0).sum() == 1
    press(scene, 100)
    assert all({t.a, t.b}.isdisjoint({0, 5, 12}) for t in scene.data.touches())
    shapes = scene.data.shapes.rows
    assert set(shapes["body"]) == {-2, -1, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11}


def test_reused_rows_have_no_old_contacts() -> None:
    """A shape in the row of a removed one starts without its impulses and touches."""
    scene = Scene()
    wall = scene.fixed(box(1, 4))
    row = scene.body(box(1, 1), (-1, 0, 0))
    scene.bodies["cvx"][row] = 0.5
    scene.step()
    assert len(scene.data.touches()) == 1
    scene.data.remove_shape(wall)
    again = scene.fixed(box(1, 4, 50.0, 0.0))
    assert again == wall
    assert scene.data.touches() == []
    scene.bodies["cvx"][row] = 1.0
    scene.step(400)
    assert scene.bodies["x"][row] == pytest.approx(1.0)
    with pytest.raises(KeyError):
        scene.data.remove_shape(99)


def test_shapes_may_come_and_go_between_steps() -> None:
    """A wall that is put up stops, one that is taken away lets pass."""
    scene = Scene()
    row = scene.body(box(1, 1), (0, 0, 0), (1, 0, 0))
    scene.step(100)
    wall = scene.fixed(box(1, 4, 3.0, 0.0))
    scene.step(400)
    assert scene.bodies["x"][row] == pytest.approx(2.0, abs=1e-9)
    scene.data.remove_shape(wall)
    scene.bodies["cvx"][row] = 1.0
    scene.step(400)
    assert scene.bodies["x"][row] == pytest.approx(4.0, abs=1e-9)


def test_touches_merge_shapes_of_owners() -> None:
    """Several shapes of a pair make one touch with the sum of their impulses."""
    scene = Scene()
    scene.fixed(box(1, 1, 1.0, 1.0), owner=-5)
    scene.fixed(box(1, 1, 1.0, -1.0), owner=-5)
    row = scene.body(
        [box(0.2, 0.4, 0.4, 1.0), box(0.2, 0.4, 0.4, -1.0)], velocity=(1, 0, 0), mass=3, inertia=4
    )
    scene.step()
    (touch,) = scene.data.touches()
    assert (touch.a, touch.b) == (-5, row)
    assert (touch.nx, touch.ny) == pytest.approx((-1, 0), abs=1e-12)
    assert touch.x == pytest.approx(0.5, abs=1e-6)
    assert abs(touch.y) == pytest.approx(1.0, abs=0.21)
    assert touch.impulse == pytest.approx(3.0, abs=1e-9)
    assert scene.bodies["touching"][row] == 2
    assert scene.bodies["impulse_x"][row] == pytest.approx(-3.0, abs=1e-9)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(0, 0), (1, 0)], "corners"),
        ([(0, 0), (0, 1), (1, 0)], "counter-clockwise"),
        ([(0, 0), (2, 0), (0.5, 0.5), (0, 2)], "convex"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], "distinct"),
        ([(0, 0), (1, 0), (2, 0)], "convex"),
        ([(0, 0), (1, 0), (0, math.nan)], "finite"),
    ],
)
def test_bad_polygons_are_refused(points: list[tuple[float, float]], words: str) -> None:
    """They are not mended."""
    with pytest.raises(ValueError, match=words):
        ContactData().add_shape(0, 0, points, SMOOTH, EVER)


def test_many_fixed_shapes_come_one_by_one() -> None:
    """Each is hit where it is, among others of any size, whenever it came."""
    rng = np.random.default_rng(1)
    scene = Scene()
    row = scene.body(box(0.4, 0.4), (0, 0, 0), (1, 0, 0), inertia=1e9)
    for k in range(500):
        size = 10.0 ** rng.uniform(-2, 1.5)
        angle = rng.uniform(0, 2 * math.pi)
        far = 40 + size
        scene.fixed(box(size, size, far * math.cos(angle), far * math.sin(angle)))
        if k % 50 == 0:
            scene.step()
    stop = scene.fixed(box(0.01, 0.01, 2.0, 0.1))
    scene.step(600)
    assert scene.bodies["x"][row] == pytest.approx(2.0 - 0.005 - 0.2, abs=1e-3)
    scene.data.remove_shape(stop)
    scene.bodies[["cvx", "wz"]][row] = (1.0, 0.0)
    scene.step(600)
    assert scene.bodies["x"][row] > 3.0
