# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that are put into each other: reported with names and depth, and parted gently."""

from __future__ import annotations

import itertools
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import World, load_world
from tests.physics.worlds import block, car, cart, friction, world

WALL = """<element class="vertical_plane"><x0>{x}</x0><y0>-4</y0><x1>{x}</x1><y1>4</y1>
  <thickness>0.2</thickness></element>"""
#: Fastest that overlapping bodies move, with `substeps.MOST_PUSHED` [m/s].
GENTLE = 1.0


def overlaps(w: World) -> list[str]:
    """Return the warnings about overlaps."""
    return [str(p) for p in w.warnings if "pushed apart" in p.message]


def test_at_load_each_pair_is_named_once_with_its_depth_and_line() -> None:
    """A chassis of ±0.5 m at the origin: a wall at 0.4 ± 0.1 m and a block at -0.8 ± 0.5 m."""
    text = world(WALL.format(x=0.4), block("crate", "-0.8 0 0"), cart("r1"))
    w = load_world(text=text)
    wall, crate = sorted(overlaps(w), key=lambda s: "crate" in s)
    assert "<vehicle>: 'r1' was put 0.2 m deep into 'plane_1'" in wall
    assert "<vehicle>: 'r1' was put 0.2 m deep into 'crate'" in crate
    line = 1 + text[: text.index("<vehicle")].count("\n")
    assert f"line {line}: " in wall
    w.run(0.1)
    assert len(overlaps(w)) == 2


def test_a_crowd_is_counted() -> None:
    """Of 28 pairs at one place twenty are named."""
    w = load_world(text=world(*(block(f"b{i}", f"{0.01 * i} 0 0") for i in range(8))))
    assert len(overlaps(w)) == 20
    assert "and 8 other pairs of bodies" in str(w.warnings[-1])


def test_what_only_touches_is_not_reported() -> None:
    """Blocks side by side, a robot at a wall, things above each other, joined, or fixed."""
    w = load_world(
        text=world(
            block("a", "0 0 0"), block("b", "1 0 0"), WALL.format(x=-0.6),
            block("low", "5 0 0"), block("high", "5 0 0", extra="<static>true</static>").replace(
                "<zmin>0</zmin><zmax>1</zmax>", "<zmin>1</zmin><zmax>2</zmax>"
            ),
            block("s1", "9 0 0", extra="<static>true</static>"),
            block("s2", "9.5 0 0", extra="<static>true</static>"),
            cart("r1", "15 0 0"), block("load", "15.3 0 0", size=0.3),
            '<joint type="weld" body_a="r1" body_b="load"/>',
            block("t1", "20 0 0"), block("t2", "20.5 0 0"),
            '<joint type="revolute" body_a="t1" body_b="t2" anchor_a="0.5 0" anchor_b="0 0"/>',
        )
    )  # fmt: skip
    assert overlaps(w) == []


def test_at_spawn_and_after_a_teleport() -> None:
    """A Python warning before the next step, and one in the list; each pair once."""
    w = load_world(text=world(block("crate"), cart("r1", "5 0 0"), WALL.format(x=9.0)))
    w.step()
    assert overlaps(w) == []
    w.add_vehicle(cart("new"), pose=(0.4, 0.0, 0.0))
    with pytest.warns(UserWarning, match="'new' was put 0.6 m deep into 'crate'"):
        w.step()
    w.vehicles["r1"].teleport(8.7, 0.0, 0.0)
    with pytest.warns(UserWarning, match="'r1' was put 0.3 m deep into 'plane_1'"):
        w.check_overlaps()
    assert len(overlaps(w)) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w.vehicles["r1"].teleport(8.8, 0.0, 0.0)
        w.step()
    assert len(overlaps(w)) == 2


def test_a_pair_that_was_found_apart_is_reported_again() -> None:
    w = load_world(text=world(block("crate"), cart("r1", "0.4 0 0"), cart("r2", "20 0 0")))
    for x, again in ((0.3, False), (5.0, False), (0.3, True), (0.2, False)):
        w.vehicles["r1"].teleport(x, 0.0, 0.0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            w.check_overlaps()
            w.vehicles["r2"].teleport(20.0 + x, 0.0, 0.0)  # of no concern to the pair
            w.check_overlaps()
        assert len(caught) == again


def test_only_where_things_are_in_the_end_counts() -> None:
    """Two robots that change places are never in each other; restores report nothing."""
    w = load_world(text=world(cart("a"), cart("b", "3 0 0")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        w.vehicles["a"].teleport(3.0, 0.0, 0.0)
        w.vehicles["b"].teleport(0.0, 0.0, 0.0)
        w.step()
        state = w.state()
        w.vehicles["a"].teleport(0.2, 0.0, 0.0)
        w.restore(state)
        w.step()
        w.remove("a")
        w.add_vehicle(cart("c"), pose=(0.1, 0.0, 0.0))
        w.remove("c")
        w.step()
    assert overlaps(w) == []


def test_a_static_block_and_a_batch() -> None:
    """A fixed block is put onto a robot, in one copy only."""
    w = load_world(text=world(block("s", "4 0 0", extra="<static>true</static>"), cart("r1")))
    batch = w.replicate(3)
    batch[1].blocks["s"].teleport(0.8, 0.0, 0.0)
    with pytest.warns(UserWarning, match="'s' was put 0.2 m deep into 'r1'") as caught:
        batch.run(2 * batch.dt)
    assert len(caught) == 1


def pile(seed: int) -> World:
    """Return a world of random bodies, most of them in each other."""
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(rng.integers(1, 5)):
        x, y = rng.uniform(-1.0, 1.0, 2)
        pose = f"{x} {y} {rng.uniform(-180.0, 180.0)}"
        parts.append(
            [
                cart(f"v{i}", pose, ground=friction(c=0.01)),
                car(f"v{i}", pose, ground=friction(c=0.01)),
                block(
                    f"b{i}", pose, mass=10.0 ** rng.uniform(0, 2), mu=rng.choice([0.0, 0.5]),
                    restitution=rng.choice([0.0, 0.9]), size=rng.uniform(0.2, 2.0),
                ),
            ][rng.integers(3)]
        )  # fmt: skip
    if rng.random() < 0.7:
        parts.append(WALL.format(x=rng.uniform(-0.5, 0.5)))
    if rng.random() < 0.5:
        x, y = rng.uniform(-1.0, 1.0, 2)
        parts.append(block("s", f"{x} {y} 30", extra="<static>true</static>"))
    return load_world(text=world(*parts, dt=float(rng.choice([0.001, 0.005, 0.02]))))


@pytest.mark.parametrize("seed", range(12))
def test_nothing_is_thrown(seed: int) -> None:
    """Whatever overlaps moves slowly, and takes no speed along."""
    w = pile(seed)
    b = w.data.bodies
    rows = [e.row for e in w.data.entities.values() if e.model.movable]
    for _ in range(round(0.5 / w.dt)):
        before = b["x"][rows], b["y"][rows]
        w.step()
        moved = np.hypot(b["x"][rows] - before[0], b["y"][rows] - before[1])
        assert moved.max(initial=0.0) <= (GENTLE + 0.1) * w.dt
        assert np.hypot(b["cvx"][rows], b["cvy"][rows]).max(initial=0.0) < 0.1


def test_they_part_and_stay() -> None:
    """A robot in a wall and a crate in a robot: apart within 2 s, then at rest."""
    w = load_world(text=world(WALL.format(x=0.5), cart("r1"), block("crate", "-0.9 0.1 10")))
    w.run(2.0)
    robot, crate = w.vehicles["r1"].pose, w.blocks["crate"].pose
    assert robot.x == pytest.approx(0.4 - 0.5, abs=1e-3)
    assert crate.x < robot.x - 0.5 - 0.5 + 1e-3
    w.run(1.0)
    assert w.vehicles["r1"].pose == pytest.approx(robot, abs=1e-4)
    assert w.blocks["crate"].pose == pytest.approx(crate, abs=1e-4)


MISSING = """<block name="shelf"><init_pose>{pose}</init_pose><shape_from_visual/>
  <static>{static}</static><visual><model_uri>{model}</model_uri></visual></block>"""


@pytest.mark.parametrize("static", ["true", "false"])
def test_a_box_for_a_missing_model_is_not_in_the_way(tmp_path: Path, static: str) -> None:
    """A robot that starts under the missing shelf drives out; others collide with it."""
    model = tmp_path / "shelf.dae"
    near = MISSING.format(pose="0.3 0 0", static=static, model=model)
    far = MISSING.format(pose="9 0 0", static=static, model=model).replace("shelf", "rack", 1)
    ideal = '<controller class="twist_ideal"/>'
    w = load_world(text=world(near, far, cart("r1", controller=ideal)))
    messages = [str(p) for p in w.warnings]
    assert any("'shelf' does not collide, because 'r1' starts in it" in m for m in messages)
    assert not any("'rack' does not collide" in m for m in messages)
    assert overlaps(w) == []
    robot = w.vehicles["r1"]
    robot.set_twist(1.0)
    w.run(3.0)
    assert robot.pose.x == pytest.approx(3.0, abs=1e-6)
    assert w.blocks["shelf"].pose.x == pytest.approx(0.3)
    w.reset()
    robot.set_twist(1.0)
    w.run(1.0)
    assert robot.pose.x == pytest.approx(1.0, abs=1e-6)
    robot.teleport(7.0, 0.0, 0.0)
    w.run(2.0)
    assert robot.in_collision


def test_depth_is_that_of_the_polygons() -> None:
    """Random convex pairs: the least way along an edge's normal that separates them."""
    rng = np.random.default_rng(3)

    def corners(pose: tuple[float, float, float], size: float) -> np.ndarray:  # type: ignore[type-arg]
        h = 0.5 * size
        c, s = math.cos(pose[2]), math.sin(pose[2])
        square = np.array([(-h, -h), (h, -h), (h, h), (-h, h)])
        turned: np.ndarray = square @ np.array([[c, s], [-s, c]]) + pose[:2]  # type: ignore[type-arg]
        return turned

    for _ in range(10):
        pose = (*rng.uniform(-0.6, 0.6, 2).tolist(), float(rng.uniform(-3.0, 3.0)))
        a, b = corners((0.0, 0.0, 0.0), 1.0), corners(pose, 0.8)
        gaps = []
        for p, q in itertools.chain(((a, b),), ((b, a),)):
            for k in range(4):
                edge = p[(k + 1) % 4] - p[k]
                normal = np.array([edge[1], -edge[0]]) / np.linalg.norm(edge)
                gaps.append(float(((q - p[k]) @ normal).min()))
        at = f"{pose[0]!r} {pose[1]!r} {math.degrees(pose[2])!r}"
        w = load_world(text=world(block("a"), block("b", at, size=0.8)))
        want = -max(gaps)
        if want > 1e-3:
            assert f" {want:.3g} m deep into" in overlaps(w)[0]
        else:
            assert overlaps(w) == []
