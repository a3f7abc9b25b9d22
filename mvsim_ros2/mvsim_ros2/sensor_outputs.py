# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which sensor becomes which topics: a registry that third parties extend by entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Protocol

from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import Header

from mvsim_core.registry import Registry
from mvsim_ros2.conversions.clouds import depth_cloud_message, lidar_message
from mvsim_ros2.conversions.images import (
    camera_info_message,
    depth_message,
    picture_message,
    raw_depth_message,
)
from mvsim_ros2.conversions.inertial import fix_message, imu_message
from mvsim_ros2.conversions.sensing import scan_message
from mvsim_ros2.conversions.wheels import joint_states_message
from mvsim_ros2.frames import OPTICAL_FRAME, RGB_OPTICAL_FRAME
from mvsim_ros2.output import Output
from mvsim_ros2.topics import (
    CAMERA_INFO,
    DEPTH,
    DEPTH_INFO,
    DEPTH_POINTS,
    ENCODERS,
    FIX,
    IMAGE,
    IMU,
    POINTS,
    RAW_DEPTH,
    RGB_IMAGE,
    RGB_INFO,
    SCAN,
    Topic,
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where the readings of one sensor go.

    Attributes:
        token: The sensor's name as one level of a topic.
        frame: Its frame.
        namespace: Put before all topics, "" or ending with a slash.
        alone: Whether its vehicle has no other sensor of its class.
        scan_topic: Further topic of the scans of a lonely 2D lidar; "": none.
        no_hit: What scans say where they meet nothing, see the parameter scan_no_hit.
        mvsim_names: Whether to publish also under the names of the C++ MVSim.
        joints: Names of the wheels' joints.
        taken: Topics of the vehicle's other things, which are no further names of these.
    """

    token: str
    frame: str
    namespace: str = ""
    alone: bool = False
    scan_topic: str = ""
    no_hit: str = "inf"
    mvsim_names: bool = False
    joints: tuple[str, ...] = ()
    taken: frozenset[str] = frozenset()

    def output(self, node: Node, topic: Topic) -> Output:
        """Create the publishers of one of the sensor's topics."""
        return Output(node, topic, self.namespace + self.name(topic), self.aliases(topic))

    def name(self, topic: Topic) -> str:
        """Return the name of a topic in the vehicle's namespace."""
        return topic.name.format(sensor=self.token)

    def aliases(self, topic: Topic) -> list[str]:
        """Return the further names of a topic, namespace included."""
        names = []
        if self.mvsim_names:
            names.append(topic.mvsim_name.format(sensor=self.token))
        if self.alone:
            names.append(self.scan_topic if topic is SCAN else topic.common_name)
        # On a topic that is another thing's there would be two types, which DDS refuses.
        return [self.namespace + name for name in names if name and name not in self.taken]


class SensorOutput(Protocol):
    """The topics of one sensor."""

    #: Whether consumers place the reading by TF, which must then be there first.
    needs_tf: ClassVar[bool]

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publishers."""

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send a reading."""

    def close(self) -> None:
        """Destroy the publishers."""


SENSOR_OUTPUTS: Registry[Any] = Registry("sensor output", "mvsim.sensor_outputs")

#: From a reading, a frame and a time to a message.
Conversion = Callable[[Any, str, Time], Any]


class SingleOutput:
    """A sensor with one topic, in the sensor's own frame."""

    needs_tf: ClassVar[bool] = False

    def __init__(self, node: Node, place: Place, topic: Topic, convert: Conversion) -> None:
        """Create the publisher."""
        self._frame = place.frame
        self._convert = convert
        self._output = place.output(node, topic)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send a reading if somebody listens."""
        if self._output.wanted:
            self._output.publish(self._convert(reading, self._frame, stamp))

    def close(self) -> None:
        """Destroy the publisher."""
        self._output.close()


@SENSOR_OUTPUTS.register("laser")
class ScanOutput(SingleOutput):
    """sensor_msgs/LaserScan."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        convert = partial(scan_message, no_hit=place.no_hit)
        super().__init__(node, place, SCAN, convert)


@SENSOR_OUTPUTS.register("lidar3d")
class CloudOutput(SingleOutput):
    """sensor_msgs/PointCloud2 of a 3D lidar."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        super().__init__(node, place, POINTS, lidar_message)


@SENSOR_OUTPUTS.register("imu")
class ImuOutput(SingleOutput):
    """sensor_msgs/Imu."""

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        super().__init__(node, place, IMU, imu_message)


@SENSOR_OUTPUTS.register("gnss")
class FixOutput(SingleOutput):
    """sensor_msgs/NavSatFix."""

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        super().__init__(node, place, FIX, fix_message)


@SENSOR_OUTPUTS.register("wheel_encoders")
class EncoderOutput:
    """sensor_msgs/JointState of the wheels, as encoders see them."""

    needs_tf: ClassVar[bool] = False

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publisher."""
        self._joints = place.joints
        self._output = place.output(node, ENCODERS)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send angles and speeds if somebody listens."""
        if self._output.wanted:
            position, velocity = reading.position.tolist(), reading.velocity.tolist()
            header = Header(stamp=stamp)
            self._output.publish(
                joint_states_message(self._joints, position, velocity, (), header)
            )

    def close(self) -> None:
        """Destroy the publisher."""
        self._output.close()


class CameraOutputs:
    """Several topics, each with its frame and its conversion."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, place: Place, topics: Iterable[tuple[Topic, str]]) -> None:
        """Create a publisher for each topic, with what its frame adds to the sensor's."""
        self._outputs = [
            (place.output(node, topic), place.frame + suffix) for topic, suffix in topics
        ]

    def _send(self, index: int, convert: Conversion, value: Any, stamp: Time) -> None:
        """Send on one topic if there is something to be sent, and somebody who listens."""
        output, frame = self._outputs[index]
        if value is not None and output.wanted:
            output.publish(convert(value, frame, stamp))

    def close(self) -> None:
        """Destroy the publishers."""
        for output, _ in self._outputs:
            output.close()


@SENSOR_OUTPUTS.register("camera")
class PictureOutput(CameraOutputs):
    """sensor_msgs/Image and CameraInfo of a colour camera."""

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publishers."""
        super().__init__(node, place, ((CAMERA_INFO, OPTICAL_FRAME), (IMAGE, OPTICAL_FRAME)))

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send intrinsics and picture."""
        self._send(0, camera_info_message, reading.camera, stamp)
        self._send(1, picture_message, reading.rgb, stamp)


@SENSOR_OUTPUTS.register("rgbd_camera")
class DepthOutput(CameraOutputs):
    """Picture, depth images, their intrinsics and the cloud of a depth camera."""

    def __init__(self, node: Node, place: Place) -> None:
        """Create the publishers."""
        colour = [(topic, RGB_OPTICAL_FRAME) for topic in (RGB_INFO, RGB_IMAGE)]
        depth = [(topic, OPTICAL_FRAME) for topic in (DEPTH_INFO, RAW_DEPTH, DEPTH, DEPTH_POINTS)]
        super().__init__(node, place, colour + depth)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Send what the camera senses."""
        if reading.rgb is not None:
            self._send(0, camera_info_message, reading.rgb_camera, stamp)
            self._send(1, picture_message, reading.rgb, stamp)
        if reading.depth is not None:
            self._send(2, camera_info_message, reading.depth_camera, stamp)
            self._send(3, raw_depth_message, reading.depth, stamp)
            self._send(4, depth_message, reading.depth, stamp)
            self._send(5, depth_cloud_message, reading, stamp)
