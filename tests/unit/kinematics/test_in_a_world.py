# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Kinematics on the command path of a world: `<kinematics class="…">`."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from mvsim_core import World, WorldFileError, load_world
from mvsim_core.kinematics import (
    KINEMATICS,
    LimitAcceleration,
    MotorPid,
    Twist,
    TwoWheelsDiff,
    TwoWheelsDiffDyn,
)
from mvsim_core.specs import KINEMATICS as SPECS
from mvsim_core.specs.kinematics import KinematicsSpec
from tests.physics.worlds import car, cart, world

IDEAL = '<controller class="twist_ideal"/>'
PID = (
    '<controller class="twist_pid"><KP>80</KP><KI>40</KI><max_torque>60</max_torque></controller>'
)
STEER = (
    '<controller class="twist_front_steer_pid"><KP>3000</KP><max_torque>900</max_torque>'
    "</controller>"
)
DYN = (
    '<kinematics class="2WDiffDyn"><max_speed>1</max_speed><axis>1</axis>'
    "<max_acceleration>1</max_acceleration><moi>1</moi>{}</kinematics>"
)
DT = 0.01


def kinematics(kind: str, text: str) -> str:
    """Return a <kinematics> element."""
    return f'<kinematics class="{kind}">{text}</kinematics>'


def robot_with(element: str, controller: str = IDEAL) -> World:
    """Return a world with one cart (axis 1 m) that has kinematics."""
    return load_world(text=world(cart(controller=controller, extra=element), dt=DT))


def run(w: World, wish: Twist, steps: int, name: str = "r1") -> list[Twist]:
    """Command a twist and return the targets of all steps."""
    robot = w.vehicles[name]
    robot.set_twist(wish.vx, 0.0, wish.wz)
    targets = []
    for _ in range(steps):
        w.step()
        targets.append(robot.target)
    return targets


def test_two_wheels_limit_an_ideal_robot() -> None:
    w = robot_with(kinematics("2WDiff", "<max_speed>1</max_speed>"))
    run(w, Twist(2, 0, 1.5), 100)
    robot = w.vehicles["r1"]
    assert robot.kinematics == TwoWheelsDiff(max_speed=1.0, axis=1.0)  # the axis is the cart's
    assert robot.target == Twist(0.25, 0.0, 1.5)
    assert robot.twist == pytest.approx(Twist(0.25, 0.0, 1.5), abs=1e-9)


@pytest.mark.parametrize("controller", [IDEAL, PID])
def test_omni_keeps_the_direction_of_a_mecanum_robot(controller: str) -> None:
    text = f"""<vehicle name="r1"><dynamics class="mecanum"><chassis mass="20"/>{controller}
      </dynamics><kinematics class="Omni"><max_speed>1</max_speed></kinematics>
      <init_pose>0 0 0</init_pose></vehicle>"""
    w = load_world(text=world(text, dt=0.002))
    robot = w.vehicles["r1"]
    robot.set_twist(3.0, 4.0, 0.2)
    w.run(4.0)
    assert robot.target == pytest.approx((0.6, 0.8, 0.2))
    assert robot.twist == pytest.approx((0.6, 0.8, 0.2), abs=0.02)


@pytest.mark.parametrize("strategy", ["angular", "torques", "intersection"])
def test_dynamics_are_those_of_the_object(strategy: str) -> None:
    w = robot_with(DYN.format(f"<strategy>{strategy}</strategy>"))
    limits = w.vehicles["r1"].kinematics
    assert isinstance(limits, TwoWheelsDiffDyn)
    assert limits.strategy == strategy
    now = Twist()
    for wish in (Twist(2, 0, 1.5), Twist(-1, 0, 0.5), Twist()):
        for target in run(w, wish, 60):
            now = limits.feasible(wish, now, DT)
            assert target == now
    assert now == Twist()


def test_acceleration_limits_and_motors_are_those_of_the_objects() -> None:
    extra = '<modulation class="LimitAcceleration" max_acceleration="0.5"/>'
    extra += '<modulation class="MotorPID" k_p="0.3" k_i="0.1" k_d="0.001"/>'
    w = robot_with(DYN.format(extra))
    limits = w.vehicles["r1"].kinematics
    ramp, motor, now = LimitAcceleration(max_acceleration=0.5), MotorPid(0.3, 0.1, 0.001), Twist()
    for wish in (Twist(2, 0, 1.5), Twist(-1, 0, 0.5)):
        for target in run(w, wish, 60):
            near = ramp.apply(None, limits.feasible(wish), now, DT)
            now = motor.apply(limits, near, now, DT)
            assert target == pytest.approx(now, abs=1e-12)


def test_a_motor_controller_delays() -> None:
    """Torque rises by a share k a step: speed lags behind that of motors without memory."""
    quick = robot_with(DYN.format(""))
    slow = robot_with(DYN.format('<modulation class="MotorController" k="0.1"/>'))
    n = 20
    ahead, behind = run(quick, Twist(1), n)[-1].vx, run(slow, Twist(1), n)[-1].vx
    assert ahead == pytest.approx(n * DT)
    torque = [1 - 0.9 ** (i + 1) for i in range(n)]
    assert behind == pytest.approx(DT * sum(torque))


def test_a_pid_follows_the_ramp() -> None:
    """With twist_pid the robot itself keeps the acceleration, and reaches the speed."""
    ramp = '<modulation class="LimitAcceleration" max_acceleration="0.5"/>'
    w = robot_with(kinematics("2WDiff", f"<max_speed>0.8</max_speed>{ramp}"), PID)
    robot = w.vehicles["r1"]
    robot.set_twist(2.0)
    speeds = []
    for _ in range(400):
        w.step()
        speeds.append(robot.twist.vx)
        assert robot.target.vx - robot.twist.vx < 0.1
    assert speeds[-1] == pytest.approx(0.8, abs=0.01)
    assert speeds[99] == pytest.approx(0.5 * 100 * DT, abs=0.05)
    # 1 s after the start the PID has settled: half a second's mean acceleration
    assert (speeds[149] - speeds[99]) / (50 * DT) == pytest.approx(0.5, rel=0.02)
    robot.stop()
    w.run(4.0)
    assert abs(robot.twist.vx) < 0.05  # what twist_pid counts as standing


def test_torque_limited_pid_robot_turns_before_it_drives() -> None:
    w = robot_with(DYN.format(""), PID)
    robot = w.vehicles["r1"]
    robot.set_twist(1.0, 0.0, 1.0)
    w.run(0.2)
    assert robot.target.wz == pytest.approx(0.8)
    assert robot.target.vx == pytest.approx(0.0, abs=1e-12)
    w.run(3.0)
    assert robot.twist == pytest.approx((0.5, 0.0, 1.0), abs=0.02)


def test_a_car_slows_down_and_keeps_its_wheels_turned() -> None:
    ramp = '<modulation class="LimitAcceleration" max_acceleration="2"/>'
    element = kinematics("Omni", f"<max_speed>3</max_speed>{ramp}")
    text = car(controller=STEER).replace("</vehicle>", element + "</vehicle>")
    w = load_world(text=world(text, dt=DT))
    robot = w.vehicles["r1"]
    robot.set_ackermann(9.0, 0.2)
    w.run(1.0)
    assert robot.target.vx == pytest.approx(2.0)
    assert robot.target.wz == pytest.approx(2.0 * math.tan(0.2) / 1.3)
    assert robot.steering == pytest.approx(0.2)
    w.run(2.0)
    assert robot.target.vx == pytest.approx(3.0)


def test_an_expired_command_brakes_within_limits() -> None:
    w = robot_with(DYN.format(""))
    run(w, Twist(1), 150)
    w.command_timeout = 0.05
    targets = [w.vehicles["r1"].target.vx]
    for _ in range(30):
        w.step()
        targets.append(w.vehicles["r1"].target.vx)
    assert targets[-1] == pytest.approx(1.0 - 30 * DT)


def mixed() -> str:
    """Return a world of robots with all kinds of kinematics, and some without."""
    elements = [
        "",
        kinematics("Omni", "<max_speed>0.4</max_speed>"),
        kinematics("2WDiff", "<max_speed>0.6</max_speed>"),
        DYN.format(""),
        "",
        DYN.format('<modulation class="MotorController" k="0.2"/>'),
    ]
    carts = [
        cart(f"r{i}", f"0 {4 * i} 0", controller=IDEAL, extra=element)
        for i, element in enumerate(elements)
    ]
    return world(*carts, dt=DT)


def test_many_together_are_as_each_alone() -> None:
    crowd = load_world(text=mixed())
    for robot in crowd.vehicles.values():
        robot.set_twist(1.0, 0.0, 0.7)
    crowd.run(0.5)
    for name, robot in crowd.vehicles.items():
        alone = load_world(text=mixed())
        for other in list(alone.vehicles):
            if other != name:
                alone.remove(other)
        run(alone, Twist(1.0, 0.0, 0.7), 50, name)
        assert alone.vehicles[name].target == robot.target
        assert alone.vehicles[name].pose == robot.pose


def test_memory_survives_changes_and_snapshots() -> None:
    w = load_world(text=mixed())
    for robot in w.vehicles.values():
        robot.set_twist(1.0, 0.0, 0.7)
    w.run(0.2)
    snapshot = w.state()
    w.run(0.2)
    after = {name: robot.target for name, robot in w.vehicles.items()}
    w.restore(snapshot)
    w.run(0.2)
    assert {name: robot.target for name, robot in w.vehicles.items()} == after
    w.restore(snapshot)
    w.add_vehicle(cart("late", "0 -8 0", controller=IDEAL, extra=DYN.format("")))
    w.remove("r0")
    w.remove("r2")
    w.run(0.2)
    for name in ("r1", "r3", "r4", "r5"):
        assert w.vehicles[name].target == after[name]
    assert w.vehicles["late"].target == Twist()
    w.reset()
    assert w.vehicles["r3"].target == Twist()


def test_a_teleported_robot_starts_from_rest() -> None:
    w = robot_with(DYN.format(""))
    run(w, Twist(1), 50)
    robot = w.vehicles["r1"]
    robot.teleport(0.0, 0.0, 0.0)
    w.step()
    assert robot.target.vx == pytest.approx(DT)


def test_an_initial_velocity_is_where_limits_start() -> None:
    text = cart(vel="0.5 0 0", controller=IDEAL, extra=DYN.format(""))
    w = load_world(text=world(text, dt=DT))
    assert run(w, Twist(1), 1)[0].vx == pytest.approx(0.5 + DT)


def test_numbers_of_the_vehicle_are_the_defaults() -> None:
    w = robot_with(kinematics("2WDiffDyn", "<max_acceleration>2</max_acceleration>"))
    robot = w.vehicles["r1"]
    body = w.bodies[0]
    assert robot.kinematics.axis == pytest.approx(1.0)
    assert robot.kinematics.moi == pytest.approx(8.0 * body["inertia"] / body["mass"])


def test_worlds_without_kinematics_do_not_pay() -> None:
    w = load_world(text=world(cart(controller=IDEAL), dt=DT))
    w.run(0.1)
    assert w.vehicles["r1"].kinematics is None
    assert w.profile["kinematics"] == 0.0
    assert len(w.data.limits) == 0


def test_raw_controllers_have_nothing_to_limit() -> None:
    w = robot_with(kinematics("2WDiff", ""), '<controller class="raw"/>')
    message = "<kinematics> has no effect: the controller 'raw' takes no twists"
    assert message in [problem.message for problem in w.warnings]


@pytest.mark.parametrize(
    ("element", "message"),
    [
        (DYN.replace("<moi>1", "<moi>0").format(""), "<kinematics>: moi must be > 0, got '0'"),
        (DYN.replace("<moi>1", "<moi>-2").format(""), "<kinematics>: moi must be > 0, got '-2'"),
        (kinematics("2WDiff", "<axis>0</axis>"), "<kinematics>: axis must be > 0 [m], got '0'"),
        (
            kinematics("2WDif", ""),
            "<kinematics>: unknown kinematics class '2WDif'. Did you mean '2WDiff'?",
        ),
        (
            kinematics("2WDiff", '<modulation class="MotorController"/>'),
            "'MotorController' requires the class '2WDiffDyn'",
        ),
        (
            DYN.format('<modulation class="MotorPID"/><modulation class="MotorController"/>'),
            "only one motor is allowed",
        ),
        (
            DYN.format('<modulation class="LimitAcceleration"/>' * 2),
            "only one modulation of class 'LimitAcceleration' is allowed, got 2",
        ),
        (DYN.format("<strategy>linear</strategy>"), "strategy must be one of angular, torques"),
    ],
)
def test_bad_elements(element: str, message: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        robot_with(element)
    assert message in str(caught.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfSpec(KinematicsSpec):
    """Parameters of kinematics that a third party wrote."""

    kind: str = "Half"


class Half:
    """Kinematics in plain Python: a robot that goes half as fast as commanded."""

    @classmethod
    def from_spec(cls, spec: Any, axis: float, moi: float) -> Half:
        return cls()

    def feasible(
        self, twist: Twist, current: Twist | None = None, time_step: float = 0.0
    ) -> Twist:
        assert current is not None
        assert time_step == DT
        return Twist(0.5 * twist.vx, 0.0, 0.5 * twist.wz)


@pytest.fixture
def half() -> Iterator[None]:
    KINEMATICS.register("Half")(Half)
    SPECS.register("Half", HalfSpec())
    yield
    KINEMATICS._classes.pop("Half")
    SPECS._known.pop("Half")


@pytest.mark.usefixtures("half")
def test_third_party_kinematics_in_plain_python() -> None:
    w = load_world(
        text=world(
            cart("r1", controller=IDEAL, extra=kinematics("2WDiff", "<max_speed>1</max_speed>")),
            cart("r2", "0 4 0", controller=IDEAL, extra=kinematics("Half", "")),
            dt=DT,
        )
    )
    assert run(w, Twist(0.8, 0.0, 0.4), 5, "r2")[-1] == Twist(0.4, 0.0, 0.2)
    assert run(w, Twist(2.0), 5, "r1")[-1] == Twist(1.0)
    assert isinstance(w.vehicles["r2"].kinematics, Half)
