# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The numbers that "Two-wheeled kinematics" of the navground documentation prints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core.kinematics import (
    MotorController,
    Twist,
    TwoWheelsDiff,
    TwoWheelsDiffDyn,
    interpolate,
    moi_of_accelerations,
    scaled_moi,
)


def test_wheel_speeds_limit_a_twist() -> None:
    kinematics = TwoWheelsDiff(max_speed=1, axis=1)
    assert kinematics.max_angular_speed == 2.0
    command = kinematics.feasible(Twist(2, 0, 1.5))
    assert command == Twist(0.25, 0.0, 1.5)
    assert list(kinematics.wheel_speeds(command)) == [-0.5, 1.0]
    assert kinematics.twist([-0.5, 1.0]) == command


def test_accelerations_limit_a_step() -> None:
    command = TwoWheelsDiff(max_speed=1, axis=1).feasible(Twist(2, 0, 1.5))
    twist = interpolate(
        Twist(), command, time_step=0.1, max_acceleration=1.0, max_angular_acceleration=1.0
    )
    assert twist == pytest.approx((0.1, 0.0, 0.1))


def test_torques_limit_a_step() -> None:
    """The printed twist is that of motors which are clipped on their own.

    The three steps that the same page describes, and navground since 0.4 computes, give all torque
    to the turn instead: with dω = α_max dt = 0.4 nothing is left for v.
    """
    printed = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1, strategy="torques")
    assert printed.max_angular_acceleration == 4.0
    wish = Twist(2, 0, 1.5)
    assert printed.feasible(wish, current=Twist(), time_step=0.1) == pytest.approx((0.05, 0, 0.2))
    described = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1)
    assert described.max_angular_acceleration == 4.0
    assert described.feasible(wish, Twist(), 0.1) == pytest.approx((0.0, 0.0, 0.4))


def test_motor_controller_goes_a_share_of_the_way() -> None:
    """Three steps of the documented update f += k (f_needed - f), by hand."""
    robot = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1)
    motor, twist, torque = MotorController(k=0.2), Twist(), 0.0
    for _ in range(3):
        twist = motor.apply(robot, Twist(1.0), twist, 0.1)
        torque += 0.2 * (1.0 - torque)
        assert motor.torques == pytest.approx((torque, torque))
    assert twist.vx == pytest.approx(0.1 * (0.2 + 0.36 + 0.488))


def test_wheel_accelerations_and_forces() -> None:
    """Forces are f = ((2 + i) v' + (2 - i) v'_other) / 4 and its inverse."""
    moi = 0.6
    robot = TwoWheelsDiffDyn(max_speed=5, axis=0.8, max_acceleration=3, moi=moi)
    slower, faster = robot.twist([0.1, 0.3]), robot.twist([0.3, 0.2])
    left, right = robot.wheel_torques(faster, slower, 0.1)
    assert left == pytest.approx(((2 + moi) * 2.0 + (2 - moi) * -1.0) / 4)
    assert right == pytest.approx(((2 + moi) * -1.0 + (2 - moi) * 2.0) / 4)
    assert robot.twist_from_wheel_torques([left, right], slower, 0.1) == pytest.approx(faster)
    assert robot.max_wheel_torque == 3.0


def test_moment_of_inertia() -> None:
    """A uniform disc as wide as the axis has i = 1; i = 4 a / (A α) gives any i back."""
    assert scaled_moi(inertia=0.5 * 7.0 * 0.4**2, mass=7.0, axis=0.8) == pytest.approx(1.0)
    robot = TwoWheelsDiffDyn(max_speed=1, axis=0.5, max_acceleration=2, moi=0.7)
    fastest = robot.max_angular_acceleration
    assert moi_of_accelerations(2.0, fastest, 0.5) == pytest.approx(0.7)
    rotating = fastest * 0.5 / 2.0
    assert 2.0 * 2.0 / rotating == pytest.approx(0.7)  # 2 a_forward / a_rotating
    assert math.isclose(robot.feasible(Twist(0, 0, 9), Twist(), 0.01).wz, fastest * 0.01)


def test_scaled_torques_are_the_forces_of_newtons_law() -> None:
    """Of m a = F_l + F_r and I α = (F_r - F_l) A / 2 with F = m f / 2 and I = i m A² / 8."""
    mass, axis, moi, dt = 12.0, 0.6, 1.3, 0.05
    robot = TwoWheelsDiffDyn(max_speed=9, axis=axis, max_acceleration=9, moi=moi)
    inertia = moi * mass * axis**2 / 8.0
    assert scaled_moi(inertia, mass, axis) == pytest.approx(moi)
    left, right = 7.0, -3.0  # N
    twist = robot.twist_from_wheel_torques(
        (2 * left / mass, 2 * right / mass), Twist(0.2, 0, 0.1), dt
    )
    assert twist.vx == pytest.approx(0.2 + (left + right) / mass * dt)
    assert twist.wz == pytest.approx(0.1 + (right - left) * axis / 2 / inertia * dt)
    assert (inertia * robot.max_angular_acceleration) == pytest.approx(
        robot.max_wheel_torque * mass / 2 * axis  # opposite forces at half the axis each
    )


def test_wheel_accelerations_follow_from_forces() -> None:
    """They are ((2 + i) f - (2 - i) f_other) / (2 i): one wheel feels the other unless i = 2."""
    for moi in (0.6, 1.0, 2.0):
        robot = TwoWheelsDiffDyn(max_speed=9, axis=0.8, max_acceleration=9, moi=moi)
        left, right = 1.5, -0.5
        speeds = robot.wheel_speeds(robot.twist_from_wheel_torques((left, right), Twist(), 0.1))
        assert speeds[0] / 0.1 == pytest.approx(((2 + moi) * left - (2 - moi) * right) / (2 * moi))
        assert speeds[1] / 0.1 == pytest.approx(((2 + moi) * right - (2 - moi) * left) / (2 * moi))


def test_a_motor_controller_of_one_s_own_needs_the_public_names_only() -> None:
    """`feasible`, `wheel_torques`, `max_wheel_torque`, `twist_from_wheel_torques` make one."""
    robot = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1)
    ours, torques, now, then = MotorController(k=0.3), np.zeros(2), Twist(), Twist()
    for wish in (Twist(2, 0, 1.5), Twist(0.5, 0, -1), Twist()):
        for _ in range(8):
            goal = robot.feasible(wish, now, 0.1)
            torques += 0.3 * (np.array(robot.wheel_torques(goal, now, 0.1)) - torques)
            torques = np.clip(torques, -robot.max_wheel_torque, robot.max_wheel_torque)
            now = robot.twist_from_wheel_torques(torques.tolist(), now, 0.1)
            then = ours.apply(robot, wish, then, 0.1)
            assert then == pytest.approx(now, abs=1e-12)
            assert ours.torques == pytest.approx(tuple(torques))


def test_the_example_of_the_kinematics_page() -> None:
    motors = TwoWheelsDiffDyn(max_speed=1.0, axis=1.0, max_acceleration=1.0, moi=1.0)
    step = motors.feasible(Twist(2.0, 0.0, 1.5), current=Twist(), time_step=0.1)
    assert motors.wheel_torques(step, Twist(), 0.1) == pytest.approx((-1.0, 1.0))
    controller = MotorController(k=0.2)
    twist = controller.apply(motors, Twist(1.0), Twist(), 0.1)
    assert twist == pytest.approx((0.02, 0.0, 0.0))
    assert controller.torques == pytest.approx((0.2, 0.2))
