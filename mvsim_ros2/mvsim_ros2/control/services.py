# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The services and the action of `simulation_interfaces`.

A callback leaves its request to the stepping thread and waits as a coroutine: however long that
takes, and however many wait, other callbacks run.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action.server import ActionServer, CancelResponse, GoalResponse
from rclpy.node import Node
from rclpy.task import Future
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps

from mvsim_core import MvsimError
from mvsim_ros2.control.answers import FAILED, OK, Refused
from mvsim_ros2.control.handlers import Handlers
from mvsim_ros2.control.phases import Steps
from mvsim_ros2.control.simulation import Simulation
from mvsim_ros2.parameters import Settings

#: Type of each service, and whether vehicles may have come or gone afterwards.
SERVICES: tuple[tuple[str, bool], ...] = (
    ("GetEntities", False),
    ("GetEntitiesStates", False),
    ("GetEntityState", False),
    ("GetEntityInfo", False),
    ("GetEntityBounds", False),
    ("SetEntityState", False),
    ("SpawnEntity", True),
    ("DeleteEntity", True),
    ("GetSpawnables", False),
    ("GetNamedPoses", False),
    ("GetNamedPoseBounds", False),
    ("ResetSimulation", True),
    ("SetSimulationState", True),
    ("LoadWorld", True),
    ("UnloadWorld", True),
    ("GetCurrentWorld", False),
    ("GetAvailableWorlds", False),
)
#: More steps than this are never made.
STEPS = 2**62


def snake(name: str) -> str:
    """Return the name of a service from that of its type."""
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in name).lstrip("_")


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
        for name, changes in SERVICES:
            handler = getattr(self._handlers, snake(name))
            callback = partial(self._serve, handler, changes)
            self._offer(name, _coroutine(callback))
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
        self._node.create_service(getattr(srv, name), snake(name), callback)

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
            work()
        except MvsimError as error:
            return error
        except Exception as error:  # a mistake of ours must not end the simulation
            self._node.get_logger().error(traceback.format_exc())
            return Refused(FAILED, f"internal error: {error!r}")
        return None

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
