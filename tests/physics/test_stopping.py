# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that are commanded to stop: they brake to rest and hold, whatever they consist of."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

from mvsim_core import Vehicle, World, load_world
from tests.physics.test_slopes import incline
from tests.physics.worlds import world

G = 9.81
STEPS = [0.001, 0.005, 0.02]

GAINS = "<KP>{kp}</KP><KI>{ki}</KI><max_torque>{most}</max_torque>"
TWO = """<l_wheel pos="0 0.2" mass="1.5" width="0.05" diameter="0.2"/>
<r_wheel pos="0 -0.2" mass="1.5" width="0.05" diameter="0.2"/>"""
FOUR = "".join(
    f'<{name}_wheel pos="{x} {y}" mass="1" width="0.05" diameter="0.2"/>'
    for name, x, y in (
        ("lr", -0.2, 0.2),
        ("rr", -0.2, -0.2),
        ("lf", 0.2, 0.2),
        ("rf", 0.2, -0.2),
    )
)
CAR = """<rl_wheel pos="-0.2 0.2" mass="1" width="0.05" diameter="0.2"/>
<rr_wheel pos="-0.2 -0.2" mass="1" width="0.05" diameter="0.2"/>
<fl_wheel mass="1" width="0.05" diameter="0.2"/><fr_wheel mass="1" width="0.05" diameter="0.2"/>
<f_wheels_x>0.2</f_wheels_x><f_wheels_d>0.4</f_wheels_d>"""
OMNI = "".join(
    f'<wheel type="omni" mass="1" width="0.05" diameter="0.2"'
    f' pos="{0.2 * math.cos(a):.6f} {0.2 * math.sin(a):.6f} {math.degrees(a) + 90:.6f}"/>'
    for a in (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0)
)
STANDARD = FOUR.replace("lr_", "").replace("rr_", "").replace("lf_", "").replace("rf_", "")
#: Dynamics class (and variant), its wheels and its controller.
VEHICLES = {
    "differential": ("differential", TWO, "twist_pid"),
    "differential_3_wheels": (
        "differential_3_wheels",
        TWO + '<caster_wheel pos="-0.2 0" mass="1" width="0.05" diameter="0.2"/>',
        "twist_pid",
    ),
    "differential_4_wheels": ("differential_4_wheels", FOUR, "twist_pid"),
    "rear drive": ("ackermann", CAR + "<drive>rear</drive>", "twist_front_steer_pid"),
    "front drive": ("ackermann", CAR + "<drive>front</drive>", "twist_front_steer_pid"),
    "all drive": ("ackermann", CAR + "<drive>all</drive>", "front_steer_pid"),
    "open_rear": (
        "ackermann_drivetrain",
        CAR + '<drivetrain type="open_rear"/>',
        "twist_front_steer_pid",
    ),
    "torsen_4wd": ("ackermann_drivetrain", CAR + '<drivetrain type="torsen_4wd"/>', "front_steer"),
    "mecanum": ("mecanum", FOUR, "twist_pid"),
    "omni": ("wheels", OMNI, "twist_pid"),
    "wheels": ("wheels", STANDARD, "twist_pid"),
}
FRICTIONS = {
    "default": '<friction class="default"><mu>{mu}</mu></friction>',
    "circle": '<friction class="default"><mu>{mu}</mu><friction_circle>1</friction_circle>'
    "</friction>",
    "wardiagnemma": '<friction class="wardiagnemma"><mu>{mu}</mu></friction>',
    "ellipse": '<friction class="ellipse"><C_s>{stiff}</C_s><C_alpha>{stiff}</C_alpha></friction>',
}
PAIRS = [
    (kind, friction)
    for kind in VEHICLES
    for friction in FRICTIONS
    if friction != "ellipse" or kind not in ("mecanum", "omni")
]


def vehicle(
    kind: str,
    friction: str = "default",
    *,
    mu: float = 0.8,
    kp: float = 15.0,
    ki: float = 10.0,
    most: float = 8.0,
    pose: str = "0 0 0",
    more: str = "",
) -> str:
    """Return one of VEHICLES with a mass of about 13 kg."""
    dynamics, wheels, controller = VEHICLES[kind]
    if dynamics == "ackermann_drivetrain":  # one motor for all wheels
        most, kp, ki = 4 * most, 4 * kp, 4 * ki
    com = -0.2 / 3.0 if kind == "differential_3_wheels" else 0.0  # amid the wheels
    gains = GAINS.format(kp=kp, ki=ki, most=most)
    return f"""<vehicle name="r1"><init_pose>{pose}</init_pose><dynamics class="{dynamics}">
      {wheels}<chassis mass="10" zmin="0.05" zmax="0.4" linear_damping="0" angular_damping="0">
      <com>{com} 0</com>
      <shape><pt>-0.25 -0.15</pt><pt>-0.25 0.15</pt><pt>0.45 0.15</pt><pt>0.45 -0.15</pt></shape>
      </chassis><controller class="{controller}">{gains}{more}</controller></dynamics>
      {FRICTIONS[friction].format(mu=mu, stiff=10.0 * mu)}</vehicle>"""


def load(text: str, dt: float, ground: str = "") -> tuple[World, Vehicle]:
    """Return a world and its vehicle."""
    w = load_world(text=world(ground, text, dt=dt))
    return w, w.vehicles["r1"]


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize(("kind", "friction"), PAIRS)
def test_held_on_a_slope_below_its_grip(kind: str, friction: str, dt: float) -> None:
    """20 degrees, up, across and askew: less than a micrometre in 1 s, and no speed."""
    for yaw in (0, 90, 37):
        w, r = load(vehicle(kind, friction, pose=f"0 0 {yaw}"), dt, incline(20))
        w.run(1.0)
        assert math.hypot(r.pose.x, r.pose.y) < 1e-6, yaw
        assert abs(r.pose.yaw - math.radians(yaw)) < 1e-6
        assert r.held
        assert abs(r.odometry.twist.vx) < 1e-9


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize(("kind", "friction"), PAIRS)
@pytest.mark.parametrize("yaw", [0, 90])
def test_locked_wheels_slide_beyond_their_grip(
    kind: str, friction: str, yaw: int, dt: float
) -> None:
    """With the parking brake: g (sin - mu cos) down a slope steeper than atan(mu)."""
    if kind in ("mecanum", "omni"):
        pytest.skip("the grip of wheels with rollers depends on the direction")
    if kind == "differential_3_wheels":
        pytest.skip("its caster rolls in any direction")
    if friction == "ellipse":
        pytest.skip("its grip falls with the slip")
    mu, steep = 0.3, math.radians(25)
    w, r = load(vehicle(kind, friction, mu=mu, pose=f"0 0 {yaw}"), dt, incline(25))
    r.set_brake(True)
    w.run(1.0)
    want = 0.5 * G * (math.sin(steep) - mu * math.cos(steep))
    drag = (
        0.03 if friction == "wardiagnemma" and yaw == 0 else 0.0
    )  # R1 + R2 v of the normal force
    assert -r.pose.x / math.cos(steep) == pytest.approx(want, rel=0.01 + drag, abs=0.5 * G * drag)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", list(VEHICLES))
def test_a_motor_too_weak_rolls_by_the_difference(kind: str, dt: float) -> None:
    """Below its grip and above its torque: (m g sin - Σ T / R) / (m + Σ I / R²)."""
    if kind in ("mecanum", "omni"):
        pytest.skip("rollers: see the locked ones")
    angle, most = math.radians(15), 0.3
    gains = {"kp": 3.0, "ki": 0.0, "most": most}
    w, r = load(vehicle(kind, **gains), dt, incline(15))  # type: ignore[arg-type]
    row = w.model.entities[0]
    braking = float(row.wheels["brake"].sum()) / 0.1
    as_mass = row.wheels["inertia"] / row.wheels["radius"] ** 2
    inertia = float(as_mass[row.wheels["caster"] == 0].sum())
    want = (r.mass * G * math.sin(angle) - braking) / (r.mass + inertia)
    assert want > 0.5
    w.run(1.0)
    along = -r.pose.x / math.cos(angle)
    assert along == pytest.approx(0.5 * want, rel=0.01 + 2.5 * dt)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", list(VEHICLES))
def test_stops_and_stays(kind: str, dt: float) -> None:
    """Commanded 0 in a curve it stands within a second, alike at all steps, and stays."""
    w, r = load(vehicle(kind, kp=4.0), dt)
    r.set_twist(0.5, 0.0, 0.5)
    w.run(3.0)
    start = r.pose
    r.set_twist(0.0)
    w.run(1.0)
    at = r.pose
    way = math.hypot(at.x - start.x, at.y - start.y)
    w.run(5.0)
    assert r.pose.x == pytest.approx(at.x, abs=1e-9)
    assert r.pose.yaw == pytest.approx(at.yaw, abs=1e-9)
    assert 0.0 < way < 0.2
    assert (r.twist.vx, r.twist.wz) == pytest.approx((0.0, 0.0), abs=1e-9)


def way_to_a_stop(kind: str, friction: str, gains: tuple[float, float, float], dt: float) -> float:
    """Return the way of a vehicle from 0.5 m/s to rest [m], with KP, KI and the largest torque."""
    kp, ki, most = gains
    w, r = load(vehicle(kind, friction, kp=kp, ki=ki, most=most), dt)
    r.set_velocity(0.5, 0.0, 0.0)
    r.set_twist(0.5)
    w.run(0.5)
    r.set_velocity(0.5, 0.0, 0.0)  # driving is first order in the step
    x = r.pose.x
    r.set_twist(0.0)
    w.run(3.0 / kp)
    return r.pose.x - x


def deviation_of_the_way(kind: str, friction: str, gains: tuple[float, float, float]) -> float:
    """By which part the ways to a stop at 5 and 10 ms differ from that at 1 ms."""
    way, *others = (way_to_a_stop(kind, friction, gains, dt) for dt in (0.001, 0.005, 0.01))
    return max(abs(other - way) for other in others) / abs(way)


@pytest.mark.parametrize(
    ("kind", "friction"),
    [
        ("differential", "default"),
        ("rear drive", "ellipse"),
        ("front drive", "wardiagnemma"),
        ("torsen_4wd", "circle"),
        ("mecanum", "default"),
        ("wheels", "circle"),
    ],
)
@pytest.mark.parametrize("gains", [(1.0, 1.0, 8.0), (1.0, 1.0, 0.4), (4.0, 4.0, 2.0)])
def test_the_stopping_distance_is_the_same_at_each_step(
    kind: str, friction: str, gains: tuple[float, float, float]
) -> None:
    """Within 1 % at 1, 5 and 10 ms: loops within their torque, at its limit, and for a part."""
    assert deviation_of_the_way(kind, friction, gains) <= 0.01


#: Motors stronger than the grip, whose wheels slip when they brake.
SLIPPING = [
    ("open_rear", "default", (4.0, 4.0, 2.0)),
    ("open_rear", "circle", (4.0, 0.0, 4.0)),
    ("rear drive", "wardiagnemma", (8.0, 8.0, 8.0)),
    ("front drive", "default", (8.0, 8.0, 8.0)),
    ("all drive", "circle", (8.0, 8.0, 8.0)),
    ("differential_4_wheels", "default", (8.0, 8.0, 8.0)),
    ("mecanum", "default", (8.0, 8.0, 8.0)),
    ("omni", "default", (8.0, 8.0, 8.0)),
    ("omni", "circle", (8.0, 8.0, 8.0)),
    ("open_rear", "ellipse", (4.0, 4.0, 2.0)),
    ("rear drive", "ellipse", (8.0, 8.0, 8.0)),
    ("differential_4_wheels", "ellipse", (8.0, 8.0, 8.0)),
    ("torsen_4wd", "ellipse", (8.0, 8.0, 8.0)),
]


@pytest.mark.parametrize(("kind", "friction", "gains"), SLIPPING)
def test_wheels_that_slip_when_they_brake_stop_as_far_at_each_step(
    kind: str, friction: str, gains: tuple[float, float, float]
) -> None:
    """At 1, 5 and 10 ms; their wheels lose the spin in a time I/(KP R) of 3 to 6 ms."""
    assert deviation_of_the_way(kind, friction, gains) <= 0.01


@pytest.mark.parametrize("dt", [0.001, 0.005, 0.01, 0.02])
@pytest.mark.parametrize("friction", FRICTIONS)
@pytest.mark.parametrize("kind", ["open_rear", "differential_4_wheels", "mecanum"])
def test_motors_beyond_the_grip_lock_their_wheels_and_do_not_reverse_them(
    kind: str, friction: str, dt: float
) -> None:
    """No wheel turns backwards, no speed grows, and no motor gives more than its limit."""
    if (kind, friction) not in PAIRS:
        pytest.skip("the model has no rollers")
    w, r = load(vehicle(kind, friction, mu=0.3, kp=20.0), dt)
    r.set_velocity(0.5, 0.0, 0.0)
    r.set_twist(0.0)
    last = 0.5
    for _ in range(round(0.4 / dt)):
        w.step()
        assert min(wheel.omega for wheel in r.wheels) > -1e-9
        assert r.twist.vx <= last + 1e-12
        assert max(abs(wheel.torque) for wheel in r.wheels) <= 8.0 * (4.0 if "_" in kind else 1.0)
        last = r.twist.vx
    assert abs(last) < 1e-12


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_a_loop_without_an_integral_does_not_creep_downhill(kind: str) -> None:
    """P alone ends at a speed where KP v is the weight; then the brake takes over."""
    w, r = load(vehicle(kind, kp=4.0, ki=0.0), 0.005, incline(15))
    r.set_twist(-0.5)
    w.run(3.0)
    r.set_twist(0.0)
    w.run(4.0)
    x = r.pose.x
    w.run(2.0)
    assert abs(r.pose.x - x) < 1e-6


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_coasting_is_kept_as_an_option(kind: str) -> None:
    """Below the stop speed the motors let go, and without damping the vehicle rolls on."""
    more = "<zero_command>coast</zero_command>"
    w, r = load(
        vehicle(kind, kp=4.0, more=more).replace("<mu>", "<C_damping>0</C_damping><mu>"), 0.005
    )
    r.set_twist(0.5)
    w.run(3.0)
    r.set_twist(0.0)
    w.run(3.0)
    assert not r.held
    assert 0.001 < r.twist.vx < 0.06
    assert all(wheel.torque == 0.0 for wheel in r.wheels)


@pytest.mark.parametrize("dt", STEPS)
@pytest.mark.parametrize("kind", [kind for kind in VEHICLES if VEHICLES[kind][1][:3] == CAR[:3]])
def test_a_car_told_to_turn_on_the_spot_stands(kind: str, dt: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        w, r = load(vehicle(kind, kp=4.0), dt)
        r.set_twist(0.0, 0.0, 1.0)
        w.run(3.0)
    assert math.hypot(r.pose.x, r.pose.y) < 1e-9
    assert r.steering == pytest.approx(math.radians(30))


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_parking_brake(kind: str) -> None:
    """It stops a commanded vehicle, holds it on a slope, and lets it follow when released."""
    w, r = load(vehicle(kind, kp=4.0), 0.005, incline(10))
    r.set_twist(0.5)
    w.run(2.0)
    r.set_brake(True)
    assert r.braked
    w.run(1.0)
    x = r.pose.x
    w.run(1.0)
    assert r.pose.x == pytest.approx(x, abs=1e-6)
    r.set_brake(False)
    w.run(2.0)
    assert r.twist.vx == pytest.approx(0.5, abs=0.08)


def test_parking_brake_of_an_ideal_and_of_a_raw_vehicle() -> None:
    for controller in ('<controller class="twist_ideal"/>', '<controller class="raw"/>'):
        text = vehicle("differential")
        head, _, rest = text.partition("<controller")
        text = head + controller + rest.partition("</controller>")[2]
        w, r = load(text, 0.005)
        if "raw" in controller:
            r.set_wheel_torques([1.0, 1.0])
        else:
            r.set_twist(1.0)
        r.set_brake(True)
        w.run(1.0)
        assert r.pose.x == 0.0
        r.set_brake(False)
        w.run(1.0)
        assert r.pose.x > 0.1


def test_welded_vehicles_hold_together() -> None:
    """Two held vehicles in one island share the weight; neither doubles the other's brake."""
    a, b = vehicle("differential", pose="0 1 0"), vehicle("mecanum", pose="0 -1 0")
    b = b.replace('name="r1"', 'name="r2"')
    w = load_world(text=world(incline(15), a, b, dt=0.005))
    w.weld("r1", "r2")
    start = w.vehicles["r2"].pose
    w.run(3.0)
    assert abs(w.vehicles["r1"].pose.x) < 1e-6
    assert w.vehicles["r2"].pose.yaw == pytest.approx(start.yaw, abs=1e-6)


@pytest.mark.parametrize("dt", STEPS)
def test_on_split_ice_the_other_wheels_hold(dt: float) -> None:
    """One wheel of four stands on ice, and three hold the whole weight."""
    ice = """<element class="property_region"><x_min>-0.4</x_min><x_max>0</x_max>
      <y_min>0</y_min><y_max>0.4</y_max><property_name>friction_mu</property_name>
      <value_double>0</value_double></element>"""
    w, r = load(vehicle("wheels", mu=0.8), dt, incline(15) + ice)
    w.run(3.0)
    assert math.hypot(r.pose.x, r.pose.y) < 1e-6
    assert abs(r.pose.yaw) < 1e-6
    assert r.wheels[0].fx == 0.0


WALL = """<element class="vertical_plane"><x0>1.2</x0><y0>-3</y0><x1>1.2</x1><y1>3</y1>
<height>2</height></element>"""


@pytest.mark.parametrize("dt", [0.001, 0.005])
@pytest.mark.parametrize("ki", [1.0, 60.0])
@pytest.mark.parametrize("kind", list(VEHICLES))
def test_after_a_wall_it_reverses_at_once(kind: str, ki: float, dt: float) -> None:
    """20 s of pushing, then backwards: it moves back within 0.2 s."""
    # speed is measured at wheels that do not slip: those in front may turn ever faster
    most = 2.0 if kind == "front drive" else 8.0
    w, r = load(vehicle(kind, kp=4.0, ki=ki, most=most), dt, WALL)
    r.set_twist(0.5)
    w.run(22.0 if dt == 0.005 else 6.0)
    x = r.pose.x
    r.set_twist(-0.5)
    w.run(0.2)
    assert r.twist.vx < -0.05
    assert r.pose.x < x - 1e-3


@pytest.mark.parametrize("kind", list(VEHICLES))
def test_feed_forward_carries_the_chassis_once(kind: str) -> None:
    """At KP alone, without losses: KP (v* - v) Σ / R carries the wheels' share of the weight."""
    angle, kp = math.radians(8), 15.0
    more = "<enable_feedforward>true</enable_feedforward>"
    for on in (False, True):
        text = vehicle(kind, kp=kp, ki=0.0, most=50.0, more=more if on else "")
        if "front_steer" in text and "twist_front_steer" not in text:
            pytest.skip("front_steer_pid has no feed-forward")
        text = text.replace("<mu>", "<C_damping>0</C_damping><mu>")
        w, r = load(text, 0.002, incline(8))
        r.set_twist(0.5)
        w.run(4.0)
        row = w.model.entities[0]
        braking = row.wheels["brake"]
        number = 4 if VEHICLES[kind][0] == "ackermann_drivetrain" else np.count_nonzero(braking)
        carried = r.mass - (10.0 if on else 0.0)
        if kind == "omni":
            number = 1.5  # Σ of the squared cosines of three wheels at 120 degrees
        want = 0.5 - carried * G * math.sin(angle) * 0.1 / (kp * number)
        assert r.twist.vx == pytest.approx(want, abs=2e-3)
