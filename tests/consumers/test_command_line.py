# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""ros2cli and rosbag2 beside a node."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import DomainPool
from tests.ros.node_process import NodeProcess, environment, eventually
from tests.ros.worlds import one_robot

pytestmark = pytest.mark.ros


class Shell:
    """Runs `ros2` in the domain of a node."""

    def __init__(self, domain: int, folder: Path) -> None:
        self._environment = environment(domain)
        self._folder = folder

    def __call__(self, *words: str, timeout: float = 60.0) -> str:
        """Return what a command prints; it must end with 0."""
        done = subprocess.run(
            ["ros2", *words], env=self._environment, cwd=self._folder, capture_output=True,
            text=True, timeout=timeout, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout


@pytest.fixture(scope="module")
def ros2(domain_pool: DomainPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    if shutil.which("ros2") is None:
        pytest.skip("the package ros2cli is not installed")
    folder = tmp_path_factory.mktemp("cli")
    domain = domain_pool.take()
    node = NodeProcess(domain, one_robot(folder))
    shell = Shell(domain, folder)
    try:
        eventually(lambda: "/clock" in shell("topic", "list"), "/clock", 300.0)
        yield shell
    finally:
        node.close()
        shell("daemon", "stop")
        domain_pool.give_back(domain)


def test_topics(ros2: Shell) -> None:
    assert {"/clock", "/odom", "/tf", "/cmd_vel"} <= set(ros2("topic", "list").split())
    assert "sec:" in ros2("topic", "echo", "--once", "/clock")
    assert "frame_id: odom" in ros2("topic", "echo", "--once", "/odom")


def test_parameters_and_services(ros2: Shell) -> None:
    assert "1.0" in ros2("param", "get", "/mvsim", "realtime_factor")
    call = "simulation_interfaces/srv/GetEntities", "{}"
    assert "r1" in ros2("service", "call", "/get_entities", *call)
    assert "/simulate_steps" in ros2("action", "list")
    assert "/mvsim" in ros2("node", "list")


def test_a_bag_holds_what_is_published(ros2: Shell, tmp_path: Path) -> None:
    if (
        "record"
        not in subprocess.run(
            ["ros2", "bag", "--help"], capture_output=True, text=True, check=False
        ).stdout
    ):
        pytest.skip("the package ros2bag is not installed")
    bag = str(tmp_path / "bag")
    words = ["ros2", "bag", "record", "-o", bag, "/clock", "/odom", "/tf"]
    record = subprocess.Popen(words, env=ros2._environment)
    try:
        eventually(lambda: (tmp_path / "bag").is_dir(), "a bag", 60.0)
        with pytest.raises(subprocess.TimeoutExpired):
            record.wait(5.0)
    finally:
        record.send_signal(2)
        record.wait(30.0)
    text = ros2("bag", "info", bag)
    assert all(f"Topic: {topic}" in text for topic in ("/clock", "/odom", "/tf"))
