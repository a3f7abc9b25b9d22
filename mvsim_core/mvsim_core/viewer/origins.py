# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Which requests a viewer answers: those of its own page, at an address of its machine.

A page of any web site can open a websocket to 127.0.0.1 from the browser of a user: the header
`Origin` then names that site. A site can also let its own name mean 127.0.0.1 after its page was
loaded (DNS rebinding): the header `Host` then has that name. Programs that are no browsers send no
`Origin`.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

_LOCAL = "localhost"
_SCHEMES = {"http": 80, "https": 443}


class Origins:
    """Decides about requests by their headers `Host` and `Origin`.

    A host may be a number, as no name can be turned to another machine then, `localhost`, the
    name of this machine, or the name that the viewer is bound to. Ports are free, since tunnels
    have their own.

    Args:
        bind: Address that the viewer is bound to.
        hosts: Further names under which browsers reach it, such as that of a proxy; pages of such
            a host may use it at any port.
    """

    def __init__(self, bind: str, hosts: Sequence[str] = ()) -> None:
        """Find the names of this machine."""
        name = socket.gethostname().lower()
        self._further = frozenset(host.lower() for host in hosts)
        self._names = {_LOCAL, bind.lower(), name, f"{name}.local", *self._further}

    def refusal(self, host: str | None, origin: str | None) -> str:
        """Return why a request is refused; "": it is not."""
        name, port = _parts(f"http://{host}") if host else ("", None)
        if not self._is_own(name):
            return f"the viewer has no name {name!r}: use the number of its address"
        if origin is None:
            return ""
        scheme = origin.partition("://")[0]
        of_origin, port_of_origin = _parts(origin)
        usual = _SCHEMES.get(scheme)
        # behind a proxy with TLS the host has no port, or that of https
        if of_origin == name and usual and (port_of_origin or usual) == (port or usual):
            return ""
        if usual and of_origin in self._further:
            return ""
        return f"a page of {origin!r} may not use the viewer at {host!r}"

    def asked_before(self, answer: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return a handler of requests that refuses some, and leaves the others to `answer`."""

        def process(connection: Any, request: Any) -> Any:
            headers = request.headers
            hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
            if len(hosts) != 1 or len(origins) > 1:
                return connection.respond(HTTPStatus.BAD_REQUEST, "expected one host\n")
            why = self.refusal(hosts[0], origins[0] if origins else None)
            if why:
                return connection.respond(HTTPStatus.FORBIDDEN, f"{why}\n")
            return answer(connection, request)

        return process

    def _is_own(self, name: str) -> bool:
        if name in self._names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def _parts(url: str) -> tuple[str, int | None]:
    """Return the host and the port of an address; "" for what is none."""
    try:
        split = urlsplit(url)
        return (split.hostname or "").rstrip("."), split.port
    except ValueError:
        return "", None
