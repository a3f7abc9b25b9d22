# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies of a world that are stepped as one are equal to as many single worlds."""

from __future__ import annotations

import numpy as np
import pytest

from mvsim_core import BuildError, UnknownName, World, load_world
from mvsim_core.world.batch import Batch
from mvsim_core.world.data import TABLES, differences
from tests.physics.worlds import block, cart, twist_pid, world

LASER = """<sensor class="laser" name="eye"><nrays>32</nrays><fov_degrees>360</fov_degrees>
  <sensor_period>0.05</sensor_period><range_std_noise>0.01</range_std_noise>
  <pose_3d>0 0 0.3 0 0 0</pose_3d></sensor>
  <sensor class="imu" name="imu"><sensor_period>0.02</sensor_period></sensor>"""
WALL = """<element class="vertical_plane"><x0>4</x0><y0>-9</y0><x1>4</x1><y1>9</y1></element>"""
COUNT = 5


def text(*more: str) -> str:
    return world(cart(controller=twist_pid(60, 30, 80), extra=LASER), WALL, *more)


def pair(*more: str) -> tuple[Batch, list[World]]:
    """Return a batch, and one single world for each of its copies."""
    base = load_world(text=text(*more), seed=3)
    return base.replicate(COUNT), [load_world(text=text(*more), seed=3 + k) for k in range(COUNT)]


def drive(batch: Batch, worlds: list[World], ticks: int) -> None:
    for k in range(COUNT):
        for it in (batch[k], worlds[k]):
            it.vehicles["r1"].set_twist(0.4 + 0.1 * k, 0.0, 0.1)
    for _ in range(ticks):
        batch.step()
        for it in worlds:
            it.step()


def same(batch: Batch, worlds: list[World]) -> None:
    """Compare tables and readings of all copies with those of single worlds, to the bit."""
    for copy, single in zip(batch, worlds, strict=True):
        data = copy.state()
        for name in TABLES:
            assert differences(getattr(data, name), getattr(single.data, name), name) == []
        assert differences(data.sensors, single.data.sensors, "sensors") == []
        assert data.ticks == single.ticks


def test_copies_equal_single_worlds_to_the_byte() -> None:
    batch, worlds = pair()
    drive(batch, worlds, 150)
    same(batch, worlds)
    ranges = [copy.vehicles["r1"].sensors["eye"].last.ranges.tobytes() for copy in batch]
    assert len(set(ranges)) == COUNT  # each has a seed and a way of its own


def test_copies_in_contact_equal_single_worlds() -> None:
    batch, worlds = pair(block("b", "1.5 0 0", mass=3), block("c", "2.6 0.2 0", mass=3))
    drive(batch, worlds, 500)
    assert any(copy.contacts for copy in batch)
    for copy, single in zip(batch, worlds, strict=True):
        for name in ("b", "c"):
            for got, want in zip(copy.blocks[name].pose, single.blocks[name].pose, strict=True):
                assert got == pytest.approx(want, abs=1e-6)
        names = [(c.a, c.b) for c in copy.contacts]
        assert names == [(c.a, c.b) for c in single.contacts]


def test_one_copy_is_reset_and_the_others_go_on() -> None:
    batch, worlds = pair(block("b", "1.5 0 0", mass=3))
    drive(batch, worlds, 100)
    batch[2].reset(11)
    worlds[2].reset(11)
    assert batch[2].ticks == 0
    assert batch[1].ticks == 100
    drive(batch, worlds, 130)
    same(batch, worlds)


def test_a_snapshot_of_one_copy_is_restored_in_another_and_in_a_world() -> None:
    batch, worlds = pair(block("b", "1.5 0 0", mass=3))
    drive(batch, worlds, 90)
    kept = batch[4].state()
    batch[0].restore(kept)
    worlds[0].restore(kept)
    assert batch[0].vehicles["r1"].pose == batch[4].vehicles["r1"].pose
    drive(batch, worlds, 60)
    same(batch, worlds)


def test_copies_neither_meet_nor_see_each_other() -> None:
    base = load_world(text=text(), seed=0)
    batch = base.replicate(3)
    batch[1].vehicles["r1"].teleport(1.0, 0.0, 0.0)
    batch[2].vehicles["r1"].teleport(-1.0, 0.5, 1.0)
    batch.run(0.2)
    alone = load_world(text=text(), seed=0)
    alone.run(0.2)
    want = alone.vehicles["r1"].sensors["eye"].last.ranges
    assert batch[0].vehicles["r1"].sensors["eye"].last.ranges.tobytes() == want.tobytes()
    assert not any(copy.contacts for copy in batch)


def test_handles_belong_to_their_copy() -> None:
    batch = load_world(text=text()).replicate(2)
    one, other = batch[0].vehicles["r1"], batch[1].vehicles["r1"]
    one.set_twist(0.5)
    batch.run(0.5)
    assert one.pose.x > 0.1
    assert other.pose.x == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(UnknownName, match="belongs to another world"):
        batch[1].teleport(one, 1.0, 0.0, 0.0)


def test_what_does_not_fit_is_refused() -> None:
    base = load_world(text=text())
    with pytest.raises(BuildError, match="a batch needs at least one copy, got 0"):
        base.replicate(0)
    batch = base.replicate(2)
    other = load_world(text=text(block("b", "1.5 0 0")))
    before = batch[0].state()
    with pytest.raises(BuildError, match="other vehicles, blocks or welds"):
        batch[0].restore(other.state())
    assert differences(before, batch[0].state()) == []


def test_joints_and_islands_are_replicated() -> None:
    joint = '<joint type="weld" body_a="b" body_b="c"/>'
    rope = '<joint type="distance" body_a="b" body_b="d" min_length="0" max_length="2"/>'
    blocks = [
        block("b", "1.5 3 0", "0.5 0 0"),
        block("c", "2.6 3 0"),
        block("d", "-0.2 3 0"),
    ]
    batch, worlds = pair(*blocks, joint, rope)
    drive(batch, worlds, 200)
    for copy, single in zip(batch, worlds, strict=True):
        for name in ("b", "c", "d"):
            got, want = np.array(copy.blocks[name].pose), np.array(single.blocks[name].pose)
            assert got == pytest.approx(want, abs=1e-9)


POST = """<block name="post"><static>true</static><zmax>1</zmax><init_pose>2.5 0 0</init_pose>
  <shape><pt>-.2 -.2</pt><pt>.2 -.2</pt><pt>.2 .2</pt><pt>-.2 .2</pt></shape></block>"""


def bare(*more: str) -> tuple[World, Batch]:
    """Return a world without sensors and a batch of its copies."""
    base = load_world(text=text(POST, *more), seed=3)
    base.remove_sensors()
    return base, base.replicate(COUNT)


def push(batch: Batch, ticks: int) -> None:
    for copy in batch:
        copy.vehicles["r1"].set_twist(0.8, 0.0, 0.0)
    for _ in range(ticks):
        batch.step()


def test_some_copies_are_reset_at_once_and_the_others_go_on() -> None:
    rope = '<joint type="distance" body_a="b" body_b="d" min_length="0" max_length="2"/>'
    more = (block("b", "1.2 3 0", "0.5 0 0", mass=3), block("d", "-0.2 3 0"), rope)
    _, batch = bare(*more)
    _, one_by_one = bare(*more)
    for it in (batch, one_by_one):
        push(it, 500)
    assert batch[1].vehicles["r1"].in_collision
    batch.reset_copies(np.array([3, 1]), np.array([50, 51]))
    one_by_one[3].reset(50)
    one_by_one[1].reset(51)
    assert [copy.ticks for copy in batch] == [500, 0, 500, 0, 500]
    for it in (batch, one_by_one):
        push(it, 700)
    for got, want in zip(batch, one_by_one, strict=True):
        assert differences(got.state(), want.state()) == []


def test_bodies_of_copies_are_placed_as_by_teleports() -> None:
    _, batch = bare()
    _, teleported = bare()
    poses = np.array([[[0.5, 1.0, 0.3], [2.5, 1.6, 0.2]], [[-1.0, 0.0, 0.0], [0.6, 0.0, 0.7]]])
    for it in (batch, teleported):
        push(it, 50)
    batch.place(["r1", "post"], np.array([4, 0]), poses)
    for k, of_copy in zip((4, 0), poses, strict=True):
        teleported[k].vehicles["r1"].teleport(*of_copy[0])
        teleported[k].blocks["post"].teleport(*of_copy[1])
    for it in (batch, teleported):
        push(it, 400)
    assert batch[0].vehicles["r1"].in_collision  # where the post is now
    for got, want in zip(batch, teleported, strict=True):
        assert differences(got.state(), want.state()) == []
    with pytest.raises(UnknownName, match="pots"):
        batch.place(["pots"], np.array([0]), poses[:1, :1])
    before = batch.data.copy()
    for copies in ([COUNT], [0, 10**9], [-COUNT - 1]):
        with pytest.raises(IndexError):
            batch.place(["r1"], np.array(copies), np.zeros((len(copies), 1, 3)))
    for shape in ((1, 2, 3), (2, 1, 3), (1, 1, 2)):
        with pytest.raises(ValueError, match="shape"):
            batch.place(["r1"], np.array([0]), np.zeros(shape))
    batch.place([], np.array([0]), np.zeros((1, 0, 3)))
    assert differences(batch.data, before) == []


def test_a_reset_takes_static_blocks_back_to_where_they_collide() -> None:
    _, batch = bare()
    batch.place(["post"], np.array([2]), np.array([[[0.0, 5.0, 0.0]]]))
    batch[3].blocks["post"].teleport(0.0, 5.0, 0.0)
    batch.step()
    batch.reset_copies(np.array([2]))
    batch[3].reset()
    push(batch, 600)
    reached = [copy.vehicles["r1"].pose.x for copy in batch]
    assert reached == pytest.approx([reached[0]] * COUNT, abs=1e-9)


def test_copies_of_a_world_without_sensors_have_none() -> None:
    base, batch = bare()
    assert [copy.all_sensors() for copy in batch] == [[]] * COUNT
    push(batch, 30)
    base.restore(batch[1].state())
    assert base.vehicles["r1"].pose == batch[1].vehicles["r1"].pose


def test_hundreds_of_copies_have_blocks() -> None:
    base = load_world(text=world(cart(controller=twist_pid(60, 30, 80)), POST))
    assert len(base.replicate(310)) == 310
