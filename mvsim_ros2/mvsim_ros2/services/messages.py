# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Conversions between messages of `simulation_interfaces` and the types of the simulation."""

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
from mvsim_ros2.conversions.motion import fill_pose, pose_message
from mvsim_ros2.simulation.entities import (
    BOX,
    CATEGORIES,
    Box,
    Entity,
    EntityFilter,
    Metadata,
    world_acceleration,
    world_velocity,
)
from mvsim_ros2.simulation.result_codes import FAILED, RequestError
from mvsim_ros2.simulation.trust import encodable


def entity_filter(message: Any) -> EntityFilter:
    """Return the filter of an EntityFilters message.

    Raises:
        RequestError: Its bounds cannot be used.
    """
    return EntityFilter(
        pattern=message.filter,
        categories=frozenset(c.category for c in message.categories),
        tags=frozenset(message.tags.tags),
        all_tags=message.tags.filter_mode == message.tags.FILTER_MODE_ALL,
        shape=message.bounds.type,
        points=tuple((p.x, p.y, p.z) for p in message.bounds.points),
    )


def tags_match(tags: Iterable[str], message: Any) -> bool:
    """Return whether tags match a TagsFilter message."""
    wanted, present = set(message.tags), set(tags)
    if not wanted:
        return True
    if message.filter_mode == message.FILTER_MODE_ALL:
        return wanted <= present
    return bool(wanted & present)


def info_message(metadata: Metadata) -> EntityInfo:
    """Return metadata as an EntityInfo message."""
    return EntityInfo(
        category=EntityCategory(category=metadata.category),
        description=metadata.description,
        tags=list(metadata.tags),
    )


def metadata_from(message: EntityInfo) -> Metadata:
    """Return the metadata of an EntityInfo message.

    Raises:
        RequestError: There is no such category.
    """
    category = message.category.category
    if category not in CATEGORIES:
        raise RequestError(FAILED, f"category must be one of {CATEGORIES}, got {category}")
    return Metadata(category, message.description, tuple(dict.fromkeys(message.tags)))


def state_message(entity: Entity, frame: str, stamp: Time) -> EntityState:
    """Return pose, velocity and acceleration of an entity, all in the world frame."""
    message = EntityState(header=Header(frame_id=frame, stamp=stamp))
    handle = entity.handle
    fill_pose(message.pose, handle.pose)
    for target, (linear, angular) in (
        (message.twist, world_velocity(handle)),
        (message.acceleration, world_acceleration(handle)),
    ):
        (target.linear.x, target.linear.y), target.angular.z = linear, angular
    return message


def bounds_message(box: Box) -> Bounds:
    """Return a box: its upper and its lower corner."""
    low, high = box
    corners = [Vector3(x=p[0], y=p[1], z=p[2]) for p in (high, low)]
    return Bounds(type=BOX, points=corners)


def position_and_quaternion(
    message: Any,
) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Return position x, y, z [m] and quaternion x, y, z, w of a Pose message."""
    p, q = message.position, message.orientation
    return (p.x, p.y, p.z), (q.x, q.y, q.z, q.w)


def named_pose_message(name: str, pose: Pose) -> NamedPose:
    """Return the initial pose of a vehicle."""
    return NamedPose(
        name=name, description=f"start of {name}", tags=["start"], pose=pose_message(pose)
    )


def spawnable_message(uri: str, description: str) -> Spawnable:
    """Return a resource that can be spawned."""
    return Spawnable(uri=uri, description=description)


def world_message(source: str) -> WorldResource:
    """Return a world by its file, or "" for one that was given as text."""
    source = encodable(source)
    message = WorldResource(name=Path(source).name.partition(".")[0] if source else "world")
    resource = getattr(message, "world_resource", None) or message.level_resource
    resource.uri = source
    return message
