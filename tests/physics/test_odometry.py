# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Odometry: axles anywhere, wheels of any size, and how uncertain it says it is."""

from __future__ import annotations

import cmath
import math
import re

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.geometry.poses import rotation
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import STEPS, VEHICLES, vehicle
from tests.physics.worlds import car, cart, twist_pid, world

STIFF = twist_pid(12, 20, 30)


def turned(text: str, dt: float = 0.001) -> tuple[float, float, float, float]:
    """Drive a curve; return the errors of place [m] and vy [m/s], vy and what it should be."""
    w = load_world(text=world(text, dt=dt))
    r = w.vehicles["r1"]
    r.set_twist(0.4, 0.0, 0.5)
    w.run(6.0)
    p, o = r.pose, r.odometry
    axle = float(w.data.vehicles["axle_x"][0])
    place = math.hypot(p.x - o.pose.x, p.y - o.pose.y)
    return place, o.twist.vy - r.twist.vy, o.twist.vy, -r.twist.wz * axle


@pytest.mark.parametrize("x", [0.3, 0.0, -0.3])
@pytest.mark.parametrize("dt", STEPS)
def test_two_wheels_off_the_origin(x: float, dt: float) -> None:
    """Rolling without slip: vy = -ω x of the axle, and the place is right to 1 % of the way."""
    text = cart(controller=STIFF, ground='<friction class="default"><mu>0.9</mu></friction>')
    text = text.replace('pos="0 0.5"', f'pos="{x} 0.5"').replace('pos="0 -0.5"', f'pos="{x} -0.5"')
    place, error, vy, want = turned(text, dt)
    assert vy == pytest.approx(-0.5 * x, abs=0.01)
    assert vy == pytest.approx(want, abs=1e-3)
    assert abs(error) < 5e-3
    assert place < 0.024 + dt


def test_three_wheels_off_the_origin() -> None:
    """The caster's place does not matter."""
    text = vehicle("differential_3_wheels").replace('pos="0 ', 'pos="-0.1 ')
    w = load_world(text=world(text))
    assert float(w.data.vehicles["axle_x"][0]) == pytest.approx(-0.1)


@pytest.mark.parametrize("kind", ["differential_4_wheels", "wheels"])
def test_four_wheels_turn_about_their_middle(kind: str) -> None:
    """All four skid alike, so that the odometry takes the centre between the axles."""
    text = vehicle(kind).replace('pos="-0.2 ', 'pos="0.0 ')
    w = load_world(text=world(text.replace('pos="0.2 ', 'pos="0.4 ')))
    r = w.vehicles["r1"]
    r.set_twist(0.3, 0.0, 0.3)
    w.run(2.0)
    left, right = (wheel.omega * 0.1 for wheel in r.wheels[:2])
    assert r.odometry.twist.wz == pytest.approx((right - left) / 0.4)
    assert r.odometry.twist.vy == pytest.approx(-0.2 * r.odometry.twist.wz)
    assert abs(r.odometry.twist.wz) > 0.01


SMALLER = re.compile(r'(<(?:r|rr|fr|rf)_wheel[^>]*diameter=)"0.2"')


@pytest.mark.parametrize("kind", [kind for kind in VEHICLES if kind not in ("omni", "wheels")])
def test_right_wheels_that_are_smaller(kind: str) -> None:
    """Commands and odometry know it: 3 s on a circle, the place right to 1 % of the way."""
    text, count = SMALLER.subn(r'\1"0.16"', vehicle(kind, kp=4.0, ki=8.0))
    assert count == (1 if kind in ("differential", "differential_3_wheels") else 2)
    w = load_world(text=world(text, dt=0.002))
    r = w.vehicles["r1"]
    r.set_twist(0.3, 0.0, 0.3)
    w.run(3.0)
    p, o = r.pose, r.odometry
    assert o.twist.vx == pytest.approx(0.3, abs=0.01)
    assert o.twist.wz == pytest.approx(r.twist.wz, abs=2e-3)
    if kind.startswith("differential_"):
        return  # four wheels skid, and a caster is dragged
    assert r.twist.wz == pytest.approx(0.3, abs=0.01)
    assert math.hypot(p.x - o.pose.x, p.y - o.pose.y) < 0.01


@pytest.mark.parametrize("kind", ["rear drive", "front drive", "all drive", "open_rear"])
def test_cars_with_the_rear_axle_off_the_origin(kind: str) -> None:
    """These have it at -0.2 m."""
    place, error, vy, want = turned(vehicle(kind, kp=4.0, ki=8.0))
    assert want == pytest.approx(0.1, abs=0.02)
    assert vy == pytest.approx(want, abs=5e-3)
    assert abs(error) < 5e-3
    assert place < 0.03


@pytest.mark.parametrize("kind", ["mecanum", "omni"])
def test_wheels_with_rollers(kind: str) -> None:
    """Least squares over all wheels know where they are."""
    text = vehicle(kind, kp=4.0, ki=8.0)
    if kind == "mecanum":
        text = text.replace('pos="-0.2 ', 'pos="-0.5 ').replace('pos="0.2 ', 'pos="-0.1 ')
    place, error, _, _ = turned(text)
    assert abs(error) < 5e-3
    assert place < 0.03


def test_wheels_of_different_size_and_distance() -> None:
    """Left 0.5 m away with radius 0.2 m, right 0.3 m away with 0.15 m: the commanded twist."""
    text = cart(controller=STIFF, ground='<friction class="default"><mu>0.9</mu></friction>')
    text = text.replace(
        'pos="0 -0.5" mass="4" width="0.2" diameter="0.4"',
        'pos="0 -0.3" mass="4" width="0.2" diameter="0.3"',
    )
    w = load_world(text=world(text, dt=0.001))
    r = w.vehicles["r1"]
    r.set_twist(0.4, 0.0, 0.5)
    w.run(6.0)
    assert (r.twist.vx, r.twist.wz) == pytest.approx((0.4, 0.5), abs=5e-3)
    o = r.odometry
    assert math.hypot(r.pose.x - o.pose.x, r.pose.y - o.pose.y) < 0.03
    assert o.twist == pytest.approx(r.twist, abs=2e-3)


def test_multipliers_act_on_the_twist_too() -> None:
    text = cart(controller=STIFF).replace('x_multiplier="1"', 'x_multiplier="1.1"')
    text = text.replace('yaw_multiplier="1"', 'yaw_multiplier="0.5"')
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    r.set_twist(0.4, 0.0, 0.2)
    w.run(4.0)
    assert r.odometry.twist.vx == pytest.approx(1.1 * r.twist.vx, rel=1e-3)
    assert r.odometry.twist.wz == pytest.approx(0.5 * r.twist.wz, rel=1e-2)
    before = r.odometry.pose.yaw
    w.run(1.0)
    assert r.odometry.pose.yaw - before == pytest.approx(r.odometry.twist.wz, rel=1e-3)


VARIANCES = (
    '<odometry x_variance_per_metre="0.02" y_variance_per_metre="0.01"'
    ' yaw_variance_per_metre="0.003" yaw_variance_per_radian="0.004"'
    ' twist_variance_x="0.1" twist_variance_y="0.2" twist_variance_yaw="0.3"/>'
)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("heading", [0.0, 1.0])
def test_covariance_of_a_straight_way(dt: float, heading: float) -> None:
    """After s metres: σ_yaw² = k s, across k_y s + k s³/3, covariance with yaw k s²/2."""
    text = cart(controller='<controller class="twist_ideal"/>')
    text = text.replace(
        '<odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>', VARIANCES
    )
    w = load_world(text=world(text, dt=dt))
    r = w.vehicles["r1"]
    w.data.vehicles["odo_yaw"] = heading
    r.set_twist(0.5)
    w.run(8.0)
    s, k = 4.0, 0.003
    across = 0.01 * s + k * s**3 / 3.0
    c, n = math.cos(heading), math.sin(heading)
    turn = np.array([[c, -n, 0.0], [n, c, 0.0], [0.0, 0.0, 1.0]])
    local = np.array(
        [[0.02 * s, 0.0, 0.0], [0.0, across, k * s * s / 2.0], [0.0, k * s * s / 2.0, k * s]]
    )
    assert r.odometry_covariance.pose == pytest.approx(turn @ local @ turn.T, rel=0.01, abs=3e-4)
    assert np.diag(r.odometry_covariance.twist).tolist() == [0.1, 0.2, 0.3]


def test_covariance_of_turning_on_the_spot_and_of_standing() -> None:
    text = cart(controller='<controller class="twist_ideal"/>')
    text = text.replace(
        '<odometry x_multiplier="1" y_multiplier="1" yaw_multiplier="1"/>', VARIANCES
    )
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    r.set_twist(0.0, 0.0, -1.0)
    w.run(2.0)
    assert r.odometry_covariance.pose[2, 2] == pytest.approx(0.004 * 2.0, rel=1e-6)
    r.set_twist(0.0)
    w.run(0.1)
    before = r.odometry_covariance.pose
    w.run(2.0)
    assert (r.odometry_covariance.pose == before).all()


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_a_robot_at_rest_reports_no_speed(kind: str) -> None:
    w = load_world(text=world(vehicle(kind, kp=4.0), dt=0.005))
    r = w.vehicles["r1"]
    r.set_twist(0.3, 0.0, 0.3)
    w.run(2.0)
    r.set_twist(0.0)
    w.run(2.0)
    assert r.odometry.twist == pytest.approx((0.0, 0.0, 0.0), abs=1e-9)


def test_the_automatic_step_is_none_that_is_warned_of() -> None:
    """A car with stiff gains: it stops, and its wheels and odometry with it."""
    pid = '<controller class="twist_front_steer_pid"><KP>3000</KP><max_torque>3000</max_torque>'
    text = world(car(controller=pid + "</controller>"))
    assert load_world(text=text).warnings
    w = load_world(text=text.replace("<simul_timestep>0.005", "<simul_timestep>0"))
    assert not w.warnings
    r = w.vehicles["r1"]
    r.set_twist(0.5)
    w.run(2.0)
    assert r.twist.vx == pytest.approx(0.5, abs=0.02)
    r.set_twist(0.0)
    w.run(1.0)
    assert r.odometry.twist.vx == pytest.approx(0.0, abs=1e-9)


def test_the_warning_names_the_gain_once_a_class() -> None:
    """The README's gains on a small robot; the gain that it names drives."""
    robots = "".join(
        f'<vehicle name="r{k}" class="small"><init_pose>0 {k} 0</init_pose></vehicle>'
        for k in (1, 2, 3)
    )
    small = """<vehicle:class name="small"><dynamics class="differential">
      <l_wheel pos="0 0.08" mass="0.1" width="0.018" diameter="0.066"/>
      <r_wheel pos="0 -0.08" mass="0.1" width="0.018" diameter="0.066"/>
      <chassis mass="0.8" zmin="0.01" zmax="0.19"><shape><pt>-.08 -.08</pt><pt>-.08 .08</pt>
      <pt>.06 .08</pt><pt>.06 -.08</pt></shape></chassis><controller class="twist_pid">
      <KP>{kp}</KP><KI>5</KI><max_torque>4</max_torque></controller></dynamics></vehicle:class>"""
    w = load_world(text=world(small.format(kp=25), robots))
    (warning,) = w.warnings
    found = str(warning).partition("or lower KP from 25 to ")
    assert "vehicles of class 'small'" in found[0]
    w = load_world(text=world(small.format(kp=found[2]), robots))
    assert not w.warnings
    w.vehicles["r1"].set_twist(0.3)
    w.run(3.0)
    assert w.vehicles["r1"].twist.vx == pytest.approx(0.3, abs=0.03)


@pytest.mark.parametrize("yaw", [0.0, 40.0, 170.0])
def test_true_rates_of_roll_and_pitch(yaw: float) -> None:
    """They are those by which the attitude turns from step to step."""
    robot = cart(pose=f"0 0 {yaw}", controller='<controller class="twist_ideal"/>')
    w = load_world(text=world(incline(15), robot, dt=0.001))
    r = w.vehicles["r1"]
    r.set_twist(0.0, 0.0, 0.5)
    w.run(1.0)
    before = rotation(r.pose)
    w.step()
    turned = before.T @ rotation(r.pose) / w.dt
    want = (turned[2, 1], turned[0, 2], turned[1, 0])
    assert r.angular_velocity == pytest.approx(want, abs=2e-3)
    assert math.hypot(*want[:2]) < 2e-3  # it turns about the normal of the slope


def test_chassis_with_its_own_mass_properties() -> None:
    """15 kg at (0.2, 0.1) with 0.5 kg m², two wheels of 4 kg at (0, ±0.5)."""
    text = cart().replace("<shape>", "<com>0.2 0.1</com><inertia>0.5</inertia><shape>", 1)
    w = load_world(text=world(text))
    b = w.data.bodies[0]
    x, y = 15 * 0.2 / 23, 15 * 0.1 / 23
    wheel = 4 * (0.4**2 + 0.2**2) / 12
    about = 0.5 + 15 * ((0.2 - x) ** 2 + (0.1 - y) ** 2)
    about += 2 * wheel + 4 * (x * x + (0.5 - y) ** 2) + 4 * (x * x + (0.5 + y) ** 2)
    assert (b["com_x"], b["com_y"], b["inertia"]) == pytest.approx((x, y, about))
    v = w.data.vehicles[0]
    assert (v["chassis_x"], v["chassis_y"]) == pytest.approx((0.2, 0.1))


@pytest.mark.parametrize("name", ["twist_pid", "twist_front_steer_pid", "front_steer"])
@pytest.mark.parametrize("dynamics", ["ackermann", "car_ackermann", "ackermann_drivetrain"])
def test_other_names(name: str, dynamics: str) -> None:
    text = car(controller=f'<controller class="{name}"><KP>100</KP></controller>')
    text = text.replace('class="ackermann"', f'class="{dynamics}"')
    w = load_world(text=world(text))
    r = w.vehicles["r1"]
    r.set_twist(0.5)
    w.run(4.0)
    assert r.twist.vx > 0.35


@pytest.mark.parametrize("dt", [0.005, 0.02])
@pytest.mark.parametrize(("v", "wz"), [(0.5, 0.4), (-0.3, 2.0), (1.0, -1.3)])
def test_odometry_steps_along_the_chords_of_the_arc(v: float, wz: float, dt: float) -> None:
    """With constant spins each step goes along the tangent at its middle, v dt long.

    From any step to the n-th after it that sums up to v dt sin(n ω dt / 2) / sin(ω dt / 2) in the
    direction yaw + n ω dt / 2, to rounding errors. A step along the tangent at its start would
    point ω dt / 2 beside it.
    """
    ideal = '<controller class="twist_ideal"/>'
    w = load_world(text=world(cart(pose="1 2 30", controller=ideal), dt=dt))
    robot = w.vehicles["r1"]
    robot.set_twist(v, 0.0, wz)
    for _ in range(3):  # wheels take the spin of the body's motion at the start of a step
        w.step()
    start = robot.odometry.pose
    for n in (1, 2, 137):
        before = w.ticks
        while w.ticks < before + n:
            w.step()
        end = robot.odometry.pose
        half = 0.5 * wz * dt
        chord = v * dt * math.sin(n * half) / math.sin(half)
        want = chord * cmath.exp(1j * (start.yaw + n * half))
        assert complex(end.x - start.x, end.y - start.y) == pytest.approx(want, abs=1e-12)
        assert end.yaw - start.yaw == pytest.approx(n * wz * dt, abs=1e-12)
        start = end


def test_odometry_multipliers_act_on_the_increments() -> None:
    """Scaled yaw bends the estimated path: it is the arc of the scaled rate."""
    scaled = cart(controller='<controller class="twist_ideal"/>').replace(
        'yaw_multiplier="1"', 'yaw_multiplier="1.5"'
    )
    w = load_world(text=world(scaled))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5, 0.0, 0.4)
    for _ in range(3):
        w.step()
    start = robot.odometry.pose
    w.run(2.0)
    end = robot.odometry.pose
    n, half = 400, 0.5 * 1.5 * 0.4 * w.dt
    chord = 0.5 * w.dt * math.sin(n * half) / math.sin(half)
    want = chord * cmath.exp(1j * (start.yaw + n * half))
    assert complex(end.x - start.x, end.y - start.y) == pytest.approx(want, abs=1e-12)
