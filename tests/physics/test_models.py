# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Friction models, drivetrains, controllers and wheel loads against their documented formulas."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.controllers.pid import filter_set_point, pid_output, take_set_point
from mvsim_core.dynamics.drivetrain import split_torque
from mvsim_core.friction.default import ground_drag
from mvsim_core.friction.ellipse import (
    PARAMS,
    angle_of_force,
    capacities,
    settled_slip,
    slip_angle,
    turned_across,
)
from mvsim_core.state.arrays import BODY, GAINS, PID, WHEEL, Rows
from tests.physics.worlds import car, cart, twist_pid, world

G = 9.81
MASS, RADIUS, SPIN = 23.0, 0.2, 0.5 * 4 * 0.2**2
EFFECTIVE = MASS + 2 * SPIN / RADIUS**2


def ward(r1: float, r2: float, a: float, c_rr: float = 0.0) -> str:
    """Return a Ward-Iagnemma friction without bearing damping."""
    return f"""<friction class="wardiagnemma"><mu>0.8</mu><C_damping>0</C_damping>
      <C_rr>{c_rr}</C_rr><A_roll>{a}</A_roll><R1>{r1}</R1><R2>{r2}</R2></friction>"""


def ellipse(**extra: float) -> str:
    """Return an ellipse friction without bearing damping."""
    more = "".join(f"<{k}>{v}</{k}>" for k, v in extra.items())
    return f'<friction class="ellipse"><C_damping>0</C_damping>{more}</friction>'


@pytest.mark.parametrize(
    ("r1", "r2", "a"),
    [(0.0075, 0.02, 50.0), (0.03, 0.0, 50.0), (0.0, 0.05, 50.0), (0.02, 0.1, 5.0)],
)
def test_ward_iagnemma_coast_down(r1: float, r2: float, a: float) -> None:
    """The speed follows the integrated drag: m_eff dv/dt = -m g [R1 (1 - e^(-A v)) + R2 v]."""
    v0, seconds = 2.0, 3.0
    w = load_world(text=world(cart(vel=f"{v0} 0 0", ground=ward(r1, r2, a)), dt=0.002))
    w.run(seconds)
    v, dt = v0, 1e-4
    for _ in range(round(seconds / dt)):  # midpoint rule

        def rate(u: float) -> float:
            return -MASS * G / EFFECTIVE * (r1 * (1 - math.exp(-a * abs(u))) + r2 * abs(u))

        v += dt * rate(v + 0.5 * dt * rate(v))
    assert w.vehicles["r1"].twist.vx == pytest.approx(v, rel=5e-3)


def test_ward_iagnemma_brings_to_rest_and_not_back() -> None:
    """The drag stops a vehicle; it never pushes it."""
    w = load_world(text=world(cart(vel="0.3 0 0", ground=ward(0.05, 0.1, 50))))
    robot = w.vehicles["r1"]
    for _ in range(1000):
        w.step()
        assert robot.twist.vx > -1e-9
    assert robot.twist.vx < 1e-3


def test_ground_drag_is_the_formula() -> None:
    """F_rr = -sign(v) N [R1 (1 - exp(-A |v|)) + R2 |v|], odd in v."""
    for v in np.linspace(-3, 3, 31):
        want = -np.sign(v) * 100 * (0.0075 * (1 - math.exp(-50 * abs(v))) + 0.02 * abs(v))
        assert ground_drag(v, 100.0, 0.0075, 0.02, 50.0) == pytest.approx(want, abs=1e-12)


def params(**values: float) -> Rows:
    """Return one row of the ellipse's parameters with the documented defaults."""
    row = np.zeros(1, PARAMS)
    defaults = {
        "c_alpha": 8.5,
        "c_s": 7.5,
        "alpha_sat": 0.1,
        "s_sat": 0.1,
        "c_alpha_s": 0.5,
        "c_s_alpha": 0.5,
    }
    for name, value in {**defaults, **values}.items():
        row[name] = value
    return row[0]


def test_ellipse_capacities_on_a_grid() -> None:
    """Both curves are the documented ones, for absolute slips."""
    p = params(c_alpha_s=0.3, c_s_alpha=0.7)
    for alpha in np.linspace(-0.3, 0.3, 25):
        for s in np.linspace(-1, 1, 21):
            a, r = min(abs(alpha), 0.1), min(abs(s), 0.1)
            along = 50 * 7.5 * r * math.sqrt(1 - 0.7 * (a / 0.1) ** 2)
            across = 50 * 8.5 * a * math.sqrt(1 - 0.3 * (r / 0.1) ** 2)
            got = capacities(p, 50.0, float(alpha), float(s))
            assert got == pytest.approx((along, across), abs=1e-9)
            assert got == capacities(p, 50.0, -float(alpha), -float(s))


@pytest.mark.parametrize("s", [0.0, 0.02, 0.07, 0.1])
@pytest.mark.parametrize("alpha", [0.0, 0.03, -0.08, 0.0999])
def test_a_tyre_at_rest_shows_its_slip_angle_by_its_forces(alpha: float, s: float) -> None:
    """Forces at a slip angle and ratio give the angle back: nothing jumps when it starts."""
    p = params(c_alpha_s=0.4, c_s_alpha=0.5)
    w = np.zeros(1, WHEEL).view(np.recarray)
    w.yaw_c, w.yaw_s, w.normal = math.cos(0.3), math.sin(0.3), 50.0
    along, across = capacities(p, 50.0, alpha, s)
    w.fx = w.yaw_c * along - w.yaw_s * math.copysign(across, -alpha)
    w.fy = w.yaw_s * along + w.yaw_c * math.copysign(across, -alpha)
    assert angle_of_force(p, w[0], 0.0) == pytest.approx(abs(alpha), abs=1e-9)
    w.fy += 1e3
    assert angle_of_force(p, w[0], 0.0) == 0.1  # more than it can give


def test_a_tyre_that_spins_at_rest_has_less_across() -> None:
    p = params()
    w = np.zeros(1, WHEEL).view(np.recarray)
    w.yaw_c, w.normal = 1.0, 50.0
    w.fy = 0.8 * capacities(p, 50.0, 0.1, 1.0)[1]
    assert angle_of_force(p, w[0], 3.0) == pytest.approx(0.08)
    assert angle_of_force(p, w[0], -3.0) == pytest.approx(0.08)


@pytest.mark.parametrize("leader", [-1, 0])
def test_the_velocity_that_turns_is_that_of_the_centre_of_the_island(leader: int) -> None:
    """ω dt v across: v is that of what is welded together, also for a wheel of a member."""
    bodies = np.zeros(2, BODY)
    bodies["leader"] = -1, leader
    bodies["com_x"], bodies["com_y"], bodies["wz"] = (0.4, 0.05), (-0.1, 0.02), 0.7
    bodies["off_x"][1], bodies["off_y"][1], bodies["off_yaw"][1] = 0.5, 0.2, 0.6
    w = np.zeros(1, WHEEL).view(np.recarray)
    w.body, w.x, w.y, w.yaw_c, w.yaw_s = 1, 0.1, 0.25, math.cos(0.3), math.sin(0.3)
    velocity, place, centre, heading = np.array((1.2, 0.3)), (0.1, 0.25), (0.05, 0.02), 0.3
    if leader == 0:  # in its frame
        c, s = math.cos(0.6), math.sin(0.6)
        place = 0.5 + c * 0.1 - s * 0.25, 0.2 + s * 0.1 + c * 0.25
        centre, heading = (0.4, -0.1), 0.9
    x, y = np.subtract(place, centre)
    ahead = np.array((math.cos(heading), math.sin(heading)))
    w.vx = (velocity + 0.7 * np.array((-y, x))) @ ahead
    expected = 0.7 * 0.01 * (velocity @ ahead)
    assert turned_across(bodies, w[0], 0.01) == pytest.approx(expected, rel=1e-12)


def test_ellipse_with_full_coupling_has_no_capacity_left_and_no_nan() -> None:
    """Coefficients of 1 and more leave nothing of the other force, but a number."""
    assert capacities(params(c_s_alpha=1.5), 50.0, 0.2, 0.05)[0] == 0.0


def test_slip_angle_is_at_most_90_degrees_alike_forward_and_backward() -> None:
    assert slip_angle(1.0, 0.1) == pytest.approx(math.atan(0.1))
    assert slip_angle(-1.0, 0.1) == pytest.approx(math.atan(0.1))
    assert slip_angle(0.0, -1.0) == pytest.approx(-math.pi / 2)
    assert slip_angle(0.0, 0.0) == 0.0


@pytest.mark.parametrize("vx", [-3.0, -0.2, 0.0, 0.2, 3.0])
@pytest.mark.parametrize("free", [-4.0, -1e-3, 0.0, 1e-3, 4.0])
@pytest.mark.parametrize("give", [1e-9, 1e-3, 0.1, 50.0])
def test_slip_ratio_agrees_with_its_own_force(vx: float, free: float, give: float) -> None:
    """It is (u - vx) / |u| within ±1 for the surface speed u that the force of it leaves."""
    slip = settled_slip(vx, free, give)
    assert slip == pytest.approx(-settled_slip(-vx, -free, give) if vx else slip)
    surface = free - give * slip
    if abs(slip) < 1.0 and surface != 0.0:
        assert slip == pytest.approx((surface - vx) / abs(surface), abs=1e-6)
    else:  # all that the tyre has does not end the slip
        assert abs(slip) <= 1.0
        assert slip * (surface - vx) >= -1e-12


def test_steered_wheels_keep_the_direction_of_their_angle() -> None:
    """Cosine and sine of a wheel are those of its angle, whatever turned it."""
    text = world(car(controller='<controller class="twist_ideal"/>'))
    sim = load_world(text=text)
    for wz in (0.0, 0.4, -0.3):
        sim.vehicles["r1"].set_twist(1.0, 0.0, wz)
        sim.run(0.05)
        wheels = sim.data.wheels
        assert bool(np.any(wheels["yaw"])) == (wz != 0.0)
        np.testing.assert_allclose(wheels["yaw_c"], np.cos(wheels["yaw"]), atol=1e-15)
        np.testing.assert_allclose(wheels["yaw_s"], np.sin(wheels["yaw"]), atol=1e-15)


@pytest.mark.parametrize("sign", [1, -1])
def test_ellipse_brakes_brake(sign: int) -> None:
    """Released at 2 m/s without torque it does not get faster; with brake torque it stops."""
    w = load_world(text=world(cart(vel=f"{2 * sign} 0 0", ground=ellipse(C_rr=0.01))))
    robot = w.vehicles["r1"]
    w.run(3.0)
    assert 0.0 < sign * robot.twist.vx < 2.0
    last = sign * robot.twist.vx
    while sign * robot.twist.vx > 0.05:
        robot.set_wheel_torques([-3.0 * sign, -3.0 * sign])
        w.step()
        assert sign * robot.twist.vx <= last + 1e-9
        last = sign * robot.twist.vx


@pytest.mark.parametrize("v", [0.3, 1.0, -0.6])
def test_ellipse_rolls_at_the_slip_that_its_force_needs(v: float) -> None:
    """Uphill at constant speed: F = F_z C_s s for each wheel, without shaking, at 5 ms."""
    hill = """<element class="elevation_map"><resolution>400</resolution>
      <elevation_data_matrix>[-20 -20; 20 20]</elevation_data_matrix></element>"""
    w = load_world(text=world(hill, cart(controller=twist_pid(20, 40, 60), ground=ellipse())))
    robot = w.vehicles["r1"]
    robot.set_twist(v)
    w.run(5.0)
    slips, torques = [], []
    for _ in range(50):
        wheel = robot.wheels[0]
        slips.append(1.0 - robot.twist.vx / (wheel.omega * RADIUS))
        torques.append(wheel.torque)
        w.step()
    assert max(torques) - min(torques) < 1e-3
    force = 0.5 * MASS * G * math.sin(math.atan(0.1))
    stiffness = 0.5 * MASS * G * math.cos(math.atan(0.1)) * 7.5
    assert slips[-1] == pytest.approx(math.copysign(force / stiffness, v), rel=0.02)
    robot.set_twist(0.0)
    w.run(2.0)
    assert abs(robot.twist.vx) < 1e-6, "it stops and is held"


def test_ellipse_sideways_slide_is_symmetric() -> None:
    """Left and right slides are mirror images and stay slides."""
    paths = []
    for sign in (1, -1):
        w = load_world(text=world(cart(vel=f"0 {sign} 0", ground=ellipse())))
        w.run(2.0)
        p = w.vehicles["r1"].pose
        paths.append((p.x, sign * p.y, sign * p.yaw))
    assert paths[0] == pytest.approx(paths[1], abs=1e-9)
    assert 0.01 < paths[0][1] < 0.2


@pytest.mark.parametrize("drive", [0.4, -0.4])
def test_ellipse_follows_a_twist(drive: float) -> None:
    """With a PID the ellipse drives as commanded, forward and backward."""
    pid_xml = twist_pid(8, 9, 12)
    w = load_world(text=world(cart(controller=pid_xml, ground=ellipse(C_rr=0.01))))
    w.vehicles["r1"].set_twist(drive, 0.0, 0.3)
    w.run(6.0)
    assert w.vehicles["r1"].twist.vx == pytest.approx(drive, rel=0.02)
    assert w.vehicles["r1"].twist.wz == pytest.approx(0.3, rel=0.05)


@pytest.mark.parametrize(
    ("w1", "w2", "bias", "split", "want"),
    [
        (10.0, 10.0, 1.5, 0.5, 0.5),
        (10.0, 7.0, 1.5, 0.5, 0.5),  # 10 < 1.5 · 7: not locked
        (10.0, 5.0, 1.5, 0.5, 0.375),  # t = (10 - 7.5)/10 = 1/4
        (5.0, 10.0, 1.5, 0.5, 0.625),
        (10.0, 0.0, 1.5, 0.5, 0.0),  # all to the wheel that stands
        (0.0, 10.0, 2.0, 0.5, 1.0),
        (-10.0, 5.0, 1.5, 0.5, 0.375),
        (10.0, 5.0, 1.5, 0.6, 0.6 * 0.75 / (0.6 * 0.75 + 0.4 * 1.25)),
        (10.0, 5.0, 1.0, 0.5, 0.25),
        (10.0, 2.0, 3.0, 0.5, 0.3),
    ],
)
def test_torsen_by_hand(w1: float, w2: float, bias: float, split: float, want: float) -> None:
    """Ten pairs of shaft speeds worked out by hand."""
    assert split_torque(w1, w2, bias, split) == pytest.approx(want)


def test_torsen_is_continuous_at_rest() -> None:
    """Near zero speed the share goes to the plain split."""
    for tiny in (1e-3, 1e-5, 1e-9):
        assert abs(split_torque(tiny, 0.0, 1.5, 0.5) - 0.5) < 51 * tiny


def drivetrain(gears: str, torque: float = 40.0) -> str:
    """Return a car with an engine that gives a constant torque."""
    return car(
        controller=f'<controller class="raw"><torque>{-torque}</torque></controller>{gears}'
    ).replace('class="ackermann"><drive>rear</drive>', 'class="ackermann_drivetrain">')


@pytest.mark.parametrize("kind", ["open_front", "open_rear", "open_4wd", "torsen_4wd"])
def test_shares_sum_to_the_engine_torque(kind: str) -> None:
    """What the engine gives arrives at the wheels, split as the file says."""
    gears = f"""<drivetrain type="{kind}"><front_rear_split>0.3</front_rear_split>
      <front_left_right_split>0.4</front_left_right_split>
      <rear_left_right_split>0.7</rear_left_right_split></drivetrain>"""
    w = load_world(text=world(drivetrain(gears)))
    w.step()
    rl, rr, fl, fr = (wheel.torque for wheel in w.vehicles["r1"].wheels)
    front = {"open_front": 1.0, "open_rear": 0.0}.get(kind, 0.3)
    assert rl + rr + fl + fr == pytest.approx(40.0)
    want = ((1 - front) * 0.7, (1 - front) * 0.3, front * 0.4, front * 0.6)
    assert (rl, rr, fl, fr) == pytest.approx(tuple(40.0 * share for share in want))


def test_each_differential_may_be_of_its_own_kind() -> None:
    """An open centre with torsens at the axles, as the documentation has it."""
    gears = '<drivetrain type="torsen_4wd" center="open" front="open"/>'
    w = load_world(text=world(drivetrain(gears)))
    row = w.data.vehicles[0]
    assert row["bias_centre"] == 0.0
    assert row["bias_front"] == 0.0
    assert row["bias_rear"] == 1.5


NO_LIMIT = (-math.inf, math.inf)


def pid(**values: float) -> tuple[Rows, Rows]:
    """Return a PID row and its gains, without limits."""
    gains = np.zeros(1, GAINS)
    gains["i_max"] = gains["max_torque"] = math.inf
    for name, value in values.items():
        gains[name] = value
    return np.zeros(1, PID)[0], gains[0]


def test_integral_term_is_limited_by_i_max() -> None:
    """The integral's torque never exceeds I_MAX, and comes back at once."""
    p, g = pid(ki=10.0, i_max=3.0)
    outputs = [pid_output(p, g, 1.0, 0.0, NO_LIMIT, 0.01) for _ in range(100)]
    assert max(outputs) == pytest.approx(3.0)
    assert pid_output(p, g, -1.0, 0.0, NO_LIMIT, 0.01) < 3.0


@pytest.mark.parametrize("n", [0.0, 50.0])
def test_derivative_of_a_ramp_is_its_slope(n: float) -> None:
    """KD acts on the rate of the error, with and without filter."""
    (p, g), out = pid(kd=2.0, n=n), 0.0
    for k in range(400):
        out = pid_output(p, g, 0.5 * k * 0.01, 0.0, NO_LIMIT, 0.01)
    assert out == pytest.approx(2.0 * 0.5, rel=1e-3)


@pytest.mark.parametrize("flag", [0, 1])
@pytest.mark.parametrize("error", [1.0, 10.0])
def test_anti_windup_leaves_saturation_at_once(flag: int, error: float) -> None:
    """A long saturation leaves no more in the integral than KP e did not give, with no limit."""
    p, g = pid(kp=1.0, ki=10.0, max_torque=5.0, antiwindup=flag)
    for _ in range(5000):
        assert pid_output(p, g, error, 0.0, NO_LIMIT, 0.01) <= 5.0
    assert p["integral"] <= max(5.0 - error, 0.0)
    first = pid_output(p, g, -error, 0.0, NO_LIMIT, 0.01)
    assert first < max(5.0 - 2.0 * error, -4.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize(("weight", "left"), [(0.0, 0.0), (2.0, 2.0), (5.0, 3.0), (-2.0, 0.0)])
def test_a_reversal_keeps_what_carries_the_weight(sign: float, weight: float, left: float) -> None:
    """What a wheel has summed up against a wall is gone; the weight on a slope still counts."""
    p, _ = pid(ki=10.0)
    take_set_point(p, sign * 0.5, sign * weight)
    p["integral"] = sign * 3.0
    take_set_point(p, 0.0, sign * weight)
    assert p["integral"] == sign * 3.0
    take_set_point(p, -sign * 0.2, sign * weight)
    assert p["integral"] == sign * left


@pytest.mark.parametrize("order", [1, 2])
def test_set_point_filter_answers_a_step_exponentially(order: int) -> None:
    """First order 1 - e^(-t/τ), second order its cascade."""
    (p, g), tau, dt = pid(filter_tau=0.2, filter_order=order), 0.2, 1e-4
    value = 0.0
    for _ in range(3000):
        value = filter_set_point(p, g, 1.0, dt)
    x = 0.3 / tau
    want = 1 - math.exp(-x) * (1 if order == 1 else 1 + x)
    assert value == pytest.approx(want, abs=1e-3)


def loaded(extra: str, com_z: float = 0.6) -> str:
    """Return a car whose wheel loads follow its accelerations."""
    return (
        car(controller=f'<controller class="raw">{extra}</controller>')
        .replace(
            "<drive>rear</drive>", "<drive>rear</drive><weight_transfer>true</weight_transfer>"
        )
        .replace('zmin="0.15"', f'com_z="{com_z}" zmin="0.15"')
    )


def test_braking_and_accelerating_shift_the_load() -> None:
    """The axle load changes by m a h / L, the sum stays the weight."""
    w = load_world(text=world(loaded("<fl_torque>-200</fl_torque><fr_torque>-200</fr_torque>")))
    robot = w.vehicles["r1"]
    loads = []
    w.run(1.0)
    ax, _, _ = robot.acceleration
    loads = [wheel.load for wheel in robot.wheels]
    assert sum(loads) == pytest.approx(800 * G, rel=1e-6)
    at_rest = load_world(text=world(loaded("")))
    at_rest.run(1.0)
    rest = [wheel.load for wheel in at_rest.vehicles["r1"].wheels]
    shifted = (loads[0] + loads[1]) - (rest[0] + rest[1])
    assert shifted == pytest.approx(824 * ax * 0.6 / 1.3, rel=0.02)


def test_static_loads_balance_the_centre_of_mass() -> None:
    """At rest the moments of the axle loads about the chassis' centre of mass cancel."""
    w = load_world(text=world(loaded("")))
    w.run(1.0)
    wheels = w.vehicles["r1"].wheels
    moment = sum(wheel.load * wheel.position[0] for wheel in wheels)
    centre = float(w.data.vehicles["chassis_x"][0])
    assert moment == pytest.approx(800 * G * centre, rel=1e-6)


def test_steering_rate_is_limited() -> None:
    """10°/s: after one second the virtual wheel stands at 10°."""
    raw = '<controller class="front_steer_pid"><KP>10</KP></controller>'
    rate = "<max_steer_rate_deg>10</max_steer_rate_deg>"
    slow = car(controller=raw).replace("<drive>rear</drive>", "<drive>rear</drive>" + rate)
    w = load_world(text=world(slow))
    w.vehicles["r1"].set_ackermann(0.0, math.radians(25))
    w.run(1.0)
    assert math.degrees(w.vehicles["r1"].steering) == pytest.approx(10.0, abs=0.06)
    w.run(3.0)
    assert math.degrees(w.vehicles["r1"].steering) == pytest.approx(25.0)


def test_error_falls_with_the_step() -> None:
    """First order: halving dt halves the error against a fine solution."""
    pid_xml = twist_pid(8, 3, 12)

    def end(dt: float) -> complex:
        w = load_world(text=world(cart(controller=pid_xml), dt=dt))
        w.vehicles["r1"].set_twist(0.8, 0.0, 0.5)
        w.run(2.0)
        p = w.vehicles["r1"].pose
        return complex(p.x, p.y)

    exact = end(0.000125)
    errors = [abs(end(dt) - exact) for dt in (0.008, 0.004, 0.002)]
    orders = [math.log2(a / b) for a, b in pairwise(errors)]
    assert all(0.8 < order < 1.6 for order in orders), orders


def test_friction_regions_are_felt() -> None:
    """Ice under one half of the way, sand under the other; any height of the region."""
    ice = """<element class="property_region"><property_name>friction_mu</property_name>
      <value_double>0.1</value_double><x_min>-50</x_min><x_max>50</x_max><y_min>-50</y_min>
      <y_max>50</y_max></element>"""
    w = load_world(text=world(ice, cart(vel="0 2 0")))
    w.run(3.0)
    assert w.vehicles["r1"].pose.y == pytest.approx(2.0**2 / (2 * 0.1 * G), rel=0.02)
    sand = ice.replace("friction_mu", "friction_C_rr").replace("0.1", "0.05")
    w = load_world(text=world(sand, cart(vel="1 0 0")))
    w.run(1.0)
    assert w.vehicles["r1"].twist.vx == pytest.approx(1 - 0.05 * MASS * G / EFFECTIVE, rel=0.01)
    above = ice.replace("<y_min>", "<z_min>1</z_min><z_max>2</z_max><y_min>")
    w = load_world(text=world(above, cart(vel="0 1 0")))
    w.run(1.0)
    assert w.vehicles["r1"].pose.y == pytest.approx(1 / (2 * 0.7 * G), rel=0.05)


@pytest.mark.parametrize(
    ("ground", "deceleration"),
    [
        (ward(0.0, 0.0, 50.0).replace("<mu>0.8</mu>", "<mu>0.5</mu>"), 0.5 * G),
        (ellipse(C_s=5.0, slip_ratio_saturation=0.1), 0.5 * G),
    ],
)
def test_locked_wheels_brake_with_each_model(ground: str, deceleration: float) -> None:
    """Full opposite torque: the deceleration is mu g, or C_s s_s g for the ellipse."""
    v = 2.0
    w = load_world(text=world(cart(vel=f"{v} 0 0", ground=ground), dt=0.001))
    robot = w.vehicles["r1"]
    while robot.twist.vx > 0.2:
        robot.set_wheel_torques([-1e3 if wheel.omega > 0 else 0.0 for wheel in robot.wheels])
        w.step()
        for wheel in robot.wheels:
            wheel.omega = max(wheel.omega, 0.0)
    assert robot.pose.x == pytest.approx((v**2 - 0.2**2) / (2 * deceleration), rel=0.02)


@pytest.mark.parametrize("dt", [0.0005, 0.001])
def test_loads_follow_the_forces_within_a_tyres_time(dt: float) -> None:
    """After a sudden drive force the load moves by 1 - exp(-t / 20 ms) of what it moves in all.

    The implementation's Euler steps give 1 - (1 - dt/τ)^n, which is ahead of it by at most
    dt / (2 e τ): 1 % at 1 ms. The force itself arrives in the second step, so that a step more or
    less is dt / (e τ).
    """
    text = world(loaded("<fl_torque>-200</fl_torque><fr_torque>-200</fr_torque>"), dt=dt)
    w = load_world(text=text)
    rear = w.vehicles["r1"].wheels[0]
    at = {}
    w.step()
    at[0.0] = rear.load
    for time in (0.01, 0.02, 0.04):
        w.run(time - (w.time - dt))
        at[time] = rear.load
    w.run(0.3)
    for time in (0.01, 0.02, 0.04):
        part = (at[time] - at[0.0]) / (rear.load - at[0.0])
        assert part == pytest.approx(1.0 - math.exp(-time / 0.02), abs=2.5 * dt / (math.e * 0.02))
