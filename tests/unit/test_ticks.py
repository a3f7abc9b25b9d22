# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`World.run` makes many steps in one compiled call; all is equal to the byte to single steps."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core import StepError, World, load_world
from mvsim_core.world import ticks
from mvsim_core.world.data import differences
from mvsim_core.world.ticks import Ticks
from tests.physics.worlds import block, car, cart, friction, twist_pid, world

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted((ROOT / "worlds").glob("*.world.xml"))
PID = twist_pid(20, 10, 30)
ELLIPSE = '<friction class="ellipse"/>'
STEERING = (
    '<controller class="twist_front_steer_pid"><KP>300</KP><KI>90</KI>'
    "<max_torque>500</max_torque></controller>"
)
IDEAL = '<controller class="twist_ideal"/>'
MECANUM = f"""<vehicle name="slider"><dynamics class="mecanum"><chassis mass="20"/>{PID}</dynamics>
  {friction(mu=0.9, rr=0.01)}<init_pose>-6 6 10</init_pose></vehicle>"""
ENGINE = f"""<vehicle name="pickup"><dynamics class="ackermann_drivetrain"><chassis mass="800"/>
  {STEERING}<drivetrain type="torsen_4wd"/></dynamics>{ELLIPSE}
  <init_pose>20 0 0</init_pose></vehicle>"""
LIMITED = cart("lame", "0 -9 0", controller=PID, extra='<kinematics class="2WDiffDyn"/>')
LATE = cart("late", "0 -14 0", controller=PID).replace(
    "</dynamics>", '<motor latency="0.042"/></dynamics>'
)
SENSORS = """<sensor class="imu" name="imu"><sensor_period>0.037</sensor_period></sensor>
  <sensor class="wheel_encoders" name="wheels"><sensor_period>0.1</sensor_period></sensor>
  <sensor class="laser" name="laser"><nrays>7</nrays><sensor_period>0.21</sensor_period>
  </sensor>"""
REGION = """<element class="property_region"><property_name>friction_mu</property_name>
  <value_double>0.1</value_double><x_min>1</x_min><x_max>4</x_max><y_min>-9</y_min>
  <y_max>9</y_max></element>"""
KINDS = (
    cart("a", "0 0 0", controller=PID, extra=SENSORS),
    cart("b", "0 4 0", controller=PID, ground=ELLIPSE),
    car("c", "0 12 20", controller=STEERING),
    cart("e", "30 0 0", vel="1 0 20"),
    block("sliding", "40 0 0", vel="1 0.3 40", mass=4, mu=0.3),
    *(MECANUM, ENGINE, LATE, LIMITED),
)


class Pair:
    """The same world twice: one runs, the other makes single steps.

    Attributes:
        count: Steps that each has made.
        singles: Those that the running one made one by one.
    """

    def __init__(self, load: Callable[[], World], patch: pytest.MonkeyPatch) -> None:
        self.runs, self.steps = load(), load()
        self.count = self.singles = 0
        step = World.step

        def counted(sim: World) -> None:
            self.singles += sim is self.runs
            step(sim)

        patch.setattr(World, "step", counted)

    def __iter__(self) -> Iterator[World]:
        return iter((self.runs, self.steps))

    def run(self, count: int) -> None:
        """Advance both by so many steps, and compare them."""
        self.count += count
        self.runs.run(count * self.runs.dt)
        for _ in range(count):
            self.steps.step()
        names = [[sensor.full_name for sensor in sim.new_readings] for sim in self]
        assert names[0] == names[1]
        assert differences(self.runs.data, self.steps.data) == []


@pytest.fixture
def pair_of(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Pair]:
    def make(*things: str, **more: Any) -> Pair:
        return Pair(lambda: load_world(text=world(*things, **more)), monkeypatch)

    return make


def drive(sim: World, seed: int) -> None:
    """Command all vehicles at random."""
    rng = np.random.default_rng(seed)
    for robot in sim.vehicles.values():
        if "twist" in robot.accepts:
            robot.set_twist(rng.uniform(-1, 1), 0.0, rng.uniform(-1, 1))


@pytest.mark.filterwarnings("ignore:.*cannot turn")
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)
def test_shipped_worlds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pair = Pair(lambda: load_world(path), monkeypatch)
    for sim in pair:
        drive(sim, 1)
    count = round(0.35 / pair.runs.dt)
    pair.run(count)
    assert [sim.ticks for sim in pair] == [count, count]


@pytest.mark.filterwarnings("ignore:.*(cannot turn|deep into)")
@pytest.mark.parametrize("seed", range(4))
def test_all_kinds_of_vehicles(pair_of: Callable[..., Pair], seed: int) -> None:
    """With commands, teleports, spawns and restores in between; some of them meet."""
    wall = block("wall", "4 0 30", extra="<static>true</static>")
    kinematic = (cart("d", "0 -4 90", controller=IDEAL),) if seed > 1 else ()
    pair = pair_of(*KINDS, *kinematic, wall, REGION)
    kept = [sim.state() for sim in pair]
    rng = np.random.default_rng(seed)
    for n in range(8):
        count = int(rng.integers(1, 150))
        for sim, state in zip(pair, kept, strict=True):
            sim.command_timeout = 0.1 if n == 2 else None
            drive(sim, 10 * seed + n)
            if n == 3:
                sim.teleport("a", 2.0 + seed, 0.3, 1.0)
            if n == 4:
                sim.add_vehicle(cart("new", "8 -20 0", controller=PID))
            if n == 5:
                sim.weld("b", "c") if seed == 1 else sim.remove("e")
            if n == 6:
                sim.restore(state)
            if n == 7:
                sim.reset(seed)
        pair.run(count)
    assert pair.singles < 0.6 * pair.count


def test_one_robot_alone_is_hardly_stepped(pair_of: Callable[..., Pair]) -> None:
    pair = pair_of(cart(controller=PID))
    for sim in pair:
        sim.vehicles["r1"].set_twist(0.7, 0.0, 0.2)
    pair.run(1500)
    assert pair.singles == 1  # the first one, in which near bodies are looked for


def test_until_a_contact(pair_of: Callable[..., Pair]) -> None:
    """Contacts are solved on the way."""
    pair = pair_of(cart(controller=PID), block("box", "1.6 0.2 0", mass=5, mu=0.4))
    for sim in pair:
        sim.vehicles["r1"].set_twist(0.5)
    pair.run(100)
    assert pair.singles == 1
    touched = False
    for _ in range(40):
        pair.run(10)
        touched = touched or pair.runs.vehicles["r1"].in_collision
    assert touched
    assert pair.singles < 30  # in some steps near bodies are looked for


@pytest.mark.parametrize(("table", "field"), [("bodies", "cvx"), ("wheels", "cmd_torque")])
def test_what_is_not_finite(pair_of: Callable[..., Pair], table: str, field: str) -> None:
    """It is taken out in the same step, or ends the run with the same error."""
    pair = pair_of(cart("a"), cart("b", "0 9 0"))
    pair.run(20)
    for sim in pair:
        sim.on_fault = lambda error: None
        sim.data.__dict__[table][field][0] = np.nan
    pair.run(20)
    assert list(pair.runs.vehicles) == ["b"]
    for sim in pair:
        sim.on_fault = None
        sim.data.__dict__[table][field][1 if table == "bodies" else 2] = np.nan
    with pytest.raises(StepError) as one:
        pair.runs.run(1.0)
    with pytest.raises(StepError) as other:
        pair.steps.step()
    assert str(one.value) == str(other.value)


class Listener:
    """Counts steps."""

    def __init__(self) -> None:
        self.count = 0

    def after_step(self) -> None:
        self.count += 1

    def close(self) -> None:
        pass


PLAIN = cart(controller=PID)
HILL = """<element class="elevation_map"><resolution>30</resolution><elevation_data_matrix>
  [0 1; 0 1]</elevation_data_matrix><corner_min_x>-9</corner_min_x><corner_min_y>-9</corner_min_y>
  </element>"""
PIVOT = """<joint type="revolute" body_a="r1" body_b="b1"><anchor_a>-1 0</anchor_a>
  <anchor_b>1 0</anchor_b></joint>"""
DOOR = block("door", "9 9 0").replace(
    "</block>",
    '<animation type="keyframes"><time_pose>0 9 9 0</time_pose><time_pose>9 9 8 0</time_pose>'
    "</animation></block>",
)
SWEEPING = """<sensor class="lidar3d" name="scan"><vert_nrays>1</vert_nrays>
  <horz_nrays>8</horz_nrays></sensor>"""
LEANING = PLAIN.replace("<chassis", "<weight_transfer>true</weight_transfer><chassis")


@pytest.mark.parametrize(
    "things",
    [
        (PLAIN, HILL),
        (PLAIN, block("b1", "-2 0 0"), PIVOT),
        (PLAIN, DOOR),
        (cart(controller=PID, extra=SWEEPING),),
        (LEANING,),
    ],
    ids=["relief", "joint", "animation", "sweep", "transfer"],
)
def test_worlds_that_need_single_steps(
    pair_of: Callable[..., Pair], things: tuple[str, ...]
) -> None:
    pair = pair_of(*things)
    for sim in pair:
        drive(sim, 0)
    pair.run(60)
    assert pair.singles == 60


def test_who_watches_sees_each_step(pair_of: Callable[..., Pair], tmp_path: Path) -> None:
    pair = pair_of(PLAIN)
    pair.run(10)
    listeners = [Listener() for _ in pair]
    for sim, listener in zip(pair, listeners, strict=True):
        sim.listeners.append(listener)
    pair.run(30)
    assert [listener.count for listener in listeners] == [30, 30]
    for sim, name in zip(pair, "xy", strict=True):
        sim.listeners.clear()
        sim.start_logging(tmp_path / name)
    pair.run(30)
    for sim in pair:
        sim.stop_logging()
    logs = [sorted((tmp_path / name).glob("*")) for name in "xy"]
    assert logs[0]
    assert [p.read_bytes() for p in logs[0]] == [p.read_bytes() for p in logs[1]]
    pair.singles = 0
    pair.run(30)
    assert pair.singles == 0


def test_classes_of_third_parties_are_called(
    pair_of: Callable[..., Pair], monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = pair_of(PLAIN)
    pair.run(10)
    calls = []
    for sim in pair:
        system: Any = sim._runtime.controllers.systems[0]

        class Own(type(system)):  # type: ignore[misc]
            """A controller with an `apply` of its own."""

            def apply(self, *given: Any) -> None:
                calls.append(1)
                super().apply(*given)

        system.__class__ = Own
        sim._ticks = Ticks()
    pair.run(20)
    assert len(calls) == 40


def test_a_call_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that Ctrl-C, and the bar of `progress`, do not wait."""
    sim = load_world(text=world(PLAIN, cart("r2", "0 9 0")))
    sim.run(0.1)
    asked, kernel = [], ticks.ticks_kernel

    def seen(*given: Any) -> Any:
        asked.append(given[-1])
        return kernel(*given)

    monkeypatch.setattr(ticks, "ticks_kernel", seen)
    sim.run(20.0, progress=True)
    assert max(asked) == ticks.MOST // 3
    assert len(asked) >= 20.0 / sim.dt / (ticks.MOST // 3)


def test_addresses_are_not_copied() -> None:
    sim = load_world(text=world(PLAIN))
    sim.run(0.1)
    assert sim._ticks._used
    for other in (deepcopy(sim._ticks), pickle.loads(pickle.dumps(sim._ticks))):
        assert (other._used, other._known, other._tiles.size) == ([], [], ticks.TILE)


def test_the_profile_has_all_time() -> None:
    sim = load_world(text=world(PLAIN))
    sim.run(0.05)
    before = sim.profile
    sim.run(5.0)
    grown = {name: time / before[name] for name, time in sim.profile.items() if before[name]}
    del grown["sensors"]
    assert min(grown.values()) > 1.0
    assert max(grown.values()) == pytest.approx(min(grown.values()), rel=0.5)
