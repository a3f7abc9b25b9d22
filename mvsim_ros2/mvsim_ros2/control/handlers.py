# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What each service does, in the stepping thread; errors are raised as `Refused`."""

from __future__ import annotations

from typing import Any

from simulation_interfaces import srv
from simulation_interfaces.msg import SimulatorFeatures

from mvsim_core import Pose
from mvsim_ros2.control import messages
from mvsim_ros2.control.answers import FAILED, NOT_FOUND, POSE_INVALID, SPAWN_POSE_INVALID, Refused
from mvsim_ros2.control.entities import (
    Entity,
    entity_of,
    matching,
    own_box,
    place_of,
    planar_pose,
)
from mvsim_ros2.control.resources import FORMATS, class_names, description_of
from mvsim_ros2.control.simulation import Simulation
from mvsim_ros2.control.worlds import available, spawnables
from mvsim_ros2.conversions.motion import pose_message
from mvsim_ros2.conversions.stamps import stamp_of
from mvsim_ros2.parameters import Settings

_F = SimulatorFeatures
#: Older releases of the interface spawn one entity at a time.
SPAWNS_MANY = hasattr(srv, "SpawnEntities")
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
    *([_F.SPAWNING_ENTITIES] if SPAWNS_MANY else []),
)


class Handlers:
    """One method a service: it reads the request and fills the response.

    Args:
        simulation: What they act on.
        settings: Parameters of the node.
    """

    def __init__(self, simulation: Simulation, settings: Settings) -> None:
        """Keep them."""
        self._simulation = simulation
        self._map = settings.common_frame

    # ------------------------------------------------------- about the simulator
    def get_simulator_features(self, request: Any, response: Any) -> Any:
        """Say what can be done; any thread may call it."""
        response.features.features = list(FEATURES)
        response.features.spawn_formats = list(FORMATS)
        response.features.custom_info = "MVSim suite; see docs/ros2_interface.md"
        return response

    def get_simulation_state(self, request: Any, response: Any) -> Any:
        """Say whether it plays; any thread may call it."""
        response.state.state = self._simulation.phases.state
        response.result.result = response.result.RESULT_OK
        return response

    def set_simulation_state(self, request: Any, response: Any) -> None:
        """Play, pause, stop or quit."""
        self._simulation.set_state(request.state.state)

    def reset_simulation(self, request: Any, response: Any) -> None:
        """Bring the first state back."""
        self._simulation.reset(request.scope)

    # ------------------------------------------------------------------ entities
    def get_entities(self, request: Any, response: Any) -> None:
        """Name what passes a filter."""
        found = self._found(request.filters)
        response.entities = [name for name, _ in found]

    def get_entities_states(self, request: Any, response: Any) -> None:
        """Tell where things are that pass a filter."""
        found = self._found(request.filters)
        stamp = stamp_of(self._simulation.now)
        response.entities = [name for name, _ in found]
        response.states = [messages.state_message(e, self._map, stamp) for _, e in found]

    def _found(self, filters: Any) -> list[tuple[str, Entity]]:
        world = self._simulation.need_world()
        return matching(world, messages.filter_of(filters), self._simulation.infos)

    def get_entity_state(self, request: Any, response: Any) -> None:
        """Tell where something is."""
        entity = entity_of(self._simulation.need_world(), request.entity)
        stamp = stamp_of(self._simulation.now)
        response.state = messages.state_message(entity, self._map, stamp)

    def get_entity_info(self, request: Any, response: Any) -> None:
        """Tell what something is."""
        infos = self._simulation.infos
        entity = entity_of(self._simulation.need_world(), request.entity, infos)
        response.info = messages.info_message(entity.info)

    def set_entity_info(self, request: Any, response: Any) -> None:
        """Say what something is, for those who ask and for filters."""
        self._simulation.describe(request.entity, messages.info_of(request.info))

    def get_entity_bounds(self, request: Any, response: Any) -> None:
        """Tell how large something is."""
        entity = entity_of(self._simulation.need_world(), request.entity)
        response.bounds = messages.bounds_message(own_box(entity.handle))

    def set_entity_state(self, request: Any, response: Any) -> None:
        """Put something at a place, with a velocity."""
        state = request.state
        if not getattr(request, "set_pose", True):  # a choice since 2.0
            present = entity_of(self._simulation.need_world(), request.entity).handle.pose
            state.header.frame_id, state.pose = "", pose_message(present)
        pose = self._placed(state.header.frame_id, state.pose, POSE_INVALID)
        linear, angular = state.twist.linear, state.twist.angular
        frame = place_of(self._simulation.need_world(), state.header.frame_id, self._map)
        turned = planar_pose((linear.x, linear.y, 0.0), (0.0, 0.0, 0.0, 1.0), frame, FAILED)
        velocity = (turned.x - frame.x, turned.y - frame.y)
        self._simulation.place(request.entity, pose, velocity, angular.z)

    def spawn_entity(self, request: Any, response: Any) -> None:
        """Add a vehicle."""
        world = self._simulation.need_world()
        source = getattr(request, "entity_resource", request)  # a field of its own since 2.0
        what = description_of(world, source.uri, source.resource_string)
        stamped = request.initial_pose
        response.entity_name = self._simulation.spawn(
            what,
            request.name,
            self._placed(stamped.header.frame_id, stamped.pose, SPAWN_POSE_INVALID),
            request.entity_namespace,
            renaming=request.allow_renaming,
        )

    def delete_entity(self, request: Any, response: Any) -> None:
        """Remove something."""
        self._simulation.delete(request.entity)

    def get_spawnables(self, request: Any, response: Any) -> None:
        """Name the vehicle classes of the world, and those of files."""
        world = self._simulation.need_world()
        found, empty = spawnables(request.sources)
        found = [(name, "vehicle class of the world") for name in class_names(world)] + found
        response.spawnables = [messages.spawnable_message(*each) for each in found]
        if empty:
            response.result.error_message = f"no vehicle classes in {', '.join(empty)}"
        response.result.result = response.result.RESULT_OK

    def _placed(self, frame: str, pose: Any, code: int) -> Pose:
        """Return a pose in the world from one in a frame."""
        try:
            within = place_of(self._simulation.need_world(), frame, self._map)
        except Refused as error:
            raise Refused(code, f"frame {frame!r}: {error}") from None
        return planar_pose(*messages.pose_parts(pose), within, code)

    # --------------------------------------------------------------- named poses
    def get_named_poses(self, request: Any, response: Any) -> None:
        """Tell where the vehicles of the world file start."""
        if messages.tags_pass(("start",), request.tags):
            poses = self._simulation.named_poses()
            response.poses = [messages.named_pose_message(*each) for each in poses.items()]

    def get_named_pose_bounds(self, request: Any, response: Any) -> None:
        """Tell how much room the vehicle has that starts there."""
        if request.name not in self._simulation.named_poses():
            raise Refused(NOT_FOUND, f"no named pose {request.name!r}")
        response.bounds = messages.bounds_message(self._simulation.start_bounds(request.name))

    # -------------------------------------------------------------------- worlds
    def load_world(self, request: Any, response: Any) -> None:
        """Change to another world."""
        source = getattr(request, "world_resource", request)  # a field of its own since 2.0
        self._simulation.load(source.uri, source.resource_string)
        response.world = messages.world_message(self._simulation.source)

    def unload_world(self, request: Any, response: Any) -> None:
        """Remove the world."""
        self._simulation.unload()

    def get_current_world(self, request: Any, response: Any) -> None:
        """Name the world."""
        self._simulation.world  # noqa: B018 (refused where there is none)
        response.world = messages.world_message(self._simulation.source)

    def get_available_worlds(self, request: Any, response: Any) -> None:
        """Name the worlds that can be loaded."""
        paths = available(
            self._simulation.source,
            request.additional_sources,
            lenient=request.continue_on_error,
        )
        if not request.filter.tags:  # worlds have no tags
            response.worlds = [messages.world_message(str(path)) for path in paths]
