# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Somebody who listens to all that a node publishes, and knows what frames it speaks of."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from rclpy.qos import DurabilityPolicy
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker

from tests.ros.consumers.transforms import Transforms
from tests.ros.running import LATCHED, Observer, nanoseconds

#: Messages whose headers are for the time alone.
WITHOUT_FRAME = (DiagnosticArray, JointState)
#: A frame, and when [ns] it is meant; None: always the newest.
Mention = tuple[str, int | None]


def listen_to_all(observer: Observer) -> dict[str, type]:
    """Record all topics of mvsim's node; return them with their types."""
    found = {}
    for topic, (name,) in observer.published().items():
        if "/_action/" in topic or topic in ("/rosout", "/parameter_events"):
            continue
        package, _, kind = name.split("/")
        found[topic] = getattr(import_module(f"{package}.msg"), kind)
        infos = observer.node.get_publishers_info_by_topic(topic)
        lasting = infos[0].qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL
        observer.listen(topic, found[topic], LATCHED if lasting else 1000)
    return found


def trees(observer: Observer, topics: dict[str, type]) -> dict[str, Transforms]:
    """Return what came on each pair of tf and tf_static, by what is before these names."""
    found = {topic.removesuffix("tf"): Transforms() for topic in topics if topic.endswith("/tf")}
    for before, tree in found.items():
        for name, static in (("tf", False), ("tf_static", True)):
            for message in observer.all(before + name):
                tree.add(message, static=static)
    return found


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


def all_mentions(observer: Observer, topics: dict[str, type]) -> dict[str, list[Mention]]:
    """Return the frames that came on each topic, transforms left out."""
    return {
        topic: [mention for message in observer.all(topic) for mention in mentions(message)]
        for topic, kind in topics.items()
        if kind is not TFMessage
    }
