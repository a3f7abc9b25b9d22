# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""QoS overrides by parameters: `qos_overrides.<topic>.publisher.<policy>`.

The names are those of rclpy's own QoS overrides, which are not used because their parameters stay
declared when the publisher is destroyed, and an unknown value ends in a traceback.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import HistoryPolicy, QoSProfile, ReliabilityPolicy

from mvsim_ros2.parameters.settings import QOS_PREFIX, SettingsError

#: Policies that may be overridden, with their values by name; None: a positive integer.
POLICIES: Mapping[str, Mapping[str, Any] | None] = {
    "history": {"keep_last": HistoryPolicy.KEEP_LAST, "keep_all": HistoryPolicy.KEEP_ALL},
    "depth": None,
    "reliability": {
        "reliable": ReliabilityPolicy.RELIABLE,
        "best_effort": ReliabilityPolicy.BEST_EFFORT,
    },
}


class QosOverrides:
    """The override parameters of one publisher.

    Args:
        node: Node on which they are declared.
        topic: Resolved name of the topic.
    """

    def __init__(self, node: Node, topic: str) -> None:
        """Declare nothing yet."""
        self._node = node
        self._topic = topic
        self._declared: list[str] = []

    def apply(self, qos: QoSProfile) -> QoSProfile:
        """Declare the parameters with the values of `qos` as defaults; return QoS with theirs."""
        return QoSProfile(
            history=self._value("history", qos.history),
            depth=self._value("depth", qos.depth),
            reliability=self._value("reliability", qos.reliability),
            durability=qos.durability,
        )

    def _value(self, policy: str, default: Any) -> Any:
        node, words = self._node, POLICIES[policy]
        name = f"{QOS_PREFIX}{self._topic}.publisher.{policy}"
        if not node.has_parameter(name):  # /tf of several vehicles may be one topic
            text = f"{policy} of the publisher on {self._topic}; can only be set at the start"
            value = default if words is None else default.name.lower()
            node.declare_parameter(name, value, ParameterDescriptor(description=text))
            self._declared.append(name)
        given = node.get_parameter(name).value
        return given if words is None else words[str(given)]

    def close(self) -> None:
        """Undeclare the parameters."""
        for name in self._declared:
            self._node.undeclare_parameter(name)
        self._declared.clear()


def check_overrides(given: Mapping[str, Parameter[Any]]) -> None:
    """Check the values of QoS overrides.

    Args:
        given: Parameter overrides that the node was started with, by name.

    Raises:
        SettingsError: A value is not one of the policy.
    """
    for name, parameter in given.items():
        policy = name.rpartition(".")[2]
        if not name.startswith(QOS_PREFIX) or policy not in POLICIES:
            continue
        words, value = POLICIES[policy], parameter.value
        if words is not None and value not in words:
            raise SettingsError(f"parameter {name!r} must be {' or '.join(words)}, got {value!r}")
        if words is None and (type(value) is not int or value < 1):
            raise SettingsError(f"parameter {name!r} must be a whole number >= 1, got {value!r}")
