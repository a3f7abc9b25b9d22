# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""`ros2 launch` starts every launch file, the simulator runs, and Ctrl-C ends all in order.

Needs ros2launch and an installed mvsim_ros2: the launch files are those of the installation.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("ros2launch")
pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from tests.conftest import ROOT, DomainPool
from tests.ros.node_process import START, Observer, environment, eventually

pytestmark = [
    pytest.mark.ros,
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("ros2"), reason="no command ros2"),
]

NAMES = sorted(path.name for path in (ROOT / "launch").glob("*.launch.*"))
#: What starts nothing of other people, and no window.
ALONE = {"headless": "true", "use_nav2": "false", "use_slam": "false", "use_ekf": "false"}
WORLD = {"world_file": str(ROOT / "worlds" / "warehouse.world.xml")}
#: Wall time [s] in which launch has ended what it started.
END = 10.0


class Launch:
    """A running `ros2 launch mvsim_ros2 …`, and an observer."""

    def __init__(self, domain: int, folder: Path, name: str, arguments: dict[str, str]) -> None:
        self._log = folder / "launch.log"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        words = [f"{key}:={value}" for key, value in arguments.items()]
        with self._log.open("w") as file:
            self.process = subprocess.Popen(
                ["ros2", "launch", "mvsim_ros2", name, *words],
                env={
                    **environment(domain),
                    "TMPDIR": str(self.temporary),
                    "ROS_LOG_DIR": str(folder),
                },
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.observer = Observer(domain)

    @property
    def output(self) -> str:
        """All that was written so far."""
        return self._log.read_text()

    def interrupt(self) -> int:
        """Do what Ctrl-C in its terminal does, and return the exit code."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(END)

    def close(self) -> None:
        """End what still runs."""
        self.observer.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


@contextmanager
def launched(
    pool: DomainPool, folder: Path, name: str, **arguments: str
) -> Iterator[tuple[Launch, Observer]]:
    domain = pool.take()
    launch = Launch(domain, folder, name, arguments)
    try:
        yield launch, launch.observer
    finally:
        launch.close()
        pool.give_back(domain)


def topics(observer: Observer) -> set[str]:
    return {name for name, _ in observer.node.get_topic_names_and_types()}


@pytest.mark.parametrize("name", [n for n in NAMES if not n.startswith(("rviz", "teleop"))])
def test_it_starts_simulates_and_ends(name: str, domain_pool: DomainPool, tmp_path: Path) -> None:
    with launched(domain_pool, tmp_path, name, **WORLD, **ALONE) as (launch, observer):
        observer.subscribe("/clock", Clock)
        eventually(lambda: len(observer.all("/clock")) > 50, "/clock", START)
        assert launch.interrupt() == 0
        assert "process has finished cleanly" in launch.output
        assert "Traceback" not in launch.output
        assert "[ERROR]" not in launch.output
        assert "is not installed" not in launch.output  # no third-party package was requested


@pytest.mark.parametrize("name", ["rviz.launch.py", "teleop.launch.py"])
def test_without_what_it_starts_it_ends_with_a_word(
    name: str, domain_pool: DomainPool, tmp_path: Path
) -> None:
    with launched(domain_pool, tmp_path, name, prefix="no_such_terminal -e") as (launch, _):
        if shutil.which("rviz2") and name == "rviz.launch.py":
            pytest.skip("RViz is installed")
        assert launch.process.wait(END) == 0
        assert "is not installed" in launch.output


@pytest.mark.parametrize(("shared", "number"), [("true", 1), ("false", 3)])
def test_as_many_robots_as_are_asked_for(
    shared: str, number: int, domain_pool: DomainPool, tmp_path: Path
) -> None:
    arguments = {**ALONE, "robots": str(number), "shared_tf": shared}
    name = "multi_robot.launch.py"
    with launched(domain_pool, tmp_path, name, **arguments) as (launch, observer):
        robots = {f"/robot{i + 1}" for i in range(number)}
        spaces = robots if shared == "false" else {""}
        expected = {
            f"{robot}{odom}" for robot in robots for odom in ("/odom", "/ground_truth/odom")
        }
        expected |= {f"{space}/tf" for space in spaces}
        eventually(lambda: expected <= topics(observer), "topics", START)
        assert {t for t in topics(observer) if t.endswith(("/odom", "/tf"))} == expected
        assert launch.interrupt() == 0


def test_nav2_s_arguments_place_the_robot_and_leave_no_file(
    domain_pool: DomainPool, tmp_path: Path
) -> None:
    place = {"namespace": "r7", "x_pose": "-4.5", "y_pose": "0.5", "yaw": "1.57"}
    with launched(domain_pool, tmp_path, "nav2.launch.py", **ALONE, **place) as (launch, observer):
        observer.subscribe("/r7/ground_truth/odom", Odometry)
        eventually(lambda: observer.all("/r7/ground_truth/odom"), "the ground truth", START)
        pose = observer.newest("/r7/ground_truth/odom").pose.pose
        assert (pose.position.x, pose.position.y) == pytest.approx((-4.5, 0.5), abs=1e-3)
        assert pose.orientation.z == pytest.approx(0.7068, abs=1e-3)
        assert list(launch.temporary.glob("nav2_*"))  # its costmaps look into the namespace
        assert launch.interrupt() == 0
        assert not list(launch.temporary.iterdir())


def test_a_number_of_robots_that_is_none_is_named_with_its_line(
    domain_pool: DomainPool, tmp_path: Path
) -> None:
    arguments = {**ALONE, "robots": "many"}
    with launched(domain_pool, tmp_path, "multi_robot.launch.py", **arguments) as (launch, _):
        assert launch.process.wait(60.0) == 0  # launch ends in order
        assert "multi_robot.world.xml:10: <variable>: value" in launch.output
        assert "'many', not a number" in launch.output
        assert "Traceback" not in launch.output
