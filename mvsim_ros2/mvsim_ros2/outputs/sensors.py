# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of sensors by sensor class: a registry that third parties extend by entry points."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

from builtin_interfaces.msg import Time
from rclpy.node import Node
from std_msgs.msg import Bool, Header

from mvsim_core.bags.frames import OPTICAL_FRAME, RGB_OPTICAL_FRAME
from mvsim_core.bags.topic_names import unique_tokens
from mvsim_core.bags.topics import (
    BUMPER_SECTOR,
    CAMERA_INFO,
    CLASS_IMAGE,
    DEPTH,
    DEPTH_INFO,
    DEPTH_POINTS,
    ENCODERS,
    FIX,
    FIX_VELOCITY,
    IMAGE,
    IMAGE_COMPRESSED,
    IMU,
    INSTANCE_IMAGE,
    LABELS,
    LEFT_IMAGE,
    LEFT_IMAGE_COMPRESSED,
    LEFT_INFO,
    MAGNETIC_FIELD,
    POINTS,
    RANGE,
    RAW_DEPTH,
    RAW_DEPTH_COMPRESSED,
    RGB_IMAGE,
    RGB_IMAGE_COMPRESSED,
    RGB_INFO,
    RIGHT_IMAGE,
    RIGHT_IMAGE_COMPRESSED,
    RIGHT_INFO,
    SCAN,
    Topic,
)
from mvsim_core.registry import Registry
from mvsim_ros2.conversions.clouds import depth_cloud_message, lidar_message
from mvsim_ros2.conversions.images import (
    camera_info_message,
    class_image_message,
    color_image_message,
    compressed_color_message,
    compressed_depth_message,
    depth_image_message,
    instance_image_message,
    labels_message,
    raw_depth_image_message,
)
from mvsim_ros2.conversions.imu_gnss import (
    fix_message,
    imu_message,
    magnetic_message,
    velocity_message,
)
from mvsim_ros2.conversions.scans import range_message, scan_message
from mvsim_ros2.conversions.wheels import joint_states_message
from mvsim_ros2.outputs.publisher import TopicPublisher


@dataclass(frozen=True, slots=True)
class SensorTopics:
    """Topics and frame of one sensor.

    Attributes:
        token: Topic token of the sensor.
        frame: Frame of the sensor.
        namespace: Prefix of all topics, "" or ending with a slash.
        only_of_class: Whether its vehicle has no other sensor of its class.
        scan_topic: Additional topic of the only 2D lidar of a vehicle; "": none.
        no_hit: Range of rays without a hit, see the parameter scan_no_hit.
        mvsim_names: Whether to publish also on the topic names of the C++ MVSim.
        joints: Names of the axle joints of the vehicle.
        spec: Spec of the sensor.
        reserved: Topics in use by others, which cannot be aliases.
    """

    token: str
    frame: str
    namespace: str = ""
    only_of_class: bool = False
    scan_topic: str = ""
    no_hit: str = "inf"
    mvsim_names: bool = False
    joints: tuple[str, ...] = ()
    spec: Any = None
    reserved: frozenset[str] = frozenset()

    def create_publisher(self, node: Node, topic: Topic) -> TopicPublisher:
        """Create the publisher of one topic of the sensor."""
        return TopicPublisher(node, topic, self.namespace + self.name(topic), self.aliases(topic))

    def name(self, topic: Topic) -> str:
        """Return the name of a topic in the namespace of the vehicle."""
        return topic.name.format(sensor=self.token)

    def aliases(self, topic: Topic) -> list[str]:
        """Return the additional names of a topic, with the namespace."""
        names = []
        if self.mvsim_names:
            names.append(topic.mvsim_name.format(sensor=self.token))
        if self.only_of_class:
            names.append(self.scan_topic if topic is SCAN else topic.common_name)
        # Two types on one topic are an error in DDS.
        return [self.namespace + name for name in names if name and name not in self.reserved]


class SensorOutput(Protocol):
    """Publishes the readings of one sensor."""

    #: Whether consumers look up the frame of a reading, so that TF must be published first.
    needs_tf: ClassVar[bool]

    @property
    def needed(self) -> bool:
        """Whether there are subscribers. Without, the sensor computes nothing."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers."""

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish a reading."""

    def close(self) -> None:
        """Destroy the publishers."""


#: Sensor class in world files -> its output, made with (node, topics).
SENSOR_OUTPUTS: Registry[Any] = Registry("sensor output", "mvsim.sensor_outputs")


def sensor_needed(output: SensorOutput | None) -> bool:
    """Return whether a sensor has to compute; outputs that do not know have subscribers."""
    return output is not None and bool(getattr(output, "needed", True))


#: From a reading, a frame and a stamp to a message.
Conversion = Callable[[Any, str, Time], Any]


class SingleTopicOutput:
    """A sensor with one topic, in the frame of the sensor."""

    needs_tf: ClassVar[bool] = False

    def __init__(
        self, node: Node, topics: SensorTopics, topic: Topic, convert: Conversion
    ) -> None:
        """Create the publisher."""
        self._frame = topics.frame
        self._convert = convert
        self._output = topics.create_publisher(node, topic)

    @property
    def needed(self) -> bool:
        """Whether there are subscribers."""
        return self._output.needed

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish a reading if there are subscribers."""
        if self._output.needed:
            self._output.publish(self._convert(reading, self._frame, stamp))

    def close(self) -> None:
        """Destroy the publisher."""
        self._output.close()


@SENSOR_OUTPUTS.register("laser")
class ScanOutput(SingleTopicOutput):
    """sensor_msgs/LaserScan."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        convert = partial(scan_message, no_hit=topics.no_hit)
        super().__init__(node, topics, SCAN, convert)


@SENSOR_OUTPUTS.register("lidar3d")
class CloudOutput(SingleTopicOutput):
    """sensor_msgs/PointCloud2 of a 3D lidar."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        layout = "points" if topics.spec is None else topics.spec.cloud_layout
        super().__init__(node, topics, POINTS, partial(lidar_message, layout=layout))


@SENSOR_OUTPUTS.register("imu")
class ImuOutput(SingleTopicOutput):
    """sensor_msgs/Imu."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        super().__init__(node, topics, IMU, imu_message)


@SENSOR_OUTPUTS.register("wheel_encoders")
class EncoderOutput:
    """sensor_msgs/JointState of wheel encoders."""

    needs_tf: ClassVar[bool] = False

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        self._joints = topics.joints
        self._output = topics.create_publisher(node, ENCODERS)

    @property
    def needed(self) -> bool:
        """Whether there are subscribers."""
        return self._output.needed

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish angles and speeds if there are subscribers."""
        if self._output.needed:
            position, velocity = reading.position.tolist(), reading.velocity.tolist()
            header = Header(stamp=stamp)
            self._output.publish(
                joint_states_message(self._joints, position, velocity, (), header)
            )

    def close(self) -> None:
        """Destroy the publisher."""
        self._output.close()


@SENSOR_OUTPUTS.register("range")
class RangeOutput(SingleTopicOutput):
    """sensor_msgs/Range."""

    needs_tf: ClassVar[bool] = True

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        super().__init__(node, topics, RANGE, range_message)


@SENSOR_OUTPUTS.register("magnetometer")
class MagneticFieldOutput(SingleTopicOutput):
    """sensor_msgs/MagneticField."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publisher."""
        super().__init__(node, topics, MAGNETIC_FIELD, magnetic_message)


@SENSOR_OUTPUTS.register("bumper")
class BumperOutput:
    """std_msgs/Bool for each sector of a bumper.

    The common interfaces have no message for bumpers. Drivers of simple robots publish a Bool for
    each switch, and so does the topic `collision` of a vehicle.
    """

    needs_tf: ClassVar[bool] = False

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create a publisher for each sector."""
        self._outputs = [
            topics.create_publisher(
                node, replace(BUMPER_SECTOR, name=BUMPER_SECTOR.name.replace("{sector}", token))
            )
            for token in unique_tokens(topics.spec.sectors).values()
        ]

    @property
    def needed(self) -> bool:
        """Whether one of the sectors has subscribers."""
        return any(output.needed for output in self._outputs)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish the sectors that have subscribers."""
        for output, pressed in zip(self._outputs, reading.pressed, strict=True):
            if output.needed:
                output.publish(Bool(data=pressed))

    def close(self) -> None:
        """Destroy the publishers."""
        for output in self._outputs:
            output.close()


class MultiTopicOutput:
    """A sensor with several topics, each with its frame and its conversion."""

    needs_tf: ClassVar[bool] = True

    def __init__(
        self, node: Node, topics: SensorTopics, suffixes: Iterable[tuple[Topic, str]]
    ) -> None:
        """Create a publisher for each (topic, suffix of its frame)."""
        self._outputs = [
            (topics.create_publisher(node, topic), topics.frame + suffix)
            for topic, suffix in suffixes
        ]

    @property
    def needed(self) -> bool:
        """Whether one of the topics has subscribers."""
        return any(output.needed for output, _ in self._outputs)

    def _publish(self, index: int, convert: Conversion, value: Any, stamp: Time) -> None:
        """Publish on one topic if there is a value and there are subscribers."""
        output, frame = self._outputs[index]
        if value is not None and output.needed:
            output.publish(convert(value, frame, stamp))

    def close(self) -> None:
        """Destroy the publishers."""
        for output, _ in self._outputs:
            output.close()


@SENSOR_OUTPUTS.register("gnss")
class FixOutput(MultiTopicOutput):
    """sensor_msgs/NavSatFix, and geometry_msgs/TwistWithCovarianceStamped while there is a fix."""

    needs_tf: ClassVar[bool] = False

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers."""
        super().__init__(node, topics, ((FIX, ""), (FIX_VELOCITY, "")))

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish position and velocity."""
        self._publish(0, fix_message, reading, stamp)
        if reading.status >= 0:
            self._publish(1, velocity_message, reading, stamp)


class SegmentsOutput(MultiTopicOutput):
    """What the pixels of a camera show, where its spec asks for it: classes, instances, labels."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers, or none."""
        wanted = bool(topics.spec is not None and topics.spec.segmentation)
        images = ((CLASS_IMAGE, OPTICAL_FRAME), (INSTANCE_IMAGE, OPTICAL_FRAME))
        super().__init__(node, topics, images if wanted else ())
        self._labels = topics.create_publisher(node, LABELS) if wanted else None
        self._things: Any = None

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish the images, and the labels where they have changed."""
        if self._labels is None or reading.segments is None:
            return
        if reading.things != self._things:
            self._things = reading.things
            self._labels.publish(labels_message(reading.things))
        self._publish(0, class_image_message, reading, stamp)
        self._publish(1, instance_image_message, reading, stamp)

    def close(self) -> None:
        """Destroy the publishers."""
        super().close()
        if self._labels is not None:
            self._labels.close()


@SENSOR_OUTPUTS.register("camera")
class CameraOutput(MultiTopicOutput):
    """sensor_msgs/Image and CameraInfo of a colour camera."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers."""
        images = (CAMERA_INFO, IMAGE, IMAGE_COMPRESSED)
        super().__init__(node, topics, [(topic, OPTICAL_FRAME) for topic in images])
        self._segments = SegmentsOutput(node, topics)

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish intrinsics, image and segmentation."""
        info = partial(camera_info_message, lens=reading.lens)
        self._publish(0, info, reading.camera, stamp)
        self._publish(1, color_image_message, reading.rgb, stamp)
        self._publish(2, compressed_color_message, reading.rgb, stamp)
        self._segments.publish(reading, stamp)

    def close(self) -> None:
        """Destroy the publishers."""
        super().close()
        self._segments.close()


@SENSOR_OUTPUTS.register("stereo_camera")
class StereoOutput(MultiTopicOutput):
    """Images and intrinsics of a stereo pair.

    All are in the optical frame of the left camera, as image_geometry requires; the place of the
    right one is in P of its intrinsics.
    """

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers."""
        pair = (LEFT_INFO, LEFT_IMAGE, RIGHT_INFO, RIGHT_IMAGE)
        compressed = (LEFT_IMAGE_COMPRESSED, RIGHT_IMAGE_COMPRESSED)
        super().__init__(node, topics, [(topic, OPTICAL_FRAME) for topic in pair + compressed])

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish intrinsics and images."""
        left = partial(camera_info_message, lens=reading.lens)
        right = partial(camera_info_message, lens=reading.lens, baseline=reading.baseline)
        self._publish(0, left, reading.camera, stamp)
        self._publish(1, color_image_message, reading.left, stamp)
        self._publish(2, right, reading.camera, stamp)
        self._publish(3, color_image_message, reading.right, stamp)
        self._publish(4, compressed_color_message, reading.left, stamp)
        self._publish(5, compressed_color_message, reading.right, stamp)


@SENSOR_OUTPUTS.register("rgbd_camera")
class DepthCameraOutput(MultiTopicOutput):
    """Colour image, depth images, intrinsics and cloud of a depth camera."""

    def __init__(self, node: Node, topics: SensorTopics) -> None:
        """Create the publishers."""
        color = [(topic, RGB_OPTICAL_FRAME) for topic in (RGB_INFO, RGB_IMAGE)]
        depth = [(topic, OPTICAL_FRAME) for topic in (DEPTH_INFO, RAW_DEPTH, DEPTH, DEPTH_POINTS)]
        compressed_color = [(RGB_IMAGE_COMPRESSED, RGB_OPTICAL_FRAME)]
        compressed_depth = [(RAW_DEPTH_COMPRESSED, OPTICAL_FRAME)]
        super().__init__(node, topics, color + depth + compressed_color + compressed_depth)
        self._segments = SegmentsOutput(node, topics)

    def close(self) -> None:
        """Destroy the publishers."""
        super().close()
        self._segments.close()

    def publish(self, reading: Any, stamp: Time) -> None:
        """Publish images, intrinsics, cloud and segmentation."""
        self._segments.publish(reading, stamp)
        if reading.rgb is not None:
            info = partial(camera_info_message, lens=reading.rgb_lens)
            self._publish(0, info, reading.rgb_camera, stamp)
            self._publish(1, color_image_message, reading.rgb, stamp)
            self._publish(6, compressed_color_message, reading.rgb, stamp)
        if reading.depth is not None:
            self._publish(2, camera_info_message, reading.depth_camera, stamp)
            self._publish(3, raw_depth_image_message, reading.depth, stamp)
            self._publish(4, depth_image_message, reading.depth, stamp)
            self._publish(5, depth_cloud_message, reading, stamp)
            self._publish(7, compressed_depth_message, reading.depth, stamp)
