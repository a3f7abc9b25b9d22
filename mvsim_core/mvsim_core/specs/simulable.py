# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""What everything that has a place in the world shares: pose, velocity, animation, publishing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from mvsim_core.geometry.poses import Pose, Twist
from mvsim_core.specs.converters import (
    POSE2D,
    POSE3D,
    TIME_POSE,
    TIME_POSE_3D,
    TWIST,
    WORDS,
    Keyframe,
)
from mvsim_core.specs.params import POSITIVE, Alias, Spec, one_of, param, section, without_effect


@dataclass(frozen=True, slots=True, kw_only=True)
class AnimationSpec(Spec):
    """Key frames that are repeated with the last one's time as period.

    The pose at a time is the initial pose followed by the interpolated offset.
    """

    type: str = param("keyframes", attribute=True, check=one_of("keyframes"))
    frames: tuple[Keyframe, ...] = param(
        (),
        xml="time_pose",
        form="many",
        conv=TIME_POSE,
        also=(Alias("time_pose3d", TIME_POSE_3D),),
        help="time [s] and offset from the initial pose",
    )

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with the times."""
        times = [frame.time for frame in self.frames]
        if not times:
            yield "needs at least one <time_pose> or <time_pose3d>"
        elif any(after <= before for before, after in pairwise(times)):
            yield "the times of an animation must increase"
        elif times[-1] <= 0:
            yield f"the last time of an animation must be > 0 [s], got {times[-1]:g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishSpec(Spec):
    """What the original publishes over its own network, which is not there: ROS 2 topics are.

    Each vehicle and sensor has its ROS 2 topics, whatever these elements say.
    """

    enabled: bool = param(True, attribute=True)
    publish_topic: str = param("")
    publish_pose_topic: str = param("")
    publish_pose_period: float = param(0.1, unit="s", check=POSITIVE)
    publish_relative_pose_topic: str = param("")
    publish_relative_pose_objects: tuple[str, ...] = param((), conv=WORDS)

    def notes(self) -> Iterator[str]:
        """Yield which topics nobody publishes."""
        reason = "it is no ROS 2 topic, and ROS 2 topics need no element"
        if self.enabled and self.publish_topic:
            yield without_effect("publish_topic", reason)
        if self.enabled and self.publish_pose_topic:
            yield without_effect("publish_pose_topic", reason)
        if self.enabled and self.publish_relative_pose_topic:
            reason = "it is no ROS 2 topic; subtract the poses of ground_truth, or use tf"
            yield without_effect("publish_relative_pose_topic", reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulableSpec(Spec):
    """Base of vehicles, blocks, actors and planes: things with a pose in the world frame.

    The initial velocity is in the thing's own frame. Unless `skip_elevation_adjust`, z follows
    the ground below.
    """

    init_pose: Pose = param(
        Pose(),
        conv=POSE2D,
        also=(Alias("init_pose3d", POSE3D),),
        unit="m, rad",
        help="in the world frame",
    )
    init_vel: Twist = param(Twist(), conv=TWIST, unit="m/s, rad/s", help="in its own frame")
    skip_elevation_adjust: bool = param(
        False, form="flag", help="keep z, roll and pitch of init_pose3d"
    )
    animation: AnimationSpec | None = section(None, "animation", AnimationSpec)
    publish: PublishSpec = section(PublishSpec(), "publish", PublishSpec)
