# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""From readings of sensors and poses of entities to messages of the bus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mvsim_core.comms import messages, mrpt
from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.rendering.pinhole import compose

#: From a sensor, its reading and the time of the stamp [s since 1970] to an MRPT observation.
Observation = Callable[[Any, Any, float], bytes]


def pose_message(pose: Pose) -> Any:
    """Return a Pose."""
    return messages.pose(pose.x, pose.y, pose.yaw, pose.z, pitch=pose.pitch, roll=pose.roll)


def pose_of(message: Any) -> Pose:
    """Return the pose of a Pose message."""
    m = message
    return Pose(x=m.x, y=m.y, z=m.z, roll=m.roll, pitch=m.pitch, yaw=m.yaw)


def stamped_pose(name: str, pose: Pose, time: float, relative_to: str = "") -> Any:
    """Return a TimeStampedPose; `relative_to` names the object in whose frame the pose is."""
    made = messages.TimeStampedPose(unixTimestamp=time, objectId=name, pose=pose_message(pose))
    if relative_to:
        made.relativeToObjectId = relative_to
    return made


def relative_pose(of: Pose, to: Pose) -> Pose:
    """Return a pose of the world in the frame of another one."""
    turn = rotation(to).T
    x, y, z = turn @ np.array([a - b for a, b in zip(of[:3], to[:3], strict=True)])
    whole = turn @ rotation(of)
    pitch = np.arctan2(-whole[2, 0], np.hypot(whole[0, 0], whole[1, 0]))
    roll, yaw = np.arctan2(whole[2, 1], whole[2, 2]), np.arctan2(whole[1, 0], whole[0, 0])
    return Pose(*(float(v) for v in (x, y, z, roll, pitch, yaw)))


# ---------------------------------------------------------------- 2D lidars
def _fan(sensor: Any, reading: Any) -> tuple[Pose, float, Any, Any]:
    """Return mount, field of view [rad], ranges [m] and which of them are valid.

    Angles of the fan count from its middle; where the first and the last ray are not at opposite
    angles, as in a full turn, the mount is turned instead.
    """
    middle = 0.5 * (reading.angle_min + reading.angle_max)
    mount = sensor.mount if middle == 0.0 else compose(sensor.mount, Pose(yaw=middle))
    ranges = np.asarray(reading.ranges)
    valid = np.isfinite(ranges)
    ranges = np.where(valid, ranges, np.where(ranges > 0.0, reading.range_max, 0.0))
    return mount, reading.angle_max - reading.angle_min, ranges, valid


def lidar_message(sensor: Any, source: str, reading: Any, time: float) -> Any:
    """Return the ObservationLidar2D of a scan; rays without a hit have the largest range."""
    mount, aperture, ranges, valid = _fan(sensor, reading)
    return messages.ObservationLidar2D(
        unixTimestamp=time,
        sourceObjectId=source,
        scanRanges=ranges.tolist(),
        validRanges=valid.tolist(),
        aperture=aperture,
        ccw=True,
        maxRange=reading.range_max,
        sensorPose=pose_message(mount),
    )


def _scan(sensor: Any, reading: Any, time: float) -> bytes:
    mount, aperture, ranges, valid = _fan(sensor, reading)
    fan = aperture, reading.range_max, sensor.spec.range_std_noise, 0.0
    return mrpt.scan(sensor.name, time, mount, fan, ranges, valid)


# ---------------------------------------------------------------- other sensors
def _cloud(sensor: Any, reading: Any, time: float) -> bytes:
    return mrpt.cloud(sensor.name, time, sensor.mount, reading.points)


def _picture(sensor: Any, reading: Any, time: float) -> bytes:
    return mrpt.picture(sensor.name, time, sensor.mount, reading.camera, reading.rgb)


def _depth_picture(sensor: Any, reading: Any, time: float) -> bytes:
    spec = sensor.spec
    limits = spec.depth_clip_max, spec.depth_noise_sigma, spec.intensity_pose
    return mrpt.depth_picture(sensor.name, time, sensor.mount, reading, limits)


def _inertial(sensor: Any, reading: Any, time: float) -> bytes:
    values = [*reading.linear_acceleration, *reading.angular_velocity]
    values += [] if reading.orientation is None else [*reading.orientation]
    return mrpt.inertial(sensor.name, time, sensor.mount, values)


def _satellite(sensor: Any, reading: Any, time: float) -> bytes:
    if reading.status < 0:
        return b""
    place = reading.latitude, reading.longitude, reading.altitude
    sigma = sensor.spec.horizontal_std_noise
    return mrpt.satellite(sensor.name, time, sensor.mount, place, sigma)


def _stereo_pictures(sensor: Any, reading: Any, time: float) -> bytes:
    return mrpt.stereo_pictures(sensor.name, time, sensor.mount, reading)


def _distance(sensor: Any, reading: Any, time: float) -> bytes:
    return mrpt.distance(sensor.name, time, sensor.mount, reading)


#: Sensor class in world files -> its observation; empty bytes: there is nothing to tell.
OBSERVATIONS: dict[str, Observation] = {
    "laser": _scan,
    "lidar3d": _cloud,
    "camera": _picture,
    "rgbd_camera": _depth_picture,
    "imu": _inertial,
    "gnss": _satellite,
    "range": _distance,
    "stereo_camera": _stereo_pictures,
}


def observation_message(sensor: Any, source: str, reading: Any, time: float) -> Any:
    """Return the GenericObservation of a reading; None: it holds nothing to tell."""
    data = OBSERVATIONS[sensor.kind](sensor, reading, time)
    if not data:
        return None
    return messages.GenericObservation(
        unixTimestamp=time, sourceObjectId=source, mrptSerializedObservation=data
    )


def odometry_message(name: str, odometry: Any, time: float) -> Any:
    """Return the GenericObservation of a vehicle's odometry."""
    data = mrpt.odometry("odometry", time, odometry.pose, odometry.twist)
    return messages.GenericObservation(
        unixTimestamp=time, sourceObjectId=name, mrptSerializedObservation=data
    )
