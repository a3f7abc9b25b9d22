# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The message bus beside ROS: the node's parameter `message_bus`."""

import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from mvsim_core.comms import Client, messages
from tests.ros.node_process import environment, eventually

WORLD = str(Path(__file__).parents[2] / "examples" / "bus.world.xml")


def test_clients_of_the_bus_read_and_end_the_node(ros_domain_id: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "mvsim_ros2.main", "--ros-args"]
    command += ["-p", f"world_file:={WORLD}", "-p", f"message_bus:={port}"]
    node = subprocess.Popen(command, env=environment(ros_domain_id))
    try:
        with Client("test", port=port, timeout=20.0).connect(wait=60.0) as bus:

            def offered() -> bool:  # the server is there before the world's last topic
                return "/r1/laser1_scan" in [topic.name for topic in bus.topics()]

            eventually(offered, "topics")
            got: list[Any] = []  # sensors compute for readers of the bus too, without one in ROS
            bus.subscribe("/r1/laser1_scan", got.append)
            eventually(lambda: len(got) > 2, "scans")
            twist = messages.twist(0.5)
            assert bus.call("set_controller_twist", objectId="r1", twistSetPoint=twist).success
            assert bus.call("get_pose", objectId="r1").success
            assert bus.call("shutdown").accepted
        assert node.wait(20) == 0
    finally:
        node.kill()
        node.wait()
