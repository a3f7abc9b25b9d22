# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What clients may make the simulation read, and what it answers; without a node."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from mvsim_core import BuildError, Pose, Problem, load_world
from mvsim_ros2.parameters.settings import settings_from
from mvsim_ros2.simulation.resources import vehicle_source
from mvsim_ros2.simulation.result_codes import RequestError
from mvsim_ros2.simulation.simulation import Simulation
from mvsim_ros2.simulation.spawning import SpawnRequest
from mvsim_ros2.simulation.trust import Trust, public_text
from mvsim_ros2.simulation.worlds import available_worlds, spawnables
from tests.ros.worlds import COURIER, load_into, one_robot

SECRET = "AAAAsecret"
OUTSIDE = "outside the folders that a message may name \\(see the parameter resource_paths\\)"


@pytest.fixture
def others(tmp_path: Path) -> Path:
    """A folder beside that of the world, with a world, a vehicle class and other files."""
    folder = tmp_path / "others"
    folder.mkdir()
    (folder / "other.world.xml").write_text("<mvsim_world/>")
    (folder / "courier.vehicle.xml").write_text(COURIER.format(sensors=""))
    (folder / "broken.vehicle.xml").write_text(f"<vehicle><mass>{SECRET}</mass></vehicle>")
    (folder / "broken.world.xml").write_text(f"<mvsim_world><gravity>{SECRET}</gravity>")
    (folder / "map.yaml").write_text(f"image: [{SECRET}\n")
    (folder / "key").write_text(SECRET)
    return folder


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    folder = tmp_path / "worlds"
    folder.mkdir()
    return Simulation(load_world(one_robot(folder)))


def trusting(simulation: Simulation, others: Path) -> Simulation:
    """Return a simulation whose clients may name files of another folder too."""
    return Simulation(simulation.world, trust=Trust([others]))


def spawn(simulation: Simulation, uri: str = "", text: str = "", name: str = "x") -> str:
    source = vehicle_source(simulation.world, uri, text, simulation.trust)
    return simulation.spawn(SpawnRequest(source=source, name=name, pose=Pose(1.0, 1.0)))


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(RequestError) as error:
        call()
    assert SECRET not in str(error.value)
    return str(error.value)


def test_files_off_the_list_are_refused_by_the_name_of_the_parameter(
    simulation: Simulation, others: Path
) -> None:
    calls = (
        lambda uri: load_into(simulation, uri, ""),
        lambda uri: spawn(simulation, uri),
        lambda uri: spawnables([uri], simulation.trust),
        lambda uri: available_worlds("", [uri], simulation.trust, continue_on_error=False),
        lambda uri: load_into(
            simulation, "", f"<mvsim_world><include file='{uri}'/></mvsim_world>"
        ),
        lambda uri: spawn(simulation, text=f"<include file='{uri}'/>"),
    )
    for call in calls:
        for path in (others / "other.world.xml", others / "none.xml", others / "../others/key"):
            with pytest.raises(RequestError, match=OUTSIDE):
                call(str(path))
    found = available_worlds("", [str(others)], simulation.trust, continue_on_error=True)
    assert others / "other.world.xml" not in found


def test_files_on_the_list_are_the_user_s_own(
    simulation: Simulation, others: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MVSIM_TEST_GRAVITY", "1.5")
    (others / "moon.world.xml").write_text(
        "<mvsim_world><gravity>$env{MVSIM_TEST_GRAVITY}</gravity></mvsim_world>"
    )
    simulation = trusting(simulation, others)
    assert spawn(simulation, str(others / "courier.vehicle.xml")) == "x"
    names = [uri for uri, _ in spawnables([str(others)], simulation.trust)[0]]
    assert names == [f"{others}/courier.vehicle.xml#courier"]
    load_into(simulation, str(others / "moon.world.xml"), "")
    assert simulation.world.spec.gravity == 1.5
    # The world that the node was started with can be loaded again.
    load_into(simulation, str(others.parent / "worlds" / "test.world.xml"), "")


def test_answers_quote_no_file(simulation: Simulation, others: Path) -> None:
    simulation = trusting(simulation, others)
    grid = f"<element class='occupancy_grid'><file>{others}/map.yaml</file></element>"
    answers = [
        refusal(lambda: spawn(simulation, str(others / "broken.vehicle.xml"))),
        refusal(lambda: spawn(simulation, text=f"<include file='{others}/broken.vehicle.xml'/>")),
        refusal(lambda: load_into(simulation, str(others / "broken.world.xml"), "")),
    ]
    assert all("`mvsim check` shows why" in answer for answer in answers)
    answer = refusal(lambda: load_into(simulation, "", f"<mvsim_world>{grid}</mvsim_world>"))
    assert answer == "line 1: <element>: a file that it names cannot be used as it is"
    for call in (partial(load_into, simulation), lambda uri, text: spawn(simulation, uri)):
        assert "only MVSim's own XML" in refusal(lambda call=call: call(str(others / "key"), ""))
    own = refusal(
        lambda: load_into(simulation, "", "<mvsim_world><gravity>x</gravity></mvsim_world>")
    )
    assert "gravity" in own  # his own text may be quoted
    assert "got 'x'" in own


def test_a_bug_quotes_nothing(simulation: Simulation, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr("mvsim_ros2.simulation.worlds.load_world", fail)
    assert "KeyError" in refusal(lambda: load_into(simulation, "", "<mvsim_world/>"))
    monkeypatch.setattr("mvsim_ros2.simulation.spawning.read_vehicle", fail)
    assert "KeyError" in refusal(lambda: spawn(simulation, "courier"))


def test_what_an_answer_says_of_problems() -> None:
    own = Problem(file="", line=3, element="wheel", message="mass must be > 0, got '-1'")
    assert public_text(BuildError(own)) == "line 3: <wheel>: mass must be > 0, got '-1'"
    assert SECRET not in public_text(BuildError(SECRET))


def test_resource_paths_are_a_text_or_a_list() -> None:
    for value in ("/a:/b", ["/a", "/b"]):
        assert settings_from({"resource_paths": value}).resource_folders == ("/a", "/b")
    assert settings_from({}).resource_folders == ()
