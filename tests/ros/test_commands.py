# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Commands that a vehicle cannot follow are logged once; angles in place of yaw rates."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from ackermann_msgs.msg import AckermannDriveStamped
from geometry_msgs.msg import Twist
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from mvsim_core import load_world
from mvsim_ros2.conversions.commands import TwistCommand
from mvsim_ros2.inputs.commands import follow_twist
from tests.conftest import DomainPool
from tests.ros.node_process import NodeProcess, Observer, eventually
from tests.ros.worlds import two_robots

pytestmark = pytest.mark.ros

WHEELBASE, TRACK = 0.8, 0.6  # m, of the car
RAW = """
<vehicle name="raw"><dynamics class="differential"><controller class="raw"/></dynamics>
  <init_pose>-4 0 0</init_pose></vehicle>"""
#: What a node says on a machine that stands still for a while.
LATE = "too slow"


def three_robots(folder: Path) -> Path:
    """Write a world with a differential robot, a car, and one that takes torques alone."""
    path = two_robots(folder, [])
    path.write_text(path.read_text().replace("</mvsim_world>", RAW + "</mvsim_world>"))
    return path


def twist(vx: float, vy: float, wz: float) -> Twist:
    message = Twist()
    message.linear.x, message.linear.y, message.angular.z = vx, vy, wz
    return message


def steered(speed: float, angle: float) -> AckermannDriveStamped:
    message = AckermannDriveStamped()
    message.drive.speed, message.drive.steering_angle = speed, angle
    return message


class Case(NamedTuple):
    """A command that cannot be followed, and its warning."""

    topic: str
    message: Any
    text: str


CASES = {
    "sideways": Case("zoe/cmd_vel", twist(0.2, 0.3, 0.0), "zoe cannot move sideways"),
    "sideways, a car": Case("anna/cmd_vel", twist(0.2, 0.3, 0.0), "anna cannot move sideways"),
    "on the spot": Case("anna/cmd_vel", twist(0.0, 0.0, 0.5), "anna cannot turn on the spot"),
    "tight circle": Case(
        "anna/cmd_vel",
        twist(0.2, 0.0, 0.5),
        "anna cannot turn with a radius of 0.4 m: at the limit of its steering it is 1.14 m",
    ),
    "great angle": Case(
        "anna/ackermann_cmd",
        steered(0.2, 1.0),
        "anna cannot steer by 1 rad: its limit is 0.611 rad",
    ),
    "no velocities": Case(
        "raw/cmd_vel",
        twist(0.2, 0.0, 0.0),
        "raw: controller 'raw' of a 'differential' vehicle takes no twist command; it takes:"
        " torque",
    ),
}


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    process = NodeProcess(domain, three_robots(tmp_path_factory.mktemp("three")))
    yield process
    process.close()


@pytest.fixture(scope="module")
def observer(domain: int, running: NodeProcess) -> Iterator[Observer]:
    observer = Observer(domain)
    yield observer
    observer.close()


def warnings_in(running: NodeProcess) -> list[str]:
    return [line for line in running.output.splitlines() if "[WARN]" in line]


@pytest.mark.parametrize("name", CASES)
def test_commands_that_cannot_be_followed_are_logged_once(
    observer: Observer, running: NodeProcess, name: str
) -> None:
    topic, message, text = CASES[name]
    before = warnings_in(running)
    with observer.repeat(topic, message):
        eventually(lambda: text in running.output, "a warning")
        time.sleep(1.2)  # more commands, and longer than warnings are throttled elsewhere
    new = warnings_in(running)[len(before) :]
    assert [text in line for line in new if LATE not in line] == [True]


def test_a_new_vehicle_of_the_same_name_logs_again(
    observer: Observer, running: NodeProcess
) -> None:
    pytest.importorskip("simulation_interfaces")
    from tests.ros.service_client import Client

    client = Client(observer.node)
    assert client.call("DeleteEntity", entity="zoe").result.result == 1
    assert client.spawn("zoe", "courier").result.result == 1
    topic, message, text = CASES["sideways"]
    count = running.output.count(text)
    with observer.repeat(topic, message):
        eventually(lambda: running.output.count(text) > count, "another warning")


# ------------------------------------------------------- steering angles in place of yaw rates
@pytest.fixture(scope="module")
def steering(
    domain_pool: DomainPool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[NodeProcess, Observer]]:
    """A node that takes angular.z as an angle, and an observer of both robots."""
    domain = domain_pool.take()
    world = two_robots(tmp_path_factory.mktemp("angle"), [])
    process = NodeProcess(domain, world, cmd_angle_instead_rotvel=True)
    observer = Observer(domain)
    for name in ("zoe", "anna"):
        observer.subscribe(f"/{name}/odom", Odometry)
    observer.subscribe("/anna/joint_states", JointState)
    yield process, observer
    observer.close()
    process.close()
    domain_pool.give_back(domain)


def test_the_wheels_turn_by_the_angle_also_while_the_car_stands(
    steering: tuple[NodeProcess, Observer],
) -> None:
    process, observer = steering
    angle = 0.3
    cot = 1.0 / math.tan(angle)
    shift = 0.5 * TRACK / WHEELBASE
    wheels = [math.atan(1.0 / (cot - shift)), math.atan(1.0 / (cot + shift))]
    with observer.repeat("/anna/cmd_vel", twist(0.0, 0.0, angle)):
        eventually(
            lambda: (
                list(observer.newest("/anna/joint_states").position[-2:])
                == pytest.approx(wheels, abs=1e-6)
            ),
            "turned wheels",
        )
    assert observer.newest("/anna/odom").twist.twist.linear.x == pytest.approx(0.0, abs=0.01)
    assert "cannot" not in process.output


def test_the_car_turns_as_a_bicycle_with_that_angle(
    steering: tuple[NodeProcess, Observer],
) -> None:
    _, observer = steering
    with observer.repeat("/anna/cmd_vel", twist(1.0, 0.0, 0.3)):
        eventually(
            lambda: (
                observer.newest("/anna/odom").twist.twist.angular.z
                == pytest.approx(math.tan(0.3) / WHEELBASE, rel=0.05)
            ),
            "turning",
        )


def test_a_robot_that_does_not_steer_keeps_to_the_yaw_rate(
    steering: tuple[NodeProcess, Observer],
) -> None:
    _, observer = steering
    with observer.repeat("/zoe/cmd_vel", twist(0.0, 0.0, 0.5)):
        eventually(
            lambda: (
                observer.newest("/zoe/odom").twist.twist.angular.z == pytest.approx(0.5, abs=0.03)
            ),
            "turning",
        )


def test_sideways_commands_are_logged_with_angles_too(tmp_path: Path) -> None:
    world = load_world(two_robots(tmp_path, []))
    car = world.vehicles["anna"]
    with pytest.warns(UserWarning, match="anna cannot move sideways"):
        follow_twist(car, TwistCommand(0.5, 0.1, 0.2), angle=True)
    world.run(2.0)
    assert car.twist.vx == pytest.approx(0.5, abs=0.05)
    assert car.steering == pytest.approx(0.2, abs=0.01)
