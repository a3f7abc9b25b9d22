# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Two simulators on one machine, in two domains or in two namespaces of one, do not meet.

In one domain each needs a clock of its own: /clock is remapped.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from tests.conftest import DomainPool
from tests.ros.node_process import NodeProcess, Observer, eventually, nanoseconds
from tests.ros.worlds import one_robot

pytestmark = pytest.mark.ros

SPACES = {"two domains": ("", ""), "two namespaces": ("/left", "/right")}


class Simulator:
    """One of them, and its observer."""

    def __init__(self, domain: int, space: str, world: Path) -> None:
        rules = (f"__ns:={space}", f"/clock:={space}/clock") if space else ()
        self.process = NodeProcess(domain, world, rules=rules)
        self.space, self.observer = space, Observer(domain)
        self.observer.subscribe(f"{space}/odom", Odometry)
        self.observer.subscribe(f"{space}/clock", Clock, 1000)

    def speed(self) -> float:
        """Return how fast the robot is [m/s]."""
        return float(self.observer.newest(f"{self.space}/odom").twist.twist.linear.x)

    def close(self) -> None:
        """End both."""
        self.observer.close()
        self.process.close()


@pytest.fixture(scope="module", params=SPACES)
def pair(
    request: pytest.FixtureRequest,
    domain_pool: DomainPool,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[Simulator, Simulator]]:
    spaces = SPACES[request.param]
    domains = [domain_pool.take()]
    domains.append(domain_pool.take() if spaces[0] == spaces[1] else domains[0])
    world = one_robot(tmp_path_factory.mktemp("pair"))
    first, second = (Simulator(d, s, world) for d, s in zip(domains, spaces, strict=True))
    try:
        for one in (first, second):
            eventually(lambda one=one: one.observer.all(f"{one.space}/odom"), "odometry")
        memory = first.process.segments() | second.process.segments()
        yield first, second
    finally:
        first.close()
        second.close()
        for domain in set(domains):
            domain_pool.give_back(domain)
    assert memory
    assert not {path for path in memory if path.exists()}


def test_a_command_moves_one_of_two_robots(pair: tuple[Simulator, Simulator]) -> None:
    for one, other in (pair, pair[::-1]):
        command = Twist()
        command.linear.x = 0.3
        with one.observer.repeat(f"{one.space}/cmd_vel", command):
            eventually(lambda one=one: one.speed() > 0.25, "motion")
            assert abs(other.speed()) < 0.1  # the one before may roll out
            command.linear.x = 0.0
            eventually(lambda one=one: abs(one.speed()) < 0.05, "a stop")


def test_each_topic_has_one_publisher_and_each_node_a_name(
    pair: tuple[Simulator, Simulator],
) -> None:
    for one in pair:
        node = one.observer.node
        for topic in ("odom", "tf", "scan", "map", "clock"):
            (info,) = node.get_publishers_info_by_topic(f"{one.space}/{topic}")
            assert (info.node_name, info.node_namespace) == ("mvsim", one.space or "/")
        names = [name for name in node.get_node_names_and_namespaces() if name[0] == "mvsim"]
        assert len(names) == len(set(names)) == (2 if one.space else 1)


def test_each_clock_goes_its_own_way(pair: tuple[Simulator, Simulator]) -> None:
    for one in pair:
        times = [nanoseconds(m.clock) for m in one.observer.all(f"{one.space}/clock")]
        assert len(times) > 100
        assert np.diff(times).min() > 0  # two in one topic would jump to and fro


def test_both_end_well(pair: tuple[Simulator, Simulator]) -> None:
    for one in pair:
        code, seconds = one.process.interrupt()
        assert (code, seconds < 2.0) == (0, True)
        assert "Traceback" not in one.process.output
        assert "[ERROR]" not in one.process.output
