# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Spawning and deleting of vehicles, and reset to the state of the world file."""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from mvsim_core import BuildError, MvsimError, Pose, World, WorldFileError, read_vehicle
from mvsim_ros2.simulation.entities import find_entity
from mvsim_ros2.simulation.name_lengths import MOST_NAME, check_names
from mvsim_ros2.simulation.resources import VehicleSource
from mvsim_ros2.simulation.result_codes import (
    FAILED,
    MISSING_ASSETS,
    NAME_INVALID,
    NAME_NOT_UNIQUE,
    NAMESPACE_INVALID,
    PARSE_ERROR,
    UNSUPPORTED,
    RequestError,
)
from mvsim_ros2.simulation.stamp_clock import StampClock
from mvsim_ros2.simulation.trust import Trust, public_text

#: Scopes of a reset, see simulation_interfaces/srv/ResetSimulation.
TIME, STATE, SPAWNED = 1, 2, 4
DEFAULT, ALL = 0, 255
NO_NAMESPACES: Mapping[str, str] = {}

_NAME = re.compile(r"[^\x00-\x1f\x7f/]{1,120}")
_NAMESPACE = re.compile(r"/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*/?", re.ASCII)
_ABSENT = re.compile(r"not found|no such file|cannot (open|read)|does not exist", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnRequest:
    """What is asked for with a new vehicle.

    Attributes:
        source: Its XML.
        name: Wanted name, or "".
        pose: Initial pose, world frame.
        namespace: Of its topics, or "".
        allow_renaming: Whether another name may be given to it.
    """

    source: VehicleSource
    pose: Pose
    name: str = ""
    namespace: str = ""
    allow_renaming: bool = False


@dataclass(frozen=True, slots=True)
class SpawnedVehicle:
    """A vehicle that was spawned.

    Attributes:
        spec: Its spec, with its pose.
        namespace: Of its topics; "": its name.
    """

    spec: Any
    namespace: str


class Spawner:
    """Spawns and deletes vehicles of a world, and resets it.

    Args:
        world: The world.
        stamp_clock: Its time in stamps.
        trust: What clients may name.
    """

    def __init__(self, world: World, stamp_clock: StampClock, trust: Trust) -> None:
        """Start with the vehicles of the world file."""
        self._trust = trust
        self.world = world
        self.stamp_clock = stamp_clock
        self.spawned: dict[str, SpawnedVehicle] = {}
        self._deleted: list[str] = []

    # ------------------------------------------------------------------- spawn
    def spawn(self, request: SpawnRequest, namespaces: Mapping[str, str] = NO_NAMESPACES) -> str:
        """Add a vehicle and return its name.

        Args:
            request: What is asked for.
            namespaces: Namespaces of the topics of the present vehicles, by their names.

        Raises:
            RequestError: With the code of SpawnEntity.
        """
        source = request.source
        name = choose_name(
            request.name or source.name,
            source.base_name,
            self._names(),
            allow_renaming=request.allow_renaming,
        )
        _check_namespace(request.namespace, namespaces)
        spec = replace(self._read(source, name), init_pose=request.pose)
        self._add(name, SpawnedVehicle(spec, request.namespace.rstrip("/")))
        return name

    def _names(self) -> set[str]:
        world = self.world
        return {*world.vehicles, *world.blocks, *world.actors, *world.standalone_sensors}

    def _read(self, source: VehicleSource, name: str) -> Any:
        state = self.world.file_state
        # What a client's own world defines is his, also where the user's file uses it.
        foreign = source.foreign or state is None or state.origin.access is not None
        access = self._trust.access if foreign else None
        try:
            spec, _, self.world.file_state = read_vehicle(
                source.text, state, name=name, access=access
            )
        except WorldFileError as error:
            raise RequestError(_code_of(str(error)), public_text(error)) from None
        except Exception as error:
            text = f"cannot be read: {type(error).__name__}"
            raise RequestError(PARSE_ERROR, text) from error
        try:
            check_names([spec])
        except BuildError as error:
            raise RequestError(NAME_INVALID, public_text(error)) from None
        return spec

    def _add(self, name: str, vehicle: SpawnedVehicle) -> None:
        try:
            self.world.add_vehicle(vehicle.spec, name=name)
        except BuildError as error:
            raise RequestError(_code_of(str(error)), public_text(error)) from None
        except Exception as error:
            text = f"{name}: cannot be built: {type(error).__name__}"
            raise RequestError(PARSE_ERROR, text) from error
        self.spawned[name] = vehicle

    # ------------------------------------------------------------------ delete
    def delete(self, name: str) -> None:
        """Remove a vehicle or block.

        Raises:
            RequestError: There is none, or it is joined to others.
        """
        find_entity(self.world, name)
        self._remove(name)
        self.note_removed(name)

    def note_removed(self, name: str) -> None:
        """Record that a vehicle or block of the world was removed, for resets."""
        if self.spawned.pop(name, None) is None:
            self._deleted.append(name)

    def _remove(self, name: str) -> None:
        world = self.world
        if name not in world.vehicles and name not in world.blocks:
            raise RequestError(FAILED, f"{name}: only vehicles and blocks can be deleted")
        for joint in world.spec.joints:
            if name in (joint.body_a, joint.body_b):
                raise RequestError(FAILED, f"{name} is joined to others ({joint.type})")
        try:
            world.remove(name)
        except MvsimError as error:
            raise RequestError(FAILED, str(error)) from None

    # ------------------------------------------------------------------- reset
    def reset(self, scope: int) -> None:
        """Reset to the state of the world file.

        The clock goes on, unless the scope contains TIME: then it starts at zero.

        Args:
            scope: A sum of TIME, STATE and SPAWNED; DEFAULT is the last two, ALL is everything.

        Raises:
            RequestError: There is no such scope, or deleted blocks cannot be restored alone.
        """
        if scope not in (DEFAULT, ALL) and scope & ~(TIME | STATE | SPAWNED):
            raise RequestError(UNSUPPORTED, f"scope must be made of 1, 2, 4, or 255, got {scope}")
        if scope == DEFAULT:
            scope = STATE | SPAWNED
        if scope & STATE:
            self._reset_state(keep_spawned=not scope & SPAWNED)
        elif scope & SPAWNED:
            self._undo_spawns()
        if scope & TIME:
            self.stamp_clock.set_zero(self.world.ticks)

    def _reset_state(self, *, keep_spawned: bool) -> None:
        world = self.world
        self.stamp_clock.carry_over(world.ticks)
        world.reset()
        spawned, deleted = self.spawned, self._deleted
        self.spawned, self._deleted = {}, []
        if not keep_spawned:
            return
        for name in deleted:
            self.delete(name)
        for name, vehicle in spawned.items():
            self._add(name, vehicle)

    def _undo_spawns(self) -> None:
        """Remove spawned vehicles and restore deleted ones; all others keep their state."""
        for name in list(self.spawned):
            self.delete(name)
        specs = {spec.name: spec for spec in self.world.spec.vehicles}
        blocks = [name for name in self._deleted if name not in specs]
        for name in self._deleted:
            if name in specs:
                self._add(name, SpawnedVehicle(specs[name], ""))
                del self.spawned[name]
        self._deleted = blocks
        if blocks:
            raise RequestError(
                FAILED, f"deleted blocks are restored only with SCOPE_STATE: {', '.join(blocks)}"
            )


def _check_namespace(namespace: str, present: Mapping[str, str]) -> None:
    """Check a requested namespace; those of present vehicles, by name, cannot be had."""
    if not namespace:
        return
    if len(namespace) > MOST_NAME or not _NAMESPACE.fullmatch(namespace):
        raise RequestError(
            NAMESPACE_INVALID,
            "entity_namespace must be names of letters, digits and underscores with slashes"
            f" between, at most {MOST_NAME} characters, got {namespace[:80]!r}",
        )
    wanted = namespace.strip("/")
    for name, other in present.items():
        if other.strip("/") == wanted:
            raise RequestError(NAMESPACE_INVALID, f"namespace {wanted!r} is that of {name!r}")


def choose_name(
    wanted: str, base_name: str, existing: Collection[str], *, allow_renaming: bool
) -> str:
    """Return the name of a spawned entity, by the rules of SpawnEntity.

    Args:
        wanted: Requested name, or "".
        base_name: Start of a generated name.
        existing: Names that exist.
        allow_renaming: Whether another name may be returned.

    Raises:
        RequestError: With the code of SpawnEntity.
    """
    name = wanted.strip()
    if not name:
        if not allow_renaming:
            raise RequestError(NAME_INVALID, "the name is empty and allow_renaming is false")
        return _numbered(base_name, existing)
    if not _NAME.fullmatch(name):
        raise RequestError(
            NAME_INVALID,
            f"a name must have 1 to 120 characters, no slash among them, got {name[:80]!r}",
        )
    if name not in existing:
        return name
    if not allow_renaming:
        raise RequestError(NAME_NOT_UNIQUE, f"there is already an entity {name!r}")
    return _numbered(name, existing)


def _numbered(base: str, existing: Container[str]) -> str:
    base = re.sub(r"[\x00-\x1f\x7f/]", "_", base)[:100] or "vehicle"
    return next(f"{base}_{i}" for i in count(1) if f"{base}_{i}" not in existing)


def _code_of(message: str) -> int:
    return MISSING_ASSETS if _ABSENT.search(message) else PARSE_ERROR
