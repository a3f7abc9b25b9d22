# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The messages of one vehicle: TF, odometry, ground truth, wheels, description, sensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from mvsim_core.bags import messages, topics
from mvsim_core.bags.frames import Frames, frames_of, sensor_frames
from mvsim_core.bags.joints import WheelJoint, wheel_joints
from mvsim_core.bags.motion import (
    GROUND_TRUTH,
    WHEEL_ODOMETRY,
    compose_planar,
    diagonal,
    fill_planar,
    map_to_odom,
    upper_triangle,
)
from mvsim_core.bags.motion_table import Motion, Wheels
from mvsim_core.bags.robot_description import robot_description
from mvsim_core.bags.sensor_streams import SENSOR_OUTPUTS, Output, SensorInfo
from mvsim_core.bags.settings import RateSettings
from mvsim_core.bags.topic_names import TopicNames, unique_tokens
from mvsim_core.bags.topics import RESERVED_TOPICS, Topic
from mvsim_core.geometry.poses import Pose
from mvsim_core.world.vehicle import Vehicle

_IDENTITY = Pose()
_TRUTH = (diagonal(GROUND_TRUTH[0]), diagonal(GROUND_TRUTH[1]))
#: A transform: parent, child, pose of the child in the parent.
Transform = tuple[str, str, Pose]


class Sink(Protocol):
    """Takes messages."""

    def channel(self, topic: Topic, name: str) -> int:
        """Return the number of a topic; -1: its messages are not wanted."""

    def resolve(self, name: str) -> str:
        """Return the full name of a topic."""

    def write(self, channel: int, data: bytes, ns: int) -> None:
        """Take a message of a channel >= 0 at a time [ns]."""


class SensorStream:
    """The messages of one sensor.

    Args:
        info: What they depend on.
        kind: Its class.
        sink: Takes them.
        derived: Whether topics are wanted whose content is in others too.

    Attributes:
        topics: Full names of its topics by their names in `mvsim_core.bags.topics`.
    """

    def __init__(self, info: SensorInfo, kind: str, sink: Sink, *, derived: bool) -> None:
        """Choose the topics."""
        self._sink = sink
        outputs: Iterator[Output] = iter(())
        if kind in SENSOR_OUTPUTS:
            outputs = SENSOR_OUTPUTS[kind](info)
        chosen = [output for output in outputs if derived or not output.derived]
        found = [
            (sink.channel(each.topic, info.name(each.topic)), each, info.frame + each.suffix)
            for each in chosen
        ]
        self._outputs = [entry for entry in found if entry[0] >= 0]
        self.topics: dict[str, str] = {
            each.topic.name: sink.resolve(info.name(each.topic)) for _, each, _ in self._outputs
        }

    @property
    def wanted(self) -> bool:
        """Whether there are topics."""
        return bool(self._outputs)

    def publish(self, reading: Any, ns: int, now: int) -> None:
        """Write the messages of a reading of a time [ns] that has arrived now [ns]."""
        for channel, output, frame in self._outputs:
            data = output.encode(reading, frame, ns)
            if data is not None:
                self._sink.write(channel, data, now)


class VehicleStream:
    """The messages of one vehicle, as the node's VehicleOutputs publish them.

    Args:
        vehicle: The vehicle.
        settings: Names and rates.
        names: Topic names of the vehicle.
        sink: Takes the messages.
        has_terrain: Whether the ground sets its roll and pitch.
        derived: Whether topics are wanted whose content is in others too.
    """

    def __init__(
        self,
        vehicle: Vehicle,
        settings: RateSettings,
        names: TopicNames,
        sink: Sink,
        *,
        has_terrain: bool,
        derived: bool,
    ) -> None:
        """Prepare names."""
        self._vehicle = vehicle
        self._settings = settings
        self._names = names
        self._sink = sink
        self._has_terrain = has_terrain
        self.frames: Frames = frames_of(settings, vehicle.name)
        self._tf = sink.channel(topics.TF, names.tf)
        self._tf_static = sink.channel(topics.TF_STATIC, names.tf_static)
        self._odom = self._channel(topics.ODOM)
        self._truth = self._channel(topics.GROUND_TRUTH)
        self._collision = self._channel(topics.COLLISION)
        self._description = self._channel(topics.ROBOT_DESCRIPTION)
        self._joint_states = self._channel(topics.JOINT_STATES)
        self._wheel_states = self._channel(topics.WHEEL_STATES)
        start = vehicle.spec.init_pose if settings.odom_starts_at == "spawn" else _IDENTITY
        self._start = Pose(x=start.x, y=start.y, yaw=start.yaw)
        self._set_joints(wheel_joints(vehicle.spec.dynamics))
        self._transforms = list(self._dynamic_transforms())
        self._covariances = diagonal(WHEEL_ODOMETRY[0]), diagonal(WHEEL_ODOMETRY[1])
        twist = upper_triangle(vehicle.odometry_covariance.twist)  # of the file: it is constant
        fill_planar(self._covariances[1], twist, 1.0, 0.0)
        self._sensors = {
            name: SensorStream(info, kind, sink, derived=derived)
            for name, kind, info in self._sensor_infos()
        }

    def _channel(self, topic: Topic) -> int:
        return self._sink.channel(topic, self._names.topic(topic.name))

    def _set_joints(self, joints: Sequence[WheelJoint]) -> None:
        self._axles = [joint.axle for joint in joints]
        self._steered = [k for k, joint in enumerate(joints) if joint.steered]
        self._mounted = [joints[k].spec.yaw for k in self._steered]
        self._joint_names = self._axles + [joints[k].steering for k in self._steered]
        self._steering = self._steering_angles([w.steering for w in self._vehicle.wheels])
        self._steering_time = 0.0

    def _sensor_infos(self) -> Iterator[tuple[str, str, SensorInfo]]:
        sensors = self._vehicle.sensors
        for name, token in unique_tokens(sensors, RESERVED_TOPICS).items():
            sensor = sensors[name]
            yield (
                name,
                sensor.kind,
                SensorInfo(
                    token,
                    self.frames.sensor(name),
                    sensor.spec,
                    self._names.namespace,
                    self._settings.scan_no_hit,
                    tuple(self._axles),
                ),
            )

    def _dynamic_transforms(self) -> Iterator[tuple[str, str, Callable[[Pose, Pose], Pose]]]:
        frames, settings = self.frames, self._settings
        if settings.do_fake_localization:
            yield frames.map, frames.odom, map_to_odom
        if settings.publish_tf_odom2baselink:
            yield frames.odom, frames.footprint, lambda truth, odometry: odometry
        if self._has_terrain and frames.footprint != frames.base:
            yield (
                frames.footprint,
                frames.base,
                lambda truth, odometry: Pose(roll=truth.roll, pitch=truth.pitch),
            )

    def _steering_angles(self, yaws: Sequence[float]) -> list[float]:
        return [yaws[k] - yaw for k, yaw in zip(self._steered, self._mounted, strict=True)]

    # ------------------------------------------------------------------ at the start
    def publish_static(self, ns: int, world_transforms: Sequence[Transform]) -> None:
        """Write latched topics; static transforms with those of the sensors of the world."""
        frames = self.frames
        found: list[Transform] = [
            (frames.base, frames.sensor(name) + suffix, pose)
            for name, sensor in self._vehicle.sensors.items()
            for suffix, pose in sensor_frames(sensor).items()
        ]
        if frames.world:
            found.append((frames.world, frames.map, _IDENTITY))
        if frames.footprint != frames.base and not self._has_terrain:
            found.append((frames.footprint, frames.base, _IDENTITY))
        self._write(self._tf_static, messages.transforms([*found, *world_transforms], ns), ns)
        urdf = robot_description(self._vehicle, frames, footprint=not self._has_terrain)
        self._write(self._description, messages.text(urdf), ns)

    def _write(self, channel: int, data: bytes, ns: int) -> None:
        if channel >= 0:
            self._sink.write(channel, data, ns)

    # ------------------------------------------------------------------ each step
    def publish_tf(self, motion: Motion, ns: int) -> None:
        """Write the transforms that change."""
        if self._tf < 0 or not self._transforms:
            return
        odometry = compose_planar(self._start, motion.odometry)
        content = [(a, b, rule(motion.pose, odometry)) for a, b, rule in self._transforms]
        self._sink.write(self._tf, messages.transforms(content, ns), ns)

    def publish_motion(self, motion: Motion, ns: int, touched: bool) -> None:
        """Write odometry, ground truth, collision and wheels.

        Args:
            motion: How it moves.
            ns: Time.
            touched: Whether it was in contact since the last message.
        """
        frames, write, covariances = self.frames, self._sink.write, self._covariances
        if self._odom >= 0:
            twist, angle = motion.odometry_twist, self._start.yaw
            fill_planar(covariances[0], motion.covariance, math.cos(angle), math.sin(angle))
            velocity = (twist.vx, twist.vy, 0.0, 0.0, 0.0, twist.wz)
            place = compose_planar(self._start, motion.odometry)
            ends = frames.odom, frames.footprint
            write(self._odom, messages.odometry(ends, place, velocity, covariances, ns), ns)
        if self._truth >= 0:
            twist, ends = motion.twist, (frames.map, frames.base)
            velocity = (twist.vx, twist.vy, 0.0, *motion.rates)
            write(self._truth, messages.odometry(ends, motion.pose, velocity, _TRUTH, ns), ns)
        if self._collision >= 0:
            write(self._collision, messages.boolean(touched), ns)
        self._publish_wheels(motion.wheels, ns)

    def _publish_wheels(self, wheels: Wheels, ns: int) -> None:
        if self._joint_states >= 0:
            steering, now = self._steering_angles(wheels.yaw), _seconds(ns)
            elapsed = now - self._steering_time
            rates = [
                (new - old) / elapsed if elapsed > 0.0 else 0.0
                for new, old in zip(steering, self._steering, strict=True)
            ]
            self._steering, self._steering_time = steering, now
            data = messages.joint_states(
                self._joint_names,
                wheels.phi + steering,
                wheels.omega + rates,
                wheels.torque + [0.0] * len(steering),
                ns,
            )
            self._sink.write(self._joint_states, data, ns)
        if self._wheel_states >= 0:
            data = messages.wheel_states(self._axles, wheels, self.frames.base, ns)
            self._sink.write(self._wheel_states, data, ns)

    # ---------------------------------------------------------------------- sensors
    def wants(self, sensor: Any) -> bool:
        """Return whether the readings of a sensor are written."""
        return self._sensors[sensor.name].wanted

    def topics_of(self, sensor: Any) -> dict[str, str]:
        """Return the topics of a sensor, see `SensorStream`."""
        return self._sensors[sensor.name].topics

    def publish_reading(self, sensor: Any, ns: int, now: int) -> None:
        """Write the newest reading of a sensor, of a time [ns], that has arrived now [ns]."""
        self._sensors[sensor.name].publish(sensor.last, ns, now)


def _seconds(ns: int) -> float:
    """Return a time as the node computes it from a stamp [s]."""
    sec, nanosec = divmod(ns, 1_000_000_000)
    return sec + 1e-9 * nanosec
