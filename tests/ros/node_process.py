# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Real processes over real DDS: a running node, and an observer that subscribes and drives."""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rclpy.context import Context
from rclpy.node import Node, NodeNameNonExistentError
from rclpy.qos import (
    DurabilityPolicy,
    QoSProfile,
    ReliabilityPolicy,
    qos_profile_services_default,
)

from mvsim_ros2.runtime import fast_dds
from mvsim_ros2.runtime.executor import ExecutorThread

TIMEOUT = 20.0
#: Longest time of a start, which may compile kernels [s].
START = 300.0
LATCHED = QoSProfile(
    depth=10,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


def eventually(condition: Callable[[], Any], what: str, timeout: float = TIMEOUT) -> Any:
    """Return the first true value of a condition; fail if there is none for too long."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not within {timeout} s: {what}")


def known(names_and_types: Callable[[str, str], Any]) -> Any:
    """Return the result of a graph query for the node mvsim, as soon as it is in the graph.

    Its topics and services may be found earlier than the node itself.
    """

    def ask() -> Any:
        try:
            return names_and_types("mvsim", "/")
        except NodeNameNonExistentError:
            return None

    return eventually(ask, "the node mvsim in the graph")


def take_up(node: Node) -> None:
    """Wait until the executor of a node, which another thread runs, waits for its new clients.

    An answer that comes in the moment in which it takes up a client stays in the reader until the
    next one comes: its event is lost.
    """
    ready = threading.Event()
    node.executor.create_task(ready.set)  # tasks come after entities that are new before them
    assert ready.wait(TIMEOUT), "the executor does not run"


def connect(
    node: Node,
    kind: Any,
    name: str,
    qos: QoSProfile = qos_profile_services_default,
    timeout: float = TIMEOUT,
) -> Any:
    """Return a client of a running service, whose answers the node's executor waits for."""
    client = node.create_client(kind, name, qos_profile=qos)
    take_up(node)
    assert client.wait_for_service(timeout), f"no service {name}"
    return client


def environment(domain: int) -> dict[str, str]:
    """Return the environment of a process that meets only its own test."""
    return {
        **os.environ,
        "ROS_DOMAIN_ID": str(domain),
        "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
    }


class NodeProcess:
    """A running mvsim_node.

    Args:
        domain: ROS domain.
        world: World file.
        rules: Remappings such as `__ns:=/left`.
        command: Words before its own, such as those of a tracer.
        folder: Where it starts; None: the present one.
        parameters: Of the node.
    """

    def __init__(
        self,
        domain: int,
        world: str | Path | None,
        *,
        rules: tuple[str, ...] = (),
        command: tuple[str, ...] = (),
        folder: Path | None = None,
        **parameters: Any,
    ) -> None:
        arguments = {"world_file": world, **parameters} if world else parameters
        handle, name = tempfile.mkstemp(prefix="mvsim_node_", suffix=".log")
        self._log = Path(name)
        words = [word for k, v in arguments.items() for word in ("-p", f"{k}:={v}")]
        words += [word for rule in rules for word in ("-r", rule)]
        with os.fdopen(handle, "w") as file:
            self.process = subprocess.Popen(
                [*command, sys.executable, "-m", "mvsim_ros2.main", "--ros-args", *words],
                cwd=folder,
                env=environment(domain),
                stdout=file,
                stderr=subprocess.STDOUT,
            )

    @property
    def output(self) -> str:
        """All that it has written so far."""
        return self._log.read_text()

    def wait(self) -> int:
        """Return its exit code."""
        return self.process.wait(TIMEOUT)

    def interrupt(self, number: int = signal.SIGINT, times: int = 1) -> tuple[int, float]:
        """Send signals; return exit code and seconds until the end."""
        begin = time.monotonic()
        for _ in range(times):
            self.process.send_signal(number)
            time.sleep(0.02)
        return self.wait(), time.monotonic() - begin

    def segments(self) -> set[Path]:
        """Return the shared-memory segments of Fast DDS that it has open."""
        return open_segments(self.process.pid)

    def close(self) -> None:
        """End it if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._log.unlink(missing_ok=True)


def open_segments(pid: int) -> set[Path]:
    """Return the shared-memory segments of Fast DDS that a process has open, ports not counted."""
    lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    paths = {Path(line.split(maxsplit=5)[5]) for line in lines if "/dev/shm/fastdds_" in line}
    return {p for p in paths if "port" not in p.name and p.suffix == ""}


class Observer:
    """A node in this process that records messages and drives."""

    def __init__(self, domain: int) -> None:
        os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
        self._context = Context()
        self._context.init(args=[], domain_id=domain, initialize_logging=False)
        with fast_dds.configured(large_messages=False):
            self.node = Node("observer", context=self._context, use_global_arguments=False)
        self.events: list[tuple[str, Any]] = []
        self._executor = ExecutorThread(self.node)

    def subscribe(self, topic: str, kind: Any, qos: QoSProfile | int = 100) -> None:
        """Record a topic."""
        self.node.create_subscription(
            kind, topic, lambda message: self.events.append((topic, message)), qos
        )

    def all(self, topic: str) -> list[Any]:
        """Return the messages of a topic so far."""
        return [message for name, message in list(self.events) if name == topic]

    def newest(self, topic: str) -> Any:
        """Return the newest message of a topic; wait for one that arrives from now on."""
        count = len(self.all(topic))
        return eventually(lambda: self.all(topic)[count:], f"a message on {topic}")[-1]

    def published(self) -> dict[str, list[str]]:
        """Return the topics that mvsim's node publishes, with their types."""
        return dict(known(self.node.get_publisher_names_and_types_by_node))

    def repeat(self, topic: str, message: Any, period: float = 0.05) -> "Repeater":
        """Publish a message again and again within a `with` block."""
        return Repeater(self.node, topic, message, period)

    def close(self) -> None:
        """Destroy the observer."""
        self._executor.close()
        self.node.destroy_node()
        self._context.try_shutdown()


class Repeater:
    """Publishes a message again and again, as a driver does."""

    def __init__(self, node: Node, topic: str, message: Any, period: float) -> None:
        self._node = node
        self._publisher = node.create_publisher(type(message), topic, 10)
        self._message = message
        self._period = period
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        while not self._ending.wait(self._period):
            self._publisher.publish(self._message)

    def __enter__(self) -> "Repeater":
        eventually(lambda: self._publisher.get_subscription_count() > 0, "a subscriber")
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()
        self._node.destroy_publisher(self._publisher)


def nanoseconds(stamp: Any) -> int:
    """Return a stamp in ns."""
    return int(stamp.sec) * 10**9 + int(stamp.nanosec)
