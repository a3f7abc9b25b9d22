# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The longest good time step: the bound that is computed is the bound that is met."""

from __future__ import annotations

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.assembly.step_length import step_limits
from mvsim_core.bench.scenes import CAR, robots
from tests.physics.test_stopping import VEHICLES, vehicle
from tests.physics.worlds import car, cart, friction, twist_pid, world

MASS, RADIUS, SPIN, TRACK = 23.0, 0.2, 0.5 * 4 * 0.2**2, 1.0
GRIPPING = friction(mu=1e4)


def limits(w: World) -> dict[str, float]:
    """Return the longest steps of the robot by their cause [s]."""
    entity = next(iter(w.data.entities.values())).model
    return {limit.cause: limit.longest for limit in step_limits(entity, 9.81)}


def shaking(w: World, wz: float, seconds: float = 4.0) -> float:
    """Return how much the speed still varies at the end of a run [m/s or rad/s]."""
    robot = w.vehicles["r1"]
    robot.set_twist(0.0 if wz else 0.2, 0.0, wz)
    speeds = []
    for _ in range(int(seconds / w.dt)):
        w.step()
        speeds.append(robot.twist.wz if wz else robot.twist.vx)
    return float(np.ptp(speeds[-20:]))


@pytest.mark.parametrize("wz", [0.0, 0.2])
def test_speed_controller_of_a_gripping_vehicle(wz: float) -> None:
    """5 % below the bound it settles, 5 % above it shakes ever more."""
    kp = 100.0
    text = cart(controller=twist_pid(kp, 0, 1e6), ground=GRIPPING)
    bounds = limits(load_world(text=world(text)))
    wheels = 2 * SPIN / RADIUS**2
    assert bounds["KP along the way"] == pytest.approx((MASS + wheels) / (2 * kp / RADIUS))
    bound = bounds["KP in turns" if wz else "KP along the way"]
    assert shaking(load_world(text=world(text, dt=0.95 * bound)), wz) < 0.05
    assert shaking(load_world(text=world(text, dt=1.05 * bound)), wz) > 1.0


def test_speed_controller_of_a_slipping_wheel() -> None:
    """On ice the wheel settles within the bound 2 I / (KP R) and not beyond it."""
    kp = 100.0
    text = cart(controller=twist_pid(kp, 0, 1e6), ground=friction(mu=1e-4))
    bound = limits(load_world(text=world(text)))["KP on l_wheel where it slips"]
    assert bound == pytest.approx(2 * SPIN / (kp * RADIUS))
    ends = []
    for factor in (0.9, 1.1):
        w = load_world(text=world(text, dt=factor * bound))
        w.vehicles["r1"].set_twist(0.2)
        w.run(200 * bound)
        ends.append(abs(w.vehicles["r1"].wheels[0].omega * RADIUS - 0.2))
    assert ends[0] < 0.05
    assert ends[1] > 10.0


def unloaded(kind: str, ground: str, kp: float, slips: bool, number: int) -> str:
    """Return a vehicle without losses on ice or glue, whose loop (each loop) has the gain KP."""
    share = 4.0 if VEHICLES[kind][0] == "ackermann_drivetrain" else 1.0
    text = vehicle(
        kind,
        ground,
        mu=1e-4 if slips else 1e4,
        kp=kp / share,
        ki=0.0,
        most=1e6,
        pose=f"0 {10 * number} 0",
    )
    text = text.replace("<mu>", "<C_damping>0</C_damping><mu>")
    return text.replace('name="r1"', f'name="r{number}"')


def gain_limit(kind: str, ground: str, slips: bool, dt: float) -> float:
    """Return the largest KP that is called good at a step of dt [s]."""
    w = load_world(text=world(unloaded(kind, ground, 1.0, slips, 0), dt=dt))
    entity = w.data.entities["r0"].model
    found = [limit for limit in step_limits(entity, 9.81) if limit.scale > 0.0]
    return min(
        limit.scale / dt - limit.rest for limit in found if slips == ("slips" in limit.cause)
    )


@pytest.mark.parametrize("slips", [False, True])
@pytest.mark.parametrize("ground", ["default", "circle"])
def test_the_largest_gain_of_each_kind(ground: str, slips: bool) -> None:
    """5 % below the limit that is named the loops settle, 5 % above it they shake ever more."""
    dt = 0.005
    kinds = [kind for kind in VEHICLES if not (slips and kind == "front drive")]
    text, number = [], 0
    for kind in kinds:
        most = gain_limit(kind, ground, slips, dt)
        for factor in (0.95, 1.05):
            text.append(unloaded(kind, ground, factor * most, slips, number))
            number += 1
    w = load_world(text=world(*text, dt=dt))
    robots = [w.vehicles[f"r{k}"] for k in range(number)]
    for robot in robots:
        turns = not slips and robot.holonomic  # there the limit is that of turns
        robot.set_twist(0.0 if turns else 0.2, 0.0, 0.2 if turns else 0.0)
    w.run(300 * dt)
    speeds = []
    for _ in range(30):
        w.step()
        speeds.append([sum(abs(wheel.omega) for wheel in robot.wheels) for robot in robots])
    varies = np.ptp(np.array(speeds), axis=0)
    for k, kind in enumerate(kinds):
        assert varies[2 * k] < 0.3, kind
        assert not varies[2 * k + 1] < 1.0, kind


def test_a_motor_weaker_than_the_grip_cannot_slip() -> None:
    """Then the bound of the free wheel does not matter."""
    most = 0.7 * 0.5 * MASS * 9.81 * RADIUS
    for torque, slips in ((0.99 * most, False), (1.01 * most, True)):
        w = load_world(text=world(cart(controller=twist_pid(8, 0, torque))))
        assert ("KP on l_wheel where it slips" in limits(w)) == slips


def test_bearing_damping() -> None:
    """A wheel in the air is stable up to dt = 2 I / C_damping."""
    text = cart(ground=friction(mu=0.0, c=4.0))
    bound = limits(load_world(text=world(text)))["C_damping on l_wheel"]
    assert bound == pytest.approx(2 * SPIN / 4.0)
    speeds = []
    for factor in (0.98, 1.02):
        w = load_world(text=world(text, dt=factor * bound))
        w.vehicles["r1"].wheels[0].omega = 1.0
        w.run(100 * bound)
        speeds.append(abs(w.vehicles["r1"].wheels[0].omega))
    assert speeds[0] < 0.1
    assert speeds[1] > 10.0


@pytest.mark.parametrize("inertia", [0.45, 0.47, 2.0])
def test_wheels_of_more_inertia_than_the_vehicle(inertia: float) -> None:
    """Σ I/R² = m is I = 0.46 for two wheels of 0.2 m under 23 kg: stable beyond it, too."""
    text = cart(controller=twist_pid(1, 0, 1e6), ground=GRIPPING)
    text = text.replace('diameter="0.4"', f'diameter="0.4" inertia="{inertia}"')
    w = load_world(text=world(text))
    assert 0.0 not in limits(w).values()
    assert shaking(w, 0.0) < 0.05


@pytest.mark.parametrize(("inertia", "sound"), [(0.45, True), (0.47, False)])
def test_wheels_of_more_inertia_on_a_model_that_looks_at_each(inertia: float, sound: bool) -> None:
    """A tyre's force along the wheel follows from its own slip: there the bound stays."""
    text = cart(controller=twist_pid(1, 0, 1e6), ground='<friction class="ellipse"/>')
    text = text.replace('diameter="0.4"', f'diameter="0.4" inertia="{inertia}"')
    w = load_world(text=world(text))
    assert (0.0 not in limits(w).values()) == sound
    warned = [str(problem) for problem in w.warnings]
    if not sound:
        assert "wheels worth 23.5 kg on a vehicle of 23 kg" in warned[0]
        assert "'r1' shake at any time step" in warned[0]


def test_warning_names_vehicle_place_and_longest_good_step() -> None:
    text = world(cart(controller=twist_pid(100, 0, 1e6)), dt=0.02)
    (warning,) = load_world(text=text).warnings
    assert str(warning) == (
        "line 5: <dynamics>: the time step of 0.02 s is too long for the wheels of 'r1':"
        " KP on l_wheel where it slips answers at 250 1/s; the longest good step is 0.008 s,"
        " or lower KP from 100 to 40"
    )
    assert not load_world(text=text.replace("0.02<", "0.008<")).warnings


def test_cars_have_bounds_too() -> None:
    pid = '<controller class="twist_front_steer_pid"><KP>300</KP></controller>'
    found = limits(load_world(text=world(car(controller=pid))))
    wheels = 4 * 0.5 * 6
    assert found["KP along the way"] == pytest.approx((824 + wheels) / (2 * 300 / 0.31))
    assert "KP in turns" not in found


def test_kinematic_vehicles_have_none() -> None:
    ideal = '<controller class="twist_ideal"/>'
    assert limits(load_world(text=world(cart(controller=ideal)))) == {}


KARTING = """<mvsim_world><simul_timestep>{dt}</simul_timestep><vehicle name="r1">
  <init_pose>0 0 0</init_pose><dynamics class="ackermann"><chassis mass="4"/>
  <rl_wheel pos="0 0.15" mass="0.2" diameter="0.11"/>
  <rr_wheel pos="0 -0.15" mass="0.2" diameter="0.11"/>
  <fl_wheel mass="0.2" diameter="0.11"/><fr_wheel mass="0.2" diameter="0.11"/>
  <f_wheels_x>0.32</f_wheels_x><f_wheels_d>0.3</f_wheels_d>
  <controller class="twist_front_steer_pid"><KP>15</KP>{gains}<max_torque>25</max_torque>
  </controller></dynamics></vehicle></mvsim_world>"""


@pytest.mark.parametrize(
    ("gains", "dt", "warning"),
    [
        ("<KD>0.5</KD>", 0.0001, "KD of 0.5 without N on rl_wheel where it slips lets the wheels"),
        ("<KD>0.5</KD><N>20</N>", 0.0006, "KP and KD N on rl_wheel where it slips answers"),
        ("<KD>0.5</KD><N>20</N>", 0.0004, ""),
        ("<KD>0.004</KD>", 0.0006, "KP and KD on rl_wheel where it slips answers"),
        ("<KD>0.004</KD>", 0.00018, ""),
        ("", 0.0006, ""),
    ],
)
def test_a_derivative_on_slipping_wheels(gains: str, dt: float, warning: str) -> None:
    """A model car of a racing project does not leave its place with KD 0.5, at any step."""
    world = load_world(text=KARTING.format(gains=gains, dt=dt))
    assert warning in " ".join(map(str, world.warnings))
    assert bool(warning) == bool(world.warnings)
    world.vehicles["r1"].set_ackermann(speed=2.0, steering=0.0)
    world.run(2.0)
    assert (world.vehicles["r1"].twist.vx > 1.8) == (not warning)


def test_speed_measured_at_free_wheels_does_not_shake() -> None:
    """The C++ simulator drives the front wheels and measures the rear ones: that car drives."""
    text = KARTING.format(gains="<KD>0.5</KD>", dt=0.005)
    (warning,) = load_world(text=text).warnings
    assert str(warning).endswith(
        "shake at any time step, so that it may hardly move; KD must be below 0.0055, or <N>"
        " low-pass it; or <drive>front</drive>, so that speed is measured at wheels that roll"
        " freely"
    )
    front = text.replace("<f_wheels_x>", "<drive>front</drive><f_wheels_x>")
    world = load_world(text=front)
    assert world.warnings == ()
    world.vehicles["r1"].set_ackermann(speed=2.0, steering=0.0)
    world.run(2.0)
    assert world.vehicles["r1"].twist.vx == pytest.approx(2.0, abs=0.1)


def test_drivetrains_are_not_told_of_an_element_that_they_lack() -> None:
    text = robots(1, robot=CAR).replace("0.005</simul_timestep>", "0.02</simul_timestep>")
    warnings = [str(w) for w in load_world(text=text).warnings]
    assert any("the longest good step is 0.016 s" in text for text in warnings)
    assert not any("<drive>" in text for text in warnings)
