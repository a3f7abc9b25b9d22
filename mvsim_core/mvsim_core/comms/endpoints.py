# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Addresses of sockets that nodes tell each other: `tcp://HOST:PORT` with a numeric host.

Anything else is refused, since other transports name files (`ipc://`), and names of hosts would
be looked up.
"""

from __future__ import annotations

import ipaddress
import re

from mvsim_core.errors import CommsError

#: TCP port of the server.
DEFAULT_PORT = 23700
#: Address that sockets are bound to unless another one is asked for.
LOOPBACK = "127.0.0.1"
#: Addresses that mean "this machine, on all its interfaces".
ANY = ("0.0.0.0", "*")

_ENDPOINT = re.compile(r"tcp://([0-9.]{7,15}):([0-9]{1,5})")


def endpoint_parts(endpoint: str) -> tuple[str, int]:
    """Return host and port of an endpoint.

    Raises:
        CommsError: It is not tcp://A.B.C.D:PORT.
    """
    match = _ENDPOINT.fullmatch(endpoint)
    if match is not None:
        host, port = match[1], int(match[2])
        try:
            ipaddress.IPv4Address(host)
        except ValueError:
            port = 0
        if 0 < port < 65536:
            return host, port
    raise CommsError(f"expected tcp://A.B.C.D:PORT, got {endpoint[:60]!r}")


def own_endpoint(endpoint: str, peer: str) -> str:
    """Return the endpoint under which a socket of a peer can be reached.

    Addresses that come in messages may name only the machine that sent them. A socket that is
    bound to all interfaces is at the address that its peer has; on this machine it stays
    0.0.0.0, see `resolved`.

    Args:
        endpoint: What the peer says.
        peer: Address of the peer.

    Raises:
        CommsError: It is not tcp://A.B.C.D:PORT, or names another machine.
    """
    host, port = endpoint_parts(endpoint)
    if host in ANY:
        host = host if is_loopback(peer) else peer
    elif host != peer and not (is_loopback(host) and is_loopback(peer)):
        raise CommsError(f"{endpoint} is not at the address of its sender, {peer}")
    return f"tcp://{host}:{port}"


def resolved(endpoint: str, server: str) -> str:
    """Return an endpoint that a server named, as it is reached from here.

    Args:
        endpoint: What the server says; 0.0.0.0 is the server's own machine.
        server: Host of the server.

    Raises:
        CommsError: It is not tcp://A.B.C.D:PORT.
    """
    host, port = endpoint_parts(endpoint)
    return f"tcp://{server if host in ANY else host}:{port}"


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, seen from itself."""
    return host == "localhost" or host.startswith("127.")
