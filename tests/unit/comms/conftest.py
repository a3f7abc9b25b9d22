# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A server, and clients of it, in this process."""

import time
from collections.abc import Callable, Iterator

import pytest

from mvsim_core.comms import Client, Server

NewClient = Callable[[str], Client]


@pytest.fixture
def server() -> Iterator[Server]:
    with Server(port=0) as running:
        yield running


@pytest.fixture
def new_client(server: Server) -> Iterator[NewClient]:
    clients: list[Client] = []

    def make(name: str) -> Client:
        clients.append(Client(name, port=server.port, timeout=10.0).connect())
        return clients[-1]

    yield make
    for client in clients:
        client.close()


def until(condition: Callable[[], object], timeout: float = 20.0) -> None:
    """Wait until something is true."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, "it did not become true"
        time.sleep(0.01)
