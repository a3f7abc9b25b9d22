# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Poses, twists, transforms and odometry to messages.

All follow REP-103: x forward, y left, z up, metres and radians.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Pose as PoseMessage
from geometry_msgs.msg import PoseWithCovarianceStamped, Transform, TransformStamped
from nav_msgs.msg import Odometry
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage

from mvsim_core import Pose, Twist
from mvsim_core.bags.motion import Variances, diagonal, fill_planar, upper_triangle
from mvsim_core.geometry.poses import quaternion
from mvsim_core.world.vehicle import OdometryCovariance

#: Variances of the initial pose for a localiser [m², rad²].
INITIAL_VARIANCES = (1e-2, 1e-2, 0.0, 0.0, 0.0, 2.5e-3)


def fill_pose(message: PoseMessage | Transform, pose: Pose) -> None:
    """Write a pose into a message."""
    is_pose = isinstance(message, PoseMessage)
    position = message.position if is_pose else message.translation
    q = message.orientation if is_pose else message.rotation
    position.x, position.y, position.z = pose.x, pose.y, pose.z
    q.x, q.y, q.z, q.w = quaternion(pose.roll, pose.pitch, pose.yaw)


def pose_message(pose: Pose) -> PoseMessage:
    """Return a pose."""
    message = PoseMessage()
    fill_pose(message, pose)
    return message


def transform_message(parent: str, child: str, pose: Pose, stamp: Time) -> TransformStamped:
    """Return the pose of the frame `child` in the frame `parent`."""
    message = TransformStamped(header=Header(frame_id=parent), child_frame_id=child)
    fill_transform(message, pose, stamp)
    return message


def fill_transform(message: TransformStamped, pose: Pose, stamp: Time) -> None:
    """Write a pose and a stamp into a transform: a tenth of the cost of a new message."""
    message.header.stamp = stamp
    fill_pose(message.transform, pose)


def tf_message(transforms: list[TransformStamped]) -> TFMessage:
    """Return a message for /tf or /tf_static."""
    return TFMessage(transforms=transforms)


def pose_estimate_message(
    pose: Pose, variances: Sequence[float], frame: str, stamp: Time
) -> PoseWithCovarianceStamped:
    """Return a pose in a frame with its variances [m², rad²], as localisers exchange it."""
    message = PoseWithCovarianceStamped(header=Header(stamp=stamp, frame_id=frame))
    fill_pose(message.pose.pose, pose)
    message.pose.covariance = diagonal(variances)
    return message


def odometry_message(frames: tuple[str, str], variances: Variances) -> Odometry:
    """Return an odometry message for `fill_odometry`.

    Args:
        frames: header.frame_id and child_frame_id, the frame of the vehicle.
        variances: Variances of pose and twist.
    """
    message = Odometry(header=Header(frame_id=frames[0]), child_frame_id=frames[1])
    message.pose.covariance = diagonal(variances[0])
    message.twist.covariance = diagonal(variances[1])
    return message


def fill_odometry(
    message: Odometry,
    pose: Pose,
    twist: Twist,
    stamp: Time,
    rates: tuple[float, float, float] | None = None,
) -> None:
    """Write a pose in the parent frame, a twist in the child frame, and a stamp.

    Args:
        message: The message.
        pose: Of the child frame in the parent frame.
        twist: Of the child frame, in itself.
        stamp: Time of both.
        rates: Rates about the three axes of the child frame [rad/s]; None: only `twist.wz`.
    """
    message.header.stamp = stamp
    fill_pose(message.pose.pose, pose)
    linear, angular = message.twist.twist.linear, message.twist.twist.angular
    linear.x, linear.y = twist.vx, twist.vy
    angular.x, angular.y, angular.z = rates or (0.0, 0.0, twist.wz)


def fill_covariances(message: Odometry, covariance: OdometryCovariance, start_yaw: float) -> None:
    """Write the covariances of x, y and yaw of wheel odometry, which are never singular.

    Args:
        message: The message; the other axes keep their variances.
        covariance: Of pose and twist; the pose is in a frame that starts at zero.
        start_yaw: Direction of that frame in the frame of the message [rad].
    """
    c, s = math.cos(start_yaw), math.sin(start_yaw)
    fill_planar(message.pose.covariance, upper_triangle(covariance.pose), c, s)
    fill_planar(message.twist.covariance, upper_triangle(covariance.twist), 1.0, 0.0)
