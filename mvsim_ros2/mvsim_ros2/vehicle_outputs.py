# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""All that one vehicle publishes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from rclpy.node import Node
from std_msgs.msg import Bool, String

from mvsim_core import Pose, Vehicle
from mvsim_ros2.conversions.markers import (
    ChassisLook,
    WheelLook,
    header_of,
    polygon_message,
    vehicle_markers,
)
from mvsim_ros2.conversions.motion import (
    GROUND_TRUTH,
    INITIAL_VARIANCES,
    WHEEL_ODOMETRY,
    fill_odometry,
    fill_transform,
    map_to_odom,
    moved_on,
    odometry_message,
    pose_estimate_message,
    tf_message,
    transform_message,
)
from mvsim_ros2.frames import Frames, Names, frames_of, sensor_frames, unique_tokens
from mvsim_ros2.joints import wheel_joints
from mvsim_ros2.localizer_outputs import LocalizerOutputs
from mvsim_ros2.log_outputs import LogOutputs
from mvsim_ros2.output import Output
from mvsim_ros2.parameters import Settings
from mvsim_ros2.robot_description import robot_description
from mvsim_ros2.sensor_outputs import SENSOR_OUTPUTS, Place, SensorOutput
from mvsim_ros2.topics import (
    CHASSIS_POLYGON,
    COLLISION,
    INITIAL_POSE,
    JOINT_STATES,
    MARKERS,
    ODOM,
    ROBOT_DESCRIPTION,
    TF,
    TF_STATIC,
    VEHICLE_TOPICS,
    WHEEL_STATES,
    Topic,
)
from mvsim_ros2.topics import GROUND_TRUTH as TRUTH
from mvsim_ros2.wheel_outputs import WheelOutputs

#: Wheels that have turned by less [rad] since the last markers are not drawn anew.
VISIBLE_TURN = 0.01
_SAME = Pose()
#: From the true pose in the world and the pose by the wheels to a transform.
Link = Callable[[Pose, Pose], Pose]


def _odometry(truth: Pose, odometry: Pose) -> Pose:
    return odometry


def _tilt(truth: Pose, odometry: Pose) -> Pose:
    return Pose(roll=truth.roll, pitch=truth.pitch)


class VehicleOutputs:
    """The publishers of one vehicle.

    Args:
        node: The main node.
        vehicle: Whose they are.
        settings: Parameters of the node.
        names: Topic names.
        uneven: Whether the ground may tilt it.
    """

    def __init__(
        self, node: Node, vehicle: Vehicle, settings: Settings, names: Names, *, uneven: bool
    ) -> None:
        """Create the publishers."""
        self._node = node
        self._vehicle = vehicle
        self._settings = settings
        self._names = names
        self._uneven = uneven
        self.frames: Frames = frames_of(settings, vehicle.name)
        self._tf = Output(node, TF, names.tf)
        self._tf_static = Output(node, TF_STATIC, names.tf_static)
        self._odom = self._output(ODOM)
        self._truth = self._output(TRUTH)
        self._collision = self._output(COLLISION)
        self._markers = self._output(MARKERS)
        self._polygon = self._output(CHASSIS_POLYGON)
        self._description = self._output(ROBOT_DESCRIPTION)
        self._text = ""
        self._initial = self._output(INITIAL_POSE) if settings.publish_initialpose else None
        self._localizer = (
            LocalizerOutputs(node, names, self.frames.map)
            if settings.do_fake_localization
            else None
        )
        start = vehicle.spec.init_pose if settings.odom_starts_at == "spawn" else _SAME
        self._start = Pose(x=start.x, y=start.y, yaw=start.yaw)
        joint_states, wheel_states = self._output(JOINT_STATES), self._output(WHEEL_STATES)
        self._wheels = WheelOutputs(vehicle, self.frames, joint_states, wheel_states)
        self._sensors: dict[str, SensorOutput] = self._sensor_outputs()
        self._logs = LogOutputs(node, vehicle, names) if settings.publish_log_topics else None
        self._touched = False
        self._steering: list[float] = []
        frames = self.frames
        self._odom_message = odometry_message((frames.odom, frames.footprint), WHEEL_ODOMETRY)
        self._truth_message = odometry_message((frames.map, frames.base), GROUND_TRUTH)
        self._links = list(self._moving_links())
        links = [message for message, _ in self._links]
        self._tf_message = tf_message(links)
        self._tf_with_wheels = tf_message(links + self._wheels.links)

    def _output(self, topic: Topic) -> Output:
        alias = topic.mvsim_name if self._settings.mvsim_topic_names else ""
        aliases = [self._names.topic(alias)] if alias else []
        return Output(self._node, topic, self._names.topic(topic.name), aliases)

    def _sensor_outputs(self) -> dict[str, SensorOutput]:
        sensors = self._vehicle.sensors
        joints = wheel_joints(self._vehicle.spec.dynamics)
        kinds = [sensor.kind for sensor in sensors.values()]
        outputs: dict[str, SensorOutput] = {}
        tokens = unique_tokens(sensors, VEHICLE_TOPICS)
        for name, token in tokens.items():
            kind = sensors[name].kind
            if kind not in SENSOR_OUTPUTS:
                continue
            others = {other for other in tokens.values() if other != token}
            place = Place(
                token,
                self.frames.sensor(name),
                self._names.namespace,
                alone=kinds.count(kind) == 1,
                scan_topic=self._settings.scan_topic,
                no_hit=self._settings.scan_no_hit,
                mvsim_names=self._settings.mvsim_topic_names,
                joints=tuple(joint.spin for joint in joints),
                taken=VEHICLE_TOPICS | others,
            )
            outputs[name] = SENSOR_OUTPUTS.get(kind)(self._node, place)
        return outputs

    def _moving_links(self) -> Iterator[tuple[TransformStamped, Link]]:
        """Yield the transforms that change, with how true and wheel pose make them."""
        frames, settings = self.frames, self._settings
        if settings.do_fake_localization:
            yield transform_message(frames.map, frames.odom, _SAME, Time()), map_to_odom
        if settings.publish_tf_odom2baselink:
            yield transform_message(frames.odom, frames.footprint, _SAME, Time()), _odometry
        if self._uneven and frames.footprint != frames.base:
            yield transform_message(frames.footprint, frames.base, _SAME, Time()), _tilt

    # ------------------------------------------------------------------ at the start
    def publish_static(self, stamp: Time, of_the_world: list[TransformStamped]) -> None:
        """Send what does not change: the places of the sensors, with those of the world."""
        frames = self.frames
        transforms = [
            transform_message(frames.base, frames.sensor(name) + suffix, pose, stamp)
            for name, sensor in self._vehicle.sensors.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        if frames.world:
            transforms.append(transform_message(frames.world, frames.map, _SAME, stamp))
        if frames.footprint != frames.base and not self._uneven:
            transforms.append(transform_message(frames.footprint, frames.base, _SAME, stamp))
        self._tf_static.publish(tf_message(transforms + of_the_world))
        self.publish_description()
        self._polygon.publish(polygon_message(self._vehicle.chassis_polygon))
        self.publish_markers(stamp)

    def publish_description(self) -> None:
        """Send what the vehicle is made of: at first, and when somebody has come to read it.

        Those who come get the first message anew only if they ask for it (transient local), which
        the RViz configuration of Nav2 does not.
        """
        if not self._description.newcomers() and self._text:
            return
        if not self._text:
            self._text = robot_description(self._vehicle, self.frames, footprint=not self._uneven)
        self._description.publish(String(data=self._text))

    def greet(self, stamp: Time) -> None:
        """Tell those who have come what the vehicle is made of and where it is; note readers."""
        self.publish_description()
        if self._logs is not None:
            self._logs.look()
        if self._initial is not None and self._initial.newcomers():
            pose, frame = self._vehicle.pose, self.frames.map
            self._initial.publish(pose_estimate_message(pose, INITIAL_VARIANCES, frame, stamp))

    # ------------------------------------------------------------------ each step
    def watch(self) -> None:
        """Remember whether it touches something in this step."""
        if self._vehicle.in_collision:
            self._touched = True

    def publish_tf(self, stamp: Time) -> None:
        """Send where the vehicle is.

        Where its wheels are is sent only while somebody reads the robot's description, who alone
        knows what hangs on them.
        """
        with_wheels = self._description.read
        message = self._tf_with_wheels if with_wheels else self._tf_message
        if not message.transforms or not self._tf.wanted:
            return
        truth = self._vehicle.pose
        odometry = moved_on(self._start, self._vehicle.odometry.pose)
        for link, pose in self._links:
            fill_transform(link, pose(truth, odometry), stamp)
        if with_wheels:
            self._wheels.fill_links(stamp)
        self._tf.publish(message)

    def publish_motion(self, stamp: Time) -> None:
        """Send odometry, ground truth, collision and wheels."""
        vehicle = self._vehicle
        if self._odom.wanted:
            way, twist = vehicle.odometry
            fill_odometry(self._odom_message, moved_on(self._start, way), twist, stamp)
            self._odom.publish(self._odom_message)
        if self._truth.wanted:
            fill_odometry(self._truth_message, vehicle.pose, vehicle.twist, stamp)
            self._truth.publish(self._truth_message)
        if self._localizer is not None:
            self._localizer.publish(vehicle.pose, stamp)
        if self._collision.wanted:
            self._collision.publish(Bool(data=self._touched))
            self._touched = False
        self._wheels.publish(stamp)

    @property
    def logged(self) -> bool:
        """Whether somebody reads its log, which has a row in each step."""
        return self._logs is not None and self._logs.wanted

    def publish_log(self) -> None:
        """Send the present row of its log."""
        if self._logs is not None:
            self._logs.publish()

    def publish_markers(self, stamp: Time) -> None:
        """Send how the vehicle looks if that has changed."""
        vehicle = self._vehicle
        steering = [wheel.steering for wheel in vehicle.wheels]
        moved = [abs(a - b) > VISIBLE_TURN for a, b in zip(steering, self._steering, strict=False)]
        if self._steering and not any(moved):
            return
        self._steering = steering
        spec = vehicle.spec.dynamics
        chassis = spec.chassis
        body = ChassisLook(vehicle.chassis_polygon, chassis.zmin, chassis.zmax, chassis.color)
        wheels = [WheelLook(w.x, w.y, w.diameter, w.width, w.color) for w in spec.wheels]
        header = header_of(self.frames.base, stamp)
        self._markers.publish(vehicle_markers(body, wheels, steering, header))

    # ---------------------------------------------------------------------- sensors
    def needs_tf(self, sensor: Any) -> bool:
        """Whether a reading of one of its sensors must follow a transform of the same tick."""
        output = self._sensors.get(sensor.name)
        return output is not None and output.needs_tf

    def publish_reading(self, sensor: Any, stamp: Time) -> None:
        """Send the newest reading of one of its sensors."""
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
