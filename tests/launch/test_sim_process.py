# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What test_sim_launch.py shows with the real launch system, where that is not installed."""

from collections.abc import Iterator

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


def test_it_is_ready(observer: Observer) -> None:
    assert behaviour.topics_with_messages(observer) == set(behaviour.TYPES)


def test_it_drives(observer: Observer) -> None:
    driving, resting = behaviour.drive_and_stop(observer)
    assert driving > 0.25
    assert abs(resting) < 0.01


def test_a_wall_stops_it(observer: Observer) -> None:
    before, beyond = behaviour.drive_against_wall(observer)
    assert not before
    assert beyond < 0.03


def test_a_reset_restores_the_start_and_the_clock_goes_on(observer: Observer) -> None:
    distance, times = behaviour.reset(observer)
    assert distance < 0.014
    assert times == sorted(times)


def test_it_shuts_down(running: NodeProcess, observer: Observer) -> None:
    code, seconds = running.interrupt()
    assert code == 0
    assert seconds < 2.0
    assert "warehouse.world.xml: r1" in running.output
    assert "Traceback" not in running.output
