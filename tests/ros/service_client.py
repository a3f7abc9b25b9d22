# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A client of all control services."""

import threading
import time
from typing import Any

from geometry_msgs.msg import PoseStamped
from rcl_interfaces.srv import SetParameters
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import QoSProfile
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import SimulationState

from mvsim_ros2.services.server import snake_case
from tests.ros.node_process import TIMEOUT, connect, eventually, take_up

#: No answer is lost while the client is busy.
QUEUED = QoSProfile(depth=5000)


def placed(x: float, y: float) -> PoseStamped:
    """Return a pose in the world that looks along x."""
    message = PoseStamped()
    message.pose.position.x, message.pose.position.y = x, y
    return message


class Client:
    """Calls services by the names of their types."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._clients: dict[str, Any] = {}
        self._action: Any = None
        self._parameters: Any = None

    def call(self, service: str, /, **fields: Any) -> Any:
        """Return the answer of a service."""
        return self.send(service, getattr(srv, service).Request(**fields))

    def send(self, name: str, request: Any) -> Any:
        """Return the answer to a request."""
        return _result(self._client(name).call_async(request), name)

    def _client(self, name: str) -> Any:
        if name not in self._clients:
            self._clients[name] = connect(self.node, getattr(srv, name), snake_case(name), QUEUED)
        return self._clients[name]

    def state(self, state: int) -> Any:
        """Set the state of the simulation; return the result."""
        return self.call("SetSimulationState", state=SimulationState(state=state)).result

    def reset(self, scope: int) -> Any:
        """Reset the simulation; return the result."""
        return self.call("ResetSimulation", scope=scope).result

    def spawn(self, name: str, uri: str, x: float = 0.0, y: float = -2.0, **fields: Any) -> Any:
        """Spawn a vehicle of a class; return the answer."""
        pose = placed(x, y)
        return self.call("SpawnEntity", name=name, uri=uri, initial_pose=pose, **fields)

    def set(self, name: str, value: float) -> Any:
        """Set a parameter of the node; return the result."""
        if self._parameters is None:
            self._parameters = connect(self.node, SetParameters, "mvsim/set_parameters")
        message = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[message])
        return _result(self._parameters.call_async(request), name).results[0]

    def act(self, goal: Any, *, cancel: bool = False) -> tuple[list[tuple[int, int]], Any]:
        """Make steps by the action; return the feedback and the result."""
        if self._action is None:
            self._action = ActionClient(self.node, SimulateSteps, "simulate_steps")
            take_up(self.node)
            assert self._action.wait_for_server(TIMEOUT)
        feedback: list[tuple[int, int]] = []

        def record(message: Any) -> None:
            steps = message.feedback
            feedback.append((steps.completed_steps, steps.remaining_steps))

        handle = _result(self._action.send_goal_async(goal, record), "goal")
        if cancel:
            eventually(lambda: feedback, "feedback")
            handle.cancel_goal_async()
        result = _result(handle.get_result_async(), "result")
        if not cancel:
            eventually(lambda: feedback and feedback[-1][1] == 0, "the last feedback")
        return feedback, result

    def flood(
        self, name: str, fields: dict[str, Any], *, rate: float, seconds: float
    ) -> list[Any]:
        """Send requests at a rate without waiting; return all answers."""
        client = self._client(name)
        request = getattr(srv, name).Request(**fields)
        begin, futures = time.monotonic(), []
        for i in range(round(rate * seconds)):
            time.sleep(max(0.0, begin + i / rate - time.monotonic()))
            futures.append(client.call_async(request))
        return [_result(future, name) for future in futures]


def _result(future: Any, what: str) -> Any:
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    assert done.wait(TIMEOUT), f"no answer to {what}"
    return future.result()
