# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The handler of each service, in the stepping thread; failures are raised as `RequestError`."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import replace
from typing import Any

from simulation_interfaces import srv
from simulation_interfaces.msg import SimulatorFeatures

from mvsim_core import Pose, World
from mvsim_ros2.conversions.motion import pose_message
from mvsim_ros2.conversions.stamps import stamp_of
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.services import messages
from mvsim_ros2.simulation.entities import (
    Entity,
    filter_entities,
    find_entity,
    frame_pose,
    local_bounds,
    planar_pose,
)
from mvsim_ros2.simulation.resources import FORMATS, class_names, vehicle_source
from mvsim_ros2.simulation.result_codes import (
    FAILED,
    NOT_FOUND,
    POSE_INVALID,
    SPAWN_POSE_INVALID,
    RequestError,
)
from mvsim_ros2.simulation.simulation import Simulation
from mvsim_ros2.simulation.spawning import SpawnRequest
from mvsim_ros2.simulation.worlds import available_worlds, spawnables

_F = SimulatorFeatures
#: Whether the installed release of the interface has SpawnEntities.
HAS_SPAWN_ENTITIES = hasattr(srv, "SpawnEntities")
FEATURES = (
    *(_F.SPAWNING, _F.DELETING, _F.NAMED_POSES, _F.POSE_BOUNDS, _F.ENTITY_TAGS),
    *(_F.ENTITY_BOUNDS, _F.ENTITY_BOUNDS_BOX, _F.ENTITY_CATEGORIES, _F.SPAWNING_RESOURCE_STRING),
    *(_F.ENTITY_STATE_GETTING, _F.ENTITY_STATE_SETTING, _F.ENTITY_INFO_GETTING),
    *(_F.ENTITY_INFO_SETTING, _F.SPAWNABLES),
    *(_F.SIMULATION_RESET, _F.SIMULATION_RESET_TIME, _F.SIMULATION_RESET_STATE),
    *(_F.SIMULATION_RESET_SPAWNED, _F.SIMULATION_STATE_GETTING, _F.SIMULATION_STATE_SETTING),
    *(_F.SIMULATION_STATE_PAUSE, _F.STEP_SIMULATION_SINGLE, _F.STEP_SIMULATION_MULTIPLE),
    *(_F.STEP_SIMULATION_ACTION, _F.WORLD_LOADING, _F.WORLD_RESOURCE_STRING),
    *(_F.WORLD_UNLOADING, _F.WORLD_INFO_GETTING, _F.AVAILABLE_WORLDS),
    *([_F.SPAWNING_ENTITIES] if HAS_SPAWN_ENTITIES else []),
)


class Handlers:
    """One method a service: it reads the request and fills the response.

    Args:
        simulation: The simulation that they act on.
        settings: Parameters of the node.
    """

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        """Keep them."""
        self._simulation = simulation
        self._map_frame = settings.common_frame

    # --------------------------------------------------------------- the simulator
    def get_simulator_features(self, request: Any, response: Any) -> Any:
        """Return the supported features; any thread may call it."""
        response.features.features = list(FEATURES)
        response.features.spawn_formats = list(FORMATS)
        response.features.custom_info = "MVSim suite; see docs/ros2_interface.md"
        return response

    def get_simulation_state(self, request: Any, response: Any) -> Any:
        """Return playing, paused, …; any thread may call it."""
        response.state.state = self._simulation.sim_state.state
        response.result.result = response.result.RESULT_OK
        return response

    def set_simulation_state(self, request: Any, response: Any) -> None:
        """Play, pause, stop or quit."""
        self._simulation.set_state(request.state.state)

    def reset_simulation(self, request: Any, response: Any) -> None:
        """Reset time, state or spawned entities."""
        self._simulation.reset(request.scope)

    # ------------------------------------------------------------------ entities
    def get_entities(self, request: Any, response: Any) -> None:
        """Return the names of the entities that match a filter."""
        response.entities = [name for name, _ in self._filtered(request.filters)]

    def get_entities_states(self, request: Any, response: Any) -> None:
        """Return names and states of the entities that match a filter."""
        found = self._filtered(request.filters)
        stamp = stamp_of(self._simulation.now)
        response.entities = [name for name, _ in found]
        response.states = [messages.state_message(e, self._map_frame, stamp) for _, e in found]

    def _filtered(self, filters: Any) -> list[tuple[str, Entity]]:
        world = self._simulation.require_world()
        entity_filter = messages.entity_filter(filters)
        return filter_entities(world, entity_filter, self._simulation.metadata)

    def get_entity_state(self, request: Any, response: Any) -> None:
        """Return pose, velocity and acceleration of an entity."""
        entity = find_entity(self._simulation.require_world(), request.entity)
        stamp = stamp_of(self._simulation.now)
        response.state = messages.state_message(entity, self._map_frame, stamp)

    def get_entity_info(self, request: Any, response: Any) -> None:
        """Return category, description and tags of an entity."""
        simulation, name = self._simulation, request.entity
        found = find_entity(simulation.require_world(), name, simulation.metadata).metadata
        renamed = [
            f"{key.removeprefix(f'{name}/')} in topics: {token}"
            for key, token in simulation.renamed.items()
            if key == name or key.startswith(f"{name}/")
        ]
        if renamed and name not in simulation.metadata:
            found = replace(found, description="; ".join((found.description, *renamed)))
        response.info = messages.info_message(found)

    def set_entity_info(self, request: Any, response: Any) -> None:
        """Set category, description and tags of an entity."""
        self._simulation.set_metadata(request.entity, messages.metadata_from(request.info))

    def get_entity_bounds(self, request: Any, response: Any) -> None:
        """Return the box of an entity in its own frame."""
        entity = find_entity(self._simulation.require_world(), request.entity)
        response.bounds = messages.bounds_message(local_bounds(entity.handle))

    def set_entity_state(self, request: Any, response: Any) -> None:
        """Teleport an entity and set its velocity."""
        state = request.state
        world = self._simulation.require_world()
        if not getattr(request, "set_pose", True):  # optional since version 2.0 of the interface
            present = find_entity(world, request.entity).handle.pose
            state.header.frame_id, state.pose = "", pose_message(present)
        pose = self._world_pose(state.header.frame_id, state.pose, POSE_INVALID)
        linear, angular = state.twist.linear, state.twist.angular
        frame = frame_pose(world, state.header.frame_id, self._map_frame)
        # A velocity rotates like the difference of two points of the frame.
        end = planar_pose((linear.x, linear.y, 0.0), (0.0, 0.0, 0.0, 1.0), frame, FAILED)
        velocity_w = (end.x - frame.x, end.y - frame.y)
        self._simulation.set_entity_state(request.entity, pose, velocity_w, angular.z)

    def spawn_entity(self, request: Any, response: Any) -> None:
        """Spawn a vehicle."""
        world = self._simulation.require_world()
        # A field of its own since version 2.0 of the interface.
        resource = getattr(request, "entity_resource", request)
        trust = self._simulation.trust
        source = vehicle_source(world, resource.uri, resource.resource_string, trust)
        stamped = request.initial_pose
        wanted = SpawnRequest(
            source=source,
            name=request.name,
            pose=self._world_pose(stamped.header.frame_id, stamped.pose, SPAWN_POSE_INVALID),
            namespace=request.entity_namespace,
            allow_renaming=request.allow_renaming,
        )
        response.entity_name = self._simulation.spawn(wanted)

    def delete_entity(self, request: Any, response: Any) -> None:
        """Delete a vehicle or block."""
        self._simulation.delete(request.entity)

    def get_spawnables(self, request: Any, response: Any) -> None:
        """Return the vehicle classes of the world, and those of files."""
        world = self._simulation.require_world()
        found, empty = spawnables(request.sources, self._simulation.trust)
        found = [(name, "vehicle class of the world") for name in class_names(world)] + found
        response.spawnables = [messages.spawnable_message(*each) for each in found]
        if empty:
            response.result.error_message = f"no vehicle classes in {', '.join(empty)}"
        response.result.result = response.result.RESULT_OK

    def _world_pose(self, frame: str, pose: Any, code: int) -> Pose:
        """Return the pose in the world from a Pose message in a frame."""
        try:
            within = frame_pose(self._simulation.require_world(), frame, self._map_frame)
        except RequestError as error:
            raise RequestError(code, f"frame {frame!r}: {error}") from None
        return planar_pose(*messages.position_and_quaternion(pose), within, code)

    # --------------------------------------------------------------- named poses
    def get_named_poses(self, request: Any, response: Any) -> None:
        """Return the initial poses of the vehicles of the world file."""
        if messages.tags_match(("start",), request.tags):
            poses = self._simulation.named_poses()
            response.poses = [messages.named_pose_message(*each) for each in poses.items()]

    def get_named_pose_bounds(self, request: Any, response: Any) -> None:
        """Return the box of the vehicle that starts at a named pose."""
        if request.name not in self._simulation.named_poses():
            raise RequestError(NOT_FOUND, f"no named pose {request.name!r}")
        bounds = self._simulation.named_pose_bounds(request.name)
        response.bounds = messages.bounds_message(bounds)

    # -------------------------------------------------------------------- worlds
    def read_world(self, request: Any) -> World:
        """Return the world that a LoadWorld asks for; any thread may call it."""
        # A field of its own since version 2.0 of the interface.
        resource = getattr(request, "world_resource", request)
        return self._simulation.read_world(resource.uri, resource.resource_string)

    def take_world(self, world: Future[World], response: Any) -> None:
        """Go on with the world that was read, or with the present one if that failed."""
        simulation = self._simulation
        error = world.exception()
        simulation.end_load(None if error else world.result())
        if error is not None:
            raise error
        response.world = messages.world_message(simulation.source)

    def unload_world(self, request: Any, response: Any) -> None:
        """Remove the world."""
        self._simulation.unload()

    def get_current_world(self, request: Any, response: Any) -> None:
        """Return name and file of the world."""
        self._simulation.world  # noqa: B018 (raises where there is none)
        response.world = messages.world_message(self._simulation.source)

    def get_available_worlds(self, request: Any, response: Any) -> None:
        """Return the worlds that can be loaded."""
        paths = available_worlds(
            self._simulation.source,
            request.additional_sources,
            self._simulation.trust,
            continue_on_error=request.continue_on_error,
        )
        if not request.filter.tags:  # worlds have no tags
            response.worlds = [messages.world_message(str(path)) for path in paths]
