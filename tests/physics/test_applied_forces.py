# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Forces that a user applies to bodies, and motion under constant ones at any step."""

from __future__ import annotations

import math

import pytest

from mvsim_core import CommandError, World, load_world
from mvsim_core.state.arrays import FOREVER
from tests.physics.test_stopping import VEHICLES, G, load, vehicle
from tests.physics.worlds import block, cart, twist_pid, world

STEPS = [0.001, 0.005, 0.01, 0.02]


@pytest.mark.parametrize("dt", STEPS)
def test_a_force_moves_a_block_by_the_difference_and_not_below_its_friction(dt: float) -> None:
    """F = m a without an error of the step; then it slides until it rests, v²/(2 µ g) further."""
    w = load_world(text=world(block(mass=10.0, mu=0.3), dt=dt))
    b = w.blocks["b1"]
    b.apply_force(0.9 * 0.3 * 10.0 * G, 0.0, seconds=1.0)
    w.run(1.0)
    assert b.pose.x == 0.0
    b.apply_force(50.0, 0.0, seconds=1.0)
    w.run(3.0)
    gain, loss = 5.0 - 0.3 * G, 0.3 * G
    assert b.pose.x == pytest.approx(0.5 * gain * (1.0 + gain / loss), rel=1e-9)
    assert b.twist.vx == 0.0


def test_a_sliding_block_stops_as_far_at_each_step() -> None:
    """v²/(2 µ g) exactly, and within 1 % where it turns too."""
    ways = []
    for dt in STEPS:
        for v in (1.0, 0.3):
            w = load_world(text=world(block(vel=f"{v} 0 0", mu=0.3), dt=dt))
            w.run(1.0)
            assert w.blocks["b1"].pose.x == pytest.approx(v * v / (0.6 * G), rel=1e-9)
        w = load_world(text=world(block(vel="1 0 120", mu=0.3), dt=dt))
        w.run(1.0)
        ways.append((w.blocks["b1"].pose.x, w.blocks["b1"].pose.yaw))
    for x, yaw in ways[1:]:
        assert x == pytest.approx(ways[0][0], rel=0.01)
        assert yaw == pytest.approx(ways[0][1], rel=0.025)


@pytest.mark.parametrize("dt", [0.001, 0.01])
@pytest.mark.parametrize("kind", [k for k in VEHICLES if k not in ("mecanum", "omni")])
def test_a_held_vehicle_stands_below_its_grip(kind: str, dt: float) -> None:
    """Pushed from the side at its centre of mass: 0.7 of what its wheels hold, and 1.3."""
    w, r = load(vehicle(kind, mu=0.8), dt)
    r.set_brake(True)
    body = w.data.bodies[w.data.entities["r1"].row]
    rows = w.data.wheels[w.data.wheels["body"] >= 0]
    grip = 0.8 * float((rows["load"] + rows["mass"] * G)[rows["caster"] == 0].sum())
    r.apply_force(0.0, 0.7 * grip, seconds=0.2)
    w.run(0.2)
    assert abs(r.pose.y) < 1e-8
    r.apply_force(0.0, 1.3 * grip, seconds=0.2)
    w.run(0.2)
    if kind != "differential_3_wheels":  # the caster's side gives way
        want = 0.3 * grip / float(body["mass"])
        assert r.twist.vy == pytest.approx(0.2 * want, rel=0.01)
        assert r.pose.y == pytest.approx(0.5 * want * 0.04, rel=0.01)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("kind", [k for k in VEHICLES if k not in ("mecanum", "omni")])
def test_a_driving_vehicle_does_not_slip_sideways(kind: str, dt: float) -> None:
    """A push across its heading below its grip does not move it, at any step."""
    w, r = load(vehicle(kind, mu=0.8), dt)
    r.set_velocity(0.3, 0.0, 0.0)
    r.set_twist(0.3)
    w.run(0.2)
    y = r.pose.y
    r.apply_force(0.0, 20.0, seconds=0.5)
    w.run(0.5)
    assert r.twist.vx > 0.2
    # the caster's share of the grip is missing: it turns a little about its axle
    assert abs(r.pose.y - y) < (0.05 if kind == "differential_3_wheels" else 1e-6)


def pushed() -> World:
    """Return a world in which a force acts on a robot, and one on a block at a corner."""
    w = load_world(text=world(cart(), block("b1", "5 0 0", mu=0.3)))
    w.vehicles["r1"].apply_force(30.0, 0.0, 1.0, seconds=0.5)
    w.blocks["b1"].apply_force(0.0, 60.0, at=(0.3, 0.0), seconds=math.inf)
    w.run(0.2)
    return w


def test_forces_are_part_of_the_state() -> None:
    """Snapshot and restore, copies of a batch, and reset."""
    w = pushed()
    kept = w.state()
    batch = w.replicate(2)
    w.run(0.5)
    end = w.state()
    assert w.blocks["b1"].pose.yaw > 0.01
    w.restore(kept)
    w.run(0.5)
    assert w.state() == end
    batch.run(0.5)
    assert batch[1].state().bodies.tobytes() == end.bodies.tobytes()
    w.reset()
    w.run(0.5)
    assert w.blocks["b1"].twist.vy == 0.0


def test_a_force_ends() -> None:
    """After one step, after its time, at a teleport and at a weld; a new one replaces it."""
    w = load_world(text=world(block(mu=0.0), block("b2", "3 0 0"), dt=0.01))
    b = w.blocks["b1"]

    def gain(seconds: float) -> float:
        before = b.twist.vx
        w.run(seconds)
        return b.twist.vx - before

    b.apply_force(10.0, 0.0)
    assert gain(0.1) == pytest.approx(0.01)
    b.apply_force(10.0, 0.0, seconds=0.05)
    assert gain(0.1) == pytest.approx(0.05)
    b.apply_force(10.0, 0.0, seconds=math.inf)
    b.apply_force(20.0, 0.0, seconds=math.inf)
    assert gain(0.1) == pytest.approx(0.2)
    assert w.data.bodies["push_steps"].max() == FOREVER  # no step brings it nearer to its end
    b.apply_force(20.0, 0.0, seconds=1e300)
    assert w.data.bodies["push_steps"].max() == FOREVER
    b.teleport(0.0, 0.0, 0.0)
    assert gain(0.1) == 0.0
    b.apply_force(10.0, 0.0, seconds=math.inf)
    w.weld("b1", "b2")
    assert gain(0.1) == 0.0
    w.blocks["b2"].apply_force(10.0, 0.0, seconds=0.1)  # at the middle of both: no turn
    w.run(0.1)
    assert (b.twist.vx, b.twist.wz) == pytest.approx((0.05, 0.0))


def test_forces_that_cannot_act_are_refused() -> None:
    """Numbers that are not finite, times below zero, and bodies that forces do not move."""
    still = block("b2", "3 0 0", extra="<static>true</static>")
    w = load_world(text=world(block(), still))
    with pytest.raises(CommandError, match="fx must be a finite number"):
        w.blocks["b1"].apply_force(math.nan, 0.0)
    with pytest.raises(CommandError, match="seconds >= 0"):
        w.blocks["b1"].apply_force(1.0, 0.0, seconds=-1.0)
    with pytest.raises(CommandError, match="forces do not move it"):
        w.blocks["b2"].apply_force(1.0, 0.0)


def test_a_robot_with_motors_rolls_on_under_a_push() -> None:
    """A push along its heading against a speed loop: speed returns to the set point."""
    w = load_world(text=world(cart(controller=twist_pid())))
    r = w.vehicles["r1"]
    r.set_twist(0.5)
    w.run(2.0)
    r.apply_force(20.0, 0.0, seconds=math.inf)
    w.run(10.0)
    assert r.twist.vx == pytest.approx(0.5, abs=0.01)
