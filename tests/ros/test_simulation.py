# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The simulation behind the services, without ROS."""

import gc
import math
import re
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import Pose, World, load_world
from mvsim_core.bags import topic_names
from mvsim_core.bags.topic_names import VehicleTopicNames
from mvsim_core.errors import LogError
from mvsim_core.world import request_queue
from mvsim_core.world.request_queue import RequestQueue
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.runtime.background import in_background
from mvsim_ros2.simulation import (
    entities,
    result_codes,
    sim_state,
    spawning,
    worlds,
)
from mvsim_ros2.simulation.entities import find_entity
from mvsim_ros2.simulation.resources import vehicle_source
from mvsim_ros2.simulation.result_codes import NAME_INVALID, NAMESPACE_INVALID, RequestError
from mvsim_ros2.simulation.sim_state import PAUSED, PLAYING, SimState, StepRequest
from mvsim_ros2.simulation.simulation import Simulation
from mvsim_ros2.simulation.spawning import SpawnRequest, choose_name
from mvsim_ros2.simulation.stamp_clock import StampClock, WallStampClock
from tests.ros.worlds import COURIER, load_into, one_robot


@pytest.fixture
def world(tmp_path: Path) -> World:
    return load_world(one_robot(tmp_path))


@pytest.fixture
def simulation(world: World) -> Simulation:
    return Simulation(world)


def test_codes_are_those_of_the_interface() -> None:
    pytest.importorskip("simulation_interfaces")
    from simulation_interfaces.msg import Bounds, EntityCategory, Result, SimulationState
    from simulation_interfaces.srv import LoadWorld, ResetSimulation, SetSimulationState
    from simulation_interfaces.srv import SpawnEntity as Spawn

    r = Result
    codes = (r.RESULT_FEATURE_UNSUPPORTED, r.RESULT_OK, r.RESULT_NOT_FOUND)
    assert codes == (result_codes.UNSUPPORTED, result_codes.OK, result_codes.NOT_FOUND)
    codes = (r.RESULT_INCORRECT_STATE, r.RESULT_OPERATION_FAILED)
    assert codes == (result_codes.INCORRECT_STATE, result_codes.FAILED)
    s = Spawn.Response
    assert (result_codes.NAME_NOT_UNIQUE, result_codes.NAME_INVALID) == (
        s.NAME_NOT_UNIQUE,
        s.NAME_INVALID,
    )
    assert (result_codes.NO_RESOURCE, result_codes.PARSE_ERROR) == (
        s.NO_RESOURCE,
        s.RESOURCE_PARSE_ERROR,
    )
    assert (result_codes.MISSING_ASSETS, result_codes.SPAWN_POSE_INVALID) == (
        s.MISSING_ASSETS,
        s.INVALID_POSE,
    )
    assert result_codes.NAMESPACE_INVALID == s.NAMESPACE_INVALID
    load = LoadWorld.Response
    assert result_codes.WORLD_PARSE_ERROR == load.RESOURCE_PARSE_ERROR
    assert result_codes.INCORRECT_TRANSITION == SetSimulationState.Response.INCORRECT_TRANSITION
    state = SimulationState
    assert sim_state.STOPPED == state.STATE_STOPPED
    assert (sim_state.PLAYING, sim_state.PAUSED) == (state.STATE_PLAYING, state.STATE_PAUSED)
    assert (sim_state.QUITTING, sim_state.LOADING) == (
        state.STATE_QUITTING,
        state.STATE_LOADING_WORLD,
    )
    scopes = ResetSimulation.Request
    assert (spawning.TIME, spawning.STATE) == (scopes.SCOPE_TIME, scopes.SCOPE_STATE)
    assert (spawning.SPAWNED, spawning.ALL) == (scopes.SCOPE_SPAWNED, scopes.SCOPE_ALL)
    assert (entities.BOX, entities.SPHERE) == (Bounds.TYPE_BOX, Bounds.TYPE_SPHERE)
    assert entities.ROBOT == EntityCategory.CATEGORY_ROBOT
    assert entities.STATIC_OBJECT == EntityCategory.CATEGORY_STATIC_OBJECT


def test_stamps_go_on_after_a_reset() -> None:
    clock = StampClock(0.004)
    assert clock.ns(10) == 40_000_000
    clock.carry_over(10)
    assert clock.ns(0) == 40_000_000
    clock.carry_over(1, 0.005)  # another world, with a longer step
    assert clock.ns(0) == 45_000_000
    clock.set_zero(3)
    assert clock.ns(3) == 0
    assert clock.ns(0) == 0  # never negative


def test_wall_clock_stamps_skip_lost_time() -> None:
    wall = [1_700_000_000_000_000_000]
    clock = WallStampClock(0.01, now=lambda: wall[0])
    begin = wall[0]
    clock.synchronize(1)
    assert clock.ns(1) == begin
    wall[0] += 50_000_000  # a step that took longer is caught up
    clock.synchronize(2)
    assert clock.ns(2) == begin + 10_000_000
    wall[0] += 3_000_000_000  # a pause is not
    clock.synchronize(3)
    assert clock.ns(3) == wall[0]
    clock.carry_over(3)  # a reset
    assert clock.ns(0) == wall[0]
    clock.set_zero(0)  # to time zero: the wall clock goes on
    clock.synchronize(1)
    assert clock.ns(1) == wall[0]


def test_names_follow_the_rules_of_the_interface() -> None:
    assert choose_name("a", "x", ["b"], allow_renaming=False) == "a"
    assert choose_name("b", "x", ["b", "b_1"], allow_renaming=True) == "b_2"
    assert choose_name("", "x", [], allow_renaming=True) == "x_1"
    for name, code in (("b", result_codes.NAME_NOT_UNIQUE), ("", result_codes.NAME_INVALID)):
        with pytest.raises(RequestError) as refusal:
            choose_name(name, "x", ["b"], allow_renaming=False)
        assert refusal.value.code == code
    with pytest.raises(RequestError):
        choose_name("x\n", "x\ny", ["x"], allow_renaming=False)


def test_a_flood_of_requests_leaves_time_for_steps() -> None:
    queue, served = RequestQueue(), []
    for i in range(request_queue.CAPACITY):
        assert queue.submit(lambda i=i: (served.append(i), time.sleep(0.0005))[0])  # type: ignore[misc]
    assert not queue.submit(lambda: None)
    queue.process()
    assert served == list(range(len(served)))
    assert 0 < len(served) <= request_queue.BUDGET / 0.0005 + 1  # none takes less than it sleeps
    assert queue.wait(0.0)  # the rest is not forgotten


def test_steps_end_when_the_state_changes() -> None:
    state, ends = SimState(PAUSED), []
    state.start_steps(StepRequest(5, ends.append))
    assert state.stepping
    state.count_step()
    with pytest.raises(RequestError, match="another request"):
        state.start_steps(StepRequest(1, ends.append))
    state.set(PLAYING)
    assert not state.stepping
    assert "after 1 steps" in str(ends[0])


def test_reset_restores_what_was_there(simulation: Simulation, world: World) -> None:
    courier = vehicle_source(world, "courier", "", simulation.trust)
    simulation.spawn(SpawnRequest(source=courier, name="a", pose=Pose(1.0, 1.0)))
    simulation.delete("r1")
    world.run(0.1)
    before = simulation.now
    simulation.reset(spawning.STATE)
    assert list(world.vehicles) == ["a"]
    simulation.reset(spawning.DEFAULT)
    assert list(world.vehicles) == ["r1"]
    assert simulation.now == before
    simulation.reset(spawning.ALL)
    assert simulation.now == 0


def test_what_is_deleted_while_it_touches_leaves_no_trace(
    simulation: Simulation, world: World
) -> None:
    courier = vehicle_source(world, "courier", "", simulation.trust)
    simulation.spawn(SpawnRequest(source=courier, name="a", pose=Pose(-2.3, 1.0)))
    world.step()
    assert world.vehicles["r1"].in_collision
    simulation.delete("a")
    world.run(0.02)
    assert not world.vehicles["r1"].in_collision
    assert world.contacts == []


def test_a_log_that_cannot_be_completed_holds_up_no_other_world(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(world: World) -> None:
        raise LogError("cannot write the log: no space left")

    monkeypatch.setattr(World, "close", fail)
    with pytest.warns(UserWarning, match="no space left"):
        load_into(simulation, "", "<mvsim_world/>")
    assert simulation.sim_state.state == sim_state.STOPPED
    with pytest.warns(UserWarning, match="no space left"):
        simulation.unload()
    assert simulation.sim_state.state == sim_state.NO_WORLD


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), KeyError("x"), MemoryError()])
def test_a_world_that_cannot_be_loaded_leaves_the_present_one_in_its_state(
    simulation: Simulation, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    before, world = simulation.sim_state.state, simulation.world
    monkeypatch.setattr(worlds, "load_world", fail)
    with pytest.raises(RequestError) as refusal:
        load_into(simulation, "", "<mvsim_world/>")
    assert refusal.value.code == result_codes.WORLD_PARSE_ERROR
    assert type(error).__name__ in str(refusal.value)
    assert (simulation.sim_state.state, simulation.world) == (before, world)


def test_a_loaded_world_is_left_out_of_collections(simulation: Simulation) -> None:
    class Garbage:
        def __init__(self) -> None:
            self.itself = self

    gc.freeze()
    before = weakref.ref(Garbage())
    gc.freeze()
    load_into(simulation, "", "<mvsim_world/>")
    assert before() is None  # garbage goes, also what was left out before
    alive = simulation.world
    assert gc.get_freeze_count() > 0
    assert not any(thing is alive for thing in gc.get_objects())
    gc.unfreeze()


def test_no_filter_of_names_takes_long(simulation: Simulation, world: World) -> None:
    """Python's `re` tries 2^40 ways to match this one."""
    courier = vehicle_source(world, "courier", "", simulation.trust)
    name = 40 * "a" + "b"
    simulation.spawn(SpawnRequest(source=courier, name=name, pose=Pose(1.0, 1.0)))

    def found(pattern: str) -> list[str]:
        wanted = entities.EntityFilter(pattern=pattern)
        return [n for n, _ in entities.filter_entities(world, wanted, {})]

    assert found("(a|aa)+$") == []
    assert found("(a|aa)+b$") == [name]
    assert found("^r[0-9]$") == ["r1"]
    for bad in ("(", "a{100000}", "(((a{100}){100}){100}){100}"):
        with pytest.raises(RequestError, match="no regular expression"):
            found(bad)


def test_overlaps_are_reported_at_once(simulation: Simulation, world: World) -> None:
    """By Python warnings, which the node logs, even if nothing steps."""
    courier = vehicle_source(world, "courier", "", simulation.trust)
    x, y = world.vehicles["r1"].pose.x, world.vehicles["r1"].pose.y
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        simulation.spawn(SpawnRequest(source=courier, name="a", pose=Pose(x, y)))
        spawned = [str(warning.message) for warning in caught]
        simulation.spawn(SpawnRequest(source=courier, name="b", pose=Pose(x, y + 20.0)))
        apart = [str(warning.message) for warning in caught[len(spawned) :]]
        simulation.set_entity_state("b", Pose(x + 0.1, y), (0.0, 0.0), 0.0)
    moved = [str(warning.message) for warning in caught[len(spawned) + len(apart) :]]
    assert world.ticks == 0
    assert len(spawned) == 1
    assert re.search(r"'a' was put [0-9.]+ m deep into 'r1'", spawned[0])
    assert apart == []
    assert {re.search(r"'b' was put [0-9.]+ m deep into '(\w+)'", text)[1] for text in moved} == {
        "r1",
        "a",
    }


def test_a_velocity_rolls_on(simulation: Simulation, world: World) -> None:
    yaw = 0.7
    velocity = (0.5 * math.cos(yaw), 0.5 * math.sin(yaw))
    simulation.set_entity_state("r1", Pose(0.0, 0.0, 0.0, 0.0, 0.0, yaw), velocity, 0.1)
    robot = world.vehicles["r1"]
    assert robot.twist == pytest.approx((0.5, 0.0, 0.1))
    assert robot.wheels[0].omega == pytest.approx((0.5 - 0.1 * 0.2) / 0.1)
    with pytest.raises(RequestError):
        simulation.set_entity_state("r1", Pose(), (math.nan, 0.0), 0.0)


def test_bounds_filter_by_overlap(world: World) -> None:
    def found(shape: int, a: entities.Point, b: entities.Point) -> list[str]:
        wanted = entities.EntityFilter(shape=shape, points=(a, b))
        return [name for name, _ in entities.filter_entities(world, wanted, {})]

    assert found(entities.BOX, (0.0, 0.0, 0.0), (-3.0, 3.0, 1.0)) == ["r1"]
    assert found(entities.BOX, (0.0, 0.0, 0.0), (3.0, 3.0, 1.0)) == []
    assert found(entities.SPHERE, (-2.0, 0.0, 0.2), (0.9, 0.0, 0.0)) == ["r1"]
    assert found(entities.SPHERE, (-2.0, 0.0, 0.2), (0.5, 0.0, 0.0)) == []
    with pytest.raises(RequestError):
        entities.EntityFilter(shape=entities.HULL)


def test_topics_of_spawned_vehicles() -> None:
    names = VehicleTopicNames(Settings(), ["r 1"])
    assert names.of("r 1").topic("odom") == "odom"
    assert names.of("r-2").topic("odom") == "r_2/odom"
    assert names.of("r.2").topic("odom") == "r_2_2/odom"
    assert names.of("r-2").topic("odom") == "r_2/odom"  # the same when it is spawned again
    assert names.of("x", "/fleet/x").topic("odom") == "/fleet/x/odom"


def test_names_of_vehicles_that_are_gone_are_kept_for_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(topic_names, "MOST_GONE", 2)
    names = VehicleTopicNames(Settings(), ["r1"])
    for vehicle in ("a b", "a-b", "c", "d"):
        names.of(vehicle)
    names.drop_oldest({"r1", "d"})
    assert names.of("a-b").topic("odom") == "a_b_2/odom"  # is kept
    names.of("e")
    names.drop_oldest({"r1"})
    assert names.of("a-b").topic("odom") == "a_b/odom"
    assert names.of("r1").topic("odom") == "odom"


def test_the_exact_name_keeps_its_topics(simulation: Simulation, world: World) -> None:
    names = VehicleTopicNames(Settings(), ["robot-1", "robot_1"])
    assert names.of("robot_1").topic("odom") == "robot_1/odom"
    assert names.of("robot-1").topic("odom") == "robot_1_2/odom"
    assert names.of("x", "fleet").topic("odom") == "fleet/odom"
    assert names.of("fleet").topic("odom") == "fleet_2/odom"
    courier = vehicle_source(world, "courier", "", simulation.trust)
    simulation.topic_namespaces = lambda: {"r1": "r1/"}
    for namespace in ("r1", "/r1/", "a" * 90, "a-b"):
        request = SpawnRequest(source=courier, name="x", pose=Pose(2, 2), namespace=namespace)
        with pytest.raises(RequestError, match="namespace") as error:
            simulation.spawn(request)
        assert error.value.code == NAMESPACE_INVALID


def test_names_too_long_for_topics_are_refused_where_they_are_read(
    simulation: Simulation, world: World
) -> None:
    long = "n" * 81
    vehicle = COURIER.format(sensors="") + "<vehicle name='{}' class='courier'/>"
    laser = f"<vehicle class='courier'><sensor class='laser' name='{long}'/></vehicle>"
    text = "at most 80 characters for a topic in ROS, got 81"
    before = simulation.world
    with pytest.raises(RequestError, match=text):
        load_into(simulation, "", f"<mvsim_world>{vehicle.format(long)}</mvsim_world>")
    assert simulation.world is before
    with pytest.raises(RequestError, match=text) as error:
        simulation.spawn(
            SpawnRequest(
                source=vehicle_source(world, "", laser, simulation.trust),
                name="x",
                pose=Pose(2, 2),
            )
        )
    assert error.value.code == NAME_INVALID


def test_a_name_in_xml_may_have_character_references(simulation: Simulation, world: World) -> None:
    texts = {
        "<vehicle class='courier' name='&#x1F600; &amp; co'/>": "\U0001f600 & co",
        COURIER.format(sensors="").replace("courier", "a&#65;"): "aA_1",
    }
    for text, name in texts.items():
        source = vehicle_source(world, "", text, simulation.trust)
        request = SpawnRequest(source=source, pose=Pose(2, 2), allow_renaming=True)
        assert simulation.spawn(request) == name


def test_while_a_world_is_read_the_present_one_answers_and_does_not_change(
    simulation: Simulation, world: World
) -> None:
    courier = vehicle_source(world, "courier", "", simulation.trust)
    simulation.begin_load()
    assert simulation.sim_state.state == sim_state.LOADING
    changes = (
        lambda: simulation.spawn(SpawnRequest(source=courier, name="x", pose=Pose(2, 2))),
        lambda: simulation.delete("r1"),
        lambda: simulation.reset(spawning.ALL),
        lambda: simulation.set_state(PAUSED),
        simulation.unload,
        simulation.begin_load,
    )
    for change in changes:
        with pytest.raises(RequestError, match="load"):
            change()
    assert find_entity(simulation.require_world(), "r1").handle is world.vehicles["r1"]
    simulation.end_load(None)
    assert (simulation.sim_state.state, simulation.world) == (PLAYING, world)
    simulation.begin_load()
    other = simulation.read_world("", "<mvsim_world/>")
    simulation.set_state(sim_state.QUITTING)
    with pytest.raises(RequestError, match="quitting"):
        simulation.end_load(other)
    assert (simulation.sim_state.state, simulation.world) == (sim_state.QUITTING, world)


def test_a_world_with_cameras_is_read_beside_one_that_has_drawn() -> None:
    """OpenGL goes from the thread that steps to the one that reads, and back."""
    camera = (
        '<sensor class="camera" name="eye"><sensor_period>0.01</sensor_period>'
        "<nrows>24</nrows><ncols>32</ncols></sensor>"
    )
    text = f"<mvsim_world><simul_timestep>0.01</simul_timestep>{camera}</mvsim_world>"
    simulation = Simulation(load_world(text=text))
    pictures = []

    def draw() -> None:
        world = simulation.require_world()
        world.step()
        pictures.append(world.standalone_sensors["eye"].last.rgb)

    def read() -> World:
        """As a request does, in a thread that neither steps nor reads."""
        return in_background(lambda: simulation.read_world("", text), str).result()

    with ThreadPoolExecutor(1) as requests:
        for broken in (False, True, False):
            draw()
            simulation.begin_load()
            world = requests.submit(read).result()
            simulation.end_load(None if broken else world)
            draw()
    assert all(np.array_equal(picture, pictures[0]) for picture in pictures)
    assert np.ptp(pictures[0]) > 0


def test_a_vehicle_that_fails_is_taken_out_and_reset_brings_it_back(
    simulation: Simulation, world: World
) -> None:
    reported: list[str] = []
    simulation.on_fault = lambda name, text: reported.append(f"{name}: {text}")
    courier = vehicle_source(world, "courier", "", simulation.trust)
    simulation.spawn(SpawnRequest(source=courier, name="x", pose=Pose(2.0, 2.0)))
    for name in ("r1", "x"):
        world.bodies["cvx"][world.data.entities[name].row] = math.nan
        world.step()
    assert world.ticks == 2
    assert list(world.vehicles) == []
    assert set(simulation.faults) == {"r1", "x"}
    assert [text.split(":")[0] for text in reported] == ["r1", "x"]
    simulation.reset(spawning.DEFAULT)
    assert list(world.vehicles) == ["r1"]
    assert simulation.faults == {}
