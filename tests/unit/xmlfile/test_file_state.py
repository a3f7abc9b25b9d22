# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The state that reading leaves for later texts: a value that is passed on, copied and stored."""

import copy
import pickle
from dataclasses import fields, replace
from pathlib import Path

import pytest

from mvsim_core.errors import WorldFileError
from mvsim_core.geometry.poses import Pose
from mvsim_core.xmlfile import FileState, read_vehicle, read_world, read_world_file
from tests.unit.xmlfile.reading import DIFFERENTIAL, ORIGIN

SUBSTITUTION = "mvsim_core.xmlfile.substitution"
NOISY = f'<vehicle:class name="c">{DIFFERENTIAL}<log_path>$f{{rand()}}</log_path></vehicle:class>'
SPAWN = f'<vehicle class="c">{ORIGIN}</vehicle>'


def state_of(body: str, **options: object) -> FileState:
    return read_world_file(text=f"<mvsim_world>{body}</mvsim_world>", **options).state  # type: ignore[arg-type]


def test_a_vehicle_for_a_world() -> None:
    state = state_of(
        f'<variable name="X" value="3"/><vehicle:class name="c">{DIFFERENTIAL}'
        "<log_path>${NAME}</log_path></vehicle:class>"
    )
    assert (state.class_names(), state.class_names("block")) == (("c",), ())
    text = '<vehicle class="c"><init_pose>${X} 0 0</init_pose></vehicle>'
    made, found, state = read_vehicle(text, state, name="late", pose=Pose(y=1.0))
    assert found == ()
    assert (made.name, made.log_path, made.init_pose) == ("late", "late", Pose(y=1.0))
    made, _, state = read_vehicle(text, state)
    assert (made.name, made.init_pose.x) == ("veh1", 3)


def test_names_continue_those_of_the_file_and_earlier_texts() -> None:
    state = state_of(NOISY + 2 * SPAWN)
    names = []
    for taken in ((), {"veh4", "veh5"}, {"veh4"}):
        vehicle, _, state = read_vehicle(SPAWN, state, taken=taken)
        names.append(vehicle.name)
    assert names == ["veh3", "veh6", "veh7"]


def test_texts_read_later_equal_those_at_the_end_of_the_file() -> None:
    """Classes, variables and random numbers go on as if the texts were part of the file."""
    texts = [
        SPAWN,
        f'<variable name="Y" value="$f{{rand()}}"/><vehicle class="c">{ORIGIN}</vehicle>',
        f'<vehicle:class name="d">{DIFFERENTIAL}<log_path>${{Y}}</log_path></vehicle:class>'
        '<vehicle class="d"><init_pose>${Y} 0 0</init_pose></vehicle>',
        f'<vehicle class="d">{ORIGIN}</vehicle>',
    ]
    whole, _ = read_world(text=f"<mvsim_world>{NOISY}{''.join(texts)}</mvsim_world>", seed=5)
    state = state_of(NOISY, seed=5)
    later = []
    for text in texts:
        vehicle, _, state = read_vehicle(text, state)
        later.append(vehicle)
    assert tuple(later) == whole.vehicles
    assert len({vehicle.log_path for vehicle in later}) == 3


def test_reading_changes_neither_the_state_nor_the_spec() -> None:
    spec, _, state = read_world_file(text=f"<mvsim_world>{NOISY}</mvsim_world>")
    before = pickle.dumps((spec, state))
    text = f'<vehicle:class name="d">{DIFFERENTIAL}</vehicle:class><variable name="V" value="1"/>'
    first, _, after = read_vehicle(text + SPAWN, state)
    assert pickle.dumps((spec, state)) == before
    assert (after.class_names(), state.class_names()) == (("c", "d"), ("c",))
    assert (state.variables, after.variables["V"][1]) == ({}, ("1",))
    again, _, same = read_vehicle(text + SPAWN, state)
    assert again == first
    assert same == after


def test_a_text_with_errors_leaves_the_state_usable() -> None:
    state = state_of(NOISY)
    expected = read_vehicle(SPAWN, state)[0]
    with pytest.raises(WorldFileError):
        read_vehicle('<variable name="V" value="$f{rand()}"/><vehicle class="no"/>', state)
    assert read_vehicle(SPAWN, state)[0] == expected


@pytest.mark.parametrize("field", [field.name for field in fields(FileState)])
def test_states_differ_by_each_field(field: str) -> None:
    state = state_of(NOISY, variables={"A": "1"})
    others = {
        "origin": replace(state.origin, file="other"),
        "classes": {**state.classes, "vehicle:class": {}},
        "variables": {},
        "version": 99,
        "fixed": frozenset(),
        "counts": {"vehicle": 7},
        "random": state_of(NOISY, seed=1).random,
        "allow_shell": True,
    }
    assert replace(state, **{field: others[field]}) != state


def test_a_state_survives_pickling(folder: Path) -> None:
    file = folder / "w.world.xml"
    file.write_text(
        '<mvsim_world><include file="defs/rover.vehicle.xml" rate="${R|7}"/>'
        f"{NOISY}{SPAWN}</mvsim_world>"
    )
    state = read_world_file(file, variables={"R": 5}).state
    back = pickle.loads(pickle.dumps(state))
    assert back == state
    text = f'<vehicle class="rover">{ORIGIN}</vehicle>'
    for one in (text, SPAWN):
        assert read_vehicle(one, back)[0] == read_vehicle(one, state)[0]
    assert read_vehicle(text, back)[0].sensors[0].period == 0.2
    assert copy.deepcopy(state) is state


def test_a_deeply_nested_class_can_be_pickled() -> None:
    depth = 90
    nested = "".join(f"<a{i}>" for i in range(depth)) + "".join(
        f"</a{i}>" for i in reversed(range(depth))
    )
    state = state_of(f'<vehicle:class name="c">{DIFFERENTIAL}{nested}</vehicle:class>')
    assert pickle.loads(pickle.dumps(state)) == state


def test_loops_leave_no_history() -> None:
    """Only the values that a class refers to are kept, not one for each turn."""
    loop = '<for var="i" from="1" to="500"><variable name="v" value="${i}"/></for>'
    state = state_of(loop + NOISY + loop)
    kept = {name: texts for name, (_, texts) in state.variables.items()}
    assert kept == {"i": ("500", "500"), "v": ("500", "500")}
    assert state_of(loop).variables["v"][1] == ("500",)


def test_an_included_class_keeps_the_values_of_its_place(folder: Path) -> None:
    (folder / "c.xml").write_text(
        f'<vehicle:class name="c">{DIFFERENTIAL}<log_path>${{v}}</log_path></vehicle:class>'
    )
    file = folder / "w.world.xml"
    file.write_text(
        '<mvsim_world><variable name="v" value="early"/><include file="c.xml"/>'
        '<variable name="v" value="late"/></mvsim_world>'
    )
    state = read_world_file(file).state
    for _ in range(3):
        text = f'<variable name="v" value="now"/>{SPAWN}'
        vehicle, _, state = read_vehicle(text, state)
        assert vehicle.log_path == "early"
    assert state.variables["v"][1] == ("early", "now")


# Limits hold for each text


def test_the_limit_on_substitutions_holds_for_each_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{SUBSTITUTION}.MAX_STEPS", 50)
    state = state_of(f'<vehicle:class name="c">{DIFFERENTIAL}</vehicle:class>')
    ten = f'<vehicle class="c" name="{10 * "${X|a}"}">{ORIGIN}</vehicle>'
    for _ in range(20):  # 200 substitutions in all
        vehicle, _, state = read_vehicle(ten, state)
        assert vehicle.name == 10 * "a"
    spec, _ = read_world(text=f"<mvsim_world>{NOISY}{ten}</mvsim_world>")
    assert len(spec.vehicles) == 1
    with pytest.raises(WorldFileError, match="more than 50 substitutions in one file"):
        read_vehicle(f'<vehicle class="c" name="{51 * "${X|a}"}">{ORIGIN}</vehicle>', state)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "<vehicle class='d'/>",
            "line 1: <vehicle>: unknown vehicle class 'd'; the file defines none",
        ),
        ("<block/>", "line 1: <block>: expected <vehicle>, got <block>"),
        ("", "expected one <vehicle>, got 0"),
        ("<vehicle", "line 1: <vehicle>: the file ends inside this tag"),
    ],
)
def test_not_a_vehicle(text: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        read_vehicle(text)
    assert str(caught.value) == message
