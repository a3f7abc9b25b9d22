# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a world publishes can be placed on its map, at its stamp, within a second."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from simulation_interfaces.msg import SimulationState

from tests.conftest import ROOT, DomainPool
from tests.ros.consumers.listening import all_mentions, listen_to_all, trees
from tests.ros.controlling import Client
from tests.ros.running import NodeProcess, Observer, eventually, nanoseconds
from tests.ros.worlds import all_sensors

pytestmark = pytest.mark.ros

WORLDS = sorted((ROOT / "worlds").glob("*.world.xml"))
SECOND = 10**9  # ns
EVERYTHING = "a sensor of each class"
FIXED = "map"


@contextmanager
def heard_from_the_start(
    domain_pool: DomainPool, world: Path, seconds: float
) -> Iterator[tuple[Observer, dict[str, type], int]]:
    """Listen to all topics for simulated time; give the listener, them, and when [ns] it began."""
    domain = domain_pool.take()
    process = NodeProcess(domain, world, start_paused=True)
    observer = Observer(domain)
    try:
        observer.listen("/clock", Clock, 1000)
        begin = nanoseconds(observer.newest("/clock").clock)
        topics = listen_to_all(observer)
        client = Client(observer.node)
        assert client.state(SimulationState.STATE_PLAYING).result == 1
        end = begin + round(seconds * SECOND)
        eventually(lambda: nanoseconds(observer.all("/clock")[-1].clock) > end, "simulated time")
        yield observer, topics, begin
        assert "Traceback" not in process.output
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)


@pytest.mark.parametrize("name", [EVERYTHING, *(path.name for path in WORLDS)])
def test_every_frame_leads_to_the_map_at_every_stamp(
    domain_pool: DomainPool, tmp_path: Path, name: str
) -> None:
    world = all_sensors(tmp_path) if name == EVERYTHING else ROOT / "worlds" / name
    with heard_from_the_start(domain_pool, world, 1.2) as (observer, topics, begin):
        mentioned = all_mentions(observer, topics)
        scans = {t: observer.all(t) for t, kind in topics.items() if kind is LaserScan}
        buffers = trees(observer, topics)
    assert buffers
    for tree in buffers.values():
        for frame in tree.frames:
            tree.pose(frame, FIXED, None)
    checked = 0
    for topic, frames in mentioned.items():
        own = [tree for before, tree in buffers.items() if topic.startswith(before)]
        for tree in own or buffers.values():
            for frame, stamp in frames:
                assert frame, topic
                first, last = tree.span(frame, FIXED)
                assert first <= begin + 0.05 * SECOND, frame
                assert last >= begin + SECOND, frame
                if stamp is None or first <= stamp <= begin + SECOND:
                    tree.pose(frame, FIXED, stamp)  # a LookupError is an extrapolation
                    checked += 1
                else:  # before the first transform that could be heard, or too near the end
                    assert stamp > begin or frame == FIXED, topic
    assert checked > 100
    for messages in scans.values():
        for scan in messages[:-1]:  # a costmap needs the last ray's place too
            late = (len(scan.ranges) - 1) * scan.time_increment
            assert late < 0.1
            assert np.isfinite(late)
