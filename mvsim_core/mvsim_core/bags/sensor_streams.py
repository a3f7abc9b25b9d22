# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The messages of each kind of sensor, in the order in which the node publishes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from mvsim_core.bags import messages, topics
from mvsim_core.bags.frames import OPTICAL_FRAME, RGB_OPTICAL_FRAME
from mvsim_core.bags.layouts import CLOUD_LAYOUTS, depth_points, labels_text, millimetres
from mvsim_core.bags.topic_names import unique_tokens
from mvsim_core.bags.topics import Topic
from mvsim_core.sensors.camera import classes_of

#: From a reading, a frame and a time [ns] to a message; None: there is none.
Encode = Callable[[Any, str, int], "bytes | None"]


@dataclass(frozen=True, slots=True)
class SensorInfo:
    """What the messages of a sensor depend on besides its readings.

    Attributes:
        token: Topic token of the sensor.
        frame: Its frame.
        spec: Its spec.
        namespace: Prefix of its topics, "" or ending with a slash.
        no_hit: Range of rays without a hit, see the parameter scan_no_hit.
        joints: Names of the axle joints of its vehicle.
    """

    token: str
    frame: str
    spec: Any
    namespace: str = ""
    no_hit: str = "inf"
    joints: tuple[str, ...] = ()

    def name(self, topic: Topic) -> str:
        """Return the name of a topic of the sensor."""
        return self.namespace + topic.name.format(sensor=self.token)


class Output(NamedTuple):
    """One topic of a sensor.

    Attributes:
        topic: The topic.
        encode: Makes its messages.
        suffix: Of its frame.
        derived: Whether all that it says is in other topics of the sensor.
    """

    topic: Topic
    encode: Encode
    suffix: str = ""
    derived: bool = False


def _scan(info: SensorInfo) -> Iterator[Output]:
    def encode(reading: Any, frame: str, ns: int) -> bytes:
        return messages.scan(reading, frame, ns, no_hit=info.no_hit)

    yield Output(topics.SCAN, encode)


def _cloud(info: SensorInfo) -> Iterator[Output]:
    layout = CLOUD_LAYOUTS[info.spec.cloud_layout]

    def encode(reading: Any, frame: str, ns: int) -> bytes:
        return messages.cloud(layout(reading, ns), frame, ns)

    yield Output(topics.POINTS, encode)


def _imu(info: SensorInfo) -> Iterator[Output]:
    yield Output(topics.IMU, messages.imu)


def _gnss(info: SensorInfo) -> Iterator[Output]:
    def velocity(reading: Any, frame: str, ns: int) -> bytes | None:
        return messages.fix_velocity(reading, frame, ns) if reading.status >= 0 else None

    yield Output(topics.FIX, messages.fix)
    yield Output(topics.FIX_VELOCITY, velocity)


def _encoders(info: SensorInfo) -> Iterator[Output]:
    def encode(reading: Any, frame: str, ns: int) -> bytes:
        position, velocity = reading.position.tolist(), reading.velocity.tolist()
        return messages.joint_states(info.joints, position, velocity, (), ns)

    yield Output(topics.ENCODERS, encode)


def _range(info: SensorInfo) -> Iterator[Output]:
    yield Output(topics.RANGE, messages.distance)


def _magnetometer(info: SensorInfo) -> Iterator[Output]:
    yield Output(topics.MAGNETIC_FIELD, messages.magnetic_field)


def sector_topics(info: SensorInfo) -> list[Topic]:
    """Return the topic of each sector of a bumper."""
    base = topics.BUMPER_SECTOR
    return [
        replace(base, name=base.name.replace("{sector}", token))
        for token in unique_tokens(info.spec.sectors).values()
    ]


def _bumper(info: SensorInfo) -> Iterator[Output]:
    def sector(number: int) -> Encode:
        return lambda reading, frame, ns: messages.boolean(reading.pressed[number])

    for number, topic in enumerate(sector_topics(info)):
        yield Output(topic, sector(number))


# --------------------------------------------------------------------------- cameras
def _picture(attribute: str) -> Encode:
    def encode(reading: Any, frame: str, ns: int) -> bytes | None:
        pixels = getattr(reading, attribute)
        return None if pixels is None else messages.image(pixels, "rgb8", frame, ns)

    return encode


def _segments(info: SensorInfo) -> Iterator[Output]:
    """Yield what the pixels of a camera show, if its spec asks for it."""
    if not info.spec.segmentation:
        return
    known: list[Any] = [None]

    def labels(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.segments is None or reading.things == known[0]:
            return None
        known[0] = reading.things
        return messages.text(labels_text(reading.things))

    def classes(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.segments is None:
            return None
        found = classes_of(reading.segments, reading.things)
        return messages.image(found, "mono8", frame, ns)

    def instances(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.segments is None:
            return None
        return messages.image(reading.segments, "16UC1", frame, ns)

    yield Output(topics.LABELS, labels)
    yield Output(topics.CLASS_IMAGE, classes, OPTICAL_FRAME)
    yield Output(topics.INSTANCE_IMAGE, instances, OPTICAL_FRAME)


def _camera(info: SensorInfo) -> Iterator[Output]:
    def intrinsics(reading: Any, frame: str, ns: int) -> bytes:
        return messages.camera_info(reading.camera, reading.lens, 0.0, frame, ns)

    yield Output(topics.CAMERA_INFO, intrinsics, OPTICAL_FRAME)
    yield Output(topics.IMAGE, _picture("rgb"), OPTICAL_FRAME)
    yield from _segments(info)


def _stereo(info: SensorInfo) -> Iterator[Output]:
    def left(reading: Any, frame: str, ns: int) -> bytes:
        return messages.camera_info(reading.camera, reading.lens, 0.0, frame, ns)

    def right(reading: Any, frame: str, ns: int) -> bytes:
        return messages.camera_info(reading.camera, reading.lens, reading.baseline, frame, ns)

    yield Output(topics.LEFT_INFO, left, OPTICAL_FRAME)
    yield Output(topics.LEFT_IMAGE, _picture("left"), OPTICAL_FRAME)
    yield Output(topics.RIGHT_INFO, right, OPTICAL_FRAME)
    yield Output(topics.RIGHT_IMAGE, _picture("right"), OPTICAL_FRAME)


def _depth_camera(info: SensorInfo) -> Iterator[Output]:
    def color_info(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.rgb is None:
            return None
        return messages.camera_info(reading.rgb_camera, reading.rgb_lens, 0.0, frame, ns)

    def depth_info(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.depth is None:
            return None
        return messages.camera_info(reading.depth_camera, None, 0.0, frame, ns)

    def raw_depth(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.depth is None:
            return None
        return messages.image(millimetres(reading.depth), "16UC1", frame, ns)

    def depth(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.depth is None:
            return None
        return messages.image(reading.depth, "32FC1", frame, ns)

    def points(reading: Any, frame: str, ns: int) -> bytes | None:
        if reading.depth is None:
            return None
        return messages.cloud(depth_points(reading), frame, ns)

    yield from _segments(info)
    yield Output(topics.RGB_INFO, color_info, RGB_OPTICAL_FRAME)
    yield Output(topics.RGB_IMAGE, _picture("rgb"), RGB_OPTICAL_FRAME)
    yield Output(topics.DEPTH_INFO, depth_info, OPTICAL_FRAME)
    yield Output(topics.RAW_DEPTH, raw_depth, OPTICAL_FRAME, derived=True)
    yield Output(topics.DEPTH, depth, OPTICAL_FRAME)
    yield Output(topics.DEPTH_POINTS, points, OPTICAL_FRAME, derived=True)


#: Class of sensors in world files -> its topics.
SENSOR_OUTPUTS: Mapping[str, Callable[[SensorInfo], Iterator[Output]]] = {
    "laser": _scan,
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
#: Those whose frames consumers look up, so that TF comes before their readings.
NEED_TF = frozenset(("laser", "lidar3d", "range", "camera", "stereo_camera", "rgbd_camera"))
