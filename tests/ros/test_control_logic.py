# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What the control services rest on, without a graph."""

import math
import time
from pathlib import Path

import pytest

from mvsim_core import Pose, World, load_world
from mvsim_ros2.control import answers, entities, phases, population, requests
from mvsim_ros2.control.answers import Refused
from mvsim_ros2.control.phases import PAUSED, PLAYING, Phases, Steps
from mvsim_ros2.control.population import chosen_name
from mvsim_ros2.control.requests import Requests
from mvsim_ros2.control.resources import description_of
from mvsim_ros2.control.simulation import Simulation
from mvsim_ros2.control.timeline import Timeline, WallTimeline
from mvsim_ros2.parameters import Settings
from mvsim_ros2.roster import Roster
from tests.ros.worlds import one_robot


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
    assert codes == (answers.UNSUPPORTED, answers.OK, answers.NOT_FOUND)
    codes = (r.RESULT_INCORRECT_STATE, r.RESULT_OPERATION_FAILED)
    assert codes == (answers.INCORRECT_STATE, answers.FAILED)
    s = Spawn.Response
    assert (answers.NAME_NOT_UNIQUE, answers.NAME_INVALID) == (s.NAME_NOT_UNIQUE, s.NAME_INVALID)
    assert (answers.NO_RESOURCE, answers.PARSE_ERROR) == (s.NO_RESOURCE, s.RESOURCE_PARSE_ERROR)
    assert (answers.MISSING_ASSETS, answers.SPAWN_POSE_INVALID) == (
        s.MISSING_ASSETS,
        s.INVALID_POSE,
    )
    assert answers.NAMESPACE_INVALID == s.NAMESPACE_INVALID
    load = LoadWorld.Response
    assert answers.WORLD_PARSE_ERROR == load.RESOURCE_PARSE_ERROR
    assert answers.INCORRECT_TRANSITION == SetSimulationState.Response.INCORRECT_TRANSITION
    state = SimulationState
    assert phases.STOPPED == state.STATE_STOPPED
    assert (phases.PLAYING, phases.PAUSED) == (state.STATE_PLAYING, state.STATE_PAUSED)
    assert (phases.QUITTING, phases.LOADING) == (state.STATE_QUITTING, state.STATE_LOADING_WORLD)
    scopes = ResetSimulation.Request
    assert (population.TIME, population.STATE) == (scopes.SCOPE_TIME, scopes.SCOPE_STATE)
    assert (population.SPAWNED, population.ALL) == (scopes.SCOPE_SPAWNED, scopes.SCOPE_ALL)
    assert (entities.BOX, entities.SPHERE) == (Bounds.TYPE_BOX, Bounds.TYPE_SPHERE)
    assert entities.ROBOT == EntityCategory.CATEGORY_ROBOT
    assert entities.STATIC_OBJECT == EntityCategory.CATEGORY_STATIC_OBJECT


def test_the_timeline_goes_on() -> None:
    timeline = Timeline(0.004)
    assert timeline.ns(10) == 40_000_000
    timeline.carry(10)
    assert timeline.ns(0) == 40_000_000
    timeline.carry(1, 0.005)  # another world, with a longer step
    assert timeline.ns(0) == 45_000_000
    timeline.restart(3)
    assert timeline.ns(3) == 0
    assert timeline.ns(0) == 0  # never negative


def test_a_timeline_by_the_wall_clock_leaves_out_what_was_lost() -> None:
    wall = [1_700_000_000_000_000_000]
    timeline = WallTimeline(0.01, now=lambda: wall[0])
    begin = wall[0]
    timeline.keep_up(1)
    assert timeline.ns(1) == begin
    wall[0] += 50_000_000  # a step that took longer is caught up
    timeline.keep_up(2)
    assert timeline.ns(2) == begin + 10_000_000
    wall[0] += 3_000_000_000  # a pause is not
    timeline.keep_up(3)
    assert timeline.ns(3) == wall[0]
    timeline.carry(3)  # a reset
    assert timeline.ns(0) == wall[0]
    timeline.restart(0)  # one that asks for time zero: the wall clock goes on
    timeline.keep_up(1)
    assert timeline.ns(1) == wall[0]


def test_names_follow_the_rules_of_the_interface() -> None:
    assert chosen_name("a", "x", ["b"], renaming=False) == "a"
    assert chosen_name("b", "x", ["b", "b_1"], renaming=True) == "b_2"
    assert chosen_name("", "x", [], renaming=True) == "x_1"
    for name, code in (("b", answers.NAME_NOT_UNIQUE), ("", answers.NAME_INVALID)):
        with pytest.raises(Refused) as refusal:
            chosen_name(name, "x", ["b"], renaming=False)
        assert refusal.value.code == code
    with pytest.raises(Refused):
        chosen_name("x\n", "x\ny", ["x"], renaming=False)


def test_a_flood_of_requests_leaves_time_for_steps() -> None:
    queue, served = Requests(), []
    for i in range(requests.CAPACITY):
        assert queue.ask(lambda i=i: (served.append(i), time.sleep(0.0005))[0])  # type: ignore[misc]
    assert not queue.ask(lambda: None)
    begin = time.perf_counter()
    queue.serve()
    assert time.perf_counter() - begin < 0.1
    assert served == list(range(len(served)))
    assert 0 < len(served) < requests.CAPACITY
    assert queue.wait(0.0)  # the rest is not forgotten


def test_steps_end_when_the_state_changes() -> None:
    state, ends = Phases(PAUSED), []
    state.begin(Steps(5, ends.append))
    assert state.stepping
    state.stepped()
    with pytest.raises(Refused, match="another request"):
        state.begin(Steps(1, ends.append))
    state.enter(PLAYING)
    assert not state.stepping
    assert "after 1 steps" in str(ends[0])


def test_reset_restores_what_was_there(simulation: Simulation, world: World) -> None:
    courier = description_of(world, "courier", "")
    simulation.spawn(courier, "a", Pose(1.0, 1.0), "", renaming=False)
    simulation.delete("r1")
    world.run(0.1)
    before = simulation.now
    simulation.reset(population.STATE)
    assert list(world.vehicles) == ["a"]
    simulation.reset(population.DEFAULT)
    assert list(world.vehicles) == ["r1"]
    assert simulation.now == before
    simulation.reset(population.ALL)
    assert simulation.now == 0


def test_what_is_deleted_while_it_touches_leaves_no_trace(
    simulation: Simulation, world: World
) -> None:
    courier = description_of(world, "courier", "")
    simulation.spawn(courier, "a", Pose(-2.3, 1.0), "", renaming=False)
    world.step()
    assert world.vehicles["r1"].in_collision
    simulation.delete("a")
    world.run(0.02)
    assert not world.vehicles["r1"].in_collision
    assert world.contacts == []


def test_a_velocity_rolls_on(simulation: Simulation, world: World) -> None:
    yaw = 0.7
    velocity = (0.5 * math.cos(yaw), 0.5 * math.sin(yaw))
    simulation.place("r1", Pose(0.0, 0.0, 0.0, 0.0, 0.0, yaw), velocity, 0.1)
    robot = world.vehicles["r1"]
    assert robot.twist == pytest.approx((0.5, 0.0, 0.1))
    assert robot.wheels[0].omega == pytest.approx((0.5 - 0.1 * 0.2) / 0.1)
    with pytest.raises(Refused):
        simulation.place("r1", Pose(), (math.nan, 0.0), 0.0)


def test_bounds_filter_by_overlap(world: World) -> None:
    def found(shape: int, a: entities.Point, b: entities.Point) -> list[str]:
        wanted = entities.Filter(shape=shape, points=(a, b))
        return [name for name, _ in entities.matching(world, wanted, {})]

    assert found(entities.BOX, (0.0, 0.0, 0.0), (-3.0, 3.0, 1.0)) == ["r1"]
    assert found(entities.BOX, (0.0, 0.0, 0.0), (3.0, 3.0, 1.0)) == []
    assert found(entities.SPHERE, (-2.0, 0.0, 0.2), (0.9, 0.0, 0.0)) == ["r1"]
    assert found(entities.SPHERE, (-2.0, 0.0, 0.2), (0.5, 0.0, 0.0)) == []
    with pytest.raises(Refused):
        entities.Filter(shape=entities.HULL)


def test_topics_of_those_who_come_later() -> None:
    roster = Roster(Settings(), ["r 1"])
    assert roster.names("r 1").topic("odom") == "odom"
    assert roster.names("r-2").topic("odom") == "r_2/odom"
    assert roster.names("r.2").topic("odom") == "r_2_2/odom"
    assert roster.names("r-2").topic("odom") == "r_2/odom"  # the same when it comes back
    assert roster.names("x", "/fleet/x").topic("odom") == "/fleet/x/odom"
