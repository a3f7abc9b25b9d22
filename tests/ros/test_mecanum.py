# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""A mecanum robot and a differential one over ROS: sideways commands, odometry, joints."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from tests.ros.node_process import NodeProcess, Observer, eventually, nanoseconds

pytestmark = pytest.mark.ros

WHEELS = ("lr_wheel", "rr_wheel", "lf_wheel", "rf_wheel")
RADIUS = 0.1  # m
#: The motors are too weak for the wheels to slip: 4 N m / 0.1 m < 0.8 * 6 kg * 9.81 m/s².
ROBOT = """
<vehicle name="{name}">
  <dynamics class="{kind}">
    <lr_wheel pos="-0.25 0.2" mass="1" width="0.08" diameter="0.2"/>
    <rr_wheel pos="-0.25 -0.2" mass="1" width="0.08" diameter="0.2"/>
    <lf_wheel pos="0.25 0.2" mass="1" width="0.08" diameter="0.2"/>
    <rf_wheel pos="0.25 -0.2" mass="1" width="0.08" diameter="0.2"/>
    <chassis mass="20" zmin="0.05" zmax="0.3">
      <shape><pt>-0.3 -0.15</pt><pt>0.3 -0.15</pt><pt>0.3 0.15</pt><pt>-0.3 0.15</pt></shape>
    </chassis>
    <controller class="twist_pid"><KP>8</KP><KI>0</KI><max_torque>4</max_torque></controller>
  </dynamics>
  <friction class="default"><mu>0.8</mu></friction>
  <init_pose>{pose}</init_pose>
</vehicle>"""


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    path: Path = tmp_path_factory.mktemp("mecanum") / "test.world.xml"
    path.write_text(
        '<mvsim_world version="1.0"><simul_timestep>0.002</simul_timestep>'
        + ROBOT.format(name="slider", kind="mecanum", pose="1 2 30")
        + ROBOT.format(name="rover", kind="differential_4_wheels", pose="1 -3 0")
        + "</mvsim_world>"
    )
    process = NodeProcess(domain, path)
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = Observer(domain)
    for name in ("slider", "rover"):
        observer.subscribe(f"/{name}/odom", Odometry)
        observer.subscribe(f"/{name}/ground_truth/odom", Odometry)
        observer.subscribe(f"/{name}/tf", TFMessage)
        observer.subscribe(f"/{name}/joint_states", JointState)
    eventually(lambda: observer.all("/slider/odom"), "odometry")
    yield observer
    observer.close()


def sideways(speed: float) -> Twist:
    """Return a command to the left [m/s]."""
    command = Twist()
    command.linear.y = speed
    return command


def speed_of(odometry: Odometry) -> tuple[float, float, float]:
    """Return the twist of an odometry message."""
    twist = odometry.twist.twist
    return twist.linear.x, twist.linear.y, twist.angular.z


def pose_of(position: Any, orientation: Any) -> tuple[float, float, float]:
    """Return x, y, yaw [m, m, rad]."""
    return position.x, position.y, 2.0 * math.atan2(orientation.z, orientation.w)


@pytest.fixture(scope="module")
def strafed(observer: Observer) -> Observer:
    """The slider has been driven to the left for two simulated seconds."""
    with observer.repeat("/slider/cmd_vel", sideways(0.4)):
        eventually(
            lambda: speed_of(observer.newest("/slider/odom"))[1] == pytest.approx(0.4, abs=0.01),
            "0.4 m/s to the left",
        )
        start = nanoseconds(observer.newest("/slider/odom").header.stamp)
        eventually(
            lambda: nanoseconds(observer.newest("/slider/odom").header.stamp) > start + 2 * 10**9,
            "two seconds more",
        )
    return observer


def by_stamp(messages: list[Odometry]) -> dict[int, Odometry]:
    """Return odometry by its time [ns]."""
    return {nanoseconds(message.header.stamp): message for message in messages}


def test_it_strafes_without_turning(strafed: Observer) -> None:
    first, *_, last = strafed.all("/slider/ground_truth/odom")
    ahead, left, turn = moved(first, last)
    assert left > 0.8
    assert abs(ahead) < 0.01 * left
    assert abs(turn) < 0.01


def test_odometry_agrees_with_the_ground_truth(strafed: Observer) -> None:
    """Twists of the same stamp are equal; poses too, from where the robot started."""
    measured = by_stamp(strafed.all("/slider/odom"))
    true = by_stamp(strafed.all("/slider/ground_truth/odom"))
    both = sorted(measured.keys() & true.keys())
    assert len(both) > 50
    fastest = 0.0
    for stamp in both:
        twist = speed_of(measured[stamp])
        assert twist == pytest.approx(speed_of(true[stamp]), abs=0.02)
        fastest = max(fastest, twist[1])
    assert fastest == pytest.approx(0.4, abs=0.02)
    assert moved(measured[both[0]], measured[both[-1]]) == pytest.approx(
        moved(true[both[0]], true[both[-1]]), abs=0.01
    )


def moved(first: Odometry, last: Odometry) -> tuple[float, float, float]:
    """Return the way and turn between two poses, in the frame of the first."""
    x0, y0, yaw0 = pose_of(first.pose.pose.position, first.pose.pose.orientation)
    x1, y1, yaw1 = pose_of(last.pose.pose.position, last.pose.pose.orientation)
    c, s = math.cos(yaw0), math.sin(yaw0)
    dx, dy = x1 - x0, y1 - y0
    return c * dx + s * dy, -s * dx + c * dy, yaw1 - yaw0


def test_transforms_carry_the_same_pose_as_odometry(strafed: Observer) -> None:
    measured = by_stamp(strafed.all("/slider/odom"))
    compared = 0
    for message in strafed.all("/slider/tf"):
        for transform in message.transforms:
            stamp = nanoseconds(transform.header.stamp)
            if transform.header.frame_id == "odom" and stamp in measured:
                pose = measured[stamp].pose.pose
                at = pose_of(transform.transform.translation, transform.transform.rotation)
                assert at == pytest.approx(pose_of(pose.position, pose.orientation), abs=1e-9)
                compared += 1
    assert compared > 50


def test_joints_are_the_wheels_and_no_rollers(strafed: Observer) -> None:
    """To the left the wheels of each diagonal turn alike, at vy / R with rollers at 45°."""
    states = strafed.all("/slider/joint_states")
    assert {tuple(state.name) for state in states} == {tuple(f"{w}_joint" for w in WHEELS)}
    fastest = max(states, key=lambda state: abs(state.velocity[0]))
    lr, rr, lf, rf = fastest.velocity
    assert abs(lr) == pytest.approx(0.4 / RADIUS, rel=0.1)
    assert (lr, rf) == pytest.approx((rf, lr), rel=0.05)
    assert (rr, lf) == pytest.approx((-lr, -lr), rel=0.05)


def test_a_differential_robot_says_once_that_it_cannot_move_sideways(
    observer: Observer, running: NodeProcess
) -> None:
    still = observer.newest("/rover/ground_truth/odom").pose.pose
    command = sideways(0.4)
    with observer.repeat("/rover/cmd_vel", command):
        eventually(lambda: "sideways" in running.output, "a warning")
        time.sleep(1.0)  # twenty commands more
    command.linear.x = 0.2
    with observer.repeat("/rover/cmd_vel", command):
        eventually(lambda: speed_of(observer.newest("/rover/odom"))[0] > 0.15, "it drives on")
    assert running.output.count("rover cannot move sideways") == 1
    assert "slider cannot" not in running.output
    assert (
        abs(observer.newest("/rover/ground_truth/odom").pose.pose.position.y - still.position.y)
        < 1e-3
    )
