# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Laws that hold whatever the numbers: symmetry, independence, limits, repeatability."""

from __future__ import annotations

import cmath
import math
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mvsim_core import World, load_world
from tests.physics.worlds import block, car, cart, friction, world

PID = '<controller class="twist_pid"><KP>8</KP><KI>4</KI><max_torque>12</max_torque></controller>'
STEER = (
    '<controller class="twist_front_steer_pid"><KP>300</KP><KI>90</KI>'
    "<max_torque>500</max_torque></controller>"
)
SLOW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
speeds = st.floats(-1.5, 1.5)
turns = st.floats(-1.5, 1.5)
angles = st.floats(-math.pi, math.pi)
places = st.floats(-200.0, 200.0)


class Path(NamedTuple):
    """Where a robot went: complex positions [m] and yaw [rad], five a second."""

    at: list[complex]
    yaw: list[float]


def drive(
    w: World, name: str, vx: float, wz: float, seconds: float = 2.0, vy: float = 0.0
) -> Path:
    """Drive one robot with a constant twist and return its path."""
    robot = w.vehicles[name]
    robot.set_twist(vx, vy, wz)
    path = Path([], [])
    for _ in range(round(seconds * 5)):
        w.run(0.2)
        path.at.append(complex(robot.pose.x, robot.pose.y))
        path.yaw.append(robot.pose.yaw)
    return path


def single(kind: str, pose: str) -> World:
    """Return a world with one robot of a kind."""
    if kind == "slider":
        return load_world(text=world(slider(pose=pose, controller=PID)))
    robot = cart(pose=pose, controller=PID) if kind == "cart" else car(pose=pose, controller=STEER)
    return load_world(text=world(robot))


def slider(
    pose: str = "0 0 0",
    vel: str = "0 0 0",
    controller: str = '<controller class="raw"/>',
    ground: str = friction(),
) -> str:
    """Return a robot on mecanum wheels."""
    return f"""<vehicle name="r1"><dynamics class="mecanum">
      <chassis mass="15" linear_damping="0" angular_damping="0">
      <shape><pt>-0.4 -0.3</pt><pt>-0.4 0.3</pt><pt>0.4 0.3</pt><pt>0.4 -0.3</pt></shape></chassis>
      {controller}</dynamics>{ground}
      <init_pose>{pose}</init_pose><init_vel>{vel}</init_vel></vehicle>"""


@SLOW
@given(st.sampled_from(["cart", "car"]), speeds, turns, places, places, angles)
def test_moving_the_world_moves_the_path(
    kind: str, vx: float, wz: float, x: float, y: float, angle: float
) -> None:
    """Shift and turn the start: the path is shifted and turned."""
    here = drive(single(kind, "0 0 0"), "r1", vx, wz)
    there = drive(single(kind, f"{x} {y} {math.degrees(angle)}"), "r1", vx, wz)
    turned = [complex(x, y) + cmath.rect(1.0, angle) * p for p in here.at]
    assert there.at == pytest.approx(turned, abs=1e-7)
    assert there.yaw == pytest.approx([a + angle for a in here.yaw], abs=1e-7)


@SLOW
@given(st.sampled_from(["cart", "car"]), speeds, turns)
def test_mirrored_commands_give_mirrored_paths(kind: str, vx: float, wz: float) -> None:
    """Left and right are alike."""
    left = drive(single(kind, "0 0 0"), "r1", vx, wz)
    right = drive(single(kind, "0 0 0"), "r1", vx, -wz)
    assert right.at == pytest.approx([p.conjugate() for p in left.at], abs=1e-9)
    assert right.yaw == pytest.approx([-a for a in left.yaw], abs=1e-9)


@SLOW
@given(speeds, speeds, turns, places, places, angles)
def test_moving_the_world_moves_the_path_of_a_strafing_robot(
    vx: float, vy: float, wz: float, x: float, y: float, angle: float
) -> None:
    here = drive(single("slider", "0 0 0"), "r1", vx, wz, vy=vy)
    there = drive(single("slider", f"{x} {y} {math.degrees(angle)}"), "r1", vx, wz, vy=vy)
    turned = [complex(x, y) + cmath.rect(1.0, angle) * p for p in here.at]
    assert there.at == pytest.approx(turned, abs=1e-7)
    assert there.yaw == pytest.approx([a + angle for a in here.yaw], abs=1e-7)


@SLOW
@given(speeds, speeds, turns)
def test_mirrored_commands_give_mirrored_paths_of_a_strafing_robot(
    vx: float, vy: float, wz: float
) -> None:
    """Left and right are alike, and so are ahead and astern."""
    path = drive(single("slider", "0 0 0"), "r1", vx, wz, vy=vy)
    for sign_x, sign_y in ((1, -1), (-1, 1), (-1, -1)):
        twin = drive(
            single("slider", "0 0 0"), "r1", sign_x * vx, sign_x * sign_y * wz, vy=sign_y * vy
        )
        mirrored = [complex(sign_x * p.real, sign_y * p.imag) for p in path.at]
        assert twin.at == pytest.approx(mirrored, abs=1e-9)
        assert twin.yaw == pytest.approx([sign_x * sign_y * a for a in path.yaw], abs=1e-9)


@SLOW
@given(st.permutations(["a", "b", "c"]), speeds, turns)
def test_order_in_the_file_does_not_matter(order: list[str], vx: float, wz: float) -> None:
    """Vehicles far apart do not know of each other, in whatever order they stand."""
    starts = {"a": "0 0 0", "b": "50 0 30", "c": "0 50 -70"}
    paths = {}
    for names in (["a", "b", "c"], order):
        w = load_world(text=world(*(cart(name, starts[name], controller=PID) for name in names)))
        paths[tuple(names)] = drive(w, "b", vx, wz)
    alone = load_world(text=world(cart("b", starts["b"], controller=PID)))
    assert paths[tuple(order)] == paths[("a", "b", "c")] == drive(alone, "b", vx, wz)


@SLOW
@given(
    st.floats(0.0, 1.2),
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=2),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(-200, 200),
)
def test_no_wheel_force_exceeds_friction(
    mu: float, torques: list[float], vx: float, vy: float, wz_deg: float
) -> None:
    """|F| <= mu N on each axis, and for the vector with friction_circle."""
    circle = "<friction_circle>true</friction_circle></friction>"
    ground = friction(mu=mu).replace("</friction>", circle)
    w = load_world(text=world(cart(vel=f"{vx} {vy} {wz_deg}", ground=ground)))
    assert largest_force(w, torques) <= mu * (15 / 2 + 4) * 9.81 * (1 + 1e-12) + 1e-12


def largest_force(w: World, torques: list[float]) -> float:
    """Drive r1 by torques [N m]; return the largest force of the ground on a wheel [N]."""
    robot = w.vehicles["r1"]
    robot.set_wheel_torques(torques)
    largest = 0.0
    for _ in range(50):
        w.step()
        largest = max(largest, *(math.hypot(wheel.fx, wheel.fy) for wheel in robot.wheels))
    return largest


@SLOW
@given(
    st.floats(0.0, 1.2),
    st.floats(0.0, 0.3),
    st.lists(st.floats(-1e3, 1e3), min_size=4, max_size=4),
    st.floats(-3, 3),
    st.floats(-3, 3),
    st.floats(-200, 200),
)
def test_no_force_of_rollers_exceeds_friction(
    mu: float, rr: float, torques: list[float], vx: float, vy: float, wz_deg: float
) -> None:
    """|F| <= mu N for grip and resistance together: on ice there is neither."""
    w = load_world(text=world(slider(vel=f"{vx} {vy} {wz_deg}", ground=friction(mu=mu, rr=rr))))
    assert largest_force(w, torques) <= mu * (15 / 4 + 2) * 9.81 * (1 + 1e-12) + 1e-12


@SLOW
@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-200, 200), st.floats(0, 0.05))
def test_energy_never_grows_on_rollers(vx: float, vy: float, wz_deg: float, c_rr: float) -> None:
    """Kinetic energy of body and wheels falls or stays."""
    ground = friction(mu=0.6, c=0.02, rr=c_rr)
    w = load_world(text=world(slider(vel=f"{vx} {vy} {wz_deg}", ground=ground), dt=0.002))
    robot = w.vehicles["r1"]
    inertias = [spec.spin_inertia for spec in robot.spec.dynamics.wheels]

    def energy() -> float:
        b = w.bodies[0]
        body = (
            0.5 * b["mass"] * (b["cvx"] ** 2 + b["cvy"] ** 2) + 0.5 * b["inertia"] * b["wz"] ** 2
        )
        spins = zip(inertias, robot.wheels, strict=True)
        return float(body + sum(0.5 * i * wheel.omega**2 for i, wheel in spins))

    last = energy()
    for _ in range(300):
        w.step()
        now = energy()
        assert now <= last * (1 + 1e-9) + 1e-12
        last = now


@SLOW
@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-200, 200), st.floats(0, 0.05))
def test_energy_never_grows_without_a_motor(
    vx: float, vy: float, wz_deg: float, c_rr: float
) -> None:
    """Kinetic energy of body and wheels falls or stays."""
    ground = friction(mu=0.6, c=0.02, rr=c_rr)
    w = load_world(text=world(cart(vel=f"{vx} {vy} {wz_deg}", ground=ground), dt=0.002))
    robot = w.vehicles["r1"]

    def energy() -> float:
        b = w.bodies[0]
        body = (
            0.5 * b["mass"] * (b["cvx"] ** 2 + b["cvy"] ** 2) + 0.5 * b["inertia"] * b["wz"] ** 2
        )
        return float(body + sum(0.5 * 0.08 * wheel.omega**2 for wheel in robot.wheels))

    last = energy()
    for _ in range(300):
        w.step()
        now = energy()
        assert now <= last * (1 + 1e-9) + 1e-12
        last = now


def crowd() -> str:
    """Return a world with contacts: robots that push blocks."""
    return world(
        *(cart(f"r{i}", f"{2 * i} 0 {20 * i}", controller=PID) for i in range(4)),
        *(block(f"b{i}", f"{2 * i + 1.2} 0.3 {i}", mass=4, mu=0.4) for i in range(4)),
    )


def run_crowd(w: World) -> bytes:
    """Run the crowd and return all its arrays."""
    touched = False
    for robot in w.vehicles.values():
        robot.set_twist(0.6, 0.0, 0.2)
    for _ in range(600):
        w.step()
        touched = touched or any(robot.in_collision for robot in w.vehicles.values())
    assert touched
    state = w.data
    return b"".join(
        np.ascontiguousarray(a).tobytes()
        for a in (state.bodies, state.wheels, state.vehicles, state.pids)
    )


def test_same_seed_same_bytes() -> None:
    """Two runs, and a run after a reset, are equal to the last bit, contacts included."""
    w = load_world(text=crowd())
    first = run_crowd(w)
    assert run_crowd(load_world(text=crowd())) == first
    w.reset()
    assert run_crowd(w) == first


def test_restore_goes_on_as_after_the_snapshot() -> None:
    """A free robot repeats its path exactly from a snapshot."""
    w = single("cart", "0 0 0")
    drive(w, "r1", 0.7, 0.4)
    snapshot = w.state()
    first = drive(w, "r1", 0.7, 0.4)
    w.restore(snapshot)
    assert drive(w, "r1", 0.7, 0.4) == first
    assert w.time == pytest.approx(4.0)
