# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The viewer beside ROS: the node's parameter `viewer`; what a browser does is seen in ROS."""

import re
import urllib.request
from collections.abc import Iterator

import pytest

pytest.importorskip("simulation_interfaces")
pytest.importorskip("viser", reason="viser is not installed")

from nav_msgs.msg import Odometry
from simulation_interfaces.msg import SimulationState

from tests.ros.node_process import NodeProcess, Observer, eventually
from tests.ros.service_client import Client
from tests.ros.worlds import one_robot
from tests.unit.viewer.browser import Page, chromium

pytestmark = [pytest.mark.ros, pytest.mark.slow]


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    world = one_robot(tmp_path_factory.mktemp("viewer"))
    process = NodeProcess(domain, world, viewer=True, viewer_port=0)
    yield process
    process.close()


def test_a_browser_pauses_steps_drives_and_spawns(running: NodeProcess, domain: int) -> None:
    def address() -> str:
        found = re.search(r"viewer: (http://\S+)", running.output)
        return found[1] if found else ""

    url = eventually(address, "the address of the viewer", 60.0)
    assert urllib.request.urlopen(url, timeout=10.0).status == 200
    observer = Observer(domain)
    observer.subscribe("/odom", Odometry)
    client = Client(observer.node)

    def state() -> int:
        return int(client.call("GetSimulationState").state.state)

    with chromium() as browser:
        page = Page(browser, url)
        page.click("Pause")
        eventually(lambda: state() == SimulationState.STATE_PAUSED, "paused", 40.0)
        page.click("Step")
        page.click("Run")
        eventually(lambda: state() == SimulationState.STATE_PLAYING, "playing", 40.0)
        page.page.keyboard.down("w")
        eventually(lambda: observer.newest("/odom").twist.twist.linear.x > 0.2, "driving", 40.0)
        page.page.keyboard.up("w")
        page.tab("Edit")
        page.fill("Name", "guest")
        page.click("Add where I look")

        def names() -> list[str]:
            return list(client.call("GetEntities").entities)

        eventually(lambda: "guest" in names(), "the new vehicle", 40.0)
        eventually(lambda: "/guest/odom" in observer.published(), "its topics", 40.0)
        assert page.faults == []
        page.close()
    observer.close()
    assert running.interrupt()[0] == 0
