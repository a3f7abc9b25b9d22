# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""10,000 random twists, ours against the navground package.

What differs on purpose, and how the comparison allows for it:

* navground computes in single precision. Inputs are rounded to it first, and results may differ by
  1e-6, relative to the larger one where it exceeds 1.
* Its robots can't reverse unless allowed to (`max_backward_speed` is 0 by default); the documented
  set of feasible twists is symmetric, and so is ours by default.
* The constructor of its DynamicTwoWheelsDifferentialDriveKinematics takes max_forward_speed for
  max_speed (in 0.7.0), so max_speed is set afterwards.
* Its `feasible` leaves the dynamics out; with them it is called `feasible_from_current`, which
  ours has too. The documentation's `feasible(twist, current, time_step)` is the same.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from mvsim_core.kinematics import (
    LimitAcceleration,
    MotorPid,
    Omni,
    Twist,
    TwoWheelsDiff,
    TwoWheelsDiffDyn,
)
from mvsim_core.state.arrays import FloatArray

core = pytest.importorskip("navground.core", reason="navground is not installed")
COUNT = 10_000
TOLERANCE = 1e-6
LIMITS = [(1.0, 1.0), (0.3, 0.23), (2.5, 0.61)]  # wheel speed [m/s], axis [m]
DYNAMICS = [(1.0, 1.0, 0.1), (0.4, 0.37, 0.02), (3.0, 2.2, 0.05)]  # m/s², 1, s


def twists(seed: int, size: float) -> list[Twist]:
    """Return random twists without sideways speed, in single precision."""
    draw = np.random.default_rng(seed).normal(0.0, size, (COUNT, 2)).astype(np.float32)
    return [Twist(float(vx), 0.0, float(wz)) for vx, wz in draw]


def theirs(twist: Twist) -> Any:
    """Return a twist as navground's."""
    return core.Twist2((twist.vx, twist.vy), twist.wz, frame=core.Frame.relative)


def flat(twist: Any) -> list[float]:
    """Return the numbers of a navground twist."""
    return [float(twist.velocity[0]), float(twist.velocity[1]), float(twist.angular_speed)]


def single(value: float) -> float:
    """Return a number in single precision."""
    return float(np.float32(value))


def worst(ours: list[Any], other: list[Any]) -> float:
    """Return the largest difference, relative to the larger number where that exceeds 1."""
    a: FloatArray = np.array(ours, dtype=np.float64)
    b: FloatArray = np.array(other, dtype=np.float64)
    assert a.shape == b.shape
    assert len(a) == COUNT
    scale = np.maximum(1.0, np.maximum(np.abs(a), np.abs(b)))
    return float(np.max(np.abs(a - b) / scale))


@pytest.mark.parametrize(("speed", "turn"), [(1.0, 2.0), (0.37, 0.5)])
def test_omni(speed: float, turn: float) -> None:
    mine = Omni(max_speed=single(speed), max_angular_speed=single(turn))
    other = core.kinematics.OmnidirectionalKinematics(speed, turn)
    draw = np.random.default_rng(1).normal(0.0, 2.0, (COUNT, 3)).astype(np.float32)
    wishes = [Twist(*(float(x) for x in row)) for row in draw]
    got = [mine.feasible(wish) for wish in wishes]
    assert worst(got, [flat(other.feasible(theirs(w))) for w in wishes]) < TOLERANCE


@pytest.mark.parametrize(("speed", "axis"), LIMITS)
@pytest.mark.parametrize("backward", [math.inf, 0.0, 0.2])
def test_two_wheels(speed: float, axis: float, backward: float) -> None:
    mine = TwoWheelsDiff(
        max_speed=single(speed), axis=single(axis), max_backward_speed=single(backward)
    )
    other = core.kinematics.TwoWheelsDifferentialDriveKinematics(
        max_speed=speed, wheel_axis=axis, max_backward_speed=backward
    )
    wishes = twists(2, 2.0)
    got = [mine.feasible(wish) for wish in wishes]
    assert worst(got, [flat(other.feasible(theirs(w))) for w in wishes]) < TOLERANCE
    speeds = [list(mine.wheel_speeds(wish)) for wish in wishes]
    assert worst(speeds, [other.wheel_speeds(theirs(w)) for w in wishes]) < TOLERANCE
    assert mine.max_angular_speed == pytest.approx(other.max_angular_speed, rel=TOLERANCE)


def dynamic(speed: float, axis: float, acceleration: float, moi: float) -> tuple[Any, Any]:
    """Return the same robot twice, ours and theirs."""
    mine = TwoWheelsDiffDyn(
        max_speed=single(speed),
        axis=single(axis),
        max_acceleration=single(acceleration),
        moi=single(moi),
    )
    other = core.kinematics.DynamicTwoWheelsDifferentialDriveKinematics(
        max_speed=speed,
        wheel_axis=axis,
        max_backward_speed=math.inf,
        max_acceleration=acceleration,
        moi=moi,
    )
    other.max_speed = speed
    return mine, other


@pytest.mark.parametrize(("speed", "axis"), LIMITS)
@pytest.mark.parametrize(("acceleration", "moi", "dt"), DYNAMICS)
def test_two_wheels_with_dynamics(
    speed: float, axis: float, acceleration: float, moi: float, dt: float
) -> None:
    mine, other = dynamic(speed, axis, acceleration, moi)
    dt = single(dt)
    wishes = twists(3, 2.0)
    # every other robot is pushed beyond what its wheels can do
    now = [
        t if i % 2 else Twist(*flat(theirs(mine.feasible(t))))
        for i, t in enumerate(twists(4, 1.0))
    ]
    pairs = list(zip(wishes, now, strict=True))
    got = [mine.feasible(w, c, dt) for w, c in pairs]
    want = [flat(other.feasible_from_current(theirs(w), theirs(c), dt)) for w, c in pairs]
    assert worst(got, want) < TOLERANCE
    got = [mine.feasible_from_current(w, c, dt) for w, c in pairs]
    assert worst(got, want) < TOLERANCE
    speeds = [list(mine.wheel_speeds(t)) for t in wishes]
    assert worst(speeds, [other.wheel_speeds(theirs(t)) for t in wishes]) < TOLERANCE
    # torques of the same twists: the feasible ones, as they are in single precision
    reached = [Twist(*row) for row in want]
    torques = [list(mine.wheel_torques(t, c, dt)) for t, c in zip(reached, now, strict=True)]
    expected = [
        other.wheel_torques(theirs(t), theirs(c), dt) for t, c in zip(reached, now, strict=True)
    ]
    assert worst(torques, expected) < TOLERANCE
    back = [mine.twist_from_wheel_torques(f, c, dt) for f, c in zip(expected, now, strict=True)]
    same = [
        flat(other.twist_from_wheel_torques(f, theirs(c), dt))
        for f, c in zip(expected, now, strict=True)
    ]
    assert worst(back, same) < TOLERANCE
    assert mine.max_angular_acceleration == pytest.approx(
        other.max_angular_acceleration, rel=TOLERANCE
    )
    assert mine.max_wheel_torque == pytest.approx(other.max_wheel_torque, rel=TOLERANCE)


def behavior(kinematics: Any) -> Any:
    """Return a navground behavior at rest, as modulations want one."""
    it = core.behaviors.DummyBehavior(kinematics, 1.0)
    it.pose = core.Pose2((0, 0), 0)
    it.twist = core.Twist2((0, 0), 0, frame=core.Frame.relative)
    return it


def test_acceleration_limits() -> None:
    mine = LimitAcceleration(max_acceleration=0.5, max_angular_acceleration=single(1.3))
    other = core.behavior_modulations.LimitAccelerationModulation(0.5, 1.3)
    agent = behavior(core.kinematics.OmnidirectionalKinematics(9.0, 9.0))
    dt = single(0.1)
    wishes, now = twists(5, 2.0), twists(6, 2.0)
    got, want = [], []
    for wish, current in zip(wishes, now, strict=True):
        agent.twist = theirs(current)
        got.append(mine.apply(None, wish, current, dt))
        want.append(flat(other.post(agent, dt, theirs(wish))))
    assert worst(got, want) < TOLERANCE


def test_motor_pid() -> None:
    """A run of motors with memory: errors of single precision do not add up."""
    mine, other = dynamic(1.0, 1.0, 1.0, 1.0)
    gains = (0.5, 0.25, 0.0078125)
    motor, modulation = MotorPid(*gains), core.behavior_modulations.MotorPIDModulation(*gains)
    agent = behavior(other)
    dt = 0.125
    current = Twist()
    for wish in twists(7, 0.5)[:200]:
        agent.twist = theirs(current)
        want = flat(modulation.post(agent, dt, theirs(wish)))
        assert motor.apply(mine, wish, current, dt) == pytest.approx(want, abs=1e-5)
        current = mine.feasible(Twist(*want))
        current = Twist(*(single(x) for x in current))
