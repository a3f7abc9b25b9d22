# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The simulation: the present world, its state, its time, and what services change in it.

All methods belong to the stepping thread.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from math import cos, sin

from mvsim_core import Pose, StepError, World
from mvsim_core.errors import LogError
from mvsim_core.heap import settle_heap
from mvsim_core.rendering.context import release_context
from mvsim_core.world.commands import MOST_SPEED
from mvsim_ros2.simulation.entities import Box, Metadata, find_entity, has_entity, local_bounds
from mvsim_ros2.simulation.result_codes import (
    FAILED,
    INCORRECT_STATE,
    NO_WORLD,
    RequestError,
)
from mvsim_ros2.simulation.sim_state import LOADING, PAUSED, PLAYING, QUITTING, STOPPED, SimState
from mvsim_ros2.simulation.sim_state import NO_WORLD as STATE_NO_WORLD
from mvsim_ros2.simulation.spawning import ALL, DEFAULT, STATE, Spawner, SpawnRequest
from mvsim_ros2.simulation.stamp_clock import StampClock, WallStampClock
from mvsim_ros2.simulation.trust import Trust
from mvsim_ros2.simulation.worlds import load


class Simulation:
    """One simulation, whose world may be replaced.

    Args:
        world: The first world.
        source: Its file, or "".
        seed: Random seed of the worlds.
        paused: Whether it starts paused.
        wall_time: Whether stamps follow the wall clock.
        trust: What clients may name; None: the folders of the world.

    Attributes:
        trust: What clients may name.
        world_from_client: Whether a client chose the present world.
        metadata: Metadata that clients have set, by entity name.
        on_world_changed: Called after another world, or none, is loaded.
        on_vehicles_changed: Called after vehicles were spawned, deleted, reset or taken out.
        faults: Why entities were taken out of the world since it was loaded or reset, by name.
        on_fault: Called with name and reason when one is taken out.
        renamed: Names of vehicles and sensors in topics, where they differ from their own.
        topic_namespaces: Returns the namespace of the topics of each vehicle.
    """

    def __init__(
        self,
        world: World,
        *,
        source: str = "",
        seed: int = 0,
        paused: bool = False,
        wall_time: bool = False,
        trust: Trust | None = None,
    ):
        """Start with a world."""
        self.trust = trust or Trust()
        self.trust.set_world(world)
        self.world_from_client = False
        self.stamp_clock = WallStampClock(world.dt) if wall_time else StampClock(world.dt)
        self.sim_state = SimState(PAUSED if paused else PLAYING)
        self.source = source
        self.on_vehicles_changed: Callable[[], None] = lambda: None
        self.on_world_changed: Callable[[], None] = lambda: None
        self._seed = seed
        self._state_before_load = self.sim_state.state
        self._world: World | None = world
        self._spawner = Spawner(world, self.stamp_clock, self.trust)
        self.metadata: dict[str, Metadata] = {}
        self.faults: dict[str, str] = {}
        self.on_fault: Callable[[str, str], None] = lambda name, text: None
        self.renamed: Mapping[str, str] = {}
        self.topic_namespaces: Callable[[], Mapping[str, str]] = dict
        world.on_fault = self._take_out

    def _take_out(self, error: StepError) -> None:
        """Go on without an entity whose numbers are not finite; the world has removed it."""
        name = error.entity
        self._spawner.note_removed(name)
        self.metadata.pop(name, None)
        self.faults[name] = str(error)
        self.on_fault(name, str(error))
        self.on_vehicles_changed()

    @property
    def world(self) -> World:
        """The world.

        Raises:
            RequestError: There is none.
        """
        if self._world is None:
            raise RequestError(NO_WORLD, "no world is loaded")
        return self._world

    @property
    def has_world(self) -> bool:
        """Whether there is a world."""
        return self._world is not None

    @property
    def now(self) -> int:
        """Simulated time [ns]."""
        return self.stamp_clock.ns(self._world.ticks if self._world is not None else 0)

    @property
    def namespaces(self) -> dict[str, str]:
        """Requested namespaces of spawned vehicles by name, "" where none was requested."""
        return {name: vehicle.namespace for name, vehicle in self._spawner.spawned.items()}

    # ------------------------------------------------------------------- state
    def set_state(self, target: int) -> None:
        """Play, pause, stop (which resets; the clock goes on) or quit.

        Raises:
            RequestError: The transition is not possible.
        """
        sim_state = self.sim_state
        sim_state.check_transition(target)
        stops = target in (STOPPED, QUITTING) and sim_state.state != STOPPED
        if stops and self._world is not None:
            sim_state.abort_steps("the simulation is stopped")
            if target == STOPPED:
                self.reset(DEFAULT)
        sim_state.set(target)

    def reset(self, scope: int) -> None:
        """Reset to the state of the world file, see `Spawner.reset`.

        Raises:
            RequestError: There is no such scope, or no world.
        """
        self._require_no_load()
        world = self.require_world()
        try:
            self._spawner.reset(scope)
        finally:
            present = {name: m for name, m in self.metadata.items() if has_entity(world, name)}
            self.metadata = present
            self.on_vehicles_changed()
        if scope in (DEFAULT, ALL) or scope & STATE:
            self.metadata, self.faults = {}, {}

    def require_world(self) -> World:
        """Return the world; without one the state is incorrect for the request.

        Raises:
            RequestError: There is none.
        """
        if self._world is None:
            raise RequestError(INCORRECT_STATE, "no world is loaded")
        return self._world

    # ---------------------------------------------------------------- entities
    def spawn(self, request: SpawnRequest) -> str:
        """Add a vehicle and return its name, see `Spawner.spawn`.

        Raises:
            RequestError: With the code of SpawnEntity.
        """
        self._require_no_load()
        self.require_world()
        spawner = self._spawner
        name = spawner.spawn(request, self.topic_namespaces())
        self.world.check_overlaps()  # at once, as the simulation may be paused
        self.on_vehicles_changed()
        return name

    def delete(self, name: str) -> None:
        """Remove a vehicle or block.

        Raises:
            RequestError: There is none, or it cannot be removed.
        """
        self._require_no_load()
        self.require_world()
        self._spawner.delete(name)
        self.metadata.pop(name, None)
        self.on_vehicles_changed()

    def set_entity_state(
        self, name: str, pose: Pose, velocity_w: tuple[float, float], wz: float
    ) -> None:
        """Teleport a vehicle or block and set its velocity.

        Args:
            name: Name of the vehicle or block.
            pose: World frame [m, rad]; z [m] is where the ground is searched for, 0: as now.
            velocity_w: (vx, vy) of the reference point, world frame [m/s].
            wz: Yaw rate [rad/s].

        Raises:
            RequestError: It cannot be there, or cannot have this velocity.
        """
        handle = find_entity(self.require_world(), name).handle
        moves = any((*velocity_w, wz))
        if name not in self.world.vehicles and name not in self.world.blocks:
            raise RequestError(FAILED, f"{name}: an actor follows its path")
        if moves and getattr(handle.spec, "static", False):
            raise RequestError(FAILED, f"{name} is fixed and cannot have a velocity")
        if not all(abs(v) <= MOST_SPEED for v in (*velocity_w, wz)):  # false for NaN
            raise RequestError(FAILED, f"velocities must be within {MOST_SPEED:g} m/s or rad/s")
        handle.teleport(pose.x, pose.y, pose.yaw, pose.z or None)
        if moves:
            handle.set_velocity(*_to_vehicle_frame(velocity_w, pose.yaw), wz)
        self.world.check_overlaps()

    def set_metadata(self, name: str, metadata: Metadata) -> None:
        """Set the metadata of an entity, until it is deleted or the state is reset.

        Raises:
            RequestError: There is no such entity.
        """
        find_entity(self.require_world(), name)
        self.metadata[name] = metadata

    def named_poses(self) -> dict[str, Pose]:
        """Return the initial poses of the vehicles of the world file."""
        return {spec.name: spec.init_pose for spec in self.require_world().spec.vehicles}

    def named_pose_bounds(self, name: str) -> Box:
        """Return the bounds of the vehicle that starts at a named pose, in its own frame [m].

        Raises:
            RequestError: There is no such pose, or the vehicle was deleted.
        """
        return local_bounds(find_entity(self.require_world(), name).handle)

    # ------------------------------------------------------------------- world
    def begin_load(self) -> None:
        """Let the present world stand still while another one is read.

        To be called by the thread that steps: it gives OpenGL away until its next picture.

        Raises:
            RequestError: One is being read already.
        """
        self._require_no_load()
        release_context()
        self._state_before_load = self.sim_state.state
        self.sim_state.set(LOADING)

    def read_world(self, uri: str, text: str) -> World:
        """Return a new world for `end_load`; any thread may call it.

        Raises:
            RequestError: With the code of LoadWorld.
        """
        return load(uri, text, self._seed, self.trust)

    def end_load(self, world: World | None) -> None:
        """Go on with another world, which is stopped, or (None) with the present one as before.

        Raises:
            RequestError: The simulation is to end; the new world is closed.
        """
        if self.sim_state.state != LOADING:
            if world is not None:
                _end(world)
            raise RequestError(INCORRECT_STATE, f"the simulation is {self.sim_state.name}")
        if world is None:
            self.sim_state.set(self._state_before_load)
            return
        if self._world is None:
            self.stamp_clock.carry_over(0, world.dt)
        else:
            self.stamp_clock.carry_over(self._world.ticks, world.dt)
            _end(self._world)
        self._world = world
        self.world_from_client = True
        self.trust.set_world(world)
        self._spawner = Spawner(world, self.stamp_clock, self.trust)
        self.metadata, self.faults = {}, {}
        world.on_fault = self._take_out
        self.source = world.spec.file
        self.sim_state.set(STOPPED)
        self.on_world_changed()
        settle_heap()

    def _require_no_load(self) -> None:
        """Refuse what changes vehicles or worlds while another world is read.

        Raises:
            RequestError: One is being read.
        """
        if self.sim_state.state == LOADING:
            raise RequestError(INCORRECT_STATE, "another world is being loaded")

    def close(self) -> None:
        """Close the world, which completes its log files."""
        if self._world is not None:
            self._world.close()

    def unload(self) -> None:
        """Remove the world; the clock stands still.

        Raises:
            RequestError: There is none.
        """
        self._require_no_load()
        world = self.world
        self.stamp_clock.carry_over(world.ticks)
        _end(world)
        self._world = None
        self.source = ""
        self.sim_state.set(STATE_NO_WORLD)
        self.on_world_changed()


def _end(world: World) -> None:
    """Close a world that another one or none follows; warn of a log that it cannot complete."""
    try:
        world.close()
    except LogError as error:
        warnings.warn(str(error), stacklevel=2)


def _to_vehicle_frame(velocity_w: tuple[float, float], yaw: float) -> tuple[float, float]:
    vx_w, vy_w = velocity_w
    return cos(yaw) * vx_w + sin(yaw) * vy_w, -sin(yaw) * vx_w + cos(yaw) * vy_w
