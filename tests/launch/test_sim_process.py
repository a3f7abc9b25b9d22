# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What test_sim_launch.py shows with the real launch system, where that is not installed."""

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("rclpy")
pytest.importorskip("simulation_interfaces")

from tests.conftest import DomainPool
from tests.launch import behaviour
from tests.ros.node_process import NodeProcess, Observer

pytestmark = pytest.mark.ros


@pytest.fixture(scope="module")
def domain(domain_pool: DomainPool) -> Iterator[int]:
    taken = domain_pool.take()
    yield taken
    domain_pool.give_back(taken)


@pytest.fixture(scope="module")
def running(domain: int) -> Iterator[NodeProcess]:
    process = NodeProcess(domain, behaviour.WORLD, realtime_factor=2.0)
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = behaviour.observer_of(domain)
    yield observer
    observer.close()


@pytest.mark.parametrize(
    "shown",
    [behaviour.is_ready, behaviour.drives, behaviour.collides, behaviour.resets],
    ids=lambda f: f.__name__,
)
def test_it(shown: Callable[[Observer], None], observer: Observer) -> None:
    shown(observer)


def test_it_shuts_down(running: NodeProcess, observer: Observer) -> None:
    code, seconds = running.interrupt()
    assert code == 0
    assert seconds < 2.0
    assert "warehouse.world.xml: r1" in running.output
    assert "Traceback" not in running.output
