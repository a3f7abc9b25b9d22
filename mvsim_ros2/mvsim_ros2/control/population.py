# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that come and go, and the way back to the start."""

from __future__ import annotations

import re
from collections.abc import Collection, Container
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from mvsim_core import BuildError, MvsimError, Pose, World, WorldFileError, read_vehicle
from mvsim_ros2.control.answers import (
    FAILED,
    MISSING_ASSETS,
    NAME_INVALID,
    NAME_NOT_UNIQUE,
    NAMESPACE_INVALID,
    PARSE_ERROR,
    UNSUPPORTED,
    Refused,
)
from mvsim_ros2.control.entities import entity_of
from mvsim_ros2.control.resources import Description
from mvsim_ros2.control.timeline import Timeline

TIME, STATE, SPAWNED = 1, 2, 4
DEFAULT, ALL = 0, 255

_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,120}")
_NAMESPACE = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*/?", re.ASCII)
_ABSENT = re.compile(r"not found|no such file|cannot (open|read)|does not exist", re.I)


@dataclass(frozen=True, slots=True)
class Spawned:
    """A vehicle that was added.

    Attributes:
        spec: What was added, with its pose.
        namespace: For its topics; "": its name.
    """

    spec: Any
    namespace: str


class Population:
    """Adds vehicles to a world, takes them out, and brings the first state back.

    Args:
        world: The world.
        timeline: Its time.
    """

    def __init__(self, world: World, timeline: Timeline) -> None:
        """Begin with what the world holds."""
        self.world = world
        self.timeline = timeline
        self.spawned: dict[str, Spawned] = {}
        self._deleted: list[str] = []

    # ------------------------------------------------------------------- spawn
    def spawn(
        self, what: Description, name: str, pose: Pose, namespace: str, *, renaming: bool
    ) -> str:
        """Add a vehicle and return its name.

        Args:
            what: Its description.
            name: Wanted name, or "".
            pose: Where, world frame.
            namespace: For its topics, or "".
            renaming: Whether another name will do.

        Raises:
            Refused: With the code of SpawnEntity.
        """
        name = chosen_name(name or what.name, what.base, self._names(), renaming=renaming)
        self._check_namespace(namespace)
        spec = self._read(what.text, name)
        self._add(name, Spawned(replace(spec, init_pose=pose), namespace.rstrip("/")))
        return name

    def _names(self) -> set[str]:
        world = self.world
        return {*world.vehicles, *world.blocks, *world.actors, *world.standalone_sensors}

    def _check_namespace(self, namespace: str) -> None:
        if not namespace:
            return
        if len(namespace) > 200 or not _NAMESPACE.fullmatch(namespace):
            raise Refused(
                NAMESPACE_INVALID,
                f"entity_namespace must be names of letters, digits and underscores with slashes"
                f" between, got {namespace[:80]!r}",
            )
        wanted = namespace.strip("/")
        for name, other in self.spawned.items():
            if other.namespace.strip("/") == wanted:
                raise Refused(NAMESPACE_INVALID, f"namespace {wanted!r} is that of {name!r}")

    def _read(self, text: str, name: str) -> Any:
        try:
            spec, _, self.world.file_state = read_vehicle(text, self.world.file_state, name=name)
        except WorldFileError as error:
            raise Refused(_code_of(str(error)), str(error)) from None
        except (RecursionError, MemoryError, ValueError, OSError) as error:
            raise Refused(PARSE_ERROR, f"cannot be read: {error}") from None
        return spec

    def _add(self, name: str, vehicle: Spawned) -> None:
        try:
            self.world.add_vehicle(vehicle.spec, name=name)
        except BuildError as error:
            raise Refused(_code_of(str(error)), str(error)) from None
        except (ValueError, OSError) as error:
            raise Refused(PARSE_ERROR, f"{name}: cannot be built: {error}") from None
        self.spawned[name] = vehicle

    # ------------------------------------------------------------------ delete
    def delete(self, name: str) -> None:
        """Take a vehicle or block out.

        Raises:
            Refused: There is none, or others hang on it.
        """
        entity_of(self.world, name)
        self._remove(name)
        if self.spawned.pop(name, None) is None:
            self._deleted.append(name)

    def _remove(self, name: str) -> None:
        world = self.world
        if name not in world.vehicles and name not in world.blocks:
            raise Refused(FAILED, f"{name}: only vehicles and blocks can be deleted")
        for joint in world.spec.joints:
            if name in (joint.body_a, joint.body_b):
                raise Refused(FAILED, f"{name} is joined to others ({joint.type})")
        try:
            world.remove(name)
        except MvsimError as error:
            raise Refused(FAILED, str(error)) from None

    # ------------------------------------------------------------------- reset
    def reset(self, scope: int) -> None:
        """Bring the first state back.

        The clock goes on, unless the scope contains TIME: then it starts at zero.

        Args:
            scope: A sum of TIME, STATE and SPAWNED; DEFAULT is the last two, ALL is everything.

        Raises:
            Refused: There is no such scope, or something cannot come back alone.
        """
        if scope not in (DEFAULT, ALL) and scope & ~(TIME | STATE | SPAWNED):
            raise Refused(UNSUPPORTED, f"scope must be made of 1, 2, 4, or 255, got {scope}")
        if scope == DEFAULT:
            scope = STATE | SPAWNED
        if scope & STATE:
            self._begin_anew(everything=bool(scope & SPAWNED))
        elif scope & SPAWNED:
            self._undo_population()
        if scope & TIME:
            self.timeline.restart(self.world.ticks)

    def _begin_anew(self, *, everything: bool) -> None:
        world = self.world
        self.timeline.carry(world.ticks)
        world.reset()
        spawned, deleted = self.spawned, self._deleted
        self.spawned, self._deleted = {}, []
        if everything:
            return
        for name in deleted:
            self.delete(name)
        for name, vehicle in spawned.items():
            self._add(name, vehicle)

    def _undo_population(self) -> None:
        """Only what came and went; the others stay where they are."""
        for name in list(self.spawned):
            self.delete(name)
        specs = {spec.name: spec for spec in self.world.spec.vehicles}
        lost = [name for name in self._deleted if name not in specs]
        for name in self._deleted:
            if name in specs:
                self._add(name, Spawned(specs[name], ""))
                del self.spawned[name]
        self._deleted = lost
        if lost:
            raise Refused(
                FAILED, f"deleted blocks come back only with SCOPE_STATE: {', '.join(lost)}"
            )


def chosen_name(wanted: str, base: str, taken: Collection[str], *, renaming: bool) -> str:
    """Return the name of something new, by the rules of SpawnEntity.

    Args:
        wanted: The name that was asked for, or "".
        base: A made-up name begins with it.
        taken: Names that exist.
        renaming: Whether another name will do.

    Raises:
        Refused: With the code of SpawnEntity.
    """
    name = wanted.strip()
    if not name:
        if not renaming:
            raise Refused(NAME_INVALID, "the name is empty and allow_renaming is false")
        return _numbered(base, taken)
    if not _NAME.fullmatch(name):
        raise Refused(
            NAME_INVALID,
            f"a name must have 1 to 120 characters, no slash among them, got {name[:80]!r}",
        )
    if name not in taken:
        return name
    if not renaming:
        raise Refused(NAME_NOT_UNIQUE, f"there is already something called {name!r}")
    return _numbered(name, taken)


def _numbered(base: str, taken: Container[str]) -> str:
    base = re.sub(r"[\x00-\x1f\x7f/]", "_", base)[:100] or "vehicle"
    return next(f"{base}_{i}" for i in count(1) if f"{base}_{i}" not in taken)


def _code_of(message: str) -> int:
    return MISSING_ASSETS if _ABSENT.search(message) else PARSE_ERROR
