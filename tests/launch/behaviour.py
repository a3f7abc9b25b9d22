# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a running simulator of worlds/warehouse.world.xml does, however it was started."""

import math
from typing import Any

from geometry_msgs.msg import Pose, TwistStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import LaserScan
from simulation_interfaces.msg import EntityState
from simulation_interfaces.srv import ResetSimulation
from std_msgs.msg import Bool

from tests.conftest import ROOT
from tests.ros.node_process import Observer, eventually, nanoseconds
from tests.ros.service_client import Client

WORLD = ROOT / "worlds" / "warehouse.world.xml"
TYPES = {"/clock": Clock, "/odom": Odometry, "/scan": LaserScan, "/collision": Bool}
TOPICS = {*TYPES, "/cmd_vel", "/tf", "/tf_static", "/ground_truth/odom", "/robot_description"}
#: In front of the east wall (x = 9 m), beside the door [m].
BEFORE_WALL = (8.0, 3.5)


def observer_of(domain: int) -> Observer:
    """Return an observer that records the topics of the tests below."""
    observer = Observer(domain)
    for topic, kind in {**TYPES, "/ground_truth/odom": Odometry}.items():
        observer.subscribe(topic, kind)
    return observer


def topics_with_messages(observer: Observer) -> set[str]:
    """Wait until the clock runs and all topics exist; return those that have messages."""
    eventually(lambda: len(observer.all("/clock")) > 100, "/clock")
    eventually(lambda: set(dict(observer.node.get_topic_names_and_types())) >= TOPICS, "topics")
    for topic in TYPES:
        eventually(lambda topic=topic: observer.all(topic), topic)
    return {topic for topic in TYPES if observer.all(topic)}


def drive_and_stop(observer: Observer) -> tuple[float, float]:
    """Command 0.3 m/s for a while; return the speed reached and that at rest [m/s]."""
    with observer.repeat("/cmd_vel", _ahead(0.3)):
        eventually(lambda: _speed(observer) > 0.25, "motion")
        driving = _speed(observer)
    eventually(lambda: abs(_speed(observer)) < 0.01, "rest")
    return driving, _speed(observer)


def drive_against_wall(observer: Observer) -> tuple[bool, float]:
    """Put it before a wall and drive; return /collision before, and how far its chassis got.

    The second value is the distance beyond the face of the wall [m] at the first collision.
    """
    client = Client(observer.node)
    pose = Pose()
    pose.position.x, pose.position.y = BEFORE_WALL
    state = EntityState(pose=pose)
    state.header.frame_id = "map"
    answer = client.call("SetEntityState", entity="r1", state=state, set_pose=True)
    assert answer.result.result == 1, answer.result.error_message
    before = bool(observer.newest("/collision").data)
    with observer.repeat("/cmd_vel", _ahead(0.5)):
        eventually(lambda: observer.newest("/collision").data, "a collision")
    # the chassis ends 0.24 m ahead of the reference point, the wall begins at 8.9 m
    return before, _place(observer).x + 0.24 - 8.9


def reset(observer: Observer) -> tuple[float, list[int]]:
    """Reset the state; return the distance from the start [m] and the times of the clock [ns]."""
    before = nanoseconds(observer.newest("/clock").clock)
    Client(observer.node).reset(ResetSimulation.Request.SCOPE_STATE)
    eventually(lambda: abs(_place(observer).x) < 0.01, "the start")
    eventually(lambda: nanoseconds(observer.newest("/clock").clock) > before, "the clock goes on")
    place = _place(observer)
    return math.hypot(place.x, place.y), [nanoseconds(m.clock) for m in observer.all("/clock")]


def _ahead(speed: float) -> TwistStamped:
    command = TwistStamped()
    command.twist.linear.x = speed
    return command


def _speed(observer: Observer) -> float:
    return float(observer.newest("/odom").twist.twist.linear.x)


def _place(observer: Observer) -> Any:
    return observer.newest("/ground_truth/odom").pose.pose.position
