# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The physics against formulas that can be worked out by hand."""

from __future__ import annotations

import math

import pytest

from mvsim_core import load_world
from tests.physics.worlds import block, car, cart, friction, twist_pid, world

G = 9.81
#: cart: total mass, wheel radius and inertia
STRONG = twist_pid(20, 60, 50)
STEERING = (
    '<controller class="twist_front_steer_pid"><KP>800</KP><KI>900</KI>'
    "<max_torque>900</max_torque></controller>"
)
MASS, RADIUS, SPIN = 23.0, 0.2, 0.5 * 4 * 0.2**2


def test_locked_wheels_brake_over_v2_by_2_mu_g() -> None:
    """All the weight is on the wheels; huge opposite torque locks them: d = v²/(2 mu g)."""
    mu, v = 0.4, 2.0
    w = load_world(text=world(cart(vel=f"{v} 0 0", ground=friction(mu=mu)), dt=0.001))
    robot = w.vehicles["r1"]
    last = robot.twist.vx
    while robot.twist.vx > 0.0:
        # the strongest brake: a torque that holds the spin at zero
        robot.set_wheel_torques([-1e3 if wheel.omega > 0 else 0.0 for wheel in robot.wheels])
        w.step()
        assert robot.twist.vx <= last + 1e-12
        last = robot.twist.vx
        if all(wheel.omega <= 0.0 for wheel in robot.wheels):
            for wheel in robot.wheels:
                wheel.omega = 0.0
    assert robot.pose.x == pytest.approx(v**2 / (2 * mu * G), rel=0.01)


def test_torque_accelerates_mass_and_wheels() -> None:
    """V = ΣT/r t / (m + ΣI/r²) while nothing slips."""
    w = load_world(text=world(cart(ground=friction(mu=1.0))))
    robot = w.vehicles["r1"]
    robot.set_wheel_torques([2.0, 2.0])
    w.run(3.0)
    want = (4.0 / RADIUS) * 3.0 / (MASS + 2 * SPIN / RADIUS**2)
    assert robot.twist.vx == pytest.approx(want, rel=2e-3)
    assert robot.wheels[0].omega * RADIUS == pytest.approx(robot.twist.vx, rel=5e-3)


def test_a_rolling_vehicle_without_losses_rolls_on() -> None:
    """Pure rolling: speed and spin stay, odometry equals the pose."""
    w = load_world(text=world(cart(vel="1.5 0 0")))
    robot = w.vehicles["r1"]
    w.run(10.0)
    assert robot.twist.vx == pytest.approx(1.5, abs=1e-9)
    assert robot.pose.x == pytest.approx(15.0, abs=1e-8)
    assert robot.odometry.pose.x == pytest.approx(15.0, abs=1e-8)


@pytest.mark.parametrize(("v", "wz"), [(0.5, 0.3), (1.0, -0.8), (0.2, 1.5)])
def test_pid_turns_on_a_circle_of_radius_v_by_omega(v: float, wz: float) -> None:
    """With an integrator the steady twist is the commanded one; the circle has radius v/ω."""
    w = load_world(text=world(cart(controller=STRONG, ground=friction(mu=0.9, c=0.05))))
    robot = w.vehicles["r1"]
    robot.set_twist(v, 0.0, wz)
    w.run(8.0)
    points = []
    for _ in range(3):
        points.append(complex(robot.pose.x, robot.pose.y))
        w.run(2.0 / abs(wz) * 0.7)
    assert robot.twist.vx == pytest.approx(v, rel=5e-3)
    assert robot.twist.wz == pytest.approx(wz, rel=5e-3)
    a, b, c = points
    area = abs(((b - a).conjugate() * (c - a)).imag) / 2
    radius = abs(a - b) * abs(b - c) * abs(c - a) / (4 * area)
    assert radius == pytest.approx(abs(v / wz), rel=0.01)


@pytest.mark.parametrize("v", [0.5, -0.3])
@pytest.mark.parametrize("wz", [0.0, 0.4, -2.0])
def test_twist_ideal_is_the_exact_arc(v: float, wz: float) -> None:
    """The pose integrates the commanded twist, at any angular speed, to rounding errors."""
    w = load_world(text=world(cart(controller='<controller class="twist_ideal"/>', damping=0.1)))
    robot = w.vehicles["r1"]
    robot.set_twist(v, 0.0, wz)
    w.run(10.0)
    angle = wz * 10.0
    if wz == 0.0:
        want = (v * 10.0, 0.0)
    else:
        want = (v / wz * math.sin(angle), v / wz * (1 - math.cos(angle)))
    assert (robot.pose.x, robot.pose.y) == pytest.approx(want, abs=1e-9)
    assert robot.pose.yaw == pytest.approx(angle, abs=1e-9)
    assert robot.twist == pytest.approx((v, 0.0, wz), abs=1e-12)
    odometry = robot.odometry.pose
    assert (odometry.x, odometry.y) == pytest.approx(want, abs=0.02)


def test_ackermann_wheel_angles_meet_in_one_point() -> None:
    """Both front wheels are perpendicular to the line to the centre of the turn."""
    delta = math.radians(20)
    raw = '<controller class="raw"><steer_ang_deg>20</steer_ang_deg></controller>'
    w = load_world(text=world(car(controller=raw)))
    w.step()
    left, right = (w.vehicles["r1"].wheels[i] for i in (2, 3))
    radius = 1.3 / math.tan(delta)
    assert left.steering == pytest.approx(math.atan(1.3 / (radius - 1.0)), abs=1e-12)
    assert right.steering == pytest.approx(math.atan(1.3 / (radius + 1.0)), abs=1e-12)


@pytest.mark.parametrize("drive", ["rear", "front", "all"])
def test_car_follows_its_bicycle_circle(drive: str) -> None:
    """R = l / tan δ at the rear axle, for each kind of drive."""
    w = load_world(text=world(car(drive=drive, controller=STEERING, ground=friction(mu=0.9))))
    robot = w.vehicles["r1"]
    robot.set_ackermann(1.5, math.radians(15))
    w.run(15.0)
    assert robot.twist.vx == pytest.approx(1.5, rel=0.01)
    assert robot.twist.wz == pytest.approx(1.5 * math.tan(math.radians(15)) / 1.3, rel=0.01)


def test_twist_beyond_the_steering_limit_widens_the_circle() -> None:
    """A car asked for too small a circle drives its smallest one at the asked speed."""
    w = load_world(text=world(car(controller=STEERING, ground=friction(mu=0.9))))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5, 0.0, 2.0)
    w.run(10.0)
    assert robot.steering == pytest.approx(math.radians(30))
    assert robot.twist.wz == pytest.approx(0.5 * math.tan(math.radians(30)) / 1.3, rel=0.02)


@pytest.mark.parametrize(
    ("m1", "m2", "e"),
    [
        (10, 10, 1.0),
        (10, 30, 0.5),
        (40, 10, 0.0),
    ],
)
def test_head_on_collision_keeps_momentum_and_restitution(m1: float, m2: float, e: float) -> None:
    """Two blocks on ice, face to face: both speeds follow from momentum and restitution.

    The contact's two points are symmetric, so that nothing turns.
    """
    u = 3.0
    w = load_world(
        text=world(
            block("a", "-2 0 0", f"{u} 0 0", mass=m1, restitution=e),
            block("b", "0 0 0", mass=m2, restitution=e),
        )
    )
    rows = dict(zip(w.blocks, w.bodies, strict=True))
    w.run(1.2)
    va, vb = float(rows["a"]["cvx"]), float(rows["b"]["cvx"])
    assert m1 * va + m2 * vb == pytest.approx(m1 * u, rel=1e-5)
    # a hundredth: what an iterative solver of two coupled points leaves after some rounds
    assert vb - va == pytest.approx(e * u, abs=0.01 * u)
    assert float(rows["a"]["wz"]) == pytest.approx(0.0, abs=0.01 * u)
    assert float(rows["b"]["wz"]) == pytest.approx(0.0, abs=0.01 * u)


def test_block_slides_v2_by_2_mu_g() -> None:
    """Ground friction brakes a sliding block like Coulomb says."""
    mu, v = 0.3, 2.0
    w = load_world(text=world(block(vel=f"{v} 0 0", mu=mu)))
    w.run(2.0)
    assert w.blocks["b1"].pose.x == pytest.approx(v**2 / (2 * mu * G), rel=0.01)
    assert w.blocks["b1"].twist.vx == 0.0


def test_spinning_block_stops_after_i_omega_by_friction_torque() -> None:
    """Two points at ±r carry m g/2 each: ω = ω0 - mu m g r / I t."""
    mu, omega, mass = 0.2, 3.0, 10.0
    w = load_world(text=world(block(vel=f"0 0 {math.degrees(omega)}", mu=mu, mass=mass), dt=0.001))
    inertia = mass * (1 + 1) / 12
    radius = math.hypot(0.5, 0.5)
    w.run(0.1)
    want = omega - mu * mass * G * radius / inertia * 0.1
    assert w.blocks["b1"].twist.wz == pytest.approx(want, rel=0.01)


def test_damping_is_exponential() -> None:
    """Speed falls as exp(-c t), here with the implicit factor 1/(1 + c dt) a step."""
    w = load_world(text=world(cart(vel="1 0 30", ground=friction(mu=0.0), damping=0.5)))
    robot = w.vehicles["r1"]
    w.run(2.0)
    speed = math.hypot(robot.twist.vx, robot.twist.vy)
    assert speed == pytest.approx((1 + 0.5 * 0.005) ** -400, rel=1e-6)


def test_rolling_resistance_of_the_tyre_decelerates() -> None:
    """C_rr brakes with C_rr m g against mass and wheel inertia."""
    c_rr, v = 0.02, 1.0
    w = load_world(text=world(cart(vel=f"{v} 0 0", ground=friction(mu=0.8, rr=c_rr))))
    robot = w.vehicles["r1"]
    w.run(2.0)
    effective = MASS + 2 * SPIN / RADIUS**2
    assert robot.twist.vx == pytest.approx(v - c_rr * MASS * G / effective * 2.0, rel=0.005)


def test_robot_stops_at_a_wall_and_says_so() -> None:
    """Ideal control does not push through walls; the contact has names, normal and point."""
    wall = """<element class="vertical_plane"><x0>2</x0><y0>-3</y0><x1>2</x1><y1>3</y1>
      <height>1</height><thickness>0.2</thickness></element>"""
    w = load_world(text=world(cart(controller='<controller class="twist_ideal"/>'), wall))
    robot = w.vehicles["r1"]
    robot.set_twist(0.5)
    w.run(6.0)
    assert robot.in_collision
    assert robot.pose.x == pytest.approx(2.0 - 0.1 - 0.5, abs=0.02)
    contact = w.contacts[0]
    assert "r1" in (contact.a, contact.b)
    assert abs(contact.normal[0]) == pytest.approx(1.0, abs=1e-3)
    robot.set_twist(-0.5)
    w.run(1.0)
    assert not robot.in_collision


def test_things_at_other_heights_do_not_collide() -> None:
    """A block above the robot lets it pass; one at its height does not."""
    high = block("shelf", "2 0 0", mass=1000, extra="<static>true</static>").replace(
        "<zmin>0</zmin><zmax>1</zmax>", "<zmin>1</zmin><zmax>2</zmax>"
    )
    ideal = '<controller class="twist_ideal"/>'
    w = load_world(text=world(cart(controller=ideal), high))
    w.vehicles["r1"].set_twist(1.0)
    w.run(4.0)
    assert w.vehicles["r1"].pose.x == pytest.approx(4.0, abs=1e-6)
    low = high.replace("<zmin>1</zmin>", "<zmin>0.5</zmin>")
    w = load_world(text=world(cart(controller=ideal), low))
    w.vehicles["r1"].set_twist(1.0)
    w.run(4.0)
    assert w.vehicles["r1"].pose.x < 1.05


def test_lateral_slide_stops_over_v2_by_2_mu_g() -> None:
    """A cart thrown sideways slides on mu m g."""
    mu, v = 0.5, 2.0
    w = load_world(text=world(cart(vel=f"0 {v} 0", ground=friction(mu=mu)), dt=0.002))
    w.run(2.0)
    assert w.vehicles["r1"].pose.y == pytest.approx(v**2 / (2 * mu * G), rel=0.01)
