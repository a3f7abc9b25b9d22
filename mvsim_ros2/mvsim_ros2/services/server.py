# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The services and the action of `simulation_interfaces`, and those of each vehicle.

A callback submits its request to the stepping thread and awaits the result as a coroutine, so that
other callbacks run meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.qos import QoSProfile
from simulation_interfaces import msg, srv
from simulation_interfaces.action import SimulateSteps

from mvsim_core import MvsimError
from mvsim_core.progress import reporting
from mvsim_core.world.request_queue import CAPACITY
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.runtime.background import in_background
from mvsim_ros2.runtime.executor import PendingResult, Waits
from mvsim_ros2.runtime.log_forwarding import log_fault
from mvsim_ros2.services.handlers import HAS_SPAWN_ENTITIES, Handlers
from mvsim_ros2.services.vehicle_services import VehicleServices
from mvsim_ros2.simulation.result_codes import FAILED, OK, SPAWN_FAILED, RequestError
from mvsim_ros2.simulation.sim_state import MAX_STEPS, StepRequest
from mvsim_ros2.simulation.simulation import Simulation
from mvsim_ros2.simulation.trust import encodable, public_text


def snake_case(name: str) -> str:
    """Return the name of a service, which is that of its type in snake case."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


@dataclass(frozen=True, slots=True)
class Service:
    """One service.

    Attributes:
        type: Name of its type in `simulation_interfaces.srv`.
        help: What it does, for the documentation.
        changes_vehicles: Whether it may add or remove vehicles.
    """

    type: str
    help: str
    changes_vehicles: bool = False

    @property
    def name(self) -> str:
        """Name of the service, relative to the node's namespace."""
        return snake_case(self.type)


SERVICES = (
    Service("GetEntities", "Names of the vehicles, blocks and actors that match a filter."),
    Service("GetEntitiesStates", "Their names and states, in the world frame."),
    Service("GetEntityState", "True pose, velocity and acceleration in the world frame."),
    Service("GetEntityInfo", "Category, description, tags (kind, and class in the world file)."),
    Service("SetEntityInfo", "Replace those, also for filters, until it is deleted or reset."),
    Service("GetEntityBounds", "Bounding box in its own frame."),
    Service("SetEntityState", "Teleport a vehicle or block to the ground, with a velocity."),
    Service("SpawnEntity", "Spawn a vehicle: class of the world, file, file#class, or XML.", True),
    Service("DeleteEntity", "Delete a vehicle or block.", True),
    Service("GetSpawnables", "Vehicle classes of the world and of the files in sources."),
    Service("GetNamedPoses", "Initial poses of the vehicles of the world file (tag start)."),
    Service("GetNamedPoseBounds", "Bounding box of the vehicle that starts there."),
    Service("ResetSimulation", "Reset time, state, spawned entities; see below for scopes.", True),
    Service("SetSimulationState", "Play, pause, stop (pause and reset), quit.", True),
    Service("UnloadWorld", "Remove the world.", True),
    Service("GetCurrentWorld", "Name and file of the world."),
    Service(
        "GetAvailableWorlds",
        "World files of the package, beside the present one, in sources.",
    ),
)
#: Services with a callback of their own in `SimulationServices`.
OTHER_SERVICES = (
    Service(
        "LoadWorld",
        "Load another world, which is stopped at first; the present one stands still meanwhile.",
        True,
    ),
    Service("SpawnEntities", "Spawn several vehicles, one after the other; some may fail.", True),
    Service("GetSimulationState", "Playing, paused, …; at once, also while a world is loaded."),
    Service("GetSimulatorFeatures", "Features of the interface that are supported."),
    Service(
        "StepSimulation", f"Make up to {MAX_STEPS:,} steps while paused, as fast as possible."
    ),
)
ACTION_HELP = "Any number of steps, with feedback after each step; can be cancelled."
#: Depth for requests that arrive faster than callbacks take them.
REQUEST_QOS = QoSProfile(depth=CAPACITY)


class SimulationServices:
    """Offers the services on a node.

    Args:
        node: Main node.
        simulation: The simulation that they control.
        on_vehicles_changed: Called in the executor thread after vehicles may have changed.
        settings: Parameters of the node.
        waits: Coroutines of the executor thread.
    """

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        on_vehicles_changed: Callable[[], None],
        settings: Settings,
        waits: Waits,
    ) -> None:
        """Create the services."""
        self._node = node
        self._waits = waits
        self._simulation = simulation
        self._on_vehicles_changed = on_vehicles_changed
        self._handlers = Handlers(simulation, settings)
        self._of_vehicles = VehicleServices(node, simulation, self._submit)
        for service in SERVICES:
            handler = getattr(self._handlers, service.name)
            callback = partial(self._serve, handler, service.changes_vehicles)
            self._create(service.type, _coroutine(callback))
        if HAS_SPAWN_ENTITIES:
            self._create("SpawnEntities", _coroutine(self._spawn_entities))
        self._create("GetSimulatorFeatures", self._handlers.get_simulator_features)
        self._create("GetSimulationState", self._handlers.get_simulation_state)
        self._create("StepSimulation", _coroutine(self._step_simulation))
        self._create("LoadWorld", _coroutine(self._load_world))
        self._action = ActionServer(
            node,
            SimulateSteps,
            "simulate_steps",
            self._simulate_steps,
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def _create(self, name: str, callback: Callable[[Any, Any], Any]) -> None:
        self._node.create_service(
            getattr(srv, name), snake_case(name), callback, qos_profile=REQUEST_QOS
        )

    def update_vehicles(self, namespaces: Mapping[str, str]) -> None:
        """Offer the services of the present vehicles, see `VehicleServices.update`."""
        self._of_vehicles.update(namespaces)

    def close(self) -> None:
        """Destroy the action server; services are destroyed with the node."""
        self._action.destroy()

    # ---------------------------------------------------------------- services
    async def _serve(
        self,
        handler: Callable[[Any, Any], None],
        changes_vehicles: bool,
        request: Any,
        response: Any,
    ) -> Any:
        error = await self._submit(lambda: handler(request, response))
        if changes_vehicles:
            self._on_vehicles_changed()
        return _with_result(response, error)

    async def _load_world(self, request: Any, response: Any) -> Any:
        """Load a world in the background, so that other requests are answered meanwhile."""
        error = await self._submit(self._simulation.begin_load)
        if error is None:
            loaded: PendingResult[Any] = PendingResult(self._waits)
            read = partial(self._handlers.read_world, request)
            world = in_background(read, self._node.get_logger().info)
            world.add_done_callback(loaded.set_result)
            await loaded
            take = partial(self._handlers.take_world, world, response)
            error = await self._submit(take, always=True)
            self._on_vehicles_changed()
        return _with_result(response, error)

    def _submit(
        self, work: Callable[[], None], *, always: bool = False
    ) -> PendingResult[MvsimError | None]:
        """Let the stepping thread do work; return a future of its error, or None.

        `always`: also while too many requests wait.
        """
        future: PendingResult[MvsimError | None] = PendingResult(self._waits)
        requests = self._simulation.sim_state.requests
        if not requests.submit(lambda: future.set_result(self._call(work)), always=always):
            future.set_result(RequestError(FAILED, "too many requests wait"))
        return future

    def _call(self, work: Callable[[], None]) -> MvsimError | None:
        try:
            with reporting(self._node.get_logger().info):  # reports progress of large worlds
                work()
        except MvsimError as error:
            return error
        except Exception as error:  # a bug in a handler must not end the simulation
            return RequestError(FAILED, log_fault(self._node.get_logger(), error))
        return None

    async def _spawn_entities(self, request: Any, response: Any) -> Any:
        """Spawn vehicles; each is a request of its own, so that steps are made between them."""
        for spawn_request in request.spawn_requests:
            result = msg.SpawnResult()
            work = partial(self._handlers.spawn_entity, spawn_request, result)
            response.results.append(_with_result(result, await self._submit(work)))
        self._on_vehicles_changed()
        errors = [r.result.error_message for r in response.results if r.result.result != OK]
        if not errors:
            return _with_result(response, None)
        text = f"{len(errors)} of {len(response.results)} were not spawned; the first: {errors[0]}"
        return _with_result(response, RequestError(SPAWN_FAILED, text))

    # ------------------------------------------------------------------- steps
    async def _step_simulation(self, request: Any, response: Any) -> Any:
        return _with_result(response, await self._make_steps(request.steps))

    async def _make_steps(
        self,
        number: int,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> MvsimError | None:
        """Make steps; see `StepRequest` for the callbacks. Return the error, or None."""
        future: PendingResult[MvsimError | None] = PendingResult(self._waits)
        steps = StepRequest(number, future.set_result, progress, cancelled)

        def start() -> None:
            self._simulation.require_world()
            self._simulation.sim_state.start_steps(steps)

        error: MvsimError | None = await self._submit(start)
        return error if error is not None else await future

    async def _simulate_steps(self, goal: Any) -> Any:
        def progress(completed: int, remaining: int) -> None:
            feedback = SimulateSteps.Feedback()
            feedback.completed_steps, feedback.remaining_steps = completed, remaining
            goal.publish_feedback(feedback)

        error = await self._make_steps(
            goal.request.steps, progress, lambda: bool(goal.is_cancel_requested)
        )
        result = _with_result(SimulateSteps.Result(), error)
        if result.result.result == OK:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return result


def _coroutine(callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a coroutine function: rclpy does not recognise a partial of one."""

    async def call(request: Any, response: Any) -> Any:
        return await callback(request, response)

    return call


def _with_result(response: Any, error: MvsimError | None) -> Any:
    """Write the result into a response."""
    if error is None:
        if response.result.result == 0 and not response.result.error_message:
            response.result.result = OK
        return response
    response.result.result = error.code if isinstance(error, RequestError) else FAILED
    response.result.error_message = encodable(public_text(error)).replace("\0", "")
    return response
