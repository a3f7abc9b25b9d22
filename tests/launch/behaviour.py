# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a running simulator of worlds/warehouse.world.xml does, however it was started."""

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


def is_ready(observer: Observer) -> None:
    """The clock runs, all topics exist, and each has a message."""
    eventually(lambda: len(observer.all("/clock")) > 100, "/clock")
    eventually(lambda: set(dict(observer.node.get_topic_names_and_types())) >= TOPICS, "topics")
    for topic in TYPES:
        eventually(lambda topic=topic: observer.all(topic), topic)


def drives(observer: Observer) -> None:
    """A stamped command moves the robot, and it stops without one."""
    with observer.repeat("/cmd_vel", _ahead(0.3)):
        eventually(lambda: _speed(observer) > 0.25, "motion")
    eventually(lambda: abs(_speed(observer)) < 0.01, "rest")


def collides(observer: Observer) -> None:
    """A wall stops it, and collision is true."""
    client = Client(observer.node)
    pose = Pose()
    pose.position.x, pose.position.y = BEFORE_WALL
    state = EntityState(pose=pose)
    state.header.frame_id = "map"
    answer = client.call("SetEntityState", entity="r1", state=state, set_pose=True)
    assert answer.result.result == 1, answer.result.error_message
    assert not observer.newest("/collision").data
    with observer.repeat("/cmd_vel", _ahead(0.5)):
        eventually(lambda: observer.newest("/collision").data, "a collision")
    # the chassis ends 0.24 m ahead of the reference point, the wall begins at 8.9 m
    assert _place(observer).x < 8.9 - 0.24 + 0.03


def resets(observer: Observer) -> None:
    """It is where it started, and the clock has gone on."""
    before = nanoseconds(observer.newest("/clock").clock)
    Client(observer.node).reset(ResetSimulation.Request.SCOPE_STATE)
    eventually(lambda: abs(_place(observer).x) < 0.01, "the start")
    assert abs(_place(observer).y) < 0.01
    times = [nanoseconds(message.clock) for message in observer.all("/clock")]
    assert times == sorted(times)
    assert times[-1] > before


def _ahead(speed: float) -> TwistStamped:
    command = TwistStamped()
    command.twist.linear.x = speed
    return command


def _speed(observer: Observer) -> float:
    return float(observer.newest("/odom").twist.twist.linear.x)


def _place(observer: Observer) -> Any:
    return observer.newest("/ground_truth/odom").pose.pose.position
