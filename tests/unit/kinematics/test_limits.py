# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What holds for any twist: limits, idempotence, and errors for what makes no sense."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvsim_core.kinematics import (
    KINEMATICS,
    LimitAcceleration,
    MotorController,
    MotorPid,
    Omni,
    Twist,
    TwoWheelsDiff,
    TwoWheelsDiffDyn,
    interpolate,
    laws,
)
from mvsim_core.kinematics.limits import limit_twists_kernel
from mvsim_core.specs import KINEMATICS as SPECS
from mvsim_core.state.arrays import LIMIT, VEHICLE, fields

MANY = settings(max_examples=300, deadline=None)
ROUNDING = 1e-9
speeds = st.floats(-5.0, 5.0)
twists = st.builds(Twist, speeds, speeds, speeds)
sizes = st.floats(0.05, 4.0)
steps = st.floats(0.001, 0.5)
Strategy = Literal["angular", "torques", "intersection"]
strategies: st.SearchStrategy[Strategy] = st.sampled_from(get_args(Strategy))


@st.composite
def robots(draw: st.DrawFn) -> TwoWheelsDiffDyn:
    """Draw a robot."""
    return TwoWheelsDiffDyn(
        max_speed=draw(sizes),
        axis=draw(sizes),
        max_acceleration=draw(sizes),
        moi=draw(sizes),
        strategy=draw(strategies),
    )


@MANY
@given(sizes, sizes, twists)
def test_omni(most: float, turn: float, wish: Twist) -> None:
    """Speeds stay in their limits, the direction stays, and a feasible twist stays as it is."""
    kinematics = Omni(max_speed=most, max_angular_speed=turn)
    twist = kinematics.feasible(wish)
    assert math.hypot(twist.vx, twist.vy) <= most + ROUNDING
    assert abs(twist.wz) <= turn
    assert twist.vx * wish.vy == pytest.approx(twist.vy * wish.vx, abs=1e-9)
    assert kinematics.feasible(twist) == pytest.approx(twist, abs=ROUNDING)


@MANY
@given(robots(), twists)
def test_two_wheels(kinematics: TwoWheelsDiffDyn, wish: Twist) -> None:
    """Wheels stay in their limit, what is feasible is kept, turning goes before driving."""
    twist = kinematics.feasible(wish)
    assert max(map(abs, kinematics.wheel_speeds(twist))) <= kinematics.max_speed + ROUNDING
    assert kinematics.feasible(twist) == twist
    assert twist.vy == 0.0
    most = kinematics.max_angular_speed
    assert twist.wz == min(max(wish.wz, -most), most)


@MANY
@given(robots(), twists)
def test_two_wheels_keep_the_difference_of_their_speeds(
    kinematics: TwoWheelsDiffDyn, wish: Twist
) -> None:
    """The two steps amount to: clip the faster wheel, keep the difference, as far as it goes."""
    most = kinematics.max_speed
    left, right = kinematics.wheel_speeds(wish)
    apart = min(max(right - left, -2 * most), 2 * most)
    low, high = (left + right - apart) / 2, (left + right + apart) / 2
    over = max(low, high, most) - most + min(low, high, -most) + most
    speeds = kinematics.wheel_speeds(kinematics.feasible(wish))
    assert speeds == pytest.approx((low - over, high - over), abs=ROUNDING)


@MANY
@given(robots(), twists, twists, steps)
def test_torques(kinematics: TwoWheelsDiffDyn, wish: Twist, now: Twist, dt: float) -> None:
    """No strategy needs more torque than there is, and what is feasible is kept.

    Where a strategy lets wheels overspeed (only `intersection` never does), asking for the result
    once more is asking for less.
    """
    now = kinematics.feasible(now)
    twist = kinematics.feasible(wish, now, dt)
    most = kinematics.max_wheel_torque
    # differences of speeds over a short step: their last digits count dt times less
    assert max(map(abs, kinematics.wheel_torques(twist, now, dt))) <= most + ROUNDING / dt
    overspeed = max(map(abs, kinematics.wheel_speeds(twist))) > kinematics.max_speed + ROUNDING
    assert not (overspeed and kinematics.strategy == "intersection")
    if not overspeed:
        assert kinematics.feasible(twist, now, dt) == pytest.approx(twist, abs=10 * ROUNDING)
    torques = kinematics.wheel_torques(twist, now, dt)
    assert kinematics.twist_from_wheel_torques(torques, now, dt) == pytest.approx(
        twist, abs=ROUNDING
    )


@MANY
@given(robots(), twists, twists, steps)
def test_speeds_and_torques(
    kinematics: TwoWheelsDiffDyn, wish: Twist, now: Twist, dt: float
) -> None:
    """Both limits hold at once with `intersection`; else torque alone does (see the next test)."""
    both = TwoWheelsDiffDyn(
        max_speed=kinematics.max_speed,
        axis=kinematics.axis,
        max_acceleration=kinematics.max_acceleration,
        moi=kinematics.moi,
        strategy="intersection",
    )
    now = both.feasible(now)
    twist = both.feasible(wish, now, dt)
    assert max(map(abs, both.wheel_speeds(twist))) <= both.max_speed + ROUNDING
    assert max(map(abs, both.wheel_torques(twist, now, dt))) <= both.max_wheel_torque + 1e-6


def test_turning_at_full_speed_overspeeds_a_wheel() -> None:
    """The documented three steps leave the set of wheel speeds here; `intersection` does not."""

    def spin(strategy: Strategy) -> list[float]:
        robot = TwoWheelsDiffDyn(
            max_speed=1,
            axis=1,
            max_acceleration=1,
            moi=1,
            strategy=strategy,
        )
        twist, fastest = Twist(1.0), []
        for _ in range(40):
            twist = robot.feasible(Twist(0.0, 0.0, 2.0), twist, 0.1)
            fastest.append(max(robot.wheel_speeds(twist)))
        assert twist == pytest.approx((0.0, 0.0, 2.0))
        return fastest

    assert max(spin("angular")) > 1.9
    assert max(spin("intersection")) <= 1.0 + ROUNDING


@MANY
@given(twists, twists, sizes, sizes, steps)
def test_acceleration_limits(now: Twist, wish: Twist, most: float, turn: float, dt: float) -> None:
    """Accelerations stay in their limits, on the straight way to the wish."""
    limit = LimitAcceleration(max_acceleration=most, max_angular_acceleration=turn)
    twist = limit.apply(None, wish, now, dt)
    change = math.hypot(twist.vx - now.vx, twist.vy - now.vy)
    assert change <= most * dt + ROUNDING
    assert abs(twist.wz - now.wz) <= turn * dt + ROUNDING
    assert limit.apply(None, twist, now, dt) == pytest.approx(twist, abs=ROUNDING)
    assert interpolate(now, wish, time_step=dt) == wish


@MANY
@given(robots(), st.lists(twists, min_size=1, max_size=8), st.floats(0.0, 1.0), steps)
def test_motors(kinematics: TwoWheelsDiffDyn, wishes: list[Twist], k: float, dt: float) -> None:
    """Motors never exceed their torque, and with k = 1 they do what they are asked to."""
    motor, whole, now = MotorController(k), MotorPid(1.0), Twist()
    for wish in wishes:
        asked = kinematics.feasible(wish, now, dt)
        assert whole.apply(kinematics, wish, now, dt) == pytest.approx(asked, abs=1e-6)
        now = motor.apply(kinematics, wish, now, dt)
        assert max(map(abs, motor.torques)) <= kinematics.max_wheel_torque


@pytest.mark.parametrize("moi", [0.0, -1.0, math.nan, math.inf])
def test_moment_of_inertia_must_be_positive(moi: float) -> None:
    with pytest.raises(ValueError, match=r"^moi must be (> 0|finite), got"):
        TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=moi)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TwoWheelsDiff(max_speed=1, axis=0), r"axis must be > 0 \[m\], got 0"),
        (lambda: TwoWheelsDiff(max_speed=1, axis=-1), r"axis must be > 0 \[m\], got -1"),
        (lambda: TwoWheelsDiff(max_speed=-1, axis=1), "max_speed must be >= 0, got -1"),
        (lambda: Omni(max_speed=math.nan), "max_speed must be >= 0, got nan"),
        (
            lambda: TwoWheelsDiffDyn(max_acceleration=0.0),
            r"max_acceleration must be > 0 \[m/s²\], got 0.0",
        ),
        (
            lambda: TwoWheelsDiffDyn(strategy="linear"),  # type: ignore[arg-type]
            "strategy must be one of angular, torques, intersection, got 'linear'",
        ),
        (lambda: LimitAcceleration(max_acceleration=-1), "max_acceleration must be >= 0, got -1"),
        (lambda: MotorPid(k_i=-1.0), "k_i must be >= 0, got -1.0"),
        (lambda: Omni().feasible(Twist(math.inf)), "twist must be finite"),
        (lambda: Omni().feasible(Twist(), Twist(), -0.1), r"time_step must be >= 0 \[s\]"),
    ],
)
def test_nonsense_is_refused(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_no_time_no_change() -> None:
    robot = TwoWheelsDiffDyn(max_speed=1, axis=1, max_acceleration=1, moi=1)
    now, wish = Twist(0.1, 0.0, 0.2), Twist(1.0)
    assert robot.feasible(wish, now, 0.0) == now
    assert robot.wheel_torques(wish, now, 0.0) == (0.0, 0.0)
    assert LimitAcceleration().apply(None, wish, now, 0.0) == now
    assert MotorPid().apply(robot, wish, now, 0.0) == now


def test_no_limits() -> None:
    """Kinematics without numbers let everything pass, but for what wheels can't do."""
    wish, now = Twist(1e6, 2e6, -3e6), Twist(-1e6, 0.0, 1.0)
    assert Omni().feasible(wish) == wish
    assert TwoWheelsDiff().feasible(wish) == wish._replace(vy=0.0)
    assert TwoWheelsDiffDyn().feasible(wish, now, 0.01) == wish._replace(vy=0.0)


def test_every_class_of_the_file_format_exists() -> None:
    assert set(SPECS) == {name for name, _ in KINEMATICS.items()}
    for name, cls in KINEMATICS.items():
        kinematics = cls.from_spec(SPECS[name], axis=0.5, moi=1.2)
        assert kinematics.feasible(Twist(0.1)) == Twist(0.1)


def test_compiled_kernel_equals_its_python() -> None:
    """All kinds, strategies and modulations at once, to the last bit."""
    rng = np.random.default_rng(0)
    n = 240
    vehicles, limits = np.zeros(n, VEHICLE), np.zeros(n, LIMIT)
    for name in LIMIT.names or ():
        if limits[name].dtype == np.float64:
            limits[name] = rng.uniform(0.1, 2.0, n)
    limits["vehicle"] = rng.permutation(n)
    limits["kind"] = np.arange(n) % 4
    limits["strategy"] = np.arange(n) // 4 % 3
    limits["motor"] = (limits["kind"] == laws.DIFF_DYN) & (np.arange(n) % 5 == 0)
    limits["limit_linear"][::2] = limits["limit_angular"][::2] = math.inf
    for name in ("vx", "vy", "wz"):
        vehicles[name] = rng.normal(0.0, 3.0, n)
        limits[name] = rng.normal(0.0, 1.0, n)
    vehicles["target_steer"] = np.where(np.arange(n) % 7 == 0, 0.3, math.nan)
    vehicles["wheelbase"] = 1.5
    plain = vehicles.copy(), limits.copy()
    limit_twists_kernel(vehicles, limits, 0.05)
    limit_twists_kernel.py_func(fields(plain[0]), fields(plain[1]), 0.05)
    assert vehicles.tobytes() == plain[0].tobytes()
    assert limits.tobytes() == plain[1].tobytes()
    assert np.isfinite(limits["vx"]).all()
