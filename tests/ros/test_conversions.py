# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages made of plain values, without a graph."""

import math
from array import array
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("tf2_msgs")

from ackermann_msgs.msg import AckermannDrive, AckermannDriveStamped
from diagnostic_msgs.msg import DiagnosticStatus
from geometry_msgs.msg import Twist as TwistMessage
from geometry_msgs.msg import TwistStamped
from hypothesis import given
from hypothesis import strategies as st
from visualization_msgs.msg import Marker

from mvsim_core import Pose, Twist
from mvsim_core.bags.motion import (
    GROUND_TRUTH,
    WHEEL_ODOMETRY,
    compose_planar,
    map_to_odom,
)
from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.geometry.poses import rotation
from mvsim_core.sensors.lidar2d import LaserFan, LaserReading, fan_angles
from mvsim_core.world.commands import MOST_SPEED
from mvsim_core.world.vehicle import OdometryCovariance
from mvsim_ros2.conversions.commands import (
    AckermannCommand,
    TwistCommand,
    ackermann_command,
    refused_fields,
    twist_command,
)
from mvsim_ros2.conversions.diagnostics import RunStatistics, diagnostics_message
from mvsim_ros2.conversions.maps import map_message
from mvsim_ros2.conversions.markers import ChassisShape, WheelShape, header_of, vehicle_markers
from mvsim_ros2.conversions.motion import (
    fill_covariances,
    fill_odometry,
    odometry_message,
    transform_message,
)
from mvsim_ros2.conversions.scans import scan_message
from mvsim_ros2.conversions.stamps import clock_message, stamp_of
from tests.ros.rules import expected_beams

NOW = stamp_of(1_250_000_000)
angles = st.floats(-10.0, 10.0)
lengths = st.floats(-1e3, 1e3)


@given(st.integers(0, 2**31 * 10**9 - 1))
def test_stamps_are_exact(nanoseconds: int) -> None:
    stamp = stamp_of(nanoseconds)
    assert stamp.sec * 10**9 + stamp.nanosec == nanoseconds
    assert 0 <= stamp.nanosec < 10**9
    assert clock_message(stamp).clock == stamp


@given(angles, st.floats(-1.5, 1.5), angles)
def test_a_transform_turns_as_the_pose_does(roll: float, pitch: float, yaw: float) -> None:
    pose = Pose(1.0, 2.0, 3.0, roll, pitch, yaw)
    message = transform_message("a", "b", pose, NOW)
    q = message.transform.rotation
    x, y, z, w = q.x, q.y, q.z, q.w
    matrix = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    np.testing.assert_allclose(matrix, rotation(pose), atol=1e-12)
    assert (message.header.frame_id, message.child_frame_id) == ("a", "b")


@given(lengths, lengths, angles, lengths, lengths, angles)
def test_map_to_odom_puts_the_vehicle_where_it_is(
    x: float, y: float, yaw: float, odo_x: float, odo_y: float, odo_yaw: float
) -> None:
    truth, odometry = Pose(x=x, y=y, z=0.3, yaw=yaw), Pose(x=odo_x, y=odo_y, yaw=odo_yaw)
    shift = map_to_odom(truth, odometry)
    c, s = math.cos(shift.yaw), math.sin(shift.yaw)
    assert shift.x + c * odo_x - s * odo_y == pytest.approx(x, abs=1e-9)
    assert shift.y + s * odo_x + c * odo_y == pytest.approx(y, abs=1e-9)
    assert math.cos(shift.yaw + odo_yaw - yaw) == pytest.approx(1.0)
    assert shift.z == 0.3


@given(lengths, lengths, angles, lengths, lengths, angles)
def test_moving_on_is_a_product_of_rigid_motions(
    x: float, y: float, yaw: float, way_x: float, way_y: float, turn: float
) -> None:
    start, way = Pose(x=x, y=y, yaw=yaw), Pose(x=way_x, y=way_y, yaw=turn)
    there = compose_planar(start, way)
    expected = np.array([x, y, 0.0]) + rotation(start) @ [way_x, way_y, 0.0]
    np.testing.assert_allclose(there[:3], expected, atol=1e-9)
    assert there.yaw == yaw + turn
    assert compose_planar(Pose(), way) == way
    back = map_to_odom(there, way)  # the odometry's frame is where it began
    np.testing.assert_allclose(back[:3], start[:3], atol=1e-9)


@pytest.mark.parametrize("variances", [WHEEL_ODOMETRY, GROUND_TRUTH])
def test_odometry_has_twist_frames_and_no_zero_variance(
    variances: tuple[tuple[float, ...], tuple[float, ...]],
) -> None:
    pose, twist = Pose(x=1.0, y=2.0, yaw=0.5), Twist(0.3, -0.1, 0.2)
    message = odometry_message(("odom", "base_footprint"), variances)
    fill_odometry(message, pose, twist, NOW)
    assert message.header.frame_id == "odom"
    assert message.child_frame_id == "base_footprint"
    assert message.header.stamp == NOW
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    assert (linear.x, linear.y, angular.z) == (0.3, -0.1, 0.2)
    for covariance in (message.pose.covariance, message.twist.covariance):
        matrix = np.array(covariance).reshape(6, 6)
        assert (np.diag(matrix) > 0).all()
        assert (matrix - np.diag(np.diag(matrix)) == 0).all()


@given(angles, lengths, lengths)
def test_the_covariance_of_odometry_turns_with_its_start(
    yaw: float, ahead: float, left: float
) -> None:
    """An error (ahead, left, 0.1 rad) in a frame is its rotated image in the frame around it."""
    error = np.array([ahead, left, 0.1])
    twist = np.diag([0.1, 0.2, 0.3])
    message = odometry_message(("odom", "base_footprint"), WHEEL_ODOMETRY)
    before = np.array(message.pose.covariance).reshape(6, 6)
    fill_covariances(message, OdometryCovariance(np.outer(error, error), twist), yaw)
    c, s = math.cos(yaw), math.sin(yaw)
    image = np.array([c * ahead - s * left, s * ahead + c * left, 0.1])
    pose = np.array(message.pose.covariance).reshape(6, 6)
    planar = np.ix_((0, 1, 5), (0, 1, 5))
    floor = np.diag(pose[planar]) - image**2
    np.testing.assert_allclose(pose[planar] - np.outer(image, image), np.diag(floor), atol=1e-8)
    assert np.linalg.eigvalsh(pose[planar]).min() > 0.0
    np.testing.assert_allclose(
        np.array(message.twist.covariance)[[0, 7, 35]], [0.1, 0.2, 0.3], 1e-4
    )
    others = [2, 3, 4]
    assert (pose[others] == before[others]).all()  # z, roll and pitch are not measured
    fill_covariances(message, OdometryCovariance(np.zeros((3, 3)), np.zeros((3, 3))), yaw)
    for covariance in (message.pose.covariance, message.twist.covariance):
        assert np.linalg.eigvalsh(np.array(covariance).reshape(6, 6)).min() > 0.0


def test_true_rates_about_three_axes() -> None:
    message = odometry_message(("map", "base_link"), GROUND_TRUTH)
    fill_odometry(message, Pose(pitch=0.1), Twist(0.3, 0.0, 0.2), NOW, (0.01, -0.02, 0.19))
    angular = message.twist.twist.angular
    assert (angular.x, angular.y, angular.z) == (0.01, -0.02, 0.19)


def scan_of(ranges: np.ndarray, fov: float) -> LaserReading:
    n = len(ranges)
    first, step = fan_angles(fov, n)
    last = first + (n - 1) * step
    return LaserReading(25, 1.25, ranges, LaserFan(first, last, step, 0.02, 10.0, 0.1))


# With rays more than 10 degrees apart slam_toolbox takes a fan below 350 degrees for a full turn.
@given(st.integers(36, 5000), st.floats(math.radians(10.0), 2 * math.pi))
def test_scans_have_as_many_beams_as_slam_toolbox_expects(n: int, fov: float) -> None:
    scan = scan_message(scan_of(np.ones(n, np.float32), fov), "laser", NOW)
    got = expected_beams(scan.angle_min, scan.angle_max, scan.angle_increment, n)
    assert got == n == len(scan.ranges)


def test_a_scan_carries_all_of_its_reading() -> None:
    ranges = np.array([1.0, math.inf, -math.inf, 2.5], np.float32)
    scan = scan_message(scan_of(ranges, math.pi), "front", NOW)
    assert isinstance(scan.ranges, array)
    assert list(scan.ranges) == [1.0, math.inf, -math.inf, 2.5]
    assert len(scan.intensities) == 0
    assert (scan.header.frame_id, scan.header.stamp) == ("front", NOW)
    assert scan.angle_min == pytest.approx(-math.pi / 2)
    assert scan.angle_max == pytest.approx(math.pi / 2)
    assert (scan.time_increment, scan.scan_time) == (0.0, pytest.approx(0.1))
    assert (scan.range_min, scan.range_max) == (pytest.approx(0.02), 10.0)


@pytest.mark.parametrize(
    ("no_hit", "expected"),
    [("inf", math.inf), ("range_max", 10.0), ("beyond", np.float32(10.01)), ("zero", 0.0)],
)
def test_what_a_ray_that_meets_nothing_says_can_be_chosen(no_hit: str, expected: float) -> None:
    ranges = np.array([1.0, math.inf, -math.inf, math.nan, 9.99], np.float32)
    scan = scan_message(scan_of(ranges, math.pi), "front", NOW, no_hit=no_hit)
    assert scan.ranges[1] == expected
    np.testing.assert_array_equal(np.delete(scan.ranges, 1), np.delete(ranges, 1))
    assert math.isinf(ranges[1])  # the reading stays as it is


def test_a_map_keeps_its_cells_in_order() -> None:
    cells = np.array([[0, 100, -1], [50, 0, 0]], np.int8)
    grid = GridMap(cells, 0.05, GridOrigin(-1.0, 2.0, math.pi / 2))
    message = map_message(grid, "map", NOW)
    assert isinstance(message.data, array)
    assert list(message.data) == [0, 100, -1, 50, 0, 0]
    assert (message.info.width, message.info.height) == (3, 2)
    assert message.info.resolution == pytest.approx(0.05)
    assert message.info.origin.position.x == -1.0
    assert message.info.origin.orientation.z == pytest.approx(math.sin(math.pi / 4))
    assert message.header.frame_id == "map"


def test_markers_show_a_closed_prism_and_turned_wheels() -> None:
    red = (1.0, 0.0, 0.0, 1.0)
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    body, wheel = vehicle_markers(
        ChassisShape(square, 0.1, 0.6, red),
        [WheelShape(0.5, 0.2, 0.3, 0.1, red)],
        [0.4],
        header_of("base_link", NOW),
    ).markers
    assert (body.ns, wheel.ns) == ("mvsim.chassis_shape", "mvsim.chassis_shape.wheel0")
    assert body.type == Marker.TRIANGLE_LIST
    assert volume(body) == pytest.approx(4 * 0.5)  # outward triangles enclose it
    assert (wheel.scale.x, wheel.scale.z) == (pytest.approx(0.3), pytest.approx(0.1))
    assert wheel.pose.position.z == pytest.approx(0.15)
    axis = rotation(Pose(roll=math.pi / 2, yaw=0.4)) @ [0, 0, 1]
    np.testing.assert_allclose(axis, [math.sin(0.4), -math.cos(0.4), 0], atol=1e-12)
    for marker in (body, wheel):
        assert marker.frame_locked
        assert marker.header.frame_id == "base_link"
        assert marker.header.stamp == NOW


def volume(marker: Marker) -> float:
    """Return the volume that triangles enclose (divergence theorem)."""
    points = np.array([[p.x, p.y, p.z] for p in marker.points]).reshape(-1, 3, 3)
    return float(np.linalg.det(points).sum()) / 6.0


def test_commands_with_and_without_header_mean_the_same() -> None:
    plain = TwistMessage()
    plain.linear.x, plain.linear.y, plain.angular.z = 0.5, -0.25, 1.0
    assert twist_command(plain) == TwistCommand(0.5, -0.25, 1.0)
    assert twist_command(TwistStamped(twist=plain)) == TwistCommand(0.5, -0.25, 1.0)
    drive = AckermannDrive(speed=2.0, steering_angle=0.25)
    assert ackermann_command(drive) == AckermannCommand(2.0, 0.25)
    assert ackermann_command(AckermannDriveStamped(drive=drive)) == AckermannCommand(2.0, 0.25)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1001.0, -1e30, 1e308])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_commands_that_are_absurd_are_found(position: int, value: float) -> None:
    numbers = [0.1, -MOST_SPEED, MOST_SPEED]
    assert refused_fields(TwistCommand(*numbers)._asdict(), MOST_SPEED) == ""
    numbers[position] = value
    found = refused_fields(TwistCommand(*numbers)._asdict(), MOST_SPEED)
    assert found == f"{('vx', 'vy', 'wz')[position]} = {value:g}"


@pytest.mark.parametrize(
    ("factor", "wanted", "level"),
    [
        (1.0, 1.0, DiagnosticStatus.OK),
        (0.5, 1.0, DiagnosticStatus.WARN),
        (0.5, 0.0, DiagnosticStatus.OK),
    ],
)
def test_diagnostics_warn_when_the_factor_is_missed(
    factor: float, wanted: float, level: bytes
) -> None:
    run = RunStatistics(factor, wanted, 1e-4, 0.0, 12.5, 2)
    message = diagnostics_message(run, "mvsim", NOW)
    (status,) = message.status
    assert status.level == level
    values = SimpleNamespace(**{v.key: v.value for v in status.values})
    assert float(values.real_time_factor) == factor
    assert values.wanted_real_time_factor == (str(wanted)[:1] if wanted else "max")
    assert float(values.step_time_ms) == pytest.approx(0.1)
    assert message.header.stamp == NOW
