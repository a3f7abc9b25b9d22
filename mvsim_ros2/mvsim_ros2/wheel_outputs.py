# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is published of a vehicle's wheels: joint states, forces, transforms."""

from __future__ import annotations

from collections.abc import Iterator

from builtin_interfaces.msg import Time
from geometry_msgs.msg import TransformStamped
from std_msgs.msg import Header

from mvsim_core import Pose, Vehicle
from mvsim_core.world.vehicle import WheelView
from mvsim_ros2.conversions.motion import fill_transform, transform_message
from mvsim_ros2.conversions.wheels import joint_states_message, wheel_states_message
from mvsim_ros2.frames import Frames
from mvsim_ros2.joints import WheelJoint, wheel_joints
from mvsim_ros2.output import Output

_SAME = Pose()


class WheelOutputs:
    """Publishes the wheels of one vehicle.

    Args:
        vehicle: Whose wheels they are.
        frames: Its frames.
        joint_states: Where joint states go.
        wheel_states: Where forces go.

    Attributes:
        links: Transforms of the wheels' frames, to be filled.
    """

    def __init__(
        self, vehicle: Vehicle, frames: Frames, joint_states: Output, wheel_states: Output
    ) -> None:
        """Keep what does not change."""
        self._wheels = vehicle.wheels
        self._joint_states = joint_states
        self._wheel_states = wheel_states
        self._header = Header(frame_id=frames.base)
        self._joints = wheel_joints(vehicle.spec.dynamics)
        self._steered = [i for i, joint in enumerate(self._joints) if joint.steered]
        spins = [joint.spin for joint in self._joints]
        self._names = spins + [self._joints[i].steering for i in self._steered]
        self._spins = spins
        self._steering = self._steering_now()
        self._steering_time = 0.0
        self.links: list[TransformStamped] = list(_links(self._joints, frames))

    def publish(self, stamp: Time) -> None:
        """Send joint states and forces."""
        if self._joint_states.wanted:
            self._publish_joints(stamp)
        if self._wheel_states.wanted:
            self._header.stamp = stamp
            message = wheel_states_message(self._spins, self._wheels, self._header)
            self._wheel_states.publish(message)

    def _publish_joints(self, stamp: Time) -> None:
        wheels = self._wheels
        steering, now = self._steering_now(), stamp.sec + 1e-9 * stamp.nanosec
        past = now - self._steering_time
        rates = [
            (new - old) / past if past > 0.0 else 0.0
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

    def _steering_now(self) -> list[float]:
        """Return the angles [rad] of the joints of steered wheels."""
        return [self._wheels[i].steering - self._joints[i].spec.yaw for i in self._steered]

    def fill_links(self, stamp: Time) -> None:
        """Write where the wheels are into `links`, the transforms of their frames."""
        links = iter(self.links)
        for joint, wheel in zip(self._joints, self._wheels, strict=True):
            for pose in _poses(joint, wheel):
                fill_transform(next(links), pose, stamp)

    def close(self) -> None:
        """Destroy the publishers."""
        self._joint_states.close()
        self._wheel_states.close()


def _links(joints: list[WheelJoint], frames: Frames) -> Iterator[TransformStamped]:
    """Yield the transforms of the wheels' links, to be filled."""
    for joint in joints:
        parent = frames.base
        if joint.steered:
            steering = frames.named(joint.steering_link)
            yield transform_message(parent, steering, _SAME, Time())
            parent = steering
        yield transform_message(parent, frames.named(joint.link), _SAME, Time())


def _poses(joint: WheelJoint, wheel: WheelView) -> Iterator[Pose]:
    """Yield the poses of a wheel's links, in the order of `_links`."""
    spec = joint.spec
    place = Pose(spec.x, spec.y, spec.radius, yaw=wheel.steering)
    if joint.steered:
        yield place
        yield Pose(pitch=wheel.phi)
    else:
        yield place._replace(pitch=wheel.phi)
