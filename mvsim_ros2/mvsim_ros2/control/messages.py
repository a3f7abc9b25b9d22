# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Between the messages of `simulation_interfaces` and what the simulation knows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Vector3
from simulation_interfaces.msg import (
    Bounds,
    EntityCategory,
    EntityInfo,
    EntityState,
    NamedPose,
    Spawnable,
    WorldResource,
)
from std_msgs.msg import Header

from mvsim_core import Pose
from mvsim_ros2.control.answers import FAILED, Refused
from mvsim_ros2.control.entities import (
    BOX,
    CATEGORIES,
    Box,
    Entity,
    Filter,
    Info,
    acceleration_of,
    velocity_of,
)
from mvsim_ros2.conversions.motion import fill_pose, pose_message


def filter_of(message: Any) -> Filter:
    """Return the filter of an EntityFilters message.

    Raises:
        Refused: Its bounds cannot be used.
    """
    return Filter(
        pattern=message.filter,
        categories=frozenset(c.category for c in message.categories),
        tags=frozenset(message.tags.tags),
        all_tags=message.tags.filter_mode == message.tags.FILTER_MODE_ALL,
        shape=message.bounds.type,
        points=tuple((p.x, p.y, p.z) for p in message.bounds.points),
    )


def tags_pass(tags: Iterable[str], wanted: Any) -> bool:
    """Return whether tags pass a TagsFilter message."""
    asked, present = set(wanted.tags), set(tags)
    if not asked:
        return True
    return (
        asked <= present if wanted.filter_mode == wanted.FILTER_MODE_ALL else bool(asked & present)
    )


def info_message(info: Info) -> EntityInfo:
    """Return what an entity is."""
    return EntityInfo(
        category=EntityCategory(category=info.category),
        description=info.description,
        tags=list(info.tags),
    )


def info_of(message: EntityInfo) -> Info:
    """Return what an EntityInfo message says.

    Raises:
        Refused: There is no such category.
    """
    category = message.category.category
    if category not in CATEGORIES:
        raise Refused(FAILED, f"category must be one of {CATEGORIES}, got {category}")
    return Info(category, message.description, tuple(dict.fromkeys(message.tags)))


def state_message(entity: Entity, frame: str, stamp: Time) -> EntityState:
    """Return pose, velocity and acceleration of an entity, all in the world frame."""
    message = EntityState(header=Header(frame_id=frame, stamp=stamp))
    handle = entity.handle
    fill_pose(message.pose, handle.pose)
    for target, source in (
        (message.twist, velocity_of(handle)),
        (message.acceleration, acceleration_of(handle)),
    ):
        (target.linear.x, target.linear.y), target.angular.z = source
    return message


def bounds_message(box: Box) -> Bounds:
    """Return a box: its upper and its lower corner."""
    low, high = box
    corners = [Vector3(x=p[0], y=p[1], z=p[2]) for p in (high, low)]
    return Bounds(type=BOX, points=corners)


def pose_parts(
    message: Any,
) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Return position and quaternion of a Pose message."""
    p, q = message.position, message.orientation
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)


def named_pose_message(name: str, pose: Pose) -> NamedPose:
    """Return the place where a vehicle starts."""
    return NamedPose(
        name=name, description=f"start of {name}", tags=["start"], pose=pose_message(pose)
    )


def spawnable_message(uri: str, description: str) -> Spawnable:
    """Return something that can be spawned."""
    return Spawnable(uri=uri, description=description)


def world_message(source: str) -> WorldResource:
    """Return a world by its file, or "" for one that was given as text."""
    message = WorldResource(name=Path(source).name.partition(".")[0] if source else "world")
    resource = getattr(message, "world_resource", None) or message.level_resource
    resource.uri = source
    return message
