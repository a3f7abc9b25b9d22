# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What docs/physics.md lists as surprising, in numbers."""

from __future__ import annotations

import math

import pytest

from mvsim_core import load_world
from mvsim_core.dynamics.drivetrain import split_torque
from tests.physics.test_slopes import incline
from tests.physics.worlds import car, cart, friction, twist_pid, world

IDEAL = '<controller class="twist_ideal"/>'
PLANE = (
    '<element class="horizontal_plane"><x_min>{}</x_min><x_max>{}</x_max>'
    "<y_min>-9</y_min><y_max>9</y_max><z>{}</z></element>"
)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_side_slip_in_a_curve(dt: float) -> None:
    """Friction stops the sideways speed of the step before: v_y = -v ω dt remains."""
    w = load_world(text=world(cart(controller=twist_pid(12, 20, 30), ground=friction(0.9)), dt=dt))
    r = w.vehicles["r1"]
    r.set_twist(1.0, 0.0, 0.8)
    w.run(6.0)
    assert r.twist.vy == pytest.approx(-r.twist.vx * r.twist.wz * dt, rel=1e-3)


@pytest.mark.parametrize(("com", "turns_more"), [(0.0, True), (1.3, False)])
def test_uniform_loads_decide_which_end_slips_first(com: float, turns_more: bool) -> None:
    """All wheels carry the same, so that the heavier axle lacks grip: rear, it oversteers."""
    pid = "<KP>300</KP><KI>50</KI><max_torque>150</max_torque>"
    text = car(controller=f'<controller class="front_steer_pid">{pid}</controller>')
    text = text.replace(
        'angular_damping="0.0"/>', f'angular_damping="0.0"><com>{com} 0</com></chassis>'
    )
    w = load_world(text=world(text.replace("<mu>0.7</mu>", "<mu>0.5</mu>"), dt=0.004))
    r = w.vehicles["r1"]
    assert len({wheel.load for wheel in r.wheels}) == 1
    for speed in (2.0, 3.0, 4.0):
        r.set_ackermann(speed, 0.2)
        w.run(6.0)
    steered = r.twist.vx * math.tan(0.2) / 1.3  # yaw rate without side slip
    assert (r.twist.wz > 1.01 * steered) == turns_more
    assert (r.twist.wz < 0.99 * steered) != turns_more


def test_yaw_rates_are_those_in_plan_view() -> None:
    """On a slope the rate about the vehicle's own z axis is ψ' cos(pitch) / cos(roll)."""
    w = load_world(text=world(incline(20), cart(controller=IDEAL), dt=0.005))
    r = w.vehicles["r1"]
    r.set_twist(0.0, 0.0, 0.5)
    w.run(1.0)
    before = r.pose.yaw
    w.run(1.0)
    assert r.pose.yaw - before == pytest.approx(0.5, abs=1e-9)
    assert r.twist.wz == pytest.approx(0.5, abs=1e-9)
    own = 0.5 * math.cos(r.pose.pitch) / math.cos(r.pose.roll)
    assert r.angular_velocity[2] == pytest.approx(own, abs=2e-3)
    assert abs(own - 0.5) > 0.01


def test_over_an_edge_it_drops_at_once_and_beyond_the_ground_it_keeps_its_height() -> None:
    def heights(ground: str) -> list[float]:
        robot = cart(controller=IDEAL).replace(
            "<init_pose>0 0 0</init_pose>", "<init_pose3d>0 0 1 0 0 0</init_pose3d>"
        )
        w = load_world(text=world(ground, robot, dt=0.005))
        r = w.vehicles["r1"]
        r.set_twist(0.5)
        found = []
        for _ in range(4):
            w.run(1.0)
            found.append(r.pose.z)
        assert r.pose.x == pytest.approx(2.0, abs=0.01)
        return found

    above, *_, below = heights(PLANE.format(-3, 1, 1) + PLANE.format(-9, 9, 0))
    assert (above > 0.2, below) == (True, pytest.approx(0.0))
    assert heights(PLANE.format(-3, 1, 1)) == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("ratio", [1.2, 2.0, 10.0, 1000.0])
@pytest.mark.parametrize("bias", [1.5, 3.0])
def test_the_torque_ratio_of_torsen_has_no_limit(ratio: float, bias: float) -> None:
    """With q = b ω_min / ω_max below 1 the slower wheel gets (2 - q) / q of the faster one."""
    faster = split_torque(ratio, 1.0, bias, 0.5)
    q = min(bias / ratio, 1.0)
    assert (1.0 - faster) / faster == pytest.approx((2.0 - q) / q)
