# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that are stepped tile by tile move as if all went through each phase at once."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import pytest

from mvsim_core import World, load_world, threads
from mvsim_core.errors import StepError
from mvsim_core.solver import solve
from mvsim_core.world.data import TABLES, differences
from mvsim_core.world.ticks import Ticks
from tests.physics.worlds import block, car, cart, friction, twist_pid, world

ELLIPSE = '<friction class="ellipse"/>'
CIRCLE = friction(mu=0.6, c=0.02, rr=0.01).replace(
    "</friction>", "<friction_circle>true</friction_circle></friction>"
)
STEERING = (
    '<controller class="twist_front_steer_pid"><KP>300</KP><KI>90</KI>'
    "<max_torque>500</max_torque></controller>"
)
MECANUM = """<vehicle name="{name}"><dynamics class="mecanum"><chassis mass="20"/>{pid}</dynamics>
  {ground}<init_pose>{pose}</init_pose></vehicle>"""
PID = twist_pid(20, 10, 30)


def vehicles(ideal: bool = False) -> list[str]:
    """Return eleven vehicles of all kinds, and two blocks."""
    kinematic = '<controller class="twist_ideal"/>' if ideal else PID
    return [
        cart("a", "0 0 0", controller=PID),
        car("b", "0 6 20", controller=STEERING),
        MECANUM.format(name="c", pid=PID, ground=friction(mu=0.9, rr=0.01), pose="0 12 10"),
        cart("d", "10 0 90", controller=PID, ground=ELLIPSE),
        block("ahead", "1.3 0.1 5", mass=4, mu=0.3),
        cart("e", "10 6 90", controller=kinematic, ground=CIRCLE),
        car("f", "10 16 0", controller=STEERING, ground=ELLIPSE),
        block("alone", "30 0 0", vel="1 0.3 40", mass=4, mu=0.3),
        cart("g", "20 0 30", vel="1 0.5 20"),
        MECANUM.format(name="h", pid=PID, ground=CIRCLE, pose="20 6 10"),
        cart("i", "20 12 0", controller=PID),
        cart("j", "22 12 180", controller=PID),  # they meet
        cart("k", "20 20 0", controller=PID, ground=ELLIPSE),
    ]


def drive(sim: World) -> None:
    """Command all vehicles that follow twists, each with its own."""
    for n, robot in enumerate(sim.vehicles.values()):
        if "twist" in robot.accepts:
            robot.set_twist(0.5 + 0.02 * n, 0.0, 0.05 * n)


def assert_equal(one: World, other: World) -> None:
    """All numbers of both states are the same to the byte."""
    for name in TABLES:
        a, b = getattr(one.data, name), getattr(other.data, name)
        for field in a.dtype.names:
            x, y = np.ascontiguousarray(a[field]), np.ascontiguousarray(b[field])
            assert x.tobytes() == y.tobytes(), (name, field)
    assert one.data.contacts.contacts.tobytes() == other.data.contacts.contacts.tobytes()
    assert one.ticks == other.ticks


def count_tiles(sim: World) -> int:
    """Return in how many tiles a world is stepped."""
    return len(sim._runtime.tiles.of(sim.model, sim._runtime, sim.data))


@pytest.mark.parametrize("ideal", [False, True])
@pytest.mark.parametrize("size", [1, 3, 4])
@pytest.mark.parametrize("cores", [1, 3])
def test_tiles_equal_the_whole(
    monkeypatch: pytest.MonkeyPatch, cores: int, size: int, ideal: bool
) -> None:
    """While vehicles come, go, touch and are restored; on any number of cores."""
    monkeypatch.setattr(threads, "usable_cores", lambda: cores)
    monkeypatch.setattr(solve, "MANY", 4)
    text = world(*vehicles(ideal))
    worlds = [load_world(text=text) for _ in range(2)]
    worlds[1]._runtime.tiles.size = size
    assert count_tiles(worlds[0]) == 1
    assert count_tiles(worlds[1]) == -(-11 // size)
    for sim in worlds:
        drive(sim)
        sim.run(0.3)
        sim.remove("c")  # its rows are free: the next one has other numbers of wheels
        sim.add_vehicle(cart("l", controller=PID, ground=ELLIPSE), pose=(0.0, 12.0, 0.5))
        drive(sim)
        sim.run(0.2)
        kept = sim.state()
        sim.run(0.3)
        sim.restore(kept)
        sim.remove("a")
        sim.run(0.3)
    assert len(worlds[0].data.contacts.contacts) > 0
    assert_equal(*worlds)


@pytest.mark.parametrize(
    "part",
    [
        '<joint type="weld" body_a="a" body_b="ahead"/>',
        '<joint type="revolute" body_a="a" body_b="ahead" anchor_a="0.6 0" anchor_b="-0.6 0"'
        ' kp="40" kd="20" target_angle_deg="50"/>',
        '<element class="property_region"><property_name>friction_mu</property_name>'
        "<value_double>0.1</value_double><x_min>-9</x_min><x_max>4</x_max><y_min>-9</y_min>"
        "<y_max>4</y_max></element>",
    ],
)
def test_what_connects_rows_is_stepped_as_a_whole(part: str) -> None:
    worlds = [load_world(text=world(*vehicles(), part)) for _ in range(2)]
    worlds[1]._runtime.tiles.size = 2
    assert count_tiles(worlds[1]) == 1
    for sim in worlds:
        drive(sim)
        sim.run(0.3)
    assert_equal(*worlds)


def test_copies_of_a_batch_are_stepped_in_tiles() -> None:
    sim = load_world(text=world(*vehicles()))
    drive(sim)
    batch = sim.replicate(3)
    batch._compiled = Ticks(5)
    batch.run(0.3)
    assert len(batch._compiled._used) == 9  # 11 vehicles a copy
    assert len(batch._compiled._groups) == 3
    sim.run(0.3)
    for copy in batch:
        for name in ("a", "d", "f", "k"):
            got, want = copy.vehicles[name], sim.vehicles[name]
            assert (got.pose, got.twist, got.odometry) == (want.pose, want.twist, want.odometry)


@pytest.mark.parametrize("count", [0, 1, 3])
def test_vehicles_of_several_tiles_meet(count: int) -> None:
    """Those of a world, and of each copy, whose runs are equal to single steps."""
    sims = [load_world(text=world(*vehicles())) for _ in range(2)]
    for sim in sims:
        drive(sim)
    runs = sims[0].replicate(count) if count else sims[0]
    setattr(runs, "_compiled" if count else "_ticks", Ticks(3))
    runs.run(1.5)
    for _ in range(round(1.5 / sims[1].dt)):
        sims[1].step()
    assert any({c.a, c.b} == {"i", "j"} for c in sims[1].contacts)
    for state in [copy.state() for copy in runs] if count else [runs.data]:
        for name in TABLES:
            assert differences(getattr(state, name), getattr(sims[1].data, name), name) == []


@pytest.mark.parametrize("cores", [1, 3])
def test_first_vehicle_with_a_fault_is_named(monkeypatch: pytest.MonkeyPatch, cores: int) -> None:
    """Whichever thread finds one first."""
    monkeypatch.setattr(threads, "usable_cores", lambda: cores)
    for name in ("d", "i"):
        sim = load_world(text=world(*vehicles()))
        sim._runtime.tiles.size = 2
        sim.run(0.1)
        for broken in {name, "j"}:
            sim.data.wheels["omega"][sim.data.entities[broken].wheel0] = np.nan
        with pytest.raises(StepError, match=f"^{name}: "):
            sim.step()


def test_profile_of_tiles_is_the_time_of_the_step() -> None:
    """What threads spend at the same time counts once."""
    sim = load_world(text=world(*vehicles()))
    sim._runtime.tiles.size = 1
    sim.run(0.1)
    sim.clear_profile()
    begin = perf_counter()
    sim.run(0.1)
    spent = perf_counter() - begin
    assert 0.0 < sum(sim.profile.values()) <= spent
    assert min(sim.profile[phase] for phase in ("commands", "controllers", "friction")) > 0.0
