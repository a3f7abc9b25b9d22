# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses, velocities, transforms and odometry.

All poses are REP-103: x forward, y left, z up, metres and radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, Quaternion, Transform, TransformStamped, Vector3
from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import Twist as TwistMessage
from nav_msgs.msg import Odometry
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from mvsim_core import Pose, Twist
from mvsim_core.geometry import quaternion

#: Variance of an axis that is not measured (z, roll, pitch of wheel odometry) [m², rad²].
UNMEASURED = 1e6
#: Variances of pose and twist: x, y, z [m², m²/s²], roll, pitch, yaw [rad², rad²/s²].
Variances = tuple[Sequence[float], Sequence[float]]
WHEEL_ODOMETRY: Variances = (
    (1e-3, 1e-3, UNMEASURED, UNMEASURED, UNMEASURED, 1e-2),
    (1e-4, 1e-4, UNMEASURED, UNMEASURED, UNMEASURED, 1e-3),
)
#: Truth is exact; filters do not accept zeros.
GROUND_TRUTH: Variances = ((1e-9,) * 6, (1e-9,) * 6)


def quaternion_of(pose: Pose) -> Quaternion:
    """Return the attitude of a pose."""
    x, y, z, w = quaternion(pose.roll, pose.pitch, pose.yaw)
    return Quaternion(x=x, y=y, z=z, w=w)


def pose_message(pose: Pose) -> PoseMessage:
    """Return a pose."""
    return PoseMessage(
        position=Point(x=pose.x, y=pose.y, z=pose.z), orientation=quaternion_of(pose)
    )


def twist_message(twist: Twist) -> TwistMessage:
    """Return a planar velocity in the frame of the vehicle."""
    return TwistMessage(
        linear=Vector3(x=twist.vx, y=twist.vy, z=0.0), angular=Vector3(x=0.0, y=0.0, z=twist.wz)
    )


def transform_message(parent: str, child: str, pose: Pose, stamp: Time) -> TransformStamped:
    """Return the pose of the frame `child` in the frame `parent`."""
    return TransformStamped(
        header=Header(stamp=stamp, frame_id=parent),
        child_frame_id=child,
        transform=Transform(
            translation=Vector3(x=pose.x, y=pose.y, z=pose.z), rotation=quaternion_of(pose)
        ),
    )


def tf_message(transforms: list[TransformStamped]) -> TFMessage:
    """Return transforms as they go to /tf or /tf_static."""
    return TFMessage(transforms=transforms)


def map_to_odom(truth: Pose, odometry: Pose) -> Pose:
    """Return the pose of the odometry frame that puts the vehicle where it truly is.

    Args:
        truth: Of the vehicle in the world.
        odometry: Of the vehicle in the odometry frame; planar.
    """
    yaw = math.remainder(truth.yaw - odometry.yaw, 2.0 * math.pi)
    c, s = math.cos(yaw), math.sin(yaw)
    return Pose(
        x=truth.x - (c * odometry.x - s * odometry.y),
        y=truth.y - (s * odometry.x + c * odometry.y),
        z=truth.z,
        yaw=yaw,
    )


def diagonal(variances: Sequence[float]) -> list[float]:
    """Return the row-major 6x6 covariance with these variances and no correlations."""
    covariance = [0.0] * 36
    covariance[::7] = variances
    return covariance


def odometry_message(
    pose: Pose, twist: Twist, frames: tuple[str, str], stamp: Time, variances: Variances
) -> Odometry:
    """Return an odometry message.

    Args:
        pose: Of the vehicle in the first frame.
        twist: In the second frame, the vehicle's own.
        frames: header.frame_id and child_frame_id.
        stamp: When that was so.
        variances: Of pose and twist.
    """
    message = Odometry(header=Header(stamp=stamp, frame_id=frames[0]), child_frame_id=frames[1])
    message.pose.pose = pose_message(pose)
    message.pose.covariance = diagonal(variances[0])
    message.twist.twist = twist_message(twist)
    message.twist.covariance = diagonal(variances[1])
    return message
