# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The services that each vehicle has beside its topics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.node import Node
from std_srvs.srv import SetBool

from mvsim_core import MvsimError
from mvsim_ros2.runtime.executor import PendingResult
from mvsim_ros2.simulation.simulation import Simulation


@dataclass(frozen=True, slots=True)
class VehicleService:
    """One service that each vehicle has.

    Attributes:
        name: Relative to the namespace of the vehicle.
        type: `package/srv/Name`.
        help: What it does, for the documentation.
    """

    name: str
    type: str
    help: str


SET_BRAKE = VehicleService(
    "set_brake",
    "std_srvs/srv/SetBool",
    "Set (true) or release (false) the parking brake, which locks the wheels.",
)
VEHICLE_SERVICES = (SET_BRAKE,)
#: Gives work to the stepping thread; returns a future of its error, or None.
Submit = Callable[[Callable[[], None]], PendingResult[MvsimError | None]]


class VehicleServices:
    """Offers the services of the present vehicles; methods belong to the executor thread.

    Args:
        node: Main node.
        simulation: The simulation whose vehicles they are.
        submit: Gives work to the stepping thread.
    """

    def __init__(self, node: Node, simulation: Simulation, submit: Submit) -> None:
        """Offer none yet."""
        self._node = node
        self._simulation = simulation
        self._submit = submit
        self._offered: dict[str, tuple[str, Any]] = {}

    def update(self, namespaces: Mapping[str, str]) -> None:
        """Offer the services of new vehicles and end those of removed ones.

        Args:
            namespaces: Namespace of the topics of each vehicle, "" or with a slash at the end.
        """
        for vehicle, (namespace, service) in list(self._offered.items()):
            if namespaces.get(vehicle) != namespace:
                self._node.destroy_service(service)
                del self._offered[vehicle]
        for vehicle, namespace in namespaces.items():
            if vehicle not in self._offered:
                service = self._node.create_service(
                    SetBool,
                    namespace + SET_BRAKE.name,
                    self._coroutine(vehicle),
                    # The node's default group keeps every entity that was ever in it.
                    callback_group=MutuallyExclusiveCallbackGroup(),
                )
                self._offered[vehicle] = namespace, service

    def _coroutine(self, vehicle: str) -> Callable[[Any, Any], Any]:
        async def set_brake(request: Any, response: Any) -> Any:
            error = await self._submit(partial(self._brake, vehicle, request.data))
            response.success = error is None
            response.message = str(error or ("braked" if request.data else "released"))
            return response

        return set_brake

    def _brake(self, vehicle: str, on: bool) -> None:
        self._simulation.require_world().vehicles[vehicle].set_brake(on)
