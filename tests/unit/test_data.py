# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Everything that changes is in Data, and a snapshot holds all of Data."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mvsim_core import UnknownName, World, load_world
from mvsim_core.state.arrays import BODY, GAINS
from mvsim_core.state.indices import Indices, ParameterTable
from mvsim_core.state.tables import SharedTable, Table
from mvsim_core.world.data import TABLES, Data, differences
from tests.physics.worlds import block, cart, twist_pid, world

SENSORS = """<sensor class="laser" name="eye"><nrays>16</nrays><sensor_period>0.02</sensor_period>
  </sensor><sensor class="imu" name="imu"><sensor_period>0.01</sensor_period></sensor>"""
JOINTS = """<joint type="revolute" name="elbow" body_a="b" body_b="c" anchor_a="0.6 0"
  anchor_b="-0.6 0"><kp>5</kp><kd>1</kd></joint><joint type="weld" body_a="d" body_b="e"/>"""
TEXT = world(
    cart(controller=twist_pid(60, 30, 80), extra=SENSORS),
    *(block(name, f"{2 + 1.2 * k} 0 0") for k, name in enumerate("bcde")),
    JOINTS,
)


def running() -> World:
    made = load_world(text=TEXT, seed=5)
    made.vehicles["r1"].set_twist(0.8, 0.0, 0.1)
    made.run(1.0)
    return made


def attributes(value: Any, path: str = "") -> Iterator[str]:
    """Yield the paths of all attributes of a state, two levels deep."""
    for name in vars(value):
        yield f"{path}{name}"
        if not path and hasattr(getattr(value, name), "__dict__"):
            yield from attributes(getattr(value, name), f"{name}.")


PATHS = sorted(attributes(load_world(text=TEXT).data))


def at(data: Data, path: str) -> Any:
    for name in path.split("."):
        data = getattr(data, name)
    return data


@pytest.mark.parametrize("path", PATHS)
def test_a_snapshot_holds_each_attribute(path: str) -> None:
    """It keeps its value while the world goes on, and the world gets it back."""
    made = running()
    snapshot = made.state()
    before = pickle.dumps(snapshot)
    made.run(0.5)
    made.add_vehicle(cart("new", "0 5 0"))
    made.remove("e")
    made.weld("b", "c")
    assert differences(at(pickle.loads(before), path), at(snapshot, path), path) == []
    made.restore(snapshot)
    if path != "contacts.scratch":  # work memory of the solver, no number that counts
        assert differences(at(made.data, path), at(snapshot, path), path) == []
        value = at(made.data, path)
        if isinstance(value, np.ndarray | list | dict) and len(value):
            assert value is not at(snapshot, path)


def test_a_field_that_is_added_later_is_in_the_snapshot() -> None:
    made = running()
    made.data.later = {"numbers": np.arange(3.0)}  # type: ignore[attr-defined]
    snapshot = made.state()
    made.data.later["numbers"] += 1.0  # type: ignore[attr-defined]
    assert "data.later.numbers" in differences(snapshot, made.data)[-1]
    made.restore(snapshot)
    assert made.data.later["numbers"].tolist() == [0.0, 1.0, 2.0]  # type: ignore[attr-defined]


def test_each_field_of_the_tables_counts_in_a_comparison() -> None:
    made = running()
    for name in TABLES:
        rows = getattr(made.data, name)
        for field in rows.dtype.names if len(rows) else ():
            other = made.state()
            changed = getattr(other, name)[field]
            changed[0] = np.nan_to_num(changed[0], posinf=0) + 1
            found = differences(made.data, other)
            assert found, f"{name}.{field}"
            assert f".{field}[0]" in found[0]


def test_states_cross_process_borders(tmp_path: Path) -> None:
    made = running()
    again = pickle.loads(pickle.dumps(made.state()))
    assert again == made.data
    other = load_world(text=TEXT, seed=1)
    other.restore(again)
    for it in (made, other):
        it.run(0.3)
    assert differences(made.data, other.data) == []


def test_handles_say_why_they_are_invalid() -> None:
    made = running()
    robot, laser = made.vehicles["r1"], made.vehicles["r1"].sensors["eye"]
    wheel, pivot, other = robot.wheels[0], made.pivots["elbow"], load_world(text=TEXT)
    made.remove("r1")
    made.remove("b")
    for use in (
        lambda: robot.pose,
        lambda: robot.set_twist(1.0),
        lambda: robot.teleport(0, 0, 0),
        lambda: wheel.omega,
        lambda: made.weld(robot, "d"),
    ):
        with pytest.raises(UnknownName, match="vehicle 'r1' was removed at 1 s"):
            use()
    with pytest.raises(UnknownName, match="sensor 'r1/eye' was removed with its vehicle"):
        _ = laser.last
    with pytest.raises(UnknownName, match="pivot 'elbow' one of its bodies is gone"):
        _ = pivot.angle
    with pytest.raises(UnknownName, match="vehicle 'r1' belongs to another world"):
        other.remove(robot)
    made.add_vehicle(cart("r1", "0 7 0"))
    assert not robot.valid  # another one of the same name
    made.reset()
    assert robot.valid
    assert laser.last is None
    assert robot.pose.y == 0.0


def test_a_spawned_vehicle_is_gone_after_a_reset() -> None:
    made = running()
    new = made.add_vehicle(cart("new", "0 5 0"))
    made.reset()
    with pytest.raises(UnknownName, match="vehicle 'new' is not in the state that was restored"):
        _ = new.pose


def test_reset_undoes_what_a_spawn_left_in_the_file_state() -> None:
    text = world('<vehicle:class name="kind"><dynamics class="differential"/></vehicle:class>')
    made = load_world(text=text)
    spawn = '<vehicle class="kind"><init_pose>$f{rand()} 0 0</init_pose></vehicle>'
    first = [made.add_vehicle(spawn).pose.x for _ in range(3)]
    names = list(made.vehicles)
    more = '<vehicle:class name="more"><dynamics class="differential"/></vehicle:class>'
    place = "<init_pose>0 9 0</init_pose>"
    made.add_vehicle(f'{more}<vehicle class="more" name="x">{place}</vehicle>')
    made.reset()
    assert [made.add_vehicle(spawn).pose.x for _ in range(3)] == first
    assert list(made.vehicles) == names


# ---------------------------------------------------------------- tables
def test_rows_keep_their_place_and_free_ones_are_used_again() -> None:
    table = Table(BODY, {"kind": -1})
    rows = np.zeros(3, BODY)
    rows["x"] = 1.0, 2.0, 3.0
    first, second = table.add(rows), table.add(rows[:2])
    assert (first, second, len(table)) == (0, 3, 5)
    table.remove(first, 3)
    assert table.rows["kind"][:3].tolist() == [-1, -1, -1]
    assert table.rows["x"].tolist() == [0.0, 0.0, 0.0, 1.0, 2.0]
    assert table.add(rows[:2]) == 5  # a block of another size
    assert table.add(rows) == 0
    copy = pickle.loads(pickle.dumps(table))
    copy.rows["x"][0] = 9.0
    assert table.rows["x"][0] == 1.0
    assert copy.add(rows[:1]) == table.add(rows[:1]) == 7


def test_equal_rows_of_parameters_are_one_row_while_they_have_users() -> None:
    table = SharedTable(GAINS)
    rows = [np.zeros(1, GAINS) for _ in range(3)]
    for row, kp in zip(rows, (1.0, 2.0, 1.0), strict=True):
        row["kp"] = kp
    assert table.add_all([rows[0], np.zeros(0, GAINS), rows[1], rows[2]]) == [0, 0, 1, 0]
    assert table.rows["kp"].tolist() == [1.0, 2.0]
    table.remove(0)
    assert table.rows["kp"].tolist() == [1.0, 2.0]  # still one user
    copy = pickle.loads(pickle.dumps(table))
    for one in (table, copy):
        one.remove(0)
        assert one.rows["kp"].tolist() == [0.0, 2.0]
        assert one.add(rows[1]) == 1
        rows[1]["kp"] = 3.0
        assert one.add(rows[1]) == 0  # the free one
        rows[1]["kp"] = 2.0


def test_vehicles_share_gains_only_with_their_like() -> None:
    """However they come and go."""
    stiff, soft = (twist_pid(kp, 10, 30) for kp in (20, 5))
    sim = load_world(text=world(cart("a", "0 0 0", controller=stiff)))
    for name, controller in (("b", soft), ("c", stiff), ("d", soft)):
        sim.add_vehicle(cart(name, f"0 {3 * (ord(name) - 96)} 0", controller=controller))
    kept = sim.state()

    def gains() -> dict[str, float]:
        data = sim.data
        rows = {e.name: data.pids["gains"][e.pid0] for e in data.entities.values()}
        return {name: float(data.gains["kp"][row]) for name, row in rows.items()}

    assert gains() == {"a": 20.0, "b": 5.0, "c": 20.0, "d": 5.0}
    assert len(sim.data.gains) == 2
    for name in ("b", "d"):
        sim.remove(name)
    sim.add_vehicle(cart("e", "0 20 0", controller=twist_pid(7, 10, 30)))
    assert gains() == {"a": 20.0, "c": 20.0, "e": 7.0}
    assert len(sim.data.gains) == 2
    sim.restore(kept)
    assert gains() == {"a": 20.0, "b": 5.0, "c": 20.0, "d": 5.0}


def test_indices_are_a_set_with_constant_cost_and_parameters_follow() -> None:
    rng = np.random.default_rng(0)
    indices, table, known = Indices(), ParameterTable(np.dtype([("p", "f8")])), set()
    for _ in range(2000):
        index = int(rng.integers(0, 60))
        if index in known:
            known.discard(index)
            indices.discard(index)
            table.discard(index)
        else:
            known.add(index)
            indices.add(index)
            table.add_with([index], (float(index),))
        assert len(indices) == len(known)
        assert (index in indices) == (index in known)
    assert set(indices.ids.tolist()) == known
    assert table.params["p"].tolist() == table.ids.tolist()
    indices.discard(1000)
    assert set(indices.ids.tolist()) == known
