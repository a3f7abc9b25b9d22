# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is welded to a vehicle: its weight on the wheels, along slopes, and in the grip."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from mvsim_core import Vehicle, World, load_world
from mvsim_core.dynamics.loads import add_load
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import VEHICLES, vehicle
from tests.physics.worlds import block, world

G = 9.81
ROBOT = 14.0  # kg, of `vehicle` with four wheels of 1 kg
RAW = '<controller class="raw"/>'
Place = tuple[float, float]


def load(mass: float = 20.0, pose: str = "0 0 0", name: str = "load") -> str:
    """Return a small block that may be in a robot, which does not matter once welded."""
    return block(name, pose, mass=mass, size=0.1)


def carrying(kind: str, place: Place, mass: float = 20.0, ground: str = "") -> World:
    """Return a world with a robot that carries a load."""
    at = f"{place[0]} {place[1]} 0"
    return load_world(
        text=world(
            ground, vehicle(kind), load(mass, at),
            '<joint type="weld" body_a="r1" body_b="load"/>', dt=0.002,
        )
    )  # fmt: skip


def raw(text: str, mu: float) -> str:
    """Return a robot of four wheels with commanded torques, which nothing slows down."""
    text = text.replace("<mu>0.8</mu>", f"<mu>{mu}</mu><C_damping>0</C_damping>")
    start, end = text.index("<controller"), text.index("</controller>")
    return text[:start] + RAW + text[end + len("</controller>") :]


def loads(robot: Vehicle) -> np.ndarray:  # type: ignore[type-arg]
    """Return the weights that rest on the wheels, wheels included [N]."""
    row = robot._world.data.wheels[robot._entity.wheel0 :][: len(robot.wheels)]
    return np.array(row["load"] + row["mass"] * G)


@pytest.mark.parametrize("kind", VEHICLES)
def test_loads_sum_to_the_weight_and_balance_the_moment(kind: str) -> None:
    """Beside the uniform weight of the chassis: the load's, with its moment about the wheels."""
    rng = np.random.default_rng(list(kind.encode()))
    alone = load_world(text=world(vehicle(kind)))
    own = loads(alone.vehicles["r1"])
    wheels = np.array([w.position for w in alone.vehicles["r1"].wheels])
    for _ in range(3):
        place = rng.uniform(-0.1, 0.1, 2) + wheels.mean(axis=0)
        robot = carrying(kind, (place[0], place[1]), mass=rng.uniform(1.0, 20.0)).vehicles["r1"]
        got = loads(robot)
        assert got.sum() == pytest.approx(robot.mass * G, rel=1e-12)
        moment = (got - own) @ (wheels - place)
        assert moment[1] == pytest.approx(0.0, abs=1e-9)
        if kind != "differential":  # its casters balance what is ahead of or behind its axle
            assert moment[0] == pytest.approx(0.0, abs=1e-9)


def test_a_load_ahead_of_the_wheels_lifts_the_rear() -> None:
    """Statics by hand: 1 kg 0.3 m ahead of axles at ±0.2 m takes 0.25 kg from the rear one."""
    robot = carrying("differential_4_wheels", (0.3, 0.0), mass=1.0).vehicles["r1"]
    rear, front = (10 * G / 4 + G - 0.125 * G), (10 * G / 4 + G + 0.625 * G)
    assert loads(robot) == pytest.approx([rear, rear, front, front])


def test_a_wheel_lifts_and_the_others_carry_all() -> None:
    """Three wheels stand; loads and moments balance."""
    wheels = np.array([(-0.2, 0.2), (-0.2, -0.2), (0.2, 0.2), (0.2, -0.2)])
    more, balanced = add_load(wheels, np.full(4, 5.0), 80.0, (0.14, 0.14))
    total = 5.0 + more
    assert balanced
    assert total[1] == pytest.approx(0.0, abs=1e-12)
    assert total.min() >= 0.0
    assert total.sum() == pytest.approx(100.0)
    assert total @ wheels == pytest.approx((80.0 * 0.14, 80.0 * 0.14))


def test_what_would_tip_over_is_named() -> None:
    """The load is too far out: a warning, and all wheels carry the same part."""
    w = load_world(text=world(vehicle("differential_4_wheels"), load(20.0, "0.9 0 0")))
    with pytest.warns(UserWarning, match="'r1' and 'load' are welded to would tip over"):
        w.weld("r1", "load")
    assert loads(w.vehicles["r1"]) == pytest.approx([34.0 * G / 4] * 4)
    at_load = carrying("differential_4_wheels", (0.9, 0.0))
    assert any("would tip over" in str(p) and p.line > 0 for p in at_load.warnings)


def test_loads_follow_welds_and_snapshots() -> None:
    """Weld, chain, unweld, remove, teleport, reset, restore, replicate: each its own loads."""
    w = load_world(
        text=world(
            vehicle("differential_4_wheels"), load(8.0, "0.1 0 0"),
            load(4.0, "-0.1 0.1 0", "second"), dt=0.005,
        )
    )  # fmt: skip
    robot = w.vehicles["r1"]
    alone = loads(robot)
    assert alone == pytest.approx([ROBOT * G / 4] * 4)
    w.weld("r1", "load")
    one = loads(robot)
    assert one.sum() == pytest.approx(22.0 * G)
    w.weld("load", "second")  # rests on the wheels by way of the other block
    two = loads(robot)
    state = w.state()
    assert two.sum() == pytest.approx(26.0 * G)
    robot.teleport(5.0, 3.0, 1.0)
    w.blocks["load"].teleport(-5.0, 3.0, 2.0)
    w.run(0.05)
    assert loads(robot) == pytest.approx(two)
    copy = w.replicate(2)[1]
    assert loads(copy.vehicles["r1"]) == pytest.approx(two)
    w.unweld("load", "second")
    assert loads(robot) == pytest.approx(one)
    w.remove("load")
    assert loads(robot) == pytest.approx(alone)
    w.restore(state)
    assert loads(robot) == pytest.approx(two)
    w.reset()
    assert loads(robot) == pytest.approx(alone)


def test_blocks_welded_to_blocks_load_no_wheels() -> None:
    """An island without a vehicle, beside one: its weight is its own."""
    w = load_world(
        text=world(vehicle("differential_4_wheels"), load(5.0, "3 0 0", "a"), load(5.0, "4 0 0"))
    )
    w.weld("a", "load")
    assert loads(w.vehicles["r1"]) == pytest.approx([ROBOT * G / 4] * 4)


def test_two_vehicles_carry_a_load_between_them() -> None:
    """A beam between two robots: the nearer one carries more, all of it is carried."""
    second = vehicle("differential_4_wheels", pose="2 0 0").replace('"r1"', '"r2"')
    w = load_world(
        text=world(vehicle("differential_4_wheels"), second, load(12.0, "0.5 0 0"), dt=0.005)
    )
    for name in ("r2", "load"):
        w.weld("r1", name)
    first, other = loads(w.vehicles["r1"]), loads(w.vehicles["r2"])
    assert first.sum() + other.sum() == pytest.approx((2 * ROBOT + 12.0) * G)
    arms = [np.array([wheel.position for wheel in w.vehicles[n].wheels]) for n in ("r1", "r2")]
    more = np.concatenate((first, other)) - ROBOT * G / 4
    places = np.vstack((arms[0], arms[1] + (2.0, 0.0)))
    assert more @ places == pytest.approx((12.0 * G * 0.5, 0.0), abs=1e-9)
    w.unweld("r1", "r2")
    assert loads(w.vehicles["r2"]) == pytest.approx([ROBOT * G / 4] * 4)


def test_weight_transfer_counts_the_load() -> None:
    """With `weight_transfer` the loads balance chassis and load about their common centre."""
    text = vehicle("differential_4_wheels").replace(
        '<chassis mass="10"', '<weight_transfer>true</weight_transfer><chassis mass="10"'
    )
    w = load_world(text=world(text, load(6.0, "0.1 0.05 0"), dt=0.005))
    w.weld("r1", "load")
    robot = w.vehicles["r1"]
    w.run(0.5)
    got = loads(robot)
    wheels = np.array([wheel.position for wheel in robot.wheels])
    assert got.sum() == pytest.approx(20.0 * G)
    assert got @ wheels == pytest.approx((6.0 * G * 0.1, 6.0 * G * 0.05), rel=1e-6)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
@pytest.mark.parametrize("mass", [5.0, 40.0])
def test_accelerates_at_the_grip_of_all_that_it_carries(mass: float, dt: float) -> None:
    """Wheels that slip push with mu times the whole weight: a = mu g, whatever the load."""
    mu = 0.4
    text = raw(vehicle("differential_4_wheels"), mu)
    w = load_world(text=world(text, load(mass), dt=dt))
    w.weld("r1", "load")
    w.vehicles["r1"].set_wheel_torques([30.0, 30.0])
    w.run(0.5)
    assert w.vehicles["r1"].twist.vx == pytest.approx(mu * G * 0.5, rel=1e-6)


@pytest.mark.parametrize("mass", [5.0, 40.0])
@pytest.mark.parametrize("yaw", [0.0, 180.0])
def test_the_weight_of_the_load_acts_along_a_slope(mass: float, yaw: float) -> None:
    """Force minus m g sin over m + Σ I/R², up and down; each wheel counts half its mass more."""
    angle, torque = math.radians(10.0), 3.0
    sense = math.cos(math.radians(yaw))
    at = f"0 0 {yaw}"
    text = raw(vehicle("differential_4_wheels", pose=at), 0.9)
    w = load_world(text=world(incline(10.0), text, load(mass, at), dt=0.002))
    w.weld("r1", "load")
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([torque, torque])
    w.run(0.4)
    want = (4 * torque / 0.1 - sense * (ROBOT + mass) * G * math.sin(angle)) / (ROBOT + mass + 2.0)
    assert robot.twist.vx / 0.4 == pytest.approx(want, rel=1e-3)


def test_a_held_robot_holds_its_load_on_a_slope() -> None:
    """Up to its grip; the friction of the ground grows with the load."""
    for degrees, holds in ((30.0, True), (45.0, False)):  # atan 0.8 is 39 degrees
        text = vehicle("differential_4_wheels", most=60.0)
        w = load_world(text=world(incline(degrees), text, load(30.0), dt=0.005))
        w.weld("r1", "load")
        robot = w.vehicles["r1"]
        robot.set_brake(True)
        w.run(0.5)
        slid = abs(robot.pose.x)
        if holds:
            assert slid < 1e-6
        else:
            a = G * (math.sin(math.radians(45)) - 0.8 * math.cos(math.radians(45)))
            way = 0.5 * a * 0.25 * math.cos(math.radians(45))
            assert slid == pytest.approx(way, rel=0.02)


def test_feed_forward_carries_the_load() -> None:
    """A speed loop with feed-forward starts uphill without rolling back."""
    more = "<enable_feedforward>true</enable_feedforward><feedforward_gain>1</feedforward_gain>"
    text = vehicle("differential_4_wheels", ki=0.0, kp=1.0, most=60.0, more=more)
    w = load_world(text=world(incline(15.0), text, load(30.0), dt=0.002))
    w.weld("r1", "load")
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    lowest = 0.0
    for _ in range(500):
        w.step()
        lowest = min(lowest, robot.pose.x)
    with_load = w.data.vehicles["chassis_mass"][robot._entity.vehicle_row]
    assert with_load == pytest.approx(40.0)
    assert lowest > -0.02
    assert robot.pose.x > 0.05


def test_random_orders_of_changes_end_alike() -> None:
    """Placing, welding, restoring and stepping in any order: loads and attitudes fit the end.

    A world that gets the same welds and poses by itself has the same loads and stands alike.
    """
    rng = np.random.default_rng(4)
    parts = [
        vehicle("differential_4_wheels"),
        vehicle("rear drive", pose="3 0 0").replace('"r1"', '"r2"'),
        load(6.0, "0.1 0 0", "a"), load(3.0, "3 0.1 0", "b"), load(2.0, "-3 0 0", "c"),
    ]  # fmt: skip
    text = world(incline(12.0), *parts, dt=0.01)
    names = ["r1", "r2", "a", "b", "c"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w = load_world(text=text)
        for _ in range(6):
            states = []
            for _ in range(12):
                what = rng.integers(5)
                one, other = rng.choice(names, 2, replace=False)
                if what == 0:
                    w.weld(str(one), str(other))
                elif what == 1:
                    w.unweld(str(one), str(other))
                elif what == 2:
                    w.entity(str(one))
                    handle = w.vehicles[one] if one[0] == "r" else w.blocks[one]
                    handle.teleport(*rng.uniform(-20.0, 20.0, 2), rng.uniform(-3.0, 3.0))
                elif what == 3 and states:
                    w.restore(states[rng.integers(len(states))])
                else:
                    w.run(0.03)
                states.append(w.state())
            weights = [loads(w.vehicles[n]).sum() for n in ("r1", "r2")]
            carried = sum(
                m
                for name, m in (("a", 6.0), ("b", 3.0), ("c", 2.0))
                if w.data.bodies["leader"][w.entity(name).row]
                in (w.entity("r1").row, w.entity("r2").row)
            )
            assert sum(weights) == pytest.approx((2 * ROBOT + carried) * G)
            slope = math.tan(math.radians(12.0))
            for name in names:
                p = (w.vehicles[name] if name[0] == "r" else w.blocks[name]).pose
                assert p.z == pytest.approx(p.x * slope, abs=1e-5)
            batch = w.replicate(2)
            batch.run(0.02)
            w.run(0.02)
            for name in ("r1", "r2"):
                copy = batch[1].vehicles[name]
                assert copy.pose == w.vehicles[name].pose
                assert (loads(copy) == loads(w.vehicles[name])).all()
