# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Stamps by the wall clock, for nodes that know no simulated time."""

import time

import pytest
from nav_msgs.msg import Odometry
from sensor_msgs.msg import LaserScan
from simulation_interfaces.msg import SimulationState
from tf2_msgs.msg import TFMessage

from tests.conftest import ROOT
from tests.ros.node_process import NodeProcess, Observer, eventually, nanoseconds
from tests.ros.service_client import Client

pytestmark = [pytest.mark.ros, pytest.mark.alone]


def test_stamps_follow_the_wall_clock_and_there_is_no_other(domain: int) -> None:
    world = ROOT / "worlds" / "warehouse.world.xml"
    process, observer = NodeProcess(domain, world, use_wall_time=True), Observer(domain)
    try:
        for topic, kind in (("/odom", Odometry), ("/scan", LaserScan), ("/tf", TFMessage)):
            observer.subscribe(topic, kind)
        begin = time.time_ns()
        eventually(lambda: len(observer.all("/scan")) > 5, "scans")
        stamps = [nanoseconds(scan.header.stamp) for scan in observer.all("/scan")]
        assert begin - 10**9 < stamps[0]
        assert time.time_ns() - 10**9 < stamps[-1] <= time.time_ns()
        assert "/clock" not in observer.published()
        client = Client(observer.node)
        client.state(SimulationState.STATE_PAUSED)
        time.sleep(1.0)
        resumed = time.time_ns()
        client.state(SimulationState.STATE_PLAYING)
        newest = observer.newest("/odom")
        assert resumed - 10**9 // 4 < nanoseconds(newest.header.stamp) <= time.time_ns()
        times = [nanoseconds(m.header.stamp) for m in observer.all("/odom")]
        assert times == sorted(times)
        transforms = [
            nanoseconds(t.header.stamp) for m in observer.all("/tf") for t in m.transforms
        ]
        assert min(transforms) >= begin - 10**9
        assert process.interrupt()[0] == 0, process.output
    finally:
        observer.close()
        process.close()
