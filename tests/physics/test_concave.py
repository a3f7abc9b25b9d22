# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Dented shapes: what fits into a dent drives into it, lidars look into it, masses follow it."""

from __future__ import annotations

import math

import pytest

from mvsim_core import World, load_world
from tests.physics.worlds import cart, world

IDEAL = '<controller class="twist_ideal"/>'
#: Open towards -x: a bay 2 m wide between y = ±1, its back wall at x = 0.5.
U_POINTS = [
    (-1.5, -1.5),
    (1, -1.5),
    (1, 1.5),
    (-1.5, 1.5),
    (-1.5, 1),
    (0.5, 1),
    (0.5, -1),
    (-1.5, -1),
]
L_POINTS = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def shaped(points: list[tuple[float, float]], pose: str = "4 0 0", extra: str = "") -> str:
    """Return an undamped block of any shape on ice."""
    shape = "".join(f"<pt>{x} {y}</pt>" for x, y in points)
    return f"""<block name="b1"><shape>{shape}</shape><mass>12</mass>
      <ground_friction>0</ground_friction><restitution>0</restitution>
      <linear_damping>0</linear_damping><angular_damping>0</angular_damping>
      <zmin>0</zmin><zmax>1</zmax><init_pose>{pose}</init_pose>{extra}</block>"""


def driven(y: float, *parts: str, seconds: float = 8.0) -> World:
    """Drive a cart of 1.0 m × 1.2 m along x at a height y of the plan."""
    w = load_world(text=world(cart(pose=f"0 {y} 0", controller=IDEAL), *parts))
    w.vehicles["r1"].set_twist(1.0)
    w.run(seconds)
    return w


@pytest.mark.parametrize("winding", [1, -1])
def test_robot_drives_into_the_u(winding: int) -> None:
    """It passes the mouth without a touch and stops at the back wall."""
    u = shaped(U_POINTS[::winding], extra="<static>true</static>")
    w = driven(0.0, u, seconds=3.5)
    robot = w.vehicles["r1"]
    assert robot.pose.x == pytest.approx(3.5, abs=1e-6)  # its nose is 1.5 m inside
    assert not robot.in_collision
    w.run(4.0)
    assert robot.pose.x == pytest.approx(4.0 + 0.5 - 0.5, abs=0.02)
    assert robot.in_collision


def test_robot_beside_the_mouth_stops_at_the_arm() -> None:
    """The arm of the U is solid."""
    w = driven(1.3, shaped(U_POINTS, extra="<static>true</static>"))
    assert w.vehicles["r1"].pose.x == pytest.approx(2.5 - 0.5, abs=0.02)


def test_robot_pushes_a_movable_u_from_inside() -> None:
    """A symmetric push moves it straight ahead, but for the solver's single precision on ice."""
    w = driven(0.0, shaped(U_POINTS))
    block = w.blocks["b1"]
    assert block.pose.x > 6.0
    assert block.pose.y == pytest.approx(0.0, abs=0.05)
    assert block.pose.yaw == pytest.approx(0.0, abs=0.05)


def test_mass_properties_are_those_of_the_dented_shape() -> None:
    """The L is two rectangles: centroid 5/6, 5/6; inertia by the parallel axis theorem."""
    w = load_world(text=world(shaped(L_POINTS, pose="0 0 0")))
    row = w.bodies[0]
    assert row["com_x"] == pytest.approx(5 / 6)
    assert row["com_y"] == pytest.approx(5 / 6)
    per_area = 12.0 / 3.0
    low = 2 * (2**2 + 1) / 12 + 2 * ((1 - 5 / 6) ** 2 + (0.5 - 5 / 6) ** 2)
    high = 1 * (1 + 1) / 12 + 1 * ((0.5 - 5 / 6) ** 2 + (1.5 - 5 / 6) ** 2)
    assert row["inertia"] == pytest.approx(per_area * (low + high))


def test_an_l_turns_about_its_centre_of_mass() -> None:
    """Spinning freely, the centre of mass stays where it is."""
    spin = "<init_vel>0 0 90</init_vel>"
    w = load_world(text=world(shaped(L_POINTS, pose="0 0 0", extra=spin)))
    w.run(1.0)
    p = w.blocks["b1"].pose
    assert p.yaw == pytest.approx(math.pi / 2)
    assert p.x == pytest.approx(5 / 6 + 5 / 6)  # R(90°) of the way back from the centre
    assert p.y == pytest.approx(0.0, abs=1e-9)


def test_a_dented_chassis_takes_a_post_between_its_arms() -> None:
    """A fork's arms pass a post on both sides; its back meets it."""
    fork = "".join(
        f"<pt>{x} {y}</pt>"
        for x, y in [
            (-0.5, -0.6),
            (1, -0.6),
            (1, -0.3),
            (0, -0.3),
            (0, 0.3),
            (1, 0.3),
            (1, 0.6),
            (-0.5, 0.6),
        ]
    )
    plain = cart(controller=IDEAL)
    start, end = plain.index("<shape>"), plain.index("</shape>")
    robot = plain[: start + 7] + fork + plain[end:]
    post = shaped(
        [(-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1)], "3 0 0", "<static>true</static>"
    )
    w = load_world(text=world(robot, post))
    w.vehicles["r1"].set_twist(1.0)
    w.run(2.5)
    assert not w.vehicles["r1"].in_collision
    w.run(2.0)
    assert w.vehicles["r1"].pose.x == pytest.approx(2.9, abs=0.02)


def test_lidar_looks_into_the_dent() -> None:
    """The beam ahead ends at the back wall of the U, those aside at its arms."""
    sensor = """<sensor class="laser" name="scan"><fov_degrees>60</fov_degrees><nrays>3</nrays>
      <range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg>
      <sensor_period>0.1</sensor_period><pose_3d>0 0 0.3 0 0 0</pose_3d></sensor>"""
    w = load_world(text=world(cart(extra=sensor), shaped(U_POINTS)))
    w.run(0.2)
    ranges = w.vehicles["r1"].sensors["scan"].last.ranges
    assert ranges[1] == pytest.approx(4.5, abs=1e-5)
    assert ranges[[0, 2]] == pytest.approx(2.5 / math.cos(math.radians(30)), abs=1e-5)


def test_dents_carry_nothing() -> None:
    """The top of a dented block is ground only where there is block."""
    w = load_world(text=world(shaped(L_POINTS, pose="0 0 0", extra="<static>true</static>")))
    ground = w._runtime.ground
    assert ground.height(0.5, 1.5, 2.0) == 1.0
    assert ground.height(1.5, 1.5, 2.0) == 0.0
