# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer's server: whom it answers, over a real socket; its page before there is a world."""

from __future__ import annotations

import asyncio
import http.client
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.viewer import Server, Viewer
from mvsim_core.viewer.origins import Origins
from tests.unit.viewer.worlds import SMALL

viser = pytest.importorskip("viser", reason="viser is not installed")
msgspec = pytest.importorskip("msgspec", reason="viser is not installed")
client = pytest.importorskip("websockets.asyncio.client", reason="viser is not installed")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(port=0, notice="Loading **a world**") as server:
        yield server


def answer(server: Server, host: str, origin: str | None, *, upgrade: bool) -> tuple[int, str]:
    """Return the status and the text with which a request is answered."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10.0)
    connection.putrequest("GET", "/", skip_host=True, skip_accept_encoding=True)
    headers = {"Host": host.format(port=server.port)}
    if origin is not None:
        headers["Origin"] = origin.format(port=server.port)
    if upgrade:
        headers |= {"Upgrade": "websocket", "Connection": "Upgrade"}
        headers |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x3JJHMbDL1EzLkh9GBhXDw=="}
        headers["Sec-WebSocket-Protocol"] = f"viser-v{viser.__version__}"
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    text = "" if response.status == 101 else response.read(200).decode()
    connection.close()
    return response.status, text


OWN = ("127.0.0.1:{port}", "localhost:{port}", "localhost:9000", "192.168.7.7:{port}", "[::1]:80")


@pytest.mark.parametrize("host", OWN)
def test_its_own_page_is_served(server: Server, host: str) -> None:
    assert answer(server, host, None, upgrade=False)[0] == 200
    assert answer(server, host, f"http://{host}", upgrade=True)[0] == 101


def test_programs_that_are_no_browsers_are_served(server: Server) -> None:
    assert answer(server, "127.0.0.1:{port}", None, upgrade=True)[0] == 101


FOREIGN = (
    "https://evil.example",
    "http://evil.example:{port}",
    "http://127.0.0.1.evil.example:{port}",
    "http://localhost:9000",  # another server of the same machine
    "http://127.0.0.1:{port}@evil.example",
    "file://",
    "null",
    "",
)


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_other_sites_are_refused(server: Server, origin: str) -> None:
    status, text = answer(server, "127.0.0.1:{port}", origin, upgrade=True)
    assert status == 403
    assert "may not use the viewer" in text
    assert answer(server, "127.0.0.1:{port}", origin, upgrade=False)[0] == 403


@pytest.mark.parametrize("host", ["evil.example:{port}", "127.0.0.1.evil.example", "", "[", "1e9"])
@pytest.mark.parametrize("upgrade", [False, True])
def test_names_that_others_can_turn_to_this_machine_are_refused(
    server: Server, host: str, upgrade: bool
) -> None:
    origin = f"http://{host}"
    assert answer(server, host, origin, upgrade=upgrade)[0] in (400, 403)
    assert answer(server, host, None, upgrade=upgrade)[0] in (400, 403)


@pytest.mark.parametrize(
    ("bind", "host", "served"),
    [
        ("0.0.0.0", "robots.lab.example", False),
        ("robots.lab.example", "robots.lab.example:8080", True),
        ("0.0.0.0", f"{socket.gethostname()}:8080", True),
        ("0.0.0.0", f"{socket.gethostname().upper()}.local.", True),
    ],
)
def test_names_of_the_machine(bind: str, host: str, served: bool) -> None:
    assert (Origins(bind).refusal(host, f"http://{host}") == "") is served


def test_a_proxy_with_tls_may_be_before_it() -> None:
    assert Origins("127.0.0.1").refusal("localhost", "https://localhost") == ""
    assert Origins("127.0.0.1").refusal("localhost:443", "https://localhost") == ""
    assert Origins("127.0.0.1").refusal("localhost", "http://localhost:443") != ""


def test_further_names_are_those_of_a_proxy() -> None:
    origins = Origins("127.0.0.1", ["Sim.lab.example"])
    assert origins.refusal("sim.lab.example", "https://sim.lab.example") == ""
    assert origins.refusal("localhost:8080", "https://sim.lab.example") == ""  # Host is replaced
    for other in ("https://lab.example", "https://x.sim.lab.example", "ws://sim.lab.example"):
        assert origins.refusal("localhost:8080", other) != ""


# ------------------------------------------------------------------ before there is a world
def test_shaders_of_a_world_are_compiled_before_it_is_there() -> None:
    """The speck has as many lights as the world, and stays."""
    with Server(port=0) as server:
        before = drawn(server)
        viewer = Viewer(load_world(text=SMALL), server=server)
        after = drawn(server)
        viewer.close()
    assert {name: kind for name, kind in after.items() if "light" in kind.lower()} == {
        name: kind for name, kind in before.items() if "light" in kind.lower()
    }
    assert before["/speck"] == after["/speck"] == "BatchedGlbMessage"
    assert "BatchedGlbMessage" in [kind for name, kind in after.items() if name != "/speck"]


def drawn(server: Server) -> dict[str, str]:
    """Return the kinds of the nodes that a browser gets, by name."""
    messages = server.viser._websock_server._broadcast_buffer.message_from_id.values()
    return {
        m.name: type(m).__name__ for m in messages if hasattr(m, "name") and hasattr(m, "props")
    }


def test_a_browser_may_come_before_the_world() -> None:
    with Server(port=0, notice="Loading **a world**") as server:
        assert asyncio.run(_looks_on(server)) == 1


async def _looks_on(server: Server) -> int:
    """Connect as a browser does, then show a world; return how many watch it."""
    from benchmarks.viewer import CAMERA  # needs viser

    protocol = f"viser-v{viser.__version__}"
    url = server.url.replace("http", "ws")
    async with client.connect(url, subprotocols=[protocol], max_size=None) as connection:
        await connection.send(msgspec.msgpack.encode(CAMERA))
        await connection.recv()
        while not server.viser.get_clients():
            await asyncio.sleep(0.01)
        viewer = Viewer(load_world(text=SMALL), server=server)
        (browser,) = server.viser.get_clients().values()
        eye, at = viewer.stage.cameras.seen(browser)
        assert np.linalg.norm(eye - at) == pytest.approx(14.0)  # as <gui> says
        while viewer.watchers != 1:
            await asyncio.sleep(0.01)
        assert (viewer.port, viewer.url) == (server.port, server.url)
        watchers = viewer.watchers
        viewer.close()
        return watchers
