# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Records all messages that a node publishes, and finds the frames in them."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import SimulationState
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from tests.conftest import DomainPool
from tests.ros.consumers.transforms import Transforms
from tests.ros.node_process import LATCHED, NodeProcess, Observer, eventually, nanoseconds
from tests.ros.service_client import Client

SECOND = 10**9  # ns
#: Messages whose headers are for the time alone.
WITHOUT_FRAME = (DiagnosticArray, JointState)
#: A frame, and when [ns] it is meant; None: always the newest.
Mention = tuple[str, int | None]


class TopicRecorder(Observer):
    """Records all that a node publishes.

    Attributes:
        topics: What it publishes, with types.
    """

    def __init__(self, domain: int) -> None:
        super().__init__(domain)
        self.topics: dict[str, type] = {}
        self._messages: dict[str, list[Any]] = defaultdict(list)

    def subscribe(self, topic: str, kind: Any, qos: QoSProfile | int = 100) -> None:
        """Record a topic on its own: there is much to look through."""
        self.node.create_subscription(kind, topic, self._messages[topic].append, qos)

    def all(self, topic: str) -> list[Any]:
        """Return the messages of a topic so far."""
        return list(self._messages[topic])

    def subscribe_to_all(self) -> None:
        """Record all topics of mvsim's node."""
        for topic, (name,) in self.published().items():
            if "/_action/" in topic or topic in ("/rosout", "/parameter_events"):
                continue
            package, _, kind = name.split("/")
            self.topics[topic] = getattr(import_module(f"{package}.msg"), kind)
            info, *_ = self.node.get_publishers_info_by_topic(topic)
            lasting = info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
            self.subscribe(topic, self.topics[topic], LATCHED if lasting else 1000)

    def trees(self) -> dict[str, Transforms]:
        """Return the transforms of each pair of tf and tf_static, by their namespace."""
        names = [topic.removesuffix("tf") for topic in self.topics if topic.endswith("/tf")]
        found = {before: Transforms() for before in names}
        for before, tree in found.items():
            for name, static in (("tf", False), ("tf_static", True)):
                for message in self.all(before + name):
                    tree.add(message, static=static)
        return found

    def last_transforms(self) -> int:
        """Return up to when [ns] the transforms have come that move something.

        They may come later than a clock of the same time: what a full queue has dropped is sent
        again, and those of one topic stay in order.
        """
        return min((tree.last for tree in self.trees().values() if tree.last), default=2**63)

    def mentions(self) -> dict[str, list[Mention]]:
        """Return the frames in the messages of each topic, except transforms."""
        return {
            topic: [mention for message in self.all(topic) for mention in mentions(message)]
            for topic, kind in self.topics.items()
            if kind is not TFMessage
        }


def mentions(message: Any) -> Iterator[Mention]:
    """Iterate over the frames in which something within a message is.

    A marker that is locked to its frame follows that: RViz asks for the newest transform.
    """
    header = getattr(message, "header", None)
    if isinstance(header, Header) and not isinstance(message, WITHOUT_FRAME):
        locked = isinstance(message, Marker) and message.frame_locked
        stamp = None if locked else nanoseconds(header.stamp)
        yield header.frame_id, stamp
        if hasattr(message, "child_frame_id"):
            yield message.child_frame_id, stamp
    if isinstance(message, Marker):
        return  # its texture has a header that is not used
    for field, kind in message.get_fields_and_field_types().items():
        if "/" in kind:
            value = getattr(message, field)
            for part in value if isinstance(value, list | tuple) else [value]:
                yield from mentions(part)


@contextmanager
def recorded_from_start(
    domain_pool: DomainPool, world: Path, seconds: float, **parameters: Any
) -> Iterator[tuple[TopicRecorder, int]]:
    """Record all topics for simulated time; yield the recorder and its start time [ns]."""
    domain = domain_pool.take()
    process = NodeProcess(domain, world, start_paused=True, **parameters)
    observer = TopicRecorder(domain)
    try:
        observer.subscribe("/clock", Clock, 1000)
        begin = nanoseconds(observer.newest("/clock").clock)
        observer.subscribe_to_all()
        client = Client(observer.node)
        assert client.state(SimulationState.STATE_PLAYING).result == 1
        end = begin + round(seconds * SECOND)
        eventually(lambda: nanoseconds(observer.all("/clock")[-1].clock) > end, "simulated time")
        eventually(lambda: observer.last_transforms() >= end, "transforms up to then")
        yield observer, begin
        assert "Traceback" not in process.output
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)
