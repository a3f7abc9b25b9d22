# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of sensors as messages, without a graph: layouts, units, frames, covariances."""

import math
from array import array
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")
pytest.importorskip("mvsim_msgs")

from sensor_msgs.msg import NavSatFix, NavSatStatus, PointField, Range
from std_msgs.msg import Header

from mvsim_core import Contact, Pose
from mvsim_core.bags.frames import sensor_frames
from mvsim_core.rendering.pinhole import FROM_OPTICAL, OPTICAL, Pinhole, compose
from mvsim_core.sensors import (
    COLORED_POINT,
    POINT,
    CloudReading,
    GnssReading,
    ImuReading,
    MagneticReading,
    RangeReading,
)
from mvsim_core.sensors.rgbd_camera import RgbdReading
from mvsim_ros2.conversions.clouds import (
    depth_cloud_message,
    lidar_message,
)
from mvsim_ros2.conversions.contacts import contacts_message
from mvsim_ros2.conversions.images import (
    camera_info_message,
    color_image_message,
    compressed_color_message,
    compressed_depth_message,
    depth_image_message,
    raw_depth_image_message,
)
from mvsim_ros2.conversions.imu_gnss import (
    fix_message,
    imu_message,
    magnetic_message,
    velocity_message,
)
from mvsim_ros2.conversions.scans import range_message
from mvsim_ros2.conversions.stamps import stamp_of
from mvsim_ros2.conversions.wheels import (
    joint_states_message,
    wheel_states_message,
)

NOW = stamp_of(1_250_000_000)
HEADER = Header(stamp=NOW, frame_id="base_link")
LENS = Pinhole(4, 3, 50.0, 60.0, 1.5, 1.0)


def cloud(times: list[float], *, timed: bool = True) -> CloudReading:
    points = np.zeros(len(times), POINT)
    points["x"] = np.arange(len(times)) + 1.0
    points["intensity"], points["ring"], points["time"] = 0.5, 7, times
    places = 16 * np.arange(len(times), dtype=np.int32) + 7
    return CloudReading(250, 1.25, 1.35, points, timed, 0.1, 80.0, 16, 0.1, len(times) + 1, places)


def columns(message: Any) -> dict[str, np.ndarray]:
    """Read a cloud as consumers do: by offset and type of its fields."""
    kinds = {
        PointField.FLOAT32: "f4",
        PointField.FLOAT64: "f8",
        PointField.UINT8: "u1",
        PointField.UINT16: "u2",
        PointField.UINT32: "u4",
    }
    assert message.row_step == message.point_step * message.width
    assert len(message.data) == message.row_step * message.height
    assert all(f.count == 1 for f in message.fields)
    layout = np.dtype(
        {
            "names": [f.name for f in message.fields],
            "formats": [kinds[f.datatype] for f in message.fields],
            "offsets": [f.offset for f in message.fields],
            "itemsize": message.point_step,
        }
    )
    points = np.frombuffer(message.data.tobytes(), layout)
    return {name: points[name] for name in layout.names or ()}


def test_a_sweeping_lidar_tells_the_time_of_each_point() -> None:
    message = lidar_message(cloud([0.0, 0.05, 0.1]), "top", NOW)
    assert (message.header.stamp, message.header.frame_id) == (NOW, "top")
    assert (message.height, message.width) == (1, 3)
    assert message.is_dense
    assert not message.is_bigendian
    read = columns(message)
    assert list(read) == ["x", "y", "z", "intensity", "ring", "time"]
    assert read["x"].tolist() == [1.0, 2.0, 3.0]
    assert read["intensity"].tolist() == [0.5] * 3
    assert (read["ring"].dtype, read["ring"].tolist()) == (np.dtype("u2"), [7] * 3)
    np.testing.assert_allclose(read["time"], [0.0, 0.05, 0.1])
    assert isinstance(message.data, array)


@pytest.mark.parametrize("times", [[], [0.3], [0.2, 0.2]])
def test_times_that_do_not_differ_are_not_announced(times: list[float]) -> None:
    # A consumer that scales them to 0 … 1 would divide by zero.
    for reading in (cloud(times), cloud(times, timed=False)):
        assert list(columns(lidar_message(reading, "top", NOW)))[-1] == "ring"


def test_organized_clouds_are_images() -> None:
    message = lidar_message(cloud([0.0, 0.05]), "top", NOW, layout="organized")
    assert (message.height, message.width, message.is_dense) == (16, 3, False)
    read = {name: values.reshape(16, 3) for name, values in columns(message).items()}
    assert list(read) == ["x", "y", "z", "intensity", "ring", "time"]
    assert read["ring"][:, 0].tolist() == list(range(15, -1, -1))  # the highest on top
    seen = np.isfinite(read["x"])
    assert np.argwhere(seen).tolist() == [[8, 0], [8, 1]]  # ring 7 from below
    assert read["x"][seen].tolist() == [1.0, 2.0]
    np.testing.assert_allclose(read["time"][0], np.arange(3) * 0.1 / 3, rtol=1e-6)


def test_clouds_as_the_driver_of_ouster_publishes_them() -> None:
    message = lidar_message(cloud([0.0, 0.05]), "top", NOW, layout="ouster")
    assert (message.height, message.width, message.point_step) == (16, 3, 48)
    offsets = {f.name: (f.offset, f.datatype) for f in message.fields}
    assert offsets == {
        **{name: (4 * k, PointField.FLOAT32) for k, name in enumerate("xyz")},
        "intensity": (16, PointField.FLOAT32),
        "t": (20, PointField.UINT32),
        "reflectivity": (24, PointField.UINT16),
        "ring": (26, PointField.UINT16),
        "ambient": (28, PointField.UINT16),
        "range": (32, PointField.UINT32),
    }
    read = {name: values.reshape(16, 3) for name, values in columns(message).items()}
    assert read["ring"][:, 1].tolist() == list(range(16))
    assert read["range"][8].tolist() == [1000, 2000, 0]
    assert read["reflectivity"][8].tolist() == [128, 128, 0]
    assert read["x"][8].tolist() == [1.0, 2.0, 0.0]
    assert read["t"][8, :2].tolist() == [0, 50_000_001]  # that of the point, in single precision
    assert np.abs(read["t"][0].astype(float) - 1e8 * np.arange(3) / 3).max() < 10.0


def test_clouds_as_the_driver_of_livox_publishes_them() -> None:
    message = lidar_message(cloud([0.0, 0.05]), "top", NOW, layout="livox")
    assert (message.height, message.width, message.point_step) == (1, 2, 26)
    assert [(f.name, f.offset) for f in message.fields] == [
        *(("x", 0), ("y", 4), ("z", 8), ("intensity", 12)),
        *(("tag", 16), ("line", 17), ("timestamp", 18)),
    ]
    read = columns(message)
    assert read["intensity"].tolist() == [127.5, 127.5]
    assert (read["tag"].tolist(), read["line"].tolist()) == ([0, 0], [3, 3])
    assert read["timestamp"] == pytest.approx([1.25e9, 1.3e9], abs=10.0)


@pytest.mark.parametrize(("kind", "name"), [(0, "ULTRASOUND"), (1, "INFRARED")])
def test_ranges_follow_rep_117(kind: int, name: str) -> None:
    reading = RangeReading(5, 0.1, -math.inf, 0.3, 0.02, 4.0, kind, 1e-4)
    message = range_message(reading, "sonar", NOW)
    assert message.radiation_type == getattr(Range, name)
    assert message.range == -math.inf
    limits = (message.field_of_view, message.min_range, message.max_range)
    assert limits == pytest.approx((0.3, 0.02, 4.0))
    assert message.variance == pytest.approx(1e-4)


def test_magnetic_fields_are_in_tesla() -> None:
    reading = MagneticReading(1, 0.1, np.array((1e-5, -2e-5, 3e-5)), np.eye(3) * 1e-14)
    message = magnetic_message(reading, "compass", NOW)
    field = message.magnetic_field
    assert (field.x, field.y, field.z) == (1e-5, -2e-5, 3e-5)
    assert np.array(message.magnetic_field_covariance)[::4].tolist() == [1e-14] * 3


def depth_reading(*, colours: bool = True) -> RgbdReading:
    depth = np.full((3, 4), 2.0, np.float32)
    depth[0, 0] = np.nan
    rgb = np.full((3, 4, 3), (10, 20, 30), np.uint8) if colours else None
    return RgbdReading(250, 1.25, depth, rgb, LENS, LENS, Pose(), 1e-3)


def test_a_depth_cloud_has_the_order_of_the_image_and_packed_colours() -> None:
    message = depth_cloud_message(depth_reading(), "cam_optical_frame", NOW)
    assert (message.height, message.width, message.point_step) == (3, 4, COLORED_POINT.itemsize)
    assert not message.is_dense
    read = columns(message)
    assert list(read) == ["x", "y", "z", "rgb"]
    assert np.isnan(read["z"][0])
    np.testing.assert_allclose(read["z"][1:], 2.0)
    np.testing.assert_allclose(read["x"][5], (1 - 1.5) / 50.0 * 2.0)  # row 1, column 1
    np.testing.assert_allclose(read["y"][5], 0.0)
    assert read["rgb"].view("u4")[5] == (10 << 16) + (20 << 8) + 30
    plain = columns(depth_cloud_message(depth_reading(colours=False), "c", NOW))
    assert list(plain) == ["x", "y", "z"]


def test_a_picture_is_rgb8() -> None:
    rgb = np.arange(36, dtype=np.uint8).reshape(3, 4, 3)
    message = color_image_message(rgb, "cam_optical_frame", NOW)
    assert (message.encoding, message.height, message.width) == ("rgb8", 3, 4)
    assert message.step == 12
    assert message.data.tolist() == list(range(36))
    assert (message.header.frame_id, message.header.stamp) == ("cam_optical_frame", NOW)


def test_depth_is_metres_or_millimetres() -> None:
    depth = np.array([[np.nan, 0.1234, 2.0], [70.0, 0.0006, np.inf]], np.float32)
    metres = depth_image_message(depth, "c", NOW)
    assert (metres.encoding, metres.step) == ("32FC1", 12)
    np.testing.assert_array_equal(np.frombuffer(metres.data, "f4").reshape(2, 3), depth)
    counts = raw_depth_image_message(depth, "c", NOW)
    assert (counts.encoding, counts.step) == ("16UC1", 6)
    assert np.frombuffer(counts.data, "u2").tolist() == [0, 123, 2000, 0, 1, 0]  # REP-118


def test_camera_info_is_that_of_a_pinhole() -> None:
    info = camera_info_message(LENS, "cam_optical_frame", NOW)
    assert (info.width, info.height) == (4, 3)
    assert info.distortion_model == "plumb_bob"
    assert info.d.tolist() == [0.0] * 5
    assert info.k.tolist() == [50.0, 0.0, 1.5, 0.0, 60.0, 1.0, 0.0, 0.0, 1.0]
    assert info.r.tolist() == np.eye(3).ravel().tolist()
    p = np.array(info.p).reshape(3, 4)
    np.testing.assert_array_equal(p[:, :3].ravel(), info.k)
    np.testing.assert_array_equal(p[:, 3], 0.0)


def imu(orientation: Any, first: float) -> ImuReading:
    eye = np.eye(3)
    rates, forces = np.array([0.1, 0.2, 0.3]), np.array([0.0, 0.5, 9.81])
    cov = np.diag([first, 0.0 if first < 0 else first, 0.0 if first < 0 else first])
    return ImuReading(1, 0.01, rates, forces, 4e-8 * eye, 3e-4 * eye, orientation, cov)


def test_imu_by_rep_145() -> None:
    message = imu_message(imu(None, -1.0), "imu", NOW)
    assert message.orientation_covariance[0] == -1.0
    assert message.linear_acceleration.z == 9.81
    assert (message.angular_velocity.x, message.angular_velocity.z) == (0.1, 0.3)
    np.testing.assert_allclose(np.array(message.angular_velocity_covariance)[::4], 4e-8)
    np.testing.assert_allclose(np.array(message.linear_acceleration_covariance)[::4], 3e-4)
    turned = imu_message(imu((0.0, 0.0, math.sin(0.5), math.cos(0.5)), 2.5e-5), "imu", NOW)
    assert turned.orientation.z == math.sin(0.5)
    np.testing.assert_allclose(np.array(turned.orientation_covariance)[::4], 2.5e-5)


def test_fixes() -> None:
    covariance = np.diag([4.0, 4.0, 16.0])
    speed = np.array((1.0, -2.0, 0.5)), np.eye(3) * 0.01
    reading = GnssReading(1, 0.1, 36.8, -2.4, 60.5, 0, covariance, 2, *speed)
    fix = fix_message(reading, "gps", NOW)
    assert (fix.latitude, fix.longitude, fix.altitude) == (36.8, -2.4, 60.5)
    assert fix.status.status == NavSatStatus.STATUS_FIX
    assert fix.status.service == NavSatStatus.SERVICE_GPS
    assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_DIAGONAL_KNOWN
    assert np.array(fix.position_covariance)[::4].tolist() == [4.0, 4.0, 16.0]
    nan = math.nan
    velocity = velocity_message(reading, "gps", NOW)
    linear = velocity.twist.twist.linear
    assert (linear.x, linear.y, linear.z) == (1.0, -2.0, 0.5)
    assert np.array(velocity.twist.covariance)[[0, 7, 14, 21]].tolist() == [0.01] * 3 + [-1.0]
    assert (velocity.header.frame_id, velocity.header.stamp) == ("gps", NOW)
    hidden = GnssReading(1, 0.1, nan, nan, nan, -1, np.zeros((3, 3)), 0, *speed)
    none = fix_message(hidden, "gps", NOW)
    assert none.status.status == NavSatStatus.STATUS_NO_FIX
    assert none.position_covariance_type == NavSatFix.COVARIANCE_TYPE_UNKNOWN
    assert math.isnan(none.latitude)


def test_joint_states_have_arrays_of_equal_length() -> None:
    message = joint_states_message(("a", "b"), (1.0, 2.0), (3.0, 4.0), (5.0, 6.0), HEADER)
    assert (message.name, message.position.tolist()) == (["a", "b"], [1.0, 2.0])
    assert (message.velocity.tolist(), message.effort.tolist()) == ([3.0, 4.0], [5.0, 6.0])


def test_wheel_forces_are_along_and_across_the_wheel() -> None:
    angle = math.pi / 6
    wheel = SimpleNamespace(
        omega=2.0, steering=angle, torque=1.5, load=40.0, fx=math.cos(angle), fy=math.sin(angle)
    )
    (state,) = wheel_states_message(["w_joint"], [wheel], HEADER).wheels
    assert (state.name, state.steering_angle, state.normal_force) == ("w_joint", angle, 40.0)
    assert state.longitudinal_force == pytest.approx(1.0)
    assert state.lateral_force == pytest.approx(0.0, abs=1e-12)


def test_contacts_name_both_sides() -> None:
    given = Contact("r1", "wall", (1.0, 2.0), (0.0, 1.0), 0.25)
    (contact,) = contacts_message([given], HEADER).contacts
    assert (contact.entity_a, contact.entity_b, contact.impulse) == ("r1", "wall", 0.25)
    assert (contact.position.x, contact.position.y, contact.normal.y) == (1.0, 2.0, 1.0)


def test_cameras_have_optical_frames() -> None:
    mount = Pose(0.3, 0.0, 0.5)
    plain = SimpleNamespace(mount=mount)
    assert sensor_frames(plain) == {"": mount}
    lens = compose(mount, OPTICAL)
    camera = SimpleNamespace(mount=lens, optical_mount=lens)
    frames = sensor_frames(camera)
    assert list(frames) == ["", "_link", "_optical_frame"]
    np.testing.assert_allclose(frames["_link"], mount, atol=1e-12)
    depth = SimpleNamespace(mount=mount, optical_mount=lens, rgb_optical_mount=lens)
    assert list(sensor_frames(depth)) == ["", "_optical_frame", "_rgb_optical_frame"]
    np.testing.assert_allclose(compose(lens, FROM_OPTICAL), mount, atol=1e-12)


def test_compressed_images_are_what_image_transport_expects() -> None:
    """Its plug-in reads the encoding before the semicolon, and decodes the file by its content."""
    from io import BytesIO

    from PIL import Image as Pictures

    y, x = np.mgrid[:40, :60]
    rgb = np.stack([4 * x, 6 * y, 255 - 4 * x], axis=2).astype(np.uint8)
    message = compressed_color_message(rgb, "cam_optical_frame", NOW)
    assert message.format == "rgb8; jpeg compressed bgr8"
    assert message.header.frame_id == "cam_optical_frame"
    with Pictures.open(BytesIO(bytes(message.data))) as picture:
        assert picture.format == "JPEG"
        assert np.abs(np.asarray(picture).astype(int) - rgb).max() < 12
    depth = np.where(x > 50, np.nan, 0.5 + 0.1 * x + y).astype(np.float32)
    message = compressed_depth_message(depth, "cam_optical_frame", NOW)
    assert message.format.startswith("16UC1; png compressed")
    with Pictures.open(BytesIO(bytes(message.data))) as picture:
        counts = np.asarray(picture)
    raw = np.frombuffer(raw_depth_image_message(depth, "f", NOW).data, np.uint16)
    assert (counts.ravel() == raw).all()
