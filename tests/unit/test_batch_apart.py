# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What happens in one copy of a world stays there, and what it is can be taken elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core import BuildError, CommandError, load_world
from mvsim_core.world.batch import Batch
from mvsim_core.world.data import differences
from tests.physics.worlds import block, cart, twist_pid, world

PID = twist_pid(20, 10, 30)
SCANNER = """<sensor class="laser" name="scanner"><nrays>9</nrays>
<sensor_period>0.04</sensor_period><motion_distortion>true</motion_distortion></sensor>"""
LASER = """<sensor class="laser" name="laser"><nrays>9</nrays><sensor_period>0.1</sensor_period>
</sensor>"""
RAMP = """<block name="ramp"><geometry type="ramp" lx="4" ly="4" lz="0.8"/><static>true</static>
<intangible>true</intangible><init_pose>20 0 0</init_pose></block>"""
ROBOT = cart("r", controller=PID)


def test_resets_of_copies_leave_the_sensors_of_others_on_time() -> None:
    """Also where one of them is in the middle of a turn, so that each tick has something to do."""
    text = world(cart("r", controller=PID, extra=SCANNER + LASER))
    batch, single = load_world(text=text).replicate(3), load_world(text=text)
    batch.run(0.3)
    batch.reset()  # ticks of the copies are not those of the batch any longer
    for _ in range(3):
        batch.run(0.205)
        single.run(0.205)
        batch[1].reset()
        batch.reset_copies(np.array([2]))
    assert differences(batch[0].state().sensors, single.data.sensors, "sensors") == []
    assert single.vehicles["r"].sensors["laser"].last.tick > 100


def move(batch: Batch, how: str, x: float) -> None:
    """Let the second copy have its ramp somewhere else."""
    copy = batch[1]
    if how == "teleport":
        copy.teleport("ramp", x, 0.0, 0.0)
    elif how == "place":
        batch.place(["ramp"], np.array([1]), np.array([[[x, 0.0, 0.0]]]))
    else:
        there = load_world(text=world(ROBOT, RAMP))
        there.teleport("ramp", x, 0.0, 0.0)
        copy.restore(there.state())


@pytest.mark.parametrize("how", ["teleport", "place", "restore"])
def test_a_ramp_is_ground_in_its_own_copy_only(how: str) -> None:
    batch = load_world(text=world(ROBOT, RAMP)).replicate(3)
    move(batch, how, -2.0)
    batch.run(0.1)
    heights = [copy.vehicles["r"].pose.z for copy in batch]
    assert heights[0] == heights[2] == 0.0
    assert heights[1] == pytest.approx(0.4, abs=0.05)
    places = {0: 22.0, 1: 22.0, 2: 0.5}
    for k, x in places.items():
        batch[k].teleport("r", x, 0.0, 0.0)
    for seconds in (0.0, 0.1):
        batch.run(seconds)
        poses = [copy.vehicles["r"].pose for copy in batch]
        assert poses[0].z == pytest.approx(0.4, abs=0.05)
        assert poses[1].z == poses[2].z == poses[1].pitch == poses[2].pitch == 0.0
    batch.reset_copies(np.array([0, 1]))
    for k, x in places.items():
        batch[k].teleport("r", x, 0.0, 0.0)
    for seconds in (0.0, 0.1):
        batch.run(seconds)
        poses = [copy.vehicles["r"].pose for copy in batch]
        assert [poses[0].z, poses[1].z] == pytest.approx([0.4, 0.4], abs=0.05)
        assert poses[2].z == 0.0
    move(batch, how, -2.0)
    for k in range(3):  # at once
        batch[k].teleport("r", 0.5, 0.0, 0.0)
    heights = [copy.vehicles["r"].pose.z for copy in batch]
    assert heights == pytest.approx([0.0, 0.5, 0.0], abs=0.05)


def test_a_ramp_that_is_moved_in_one_copy_is_no_step_in_another() -> None:
    low = RAMP.replace('lz="0.8"', 'lz="0.5"')  # one that is higher is a bridge
    batch = load_world(text=world(ROBOT, low)).replicate(2)
    batch[1].teleport("ramp", 5.5, 0.0, math.pi)  # its high end is ahead
    for copy in batch:
        copy.vehicles["r"].set_twist(1.0)
    batch.run(2.0)
    assert batch[0].vehicles["r"].pose.x == pytest.approx(2.0, abs=0.3)
    assert batch[1].vehicles["r"].pose.x < 1.5


def test_a_state_of_a_copy_has_fixed_blocks_where_they_are() -> None:
    text = world(ROBOT, block("post", "9 9 0", extra="<static>true</static>"))
    base = load_world(text=text)
    batch = base.replicate(2)
    batch.place(["post"], np.array([0]), np.array([[[2.0, 0.0, 0.0]]]))
    batch[1].teleport("post", 2.0, 0.0, 0.0)
    states = [copy.state() for copy in batch]
    for state in states:
        batch.reset()
        single = load_world(text=text)
        single.restore(state)
        batch[1].restore(state)
        again = single.replicate(2)
        for one in (single, batch[1], again[1]):
            one.vehicles["r"].set_twist(1.0)
        for one in (single, batch, again):
            one.run(3.0)
        for one in (single, batch[1], again[1]):
            assert one.vehicles["r"].in_collision
            assert 0.5 < one.vehicles["r"].pose.x < 1.5
        assert not batch[0].vehicles["r"].in_collision


PIVOTS = tuple(
    part
    for k in range(3)
    for part in (
        block(f"arm{k}", f"0 {4 * k} 0", mass=2),
        block(f"base{k}", f"2 {4 * k} 0", extra="<static>true</static>"),
        f"""<joint type="revolute" body_a="base{k}" body_b="arm{k}" anchor_a="-1 0" anchor_b="1 0"
        kp="40" kd="20" target_angle_deg="{10 * k}"/>""",
    )
)


@pytest.mark.parametrize("gone", [(), ("arm0",), ("arm1", "base2"), ("arm0", "arm1", "arm2")])
def test_worlds_without_some_of_their_joints_are_replicated(gone: tuple[str, ...]) -> None:
    base = load_world(text=world(*PIVOTS))
    for name in gone:
        base.remove(name)
    batch = base.replicate(3)
    for copy in batch:
        for pivot in copy.pivots.values():
            pivot.target = 0.1 * copy.index
    batch.run(3.0)
    assert len(batch[0].pivots) == 3 - len(gone)
    for copy in batch:
        for pivot in copy.pivots.values():
            assert pivot.angle == pytest.approx(0.1 * copy.index, abs=0.01)
    batch[2].reset()
    base.run(1.0)
    batch.run(1.0)
    for table in ("bodies", "pivots"):
        state = batch[2].state()
        assert differences(getattr(state, table), getattr(base.data, table), table) == []


def test_sensors_that_were_removed_are_not_in_copies() -> None:
    text = world(cart("r", controller=PID, extra=LASER))
    base = load_world(text=text)
    base.remove_sensors()
    assert base.replicate(2)[1].vehicles["r"].sensors == {}
    base.reset()
    assert base.vehicles["r"].sensors == {}
    assert base.replicate(2)[1].vehicles["r"].sensors == {}
    base.add_vehicle(base.vehicles["r"].spec, name="other", pose=(0.0, 3.0, 0.0))
    batch = base.replicate(2)
    batch.run(0.3)
    batch[0].reset()
    assert [list(v.sensors) for v in batch[1].vehicles.values()] == [[], ["laser"]]
    assert batch[1].vehicles["other"].sensors["laser"].last is not None
    state = batch[1].state()
    batch[0].restore(state)
    assert list(state.sensors) == ["other/laser"]


def test_contacts_of_shapes_that_are_gone_do_not_come_back_in_copies() -> None:
    """A weld gives bodies other shapes; those that touched before have none until a step."""
    base = load_world(text=world(block("a", "0 0 0"), block("b", "0.98 0 0"), block("c", "5 0 0")))
    base.run(0.02)
    assert [{c.a, c.b} for c in base.contacts] == [{"a", "b"}]
    base.weld("a", "c")
    assert base.contacts == []
    batch = base.replicate(2)
    assert batch[1].contacts == []
    batch[1].restore(base.state())
    assert batch[1].contacts == []


def test_a_state_of_other_shapes_is_refused() -> None:
    """Welding and unwelding gives bodies their shapes in another order."""
    parts = (block("a", "0 0 0"), block("b", "3 0 0"), block("c", "6 0 0"))
    base = load_world(text=world(*parts))
    batch = base.replicate(2)
    base.weld("a", "b")
    base.unweld("a", "b")
    shapes = base.data.contacts.shapes.rows["body"]
    if shapes.tobytes() == batch.base.contacts.shapes.rows["body"].tobytes():
        batch[1].restore(base.state())
    else:
        with pytest.raises(BuildError, match="other vehicles, blocks or welds"):
            batch[1].restore(base.state())


def test_fixed_bodies_take_no_velocity() -> None:
    w = load_world(
        text=world(block("post", extra="<static>true</static>"), block("loose", "3 0 0"))
    )
    for one in (w, w.replicate(2)[1]):
        with pytest.raises(CommandError, match="post is fixed and cannot have a velocity"):
            one.blocks["post"].set_velocity(0.0, 0.1, 0.0)
        one.blocks["post"].set_velocity(0.0, 0.0, 0.0)
        one.blocks["loose"].set_velocity(0.0, 0.1, 0.0)
        assert one.blocks["post"].twist == (0.0, 0.0, 0.0)


def test_what_is_put_on_a_block_stands_on_it_where_it_is_now() -> None:
    post = block("post", "9 9 0", extra="<static>true</static>")
    copies = load_world(text=world(ROBOT, post)).replicate(2)
    copies[0].teleport("r", 0.0, 0.0, 0.0)  # it has looked at the ground before
    copies.place(["post"], np.array([1]), np.array([[[5.0, 0.0, 0.0]]]))
    for copy in copies:
        copy.teleport("r", 5.0, 0.0, 0.0, z=1.2)
    assert [copy.vehicles["r"].pose.z for copy in copies] == [0.0, 1.0]
    copies.run(0.1)
    assert [copy.vehicles["r"].pose.z for copy in copies] == [0.0, 1.0]
