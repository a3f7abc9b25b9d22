# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""DC motors and the latency of commands."""

from __future__ import annotations

import math

import pytest

from mvsim_core import load_world
from mvsim_core.errors import WorldFileError
from mvsim_core.state.arrays import QUEUE_SLOTS
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import STEPS, VEHICLES, vehicle
from tests.physics.worlds import cart, friction, twist_pid, world

MASS, RADIUS, SPIN = 23.0, 0.2, 0.5 * 4 * 0.2**2
GEARED = '<motor stall_torque="0.2" no_load_speed="100" gear_ratio="20"/>'
RAW = '<controller class="raw"/>'


def with_motor(motor: str, controller: str = RAW) -> str:
    """Return a two-wheeled robot without losses that has motors."""
    return cart(controller=motor + controller, ground=friction(mu=0.9))


@pytest.mark.parametrize("dt", STEPS)
def test_full_torque_follows_the_line(dt: float) -> None:
    """Speed v_0 (1 - e^(-t/τ)), τ = (m + Σ I/R²) R ω_0 / (2 τ_stall / R), all at the wheel."""
    w = load_world(text=world(with_motor(GEARED), dt=dt))
    r = w.vehicles["r1"]
    r.set_wheel_torques([50.0, 50.0])
    stall, free = 0.2 * 20, 100 / 20
    tau = (MASS + 2 * SPIN / RADIUS**2) * RADIUS * free / (2 * stall / RADIUS)
    for t in (0.3, 0.6, 1.2):
        w.run(t - w.time)
        want = free * RADIUS * (1.0 - math.exp(-t / tau))
        assert r.twist.vx == pytest.approx(want, rel=0.01 + 2.0 * dt / tau)
    w.run(10.0)
    assert r.twist.vx == pytest.approx(free * RADIUS, rel=1e-3)


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_no_driven_wheel_exceeds_its_line(kind: str) -> None:
    """Forward, then backward at once: |τ| <= τ_stall and within the line at the wheel's speed."""
    text = vehicle(kind, kp=15.0, ki=0.0, most=50.0)
    motor = '<motor stall_torque="0.1" no_load_speed="200" gear_ratio="20"/>'
    w = load_world(text=world(text.replace("<controller", motor + "<controller"), dt=0.001))
    r = w.vehicles["r1"]
    stall, free = 2.0, 10.0
    largest = 0.0
    for target in (5.0, -5.0):
        r.set_twist(target)
        for _ in range(1500):
            speeds = [wheel.omega for wheel in r.wheels]
            w.step()
            torques = [wheel.torque for wheel in r.wheels]
            if VEHICLES[kind][0] == "ackermann_drivetrain":
                total = sum(torques)
                speed = sum(s * t for s, t in zip(speeds, torques, strict=True)) / (total or 1.0)
                speeds, torques = [speed], [total]
            for speed, torque in zip(speeds, torques, strict=True):
                largest = max(largest, abs(torque))
                if torque != 0.0:
                    assert torque <= stall * max(-1.0, min(1.0, 1.0 - speed / free)) + 1e-9
                    assert torque >= -stall * max(-1.0, min(1.0, 1.0 + speed / free)) - 1e-9
    assert largest == pytest.approx(stall, rel=0.01)


def test_the_integral_does_not_wind_up_beyond_the_motor() -> None:
    """At a speed that it cannot reach a PID sums up nothing; a lower set point acts at once."""
    w = load_world(text=world(with_motor(GEARED, twist_pid(10, 20, 100))))
    r = w.vehicles["r1"]
    r.set_twist(2.0)
    w.run(20.0)
    assert r.twist.vx == pytest.approx(1.0, abs=0.02)
    r.set_twist(0.5)
    w.run(1.0)
    assert r.twist.vx < 0.75


def test_a_motor_holds_with_its_stall_torque() -> None:
    """On 15 degrees 23 kg need 5.84 N m a wheel: 6 N m hold, 5.6 N m roll."""
    for stall, holds in ((0.3, True), (0.28, False)):
        motor = f'<motor stall_torque="{stall}" no_load_speed="100" gear_ratio="20"/>'
        w = load_world(text=world(incline(15), with_motor(motor, twist_pid(10, 20, 100))))
        w.run(2.0)
        assert (abs(w.vehicles["r1"].pose.x) < 1e-6) == holds


def test_half_a_motor_is_refused() -> None:
    with pytest.raises(WorldFileError, match="belong together"):
        load_world(text=world(with_motor('<motor stall_torque="1"/>')))


def test_latency_with_torques_is_doubtful() -> None:
    (warning,) = load_world(text=world(with_motor('<motor latency="0.1"/>'))).warnings
    assert "latency of <motor> has no effect" in str(warning)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("latency", [0.02, 0.1, 0.5])
def test_commands_act_later_by_whole_steps(dt: float, latency: float) -> None:
    """Two commands, each as long as it was given, and the stop after them."""
    ideal = '<controller class="twist_ideal"/>'
    text = with_motor(f'<motor latency="{latency}"/>', ideal)
    w = load_world(text=world(text, dt=dt))
    r = w.vehicles["r1"]
    late, targets = round(latency / dt), []
    given = [0.3] * 7 + [-0.2] * 11 + [0.0] * (late + 5)
    for value in given:
        r.set_twist(value)
        w.step()
        targets.append(r.target.vx)
    assert targets == [0.0] * late + given[: len(given) - late]


def test_more_changes_than_slots_merge() -> None:
    """A set point that changes in each of 100 steps on the way: the last one acts in the end."""
    text = with_motor('<motor latency="0.5"/>', '<controller class="twist_ideal"/>')
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    for k in range(100):
        r.set_twist(0.01 * (k + 1))
        w.step()
    w.run(1.0)
    assert r.target.vx == pytest.approx(1.0)
    assert QUEUE_SLOTS < 100


def test_latency_delays_the_steering_and_belongs_to_the_state() -> None:
    """A snapshot holds what is on its way."""
    text = vehicle("rear drive").replace("<controller", '<motor latency="0.1"/><controller')
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    r.set_ackermann(0.3, 0.2)
    w.run(0.05)
    kept = w.state()
    assert r.steering == 0.0
    w.run(0.1)
    assert r.steering == pytest.approx(0.2)
    first = r.pose
    w.restore(kept)
    assert r.steering == 0.0
    w.run(0.1)
    assert r.pose == first
