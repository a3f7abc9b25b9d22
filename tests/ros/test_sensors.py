# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A robot with a sensor of each class, in front of a wall: all published messages."""

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist, TwistWithCovarianceStamped
from mvsim_msgs.msg import Contacts, WheelStates
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import (
    CameraInfo,
    CompressedImage,
    Image,
    Imu,
    JointState,
    LaserScan,
    MagneticField,
    NavSatFix,
    PointCloud2,
    Range,
)
from std_msgs.msg import Bool, String
from tf2_msgs.msg import TFMessage

from tests.opengl import has_gl
from tests.ros.node_process import LATCHED, NodeProcess, Observer, eventually, nanoseconds
from tests.ros.rules import as_matrix
from tests.ros.worlds import all_sensors

pytestmark = pytest.mark.ros

STEP = 4_000_000  # ns
SENSORS = {
    "/r1/scan": LaserScan,
    "/r1/scanner": LaserScan,
    "/r1/points": PointCloud2,
    "/r1/top/points": PointCloud2,
    "/r1/top_points": PointCloud2,
    "/r1/imu/data": Imu,
    "/r1/inertial": Imu,
    "/r1/gps/fix": NavSatFix,
    "/r1/antenna": NavSatFix,
    "/r1/gps/fix_velocity": TwistWithCovarianceStamped,
    "/r1/antenna/fix_velocity": TwistWithCovarianceStamped,
    "/r1/odom_2": JointState,
    "/r1/sonar": Range,
    "/r1/compass": MagneticField,
    "/r1/imu/mag": MagneticField,
    "/mast": LaserScan,
    "/r1/depth_cam/depth/camera_info": CameraInfo,
    "/r1/depth_cam/depth/image_raw": Image,
    "/r1/depth_cam/depth/image_raw/compressed": CompressedImage,
    "/r1/depth_cam/depth/image": Image,
    "/r1/depth_cam/points": PointCloud2,
    "/r1/depth_cam/segmentation/image_raw": Image,
    "/r1/depth_cam/instances/image_raw": Image,
    "/r1/depth_cam_depth/camera_info": CameraInfo,
    "/r1/depth_cam_depth/image_raw": Image,
    "/r1/depth_cam_points": PointCloud2,
}
PICTURES = {
    "/r1/eye/image_raw": Image,
    "/r1/eye/image_raw/compressed": CompressedImage,
    "/r1/pair/right/image_raw/compressed": CompressedImage,
    "/r1/depth_cam/image_raw/compressed": CompressedImage,
    "/r1/depth_cam_rgb/image_raw/compressed": CompressedImage,
    "/r1/eye/camera_info": CameraInfo,
    "/r1/pair/left/image_raw": Image,
    "/r1/pair/left/camera_info": CameraInfo,
    "/r1/pair/right/image_raw": Image,
    "/r1/pair/right/camera_info": CameraInfo,
    "/r1/depth_cam/image_raw": Image,
    "/r1/depth_cam/camera_info": CameraInfo,
    "/r1/depth_cam_rgb/image_raw": Image,
    "/r1/depth_cam_rgb/camera_info": CameraInfo,
}
SECTORS = tuple(f"/r1/bumper/{name}" for name in ("front", "left", "back", "right_hand"))
VEHICLES = {
    "/r1/joint_states": JointState,
    "/car/joint_states": JointState,
    "/r1/wheel_states": WheelStates,
    "/contacts": Contacts,
}


@pytest.fixture(scope="module")
def observer(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Observer]:
    """An observer that has recorded for a while, the robots at rest."""
    world = all_sensors(tmp_path_factory.mktemp("sensors"))
    process = NodeProcess(domain, world, odom_starts_at="spawn", publish_initialpose=True)
    observer = Observer(domain)
    observer.subscribe("/clock", Clock)
    observer.subscribe("/r1/tf", TFMessage)
    observer.subscribe("/r1/tf_static", TFMessage, LATCHED)
    observer.subscribe("/r1/robot_description", String, LATCHED)
    observer.subscribe("/r1/depth_cam/labels", String, LATCHED)
    for topic, kind in {**SENSORS, **PICTURES, **VEHICLES}.items():
        observer.subscribe(topic, kind)
    for topic in SECTORS:
        observer.subscribe(topic, Bool)
    try:
        eventually(
            lambda: (
                min(len(observer.all(topic)) for topic in (*SENSORS, *VEHICLES)) > 3
                and observer.all("/r1/tf")
            ),
            "messages of all sensors",
        )
        yield observer
        assert "Traceback" not in process.output
    finally:
        observer.close()
        process.close()


@pytest.fixture(scope="module")
def places(observer: Observer) -> dict[str, tuple[str, np.ndarray]]:
    """Parent, and pose in it, of each frame."""
    eventually(lambda: len(observer.all("/r1/tf")[-1].transforms) > 2, "wheels on tf")
    messages = [*observer.all("/r1/tf_static"), observer.all("/r1/tf")[-1]]
    return {
        t.child_frame_id: (t.header.frame_id, as_matrix(t.transform))
        for m in messages
        for t in m.transforms
    }


def in_the_map(frame: str, places: dict[str, tuple[str, np.ndarray]]) -> np.ndarray:
    """Return the 4×4 matrix of a frame in `map`."""
    matrix = np.eye(4)
    while frame != "map":
        frame, step = places[frame]
        matrix = step @ matrix
    return matrix


def finite_points(message: PointCloud2) -> np.ndarray:
    """Return homogeneous points (4, n)."""
    raw = np.frombuffer(message.data.tobytes(), np.uint8).reshape(-1, message.point_step)
    xyz = raw[:, :12].copy().view("f4")
    xyz = xyz[np.isfinite(xyz).all(axis=1)]
    return np.vstack([xyz.T, np.ones(len(xyz))])


def test_types_and_qos(observer: Observer) -> None:
    for topic, kind in {**SENSORS, **PICTURES, **VEHICLES}.items():
        (info,) = observer.node.get_publishers_info_by_topic(topic)
        package = kind.__module__.partition(".")[0]
        assert info.topic_type == f"{package}/msg/{kind.__name__}"
        assert info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
        assert info.qos_profile.durability == DurabilityPolicy.VOLATILE


def test_stamps_are_ticks_of_the_published_clock(observer: Observer) -> None:
    now = 0
    for topic, message in list(observer.events):
        if topic == "/clock":
            now = nanoseconds(message.clock)
        elif now and topic in {**SENSORS, **PICTURES, **VEHICLES}:
            stamp = nanoseconds(message.header.stamp)
            assert stamp > 0, topic
            assert stamp % STEP == 0, topic
            assert stamp <= now, topic


def test_all_frames_are_in_the_tree_and_links_of_the_robot(
    observer: Observer, places: dict[str, tuple[str, np.ndarray]]
) -> None:
    (text,) = {m.data for m in observer.all("/r1/robot_description")}
    for topic in {**SENSORS, **PICTURES}:
        for message in observer.all(topic)[-1:]:
            if topic == "/mast":  # fixed in the world
                assert places["mast"][0] == "map"
            elif message.header.frame_id:
                in_the_map(message.header.frame_id, places)
                assert f'<link name="{message.header.frame_id}"' in text
    assert "depth cam_optical_frame" in places
    for link in set(places) - {"odom", "mast"}:
        assert f'<link name="{link}"' in text


@pytest.mark.parametrize("topic", ["/r1/points", "/r1/depth_cam/points"])
def test_clouds_show_the_wall_where_it_is(
    observer: Observer, places: dict[str, tuple[str, np.ndarray]], topic: str
) -> None:
    cloud = observer.newest(topic)
    points = in_the_map(cloud.header.frame_id, places) @ finite_points(cloud)
    facing = points[:, (points[2] > 0.3) & (np.abs(points[1]) < 3) & (points[0] > 1)]
    assert facing.shape[1] > 20
    assert np.abs(facing[0] - 3.0).max() < 0.08


def test_a_sweeping_lidar_has_times(observer: Observer) -> None:
    cloud = observer.newest("/r1/points")
    assert [f.name for f in cloud.fields] == ["x", "y", "z", "intensity", "ring", "time"]
    offset = cloud.fields[-1].offset
    raw = np.frombuffer(cloud.data.tobytes(), np.uint8).reshape(-1, cloud.point_step)
    times = raw[:, offset : offset + 4].copy().view("f4")
    assert 0.0 <= times.min() < times.max() < 0.1


def test_depth_images_agree(observer: Observer) -> None:
    raw = observer.newest("/r1/depth_cam/depth/image_raw")
    stamp = raw.header.stamp
    plain = eventually(
        lambda: [m for m in observer.all("/r1/depth_cam/depth/image") if m.header.stamp == stamp],
        "the same in metres",
    )[0]
    infos = eventually(
        lambda: [
            m for m in observer.all("/r1/depth_cam/depth/camera_info") if m.header.stamp == stamp
        ],
        "its intrinsics",
    )
    counts = np.frombuffer(raw.data, "u2").reshape(raw.height, raw.width)
    metres = np.frombuffer(plain.data, "f4").reshape(raw.height, raw.width)
    assert (raw.encoding, plain.encoding) == ("16UC1", "32FC1")
    seen = np.isfinite(metres)
    np.testing.assert_allclose(counts[seen] * 1e-3, metres[seen], atol=5.1e-4)
    assert (counts[~seen] == 0).all()
    assert metres[15, 20] == pytest.approx(2.75, abs=0.02)
    info = infos[0]
    assert info.header == raw.header
    assert (info.width, info.height) == (raw.width, raw.height) == (40, 30)
    assert (info.k[0], info.p[3], info.r[0]) == (30.0, 0.0, 1.0)


@pytest.mark.skipif(not has_gl(), reason="no OpenGL here")
def test_pictures_have_intrinsics_of_the_same_time(observer: Observer) -> None:
    for name, size in (("eye", (64, 48)), ("depth_cam", (40, 30))):
        picture = observer.newest(f"/r1/{name}/image_raw")
        info = [
            m
            for m in observer.all(f"/r1/{name}/camera_info")
            if m.header.stamp == picture.header.stamp
        ]
        assert info[0].header == picture.header
        assert (picture.width, picture.height) == size == (info[0].width, info[0].height)
        assert picture.encoding == "rgb8"
        assert len(picture.data) == 3 * picture.width * picture.height
        assert max(picture.data) > 50  # the wall fills it
    assert observer.newest("/r1/eye/image_raw").header.frame_id == "eye_optical_frame"
    frame = observer.newest("/r1/depth_cam/image_raw").header.frame_id
    assert frame == "depth cam_rgb_optical_frame"


def test_pixels_have_classes_and_instances(observer: Observer) -> None:
    classes = observer.newest("/r1/depth_cam/segmentation/image_raw")
    instances = observer.newest("/r1/depth_cam/instances/image_raw")
    (labels,) = {m.data for m in observer.all("/r1/depth_cam/labels")}
    names = json.loads(labels)
    assert (classes.encoding, instances.encoding) == ("mono8", "16UC1")
    ahead = np.frombuffer(instances.data, "u2").reshape(30, 40)[15, 20]
    assert names["instances"][str(ahead)] == {"name": "wall", "class": "block"}
    ahead = np.frombuffer(classes.data, "u1").reshape(30, 40)[15, 20]
    assert names["classes"][str(ahead)] == "block"
    assert classes.header.frame_id == "depth cam_optical_frame"


@pytest.mark.skipif(not has_gl(), reason="no OpenGL here")
def test_a_stereo_pair_as_image_geometry_wants_it(observer: Observer) -> None:
    left, right = (observer.newest(f"/r1/pair/{side}/camera_info") for side in ("left", "right"))
    assert (left.p[3], right.p[3]) == pytest.approx((0.0, -40 * 0.1))
    assert left.header.frame_id == right.header.frame_id == "pair_optical_frame"
    assert list(left.k) == list(right.k)
    pictures = observer.newest("/r1/pair/right/image_raw")
    assert pictures.header.frame_id == "pair_optical_frame"
    assert (pictures.width, pictures.height, pictures.encoding) == (32, 24, "rgb8")


def test_imu_by_rep_145(observer: Observer) -> None:
    message = observer.newest("/r1/imu/data")
    assert message.linear_acceleration.z == pytest.approx(9.81, abs=0.1)
    assert abs(message.linear_acceleration.x) < 0.2
    for covariance in (
        message.angular_velocity_covariance,
        message.linear_acceleration_covariance,
        message.orientation_covariance,
    ):
        assert (np.array(covariance)[::4] > 0).all()
    assert message.orientation.w == pytest.approx(1.0, abs=1e-3)  # towards east
    assert message.header.frame_id == "inertial"
    stamps = [nanoseconds(m.header.stamp) for m in observer.all("/r1/imu/data")]
    # 10 ms on average, in whole steps; a busy machine loses some of these messages
    intervals, each = np.diff(stamps), {2 * STEP, 3 * STEP}
    assert each <= set(intervals.tolist())
    assert {(stamp - stamps[0]) % (5 * STEP) for stamp in stamps} in ({0, step} for step in each)
    assert intervals.min() == 2 * STEP
    assert np.isin(intervals, list(each)).mean() > 0.8
    assert len(stamps) > 0.5 * (stamps[-1] - stamps[0]) / 10_000_000


def test_a_fix(observer: Observer) -> None:
    fix = observer.newest("/r1/gps/fix")
    assert fix.status.status == fix.status.STATUS_FIX
    assert fix.position_covariance_type == fix.COVARIANCE_TYPE_DIAGONAL_KNOWN
    assert (fix.latitude, fix.longitude) == pytest.approx((36.8, -2.4), abs=2e-4)
    assert fix.altitude == pytest.approx(60.0, abs=25)
    assert fix.header.frame_id == "antenna"
    velocity = observer.newest("/r1/gps/fix_velocity")
    assert velocity.header.frame_id == "antenna"
    linear = velocity.twist.twist.linear
    assert max(map(abs, (linear.x, linear.y, linear.z))) < 0.3  # at rest
    assert velocity.twist.covariance[0] == pytest.approx(0.05**2)
    assert velocity.twist.covariance[21] == -1.0


def test_late_readers_get_the_description_whatever_their_durability(
    domain: int, observer: Observer
) -> None:
    for durability in (DurabilityPolicy.VOLATILE, DurabilityPolicy.TRANSIENT_LOCAL):
        late = Observer(domain)
        late.subscribe("/r1/robot_description", String, QoSProfile(depth=1, durability=durability))
        try:
            received = eventually(
                lambda late=late: late.all("/r1/robot_description"), "a description"
            )
            assert {m.data for m in received} == {observer.all("/r1/robot_description")[0].data}
        finally:
            late.close()


def test_new_subscribers_get_the_initial_pose(domain: int, observer: Observer) -> None:
    late = Observer(domain)
    late.subscribe("/car/initialpose", PoseWithCovarianceStamped)
    late.subscribe("/car/odom", Odometry)
    try:
        (received,) = eventually(lambda: late.all("/car/initialpose"), "an initial pose")
        odom = late.newest("/car/odom").pose.pose.position
    finally:
        late.close()
    place = received.pose.pose.position
    assert received.header.frame_id == "map"
    assert (place.x, place.y) == pytest.approx((-5.0, 2.0), abs=0.01)
    assert (odom.x, odom.y) == pytest.approx((-5.0, 2.0), abs=0.01)  # odom_starts_at: spawn
    assert received.pose.covariance[0] > 0


def test_distance_and_magnetic_field(observer: Observer) -> None:
    sonar = observer.newest("/r1/sonar")
    assert (sonar.radiation_type, sonar.header.frame_id) == (Range.ULTRASOUND, "sonar")
    assert sonar.field_of_view == pytest.approx(math.radians(15.0))
    assert (sonar.min_range, sonar.max_range) == pytest.approx((0.02, 4.0))
    # the wall, unless the floor is nearer at the rim of the cone
    assert sonar.range == pytest.approx(0.3 / math.sin(math.radians(7.5)), abs=0.06)
    compass = observer.newest("/r1/compass")
    field = compass.magnetic_field
    assert math.hypot(field.x, field.y, field.z) == pytest.approx(44e-6, rel=0.05)
    assert field.y > 2e-5  # north is to the left
    assert compass.magnetic_field_covariance[0] == pytest.approx(25e-14)
    assert compass.header.frame_id == "compass"


def test_wheels_turn_and_contacts_are_published(observer: Observer) -> None:
    command = Twist()
    command.linear.x, command.angular.z = 0.8, 0.2
    with observer.repeat("car/cmd_vel", command):
        state = eventually(
            lambda: [m for m in observer.all("/car/joint_states")[-1:] if m.velocity[0] > 3.5],
            "turning wheels",
        )[0]
    names = [f"{w}_wheel_joint" for w in ("rl", "rr", "fl", "fr")]
    assert state.name == [*names, "fl_wheel_steering_joint", "fr_wheel_steering_joint"]
    assert len(state.position) == len(state.velocity) == len(state.effort) == 6
    assert state.position[4] > state.position[5] > 0.0  # the inner wheel steers more
    command.linear.x, command.angular.z = 2.0, 0.0
    with observer.repeat("r1/cmd_vel", command):
        touches = eventually(
            lambda: [m for m in observer.all("/contacts")[-20:] if m.contacts], "a contact"
        )[-1]
        eventually(
            lambda: [observer.newest(topic).data for topic in SECTORS] == [True] + [False] * 3,
            "the front of the bumper, alone",
        )
    (contact,) = touches.contacts
    assert {contact.entity_a, contact.entity_b} == {"r1", "wall"}
    assert contact.position.x == pytest.approx(3.0, abs=0.1)
    assert touches.header.frame_id == "map"
    wheels = observer.newest("/r1/wheel_states")
    assert [w.name for w in wheels.wheels] == ["l_wheel_joint", "r_wheel_joint"]
    # What the wheels carry is the chassis; its weight is shared.
    assert sum(w.normal_force for w in wheels.wheels) == pytest.approx(15 * 9.81, rel=0.01)
    # Encoders that are called odom: that topic is the vehicle's.
    ticks: Any = observer.newest("/r1/odom_2")
    assert ticks.name == ["l_wheel_joint", "r_wheel_joint"]
    assert all(math.isfinite(p) and p > 1.0 for p in ticks.position)
