# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Loading takes time in proportion to what there is to load."""

import time

import pytest

from mvsim_core import load_world
from mvsim_core.bench.timing import step_cost


def blocks(count: int) -> str:
    rows = (
        f'<block name="b{i}"><init_pose>{3 * i} 0 0</init_pose><static>true</static></block>'
        for i in range(count)
    )
    return f"<mvsim_world>{''.join(rows)}</mvsim_world>"


def test_each_block_looks_for_ground_only_where_it_stands() -> None:
    load_world(text=blocks(1))
    start = time.perf_counter()
    world = load_world(text=blocks(1000))
    # About 2 s on an idle core; half a minute when each block went through all before it.
    assert time.perf_counter() - start < 15.0
    assert len(world.blocks) == 1000


def test_blocks_stand_on_blocks() -> None:
    block = (
        '<block name="{}"><init_pose>{} 0 0</init_pose><static>true</static><zmin>0</zmin>'
        "<zmax>{}</zmax></block>"
    )
    body = block.format("low", 0, 0.2) + block.format("high", 0.3, 1) + block.format("far", 9, 1)
    world = load_world(text=f"<mvsim_world>{body}</mvsim_world>")
    assert world.blocks["high"].pose.z == pytest.approx(0.2)
    assert world.blocks["far"].pose.z == 0.0


def test_timing_drives_only_what_takes_twists() -> None:
    raw = (
        '<mvsim_world><vehicle><init_pose>0 0 0</init_pose><dynamics class="differential">'
        '<controller class="raw"/></dynamics></vehicle></mvsim_world>'
    )
    assert step_cost(load_world(text=raw), seconds=0.01)["best"] > 0


def test_hundreds_of_worlds_live_in_one_process() -> None:
    """Nothing of a world is shared by a process, so nothing runs out."""
    text = '<mvsim_world><block name="b"><init_vel>1 0 0</init_vel></block></mvsim_world>'
    worlds = [load_world(text=text) for _ in range(300)]
    for world in worlds:
        world.step()
    assert {world.blocks["b"].pose.x for world in worlds} == {worlds[0].blocks["b"].pose.x}
    assert worlds[0].ticks == 1
