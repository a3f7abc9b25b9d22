# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A world on the message bus: server, node and services, as `mvsim run --server` starts them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack

from mvsim_core.comms.client import Client
from mvsim_core.comms.endpoints import ANY, DEFAULT_PORT, LOOPBACK, is_loopback
from mvsim_core.comms.offering import Submit
from mvsim_core.comms.server import Server
from mvsim_core.comms.world_node import WORLD_NODE, WorldNode
from mvsim_core.comms.world_services import WorldServices
from mvsim_core.errors import CommsError
from mvsim_core.world.world import World

#: How long one thread may keep the others from running [s]: shorter than Python's 5 ms, so that
#: messages made in another thread do not hold up a step.
SWITCH_INTERVAL = 5e-4


class WorldBus:
    """A world that is published, and its services.

    The server runs in this process, unless `server_address` of the world file names another
    machine.

    Args:
        world: The first world; None: none yet.
        submit: Runs work in the thread that steps the world.
        shutdown: Called when a client asks for the end of the simulation.
        port: TCP port of the server.
        bind: Address of this machine to which sockets are bound.
        on_demand: Whether sensors without readers compute nothing.
    """

    def __init__(
        self,
        world: World | None,
        submit: Submit,
        shutdown: Callable[[], None],
        *,
        port: int = DEFAULT_PORT,
        bind: str = LOOPBACK,
        on_demand: bool = False,
    ) -> None:
        """Start everything.

        Raises:
            CommsError: The port is taken, or the server of another machine cannot be reached.
        """
        self._world = world
        sys.setswitchinterval(min(sys.getswitchinterval(), SWITCH_INTERVAL))
        host = "localhost" if world is None else world.spec.server_address or "localhost"
        with ExitStack() as stack:
            if _is_here(host, bind):
                server = stack.enter_context(Server(port, bind))
                port, host = server.port, LOOPBACK if bind in ANY else bind
            elif is_loopback(bind):
                raise CommsError(
                    f"server_address is {host}: name the address of this machine that it reaches"
                    " (--bind)"
                )
            client = Client(WORLD_NODE, address=host, port=port, bind=bind)
            stack.enter_context(client)
            self.node = WorldNode(client, world, on_demand=on_demand)
            stack.callback(self.node.close)
            self._services = WorldServices(client, lambda: self._world, submit, shutdown)
            self.port = port
            self._stack = stack.pop_all()

    def set_world(self, world: World | None) -> None:
        """Publish another world, or none."""
        self._world = world
        self.node.set_world(world)

    def after_step(self) -> None:
        """Publish what is due; in the thread that steps the world, after each step."""
        self.node.after_step()
        self._services.after_step()

    def close(self) -> None:
        """End everything."""
        self._stack.close()


def _is_here(host: str, bind: str) -> bool:
    """Return whether the server of a world belongs into this process."""
    return is_loopback(host) or host == bind or host in ANY
