# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of one vehicle: TF, odometry, ground truth, description, markers, sensors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from std_msgs.msg import Bool, String

from mvsim_core import Pose, Vehicle, World
from mvsim_core.bags.frames import Frames, frames_of, sensor_frames
from mvsim_core.bags.joints import wheel_joints
from mvsim_core.bags.motion import (
    GROUND_TRUTH,
    WHEEL_ODOMETRY,
    compose_planar,
    map_to_odom,
)
from mvsim_core.bags.robot_description import robot_description
from mvsim_core.bags.topic_names import TopicNames, changed, unique_tokens
from mvsim_core.bags.topics import (
    CHASSIS_POLYGON,
    COLLISION,
    INITIAL_POSE,
    JOINT_STATES,
    MARKERS,
    ODOM,
    RESERVED_TOPICS,
    ROBOT_DESCRIPTION,
    TF,
    TF_STATIC,
    WHEEL_STATES,
    Topic,
)
from mvsim_core.bags.topics import GROUND_TRUTH as GROUND_TRUTH_TOPIC
from mvsim_ros2.conversions.markers import (
    ChassisShape,
    WheelShape,
    header_of,
    polygon_message,
    vehicle_markers,
)
from mvsim_ros2.conversions.motion import (
    INITIAL_VARIANCES,
    fill_covariances,
    fill_odometry,
    fill_transform,
    odometry_message,
    pose_estimate_message,
    tf_message,
    transform_message,
)
from mvsim_ros2.outputs.localizer import LocalizerOutputs
from mvsim_ros2.outputs.logs import LogOutputs
from mvsim_ros2.outputs.publisher import TopicPublisher
from mvsim_ros2.outputs.sensors import (
    SENSOR_OUTPUTS,
    SensorOutput,
    SensorTopics,
    sensor_needed,
)
from mvsim_ros2.outputs.wheels import WheelOutputs
from mvsim_ros2.parameters.settings import Settings

#: Smallest change of a steering angle [rad] after which markers are published again.
MARKER_ANGLE = 0.01
_IDENTITY = Pose()
#: From the true pose and the pose of the odometry to a transform.
TransformRule = Callable[[Pose, Pose], Pose]


def _odometry(truth: Pose, odometry: Pose) -> Pose:
    return odometry


def _tilt(truth: Pose, odometry: Pose) -> Pose:
    return Pose(roll=truth.roll, pitch=truth.pitch)


class VehicleOutputs:
    """The publishers of one vehicle.

    Args:
        node: Main node.
        vehicle: The vehicle.
        settings: Parameters of the node.
        names: Topic names of the vehicle.
        has_terrain: Whether the ground sets its roll and pitch.

    Attributes:
        renamed: Topic tokens of sensors that differ from their names, by `vehicle/sensor`.
    """

    def __init__(
        self,
        node: Node,
        vehicle: Vehicle,
        settings: Settings,
        names: TopicNames,
        *,
        has_terrain: bool,
    ) -> None:
        """Create the publishers."""
        self._node = node
        self._vehicle = vehicle
        self._settings = settings
        self._names = names
        self._has_terrain = has_terrain
        self.frames: Frames = frames_of(settings, vehicle.name)
        self._tf = TopicPublisher(node, TF, names.tf)
        self._tf_static = TopicPublisher(node, TF_STATIC, names.tf_static)
        self._odom = self._publisher(ODOM)
        self._truth = self._publisher(GROUND_TRUTH_TOPIC)
        self._collision = self._publisher(COLLISION)
        self._markers = self._publisher(MARKERS)
        self._polygon = self._publisher(CHASSIS_POLYGON)
        self._description = self._publisher(ROBOT_DESCRIPTION)
        self._urdf = ""
        self._initial = self._publisher(INITIAL_POSE) if settings.publish_initialpose else None
        self._localizer = (
            LocalizerOutputs(node, names, self.frames.map)
            if settings.do_fake_localization
            else None
        )
        start = vehicle.spec.init_pose if settings.odom_starts_at == "spawn" else _IDENTITY
        self._start = Pose(x=start.x, y=start.y, yaw=start.yaw)
        joint_states, wheel_states = self._publisher(JOINT_STATES), self._publisher(WHEEL_STATES)
        self._wheels = WheelOutputs(vehicle, self.frames, joint_states, wheel_states)
        self._sensors: dict[str, SensorOutput] = self._sensor_outputs()
        self._logs = LogOutputs(node, vehicle, names) if settings.publish_log_topics else None
        self._was_in_collision = False
        self._steering: list[float] = []
        frames = self.frames
        self._odom_message = odometry_message((frames.odom, frames.footprint), WHEEL_ODOMETRY)
        self._truth_message = odometry_message((frames.map, frames.base), GROUND_TRUTH)
        self._transforms = list(self._dynamic_transforms())
        transforms = [message for message, _ in self._transforms]
        self._tf_message = tf_message(transforms)
        self._tf_with_wheels = tf_message(transforms + self._wheels.transforms)

    def _publisher(self, topic: Topic) -> TopicPublisher:
        alias = topic.mvsim_name if self._settings.mvsim_topic_names else ""
        aliases = [self._names.topic(alias)] if alias else []
        return TopicPublisher(self._node, topic, self._names.topic(topic.name), aliases)

    def _sensor_outputs(self) -> dict[str, SensorOutput]:
        sensors = self._vehicle.sensors
        joints = wheel_joints(self._vehicle.spec.dynamics)
        kinds = [sensor.kind for sensor in sensors.values()]
        outputs: dict[str, SensorOutput] = {}
        tokens = unique_tokens(sensors, RESERVED_TOPICS)
        self.renamed = {f"{self._vehicle.name}/{k}": v for k, v in changed(tokens).items()}
        for name, token in tokens.items():
            kind = sensors[name].kind
            if kind not in SENSOR_OUTPUTS:
                continue
            others = {other for other in tokens.values() if other != token}
            topics = SensorTopics(
                token,
                self.frames.sensor(name),
                self._names.namespace,
                only_of_class=kinds.count(kind) == 1,
                scan_topic=self._settings.scan_topic,
                no_hit=self._settings.scan_no_hit,
                mvsim_names=self._settings.mvsim_topic_names,
                joints=tuple(joint.axle for joint in joints),
                spec=sensors[name].spec,
                reserved=RESERVED_TOPICS | others,
            )
            outputs[name] = SENSOR_OUTPUTS.get(kind)(self._node, topics)
        return outputs

    def _dynamic_transforms(self) -> Iterator[tuple[TransformStamped, TransformRule]]:
        """Yield the transforms that change, each with the rule for its pose."""
        frames, settings = self.frames, self._settings
        if settings.do_fake_localization:
            yield transform_message(frames.map, frames.odom, _IDENTITY, Time()), map_to_odom
        if settings.publish_tf_odom2baselink:
            yield transform_message(frames.odom, frames.footprint, _IDENTITY, Time()), _odometry
        if self._has_terrain and frames.footprint != frames.base:
            yield transform_message(frames.footprint, frames.base, _IDENTITY, Time()), _tilt

    # ------------------------------------------------------------------ at the start
    def publish_static(self, stamp: Time, world_transforms: list[TransformStamped]) -> None:
        """Publish latched topics; static transforms with those of the sensors of the world."""
        frames = self.frames
        transforms = [
            transform_message(frames.base, frames.sensor(name) + suffix, pose, stamp)
            for name, sensor in self._vehicle.sensors.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        if frames.world:
            transforms.append(transform_message(frames.world, frames.map, _IDENTITY, stamp))
        if frames.footprint != frames.base and not self._has_terrain:
            transforms.append(transform_message(frames.footprint, frames.base, _IDENTITY, stamp))
        self._tf_static.publish(tf_message(transforms + world_transforms))
        self.publish_description()
        self._polygon.publish(polygon_message(self._vehicle.chassis_polygon))
        self.publish_markers(stamp)

    def publish_description(self) -> None:
        """Publish robot_description: the first time, and for new subscribers.

        New subscribers get a latched message only if they ask for it (transient local), which the
        RViz configuration of Nav2 does not.
        """
        if not self._description.check_new_subscribers() and self._urdf:
            return
        if not self._urdf:
            self._urdf = robot_description(
                self._vehicle, self.frames, footprint=not self._has_terrain
            )
        self._description.publish(String(data=self._urdf))

    def publish_to_new_subscribers(self, stamp: Time) -> None:
        """Publish robot_description and initialpose again for new subscribers; update logs."""
        self.publish_description()
        if self._logs is not None:
            self._logs.update_subscribed()
        if self._initial is not None and self._initial.check_new_subscribers():
            pose, frame = self._vehicle.pose, self.frames.map
            self._initial.publish(pose_estimate_message(pose, INITIAL_VARIANCES, frame, stamp))

    # ------------------------------------------------------------------ each step
    def record_collision(self) -> None:
        """Record whether it is in contact in this step."""
        if self._vehicle.in_collision:
            self._was_in_collision = True

    def publish_tf(self, stamp: Time) -> None:
        """Publish the transforms of the vehicle.

        Those of the wheels are published only while robot_description has subscribers: no other
        message refers to their frames.
        """
        with_wheels = self._description.had_subscribers
        message = self._tf_with_wheels if with_wheels else self._tf_message
        if not message.transforms or not self._tf.needed:
            return
        truth = self._vehicle.pose
        odometry = compose_planar(self._start, self._vehicle.odometry.pose)
        for transform, rule in self._transforms:
            fill_transform(transform, rule(truth, odometry), stamp)
        if with_wheels:
            self._wheels.fill_transforms(stamp)
        self._tf.publish(message)

    def publish_motion(self, stamp: Time) -> None:
        """Publish odometry, ground truth, collision and wheels."""
        vehicle = self._vehicle
        if self._odom.needed:
            pose, twist = vehicle.odometry
            message = self._odom_message
            fill_odometry(message, compose_planar(self._start, pose), twist, stamp)
            fill_covariances(message, vehicle.odometry_covariance, self._start.yaw)
            self._odom.publish(message)
        if self._truth.needed:
            message, rates = self._truth_message, vehicle.angular_velocity
            fill_odometry(message, vehicle.pose, vehicle.twist, stamp, rates)
            self._truth.publish(message)
        if self._localizer is not None:
            self._localizer.publish(vehicle.pose, stamp)
        if self._collision.needed:
            self._collision.publish(Bool(data=self._was_in_collision))
            self._was_in_collision = False
        self._wheels.publish(stamp)

    @property
    def log_subscribed(self) -> bool:
        """Whether its log, which has a row in each step, has subscribers."""
        return self._logs is not None and self._logs.subscribed

    def publish_log(self) -> None:
        """Publish the present row of its log."""
        if self._logs is not None:
            self._logs.publish()

    def publish_markers(self, stamp: Time) -> None:
        """Publish chassis and wheels if a steering angle has changed."""
        vehicle = self._vehicle
        steering = [wheel.steering for wheel in vehicle.wheels]
        changed = [
            abs(a - b) > MARKER_ANGLE for a, b in zip(steering, self._steering, strict=False)
        ]
        if self._steering and not any(changed):
            return
        self._steering = steering
        spec = vehicle.spec.dynamics
        chassis = spec.chassis
        shape = ChassisShape(vehicle.chassis_polygon, chassis.zmin, chassis.zmax, chassis.color)
        wheels = [WheelShape(w.x, w.y, w.diameter, w.width, w.color) for w in spec.wheels]
        header = header_of(self.frames.base, stamp)
        self._markers.publish(vehicle_markers(shape, wheels, steering, header))

    # ---------------------------------------------------------------------- sensors
    def update_demand(self, world: World) -> None:
        """Let those of its sensors compute that have subscribers, see `sensor_needed`."""
        for name, sensor in self._vehicle.sensors.items():
            world.set_sensor_active(sensor, sensor_needed(self._sensors.get(name)))

    def needs_tf(self, sensor: Any) -> bool:
        """Return whether TF of the same tick must be published before a reading of a sensor."""
        output = self._sensors.get(sensor.name)
        return output is not None and output.needs_tf

    def publish_reading(self, sensor: Any, stamp: Time) -> None:
        """Publish the newest reading of one of its sensors."""
        output = self._sensors.get(sensor.name)
        if output is not None:
            output.publish(sensor.last, stamp)

    def close(self) -> None:
        """Destroy the publishers."""
        for output in (self._tf, self._tf_static, self._odom, self._truth, self._collision):
            output.close()
        self._markers.close()
        self._polygon.close()
        self._description.close()
        if self._initial is not None:
            self._initial.close()
        if self._localizer is not None:
            self._localizer.close()
        if self._logs is not None:
            self._logs.close()
        self._wheels.close()
        for sensor in self._sensors.values():
            sensor.close()
