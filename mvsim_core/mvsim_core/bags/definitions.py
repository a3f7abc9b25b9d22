# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Definitions of the messages in recordings; those of ROS come with rosbags."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mvsim_core.errors import LogError

if TYPE_CHECKING:
    from mvsim_core.bags.topics import Topic

#: Definitions that rosbags lacks, as in the .msg files.
OWN = {
    "mvsim_msgs/msg/Contact": """
string entity_a
string entity_b
geometry_msgs/Point position
geometry_msgs/Vector3 normal
float64 impulse
""",
    "mvsim_msgs/msg/Contacts": """
std_msgs/Header header
Contact[] contacts
""",
    "mvsim_msgs/msg/WheelState": """
string name
float64 steering_angle
float64 angular_velocity
float64 torque
float64 longitudinal_force
float64 lateral_force
float64 normal_force
""",
    "mvsim_msgs/msg/WheelStates": """
std_msgs/Header header
WheelState[] wheels
""",
    "ackermann_msgs/msg/AckermannDrive": """
float32 steering_angle
float32 steering_angle_velocity
float32 speed
float32 acceleration
float32 jerk
""",
    "ackermann_msgs/msg/AckermannDriveStamped": """
std_msgs/Header header
AckermannDrive drive
""",
}
MISSING = "recordings need the packages mcap and rosbags: pip install 'mvsim_core[record]'"
#: History depth of topics on which several publishers of the node latch a message each.
SHARED_DEPTH = 1000
#: An infinite duration in QoS.
_FOREVER = "{sec: 9223372036, nsec: 854775807}"


class Definition(NamedTuple):
    """A message type.

    Attributes:
        name: `package/msg/Name`.
        text: Its definition with those of all types inside, as ros2msg.
        type_hash: Its hash (REP-2016).
    """

    name: str
    text: str
    type_hash: str


@cache
def typestore() -> Any:
    """Return the types of ROS 2 Kilted and our own.

    Raises:
        LogError: rosbags is not installed.
    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError:
        raise LogError(MISSING) from None
    store = get_typestore(Stores.ROS2_KILTED)
    types: dict[str, Any] = {}
    for name, text in OWN.items():
        types |= get_types_from_msg(text, name)
    store.register({name: types[name] for name in types if name not in store.fielddefs})
    return store


@cache
def definition(name: str) -> Definition:
    """Return a message type."""
    store = typestore()
    text, _ = store.generate_msgdef(name, ros_version=2)
    return Definition(name, text, store.hash_rihs01(name))


def channel_metadata(topic: Topic) -> dict[str, str]:
    """Return what rosbag2 keeps with a topic: its QoS, so that players offer the same, and hash.

    Without it /tf_static and other latched topics would be played back as volatile.
    """
    durability = "transient_local" if topic.latched else "volatile"
    # With a frame prefix all vehicles share one /tf_static, which one player publishes.
    depth = SHARED_DEPTH if topic.name == "tf_static" else topic.depth
    qos = (
        f"- history: keep_last\n  depth: {depth}\n  reliability: reliable\n"
        f"  durability: {durability}\n  deadline: {_FOREVER}\n  lifespan: {_FOREVER}\n"
        f"  liveliness: automatic\n  liveliness_lease_duration: {_FOREVER}\n"
        "  avoid_ros_namespace_conventions: false"
    )
    type_hash = definition(topic.type_name).type_hash
    return {"offered_qos_profiles": qos, "topic_type_hash": type_hash}
