# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Mecanum, omni and other free wheels: directions, allocation, odometry, grip."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mvsim_core import BuildError, World, load_world
from mvsim_core.dynamics.wheels import grip_matrix
from tests.physics.test_slopes import incline
from tests.physics.worlds import friction, twist_pid, world

PID = twist_pid(40, 80, 40)
FAST = 0.002


def vehicle(wheels: str, kind: str = "wheels", controller: str = PID, ground: str = "") -> str:
    """Return a vehicle of 20 kg with the given wheels."""
    return f"""<vehicle name="r1"><dynamics class="{kind}">{wheels}
      <chassis mass="20" zmin="0.05" zmax="0.3" linear_damping="0" angular_damping="0">
      <shape><pt>-0.4 -0.3</pt><pt>0.4 -0.3</pt><pt>0.4 0.3</pt><pt>-0.4 0.3</pt></shape></chassis>
      {controller}</dynamics>{ground or friction(mu=0.9, rr=0.002)}
      <init_pose>0 0 0</init_pose></vehicle>"""


def wheel(x: float, y: float, kind: str, roller: float = 45.0, yaw: float = 0.0) -> str:
    """Return one wheel of 0.2 m diameter."""
    return (
        f'<wheel pos="{x} {y} {yaw}" mass="1" width="0.08" diameter="0.2" type="{kind}"'
        f' roller_angle_deg="{roller}"/>'
    )


def ring(count: int) -> str:
    """Return omni wheels on a circle, each rolling along it."""
    places = [2 * math.pi * i / count for i in range(count)]
    return "".join(
        wheel(0.3 * math.cos(a), 0.3 * math.sin(a), "omni", yaw=math.degrees(a) + 90)
        for a in places
    )


def six() -> str:
    """Return six mecanum wheels, the middle pair arranged like the front one."""
    places = [(x, y) for x in (-0.35, 0.1, 0.35) for y in (0.3, -0.3)]
    return "".join(wheel(x, y, "mecanum", math.copysign(45, x * y)) for x, y in places)


FOUR = "<lr_wheel pos='-0.3 0.3' diameter='0.2' mass='1'/>"
CASES = {
    "four mecanum": ("mecanum", ""),
    "30 degree rollers": (
        "wheels",
        "".join(
            wheel(x, y, "mecanum", math.copysign(30, x * y))
            for x in (0.3, -0.3)
            for y in (0.3, -0.3)
        ),
    ),
    "six mecanum": ("wheels", six()),
    "three omni": ("wheels", ring(3)),
    "five omni": ("wheels", ring(5)),
}


def run(case: str, vx: float, vy: float, wz: float, seconds: float = 3.0) -> World:
    """Drive a vehicle with a twist."""
    kind, wheels = CASES[case]
    w = load_world(text=world(vehicle(wheels, kind), dt=FAST))
    w.vehicles["r1"].set_twist(vx, vy, wz)
    w.run(seconds)
    return w


@pytest.mark.parametrize("case", list(CASES))
@pytest.mark.parametrize(
    "twist", [(0.6, 0.0, 0.0), (0.0, 0.6, 0.0), (0.0, 0.0, 0.8), (0.3, -0.4, 0.5)]
)
def test_translate_strafe_rotate_and_all_at_once(
    case: str, twist: tuple[float, float, float]
) -> None:
    """The steady twist is the commanded one, and the odometry says so."""
    robot = run(case, *twist).vehicles["r1"]
    assert robot.twist == pytest.approx(twist, abs=0.01)
    assert robot.odometry.twist == pytest.approx(tuple(robot.twist), abs=0.01)


def test_strafing_five_metres_keeps_the_heading() -> None:
    """Less than 1 % drift of yaw on uniform friction."""
    robot = run("four mecanum", 0.0, 0.5, 0.0, 10.5).vehicles["r1"]
    assert robot.pose.y > 5.0
    assert abs(robot.pose.yaw) < 0.01
    assert abs(robot.pose.x) < 0.05


def test_one_wheel_on_ice_turns_a_strafing_robot() -> None:
    """With ice under the left front wheel its share of the yaw moment is missing."""
    drifts = []
    for x in (1.0, -1.0):  # ice ahead on the left, or behind on the left
        ice = f"""<element class="property_region"><property_name>friction_mu</property_name>
          <value_double>0.0</value_double><x_min>{min(x, 0)}</x_min><x_max>{max(x, 0)}</x_max>
          <y_min>0.1</y_min><y_max>9</y_max></element>"""
        w = load_world(text=world(ice, vehicle("", "mecanum", twist_pid(4, 0, 4)), dt=FAST))
        w.vehicles["r1"].set_twist(0.0, 0.5, 0.0)
        w.run(1.0)
        drifts.append(w.vehicles["r1"].pose.yaw)
    assert abs(drifts[0]) > 0.05
    assert np.sign(drifts[0]) == -np.sign(drifts[1])


def test_force_has_the_direction_heading_plus_roller_angle_plus_90_degrees() -> None:
    """One driven wheel: the force is along its roller axis, for any roller angle."""
    for roller in (30.0, 45.0, -60.0, 135.0):
        raw = '<controller class="raw"/>'
        text = vehicle(wheel(0.0, 0.0, "mecanum", roller), "wheels", raw, friction(mu=0.9))
        w = load_world(text=world(text, dt=FAST))
        robot = w.vehicles["r1"]
        robot.set_wheel_torques([1.0])
        w.run(0.02)
        force = complex(robot.wheels[0].fx, robot.wheels[0].fy)
        axis = math.radians(roller + 90)
        assert abs((force * complex(math.cos(axis), -math.sin(axis))).imag) < 1e-2 * abs(force)
        assert force.real > 0.0  # a forward torque pushes forward


def test_allocation_matrix_is_that_of_the_design() -> None:
    """Rows of B are (cos φ, sin φ, rx sin φ - ry cos φ)."""
    w = load_world(text=world(vehicle("", "mecanum")))
    wheels = w.vehicles["r1"].spec.dynamics.wheels
    for row, spec in zip(grip_matrix(wheels), wheels, strict=True):
        phi = spec.roller_angle + math.pi / 2
        want = (math.cos(phi), math.sin(phi), spec.x * math.sin(phi) - spec.y * math.cos(phi))
        assert tuple(row) == pytest.approx(want)
    assert np.linalg.matrix_rank(grip_matrix(wheels)) == 3


def square(roller: float) -> str:
    """Return four mecanum wheels with one roller angle for all."""
    return "".join(wheel(x, y, "mecanum", roller) for x in (0.3, -0.3) for y in (0.3, -0.3))


def triangle() -> str:
    """Return three mecanum wheels."""
    return "".join(wheel(*p, "mecanum", 45) for p in ((0.3, 0.3), (0.3, -0.3), (-0.3, 0.0)))


@pytest.mark.parametrize(
    ("wheels", "message"),
    [
        (square(90), "cannot drive vx = 0 m/s, vy = 1 m/s"),
        (square(0), "no hold on the ground"),
        (triangle(), "fewer than four mecanum"),
        (ring(3) + wheel(0, 0, "standard"), "mixed"),
    ],
)
def test_doubtful_arrangements_are_named(wheels: str, message: str) -> None:
    """The warning says which motion is lost, or what resists."""
    w = load_world(text=world(vehicle(wheels)))
    assert any(message in str(warning) for warning in w.warnings), w.warnings


def test_ideal_twist_and_encoders() -> None:
    """Kinematic strafing; wheels turn as the motion needs."""
    ideal = '<controller class="twist_ideal"/>'
    w = load_world(text=world(vehicle("", "mecanum", ideal)))
    robot = w.vehicles["r1"]
    robot.set_twist(0.2, 0.5, 0.1)
    w.run(2.0)
    assert robot.twist == pytest.approx((0.2, 0.5, 0.1))
    assert robot.odometry.twist == pytest.approx((0.2, 0.5, 0.1), abs=1e-6)
    w = load_world(text=world(vehicle("", "mecanum", ideal)))
    robot = w.vehicles["r1"]
    robot.set_twist(0.0, 0.4, 0.0)
    w.run(1.0)
    assert robot.odometry.pose.y == pytest.approx(robot.pose.y, abs=0.01)
    angles = [wheel.phi for wheel in robot.wheels]
    assert np.abs(angles) == pytest.approx(0.4 / 0.2, rel=0.02)  # radius 0.2 m, 45° rollers


def test_mecanum_robot_stands_on_a_slope() -> None:
    """Braked rollers hold in all headings."""
    for yaw in (0, 45, 90, 130):
        text = vehicle("", "mecanum").replace("0 0 0</init_pose>", f"0 0 {yaw}</init_pose>")
        w = load_world(text=world(incline(8), text))
        w.run(20.0)
        p = w.vehicles["r1"].pose
        assert math.hypot(p.x, p.y) < 1e-3


def test_pushed_rollers_roll_along_freely() -> None:
    """Without motor torque a mecanum robot is moved sideways by a small force."""
    raw = '<controller class="raw"/>'
    text = vehicle("", "mecanum", raw, friction(mu=0.9)).replace(
        "</init_pose>", "</init_pose><init_vel>0 1 0</init_vel>"
    )
    w = load_world(text=world(text, dt=FAST))
    w.run(2.0)
    assert w.vehicles["r1"].twist.vy == pytest.approx(1.0, abs=0.05)


def test_ellipse_knows_no_rollers() -> None:
    """An unsupported combination is an error, not a guess."""
    with pytest.raises(BuildError, match="the ellipse model knows no rollers"):
        load_world(text=world(vehicle("", "mecanum", ground='<friction class="ellipse"/>')))
