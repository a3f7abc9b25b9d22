# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""State and readings of a world to ROS 2 messages in CDR: what the node publishes, without ROS.

A test compares each of them with that of the node. `ns` is the time of a message [ns].
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.bags.cdr import Cdr, Layout, stamp_of
from mvsim_core.bags.layouts import Points, scan_angles, scan_ranges
from mvsim_core.bags.motion_table import Wheels
from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.geometry.poses import FloatArray, Pose, Twist, quaternion
from mvsim_core.rendering.lens import Lens
from mvsim_core.rendering.pinhole import Pinhole
from mvsim_core.sensors.gnss import GnssReading
from mvsim_core.sensors.imu import ImuReading
from mvsim_core.sensors.lidar2d import LaserReading
from mvsim_core.sensors.magnetometer import MagneticReading
from mvsim_core.sensors.range_sensor import INFRARED, RangeReading
from mvsim_core.world.contacts import Contact

#: NavSatStatus: SERVICE_GPS.
_GPS = 1
#: Range: ULTRASOUND and INFRARED.
_ULTRASOUND, _INFRARED = 0, 1
#: Layouts of messages that are kept: of thousands of vehicles.
MOST_LAYOUTS = 100_000
_NO_DISTORTION = np.zeros(5)
_IDENTITY = np.eye(3)


def _bytes(code: str, *values: float) -> bytes:
    message = Cdr()
    message.pack(code, *values)
    return message.done()


def _clock() -> Layout:
    message = Cdr()
    message.hole("I", 2)
    return message.layout()


_CLOCK = _clock()
_TRUE, _FALSE = _bytes("B", True), _bytes("B", False)


def clock(ns: int) -> bytes:
    """Return a rosgraph_msgs/Clock."""
    return _CLOCK.fill(stamp_of(ns))


def boolean(value: bool) -> bytes:
    """Return a std_msgs/Bool."""
    return _TRUE if value else _FALSE


def text(content: str) -> bytes:
    """Return a std_msgs/String."""
    message = Cdr()
    message.text(content)
    return message.done()


def twist(value: Twist) -> bytes:
    """Return a geometry_msgs/Twist."""
    message = Cdr()
    message.pack("d", value.vx, value.vy, 0.0, 0.0, 0.0, value.wz)
    return message.done()


def ackermann_drive(speed: float, steering: float, ns: int) -> bytes:
    """Return an ackermann_msgs/AckermannDriveStamped."""
    message = Cdr()
    message.header("", ns)
    message.pack("f", steering, 0.0, speed, 0.0, 0.0)
    return message.done()


def numbers(values: FloatArray) -> bytes:
    """Return a std_msgs/Float64MultiArray without a layout."""
    message = Cdr()
    message.pack("I", 0, 0)
    message.sequence(values)
    return message.done()


def _pose(pose: Pose) -> tuple[float, ...]:
    return (pose.x, pose.y, pose.z, *quaternion(pose.roll, pose.pitch, pose.yaw))


def transforms(content: Sequence[tuple[str, str, Pose]], ns: int) -> bytes:
    """Return a tf2_msgs/TFMessage of (parent, child, pose of the child in the parent)."""
    stamp = stamp_of(ns)
    numbers: list[tuple[float, ...]] = []
    for _, _, pose in content:
        numbers += (stamp, _pose(pose))
    return _transforms(tuple((a, b) for a, b, _ in content)).fill(*numbers)


@lru_cache(MOST_LAYOUTS)
def _transforms(frames: tuple[tuple[str, str], ...]) -> Layout:
    message = Cdr()
    message.pack("I", len(frames))
    for parent, child in frames:
        message.header_hole(parent)
        message.text(child)
        message.hole("d", 7)
    return message.layout()


def odometry(
    frames: tuple[str, str],
    pose: Pose,
    velocity: tuple[float, ...],
    covariances: tuple[Sequence[float], Sequence[float]],
    ns: int,
) -> bytes:
    """Return a nav_msgs/Odometry.

    Args:
        frames: header.frame_id and child_frame_id.
        pose: Of the child frame in the parent frame.
        velocity: vx, vy, vz [m/s] and rates [rad/s] of the child frame, in itself.
        covariances: Of pose and twist, 6x6 and row-major.
        ns: Time.
    """
    numbers = (*_pose(pose), *covariances[0], *velocity, *covariances[1])
    return _odometry(frames).fill(stamp_of(ns), numbers)


@lru_cache(MOST_LAYOUTS)
def _odometry(frames: tuple[str, str]) -> Layout:
    message = Cdr()
    message.header_hole(frames[0])
    message.text(frames[1])
    message.hole("d", 7 + 36 + 6 + 36)
    return message.layout()


def joint_states(
    names: Sequence[str],
    position: Sequence[float],
    velocity: Sequence[float],
    effort: Sequence[float],
    ns: int,
) -> bytes:
    """Return a sensor_msgs/JointState: angles [rad], speeds [rad/s], torques [N m]."""
    counts = len(position), len(velocity), len(effort)
    return _joint_states(tuple(names), counts).fill(stamp_of(ns), position, velocity, effort)


@lru_cache(MOST_LAYOUTS)
def _joint_states(names: tuple[str, ...], counts: tuple[int, int, int]) -> Layout:
    message = Cdr()
    message.header_hole("")
    message.texts(names)
    for count in counts:
        message.pack("I", count)
        message.hole("d", count)
    return message.layout()


def wheel_states(names: Sequence[str], wheels: Wheels, frame: str, ns: int) -> bytes:
    """Return a mvsim_msgs/WheelStates.

    Args:
        names: Those of the axle joints.
        wheels: The wheels.
        frame: Base frame of the vehicle.
        ns: Time.
    """
    numbers: list[tuple[float, ...]] = [stamp_of(ns)]
    columns = (wheels.yaw, wheels.omega, wheels.torque, wheels.fx, wheels.fy, wheels.load)
    for angle, omega, torque, fx, fy, load in zip(*columns, strict=True):
        c, s = math.cos(angle), math.sin(angle)
        numbers.append((angle, omega, torque, c * fx + s * fy, c * fy - s * fx, load))
    return _wheel_states(tuple(names), frame).fill(*numbers)


@lru_cache(MOST_LAYOUTS)
def _wheel_states(names: tuple[str, ...], frame: str) -> Layout:
    message = Cdr()
    message.header_hole(frame)
    message.pack("I", len(names))
    for name in names:
        message.text(name)
        message.hole("d", 6)
    return message.layout()


def contacts(content: Sequence[Contact], frame: str, ns: int) -> bytes:
    """Return a mvsim_msgs/Contacts."""
    message = Cdr()
    message.header(frame, ns)
    message.pack("I", len(content))
    for contact in content:
        message.text(contact.a)
        message.text(contact.b)
        message.pack("d", *contact.point, 0.0, *contact.normal, 0.0, contact.impulse)
    return message.done()


def occupancy_grid(grid: GridMap, frame: str, ns: int) -> bytes:
    """Return a nav_msgs/OccupancyGrid; row 0 has the lowest y."""
    message = Cdr()
    message.header(frame, ns)
    _map_info(message, grid, ns)
    message.raw(grid.cells)
    return message.done()


def map_metadata(grid: GridMap, ns: int) -> bytes:
    """Return a nav_msgs/MapMetaData."""
    message = Cdr()
    _map_info(message, grid, ns)
    return message.done()


def _map_info(message: Cdr, grid: GridMap, ns: int) -> None:
    message.stamp(ns)
    message.pack("f", grid.resolution)
    message.pack("I", grid.width, grid.height)
    origin = grid.origin
    message.pack("d", *_pose(Pose(x=origin.x, y=origin.y, yaw=origin.yaw)))


# --------------------------------------------------------------------------- sensors
def scan(reading: LaserReading, frame: str, ns: int, *, no_hit: str = "inf") -> bytes:
    """Return a sensor_msgs/LaserScan; its stamp is the time of the first ray."""
    message = Cdr()
    message.header(frame, ns)
    message.pack(
        "f",
        *scan_angles(reading),
        reading.time_increment,
        reading.scan_time,
        reading.range_min,
        reading.range_max,
    )
    message.sequence(scan_ranges(reading, no_hit))
    if reading.intensities is None:
        message.pack("I", 0)
    else:
        message.sequence(reading.intensities)
    return message.done()


def cloud(content: Points, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/PointCloud2."""
    height, width = content.shape
    step = content.points.dtype.itemsize
    message = Cdr()
    message.header(frame, ns)
    message.pack("I", height, width)
    fields = content.fields()
    message.pack("I", len(fields))
    for name, offset, datatype in fields:
        message.text(name)
        message.pack("I", offset)
        message.pack("B", datatype)
        message.pack("I", 1)
    message.pack("B", 0)
    message.pack("I", step, step * width)
    message.raw(content.points)
    message.pack("B", content.is_dense)
    return message.done()


def imu(reading: ImuReading, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/Imu by REP-145."""
    numbers = np.concatenate(
        (
            reading.orientation or (0.0, 0.0, 0.0, 1.0),
            reading.orientation_covariance.ravel(),
            reading.angular_velocity,
            reading.angular_velocity_covariance.ravel(),
            reading.linear_acceleration,
            reading.linear_acceleration_covariance.ravel(),
        )
    )
    return _imu(frame).fill(stamp_of(ns), numbers.tolist())


@lru_cache(MOST_LAYOUTS)
def _imu(frame: str) -> Layout:
    message = Cdr()
    message.header_hole(frame)
    message.hole("d", 4 + 9 + 3 + 9 + 3 + 9)
    return message.layout()


def magnetic_field(reading: MagneticReading, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/MagneticField [T]."""
    message = Cdr()
    message.header(frame, ns)
    message.array(reading.magnetic_field)
    message.array(reading.covariance)
    return message.done()


def fix(reading: GnssReading, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/NavSatFix."""
    message = Cdr()
    message.header(frame, ns)
    message.pack("b", reading.status)
    message.pack("H", _GPS)
    message.pack("d", reading.latitude, reading.longitude, reading.altitude)
    message.array(reading.covariance)
    message.pack("B", reading.covariance_type)
    return message.done()


def fix_velocity(reading: GnssReading, frame: str, ns: int) -> bytes:
    """Return a geometry_msgs/TwistWithCovarianceStamped; rates are not measured."""
    covariance = np.zeros((6, 6))
    covariance[:3, :3] = reading.velocity_covariance
    covariance[3, 3] = -1.0
    message = Cdr()
    message.header(frame, ns)
    message.array(reading.velocity)
    message.pack("d", 0.0, 0.0, 0.0)
    message.array(covariance)
    return message.done()


def distance(reading: RangeReading, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/Range by REP-117."""
    infrared = reading.radiation_type == INFRARED
    message = Cdr()
    message.header(frame, ns)
    message.pack("B", _INFRARED if infrared else _ULTRASOUND)
    limits = reading.range_min, reading.range_max
    message.pack("f", reading.field_of_view, *limits, reading.range, reading.variance)
    return message.done()


def image(pixels: npt.NDArray[Any], encoding: str, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/Image of (height, width) or (height, width, channels)."""
    height, width = pixels.shape[:2]
    message = Cdr()
    message.header(frame, ns)
    message.pack("I", height, width)
    message.text(encoding)
    message.pack("B", sys.byteorder == "big")
    message.pack("I", pixels.nbytes // height)
    message.raw(pixels)
    return message.done()


def camera_info(camera: Pinhole, lens: Lens | None, baseline: float, frame: str, ns: int) -> bytes:
    """Return a sensor_msgs/CameraInfo: P is [K 0], R the identity, D that of the lens or zeros.

    Args:
        camera: Intrinsics.
        lens: What distorts the image, or None.
        baseline: How far the camera is to the right of the origin of the frame [m].
        frame: Frame.
        ns: Time.
    """
    k = camera.matrix
    message = Cdr()
    message.header(frame, ns)
    message.pack("I", camera.height, camera.width)
    message.text("plumb_bob" if lens is None else lens.model)
    message.sequence(_NO_DISTORTION if lens is None else np.array(lens.coefficients, np.float64))
    message.array(k)
    message.array(_IDENTITY)
    message.array(np.column_stack((k, (-camera.fx * baseline, 0.0, 0.0))))
    message.pack("I", 0, 0, 0, 0, 0, 0)
    message.pack("B", 0)
    return message.done()
