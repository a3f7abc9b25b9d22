# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two robots in one world: namespaces, a car, and scans of any geometry."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from ackermann_msgs.msg import AckermannDrive, AckermannDriveStamped
from geometry_msgs.msg import Transform, Twist
from mvsim_msgs.msg import Contacts
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

from tests.conftest import DomainPool
from tests.ros.node_process import LATCHED, NodeProcess, Observer, eventually, nanoseconds
from tests.ros.rules import expected_beams
from tests.ros.worlds import all_sensors, two_robots

pytestmark = [pytest.mark.ros, pytest.mark.alone]

_dice = random.Random(7)
#: 20 random (rays, field of view in degrees).
FANS = [(_dice.randint(60, 2000), _dice.uniform(30.0, 359.0)) for _ in range(17)]
FANS += [(360, 360.0), (1081, 270.0), (721, 360.0)]


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    world = two_robots(tmp_path_factory.mktemp("two"), FANS)
    process = NodeProcess(domain, world, publish_base_footprint=False, command_timeout=0)
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = Observer(domain)
    for name in ("zoe", "anna"):
        observer.subscribe(f"/{name}/odom", Odometry)
        observer.subscribe(f"/{name}/tf", TFMessage)
        observer.subscribe(f"/{name}/tf_static", TFMessage, LATCHED)
        observer.subscribe(f"/{name}/chassis_markers", MarkerArray, LATCHED)
    for i in range(len(FANS)):
        observer.subscribe(f"/zoe/laser{i}", LaserScan, 5)
    eventually(lambda: observer.all("/anna/odom"), "odometry")
    yield observer
    observer.close()


def test_each_robot_has_a_namespace_and_nothing_is_left_outside(observer: Observer) -> None:
    published = set(observer.published())
    outside = {n for n in published if not n.startswith(("/zoe/", "/anna/", "/simulate_steps/"))}
    assert outside == {"/clock", "/contacts", "/diagnostics", "/rosout", "/parameter_events"}
    assert {"/zoe/odom", "/zoe/tf", "/zoe/tf_static", "/zoe/laser0", "/anna/odom"} <= published
    assert "/zoe/scan" not in published  # more than one lidar


def test_frames_are_plain_in_each_namespace(observer: Observer) -> None:
    for name in ("zoe", "anna"):
        transforms = observer.newest(f"/{name}/tf").transforms
        links = {(t.header.frame_id, t.child_frame_id) for t in transforms}
        assert links == {("map", "odom"), ("odom", "base_link")}


def test_static_transforms_belong_to_their_robot(observer: Observer) -> None:
    (zoe,) = observer.all("/zoe/tf_static")
    assert {t.child_frame_id for t in zoe.transforms} == {f"laser{i}" for i in range(len(FANS))}
    assert {t.header.frame_id for t in zoe.transforms} == {"base_link"}
    (anna,) = observer.all("/anna/tf_static")
    assert anna.transforms == []


@pytest.mark.parametrize("i", range(len(FANS)))
def test_scans_satisfy_slam_toolbox(observer: Observer, i: int) -> None:
    scan = eventually(lambda: observer.all(f"/zoe/laser{i}"), f"a scan of laser{i}")[0]
    n = len(scan.ranges)
    assert n == FANS[i][0]
    assert expected_beams(scan.angle_min, scan.angle_max, scan.angle_increment, n) == n
    assert scan.header.frame_id == f"laser{i}"


def test_only_the_car_takes_ackermann_commands(observer: Observer) -> None:
    node = observer.node
    for topic, kind in (
        ("ackermann_cmd", "ackermann_msgs/msg/AckermannDriveStamped"),
        ("ackermann_cmd_unstamped", "ackermann_msgs/msg/AckermannDrive"),
    ):
        infos = node.get_subscriptions_info_by_topic(f"/anna/{topic}")
        assert [info.topic_type for info in infos] == [kind]  # one type for each name
        assert node.count_subscribers(f"/zoe/{topic}") == 0


@pytest.mark.parametrize("stamped", [True, False], ids=["stamped", "unstamped"])
def test_ackermann_commands_drive_and_steer_the_car_alone(
    observer: Observer, stamped: bool
) -> None:
    speed = 1.0 if stamped else -1.0  # the other way back
    still = observer.newest("/zoe/odom").pose.pose
    drive = AckermannDrive(speed=speed, steering_angle=0.3)
    command = AckermannDriveStamped(drive=drive) if stamped else drive
    topic = "/anna/ackermann_cmd" if stamped else "/anna/ackermann_cmd_unstamped"
    with observer.repeat(topic, command):
        eventually(
            lambda: observer.newest("/anna/odom").twist.twist.linear.x * speed > 0.9, "speed"
        )
        # yaw rate of a bicycle: v tan(steering) / wheelbase
        eventually(
            lambda: (
                observer.newest("/anna/odom").twist.twist.angular.z
                == pytest.approx(speed * 0.3093 / 0.8, rel=0.15)
            ),
            "turning",
        )
    first, *_, last = observer.all("/anna/chassis_markers")
    assert first.markers[3].pose.orientation != last.markers[3].pose.orientation
    assert observer.newest("/zoe/odom").pose.pose == still


def test_an_ackermann_command_of_the_other_type_is_an_error_that_names_its_topic(
    observer: Observer, running: NodeProcess
) -> None:
    wrong = observer.node.create_publisher(AckermannDrive, "/anna/ackermann_cmd", 10)
    try:
        line = eventually(
            lambda: [x for x in running.output.splitlines() if "AckermannDrive," in x], "an error"
        )[0]
    finally:
        observer.node.destroy_publisher(wrong)
    assert "[ERROR]" in line
    assert line.endswith(
        "/anna/ackermann_cmd: a publisher sends ackermann_msgs/msg/AckermannDrive, but this node"
        " subscribes to ackermann_msgs/msg/AckermannDriveStamped: those commands are lost;"
        " send them on ackermann_cmd_unstamped"
    )


def test_without_a_time_out_the_last_command_holds(observer: Observer) -> None:
    command = Twist()
    command.linear.x = 1.0
    with observer.repeat("/anna/cmd_vel", command):
        eventually(lambda: observer.newest("/anna/odom").twist.twist.linear.x > 0.9, "driving")
    end = nanoseconds(observer.newest("/anna/odom").header.stamp) + 2 * 10**9
    while nanoseconds((odom := observer.newest("/anna/odom")).header.stamp) < end:
        assert odom.twist.twist.linear.x > 0.9  # four times the default time-out long
    with observer.repeat("/anna/cmd_vel", Twist()):
        eventually(lambda: observer.newest("/anna/odom").twist.twist.linear.x < 0.1, "standing")


def test_with_a_prefix_both_robots_share_one_tree(domain_pool: DomainPool, tmp_path: Path) -> None:
    domain = domain_pool.take()
    world = two_robots(tmp_path, [(60, 180.0)])
    process = NodeProcess(domain, world, frame_prefix="<name>/", realtime_factor=5)
    observer = Observer(domain)
    try:
        observer.subscribe("/tf", TFMessage)
        observer.subscribe("/tf_static", TFMessage, LATCHED)
        observer.subscribe("/zoe/laser0", LaserScan)
        scan = eventually(lambda: observer.all("/zoe/laser0"), "a scan")[0]
        assert scan.header.frame_id == "zoe/laser0"
        eventually(lambda: len(observer.all("/tf_static")) == 2, "both robots' fixed frames")
        messages = observer.all("/tf_static") + observer.all("/tf")
        links = {(t.header.frame_id, t.child_frame_id) for m in messages for t in m.transforms}
        both = {
            link
            for name in ("zoe", "anna")
            for link in (
                ("map", f"{name}/odom"),
                (f"{name}/odom", f"{name}/base_footprint"),
                (f"{name}/base_footprint", f"{name}/base_link"),
            )
        }
        assert links == both | {("zoe/base_link", "zoe/laser0")}
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)


def test_a_world_frame_ties_the_maps_of_all_robots_together(
    domain_pool: DomainPool, tmp_path: Path
) -> None:
    """Each robot localises itself: only static transforms connect the trees."""
    domain = domain_pool.take()
    world = all_sensors(tmp_path)
    process = NodeProcess(
        domain,
        world,
        frame_prefix="<name>/",
        world_frame="world",
        do_fake_localization=False,
        realtime_factor=5,
    )
    observer = Observer(domain)
    try:
        observer.subscribe("/tf", TFMessage)
        observer.subscribe("/tf_static", TFMessage, LATCHED)
        observer.subscribe("/contacts", Contacts)
        observer.subscribe("/r1/ground_truth/odom", Odometry)
        eventually(lambda: len(observer.all("/tf_static")) == 2, "both robots' fixed frames")
        assert observer.newest("/contacts").header.frame_id == "world"
        assert observer.newest("/r1/ground_truth/odom").header.frame_id == "r1/map"
        fixed = [t for m in observer.all("/tf_static") for t in m.transforms]
        ties = [t for t in fixed if t.header.frame_id == "world"]
        assert {t.child_frame_id for t in ties} == {"r1/map", "car/map", "mast"}
        maps = [t.transform for t in ties if t.child_frame_id != "mast"]
        assert all(t == Transform() for t in maps)  # the identity
        moving = {t.header.frame_id for m in observer.all("/tf") for t in m.transforms}
        assert "r1/odom" in moving
        assert not {"map", "world", "r1/map"} & moving
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)


def test_without_a_prefix_the_world_is_above_each_robot_s_own_map(
    domain_pool: DomainPool, tmp_path: Path
) -> None:
    domain = domain_pool.take()
    process = NodeProcess(domain, two_robots(tmp_path, []), world_frame="world")
    observer = Observer(domain)
    try:
        for name in ("zoe", "anna"):
            observer.subscribe(f"/{name}/tf_static", TFMessage, LATCHED)
            (message,) = eventually(
                lambda name=name: observer.all(f"/{name}/tf_static"), "fixed frames"
            )
            links = {(t.header.frame_id, t.child_frame_id) for t in message.transforms}
            assert links == {("world", "map"), ("base_footprint", "base_link")}
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)


def test_it_ends_on_sigterm(running: NodeProcess) -> None:
    code, seconds = running.interrupt(number=15)
    assert (code, seconds < 2.0) == (0, True)
    assert "Traceback" not in running.output
