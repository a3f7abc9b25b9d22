# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Torques, forces and parking brakes of vehicles over ROS, and what odometry says of itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist, Vector3, Wrench
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from mvsim_core import CommandError, load_world
from mvsim_core.geometry.poses import rotation
from mvsim_ros2.conversions.commands import ForceCommand
from mvsim_ros2.inputs.commands import follow_force, follow_torques
from mvsim_ros2.outputs.world import WorldOutputs
from mvsim_ros2.parameters.settings import Settings
from mvsim_ros2.simulation.stamp_clock import StampClock
from tests.physics.worlds import car, cart, twist_pid, world
from tests.ros.node_process import NodeProcess, Observer, connect, eventually
from tests.ros.service_client import Client

pytestmark = pytest.mark.ros

RAW = '<controller class="raw"/>'
#: A robot that takes torques, cars that do, and one that takes velocities.
VEHICLES = (
    cart("pusher", pose="0 0 0", controller=RAW)
    + car("truck", pose="0 6 0", controller=RAW)
    + cart("rover", pose="0 -6 90", controller=twist_pid(12, 20, 30))
)


class Control(Observer):
    """An observer that also sets brakes."""

    def brake(self, service: str, on: bool) -> tuple[bool, str]:
        """Call a brake; return whether it succeeded, and the message."""
        client = connect(self.node, SetBool, service)
        future = client.call_async(SetBool.Request(data=on))
        answer = eventually(lambda: future.done() and future.result(), "an answer")
        self.node.destroy_client(client)
        return answer.success, answer.message

    def moving(self, vehicle: str, rule: Callable[[float], bool]) -> None:
        """Wait until the true speed of a vehicle fulfils a rule."""
        topic = f"/{vehicle}/ground_truth/odom"
        eventually(lambda: rule(self.newest(topic).twist.twist.linear.x), f"{vehicle}'s speed")


@pytest.fixture(scope="module")
def running(domain: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    path: Path = tmp_path_factory.mktemp("control") / "test.world.xml"
    path.write_text(world(VEHICLES))
    process = NodeProcess(domain, path)
    yield process
    process.close()


@pytest.fixture(scope="module")
def control(domain: int, running: NodeProcess) -> Iterator[Control]:
    observer = Control(domain)
    for name in ("pusher", "truck", "rover"):
        observer.subscribe(f"/{name}/odom", Odometry)
        observer.subscribe(f"/{name}/ground_truth/odom", Odometry)
        observer.subscribe(f"/{name}/joint_states", JointState)
    eventually(lambda: observer.all("/rover/odom"), "odometry")
    yield observer
    observer.close()


def torques(*values: float) -> Float64MultiArray:
    """Return a torque command."""
    return Float64MultiArray(data=list(values))


# ---------------------------------------------------------------------------------- torques
def test_torques_drive_each_wheel(control: Control) -> None:
    """The effort of each joint is what was commanded; opposite torques turn on the spot."""
    with control.repeat("/pusher/torque_cmd", torques(-1.0, 1.5)):
        eventually(
            lambda: list(control.newest("/pusher/joint_states").effort) == [-1.0, 1.5], "torques"
        )
    assert control.newest("/pusher/ground_truth/odom").twist.twist.angular.z > 0.0
    eventually(
        lambda: list(control.newest("/pusher/joint_states").effort) == [0.0, 0.0],
        "the end of old torques",
    )


def test_torques_of_a_car_and_its_steering(control: Control) -> None:
    with control.repeat("/truck/torque_cmd", torques(20.0, 20.0, 0.0, 0.0, 0.25)):
        control.moving("truck", lambda vx: vx > 0.1)
        state = control.newest("/truck/joint_states")
    assert list(state.effort[:4]) == [20.0, 20.0, 0.0, 0.0]
    angles = dict(zip(state.name, state.position, strict=True))
    steering = [v for name, v in angles.items() if name.endswith("_steering_joint")]
    assert len(steering) == 2
    assert sum(1.0 / math.tan(a) for a in steering) / 2 == pytest.approx(1.0 / math.tan(0.25))


def test_torques_that_cannot_be_followed_are_logged(
    control: Control, running: NodeProcess
) -> None:
    with control.repeat("/pusher/torque_cmd", torques(1.0, math.nan)):
        eventually(
            lambda: "pusher: command refused, not within ±1e+06: data[1] = nan" in running.output,
            "a warning",
        )
    with control.repeat("/pusher/torque_cmd", torques(1.0, 1.0, 1.0)):
        eventually(
            lambda: "pusher: expected 2 wheel torques [N m], got 3" in running.output, "a warning"
        )
    names = [name for name, _ in control.node.get_topic_names_and_types()]
    assert "/rover/torque_cmd" not in names  # its controller takes velocities


@pytest.mark.parametrize(
    ("text", "good", "bad"),
    [
        (cart(controller=RAW), [(1.0, 2.0)], [(), (1.0,), (1.0, 2.0, 0.1)]),
        (car(controller=RAW), [(1.0,) * 4, (1.0,) * 5], [(1.0, 2.0), (1.0,) * 6]),
        (
            car(controller=RAW).replace('class="ackermann"', 'class="ackermann_drivetrain"'),
            [(5.0,), (5.0, 0.2)],
            [(), (1.0, 0.2, 0.3), (1.0,) * 100_000],
        ),
    ],
    ids=["cart", "car", "drivetrain"],
)
def test_numbers_of_torques(
    text: str, good: list[tuple[float, ...]], bad: list[tuple[float, ...]]
) -> None:
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    for command in good:
        follow_torques(r, command=command)
        w.step()
        if r.steerable:
            steering = command[-1] if len(command) in (2, 5) else 0.0
            assert w.data.vehicles["cmd_steer"][0] == steering
    before = w.state()
    for command in bad:
        with pytest.raises(CommandError) as refused:
            follow_torques(r, command=command)
        assert len(str(refused.value)) < 200
    assert w.state() == before


# ----------------------------------------------------------------------------------- forces
def test_a_force_pushes_a_vehicle(control: Control) -> None:
    """Along its heading, in the axes of the world; without a command it rolls."""
    at = control.newest("/pusher/ground_truth/odom").pose.pose.orientation
    heading = 2.0 * math.atan2(at.z, at.w)
    push = Wrench(force=Vector3(x=30.0 * math.cos(heading), y=30.0 * math.sin(heading)))
    with control.repeat("/pusher/apply_force", push):
        control.moving("pusher", lambda vx: vx > 0.1)
    assert control.brake("/pusher/set_brake", True)[0]
    control.moving("pusher", lambda vx: abs(vx) < 1e-3)
    assert control.brake("/pusher/set_brake", False)[0]


def test_a_force_lasts_for_the_time_of_commands_and_is_no_command() -> None:
    w = load_world(text=world(cart(damping=0.0)))
    r = w.vehicles["r1"]
    follow_force(r, command=ForceCommand(20.0, 0.0, 0.0), seconds=0.5)
    w.run(0.5)
    speed = r.twist.vx
    assert speed > 0.2
    w.run(0.5)
    assert r.twist.vx == pytest.approx(speed)


def test_forces_that_cannot_act_are_logged(control: Control, running: NodeProcess) -> None:
    with control.repeat("/pusher/apply_force", Wrench(torque=Vector3(z=math.inf))):
        eventually(
            lambda: "pusher: command refused, not within ±1e+06: torque = inf" in running.output,
            "a warning",
        )


# ----------------------------------------------------------------------------------- brakes
def test_the_parking_brake_stops_and_releases(control: Control) -> None:
    with control.repeat("/pusher/torque_cmd", torques(2.0, 2.0)):
        control.moving("pusher", lambda vx: vx > 0.2)
        assert control.brake("/pusher/set_brake", True) == (True, "braked")
        control.moving("pusher", lambda vx: abs(vx) < 1e-9)
        assert control.brake("/pusher/set_brake", True) == (True, "braked")
        assert control.brake("/pusher/set_brake", False) == (True, "released")
        control.moving("pusher", lambda vx: vx > 0.05)


def test_brakes_come_and_go_with_vehicles(control: Control) -> None:
    client = Client(control.node)
    source = {"resource_string": cart("extra", controller=RAW)}
    assert client.spawn("extra", "", 0.0, 12.0, **source).result.result == 1
    assert control.brake("/extra/set_brake", True) == (True, "braked")
    assert client.call("DeleteEntity", entity="extra").result.result == 1
    eventually(lambda: "/extra/set_brake" not in services(control.node), "the end of a service")
    assert "/rover/set_brake" in services(control.node)


def services(node: Node) -> set[str]:
    """Return the names of all services."""
    return {name for name, _ in node.get_service_names_and_types()}


# --------------------------------------------------------------------------------- odometry
def test_the_covariance_of_odometry_grows_on_the_way(control: Control) -> None:
    """Along the way by the default 1e-3 m²/m; z, roll and pitch are not measured."""

    def covariances(message: Any) -> tuple[np.ndarray, np.ndarray]:
        pose, twist = message.pose.covariance, message.twist.covariance
        return np.array(pose).reshape(6, 6), np.array(twist).reshape(6, 6)

    first = control.newest("/rover/odom")
    assert covariances(first)[0][[0, 1, 5], [0, 1, 5]].max() < 1e-5
    command = Twist()
    command.linear.x = 0.8
    with control.repeat("/rover/cmd_vel", command):
        eventually(lambda: control.newest("/rover/odom").pose.pose.position.x > 0.6, "0.6 m")
    last = control.newest("/rover/odom")
    pose, twist = covariances(last)
    assert pose[0, 0] == pytest.approx(1e-3 * last.pose.pose.position.x, rel=0.05)
    assert 0.0 < pose[1, 1] < pose[0, 0]
    assert pose[5, 5] > 5e-5
    assert np.linalg.eigvalsh(pose).min() > 0.0
    assert (pose[[2, 3, 4], [2, 3, 4]] == 1e6).all()
    assert twist[[0, 1, 5], [0, 1, 5]] == pytest.approx([1e-4, 1e-4, 1e-3], rel=0.02)


def test_ground_truth_has_the_rates_of_a_tilting_robot(control: Control) -> None:
    """A robot drives a curve over a ridge: the rates are its turn in a step."""
    ideal = cart(pose="-1.5 0 30", controller='<controller class="twist_ideal"/>')
    ridge = """<element class="elevation_map"><resolution>2</resolution>
      <elevation_data_matrix>[-1 -1 -1; 0 0 0; -1 -1 -1]</elevation_data_matrix></element>"""
    w = load_world(text=world(ridge, ideal, dt=0.002))
    outputs = WorldOutputs(control.node, w, Settings(publish_rate=500.0), StampClock(w.dt))
    control.subscribe("/ground_truth/odom", Odometry)
    robot = w.vehicles["r1"]
    robot.set_twist(0.8, 0.0, 0.3)
    eventually(lambda: control.node.count_subscribers("/ground_truth/odom") > 0, "discovery")
    w.run(2.6)
    attitude = rotation(robot.pose)
    w.step()
    turn = attitude.T @ rotation(robot.pose) / w.dt
    outputs.publish()
    (message,) = eventually(lambda: control.all("/ground_truth/odom"), "a message")
    outputs.close()
    rates = message.twist.twist.angular
    assert (rates.x, rates.y, rates.z) == pytest.approx(
        (turn[2, 1], turn[0, 2], turn[1, 0]), abs=2e-3
    )
    assert min(abs(rates.x), abs(rates.y)) > 0.02
