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


@pytest.mark.parametrize("rear", [-0.4, -0.2])
def test_strafing_five_metres_keeps_the_heading(rear: float) -> None:
    """Less than 1 % drift on uniform friction, also with the centre of mass 7 cm ahead."""
    text = vehicle("", "mecanum").replace("<pt>-0.4", f"<pt>{rear}")
    w = load_world(text=world(text, dt=FAST))
    robot = w.vehicles["r1"]
    robot.set_twist(0.0, 0.5, 0.0)
    while robot.pose.y < 5.0:
        w.run(0.1)
        assert abs(robot.pose.yaw) < 0.01
    assert w.time < 11.0
    assert abs(robot.pose.x) < 0.01 * robot.pose.y
    assert (w.bodies[0]["com_x"] > 0.07) == (rear == -0.2)


#: One wheel each: signs of its place.
CORNERS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


@pytest.mark.parametrize("corner", CORNERS)
def test_one_wheel_on_ice_turns_a_strafing_robot_by_a_known_angle(
    corner: tuple[int, int],
) -> None:
    """From rest the robot turns by the yaw of -K⁻¹ M q*, then strafes on with that heading.

    With P controllers the three wheels that grip obey M q' = K (q* - q): q is the twist, q* the
    commanded one, K = Σ kp bᵀb / (R cos²) the controllers' damping, M the inertia with that of the
    wheels, Σ I bᵀb / (R cos)². Integrated over all times that is M q* = K ∫ (q* - q) dt.
    """
    x, y = corner
    ice = f"""<element class="property_region"><property_name>friction_mu</property_name>
      <value_double>0.0</value_double><x_min>{min(9 * x, 0)}</x_min><x_max>{max(9 * x, 0)}</x_max>
      <y_min>{min(9 * y, 0)}</y_min><y_max>{max(9 * y, 0)}</y_max></element>"""
    pid = twist_pid(4, 0, 40)
    text = vehicle("", "mecanum", pid, friction(mu=0.9))
    w = load_world(text=world(ice, text, dt=FAST))
    robot, body = w.vehicles["r1"], w.bodies[0]
    wish = np.array([0.0, 0.01, 0.0])  # slow: the heading leaves the law linear
    robot.set_twist(*wish)
    w.run(10.0)  # nine time constants of the slowest motion
    wheels = robot.spec.dynamics.wheels
    damping, inertia = np.zeros((3, 3)), np.diag([body["mass"], body["mass"], body["inertia"]])
    for row, spec in zip(grip_matrix(wheels), wheels, strict=True):
        if (np.sign(spec.x), np.sign(spec.y)) != corner:
            along = np.outer(row, row) / math.cos(spec.grip) ** 2
            damping += 4.0 / spec.radius * along
            inertia += spec.spin_inertia / spec.radius**2 * along
    drift = -np.linalg.solve(damping, inertia @ wish)
    assert abs(drift[2]) > 0.005
    assert robot.pose.yaw == pytest.approx(drift[2], rel=0.01)
    assert robot.pose.y - 0.1 == pytest.approx(drift[1], rel=0.01)
    assert robot.twist == pytest.approx(tuple(wish), abs=1e-4)


@pytest.mark.parametrize("direction", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
@pytest.mark.parametrize("roller", [45.0, 30.0])
def test_torques_accelerate_by_the_sum_of_forces(
    direction: tuple[float, float, float], roller: float
) -> None:
    """Driving, strafing, turning: force T / (R cos) along each grip moves body and wheels.

    a = Σ |b| T / (R cos) / (M + Σ I b² / (R cos)²) with b = B · direction.
    """
    torque = 0.5
    wheels = "".join(
        wheel(x, y, "mecanum", math.copysign(roller, x * y))
        for x in (0.3, -0.3)
        for y in (0.2, -0.2)
    )
    text = vehicle(wheels, "wheels", '<controller class="raw"/>', friction(mu=0.9))
    w = load_world(text=world(text, dt=FAST))
    robot, body = w.vehicles["r1"], w.bodies[0]
    specs = robot.spec.dynamics.wheels
    grip = grip_matrix(specs) @ direction
    hold = np.array([spec.radius * math.cos(spec.grip) for spec in specs])
    spin = np.array([spec.spin_inertia for spec in specs])
    robot.set_wheel_torques([float(t) for t in torque * np.sign(grip / hold)])
    w.run(1.0)
    inert = np.dot([body["mass"], body["mass"], body["inertia"]], np.square(direction))
    force = np.abs(grip / hold).sum() * torque
    want = force / (inert + (spin * (grip / hold) ** 2).sum())
    assert np.dot(robot.twist, direction) == pytest.approx(want, rel=0.01)
    rest = np.array(robot.twist) * (1.0 - np.array(direction))
    assert np.abs(rest).max() < 1e-9


@pytest.mark.parametrize("roller", [45.0, 30.0])
def test_rollers_slow_a_strafing_robot_by_their_resistance(roller: float) -> None:
    """They turn at vy / |cos|, so (m + Σ I tan² / R²) a = -C_rr m g / |cos|, cos of the grip."""
    c_rr, speed = 0.02, 1.0
    wheels = "".join(
        wheel(x, y, "mecanum", math.copysign(roller, x * y))
        for x in (0.3, -0.3)
        for y in (0.3, -0.3)
    )
    raw = '<controller class="raw"/>'
    text = vehicle(wheels, "wheels", raw, friction(mu=0.9, rr=c_rr)).replace(
        "</init_pose>", f"</init_pose><init_vel>0 {speed} 0</init_vel>"
    )
    w = load_world(text=world(text, dt=FAST))
    w.run(1.0)
    robot = w.vehicles["r1"]
    mass, grip = float(w.bodies[0]["mass"]), math.radians(roller + 90.0)
    inert = mass + sum(
        wh.spin_inertia * math.tan(grip) ** 2 / wh.radius**2 for wh in robot.spec.dynamics.wheels
    )
    want = c_rr * mass * 9.81 / abs(math.cos(grip)) / inert
    assert speed - robot.twist.vy == pytest.approx(want, rel=0.01)
    assert abs(robot.twist.wz) < 1e-9


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


def test_force_turns_with_the_wheel() -> None:
    """A wheel mounted at a heading ψ pushes along ψ + α + 90°."""
    raw = '<controller class="raw"/>'
    for heading in (20.0, 90.0, -150.0):
        text = vehicle(wheel(0.0, 0.0, "mecanum", 45.0, heading), "wheels", raw, friction(mu=0.9))
        w = load_world(text=world(text, dt=FAST))
        robot = w.vehicles["r1"]
        robot.set_wheel_torques([1.0])
        w.step()
        force = complex(robot.wheels[0].fx, robot.wheels[0].fy)
        axis = math.radians(heading + 45.0 + 90.0)
        along = force * complex(math.cos(axis), -math.sin(axis))
        assert abs(along.imag) < 1e-9 * abs(force)
        forward = complex(math.cos(math.radians(heading)), math.sin(math.radians(heading)))
        assert (force * forward.conjugate()).real > 0.0


def test_encoders_measure_the_motion_of_a_strafing_robot() -> None:
    """The angles that a sensor counted, through the odometry matrix, are the way that was made."""
    encoders = (
        '<sensor class="wheel_encoders" name="ticks"><sensor_period>0.1</sensor_period></sensor>'
    )
    text = vehicle("", "mecanum").replace("</vehicle>", f"{encoders}</vehicle>")
    w = load_world(text=world(text, dt=FAST))
    robot = w.vehicles["r1"]
    for wish, way in (((0.0, 0.4, 0.0), 1), ((0.4, 0.0, 0.0), 0), ((0.0, 0.0, 0.5), 2)):
        w.reset()
        robot.set_twist(*wish)
        w.run(2.0)
        wheels = robot.spec.dynamics.wheels
        angles = robot.sensors["ticks"].last.position
        along = [a * s.radius * math.cos(s.grip) for a, s in zip(angles, wheels, strict=True)]
        moved = np.linalg.lstsq(grip_matrix(wheels), np.array(along), rcond=None)[0]
        pose = (robot.pose.x, robot.pose.y, robot.pose.yaw)
        assert pose[way] > 0.5
        assert moved[way] == pytest.approx(pose[way], rel=0.01)


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
        (square(90), "cannot drive vx = 0 m/s, vy = 1 m/s, wz = 0 rad/s"),
        (square(90), "90 degrees the rollers lie across the wheel as those of an omni wheel do"),
        (square(0), "0 degrees the rollers turn with the wheel, so that its motor has no hold"),
        (square(0), "cannot drive vx = 1 m/s, vy = 0 m/s, wz = 0 rad/s"),
        (triangle(), "fewer than four mecanum wheels: their sideways forces do not cancel"),
        (triangle(), "cannot drive vx = 0.71 m/s, vy = 0.71 m/s"),
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


def slid_along_a_wall(kind: str, dt: float) -> float:
    """Return the speed along a wall of a robot that hits it at 0.5 m/s along and across."""
    places = ((-0.3, 0.3), (-0.3, -0.3), (0.3, 0.3), (0.3, -0.3))
    wheels = "".join(
        f'<wheel pos="{x} {y}" type="{kind}" roller_angle_deg="{45 if x * y > 0 else -45}"'
        ' mass="1" width="0.1" diameter="0.2"/>'
        for x, y in places
    )
    text = f"""<mvsim_world version="1.0"><simul_timestep>{dt}</simul_timestep>
      <element class="vertical_plane"><x0>-9</x0><y0>0.5</y0><x1>9</x1><y1>0.5</y1></element>
      <vehicle name="r1"><init_pose>0 0 0</init_pose><init_vel>0.5 0.5 0</init_vel>
      <dynamics class="wheels">{wheels}<chassis mass="20" linear_damping="0"><shape>
      <pt>-.4 -.2</pt>
      <pt>-.4 .2</pt><pt>.4 .2</pt><pt>.4 -.2</pt></shape></chassis></dynamics>
      <friction class="default"><mu>0</mu></friction></vehicle></mvsim_world>"""
    w = load_world(text=text)
    robot = w.vehicles["r1"]
    touched = False
    for _ in range(round(0.6 / dt)):
        w.step()
        touched = touched or robot.in_collision
    assert touched
    return robot.twist.vx


@pytest.mark.parametrize(("kind", "kept"), [("mecanum", True), ("omni", False)])
def test_obstacles_slide_along_mecanum_wheels(kind: str, kept: bool) -> None:
    """Their rollers turn: a robot that hits a wall aslant keeps its speed along the wall."""
    assert (abs(slid_along_a_wall(kind, 0.005) - 0.5) < 1e-6) == kept


def test_ellipse_knows_no_rollers() -> None:
    """An unsupported combination is an error, not a guess."""
    with pytest.raises(BuildError, match="ellipse knows no rollers"):
        load_world(text=world(vehicle("", "mecanum", ground='<friction class="ellipse"/>')))
