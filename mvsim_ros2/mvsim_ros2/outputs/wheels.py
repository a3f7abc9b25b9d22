# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Outputs of the wheels of a vehicle: joint states, forces, transforms."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from std_msgs.msg import Header

from mvsim_core import Pose, Vehicle, WheelView
from mvsim_core.bags.frames import Frames
from mvsim_core.bags.joints import WheelJoint, wheel_joints
from mvsim_ros2.conversions.motion import fill_transform, transform_message
from mvsim_ros2.conversions.wheels import joint_states_message, wheel_states_message
from mvsim_ros2.outputs.publisher import TopicPublisher

_IDENTITY = Pose()


class WheelOutputs:
    """Publishes the wheels of one vehicle.

    Args:
        vehicle: The vehicle.
        frames: Its frames.
        joint_states: Publisher of joint states.
        wheel_states: Publisher of wheel states.

    Attributes:
        transforms: Transforms of the links of the wheels, see `fill_transforms`.
    """

    def __init__(
        self,
        vehicle: Vehicle,
        frames: Frames,
        joint_states: TopicPublisher,
        wheel_states: TopicPublisher,
    ) -> None:
        """Prepare messages and names."""
        self._wheels = vehicle.wheels
        self._joint_states = joint_states
        self._wheel_states = wheel_states
        self._header = Header(frame_id=frames.base)
        self._joints = wheel_joints(vehicle.spec.dynamics)
        self._steered = [i for i, joint in enumerate(self._joints) if joint.steered]
        axles = [joint.axle for joint in self._joints]
        self._names = axles + [self._joints[i].steering for i in self._steered]
        self._axles = axles
        self._steering = self._steering_angles()
        self._steering_time = 0.0
        self.transforms: list[TransformStamped] = list(_transforms(self._joints, frames))

    def publish(self, stamp: Time) -> None:
        """Publish joint states and wheel states."""
        if self._joint_states.needed:
            self._publish_joints(stamp)
        if self._wheel_states.needed:
            self._header.stamp = stamp
            message = wheel_states_message(self._axles, self._wheels, self._header)
            self._wheel_states.publish(message)

    def _publish_joints(self, stamp: Time) -> None:
        wheels = self._wheels
        steering, now = self._steering_angles(), stamp.sec + 1e-9 * stamp.nanosec
        elapsed = now - self._steering_time
        rates = [
            (new - old) / elapsed if elapsed > 0.0 else 0.0
            for new, old in zip(steering, self._steering, strict=True)
        ]
        self._steering, self._steering_time = steering, now
        message = joint_states_message(
            self._names,
            [wheel.phi for wheel in wheels] + steering,
            [wheel.omega for wheel in wheels] + rates,
            [wheel.torque for wheel in wheels] + [0.0] * len(steering),
            Header(stamp=stamp),
        )
        self._joint_states.publish(message)

    def _steering_angles(self) -> list[float]:
        """Return the angles [rad] of the steering joints."""
        return [self._wheels[i].steering - self._joints[i].spec.yaw for i in self._steered]

    def fill_transforms(self, stamp: Time) -> None:
        """Write the present poses of the wheels into `transforms`."""
        transforms = iter(self.transforms)
        for joint, wheel in zip(self._joints, self._wheels, strict=True):
            for pose in _poses(joint, wheel):
                fill_transform(next(transforms), pose, stamp)

    def close(self) -> None:
        """Destroy the publishers."""
        self._joint_states.close()
        self._wheel_states.close()


def _transforms(joints: list[WheelJoint], frames: Frames) -> Iterator[TransformStamped]:
    """Yield the transforms of the links of the wheels, to be filled."""
    for joint in joints:
        parent = frames.base
        if joint.steered:
            steering = frames.prefixed(joint.steering_link)
            yield transform_message(parent, steering, _IDENTITY, Time())
            parent = steering
        yield transform_message(parent, frames.prefixed(joint.link), _IDENTITY, Time())


def _poses(joint: WheelJoint, wheel: WheelView) -> Iterator[Pose]:
    """Yield the poses of a wheel's links, in the order of `_transforms`."""
    spec = joint.spec
    mount = Pose(spec.x, spec.y, spec.radius, yaw=wheel.steering)
    if joint.steered:
        yield mount
        yield Pose(pitch=wheel.phi)
    else:
        yield mount._replace(pitch=wheel.phi)
