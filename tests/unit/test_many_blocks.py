# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Thousands of blocks are built together, with the numbers that one after the other gives."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest

from mvsim_core import BuildError, load_world
from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.sensors.blocks import Blocks
from mvsim_core.state.tables import Table
from mvsim_core.terrain import ground
from mvsim_core.terrain.nearby import MAX_CROWD, Nearby, first_crowd
from mvsim_core.world.data import differences

PLANE = '<element class="horizontal_plane"><x_min>-9</x_min><x_max>{0}</x_max><z>{1}</z></element>'


def world(content: str) -> str:
    return f"<mvsim_world><simul_timestep>0.005</simul_timestep>{content}</mvsim_world>"


def block(name: str, pose: str, more: str = "<static>true</static>") -> str:
    return f'<block name="{name}"><init_pose>{pose}</init_pose>{more}</block>\n'


def heap(count: int, rng: np.random.Generator) -> str:
    """Return blocks of several sizes, heights and kinds, many of them on others."""
    parts = []
    for i in range(count):
        x, y = rng.uniform(-6.0, 6.0, 2)
        z, size, height = rng.choice([0.0, 0.7, 5.0]), rng.choice([0.2, 1.0, 4.0]), 0.1 + i % 3
        shape = f"<shape><pt>0 0</pt><pt>{size} 0</pt><pt>{size} {size}</pt></shape>"
        kind = ("<static>true</static>", "", "<intangible>true</intangible>")[i % 3]
        keep = "<skip_elevation_adjust/>" if i % 5 == 0 else ""
        parts.append(
            f'<block name="h{i}"><init_pose3d>{x} {y} {z} {i} 0 0</init_pose3d>{kind}{keep}{shape}'
            f"<zmax>{height}</zmax></block>"
        )
    return "".join(parts)


RAMP = '<geometry type="ramp" lx="3" ly="2" lz="1"/><static>true</static>'
WORLDS = {
    "far apart": "".join(block(f"b{i}", f"{2 * i} 0 {i}") for i in range(80)),
    "on each other": "".join(
        f'<block name="b{i}"><static>true</static><zmax>0.4</zmax>'
        f"<init_pose3d>{i // 4 * 2} 0 {i % 4 * 0.4} 0 0 0</init_pose3d></block>"
        for i in range(80)
    ),
    "in a heap": heap(150, np.random.default_rng(1)),
    "in a heap on two floors": PLANE.format(0, 0.0) + PLANE.format(9, 0.6)
    + heap(150, np.random.default_rng(2)),
    "with ramps": "".join(
        block(f"r{i}", f"{i % 7 - 3} {i % 5 - 2} {10 * i}", RAMP) for i in range(70)
    )
    + heap(80, np.random.default_rng(3)),
    "that move": "".join(block(f"b{i}", f"{2 * i} 0 {i}", "<mass>3</mass>") for i in range(80))
    + '<vehicle name="r"><init_pose>0 5 0</init_pose><dynamics class="differential"/></vehicle>',
}  # fmt: skip


@pytest.mark.parametrize("kind", WORLDS)
def test_blocks_are_put_on_the_ground_as_one_by_one(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = load_world(text=world(WORLDS[kind]), seed=3)
    monkeypatch.setattr(ground, "MANY", math.inf)
    singly = load_world(text=world(WORLDS[kind]), seed=3)
    assert differences(together.data, singly.data) == []
    grounds = [one._runtime.ground for one in (together, singly)]
    pieces = [one.surface.pieces for one in grounds]
    np.testing.assert_array_equal(*pieces)
    for x, y in np.random.default_rng(4).uniform(-6.0, 6.0, (200, 2)).tolist():
        assert grounds[0].height(x, y, 1.0) == grounds[1].height(x, y, 1.0)
    for one in (together, singly):
        one.run(0.05)
    assert differences(together.data, singly.data) == []
    for one in (together, singly):  # the tables give the same rows to what comes later
        first = next(iter(one.blocks))
        one.remove(first)
        one.blocks[next(iter(one.blocks))].teleport(40.0, 40.0, 1.0)
    assert differences(together.data, singly.data) == []


def test_a_crowd_of_blocks_that_collide_with_nothing_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    more = "<intangible>true</intangible><static>true</static>" + RAMP.partition("<static")[0]
    text = world("".join(block(f"b{i}", f"{i % 3 * 50} 0 0", more) for i in range(1200)))
    messages = []
    for many in (64, math.inf):
        monkeypatch.setattr(ground, "MANY", many)
        with pytest.raises(BuildError, match="begin at the same place") as caught:
            load_world(text=text)
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_messages_about_parts_of_equal_blocks_name_the_line_of_each() -> None:
    model = "<shape_from_visual/><visual>\n<model_uri>missing.dae</model_uri></visual>"
    blocks = "".join(block(f"b{i}", f"{3 * i} 0 0", model) for i in range(8))
    robot = (
        '<vehicle name="r{0}"><init_pose>{1} 0 0</init_pose><dynamics class="differential"/>'
        "</vehicle>"
    )
    robots = robot.format(1, 9) + robot.format(2, 18)
    found = [
        (problem.line, problem.message.partition("does not collide")[0])
        for problem in load_world(text=world(f"\n{blocks}{robots}")).warnings
        if "stands in for" in problem.message
    ]
    text = "the box that stands in for the missing models of 'b{}' "
    assert found == [(2 + 2 * 3, text.format(3)), (2 + 2 * 6, text.format(6))]


def test_models_of_a_kind_equal_those_made_alone() -> None:
    text = world(block("b", "0 0 0", "<init_vel>1 2 30</init_vel><shape><pt>0 0</pt><pt>2 0</pt>"
                       "<pt>0 1</pt></shape>"))  # fmt: skip
    (first,) = load_world(text=text).model.entities
    rng = np.random.default_rng(5)
    specs = [
        replace(first.spec, name=f"b{i}", init_pose=Pose(*rng.uniform(-9.0, 9.0, 6)))
        for i in range(50)
    ]
    assert first.spec.init_vel == Twist(1.0, 2.0, math.radians(30.0))
    for model, spec in zip(first.of_all(specs), specs, strict=True):
        alone = first.of(spec)
        assert model.body.tobytes() == alone.body.tobytes()
        assert (model.name, model.spec, model.solids) == (spec.name, spec, first.solids)
        assert not model.body.flags.writeable
        c, s = math.cos(spec.init_pose.yaw), math.sin(spec.init_pose.yaw)
        assert model.body["cvx"][0] == pytest.approx(c - 2.0 * s)
        assert model.body["cvy"][0] == pytest.approx(s + 2.0 * c)


@pytest.mark.parametrize("reach", [0.0, 0.3, 1.0, 700.0, 1e12])
def test_many_discs_are_where_single_ones_are(reach: float) -> None:
    rng = np.random.default_rng(6)
    places = rng.uniform(-5 * reach - 1, 5 * reach + 1, (200, 2))
    reaches = reach * rng.choice([0.5, 1.0, 3.0], 200)
    single, many = Nearby(), Nearby()
    crowds = [
        single.add(i, x, y, far)
        for i, ((x, y), far) in enumerate(zip(places.tolist(), reaches.tolist(), strict=True))
    ]
    assert list(many.add_all(range(200), places, reaches)) == crowds
    assert (single._cells, single._wide, single._levels) == (many._cells, many._wide, many._levels)
    many.remove(7)
    assert 7 not in set(many)


def test_the_first_of_a_crowd_is_found() -> None:
    rng = np.random.default_rng(7)
    places = rng.integers(0, 3, (4 * MAX_CROWD, 2)) * 40.0
    reaches = rng.choice([0.5, 3.0], len(places))
    counts: dict[tuple[float, ...], int] = {}
    expected = None
    for i, key in enumerate(np.column_stack((places, reaches)).tolist()):
        counts[tuple(key)] = counts.get(tuple(key), 0) + 1
        if expected is None and counts[tuple(key)] > MAX_CROWD:
            expected = i
    assert first_crowd(places, reaches) == expected
    assert (
        first_crowd(np.tile(places[:1], (MAX_CROWD + 1, 1)), np.ones(MAX_CROWD + 1)) == MAX_CROWD
    )
    assert first_crowd(places[:MAX_CROWD], reaches[:MAX_CROWD]) is None


def test_equal_blocks_of_rows_get_the_places_of_single_ones() -> None:
    rows = np.array([1.0, 2.0])
    for freed in ((), (1,), (2, 1)):
        tables = [Table(np.dtype("f8")) for _ in range(2)]
        for table in tables:
            firsts = [table.add(np.zeros(2)) for _ in range(4)]
            for index in freed:
                table.remove(firsts[index], 2)
        assert tables[0].add_all([rows] * 3) == [tables[1].add(rows) for _ in range(3)]
        np.testing.assert_array_equal(tables[0].rows, tables[1].rows)
    assert Table(np.dtype("f8")).add_all([np.zeros(0)] * 2) == [0, 0]


@pytest.mark.parametrize("size", [0, 3])
def test_ranges_taken_together_are_those_taken_singly(size: int) -> None:
    together, singly = Blocks(), Blocks()
    for round_ in range(2):
        assert list(together.take_all(size, 4)) == [singly.take(size) for _ in range(4)]
        for blocks in (together, singly) if round_ == 0 else ():
            blocks.give(0, size)
    assert together.end == singly.end


@pytest.mark.slow
@pytest.mark.parametrize("written", ["out", "as a loop"])
def test_the_time_to_load_grows_with_the_number_of_blocks(written: str) -> None:
    def text(count: int) -> str:
        if written == "as a loop":
            pose = "$f{2*(i%300)} $f{2*floor(i/300)} 0"
            return world(f'<for var="i" from="1" to="{count}">{block("b${i}", pose)}</for>')
        return world(
            "".join(block(f"b{i}", f"{i % 300 * 2} {i // 300 * 2} 0") for i in range(count))
        )

    few, many = text(3000), text(30_000)
    load_world(text=few)

    def seconds(content: str) -> float:
        start = time.process_time()
        load_world(text=content)
        return time.process_time() - start

    ratios = []
    for _ in range(5):  # another program may slow any one of them down
        ratios.append(seconds(many) / seconds(few))
        if ratios[-1] < 13.0:
            return
    pytest.fail(f"ten times as many blocks take {min(ratios):.1f} times as long")
