# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Control of a running node by simulation_interfaces, over real DDS."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from geometry_msgs.msg import PoseStamped, Twist

pytest.importorskip("simulation_interfaces")

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import (
    EntityInfo,
    Resource,
    Result,
    SimulationState,
    SpawnEntity,
    SpawnResult,
)

from tests.ros.node_process import NodeProcess, Observer, eventually, known, nanoseconds
from tests.ros.service_client import Client, placed
from tests.ros.worlds import one_robot

pytestmark = [pytest.mark.ros, pytest.mark.alone]

DT = 4_000_000  # ns, of the world
OK = Result.RESULT_OK


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    process = NodeProcess(
        domain,
        one_robot(tmp_path_factory.mktemp("control")),
        resource_paths=tmp_path_factory.getbasetemp(),
    )
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = Observer(domain)
    observer.subscribe("/clock", Clock)
    observer.subscribe("/odom", Odometry)
    eventually(lambda: observer.all("/odom"), "odometry")
    yield observer
    observer.close()


@pytest.fixture(scope="module")
def clients(observer: Observer) -> Client:
    return Client(observer.node)


@pytest.fixture
def client(clients: Client) -> Iterator[Client]:
    """A client whose traces are removed afterwards."""
    yield clients
    clients.state(SimulationState.STATE_PLAYING)
    clients.reset(srv.ResetSimulation.Request.SCOPE_DEFAULT)


def clock(observer: Observer) -> int:
    return nanoseconds(observer.newest("/clock").clock)


def publishers(observer: Observer) -> set[str]:
    return set(observer.published())


def test_features_say_what_is_there(client: Client) -> None:
    features = client.call("GetSimulatorFeatures").features
    assert len(features.features) == 30
    assert {features.ENTITY_INFO_SETTING, features.SPAWNING_ENTITIES} <= set(features.features)
    assert list(features.spawn_formats) == ["mvsim"]
    offered = {name for name, _ in known(client.node.get_service_names_and_types_by_node)}
    assert {"/get_entities", "/spawn_entity", "/step_simulation"} <= offered


def test_entities_and_their_states(client: Client, observer: Observer) -> None:
    assert client.call("GetEntities").entities == ["r1"]
    answer = client.call("GetEntitiesStates")
    (state,) = answer.states
    assert (state.pose.position.x, state.pose.position.y) == pytest.approx((-2.0, 1.0), abs=0.01)
    assert state.header.frame_id == "map"
    assert nanoseconds(state.header.stamp) % DT == 0
    info = client.call("GetEntityInfo", entity="r1").info
    assert info.category.category == info.category.CATEGORY_ROBOT
    assert list(info.tags) == ["vehicle", "courier"]
    high, low = client.call("GetEntityBounds", entity="r1").bounds.points
    assert (low.x, high.x) == pytest.approx((-0.2, 0.25))


def test_filters(client: Client) -> None:
    request = srv.GetEntities.Request()
    request.filters.filter = "^r[0-9]$"
    assert client.send("GetEntities", request).entities == ["r1"]
    request.filters.filter = "q"
    assert client.send("GetEntities", request).entities == []
    request.filters.filter = "(("
    assert client.send("GetEntities", request).result.result == Result.RESULT_OPERATION_FAILED


def test_unknown_entities_are_not_found(client: Client) -> None:
    for name in (
        "GetEntityState",
        "GetEntityInfo",
        "DeleteEntity",
        "SetEntityState",
        "SetEntityInfo",
    ):
        result = client.call(name, entity="r2").result
        assert result.result == Result.RESULT_NOT_FOUND
        assert "'r2'" in result.error_message


def test_spawned_robots_drive_and_leave(client: Client, observer: Observer) -> None:
    answer = client.spawn("spawned", "courier", 2.0, 2.0)
    assert (answer.result.result, answer.entity_name) == (OK, "spawned")
    observer.subscribe("/spawned/odom", Odometry)
    observer.newest("/spawned/odom")
    command = Twist()
    command.linear.x = 0.5
    with observer.repeat("/spawned/cmd_vel", command):
        eventually(lambda: observer.newest("/spawned/odom").twist.twist.linear.x > 0.4, "speed")
    assert observer.newest("/odom").twist.twist.linear.x == pytest.approx(0.0, abs=1e-3)
    assert client.call("DeleteEntity", entity="spawned").result.result == OK
    assert client.call("GetEntities").entities == ["r1"]
    eventually(lambda: not {n for n in publishers(observer) if "spawned" in n}, "no topics")
    eventually(lambda: observer.node.count_subscribers("/spawned/cmd_vel") == 0, "no subscription")
    assert client.spawn("spawned", "courier", 2.0, 2.0).result.result == OK  # once more
    observer.newest("/spawned/odom")


def test_many_are_spawned_by_one_request(client: Client, observer: Observer) -> None:
    """Each by the rules of one; those that fail do not hinder the others, nor the clock."""
    client.state(SimulationState.STATE_PLAYING)
    before = clock(observer)
    names = ("a", "r1", "", "b")
    requests = [
        SpawnEntity(
            name=name,
            entity_resource=Resource(uri="courier"),
            initial_pose=placed(-1.0 + i, -2.0),
            allow_renaming=not name,
        )
        for i, name in enumerate(names)
    ]
    requests.append(SpawnEntity(name="c", entity_resource=Resource(resource_string="<sdf/>")))
    requests[0].entity_namespace = "fleet/a"
    answer = client.call("SpawnEntities", spawn_requests=requests)
    codes = [one.result.result for one in answer.results]
    assert codes == [OK, SpawnResult.NAME_NOT_UNIQUE, OK, OK, SpawnResult.UNSUPPORTED_FORMAT]
    assert [one.entity_name for one in answer.results] == ["a", "", "courier_1", "b", ""]
    assert answer.result.result == srv.SpawnEntities.Response.ENTITIES_SPAWN_FAILED
    assert answer.result.error_message == (
        "2 of 5 were not spawned; the first: there is already an entity 'r1'"
    )
    assert client.call("GetEntities").entities == ["r1", "a", "courier_1", "b"]
    state = client.call("GetEntityState", entity="b").state
    assert state.pose.position.x == pytest.approx(2.0, abs=0.01)
    topics = {"/fleet/a/odom", "/courier_1/odom", "/b/odom"}
    eventually(lambda: topics <= publishers(observer), "topics of all")
    eventually(lambda: observer.node.count_subscribers("/fleet/a/cmd_vel") > 0, "a subscription")
    assert clock(observer) > before
    good = client.call("SpawnEntities", spawn_requests=[])
    assert (good.result.result, good.results) == (OK, [])


def test_entity_info_holds_for_filters_until_deleted_or_reset(
    client: Client,
) -> None:
    def info_of(name: str) -> EntityInfo:
        return client.call("GetEntityInfo", entity=name).info

    def set_info(name: str, info: EntityInfo) -> Result:
        return client.call("SetEntityInfo", entity=name, info=info).result

    first = info_of("r1")
    new_info = EntityInfo(description="fork lift", tags=["lift", "yellow"])
    new_info.category.category = new_info.category.CATEGORY_HUMAN
    assert set_info("r1", new_info).result == OK
    assert info_of("r1") == new_info
    filters = srv.GetEntities.Request()
    filters.filters.tags.tags = ["yellow"]
    filters.filters.categories = [new_info.category]
    assert client.send("GetEntities", filters).entities == ["r1"]
    filters.filters.tags.tags = ["courier"]  # those of the world file
    assert client.send("GetEntities", filters).entities == []

    wrong = EntityInfo()
    wrong.category.category = 3
    answer = set_info("r1", wrong)
    assert answer.result == Result.RESULT_OPERATION_FAILED
    assert answer.error_message == "category must be one of (0, 1, 2, 4, 5), got 3"
    missing = set_info("r2", new_info)
    assert missing.result == Result.RESULT_NOT_FOUND
    assert info_of("r1") == new_info

    for leave in (
        lambda: client.call("DeleteEntity", entity="guest"),
        lambda: client.reset(srv.ResetSimulation.Request.SCOPE_SPAWNED),
    ):
        client.spawn("guest", "courier", 2.0, 2.0)
        set_info("guest", new_info)
        leave()
        client.spawn("guest", "courier", 2.0, 2.0)
        assert info_of("guest") == first  # nothing is left of the one before
    assert info_of("r1") == new_info
    client.reset(srv.ResetSimulation.Request.SCOPE_STATE)
    assert info_of("r1") == first


def test_names_and_namespaces(client: Client, observer: Observer) -> None:
    response = srv.SpawnEntity.Response
    assert client.spawn("r1", "courier").result.result == response.NAME_NOT_UNIQUE
    assert client.spawn("", "courier").result.result == response.NAME_INVALID
    assert client.spawn("a/b", "courier").result.result == response.NAME_INVALID
    assert client.spawn("r1", "courier", allow_renaming=True).entity_name == "r1_1"
    assert client.spawn("", "courier", allow_renaming=True).entity_name == "courier_1"
    bad = client.spawn("x", "courier", entity_namespace="1 2")
    assert bad.result.result == response.NAMESPACE_INVALID
    good = client.spawn("x", "courier", entity_namespace="fleet/x")
    assert good.result.result == OK
    eventually(lambda: "/fleet/x/odom" in publishers(observer), "topics in the namespace")
    assert "/r1_1/odom" in publishers(observer)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "NO_RESOURCE"),
        ("<vehicle", "RESOURCE_PARSE_ERROR"),
        ("<vehicle class='nothing'/>", "RESOURCE_PARSE_ERROR"),
        ("<vehicle class='courier'/><vehicle class='courier'/>", "RESOURCE_PARSE_ERROR"),
        ("<block/>", "RESOURCE_PARSE_ERROR"),
        ("no XML", "RESOURCE_PARSE_ERROR"),
        ("\x01\x02", "RESOURCE_PARSE_ERROR"),
        ("<a>" * 5000, "RESOURCE_PARSE_ERROR"),
        ("<vehicle><dynamics class='nothing'/></vehicle>", "RESOURCE_PARSE_ERROR"),
        ("<vehicle class='courier'><init_pose>a b</init_pose></vehicle>", "RESOURCE_PARSE_ERROR"),
        ("<include file='missing.xml'/>", "MISSING_ASSETS"),
        ("<include file='/etc/passwd'/>", "RESOURCE_PARSE_ERROR"),
        ("<robot name='urdf'/>", "UNSUPPORTED_FORMAT"),
        ("<?xml version='1.0'?><sdf/>", "UNSUPPORTED_FORMAT"),
    ],
)
def test_malformed_descriptions_are_refused(client: Client, text: str, code: str) -> None:
    response = client.call("SpawnEntity", name="x", resource_string=text)
    assert response.result.result == getattr(srv.SpawnEntity.Response, code)
    assert response.result.error_message
    assert client.call("GetEntities").entities == ["r1"]


def test_descriptions_as_text_and_poses_that_cannot_be(client: Client) -> None:
    text = "<vehicle name='own' class='courier'/>"
    request = {"resource_string": text, "initial_pose": placed(1.0, -1.0)}
    assert client.call("SpawnEntity", **request).entity_name == "own"
    for x in (float("nan"), float("inf"), 1e30):
        answer = client.spawn("x", "courier", x)
        assert answer.result.result == srv.SpawnEntity.Response.INVALID_POSE
    pose = PoseStamped()
    pose.pose.orientation.w = 0.0
    answer = client.call("SpawnEntity", name="x", uri="courier", initial_pose=pose)
    assert answer.result.result == srv.SpawnEntity.Response.INVALID_POSE
    pose = placed(1.0, 0.0)
    pose.header.frame_id = "r1"  # which looks along y
    assert client.call("SpawnEntity", name="x", uri="courier", initial_pose=pose).entity_name
    position = client.call("GetEntityState", entity="x").state.pose.position
    assert (position.x, position.y) == pytest.approx((-2.0, 2.0), abs=0.02)


def test_setting_pose_and_velocity(client: Client) -> None:
    client.state(SimulationState.STATE_PAUSED)
    request = srv.SetEntityState.Request(entity="r1")
    request.state.pose = placed(1.0, 0.5).pose
    request.state.twist.linear.x = 0.5
    assert client.send("SetEntityState", request).result.result == OK
    state = client.call("GetEntityState", entity="r1").state
    assert (state.pose.position.x, state.pose.position.y) == pytest.approx((1.0, 0.5))
    assert state.twist.linear.x == pytest.approx(0.5)
    assert client.call("StepSimulation", steps=10).result.result == OK
    state = client.call("GetEntityState", entity="r1").state
    assert state.pose.position.x == pytest.approx(1.0 + 10 * 0.004 * 0.5, rel=0.5)
    request.state.pose.position.x = float("nan")
    invalid = srv.SetEntityState.Response.INVALID_POSE
    assert client.send("SetEntityState", request).result.result == invalid


def test_reset_keeps_the_clock_unless_time_is_asked_for(
    client: Client, observer: Observer
) -> None:
    scopes = srv.ResetSimulation.Request
    client.spawn("visitor", "courier", 2.0, 2.0)
    request = srv.SetEntityState.Request(entity="r1")
    request.state.pose = placed(1.0, 0.5).pose
    client.send("SetEntityState", request)
    before, ticks_before = clock(observer), len(observer.all("/clock"))
    assert client.reset(scopes.SCOPE_STATE).result == OK
    assert client.call("GetEntities").entities == ["r1", "visitor"]
    position = client.call("GetEntityState", entity="r1").state.pose.position
    assert position.x == pytest.approx(-2.0, abs=0.01)
    assert client.reset(scopes.SCOPE_SPAWNED).result == OK
    assert client.call("GetEntities").entities == ["r1"]
    assert client.call("DeleteEntity", entity="r1").result.result == OK
    assert client.reset(scopes.SCOPE_SPAWNED).result == OK
    assert client.call("GetEntities").entities == ["r1"]
    assert clock(observer) > before
    times = [nanoseconds(m.clock) for m in observer.all("/clock")[ticks_before:]]
    assert times == sorted(times)
    observer.newest("/odom")  # under its old, bare name
    assert client.reset(8).result == Result.RESULT_FEATURE_UNSUPPORTED
    assert client.reset(scopes.SCOPE_TIME).result == OK
    assert clock(observer) < before


def test_pause_and_exact_steps(client: Client, observer: Observer) -> None:
    assert client.call("StepSimulation", steps=1).result.result == Result.RESULT_OPERATION_FAILED
    client.state(SimulationState.STATE_PAUSED)
    again = client.state(SimulationState.STATE_PAUSED)
    assert again.result == srv.SetSimulationState.Response.ALREADY_IN_TARGET_STATE
    before = clock(observer)
    time.sleep(0.1)
    assert clock(observer) == before  # it stands still and is published nevertheless
    assert client.call("StepSimulation", steps=7).result.result == OK
    assert clock(observer) == before + 7 * DT
    assert client.call("StepSimulation", steps=0).result.result == Result.RESULT_OPERATION_FAILED
    answer = client.call("StepSimulation", steps=2**63).result
    assert answer.result == Result.RESULT_OPERATION_FAILED
    assert "steps must be at most 10,000,000 in one request" in answer.error_message
    state = client.call("GetSimulationState").state
    assert state.state == SimulationState.STATE_PAUSED


def test_the_step_action_reports_and_can_be_cancelled(client: Client, observer: Observer) -> None:
    client.state(SimulationState.STATE_PAUSED)
    before = clock(observer)
    feedback, result = client.act(SimulateSteps.Goal(steps=5))
    assert result.result.result.result == OK
    assert feedback[-1] == (5, 0)
    assert clock(observer) == before + 5 * DT
    _, result = client.act(SimulateSteps.Goal(steps=2**63), cancel=True)
    assert result.status == 5  # canceled
    assert "cancelled" in result.result.result.error_message
    assert client.call("StepSimulation", steps=1).result.result == OK


def test_transitions(client: Client, observer: Observer) -> None:
    wrong = srv.SetSimulationState.Response.INCORRECT_TRANSITION
    assert client.state(SimulationState.STATE_NO_WORLD).result == wrong
    assert client.state(77).result == wrong
    before = clock(observer)
    assert client.state(SimulationState.STATE_STOPPED).result == OK
    assert clock(observer) >= before


def test_worlds_come_and_go(client: Client, observer: Observer, tmp_path: Path) -> None:
    answer = client.call("LoadWorld", resource_string="<mvsim_world")
    assert answer.result.result == srv.LoadWorld.Response.RESOURCE_PARSE_ERROR
    assert client.call("GetEntities").entities == ["r1"]  # the old one stays
    before = clock(observer)
    path = one_robot(tmp_path)
    assert client.call("UnloadWorld").result.result == OK
    none = client.call("GetCurrentWorld").result.result
    assert none == srv.GetCurrentWorld.Response.NO_WORLD_LOADED
    assert client.call("GetEntities").result.result == Result.RESULT_INCORRECT_STATE
    assert client.call("LoadWorld", uri=str(path)).result.result == OK
    assert client.call("GetCurrentWorld").world.name == "test"
    assert client.call("GetSimulationState").state.state == SimulationState.STATE_STOPPED
    standing = {clock(observer) for _ in range(3)}  # published before the first step too
    assert len(standing) == 1
    assert min(standing) >= before
    assert client.state(SimulationState.STATE_PLAYING).result == OK
    assert clock(observer) > before
    observer.newest("/odom")
    names = {world.name for world in client.call("GetAvailableWorlds").worlds}
    assert {"warehouse", "test"} <= names
    assert [s.uri for s in client.call("GetSpawnables").spawnables] == ["courier"]
    (start,) = client.call("GetNamedPoses").poses
    assert (start.name, start.pose.position.x) == ("r1", -2.0)


def test_files_whose_names_no_message_can_hold_are_not_listed(
    client: Client, tmp_path: Path
) -> None:
    for name in (b"\xff.world.xml", b"\xff.vehicle.xml"):
        (tmp_path / os.fsdecode(name)).write_text("<mvsim_world/>")
    (tmp_path / "é.world.xml").write_text("<mvsim_world/>")
    worlds = client.call("GetAvailableWorlds", additional_sources=[str(tmp_path)]).worlds
    found = [
        w.world_resource.uri for w in worlds if w.world_resource.uri.startswith(str(tmp_path))
    ]
    assert found == [f"{tmp_path}/é.world.xml"]
    assert client.call("GetSpawnables", sources=[str(tmp_path)]).result.result == OK


def test_rates_change_while_it_runs(client: Client, observer: Observer) -> None:
    def gap() -> int:
        observer.newest("/odom")
        first, second = (nanoseconds(m.header.stamp) for m in observer.all("/odom")[-2:])
        return second - first

    assert client.set("publish_rate", 125.0).successful
    eventually(lambda: gap() == 8_000_000, "odometry at 125 Hz")
    assert client.set("publish_rate", 25.0).successful
    eventually(lambda: gap() == 40_000_000, "odometry at 25 Hz")
    assert client.set("publish_rate", 50).successful
    assert client.set("command_timeout", 0.2).successful
    assert not client.set("command_timeout", -1.0).successful
    assert not client.set("publish_rate", 0.0).successful


def test_diagnostics_tell_state_and_dropped_deadlines(client: Client, observer: Observer) -> None:
    client.state(SimulationState.STATE_PAUSED)
    observer.subscribe("/diagnostics", DiagnosticArray)

    def paused() -> bool:
        (status,) = observer.newest("/diagnostics").status
        values = {v.key: v.value for v in status.values}
        assert int(values["dropped_deadlines"]) >= 0
        assert float(values["step_time_ms"]) >= 0.0
        return values["state"] == "paused" and status.level == DiagnosticStatus.OK

    eventually(paused, "diagnostics of a paused simulation")


def test_a_thousand_calls_a_second_do_not_stop_it(client: Client, observer: Observer) -> None:
    begin, before = time.monotonic(), clock(observer)
    answers = client.flood("GetEntityState", {"entity": "r1"}, rate=1000.0, seconds=2.0)
    passed = time.monotonic() - begin
    factor = (clock(observer) - before) * 1e-9 / passed
    good = [a for a in answers if a.result.result == OK]
    assert len(good) == len(answers) == 2000
    assert factor > 0.5, (
        f"answered in {passed:.2f} s"
    )  # on a machine that others use; 1 on an idle one


def test_nothing_of_all_this_was_an_error(client: Client, running: NodeProcess) -> None:
    assert "Traceback" not in running.output
    assert "internal error" not in running.output


def test_quitting_ends_the_process_in_peace(clients: Client, running: NodeProcess) -> None:
    answer = clients.state(SimulationState.STATE_QUITTING)
    assert answer.result == OK
    assert running.wait() == 0
    assert "Traceback" not in running.output
