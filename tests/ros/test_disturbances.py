# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Clients that flood, crash, hang or join late do not slow or stop the simulation.

The pace is compared with half of real time, for others may use the machine; alone it is 1.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock

from tests.ros.node_process import NodeProcess, Observer, environment, eventually, nanoseconds
from tests.ros.worlds import all_sensors

pytestmark = [pytest.mark.ros, pytest.mark.alone]

#: Least part of the factor that a disturbance leaves, and that is left while processes start that
#: take all processors themselves.
PACE, PACE_OF_STARTS = 0.5, 0.2
FLOOD = """
import sys, time
import rclpy
from geometry_msgs.msg import Twist
rclpy.init()
node = rclpy.create_node("flooder")
publisher = node.create_publisher(Twist, "/r1/cmd_vel", 1000)
command = Twist()
command.linear.x = 0.2
while publisher.get_subscription_count() == 0:
    time.sleep(0.01)
begin, sent = time.monotonic(), 0
while (now := time.monotonic() - begin) < float(sys.argv[1]):
    while sent < 5000.0 * now:
        publisher.publish(command)
        sent += 1
    time.sleep(0.0005)
print(sent)
"""
READ = """
import rclpy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan, PointCloud2
rclpy.init()
node = rclpy.create_node("reader")
seen, ticks = [], []
for kind, topic in ((PointCloud2, "/r1/top/points"), (LaserScan, "/r1/scan")):
    node.create_subscription(kind, topic, lambda message, topic=topic: seen.append(topic), 10)
node.create_subscription(
    Clock, "/clock", lambda m: ticks.append(m.clock.sec * 10**9 + m.clock.nanosec), 1000
)
while len(set(seen)) < 2 or len(ticks) < 100:  # messages during its discovery may be missed
    rclpy.spin_once(node)
del ticks[:-1]
print("reading", flush=True)
while len(ticks) < 900:
    rclpy.spin_once(node)
print(max(b - a for a, b in zip(ticks, ticks[1:])), flush=True)
"""
CROWDS, CROWD_SIZE = 4, 25
CROWD = """
import sys, time
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray
rclpy.init()
executor = SingleThreadedExecutor()
late = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
lasting = {"tf_static": TFMessage, "robot_description": String, "chassis_markers": MarkerArray}
awaited = set()
for i in range(int(sys.argv[1])):
    node = rclpy.create_node(f"late_{i}", start_parameter_services=False, enable_rosout=False)
    topics = {**{t: (kind, late) for t, kind in lasting.items()}, "scan": (LaserScan, 5)}
    for topic, (kind, qos) in topics.items():
        awaited.add((i, topic))
        got = lambda message, key=(i, topic): awaited.discard(key)
        node.create_subscription(kind, f"/r1/{topic}", got, qos)
    executor.add_node(node)
end = time.monotonic() + 60.0
while awaited:
    executor.spin_once(timeout_sec=0.1)
    if time.monotonic() > end:
        sys.exit(f"not received: {sorted(awaited)[:4]} ...")
print(sys.argv[1], "have all", flush=True)
while True:
    executor.spin_once()
"""


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    process = NodeProcess(domain, all_sensors(tmp_path_factory.mktemp("disturbed")))
    yield process
    code, _ = process.interrupt()
    process.close()
    assert code == 0


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = Observer(domain)
    observer.subscribe("/clock", Clock)
    observer.subscribe("/r1/odom", Odometry)
    eventually(lambda: len(observer.all("/clock")) > 100, "/clock")
    yield observer
    observer.close()
    assert running.process.poll() is None
    assert "Traceback" not in running.output
    assert "[ERROR]" not in running.output


@pytest.fixture
def started(domain: int) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start Python programs in the domain of the node; what is left of them ends with the test."""
    processes: list[subprocess.Popen[str]] = []

    def start(program: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", program, *arguments]
        processes.append(
            subprocess.Popen(command, env=environment(domain), stdout=subprocess.PIPE, text=True)
        )
        return processes[-1]

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def pace(observer: Observer, seconds: float) -> float:
    """Return simulated time over wall time for a while."""
    begin, before = time.monotonic(), nanoseconds(observer.newest("/clock").clock)
    time.sleep(seconds)
    after = nanoseconds(observer.newest("/clock").clock)
    return (after - before) * 1e-9 / (time.monotonic() - begin)


def line(process: subprocess.Popen[str]) -> str:
    """Return the next line that a process writes."""
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_five_thousand_commands_a_second(
    observer: Observer, started: Callable[..., subprocess.Popen[str]]
) -> None:
    flooder = started(FLOOD, "4")
    eventually(lambda: observer.newest("/r1/odom").twist.twist.linear.x > 0.15, "motion")
    assert pace(observer, 2.0) > PACE
    assert int(line(flooder)) > 5000
    eventually(lambda: abs(observer.newest("/r1/odom").twist.twist.linear.x) < 0.02, "standstill")


def test_a_reader_that_is_killed_holds_nobody_up(
    observer: Observer, started: Callable[..., subprocess.Popen[str]]
) -> None:
    reader = started(READ)
    assert line(reader) == "reading"
    reader.send_signal(signal.SIGKILL)
    assert pace(observer, 2.0) > PACE


def test_a_reader_that_hangs_for_two_seconds_misses_no_tick(
    observer: Observer, started: Callable[..., subprocess.Popen[str]]
) -> None:
    """/clock is reliable: a stopped process gets the missed messages when it continues.

    Three readers hang, one after the other: the machine of a test may stand still for a second.
    """
    paces = []
    while len(paces) < 3 and not any(found > PACE for found in paces):
        reader = started(READ)
        assert line(reader) == "reading"
        reader.send_signal(signal.SIGSTOP)
        paces.append(pace(observer, 2.5))
        reader.send_signal(signal.SIGCONT)
        assert int(line(reader)) == 4_000_000  # ns, one step, between any two of 900 ticks
    assert max(paces) > PACE, paces


def test_a_hundred_who_come_late(
    observer: Observer, started: Callable[..., subprocess.Popen[str]]
) -> None:
    """Each gets latched messages; the factor is compared with that before they joined."""
    before = pace(observer, 2.0)
    begin, first = time.monotonic(), nanoseconds(observer.newest("/clock").clock)
    crowd = [started(CROWD, str(CROWD_SIZE)) for _ in range(CROWDS)]
    assert [line(each) for each in crowd] == [f"{CROWD_SIZE} have all"] * CROWDS
    joined = nanoseconds(observer.newest("/clock").clock)
    during = (joined - first) * 1e-9 / (time.monotonic() - begin)
    assert during > PACE_OF_STARTS * before
    seen = observer.node.count_subscribers  # which learns of them in its own time
    eventually(lambda: seen("/r1/tf_static") >= CROWDS * CROWD_SIZE, "a hundred subscribers")
    assert pace(observer, 2.0) > PACE * before
