# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Message classes and QoS of topics, which `mvsim_core.bags.topics` describes without ROS."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

from mvsim_core.bags.topics import Topic


@cache
def message_class(topic: Topic) -> Any:
    """Return the class of the messages of a topic."""
    package, _, name = topic.type_name.split("/")
    return getattr(import_module(f"{package}.msg"), name)


def qos_of(topic: Topic) -> QoSProfile:
    """Return the QoS of a topic, before overrides."""
    durability = DurabilityPolicy.TRANSIENT_LOCAL if topic.latched else DurabilityPolicy.VOLATILE
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=topic.depth,
        reliability=ReliabilityPolicy.RELIABLE,
        durability=durability,
    )
