# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles on slopes: attitude, holding, sliding, rolling, climbing."""

from __future__ import annotations

import math

import pytest

from mvsim_core import World, load_world
from tests.physics.worlds import cart, friction, twist_pid, world

G = 9.81
MASS, RADIUS, SPIN = 23.0, 0.2, 0.5 * 4 * 0.2**2

FOUR = """<dynamics class="differential_4_wheels">
        <lr_wheel pos="-0.3 0.4" mass="2" width="0.1" diameter="0.4"/>
        <rr_wheel pos="-0.3 -0.4" mass="2" width="0.1" diameter="0.4"/>
        <lf_wheel pos="0.3 0.4" mass="2" width="0.1" diameter="0.4"/>
        <rf_wheel pos="0.3 -0.4" mass="2" width="0.1" diameter="0.4"/>"""
TWO = """<dynamics class="differential">
        <l_wheel pos="0 0.5" mass="4" width="0.2" diameter="0.4"/>
        <r_wheel pos="0 -0.5" mass="4" width="0.2" diameter="0.4"/>"""
THREE = """<dynamics class="differential_3_wheels">
        <l_wheel pos="0 0.5" mass="3" width="0.2" diameter="0.4"/>
        <r_wheel pos="0 -0.5" mass="3" width="0.2" diameter="0.4"/>
        <caster_wheel pos="-0.4 0" mass="2" width="0.1" diameter="0.4"/>"""
#: Chassis 15 kg and wheels 8 kg in all three.
BASES = {"two": TWO, "three": THREE, "four": FOUR}


def incline(degrees: float, *, along: str = "x", size: float = 400.0) -> str:
    """Return an elevation map that rises steadily along x or y, height 0 in the middle."""
    rise = 0.5 * size * math.tan(math.radians(degrees))
    matrix = f"[{-rise} {-rise}; {rise} {rise}]"
    if along == "y":
        matrix = f"[{-rise} {rise}; {-rise} {rise}]"
    return f"""<element class="elevation_map">
      <elevation_data_matrix>{matrix}</elevation_data_matrix>
      <resolution>{size}</resolution></element>"""


def on_slope(
    degrees: float,
    base: str = "two",
    ground: str | None = None,
    controller: str = '<controller class="raw"/>',
    pose: str = "0 0 0",
    vel: str = "0 0 0",
    dt: float = 0.005,
) -> World:
    """Return a world with one robot on an incline."""
    robot = cart(
        pose=pose, vel=vel, controller=controller, ground=ground or friction(mu=0.7)
    ).replace(TWO.strip(), BASES[base])
    assert BASES[base] in robot
    return load_world(text=world(incline(degrees), robot, dt=dt))


@pytest.mark.parametrize("base", list(BASES))
@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, 37.0])
def test_attitude_is_that_of_the_plane(base: str, yaw: float) -> None:
    """The vehicle's z axis is the normal of the plane, its heading the yaw; z is the height."""
    angle = math.radians(12)
    w = on_slope(12, base, pose=f"3 2 {yaw}")
    p = w.vehicles["r1"].pose
    heading = math.radians(yaw)
    assert p.z == pytest.approx(3 * math.tan(angle), abs=1e-8)
    # slope of the plane along and across the heading
    assert math.tan(-p.pitch) == pytest.approx(math.tan(angle) * math.cos(heading), abs=1e-8)
    normal = (-math.sin(angle), 0.0, math.cos(angle))
    up = (
        math.cos(heading) * math.sin(p.pitch) * math.cos(p.roll)
        + math.sin(heading) * math.sin(p.roll),
        math.sin(heading) * math.sin(p.pitch) * math.cos(p.roll)
        - math.cos(heading) * math.sin(p.roll),
        math.cos(p.pitch) * math.cos(p.roll),
    )
    assert up == pytest.approx(normal, abs=1e-8)


@pytest.mark.parametrize("base", list(BASES))
@pytest.mark.parametrize("yaw", [0.0, 90.0, 180.0, 30.0])
def test_parked_vehicle_stays_put(base: str, yaw: float) -> None:
    """10° for a minute: less than a millimetre, a tenth of a degree."""
    w = on_slope(10, base, pose=f"0 0 {yaw}")
    robot = w.vehicles["r1"]
    w.run(60.0)
    assert math.hypot(robot.pose.x, robot.pose.y) < 1e-3
    assert abs(robot.pose.yaw - math.radians(yaw)) < 1e-3


@pytest.mark.parametrize("mu", [0.2, 0.5, 0.9])
@pytest.mark.parametrize("yaw", [0.0, 90.0])
def test_holds_up_to_atan_mu_and_slides_beyond(mu: float, yaw: float) -> None:
    """Hold at atan(mu) - 0.5°; beyond it slide with g (sin - mu cos) along the slope."""
    critical = math.degrees(math.atan(mu))
    w = on_slope(critical - 0.5, ground=friction(mu=mu), pose=f"0 0 {yaw}")
    w.run(5.0)
    assert abs(w.vehicles["r1"].pose.x) < 1e-3
    steep = math.radians(critical + 5)
    w = on_slope(critical + 5, ground=friction(mu=mu), pose=f"0 0 {yaw}", dt=0.001)
    w.run(2.0)
    want = G * (math.sin(steep) - mu * math.cos(steep))
    along = -w.vehicles["r1"].pose.x / math.cos(steep)
    assert along == pytest.approx(0.5 * want * 4.0, rel=0.01)


@pytest.mark.parametrize("vel", ["5 -3 0", "0 0 1000", "-4 2 -700"])
def test_attitude_at_speed(vel: str) -> None:
    """Also where the ground rises by more than a wheel's radius within a step."""
    robot = cart(vel=vel, controller='<controller class="raw"/>', ground=friction(mu=0.2))
    robot = robot.replace(TWO.strip(), FOUR.replace('diameter="0.4"', 'diameter="0.08"'))
    w = load_world(text=world(incline(30), robot, dt=0.02))
    b = w.bodies[w.data.entities["r1"].row : w.data.entities["r1"].row + 1]
    for _ in range(20):
        w.step()
        assert math.hypot(b["slope_x"][0], b["slope_y"][0]) == pytest.approx(0.5, abs=1e-9)
        assert b["z"][0] == pytest.approx(b["x"][0] * math.tan(math.radians(30)), abs=1e-9)


def test_free_wheels_roll_without_slope_hold() -> None:
    """Downhill with g sin θ m / (m + ΣI/r²)."""
    ground = friction(mu=0.8).replace("</friction>", "<slope_hold>false</slope_hold></friction>")
    w = on_slope(8, ground=ground, dt=0.001)
    w.run(2.0)
    want = G * math.sin(math.radians(8)) * MASS / (MASS + 2 * SPIN / RADIUS**2)
    assert w.vehicles["r1"].twist.vx == pytest.approx(-want * 2.0, rel=0.005)


def test_coasting_uphill_slows_down_and_then_holds() -> None:
    """Gravity brakes an ascending vehicle; when it stands, it is held."""
    v = 2.0
    w = on_slope(8, vel=f"{v} 0 0", ground=friction(mu=0.8), dt=0.001)
    robot = w.vehicles["r1"]
    v_along = robot.twist.vx  # the file's speed is in plan view at the start
    w.run(4.0)
    slope = G * math.sin(math.radians(8)) * MASS / (MASS + 2 * SPIN / RADIUS**2)
    distance = robot.pose.x / math.cos(math.radians(8))
    assert distance == pytest.approx(v_along**2 / (2 * slope), rel=0.01)
    assert abs(robot.twist.vx) < 1e-4


def test_climbing_costs_the_torque_of_the_weight() -> None:
    """At constant speed the motors carry m g sin θ r."""
    pid = twist_pid(40, 80, 60)
    for sign in (1.0, -1.0):
        w = on_slope(10, controller=pid, ground=friction(mu=0.9))
        robot = w.vehicles["r1"]
        robot.set_twist(sign * 0.5)
        w.run(6.0)
        assert robot.twist.vx == pytest.approx(sign * 0.5, rel=1e-3)
        torque = sum(wheel.torque for wheel in robot.wheels)
        want = MASS * G * math.sin(math.radians(10)) * RADIUS
        assert torque == pytest.approx(want, rel=5e-3)


def test_feedforward_carries_the_chassis_from_the_start() -> None:
    """With the slope feed-forward and no integral the speed error is smaller, uphill and down."""
    plain = '<controller class="twist_pid"><KP>40</KP><max_torque>60</max_torque>{}</controller>'
    ff = "<enable_feedforward>true</enable_feedforward>"
    errors = []
    for extra in ("", ff):
        w = on_slope(10, controller=plain.format(extra), ground=friction(mu=0.9))
        w.vehicles["r1"].set_twist(0.5)
        w.run(4.0)
        errors.append(abs(w.vehicles["r1"].twist.vx - 0.5))
    assert errors[1] < 0.4 * errors[0]


def test_energy_of_a_free_ride_is_kept() -> None:
    """Rolling down without losses turns height into speed."""
    ground = friction(mu=0.9).replace("</friction>", "<slope_hold>false</slope_hold></friction>")
    w = on_slope(12, ground=ground, dt=0.001)
    robot = w.vehicles["r1"]
    start = robot.pose.z
    w.run(2.0)
    speed = robot.twist.vx
    kinetic = 0.5 * (MASS + 2 * SPIN / RADIUS**2) * speed**2
    assert kinetic == pytest.approx(MASS * G * (start - robot.pose.z), rel=0.01)


def test_twist_ideal_drives_along_the_ground() -> None:
    """0.5 m/s along a 20° slope is 0.47 m/s in plan view; the odometry shows the way driven."""
    w = on_slope(20, controller='<controller class="twist_ideal"/>')
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    w.run(4.0)
    assert robot.pose.x == pytest.approx(2.0 * math.cos(math.radians(20)), rel=1e-6)
    assert robot.odometry.pose.x == pytest.approx(2.0, rel=1e-2)
    assert robot.twist.vx == pytest.approx(0.5)


@pytest.mark.parametrize("base", list(BASES))
def test_teleport_updates_the_slope(base: str) -> None:
    """Height and attitude belong to the new place at once, and slopes to the next step."""
    w = on_slope(15, base)
    robot = w.vehicles["r1"]
    robot.teleport(10.0, 0.0, math.pi)
    assert robot.pose.z == pytest.approx(10 * math.tan(math.radians(15)))
    assert robot.pose.pitch == pytest.approx(math.radians(15))
