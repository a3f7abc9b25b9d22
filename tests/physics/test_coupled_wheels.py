# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheels as parts of one vehicle: sliding, skid steering, chatter, loads, casters, trailers."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import WorldFileError
from tests.physics.worlds import world

G = 9.81
CIRCLE = "<friction_circle>true</friction_circle>"
PID = (
    '<controller class="twist_pid"><KP>25</KP><KI>60</KI><max_torque>20</max_torque></controller>'
)
HALF = f'<friction class="default"><mu>.5</mu><C_damping>0</C_damping>{CIRCLE}</friction>'
RAW = '<controller class="raw"/>'


def rover(
    lx: float = 0.25,
    vel: str = "0 0 0",
    controller: str = RAW,
    friction: str = HALF,
    more: str = "",
    chassis: str = "",
) -> str:
    """Return a four-wheeled robot of 40 + 4 x 2 kg, track 0.5 m, wheelbase 2 lx [m]."""
    places = (("lr", -lx, 0.25), ("rr", -lx, -0.25), ("lf", lx, 0.25), ("rf", lx, -0.25))
    wheels = "".join(
        f'<{n}_wheel pos="{x} {y}" mass="2" width=".08" diameter=".2"/>' for n, x, y in places
    )
    return f"""<vehicle name="r1"><init_pose>0 0 0</init_pose><init_vel>{vel}</init_vel>
      <dynamics class="differential_4_wheels">{wheels}{more}
      <chassis mass="40" zmin=".05" zmax=".5" linear_damping="0" angular_damping="0" {chassis}>
      <shape><pt>-.35 -.2</pt><pt>-.35 .2</pt><pt>.35 .2</pt><pt>.35 -.2</pt></shape></chassis>
      {controller}</dynamics>{friction}</vehicle>"""


def load(text: str, dt: float) -> World:
    return load_world(text=world(text, dt=dt))


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01])
@pytest.mark.parametrize("vy", [0.05, 0.3, 1.0, -3.0])
def test_a_sliding_wheel_is_pushed_against_its_slip(vy: float, dt: float) -> None:
    w = load(rover(vel=f"3 {vy} 0"), dt)
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([-200.0] * 4)
    for wheel in robot.wheels:
        wheel.omega = 0.0
    w.step()
    for wheel in robot.wheels:
        assert math.atan2(-wheel.fy, -wheel.fx) == pytest.approx(math.atan2(vy, 3.0), abs=1e-9)
        assert math.hypot(wheel.fx, wheel.fy) == pytest.approx(0.5 * 12 * G)


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.02])
def test_the_force_that_pushes_the_vehicle_turns_the_wheel(dt: float) -> None:
    """I dω/dt = τ - R F for each wheel, m dv/dt = Σ F: rolling, sliding, turning, braking."""
    w = load(rover(vel="0.5 0.2 40"), dt)
    robot = w.vehicles["r1"]
    rng = np.random.default_rng(1)
    for _ in range(100):
        torques = rng.uniform(-12, 12, 4)
        robot.set_wheel_torques(torques.tolist())
        before = [wheel.omega for wheel in robot.wheels]
        b = w.bodies[0]
        velocity = np.array([b["cvx"], b["cvy"]])
        c, s = math.cos(b["yaw"]), math.sin(b["yaw"])
        w.step()
        for wheel, omega, torque in zip(robot.wheels, before, torques, strict=True):
            gained = 0.01 * (wheel.omega - omega) / dt
            assert gained == pytest.approx(torque - 0.1 * wheel.fx, abs=1e-6)
            assert math.hypot(wheel.fx, wheel.fy) <= 0.5 * 12 * G * (1 + 1e-12)
        force = np.array([[c, -s], [s, c]]) @ np.sum([(x.fx, x.fy) for x in robot.wheels], axis=0)
        change = 48 * (np.array([w.bodies[0]["cvx"], w.bodies[0]["cvy"]]) - velocity) / dt
        assert change == pytest.approx(force, abs=1e-6)


def turning_rate(lx: float, friction: str, dt: float) -> float:
    """Return the mean yaw rate of a skid-steered robot that is commanded 0.8 rad/s [rad/s]."""
    w = load(rover(lx, controller=PID, friction=friction), dt)
    robot = w.vehicles["r1"]
    robot.set_twist(0, 0, 0.8)
    w.run(2.0)
    yaw = robot.pose.yaw
    w.run(1.0)
    return robot.pose.yaw - yaw


@pytest.mark.parametrize("lx", [0.1, 0.25, 0.3])
def test_skid_steering_has_its_effective_track_at_each_step(lx: float) -> None:
    """Wheels of a speed turn it at w ly²/(lx² + ly²): Coulomb friction against the slip."""
    ground = f'<friction class="default"><mu>.7</mu>{CIRCLE}</friction>'
    rates = [turning_rate(lx, ground, dt) for dt in (0.001, 0.005, 0.01)]
    want = 0.8 * 0.25**2 / (0.25**2 + lx**2)
    assert rates == pytest.approx([want] * 3, rel=0.01)


@pytest.mark.parametrize(("lx", "steps"), [(0.1, (0.001, 0.005, 0.01)), (0.2, (0.001, 0.005))])
def test_a_skidding_ellipse_converges(lx: float, steps: tuple[float, ...]) -> None:
    """The curves: F_x(s) ly = F_y lx, both scaled by the other slip, lateral slip saturated.

    At lx = 0.2 m the motors are stronger than the grip across by 10 % only: a step of 10 ms, at
    which slipping wheels swing, does not get it to turn.
    """
    rates = [turning_rate(lx, '<friction class="ellipse"/>', dt) for dt in steps]
    s = np.linspace(0.0, 0.1, 100_001)
    along = 7.5 * s * math.sqrt(0.5)
    across = 0.85 * np.sqrt(1.0 - 0.5 * (s / 0.1) ** 2)
    slip = s[np.argmax(along * 0.25 >= across * lx)]
    assert rates == pytest.approx([0.8 * (1 - slip)] * len(steps), rel=0.01)


SHORT_CAR = """<vehicle name="r1"><init_pose>0 0 0</init_pose>
  <dynamics class="ackermann"><drive>rear</drive>
  <rl_wheel pos="0 .1" mass=".1" width=".04" diameter=".1"/>
  <rr_wheel pos="0 -.1" mass=".1" width=".04" diameter=".1"/>
  <fl_wheel mass=".1" width=".04" diameter=".1"/><fr_wheel mass=".1" width=".04" diameter=".1"/>
  <f_wheels_x>.33</f_wheels_x><f_wheels_d>.2</f_wheels_d>
  <chassis mass="3" zmin=".03" zmax=".15"><shape><pt>{a} -.07</pt><pt>{a} .07</pt><pt>{b} .07</pt>
  <pt>{b} -.07</pt></shape></chassis><controller class="twist_front_steer_pid"><KP>1</KP>
  <KI>1</KI><max_torque>.2</max_torque></controller></dynamics>{friction}</vehicle>"""
MODELS = (
    '<friction class="default"><mu>.8</mu></friction>',
    f'<friction class="default"><mu>.8</mu>{CIRCLE}</friction>',
    '<friction class="wardiagnemma"><mu>.8</mu></friction>',
    '<friction class="ellipse"/>',
)


@pytest.mark.parametrize("friction", MODELS)
@pytest.mark.parametrize("length", [0.33, 0.2])
def test_a_short_car_does_not_chatter_in_yaw(length: float, friction: str) -> None:
    """Its axles stop m/2 each where the body answers with its small inertia: once, for ever."""
    text = SHORT_CAR.format(a=0.165 - length / 2, b=0.165 + length / 2, friction=friction)
    for dt in (0.002, 0.01):
        w = load(text, dt)
        robot = w.vehicles["r1"]
        robot.set_twist(1, 0, 0.6)
        w.run(0.5)
        robot.set_twist(1, 0, 0)
        w.run(1.0)
        for _ in range(20):
            w.step()
            assert abs(robot.twist.wz) < 1e-6


@pytest.mark.parametrize("height", [0.2, 0.6, 0.9])
@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_loads_sum_to_the_weight_when_wheels_lift(height: float, dt: float) -> None:
    """Full braking: no harder than mu g, and it is reported that it would tip over."""
    ground = '<friction class="default"><mu>.8</mu><C_damping>0</C_damping></friction>'
    text = rover(
        0.2,
        "3 0 0",
        friction=ground,
        more="<weight_transfer>true</weight_transfer>",
        chassis=f'com_z="{height}"',
    )
    w = load(text, dt)
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([-60.0] * 4)
    tips = 0.8 * height > 0.2  # m a h beyond m g lx
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(round(0.2 / dt)):
            w.step()
            assert sum(wheel.load for wheel in robot.wheels) == pytest.approx(40 * G)
            assert -robot.acceleration[0] <= 0.8 * G * (1 + 1e-9)
        assert robot.tipping == tips
    said = [str(it.message) for it in caught]
    assert sum("would tip over" in text for text in said) == int(tips)
    assert len(said) <= 2
    assert [wheel.lifted for wheel in robot.wheels] == [tips, tips, False, False]
    # the forces act at the height, the weight is 48 kg: p = h a / g ahead of the middle
    assert robot.tip_margin == pytest.approx(0.2 - 0.8 * height, abs=0.02)


def test_tipping_is_known_without_weight_transfer_and_sideways() -> None:
    w = load(rover(0.2, "0 3 0", chassis='com_z="1.2"'), 0.005)
    w.step()
    robot = w.vehicles["r1"]
    assert robot.tip_margin == pytest.approx(0.25 - 0.5 * 1.2, abs=1e-6)
    assert robot.tipping
    assert not robot.wheels[0].lifted


def three(friction: str, caster: str = "", torque: str = RAW) -> str:
    """Return a robot with two driven wheels and a caster 0.3 m behind, centred on the axle."""
    return f"""<vehicle name="r1"><dynamics class="differential_3_wheels">
      <l_wheel pos="0 .2" mass="1" width=".05" diameter=".2"/>
      <r_wheel pos="0 -.2" mass="1" width=".05" diameter=".2"/>
      <caster_wheel pos="-.3 0" mass=".3" width=".03" diameter=".08" {caster}/>
      <chassis mass="10" zmin=".05" zmax=".4" linear_damping="0" angular_damping="0">
      <com>0.009 0</com>
      <shape><pt>-.3 -.2</pt><pt>-.3 .2</pt><pt>.3 .2</pt><pt>.3 -.2</pt></shape></chassis>
      {torque}</dynamics>{friction}</vehicle>"""


@pytest.mark.parametrize("friction", MODELS)
@pytest.mark.parametrize("dt", [0.001, 0.01])
def test_a_caster_turns_as_freely_as_none(friction: str, dt: float) -> None:
    """Yaw acceleration = torque / inertia; the caster rolls behind its axis."""
    none = "<C_damping>0</C_damping></friction>"
    if "wardiagnemma" in friction:
        none = "<R1>0</R1><R2>0</R2>" + none
    freely = friction.replace("</friction>", none)
    freely = freely.replace("/>", "><C_damping>0</C_damping></friction>")
    w = load(three(freely), dt)
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([-0.5, 0.5, 0.0])
    w.run(0.5)
    inertia = float(w.bodies["inertia"][0]) + 2 * 0.5 * 1 * 0.2**2
    assert robot.twist.wz == pytest.approx(2 * 0.5 / 0.1 * 0.2 / inertia * 0.5, rel=0.03)
    assert abs(robot.wheels[2].fy) < 0.02 * 12.3 * G
    w.run(1.0)
    caster = robot.wheels[2]
    assert caster.steering == pytest.approx(-math.pi / 2, abs=0.2)
    assert caster.omega * 0.04 == pytest.approx(0.3 * robot.twist.wz, rel=0.05)


def test_a_standard_wheel_in_place_of_the_caster_grips_sideways() -> None:
    w = load(three(MODELS[0], 'type="standard"'), 0.005)
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([-0.5, 0.5, 0.0])
    w.run(0.5)
    assert robot.twist.wz < 0.1


def test_only_the_caster_wheel_is_a_caster() -> None:
    text = three(MODELS[0]).replace("<l_wheel pos", '<l_wheel type="caster" pos')
    with pytest.raises(WorldFileError, match="l_wheel cannot be a caster"):
        load(text, 0.005)


def test_casters_resist_by_their_rolling_resistance_in_any_direction() -> None:
    """A robot pushed sideways on ice: only the caster's C_rr N acts there."""
    ice = '<friction class="default"><mu>0.5</mu><C_rr>0.03</C_rr></friction>'
    w = load(three(ice).replace("<dynamics", "<init_vel>0 0 60</init_vel><dynamics", 1), 0.002)
    robot = w.vehicles["r1"]
    w.run(0.2)
    caster = robot.wheels[2]
    load_n = (10 / 3 + 0.3) * G
    assert math.hypot(caster.fx, caster.fy) == pytest.approx(0.03 * load_n, rel=0.01)
    assert caster.fy > 0.0  # it moves to the right, to -y


@pytest.mark.parametrize("dt", [0.002, 0.01])
def test_a_trailer_rolls_with_slope_hold(dt: float) -> None:
    """Uncoupled it stays on its slope; hung on a joint it is a trailer, and rolls down."""
    tilt = math.tan(math.radians(5))
    rows = ";".join(" ".join([f"{10 * (i - 10) * tilt:.9f}"] * 21) for i in range(21))
    cart = """<vehicle name="{n}"><init_pose>{x} 0 0</init_pose><dynamics class="differential">
      <l_wheel pos="0 .3" mass="2" width=".08" diameter=".3"/>
      <r_wheel pos="0 -.3" mass="2" width=".08" diameter=".3"/>
      <chassis mass="30" zmin=".1" zmax=".5" linear_damping="0" angular_damping="0"><shape>
      <pt>-.3 -.25</pt><pt>-.3 .25</pt><pt>.3 .25</pt><pt>.3 -.25</pt></shape></chassis>
      <controller class="raw"/></dynamics>
      <friction class="default"><mu>.8</mu><C_damping>0</C_damping></friction></vehicle>"""
    ground = f"""<element class="elevation_map"><resolution>10</resolution>
      <elevation_data_matrix>[{rows}]</elevation_data_matrix></element>"""
    joint = """<joint type="revolute" body_a="a" body_b="b" anchor_a="-.5 0" anchor_b=".5 0"/>"""
    text = ground + cart.format(n="a", x=0) + cart.format(n="b", x=-1)
    alone, hung = (load_world(text=world(text, more, dt=dt)) for more in ("", joint))
    alone.run(0.5)
    assert abs(alone.vehicles["b"].twist.vx) < 1e-6
    hung.run(0.5)
    speed = G * math.sin(math.radians(5)) * 34 / (34 + 2) * 0.5
    assert -hung.vehicles["b"].twist.vx == pytest.approx(speed, rel=0.05)
    hung.vehicles["b"].set_brake(True)
    hung.vehicles["a"].set_brake(True)
    hung.run(1.0)
    assert abs(hung.vehicles["b"].twist.vx) < 1e-3


@pytest.mark.parametrize("torque", [0.3, 1.0])
def test_turning_about_an_axle_that_is_not_below_the_centre_of_mass(torque: float) -> None:
    """The Chaplygin sleigh: (m + i) dv/dt = m x ω², J dω/dt = T - m x v ω; the error ~ the step.

    i and J count the inertia of the wheels; x is where the centre of mass is ahead of the axle.
    """
    friction = '<friction class="default"><mu>.8</mu><C_damping>0</C_damping></friction>'
    text = three(friction).replace("<com>0.009 0</com>", "<com>-0.1 0</com>")
    w = load(text, 0.001)
    robot, b = w.vehicles["r1"], w.bodies[0]
    mass, x = float(b["mass"]), float(b["com_x"])
    assert x < -0.05
    left = w.data.wheels[w.data.entities["r1"].wheel0]
    rolling = 2.0 * float(left["inertia"] / left["radius"] ** 2)
    y, radius = float(left["y"]), float(left["radius"])
    about = float(b["inertia"]) + mass * x * x + rolling * y * y
    v = turn = 0.0
    for _ in range(10000):
        v, turn = (
            v + mass * x * turn * turn / (mass + rolling) * 1e-4,
            turn + (2.0 * torque * y / radius - mass * x * v * turn) / about * 1e-4,
        )
    robot.set_wheel_torques([-torque, torque, 0.0])
    w.run(1.0)
    assert (robot.twist.vx, robot.twist.wz) == pytest.approx((v, turn), rel=5e-3)
    assert turn < 0.98 * 2.0 * torque * y / radius / about
