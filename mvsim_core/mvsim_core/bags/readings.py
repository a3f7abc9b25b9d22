# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Messages back to readings: the inverse of `sensor_streams`.

What a message does not hold comes from the sensor in the loaded world: intrinsics, lenses, limits.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from mvsim_core.bags import topics
from mvsim_core.bags.layouts import REFLECTIVITY
from mvsim_core.rendering.pinhole import FROM_OPTICAL, compose
from mvsim_core.sensors.bumper import BumperReading
from mvsim_core.sensors.camera import CameraReading, StereoReading
from mvsim_core.sensors.encoders import EncoderReading
from mvsim_core.sensors.gnss import GnssReading
from mvsim_core.sensors.imu import ImuReading
from mvsim_core.sensors.lidar2d import LaserFan, LaserReading
from mvsim_core.sensors.lidar3d import POINT, CloudReading
from mvsim_core.sensors.magnetometer import MagneticReading
from mvsim_core.sensors.range_sensor import RangeReading
from mvsim_core.sensors.readings import read_only
from mvsim_core.sensors.rgbd_camera import RgbdReading

#: Newest message of each topic of a sensor, by its name in `topics`.
Messages = Mapping[str, Any]
#: From a sensor, its messages, the tick of the reading and its time [s] to the reading.
Decode = Callable[[Any, Messages, int, float], Any]
_POINT_TYPES = {2: "u1", 4: "u2", 6: "u4", 7: "f4", 8: "f8"}
_IMAGE_TYPES = {"rgb8": (np.uint8, 3), "mono8": (np.uint8, 1), "16UC1": (np.uint16, 1)}
_DEPTH = "32FC1"


def _laser(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    scan = found[topics.SCAN.name]
    fan = LaserFan(
        scan.angle_min,
        scan.angle_max,
        scan.angle_increment,
        scan.range_min,
        scan.range_max,
        scan.scan_time,
    )
    intensities = read_only(scan.intensities) if len(scan.intensities) else None
    return LaserReading(tick, time, read_only(scan.ranges), fan, scan.time_increment, intensities)


def cloud_columns(message: Any) -> dict[str, npt.NDArray[Any]]:
    """Return the fields of a PointCloud2, each (n,)."""
    layout = np.dtype(
        {
            "names": [f.name for f in message.fields],
            "formats": [_POINT_TYPES[f.datatype] for f in message.fields],
            "offsets": [f.offset for f in message.fields],
            "itemsize": message.point_step,
        }
    )
    points = np.frombuffer(np.asarray(message.data).tobytes(), layout)
    return {name: points[name] for name in layout.names or ()}


def _cloud(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    message = found[topics.POINTS.name]
    columns = cloud_columns(message)
    seen = np.isfinite(columns["x"])
    layout = sensor.spec.cloud_layout
    if layout == "ouster":  # zeros where nothing came back
        seen &= (columns["x"] != 0.0) | (columns["y"] != 0.0) | (columns["z"] != 0.0)
    points = np.zeros(int(seen.sum()), POINT)
    for name in ("x", "y", "z", "intensity"):
        points[name] = columns[name][seen]
    if layout in ("ouster", "livox"):
        points["intensity"] /= REFLECTIVITY
    if "ring" in columns:
        rings = columns["ring"][seen]
        points["ring"] = sensor.rings - 1 - rings if layout == "ouster" else rings
    if "time" in columns:
        points["time"] = columns["time"][seen]
    elif "t" in columns:
        points["time"] = columns["t"][seen] * 1e-9
    elif "timestamp" in columns:
        stamp = message.header.stamp
        begin = stamp.sec * 1e9 + stamp.nanosec
        points["time"] = (columns["timestamp"][seen] - begin) * 1e-9
    timed = bool(points["time"].any())
    end = time + sensor.scan_time if timed else time
    return CloudReading(
        tick=tick,
        time=time,
        end_time=end,
        points=read_only(points),
        timed=timed,
        range_min=sensor.range_min,
        range_max=sensor.range_max,
        rings=sensor.rings,
        scan_time=sensor.scan_time,
        rows=sensor.rows,
        places=read_only(_places(message, seen, points, sensor)),
    )


def _places(message: Any, seen: Any, points: Any, sensor: Any) -> npt.NDArray[np.int32]:
    """Return row · rings + ring of each point; unorganized clouds do not say the row: by turns."""
    if message.height > 1:
        ring, row = np.divmod(np.flatnonzero(seen), message.width)
        places = row * message.height + (message.height - 1 - ring)
    else:
        places = points["ring"].astype(np.int64)
    return np.asarray(places, np.int32)


def _imu(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    imu = found[topics.IMU.name]
    covariance = imu.orientation_covariance.reshape(3, 3)
    q = imu.orientation
    measured = covariance[0, 0] >= 0.0
    return ImuReading(
        tick,
        time,
        _vector(imu.angular_velocity),
        _vector(imu.linear_acceleration),
        read_only(imu.angular_velocity_covariance.reshape(3, 3)),
        read_only(imu.linear_acceleration_covariance.reshape(3, 3)),
        (q.x, q.y, q.z, q.w) if measured else None,
        read_only(covariance),
    )


def _vector(vector: Any) -> npt.NDArray[np.float64]:
    return read_only(np.array([vector.x, vector.y, vector.z]))


def _gnss(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    fix = found[topics.FIX.name]
    moving = found.get(topics.FIX_VELOCITY.name)
    velocity, covariance = read_only(np.full(3, np.nan)), read_only(np.zeros((3, 3)))
    if moving is not None and moving.header.stamp == fix.header.stamp:
        velocity = _vector(moving.twist.twist.linear)
        covariance = read_only(moving.twist.covariance.reshape(6, 6)[:3, :3].copy())
    return GnssReading(
        tick,
        time,
        fix.latitude,
        fix.longitude,
        fix.altitude,
        fix.status.status,
        read_only(fix.position_covariance.reshape(3, 3)),
        fix.position_covariance_type,
        velocity,
        covariance,
    )


def _encoders(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    """Angles of steering are not in the message: they are those of the wheels."""
    message = found[topics.ENCODERS.name]
    position, velocity = read_only(message.position), read_only(message.velocity)
    return EncoderReading(tick, time, position, velocity, read_only(np.zeros(len(position))))


def _range(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    message = found[topics.RANGE.name]
    return RangeReading(
        tick,
        time,
        message.range,
        message.field_of_view,
        message.min_range,
        message.max_range,
        message.radiation_type,
        message.variance,
    )


def _magnetometer(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    message = found[topics.MAGNETIC_FIELD.name]
    covariance = read_only(message.magnetic_field_covariance.reshape(3, 3))
    return MagneticReading(tick, time, _vector(message.magnetic_field), covariance)


def _bumper(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    pressed = tuple(bool(message.data) for message in found.values())
    return BumperReading(tick, time, sensor.sectors, pressed)


# --------------------------------------------------------------------------- cameras
def pixels(message: Any) -> npt.NDArray[Any]:
    """Return an Image as (height, width) or (height, width, 3)."""
    size = message.height, message.width
    if message.encoding == _DEPTH:
        return read_only(message.data.view(np.float32).reshape(size))
    kind, channels = _IMAGE_TYPES[message.encoding]
    shape = (*size, channels) if channels > 1 else size
    return read_only(message.data.view(kind).reshape(shape))


def _image(found: Messages, topic: topics.Topic) -> npt.NDArray[Any] | None:
    message = found.get(topic.name)
    return None if message is None else pixels(message)


def _things(found: Messages) -> tuple[tuple[str, str], ...]:
    if topics.LABELS.name not in found:
        return ()
    instances = json.loads(found[topics.LABELS.name].data)["instances"]
    return tuple((each["name"], each["class"]) for each in instances.values())


def _camera(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    return CameraReading(
        tick,
        time,
        pixels(found[topics.IMAGE.name]),
        sensor.camera,
        _image(found, topics.INSTANCE_IMAGE),
        _things(found),
        sensor.lens,
    )


def _stereo(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    left, right = pixels(found[topics.LEFT_IMAGE.name]), pixels(found[topics.RIGHT_IMAGE.name])
    baseline = sensor.spec.baseline
    return StereoReading(tick, time, left, right, sensor.camera, baseline, sensor.lens)


def _depth_camera(sensor: Any, found: Messages, tick: int, time: float) -> Any:
    return RgbdReading(
        tick,
        time,
        _image(found, topics.DEPTH),
        _image(found, topics.RGB_IMAGE),
        sensor.depth_camera,
        sensor.rgb_camera,
        compose(FROM_OPTICAL, sensor.spec.intensity_pose),
        sensor.spec.depth_resolution,
        _image(found, topics.INSTANCE_IMAGE),
        _things(found),
        sensor.rgb_lens,
    )


#: Class of sensors in world files -> from messages to a reading.
DECODERS: Mapping[str, Decode] = {
    "laser": _laser,
    "lidar3d": _cloud,
    "imu": _imu,
    "gnss": _gnss,
    "wheel_encoders": _encoders,
    "range": _range,
    "magnetometer": _magnetometer,
    "bumper": _bumper,
    "camera": _camera,
    "stereo_camera": _stereo,
    "rgbd_camera": _depth_camera,
}
