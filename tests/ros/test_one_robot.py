# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One robot, one node, one observer: published messages and effects of commands."""

import math
import os
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import (
    Polygon,
    PoseArray,
    PoseWithCovarianceStamped,
    Twist,
    TwistStamped,
)
from mvsim_msgs.msg import Contacts, WheelStates
from nav_msgs.msg import MapMetaData, OccupancyGrid, Odometry
from rcl_interfaces.srv import SetParameters
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, LaserScan
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tests.ros.node_process import (
    LATCHED,
    NodeProcess,
    Observer,
    connect,
    eventually,
    nanoseconds,
    open_segments,
)
from tests.ros.rules import as_matrix
from tests.ros.worlds import one_robot

pytestmark = [pytest.mark.ros, pytest.mark.alone]

STEP = 4_000_000  # ns
SENSOR_TOPICS = ("/front_laser", "/scan")
MOVING_TOPICS = ("/odom", "/ground_truth/odom", "/base_pose_ground_truth")
VOLATILE, LASTING = DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL
#: Section 0 of the contract with consumers, and the names of the C++ node.
TOPICS = {
    "/clock": (Clock, VOLATILE),
    "/odom": (Odometry, VOLATILE),
    "/ground_truth/odom": (Odometry, VOLATILE),
    "/base_pose_ground_truth": (Odometry, VOLATILE),
    "/tf": (TFMessage, VOLATILE),
    "/tf_static": (TFMessage, LASTING),
    "/front_laser": (LaserScan, VOLATILE),
    "/scan": (LaserScan, VOLATILE),
    "/map": (OccupancyGrid, LASTING),
    "/simul_map": (OccupancyGrid, LASTING),
    "/map_metadata": (MapMetaData, LASTING),
    "/simul_map_metadata": (MapMetaData, LASTING),
    "/collision": (Bool, VOLATILE),
    "/chassis_markers": (MarkerArray, LASTING),
    "/chassis_polygon": (Polygon, LASTING),
    "/amcl_pose": (PoseWithCovarianceStamped, LASTING),
    "/particlecloud": (PoseArray, VOLATILE),
    "/joint_states": (JointState, VOLATILE),
    "/wheel_states": (WheelStates, VOLATILE),
    "/robot_description": (String, LASTING),
    "/contacts": (Contacts, VOLATILE),
    "/diagnostics": (DiagnosticArray, VOLATILE),
}


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    world = one_robot(tmp_path_factory.mktemp("one"))
    process = NodeProcess(domain, world, use_sim_time=True, publish_rat=20)
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    """An observer that has recorded two simulated seconds while the robot was driven."""
    observer = Observer(domain)
    for topic, (kind, durability) in TOPICS.items():
        observer.subscribe(topic, kind, LATCHED if durability == LASTING else 100)
    command = Twist()
    command.linear.x, command.angular.z = 0.4, -0.3
    with observer.repeat("cmd_vel", command):
        eventually(lambda: len(observer.all("/odom")) > 100, "two seconds of odometry")
    yield observer
    observer.close()


def stamped(observer: Observer, *topics: str) -> list[tuple[int, str, Any]]:
    """Return stamp, topic and message for all events of some topics."""
    return [
        (nanoseconds(message.header.stamp), topic, message)
        for topic, message in list(observer.events)
        if topic in topics
    ]


# ------------------------------------------------------------------------ fake localisation
def test_localised_poses_are_the_truth_in_the_map(observer: Observer) -> None:
    truth = {nanoseconds(m.header.stamp): m.pose.pose for m in observer.all("/ground_truth/odom")}
    estimates, particles = observer.all("/amcl_pose"), observer.all("/particlecloud")
    assert len(estimates) > 50
    for estimate in estimates:
        assert estimate.header.frame_id == "map"
        assert estimate.pose.pose == truth[nanoseconds(estimate.header.stamp)]
        assert np.diag(np.reshape(estimate.pose.covariance, (6, 6))).min() > 0.0
    for particle in particles:
        assert particle.header.frame_id == "map"
        assert particle.poses == [truth[nanoseconds(particle.header.stamp)]]


def test_the_polygon_of_the_chassis_is_published_once(observer: Observer) -> None:
    (polygon,) = observer.all("/chassis_polygon")
    corners = {(round(p.x, 3), round(p.y, 3), p.z) for p in polygon.points}
    assert len(corners) == len(polygon.points) >= 3
    assert all(z == 0.0 for _, _, z in corners)


# ----------------------------------------------------------------------------- names, QoS
def test_topics_types_and_qos(observer: Observer) -> None:
    found = {}
    for topic in TOPICS:
        infos = observer.node.get_publishers_info_by_topic(topic)
        (info,) = [i for i in infos if i.node_name == "mvsim"]
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        found[topic] = (info.topic_type, info.qos_profile.durability)
    for topic, (kind, durability) in TOPICS.items():
        package = kind.__module__.partition(".")[0]
        assert found[topic] == (f"{package}/msg/{kind.__name__}", durability)


def test_nothing_else_is_published(observer: Observer) -> None:
    names = {
        name
        for name in observer.published()
        if name not in ("/rosout", "/parameter_events") and "/_action/" not in name
    }
    assert names == set(TOPICS)


def test_qos_can_be_overridden(observer: Observer) -> None:
    names = [f"qos_overrides.{topic}.publisher.reliability" for topic in TOPICS]
    client = ParameterCaller(observer)
    assert all(value == "reliable" for value in client.get(names))


# ------------------------------------------------------------------------------------ time
def test_the_clock_starts_above_zero_and_runs_in_whole_steps(observer: Observer) -> None:
    times = [nanoseconds(m.clock) for m in observer.all("/clock")]
    assert times[0] > 0
    assert all(t % STEP == 0 for t in times)
    gaps = np.diff(times)
    assert gaps.min() > 0
    assert gaps.max() <= 10_000_000  # at least 100 Hz


def test_every_stamp_is_a_tick_of_the_published_clock(observer: Observer) -> None:
    now = 0
    checked = 0
    for topic, message in list(observer.events):
        if topic == "/clock":
            now = nanoseconds(message.clock)
            continue
        for stamp in stamps_of(message):
            assert stamp > 0
            assert stamp % STEP == 0
            if now and topic in ("/tf", *MOVING_TOPICS, *SENSOR_TOPICS):
                assert stamp <= now, topic
                checked += 1
    assert checked > 500


def stamps_of(message: Any) -> list[int]:
    if isinstance(message, TFMessage):
        return [nanoseconds(t.header.stamp) for t in message.transforms]
    if isinstance(message, MarkerArray):
        return [nanoseconds(m.header.stamp) for m in message.markers]
    if isinstance(message, MapMetaData):
        return [nanoseconds(message.map_load_time)]
    return [nanoseconds(message.header.stamp)] if hasattr(message, "header") else []


def test_transforms_come_before_what_needs_them(observer: Observer) -> None:
    known: set[int] = set()
    first = None
    for topic, message in list(observer.events):
        if topic == "/tf":
            known.add(nanoseconds(message.transforms[0].header.stamp))
            first = first or min(known)
        elif first and topic in (*SENSOR_TOPICS, *MOVING_TOPICS):
            stamp = nanoseconds(message.header.stamp)
            assert stamp <= first or stamp in known, topic


def test_odometry_comes_before_the_scan_of_its_tick(observer: Observer) -> None:
    scans = {stamp for stamp, _, _ in stamped(observer, "/scan")}
    seen: set[int] = set()
    both = 0
    for stamp, topic, _ in stamped(observer, "/odom", "/scan"):
        if topic == "/odom":
            assert stamp not in seen
            both += stamp in scans
        else:
            seen.add(stamp)
    assert both > 10


def test_rates_are_those_of_the_parameters(observer: Observer) -> None:
    for topic, period in (("/odom", 0.02), ("/tf", 0.02), ("/scan", 0.1), ("/front_laser", 0.1)):
        events = [m for name, m in list(observer.events) if name == topic]
        times = sorted({stamps_of(m)[0] for m in events})
        assert np.median(np.diff(times)) == pytest.approx(period * 1e9, abs=STEP / 2)


# ---------------------------------------------------------------------------------- motion
def test_twist_drives_the_robot(observer: Observer) -> None:
    last = observer.all("/odom")[-1]
    assert last.twist.twist.linear.x == pytest.approx(0.4, abs=0.03)
    assert last.twist.twist.angular.z == pytest.approx(-0.3, abs=0.03)
    place = last.pose.pose.position
    assert math.hypot(place.x, place.y) > 0.3
    assert (last.header.frame_id, last.child_frame_id) == ("odom", "base_footprint")


def test_covariances_are_set(observer: Observer) -> None:
    for topic in MOVING_TOPICS:
        message = observer.newest(topic)
        for covariance in (message.pose.covariance, message.twist.covariance):
            assert (np.array(covariance).reshape(6, 6).diagonal() > 0).all()


def test_truth_is_in_the_map_frame(observer: Observer) -> None:
    for topic in ("/ground_truth/odom", "/base_pose_ground_truth"):
        message = observer.newest(topic)
        assert (message.header.frame_id, message.child_frame_id) == ("map", "base_link")


# ------------------------------------------------------------------------------ transforms
class Tree:
    """The transforms at one time."""

    def __init__(self, transforms: list[Any]) -> None:
        self.parent = {t.child_frame_id: t for t in transforms}

    def pose(self, frame: str) -> tuple[str, np.ndarray]:
        """Return the root above a frame and the frame's 4×4 matrix in it."""
        matrix = np.eye(4)
        while frame in self.parent:
            matrix = as_matrix(self.parent[frame].transform) @ matrix
            frame = self.parent[frame].header.frame_id
        return frame, matrix


@pytest.fixture(scope="module")
def trees(observer: Observer) -> dict[int, Tree]:
    """The tree at each tick that has one."""
    fixed = [t for m in observer.all("/tf_static") for t in m.transforms]
    found = {}
    for message in observer.all("/tf"):
        stamp = nanoseconds(message.transforms[0].header.stamp)
        found[stamp] = Tree(fixed + list(message.transforms))
    return found


def test_every_frame_is_in_one_tree_below_map(trees: dict[int, Tree], observer: Observer) -> None:
    tree = trees[max(trees)]
    chain = ["front laser", "base_link", "base_footprint", "odom", "map"]
    for child, parent in pairwise(chain):
        assert tree.parent[child].header.frame_id == parent
    wheels = {"l_wheel_link", "r_wheel_link"}  # on tf since robot_description is read
    assert set(tree.parent) == {*chain[:-1], *wheels}
    assert {tree.parent[wheel].header.frame_id for wheel in wheels} == {"base_link"}
    for _, message in list(observer.events):
        header = getattr(message, "header", None)
        if header is not None and header.frame_id:
            assert header.frame_id in chain
    assert tree.parent["front laser"].transform.translation.z == pytest.approx(0.3)


def test_odometry_starts_at_the_initial_pose(trees: dict[int, Tree]) -> None:
    _, matrix = trees[min(trees)].pose("odom")
    np.testing.assert_allclose(matrix[:3, 3], [-2.0, 1.0, 0.0], atol=0.02)
    np.testing.assert_allclose(matrix[:2, 0], [0.0, 1.0], atol=0.02)


def test_fake_localization_tells_the_truth(trees: dict[int, Tree], observer: Observer) -> None:
    compared = 0
    for stamp, _, message in stamped(observer, "/ground_truth/odom"):
        if stamp not in trees:
            continue
        root, matrix = trees[stamp].pose("base_link")
        assert root == "map"
        place = message.pose.pose.position
        np.testing.assert_allclose(matrix[:3, 3], [place.x, place.y, place.z], atol=1e-6)
        compared += 1
    assert compared > 50


def test_scans_show_the_room_where_it_is(trees: dict[int, Tree], observer: Observer) -> None:
    scans = [(trees[s], m) for s, _, m in stamped(observer, "/scan") if s in trees]
    assert len(scans) > 10
    for tree, scan in scans[::5]:
        _, matrix = tree.pose(scan.header.frame_id)
        angle = scan.angle_min + scan.angle_increment * np.arange(len(scan.ranges))
        hit = np.isfinite(scan.ranges)
        r, angle = np.array(scan.ranges)[hit], angle[hit]
        points = np.stack([r * np.cos(angle), r * np.sin(angle), 0 * r, 1 + 0 * r])
        x, y, _, _ = matrix @ points
        inside = np.minimum(4.9 - np.abs(x), 3.9 - np.abs(y))
        assert hit.sum() > 200
        assert np.abs(inside).max() < 0.06  # the walls' inner faces


# -------------------------------------------------------------------- sensors, map, markers
def test_scan_is_another_name_of_the_only_lidar(observer: Observer) -> None:
    by_stamp = {stamp: m for stamp, _, m in stamped(observer, "/front_laser")}
    both = [(by_stamp[s], m) for s, _, m in stamped(observer, "/scan") if s in by_stamp]
    assert len(both) > 10
    assert all(a.ranges == b.ranges and a.header == b.header for a, b in both)


def test_late_joiners_get_map_markers_and_static_transforms(domain: int, trees: object) -> None:
    late = Observer(domain)
    for topic in ("/map", "/simul_map", "/map_metadata", "/tf_static", "/chassis_markers"):
        late.subscribe(topic, TOPICS[topic][0], LATCHED)
    try:
        for topic in ("/map", "/simul_map", "/map_metadata", "/tf_static", "/chassis_markers"):
            eventually(lambda topic=topic: late.all(topic), topic)
        grid = late.all("/map")[0]
        assert (grid.info.width, grid.info.height) == (100, 80)
        assert late.all("/map_metadata")[0] == grid.info
        cells = np.array(grid.data).reshape(80, 100)
        assert (cells[0] == 100).all()
        assert (cells[1:-1, 1:-1] == 0).all()
        assert len(late.all("/chassis_markers")[0].markers) == 3
    finally:
        late.close()


def test_it_does_not_subscribe_to_its_own_clock(observer: Observer) -> None:
    infos = observer.node.get_subscriptions_info_by_topic("/clock")
    assert "mvsim" not in {info.node_name for info in infos}


# --------------------------------------------------------------- commands, good and bad ones
def test_a_robot_without_commands_stops(observer: Observer, running: NodeProcess) -> None:
    forward = Twist()
    forward.linear.x = 0.3
    with observer.repeat("cmd_vel", forward):
        eventually(lambda: observer.newest("/odom").twist.twist.linear.x > 0.25, "driving")
    eventually(lambda: slow(observer), "standstill")
    eventually(lambda: "r1: no command for 0.5 s, it stops" in running.output, "a line in the log")


def slow(observer: Observer) -> bool:
    return bool(abs(observer.newest("/odom").twist.twist.linear.x) < 0.05)


def test_stamped_twist_drives_the_robot_too(observer: Observer) -> None:
    command = TwistStamped()
    command.twist.linear.x = -0.3
    with observer.repeat("cmd_vel", command):
        eventually(
            lambda: observer.newest("/odom").twist.twist.linear.x < -0.25, "driving backwards"
        )
        assert types_heard(observer) == {"geometry_msgs/msg/TwistStamped"}


def types_heard(observer: Observer) -> set[str]:
    eventually(lambda: len(observer.node.get_subscriptions_info_by_topic("/cmd_vel")) == 1, "one")
    return {i.topic_type for i in observer.node.get_subscriptions_info_by_topic("/cmd_vel")}


def test_publishers_that_disagree_are_named(
    observer: Observer, running: NodeProcess, domain: int
) -> None:
    other = Observer(domain)
    try:
        with observer.repeat("cmd_vel", Twist()), other.repeat("cmd_vel", TwistStamped()):
            line = eventually(
                lambda: [x for x in running.output.splitlines() if "disagree" in x], "an error"
            )[0]
    finally:
        other.close()
    assert "[ERROR]" in line
    assert "geometry_msgs/msg/Twist and geometry_msgs/msg/TwistStamped" in line


def test_nan_is_refused_and_the_node_goes_on(observer: Observer, running: NodeProcess) -> None:
    bad = Twist()
    bad.linear.x, bad.angular.z = math.nan, math.inf
    with observer.repeat("cmd_vel", bad):
        line = eventually(
            lambda: [x for x in running.output.splitlines() if "refused" in x], "a warning"
        )[0]
    assert "[WARN]" in line
    assert "r1: command refused, not within ±1000: vx = nan, wz = inf" in line
    for message in observer.all("/odom")[-20:]:
        assert math.isfinite(message.pose.pose.position.x)
    good = Twist()
    good.angular.z = 0.5
    with observer.repeat("cmd_vel", good):
        eventually(lambda: observer.newest("/odom").twist.twist.angular.z > 0.4, "turning")


def test_driving_into_a_wall_is_a_collision(observer: Observer) -> None:
    assert not any(m.data for m in observer.all("/collision"))
    command = Twist()
    command.linear.x = 2.0
    with observer.repeat("cmd_vel", command):
        eventually(lambda: any(m.data for m in observer.all("/collision")), "a collision")


# ------------------------------------------------------------------------------ parameters
class ParameterCaller:
    """Gets and sets parameters of the node."""

    def __init__(self, observer: Observer) -> None:
        self._node = observer.node

    def get(self, names: list[str]) -> list[Any]:
        from rcl_interfaces.srv import GetParameters
        from rclpy.parameter import parameter_value_to_python

        answer = self._call(GetParameters, "get_parameters", GetParameters.Request(names=names))
        return [parameter_value_to_python(v) for v in answer.values]

    def describe(self, names: list[str]) -> list[Any]:
        from rcl_interfaces.srv import DescribeParameters

        request = DescribeParameters.Request(names=names)
        return list(self._call(DescribeParameters, "describe_parameters", request).descriptors)

    def set(self, name: str, value: Any) -> Any:
        parameter = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[parameter])
        return self._call(SetParameters, "set_parameters", request).results[0]

    def _call(self, kind: Any, service: str, request: Any) -> Any:
        client = connect(self._node, kind, f"/mvsim/{service}")
        future = client.call_async(request)
        eventually(future.done, f"an answer of {service}")
        self._node.destroy_client(client)
        return future.result()


def test_the_pace_can_be_changed_while_running(observer: Observer) -> None:
    client = ParameterCaller(observer)
    assert client.set("realtime_factor", "max").successful
    wall, sim = time.monotonic(), nanoseconds(observer.newest("/clock").clock)
    eventually(lambda: nanoseconds(observer.all("/clock")[-1].clock) - sim > 4e9, "four seconds")
    assert time.monotonic() - wall < 3.0
    assert client.set("realtime_factor", 1).successful
    status = observer.newest("/diagnostics").status[0]
    assert status.name == "mvsim: simulation"
    assert float({v.key: v.value for v in status.values}["real_time_factor"]) > 0


def test_nonsense_and_fixed_parameters_are_refused(observer: Observer) -> None:
    client = ParameterCaller(observer)
    answer = client.set("publish_rate", -3)  # of a whole number ROS checks no range
    assert not answer.successful
    assert answer.reason == (
        "parameter 'publish_rate' must be a number in [0.1, 10000] Hz, got -3"
    )
    assert not client.set("world_file", "other.world.xml").successful
    assert client.get(["use_sim_time", "publish_rate"]) == [True, 50.0]


RANGES = {
    "realtime_factor": (0.0, 1e6),
    "command_timeout": (0.0, 1e6),
    "publish_rate": (0.1, 1e4),
    "clock_rate": (1.0, 1e4),
}


def test_ranges_are_described(observer: Observer) -> None:
    described = ParameterCaller(observer).describe([*RANGES, "seed", "odom_frame"])
    for one, span in zip(described[:-2], RANGES.values(), strict=True):
        (found,) = one.floating_point_range
        assert (found.from_value, found.to_value, found.step) == (*span, 0.0)
        assert not one.integer_range  # only one of the two may be given
    seed, frame = described[-2:]
    (found,) = seed.integer_range
    assert (found.from_value, found.to_value) == (0, 2**63 - 1)
    assert seed.read_only
    assert not seed.floating_point_range
    assert not frame.floating_point_range
    assert not frame.integer_range
    assert frame.additional_constraints == "must be a name without spaces"


@pytest.mark.parametrize("name", RANGES)
def test_a_range_is_kept_to_and_its_ends_belong_to_it(observer: Observer, name: str) -> None:
    client = ParameterCaller(observer)
    (before,) = client.get([name])
    low, high = RANGES[name]
    for value in (low - 0.05, high * 1.01, math.nan, math.inf):
        answer = client.set(name, value)
        assert not answer.successful
        for word in (name, str(low), str(high), str(value)):
            assert word in answer.reason
    assert client.get([name]) == [before]
    if name != "realtime_factor":  # as fast as possible, for the tests that follow
        assert client.set(name, high).successful
        assert client.set(name, low).successful
    assert client.set(name, math.ceil(before)).successful  # a whole number will do
    assert client.set(name, before).successful


def test_unknown_parameters_are_reported(running: NodeProcess) -> None:
    assert "unknown parameter 'publish_rat'. Did you mean 'publish_rate'?" in running.output


# ------------------------------------------------------------------- the end; must come last
def test_two_interrupts_end_it_cleanly(running: NodeProcess, observer: Observer) -> None:
    segments = running.segments() | open_segments(os.getpid())
    assert segments
    code, seconds = running.interrupt(times=2)
    assert code == 0
    assert seconds < 2.0
    assert "Traceback" not in running.output
    own = segments - open_segments(os.getpid())
    eventually(lambda: not any(p.exists() for p in own), "shared memory given back", 2.0)


def test_nothing_remains_in_the_shared_memory(observer: Observer, tmp_path: Path) -> None:
    segments = open_segments(os.getpid())
    assert segments
    observer.close()
    eventually(lambda: not any(p.exists() for p in segments), "shared memory given back", 2.0)
