# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
# ruff: noqa: RUF009 (param and section describe the fields; their defaults are immutable)
"""Fields of all entities with a pose in the world: pose, velocity, animation, publishing."""

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
from mvsim_core.specs.params import POSITIVE, Alias, Spec, no_effect_hint, one_of, param, section

#: Vehicles of a world, and vehicles, blocks and actors together: what loads in some seconds if
#: they are alike.
MOST_VEHICLES, MOST_BODIES = 10_000, 150_000
TOO_MANY_BODIES = (
    f"the world has more than {MOST_VEHICLES} vehicles, or {MOST_BODIES} vehicles, blocks and"
    " actors"
)
#: Elements of a world, such as vertical planes: likewise.
MOST_ELEMENTS = 5_000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class AnimationSpec(Spec):
    """Key frames, repeated with the time of the last one as period.

    The pose at a time is the initial pose composed with the interpolated offset.
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

    def errors(self) -> Iterator[str]:
        """Yield errors in the times."""
        times = [frame.time for frame in self.frames]
        if not times:
            yield "at least one <time_pose> or <time_pose3d> is required"
        elif any(after <= before for before, after in pairwise(times)):
            yield "the times of an animation must increase"
        elif times[-1] <= 0:
            yield f"the last time of an animation must be > 0 [s], got {times[-1]:g}"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class PublishSpec(Spec):
    """Topics on the message bus, which `mvsim run --server` starts.

    ROS 2 topics need no element: each vehicle and sensor has its own. `publish_topic` belongs to
    a sensor, the others to what has a pose: a vehicle, block or actor.
    """

    enabled: bool = param(True, attribute=True, help="false: publishes nothing")
    publish_topic: str = param(
        "", help="readings of a sensor; those of a 2D laser also on the topic with _scan behind it"
    )
    publish_pose_topic: str = param("", help="pose in the world")
    publish_pose_period: float = param(
        0.1, unit="s", check=POSITIVE, help="of the topics with poses and odometry, simulated time"
    )
    publish_relative_pose_topic: str = param(
        "", help="poses of publish_relative_pose_objects in the frame of this one"
    )
    publish_relative_pose_objects: tuple[str, ...] = param((), conv=WORDS, help="names")
    publish_odometry_topic: str = param(
        "", help="extension: odometry of a vehicle, with the period of the pose"
    )

    def hints(self) -> Iterator[str]:
        """Yield that no objects are named whose poses are to be published."""
        topic, objects = self.publish_relative_pose_topic, self.publish_relative_pose_objects
        if self.enabled and topic and not objects:
            reason = "publish_relative_pose_objects names no objects"
            yield no_effect_hint("publish_relative_pose_topic", reason)

    def without_effect(self, topics: tuple[str, ...], reason: str) -> Iterator[str]:
        """Yield those of some topics that are given although what has them does not publish."""
        for name in topics if self.enabled else ():
            if getattr(self, name):
                yield no_effect_hint(name, reason)


#: Topics of what has a pose.
POSE_TOPICS = ("publish_pose_topic", "publish_relative_pose_topic", "publish_odometry_topic")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class SimulableSpec(Spec):
    """Base of vehicles, blocks, actors and planes: entities with a pose in the world frame.

    The initial velocity is in the entity's own frame. Unless `skip_elevation_adjust` is set, z is
    the height of the ground below.
    """

    init_pose: Pose = param(
        Pose(),
        conv=POSE2D,
        also=(Alias("init_pose3d", POSE3D),),
        unit="m, rad",
        help="world frame",
    )
    init_vel: Twist = param(
        Twist(), conv=TWIST, unit="m/s, rad/s", help="in the entity's own frame"
    )
    skip_elevation_adjust: bool = param(
        False, form="flag", help="keep z, roll and pitch of init_pose3d"
    )
    animation: AnimationSpec | None = section(None, "animation", AnimationSpec)
    publish: PublishSpec = section(PublishSpec(), "publish", PublishSpec)

    def hints(self) -> Iterator[str]:
        """Yield fields without effect, and topics that only sensors or vehicles have."""
        yield from Spec.hints(self)
        yield from self.publish.without_effect(("publish_topic",), "only sensors have readings")
        if not self._has_odometry:
            topics, reason = ("publish_odometry_topic",), "only vehicles have an odometry"
            yield from self.publish.without_effect(topics, reason)

    @property
    def _has_odometry(self) -> bool:
        return False
