# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The services and the action of `simulation_interfaces`.

A callback leaves its request to the stepping thread and waits as a coroutine: however long that
takes, and however many wait, other callbacks run.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.task import Future
from simulation_interfaces import msg, srv
from simulation_interfaces.action import SimulateSteps

from mvsim_core import MvsimError
from mvsim_core.progress import told
from mvsim_ros2.control.answers import FAILED, OK, SPAWN_FAILED, Refused
from mvsim_ros2.control.handlers import SPAWNS_MANY, Handlers
from mvsim_ros2.control.phases import Steps
from mvsim_ros2.control.requests import CAPACITY
from mvsim_ros2.control.simulation import Simulation
from mvsim_ros2.parameters import Settings


def snake(name: str) -> str:
    """Return the name of a service from that of its type."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


@dataclass(frozen=True, slots=True)
class Service:
    """One service that is answered by the stepping thread.

    Attributes:
        type: Name of its type in `simulation_interfaces.srv`.
        help: What it does here.
        changes: Whether vehicles may have come or gone afterwards.
    """

    type: str
    help: str
    changes: bool = False

    @property
    def name(self) -> str:
        """Name of the service, relative to the node's namespace."""
        return snake(self.type)


SERVICES = (
    Service("GetEntities", "Names of vehicles, blocks and actors that pass a filter."),
    Service("GetEntitiesStates", "Names and states of those; all in the world frame."),
    Service("GetEntityState", "True pose, velocity and acceleration in the world frame."),
    Service("GetEntityInfo", "Category; tags are its kind and its class in the world file."),
    Service("SetEntityInfo", "Change those, for filters too, until it is deleted or reset."),
    Service("GetEntityBounds", "Box in its own frame."),
    Service("SetEntityState", "Put a vehicle or block on the ground somewhere, with a velocity."),
    Service("SpawnEntity", "Add a vehicle: class of the world, file, file#class, or XML.", True),
    Service("DeleteEntity", "Remove a vehicle or block.", True),
    Service("GetSpawnables", "Vehicle classes of the world, and of the files in sources."),
    Service("GetNamedPoses", "Where the vehicles of the world file start (tag start)."),
    Service("GetNamedPoseBounds", "Box of the vehicle that starts there."),
    Service("ResetSimulation", "Bring the first state back; see below for scopes.", True),
    Service("SetSimulationState", "Play, pause, stop (pause and reset), quit.", True),
    Service("LoadWorld", "Change to another world, which is stopped at first.", True),
    Service("UnloadWorld", "Remove the world.", True),
    Service("GetCurrentWorld", "Name and file of the world."),
    Service(
        "GetAvailableWorlds", "World files of the package, beside the present one, in sources."
    ),
)
#: Those that are answered in other ways.
FURTHER = (
    Service("SpawnEntities", "The same for many, one after the other; some may fail.", True),
    Service("GetSimulationState", "Whether it plays; at once, even while a world is loaded."),
    Service("GetSimulatorFeatures", "All of the table and what the interface says of it."),
    Service("StepSimulation", "Make a number of steps, as fast as possible, while paused."),
)
ACTION_HELP = "The same with feedback after each step; it can be cancelled."
#: Requests that arrive faster than they are taken wait.
QUEUED = QoSProfile(depth=CAPACITY)
#: More steps than this are never made.
STEPS = 2**62


class ControlServices:
    """Offers the services on a node.

    Args:
        node: Where.
        simulation: What they control.
        changed: Called in the callbacks' thread when vehicles may have come or gone.
        settings: Parameters of the node.
    """

    def __init__(
        self, node: Node, simulation: Simulation, changed: Callable[[], None], settings: Settings
    ) -> None:
        """Create the services."""
        self._node = node
        self._simulation = simulation
        self._changed = changed
        self._handlers = Handlers(simulation, settings)
        for service in SERVICES:
            handler = getattr(self._handlers, service.name)
            callback = partial(self._serve, handler, service.changes)
            self._offer(service.type, _coroutine(callback))
        if SPAWNS_MANY:
            self._offer("SpawnEntities", _coroutine(self._spawn))
        self._offer("GetSimulatorFeatures", self._handlers.get_simulator_features)
        self._offer("GetSimulationState", self._handlers.get_simulation_state)
        self._offer("StepSimulation", _coroutine(self._step))
        self._action = ActionServer(
            node,
            SimulateSteps,
            "simulate_steps",
            self._simulate,
            goal_callback=lambda goal: GoalResponse.ACCEPT,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )

    def _offer(self, name: str, callback: Callable[[Any, Any], Any]) -> None:
        self._node.create_service(getattr(srv, name), snake(name), callback, qos_profile=QUEUED)

    def close(self) -> None:
        """Take the action away; services go with the node."""
        self._action.destroy()

    # ---------------------------------------------------------------- services
    async def _serve(
        self, handler: Callable[[Any, Any], None], changes: bool, request: Any, response: Any
    ) -> Any:
        error = await self._asked(lambda: handler(request, response))
        if changes:
            self._changed()
        return _answered(response, error)

    def _asked(self, work: Callable[[], None]) -> Future[MvsimError | None]:
        """Return a future of the error, or None, of work in the stepping thread."""
        future: Future[MvsimError | None] = Future()
        if not self._simulation.phases.requests.ask(lambda: future.set_result(self._tried(work))):
            future.set_result(Refused(FAILED, "too many requests wait"))
        return future

    def _tried(self, work: Callable[[], None]) -> MvsimError | None:
        try:
            with told(self._node.get_logger().info):  # loading a large world takes long
                work()
        except MvsimError as error:
            return error
        except Exception as error:  # a mistake of ours must not end the simulation
            self._node.get_logger().error(traceback.format_exc())
            return Refused(FAILED, f"internal error: {error!r}")
        return None

    async def _spawn(self, request: Any, response: Any) -> Any:
        """Add vehicles; each is a request of its own, so that steps go on between them."""
        for each in request.spawn_requests:
            result = msg.SpawnResult()
            work = partial(self._handlers.spawn_entity, each, result)
            response.results.append(_answered(result, await self._asked(work)))
        self._changed()
        failed = [one.result.error_message for one in response.results if one.result.result != OK]
        if not failed:
            return _answered(response, None)
        text = f"{len(failed)} of {len(response.results)} were not spawned; the first: {failed[0]}"
        return _answered(response, Refused(SPAWN_FAILED, text))

    # ------------------------------------------------------------------- steps
    async def _step(self, request: Any, response: Any) -> Any:
        return _answered(response, await self._made(Steps(min(request.steps, STEPS), _nothing)))

    async def _made(self, steps: Steps) -> MvsimError | None:
        future: Future[MvsimError | None] = Future()
        steps.done = future.set_result

        def begin() -> None:
            self._simulation.need_world()
            self._simulation.phases.begin(steps)

        error: MvsimError | None = await self._asked(begin)
        return error if error is not None else await future

    async def _simulate(self, goal: Any) -> Any:
        def progress(count: int, left: int) -> None:
            feedback = SimulateSteps.Feedback()
            feedback.completed_steps, feedback.remaining_steps = count, left
            goal.publish_feedback(feedback)

        steps = Steps(min(goal.request.steps, STEPS), _nothing, progress)
        steps.cancelled = lambda: bool(goal.is_cancel_requested)
        result = _answered(SimulateSteps.Result(), await self._made(steps))
        if result.result.result == OK:
            goal.succeed()
        elif goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return result


def _coroutine(callback: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Return a coroutine function, which rclpy does not see in a partial one."""

    async def call(request: Any, response: Any) -> Any:
        return await callback(request, response)

    return call


def _answered(response: Any, error: MvsimError | None) -> Any:
    """Write the result into a response."""
    if error is None:
        if response.result.result == 0 and not response.result.error_message:
            response.result.result = OK
        return response
    response.result.result = error.code if isinstance(error, Refused) else FAILED
    response.result.error_message = str(error).replace("\0", "")
    return response


def _nothing(reason: Refused | None) -> None:
    """Be replaced."""
