# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What is in a world: names, kinds, places, bounds. All in the world frame, SI units."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mvsim_core import Pose, UnknownName, World
from mvsim_ros2.control.answers import FAILED, NOT_FOUND, UNSUPPORTED, Refused

CATEGORIES = OBJECT, ROBOT, HUMAN, DYNAMIC_OBJECT, STATIC_OBJECT = 0, 1, 2, 4, 5
EMPTY, BOX, HULL, SPHERE = range(4)
#: Longest regular expression for names: long ones serve nobody but may take for ever.
MAX_PATTERN = 200
#: How far the length of a quaternion may be from 1.
UNIT_SLACK = 0.05

Point = tuple[float, float, float]
#: Lowest and highest corner.
Box = tuple[Point, Point]


@dataclass(frozen=True, slots=True)
class Info:
    """What something is.

    Attributes:
        category: As the interface counts them.
        description: For people.
        tags: For filters: what it is, its class.
    """

    category: int
    description: str
    tags: tuple[str, ...]


#: What clients have said of entities, by name, in place of what the world file says.
Infos = Mapping[str, Info]
NOTHING_SAID: Infos = {}


@dataclass(frozen=True, slots=True)
class Entity:
    """Something with a name and a place.

    Attributes:
        handle: Vehicle, block or actor of the core.
        info: What it is.
    """

    handle: Any
    info: Info


@dataclass(frozen=True, slots=True)
class Filter:
    """Which entities are asked for; what is empty lets all pass.

    Attributes:
        pattern: Regular expression that the name matches somewhere.
        categories: Any of them.
        tags: Any of them, or all of them with `all_tags`.
        all_tags: See `tags`.
        shape: Kind of the bounds which the entity's box overlaps.
        points: They describe the bounds.
    """

    pattern: str = ""
    categories: frozenset[int] = frozenset()
    tags: frozenset[str] = frozenset()
    all_tags: bool = False
    shape: int = EMPTY
    points: tuple[Point, ...] = ()

    def __post_init__(self) -> None:
        """Refuse bounds that cannot be used.

        Raises:
            Refused: With the interface's code.
        """
        if self.shape not in (EMPTY, BOX, SPHERE):
            raise Refused(UNSUPPORTED, "bounds must be empty, a box or a sphere")
        if self.shape != EMPTY and len(self.points) != 2:
            raise Refused(FAILED, f"bounds need 2 points, got {len(self.points)}")
        if not all(math.isfinite(value) for point in self.points for value in point):
            raise Refused(FAILED, "bounds must be finite numbers")


def entities_of(world: World, infos: Infos) -> Iterator[tuple[str, Entity]]:
    """Iterate over all entities: vehicles, blocks, actors."""
    for handles, info_of in _kinds(world):
        for name, handle in handles.items():
            yield name, Entity(handle, infos.get(name) or info_of(handle))


def entity_of(world: World, name: str, infos: Infos = NOTHING_SAID) -> Entity:
    """Return one entity.

    Raises:
        Refused: There is none of that name.
    """
    for handles, info_of in _kinds(world):
        if name in handles:
            return Entity(handles[name], infos.get(name) or info_of(handles[name]))
    names = [known for handles, _ in _kinds(world) for known in handles]
    raise Refused(NOT_FOUND, str(UnknownName("entity", name, names)))


def contains(world: World, name: str) -> bool:
    """Return whether there is an entity of that name."""
    return any(name in handles for handles, _ in _kinds(world))


def matching(world: World, wanted: Filter, infos: Infos) -> list[tuple[str, Entity]]:
    """Return the entities that pass a filter.

    Raises:
        Refused: The regular expression is none.
    """
    if len(wanted.pattern) > MAX_PATTERN:
        raise Refused(FAILED, f"the filter must be at most {MAX_PATTERN} characters long")
    try:
        pattern = re.compile(wanted.pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise Refused(FAILED, f"the filter is no regular expression: {error}") from None
    return [
        (name, entity)
        for name, entity in entities_of(world, infos)
        if pattern.search(name) and _passes(entity, wanted)
    ]


def own_box(handle: Any) -> Box:
    """Return the bounds of an entity in its own frame [m]; a point if it has no shape."""
    polygons = handle.polygons
    low, high = handle.z_range
    if not polygons:
        return (0.0, 0.0, low), (0.0, 0.0, high)
    points = np.concatenate(polygons)
    (x0, y0), (x1, y1) = points.min(axis=0), points.max(axis=0)
    return (float(x0), float(y0), low), (float(x1), float(y1), high)


def box_of(handle: Any) -> Box:
    """Return the bounds of an entity along the axes of the world [m]."""
    pose = handle.pose
    low, high = handle.z_range
    points = np.concatenate([*handle.polygons, np.zeros((0, 2))])
    if not len(points):
        points = np.zeros((1, 2))
    c, s = math.cos(pose.yaw), math.sin(pose.yaw)
    turned = points @ np.array([[c, s], [-s, c]])
    (x0, y0), (x1, y1) = turned.min(axis=0), turned.max(axis=0)
    return (
        (pose.x + float(x0), pose.y + float(y0), pose.z + low),
        (pose.x + float(x1), pose.y + float(y1), pose.z + high),
    )


def velocity_of(handle: Any) -> tuple[tuple[float, float], float]:
    """Return (vx, vy) [m/s] in the world frame and the yaw rate [rad/s] of an entity."""
    twist, yaw = handle.twist, handle.pose.yaw
    return _turned(twist.vx, twist.vy, yaw), twist.wz


def acceleration_of(handle: Any) -> tuple[tuple[float, float], float]:
    """Return (ax, ay) [m/s²] in the world frame and that of yaw [rad/s²] of an entity."""
    ax, ay, turning = handle.acceleration
    return _turned(ax, ay, handle.pose.yaw), turning


def place_of(world: World, frame: str, map_frame: str) -> Pose:
    """Return the pose of a frame: that of the world, or of an entity by its name.

    Raises:
        Refused: There is no such frame.
    """
    if frame.lstrip("/") in ("", "world", map_frame):
        return Pose()
    pose: Pose = entity_of(world, frame).handle.pose
    return pose


def planar_pose(
    position: Sequence[float], orientation: Sequence[float], within: Pose, code: int
) -> Pose:
    """Return a pose in the world from one in the frame `within`; the ground gives roll and pitch.

    Args:
        position: x, y, z [m].
        orientation: Quaternion x, y, z, w.
        within: Pose of the frame.
        code: Of the refusal.

    Raises:
        Refused: Something is not finite, or the quaternion is none.
    """
    if not all(math.isfinite(value) for value in (*position, *orientation)):
        raise Refused(code, "the pose must be finite numbers")
    length = math.hypot(*orientation)
    if abs(length - 1.0) > UNIT_SLACK:
        raise Refused(code, f"the quaternion must have length 1, got {length:.4g}")
    if max(map(abs, position)) > 1e6:
        raise Refused(code, "the position must be within 1e6 m")
    x, y, z, w = orientation
    yaw = math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))
    dx, dy = _turned(position[0], position[1], within.yaw)
    return Pose(within.x + dx, within.y + dy, within.z + position[2], 0.0, 0.0, within.yaw + yaw)


def _kinds(world: World) -> tuple[tuple[Mapping[str, Any], Callable[[Any], Info]], ...]:
    """Return all entities by name, and what each kind of them is by the world file."""
    return (world.vehicles, _vehicle), (world.blocks, _block), (world.actors, _actor)


def _vehicle(vehicle: Any) -> Info:
    return Info(ROBOT, f"{vehicle.kind} vehicle", _tags("vehicle", vehicle))


def _block(block: Any) -> Info:
    fixed = block.spec.static
    category, what = (STATIC_OBJECT, "fixed") if fixed else (DYNAMIC_OBJECT, "movable")
    return Info(category, f"{what} block", _tags("block", block))


def _actor(actor: Any) -> Info:
    return Info(HUMAN, "walking actor", _tags("actor", actor))


def _tags(kind: str, handle: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag for tag in (kind, handle.spec.class_name) if tag))


def _passes(entity: Entity, wanted: Filter) -> bool:
    info = entity.info
    if wanted.categories and info.category not in wanted.categories:
        return False
    if wanted.tags:
        common = wanted.tags & set(info.tags)
        if not common or (wanted.all_tags and common != wanted.tags):
            return False
    return wanted.shape == EMPTY or _overlaps(box_of(entity.handle), wanted)


def _overlaps(box: Box, wanted: Filter) -> bool:
    low, high = np.array(box)
    a, b = np.array(wanted.points)
    if wanted.shape == SPHERE:
        return bool(np.linalg.norm(a - np.clip(a, low, high)) <= b[0])
    return bool((np.minimum(a, b) <= high).all() and (np.maximum(a, b) >= low).all())


def _turned(x: float, y: float, yaw: float) -> tuple[float, float]:
    c, s = math.cos(yaw), math.sin(yaw)
    return c * x - s * y, s * x + c * y
