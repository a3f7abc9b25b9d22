# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures for all tests: optional reference data and free ROS domains.

The reference data (world files of the C++ simulator, recordings of its runs, expected
values) is not part of this repository. It is looked for in `../shared` beside the checkout or
in the folder that `MVSIM_SHARED` names; tests that need it skip where it is absent.
"""

import fcntl
import gc
import os
import signal
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parents[1]

# The same examples in each run, so that a change is what makes a test fail; new ones with
# `--hypothesis-profile random`.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("random", derandomize=False)
settings.load_profile("repeatable")

# Worlds of other people name models on the internet: no test depends on it, nor waits for it.
os.environ.setdefault("MVSIM_OFFLINE", "1")

# Two workers share the cores: the threads of a product of matrices would wait for one another, at
# full power, as often as the other worker has a core. Read when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell without job control starts background commands with SIGINT ignored, and their children
# inherit that: tests that end a process by Ctrl-C would wait for nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

DOMAINS = range(10, 100)
"""Domain ids to choose from: not the user's likely ones, and below the ephemeral UDP ports."""


ALONE = ("ros", "consumers")
"""Folders in which `make test` looks for tests that run alone."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files of slow tests first, so that no worker begins one when the other is done."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    alone = [item for item in items if item.get_closest_marker("alone")]
    if astray := [item.nodeid for item in alone if item.path.parent.name not in ALONE]:
        raise pytest.UsageError(f"{astray[0]}: what runs alone must be in {' or '.join(ALONE)}")


def pytest_runtest_teardown() -> None:
    """Let go of the heap that programs settle for themselves: loads count what is frozen."""
    gc.unfreeze()


def shared(name: str) -> Path:
    """Return a folder of the reference data; skips the test where it is absent."""
    base = Path(os.environ.get("MVSIM_SHARED") or ROOT.parent / "shared")
    folder = base / name
    if not folder.is_dir():
        pytest.skip(f"no reference data: {folder} does not exist (set MVSIM_SHARED)")
    return folder


@pytest.fixture(scope="session")
def root() -> Path:
    """The top of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def mvsim_worlds() -> Path:
    """World files of the C++ simulator."""
    return shared("mvsim_worlds")


@pytest.fixture(scope="session")
def reference() -> Path:
    """Recorded runs of the C++ simulator."""
    return shared("reference")


@pytest.fixture(scope="session")
def cases() -> Path:
    """Inputs and expected values of the acceptance cases."""
    return shared("cases")


class DomainPool:
    """Hands out ROS domain ids that no other test process uses at the same time.

    An id is held by a lock on a file in the temporary folder, which the kernel drops when the
    process ends, so parallel test workers and parallel checkouts never meet.
    """

    def __init__(self) -> None:
        self._held: dict[int, IO[str]] = {}

    def take(self) -> int:
        """Returns a free domain id and holds it until `give_back`."""
        first = os.getpid() % len(DOMAINS)
        order: list[int] = [*DOMAINS[first:], *DOMAINS[:first]]
        for domain in order:
            if domain not in self._held and self._lock(domain):
                return domain
        raise RuntimeError(f"all ROS domains from {DOMAINS[0]} to {DOMAINS[-1]} are in use")

    def give_back(self, domain: int) -> None:
        """Frees a domain id that `take` returned."""
        self._held.pop(domain).close()

    def close(self) -> None:
        """Frees all that are still held."""
        for domain in list(self._held):
            self.give_back(domain)

    def _lock(self, domain: int) -> bool:
        path = Path(tempfile.gettempdir()) / f"mvsim_test_domain_{domain}.lock"
        with ExitStack() as stack:
            file = stack.enter_context(path.open("w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return False
            if not _silent(domain):
                return False
            stack.pop_all()
        self._held[domain] = file
        return True


def _silent(domain: int) -> bool:
    """Tells whether no DDS participant of this machine listens in a domain."""
    first_unicast_port = 7410 + 250 * domain  # DDSI-RTPS 9.6.1.1: PB + DG * domain + d1
    for participant in range(5):  # the first of several may have ended already
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("", first_unicast_port + 2 * participant))  # + PG * participant
            except OSError:
                return False
    return True


@pytest.fixture(scope="session")
def domain_pool() -> Iterator[DomainPool]:
    """Free ROS domains for fixtures of any scope: `domain = domain_pool.take()`."""
    pool = DomainPool()
    yield pool
    pool.close()


@pytest.fixture
def ros_domain_id(domain_pool: DomainPool, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A free ROS domain, also set as `ROS_DOMAIN_ID` for this test and its child processes."""
    domain = domain_pool.take()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    yield domain
    domain_pool.give_back(domain)
