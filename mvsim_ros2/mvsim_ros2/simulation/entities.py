# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Entities of a world (vehicles, blocks, actors): metadata, filters, poses, bounds.

All in the world frame and SI units, unless stated otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import re2

from mvsim_core import Pose, UnknownName, World
from mvsim_ros2.simulation.result_codes import FAILED, NOT_FOUND, UNSUPPORTED, RequestError

CATEGORIES = OBJECT, ROBOT, HUMAN, DYNAMIC_OBJECT, STATIC_OBJECT = 0, 1, 2, 4, 5
EMPTY, BOX, HULL, SPHERE = range(4)
#: Longest regular expression for names [characters].
MAX_PATTERN = 200
#: RE2 matches in time proportional to the name's length, whatever the pattern: clients choose it.
_RE2_OPTIONS = re2.Options()
_RE2_OPTIONS.max_mem = 1 << 20
_RE2_OPTIONS.log_errors = False
#: Tolerance of the length of a quaternion.
UNIT_TOLERANCE = 0.05

Point = tuple[float, float, float]
#: Lowest and highest corner.
Box = tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class Metadata:
    """Category, description and tags of an entity, see simulation_interfaces/msg/EntityInfo.

    Attributes:
        category: One of `CATEGORIES`.
        description: For people.
        tags: For filters: its kind and its class in the world file.
    """

    category: int
    description: str
    tags: tuple[str, ...]


#: Metadata that clients have set, by entity name; it replaces that of the world file.
MetadataByName = Mapping[str, Metadata]
NO_METADATA: MetadataByName = {}


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity with its metadata.

    Attributes:
        handle: Vehicle, block or actor of the core.
        metadata: Its metadata.
    """

    handle: Any
    metadata: Metadata


@dataclass(frozen=True, slots=True)
class EntityFilter:
    """A filter of entities; empty fields match all.

    Attributes:
        pattern: Regular expression that matches somewhere in the name.
        categories: Any of them matches.
        tags: Any of them matches, or all must with `all_tags`.
        all_tags: See `tags`.
        shape: Shape of the bounds, which must overlap the entity's box.
        points: Points of the bounds.
    """

    pattern: str = ""
    categories: frozenset[int] = frozenset()
    tags: frozenset[str] = frozenset()
    all_tags: bool = False
    shape: int = EMPTY
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        """Check the bounds.

        Raises:
            RequestError: They cannot be used; with the interface's code.
        """
        if self.shape not in (EMPTY, BOX, SPHERE):
            raise RequestError(UNSUPPORTED, "bounds must be empty, a box or a sphere")
        if self.shape != EMPTY and len(self.points) != 2:
            raise RequestError(FAILED, f"bounds need 2 points, got {len(self.points)}")
        if not all(math.isfinite(value) for point in self.points for value in point):
            raise RequestError(FAILED, "bounds must be finite numbers")


def all_entities(world: World, metadata: MetadataByName) -> Iterator[tuple[str, Entity]]:
    """Iterate over all entities: vehicles, blocks, actors."""
    for handles, metadata_of in _kinds(world):
        for name, handle in handles.items():
            yield name, Entity(handle, metadata.get(name) or metadata_of(handle))


def find_entity(world: World, name: str, metadata: MetadataByName = NO_METADATA) -> Entity:
    """Return the entity with a name.

    Raises:
        RequestError: There is none.
    """
    for handles, metadata_of in _kinds(world):
        if name in handles:
            handle = handles[name]
            return Entity(handle, metadata.get(name) or metadata_of(handle))
    names = [known for handles, _ in _kinds(world) for known in handles]
    raise RequestError(NOT_FOUND, str(UnknownName("entity", name, names)))


def has_entity(world: World, name: str) -> bool:
    """Return whether there is an entity with a name."""
    return any(name in handles for handles, _ in _kinds(world))


def filter_entities(
    world: World, entity_filter: EntityFilter, metadata: MetadataByName
) -> list[tuple[str, Entity]]:
    """Return the entities that match a filter.

    Raises:
        RequestError: The pattern is no regular expression.
    """
    if len(entity_filter.pattern) > MAX_PATTERN:
        raise RequestError(FAILED, f"the filter must be at most {MAX_PATTERN} characters long")
    try:
        pattern = re2.compile(entity_filter.pattern, _RE2_OPTIONS)
    except re2.error as error:
        reason = error.args[0].decode(errors="replace")
        raise RequestError(FAILED, f"the filter is no regular expression: {reason}") from None
    return [
        (name, entity)
        for name, entity in all_entities(world, metadata)
        if pattern.search(name) and _matches(entity, entity_filter)
    ]


def local_bounds(handle: Any) -> Box:
    """Return the bounds of an entity in its own frame [m]; a point if it has no shape."""
    polygons = handle.polygons
    low, high = handle.z_range
    if not polygons:
        return (0.0, 0.0, low), (0.0, 0.0, high)
    points = np.concatenate(polygons)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return (float(x0), float(y0), low), (float(x1), float(y1), high)


def world_bounds(handle: Any) -> Box:
    """Return the bounds of an entity along the axes of the world [m]."""
    pose = handle.pose
    low, high = handle.z_range
    points = np.concatenate([*handle.polygons, np.zeros((0, 2))])
    if not len(points):
        points = np.zeros((1, 2))
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    points_w = points @ np.array([[c, s], [-s, c]])
    (x0, y0), (x1, y1) = points_w.min(axis=0), points_w.max(axis=0)
    return (
        (pose.x + float(x0), pose.y + float(y0), pose.z + low),
        (pose.x + float(x1), pose.y + float(y1), pose.z + high),
    )


def world_velocity(handle: Any) -> tuple[tuple[float, float], float]:
    """Return (vx_w, vy_w) [m/s] in the world frame and the yaw rate [rad/s] of an entity."""
    twist_v, yaw = handle.twist, handle.pose.yaw
    return _rotated(twist_v.vx, twist_v.vy, yaw), twist_v.wz


def world_acceleration(handle: Any) -> tuple[tuple[float, float], float]:
    """Return (ax_w, ay_w) [m/s²] in the world frame and that of yaw [rad/s²] of an entity."""
    ax_v, ay_v, alpha = handle.acceleration
    return _rotated(ax_v, ay_v, handle.pose.yaw), alpha


def frame_pose(world: World, frame: str, map_frame: str) -> Pose:
    """Return the pose in the world of a frame: of the world itself, or of an entity by its name.

    Raises:
        RequestError: There is no such frame.
    """
    if frame.lstrip("/") in ("", "world", map_frame):
        return Pose()
    pose: Pose = find_entity(world, frame).handle.pose
    return pose


def planar_pose(
    position: Sequence[float], orientation: Sequence[float], frame: Pose, code: int
) -> Pose:
    """Return a pose in the world from one in a frame; roll and pitch, from the ground, are 0.

    Args:
        position: x, y, z [m] in the frame.
        orientation: Quaternion x, y, z, w in the frame.
        frame: Pose of the frame in the world.
        code: Result code of errors.

    Raises:
        RequestError: A number is not finite, or the quaternion is not normalised.
    """
    if not all(math.isfinite(value) for value in (*position, *orientation)):
        raise RequestError(code, "the pose must be finite numbers")
    length = math.hypot(*orientation)
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise RequestError(code, f"the quaternion must have length 1, got {length:.4g}")
    if max(map(abs, position)) > 1e6:
        raise RequestError(code, "the position must be within 1e6 m")
    x, y, z, w = orientation
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    dx, dy = _rotated(position[0], position[1], frame.yaw)
    return Pose(frame.x + dx, frame.y + dy, frame.z + position[2], 0.0, 0.0, frame.yaw + yaw)


def _kinds(world: World) -> tuple[tuple[Mapping[str, Any], Callable[[Any], Metadata]], ...]:
    """Return the handles of each kind by name, with what makes metadata from the world file."""
    return (world.vehicles, _vehicle), (world.blocks, _block), (world.actors, _actor)


def _vehicle(vehicle: Any) -> Metadata:
    return Metadata(ROBOT, f"{vehicle.kind} vehicle", _tags("vehicle", vehicle))


def _block(block: Any) -> Metadata:
    fixed = block.spec.static
    category, kind = (STATIC_OBJECT, "fixed") if fixed else (DYNAMIC_OBJECT, "movable")
    return Metadata(category, f"{kind} block", _tags("block", block))


def _actor(actor: Any) -> Metadata:
    return Metadata(HUMAN, "walking actor", _tags("actor", actor))


def _tags(kind: str, handle: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in (kind, handle.spec.class_name) if tag))


def _matches(entity: Entity, entity_filter: EntityFilter) -> bool:
    metadata = entity.metadata
    if entity_filter.categories and metadata.category not in entity_filter.categories:
        return False
    if entity_filter.tags:
        common = entity_filter.tags & set(metadata.tags)
        if not common or (entity_filter.all_tags and common != entity_filter.tags):
            return False
    return entity_filter.shape == EMPTY or _overlaps(world_bounds(entity.handle), entity_filter)


def _overlaps(box: Box, entity_filter: EntityFilter) -> bool:
    low, high = np.array(box)
    a, b = np.array(entity_filter.points)
    if entity_filter.shape == SPHERE:  # its centre, and the radius as x of the second point
        return bool(np.linalg.norm(a - np.clip(a, low, high)) <= b[0])
    return bool((np.minimum(a, b) <= high).all() and (np.maximum(a, b) >= low).all())


def _rotated(x: float, y: float, yaw: float) -> tuple[float, float]:
    """Return a vector of a frame with this yaw in the axes of the frame around it."""
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y
