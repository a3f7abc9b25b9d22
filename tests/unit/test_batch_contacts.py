# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Copies in contact beside free ones: each goes through many ticks in one call, by itself.

In one thread and in several, all is equal to the byte to single worlds that make single steps.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
import pytest

import mvsim_core.envs  # noqa: F401 (registers)
from mvsim_core import StepError, World, load_world, threads
from mvsim_core.world import groups, ticks
from mvsim_core.world.batch import Batch
from mvsim_core.world.data import TABLES, differences
from mvsim_core.world.ticks import Ticks
from tests.physics.worlds import block, cart, twist_pid, world
from tests.unit.test_batch_ticks import Phases

PID = twist_pid(20, 10, 30)
COPIES = 8
IMU = """<sensor class="imu" name="imu"><sensor_period>0.035</sensor_period></sensor>"""
THINGS = (
    cart("a", controller=PID, extra=IMU),
    cart("b", "0 3 0", controller=PID, ground='<friction class="ellipse"/>'),
    block("loose", "1.3 0.2 5", mass=4, mu=0.3),
    block("post", "1.4 3.1 30", extra="<static>true</static>"),
)
WELD = (block("load", "-1.2 3 0", mass=2), '<joint type="weld" body_a="b" body_b="load"/>')
TRAILER = (
    block("cart", "-1.6 3 0", mass=2),
    """<joint type="revolute" body_a="b" body_b="cart" anchor_a="-0.8 0" anchor_b="0.8 0"
    kp="4" kd="2" target_angle_deg="20"/>""",
)
HILL = (
    """<element class="elevation_map"><resolution>30</resolution><elevation_data_matrix>
    [0 1; 0 1]</elevation_data_matrix><corner_min_x>-9</corner_min_x>
    <corner_min_y>-9</corner_min_y></element>""",
)
IDEAL = (cart("c", "0 -3 0", controller='<controller class="twist_ideal"/>'),)
MORE = {"plain": (), "weld": WELD, "trailer": TRAILER, "relief": HILL, "kinematic": IDEAL}


@pytest.fixture(params=[1, 3])
def cores(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Let the machine have so many cores, and share out the smallest parts."""
    monkeypatch.setattr(threads, "usable_cores", lambda: request.param)
    monkeypatch.setattr(ticks, "LEAST_TILES", 1)
    return int(request.param)


def batch_of(*more: str, plain: bool = False) -> Batch:
    batch = load_world(text=world(*THINGS, *more), seed=3).replicate(COPIES)
    batch._compiled = Phases() if plain else Ticks(4)  # type: ignore[assignment]
    batch.data.contacts.scratch.by_copy = not plain
    return batch


def drive(copy: Any, k: int, n: int) -> None:
    """Let the first copies stand, and others push ever faster; some turn."""
    for number, robot in enumerate(copy.vehicles.values()):
        robot.set_twist(0.12 * max(0, k - 2), 0.0, 0.1 * ((k + n + number) % 3 - 1))


def touching(batch: Batch) -> list[int]:
    return [copy.index for copy in batch if copy.contacts]


@pytest.mark.parametrize("kind", MORE)
def test_copies_equal_single_worlds_that_step(cores: int, kind: str) -> None:
    text = world(*THINGS, *MORE[kind])
    batch, alone = (
        batch_of(*MORE[kind]),
        [load_world(text=text, seed=3 + k) for k in range(COPIES)],
    )
    older: list[Any] = []
    for n in range(9):
        for k in range(COPIES):
            drive(batch[k], k, n)
            drive(alone[k], k, n)
        if n == 6:
            batch.reset_copies(np.array([COPIES - 1]))
            alone[-1].reset()
        if n == 7:  # it is in contact, and goes back to another contact
            batch[COPIES - 2].restore(older[-2])
            alone[-2].restore(older[-2])
        count = 37 + n
        batch.run(count * batch.dt)
        for sim in alone:
            for _ in range(count):
                sim.step()
        if n == 5:  # phase by phase
            compiled, batch._compiled = batch._compiled, Phases()  # type: ignore[assignment]
            batch.step()
            batch._compiled = compiled
            for sim in alone:
                sim.step()
        states = [copy.state() for copy in batch]
        older = states if n == 4 else older
        for state, copy, sim in zip(states, batch, alone, strict=True):
            for name in TABLES:
                assert differences(getattr(state, name), getattr(sim.data, name), name) == []
            assert differences(state.sensors, sim.data.sensors, "sensors") == []
            assert copy.contacts == sim.contacts
            assert state.ticks == sim.ticks
    assert 0 < len(touching(batch)) < COPIES
    assert kind != "plain" or len(batch._compiled._used) == COPIES // 2


def test_one_copy_in_contact_does_not_stop_the_others() -> None:
    batch = batch_of()
    for copy in batch:
        copy.data.sensors.clear()
    batch._sets.clear()
    for copy in batch:
        copy.vehicles["a"].set_twist(0.9 if copy.index == 5 else 0.0)
    batch.run(1.0)
    assert touching(batch) == [5]
    before = batch[5].vehicles["a"].pose.x
    assert batch.advance(200) == 200
    assert touching(batch) == [5]
    assert batch[5].vehicles["a"].pose.x > before + 0.1  # it pushed all the time


def test_a_world_in_contact_goes_on_in_one_call() -> None:
    sims = [load_world(text=world(*THINGS)) for _ in range(2)]
    for sim in sims:
        sim.remove_sensors()
        sim.vehicles["a"].set_twist(0.9)
    sims[0].run(1.0)
    assert sims[0].contacts
    assert sims[0]._advance(100) == 100
    for _ in range(round(1.0 / sims[1].dt) + 100):
        sims[1].step()
    assert differences(sims[0].data, sims[1].data) == []


def test_contacts_are_the_same_whenever_they_are_read(cores: int) -> None:
    """Groups of copies keep them until then, beyond steps, resets and copies of the state."""
    batches = [batch_of() for _ in range(2)]
    found: list[list[Any]] = [[], []]
    for n in range(12):
        for k, batch in enumerate(batches):
            for number, copy in enumerate(batch):
                drive(copy, number, n)
            batch.run(0.1)
            if n == 7:
                batch.reset_copies(np.array([COPIES - 1]))
            if n == 9:
                batch.step()
            if k == 0:
                found[0].append(batch.data.contacts.contacts.tobytes())
            elif n in (4, 11):
                found[1].append(deepcopy(batch.data).contacts.contacts.tobytes())
    assert [found[0][4], found[0][11]] == found[1]
    assert len(found[1][1]) > 0
    assert differences(batches[0].data, batches[1].data) == []


def test_a_state_that_is_left_keeps_its_contacts() -> None:
    """The world goes on with another state, and in other contacts, before they are read."""
    sims = [load_world(text=world(*THINGS)) for _ in range(2)]
    kept = []
    for k, sim in enumerate(sims):
        sim.remove_sensors()
        start = sim.state()
        sim.vehicles["a"].set_twist(0.9)
        sim.vehicles["b"].set_twist(0.0)
        sim.run(1.0)
        contacts = sim.data.contacts
        kept.append(contacts.contacts.tobytes() if k == 0 else contacts)
        sim.restore(start)
        sim.vehicles["b"].set_twist(0.9)
        sim.run(1.0)
    assert len(kept[0]) > 0
    assert kept[1].contacts.tobytes() == kept[0]
    assert sims[0].contacts == sims[1].contacts != []


def test_what_touches_between_is_noted(cores: int) -> None:
    """A block that bounces is touched no longer when the call ends."""
    things = (
        block("ball", "0 0 0", "3 0 0", mass=1, restitution=0.9),
        block("post", "1.2 0 0", extra="<static>true</static>"),
        cart("a", "0 5 0"),
    )
    batches = []
    for plain in (False, True):
        batch = load_world(text=world(*things)).replicate(COPIES)
        batch._compiled = Phases() if plain else Ticks(2)  # type: ignore[assignment]
        batch.data.contacts.scratch.by_copy = not plain
        batch.place(["ball"], np.array([3]), np.array([[[-6.0, 0.0, 0.0]]]))
        for _ in range(4):
            batch.step()
        batches.append(batch)
    assert batches[0].advance(60) == 60
    met = np.zeros_like(batches[0].met)
    for _ in range(60):
        batches[1].step()
        met |= batches[1].data.bodies["touching"] != 0
    assert batches[0].met.tolist() == met.tolist()
    assert met.reshape(COPIES, -1).any(axis=1).tolist() == [k != 3 for k in range(COPIES)]
    assert not (batches[0].data.bodies["touching"] != 0).any()
    batches[0].advance(2)
    assert not batches[0].met.any()


def test_room_for_what_is_near_and_touches_grows(
    cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(groups, "NEAR_EACH", 0)
    monkeypatch.setattr(groups, "PAIRS", 0)
    monkeypatch.setattr(groups, "GRIPS", 0)
    grown, make_room = [], Ticks._make_room

    def counted(self: Ticks, t: int, data: Any) -> None:
        grown.append(int(self._states[t, ticks.STATUS]))
        make_room(self, t, data)

    monkeypatch.setattr(Ticks, "_make_room", counted)
    batches = [batch_of(plain=plain) for plain in (False, True)]
    for n in range(8):
        for batch in batches:
            for k, copy in enumerate(batch):
                drive(copy, k, n)
            batch.run(0.2)
    for name in TABLES:
        one, other = (getattr(batch.data, name) for batch in batches)
        assert differences(one, other, name) == []
    one, other = (batch.data.contacts.contacts for batch in batches)
    assert one.tobytes() == other.tobytes()
    assert set(grown) == {ticks.NEAR_FULL, ticks.KEYS_FULL, 4}


@pytest.mark.parametrize(
    "broken",
    [[("bodies", "cvx", 2, "b")], [("bodies", "wz", 0, "a"), ("wheels", "omega", 7, "b")]],
    ids=["body", "body and wheel"],
)
def test_what_is_not_finite_is_named(cores: int, broken: list[tuple[str, str, int, str]]) -> None:
    texts = []
    for plain in (False, True):
        batch = batch_of(plain=plain)
        batch.run(0.05)
        for table, field, copy, name in broken:
            entity = batch[copy].data.entities[name]
            row = entity.row if table == "bodies" else entity.wheel0
            getattr(batch.data, table)[field][row] = np.nan
        with pytest.raises(StepError, match="is nan in tick 11") as found:
            batch.run(0.2)
        texts.append(str(found.value))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("skip", [1, 20])
def test_environments_on_several_cores(skip: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Observations, rewards and ends are the same to the byte, resets in between."""
    monkeypatch.setattr(ticks, "LEAST_TILES", 1)
    results = []
    for count in (1, 4):
        monkeypatch.setattr(threads, "usable_cores", lambda count=count: count)
        envs = gymnasium.make_vec(
            "mvsim/Navigation-v0", 30, rays=0, obstacles=6, frame_skip=skip, max_episode_steps=40
        )
        envs.unwrapped.core.agents.batch._compiled = Ticks(4)
        seen, rng = [envs.reset(seed=5)[0].tobytes()], np.random.default_rng(0)
        hits = 0
        for _ in range(100):
            actions = rng.uniform(-1.0, 1.0, (30, 2)).astype(np.float32)
            *found, infos = envs.step(actions)
            hits += int(infos["collision"].sum())
            seen += [part.tobytes() for part in (*found, *infos.values())]
        assert skip == 1 or hits > 0
        results.append(seen)
    assert results[0] == results[1]


def test_a_single_world_is_one_tile() -> None:
    sim: World = load_world(text=world(*THINGS))
    sim.run(0.2)
    assert len(sim._ticks._used) == 1
