# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Vehicles that are put somewhere: they stand on the ground there, and drive."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from mvsim_core import Vehicle, World, load_world
from mvsim_core.state.arrays import FloatArray
from tests.physics.test_slopes import incline
from tests.physics.test_stopping import VEHICLES, vehicle
from tests.physics.worlds import block, world

HALF = 100.0  # m, half of the size of a tilted plane
Gradient = tuple[float, float]


def plane(gradient: Gradient) -> str:
    """Return an elevation map that is one plane, with height 0 in the middle."""
    gx, gy = gradient
    heights = ";".join(
        " ".join(f"{x * gx + y * gy!r}" for y in (-HALF, HALF)) for x in (-HALF, HALF)
    )
    return f"""<element class="elevation_map"><elevation_data_matrix>[{heights}]
      </elevation_data_matrix><resolution>{2 * HALF}</resolution></element>"""


def rotation(robot: Vehicle) -> FloatArray:
    """Return the attitude as a matrix, Rz(yaw) Ry(pitch) Rx(roll)."""
    p = robot.pose
    turns = []
    for angle, (i, j) in ((p.yaw, (0, 1)), (p.pitch, (2, 0)), (p.roll, (1, 2))):
        turn = np.eye(3)
        turn[i, i] = turn[j, j] = math.cos(angle)
        turn[j, i] = math.sin(angle)
        turn[i, j] = -math.sin(angle)
        turns.append(turn)
    product: FloatArray = turns[0] @ turns[1] @ turns[2]
    return product


def assert_stands_on(robot: Vehicle, gradient: Gradient, within: float = 1e-6) -> None:
    """Check that a robot has the attitude of a plane, and its wheels touch it [rad, m]."""
    gx, gy = gradient
    normal = np.array([-gx, -gy, 1.0]) / math.hypot(gx, gy, 1.0)
    turn, p = rotation(robot), robot.pose
    assert turn[:, 2] == pytest.approx(normal, abs=within)
    for wheel in robot.wheels:
        x, y, z = np.array([p.x, p.y, p.z]) + turn @ np.array([*wheel.position, 0.0])
        assert z == pytest.approx(x * gx + y * gy, abs=within)
    body = robot._body
    assert body["slope_x"] == pytest.approx(math.sin(p.pitch), abs=1e-12)
    assert not robot.in_collision


def robot_text(kind: str, pose: str = "0 0 0") -> str:
    """Return a vehicle with small wheels, whose speed loop is stable at 5 ms.

    Half of its wheelbase rises by a wheel's radius on 14 degrees.
    """
    part = 0.2 if kind == "open_rear" else 1.0  # all torque of its motor goes to two wheels
    text = vehicle(kind, kp=7.0 * part, ki=5.0 * part, most=4.0, pose=pose)
    return text.replace('diameter="0.2"', 'diameter="0.1"')


def by_file(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Load a world with the robot at its place."""
    x, y, yaw = pose
    text = robot_text(kind, f"{x!r} {y!r} {math.degrees(yaw)!r}")
    return load_world(text=world(ground, text, dt=0.005))


def by_spawn(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Add the robot to a running world."""
    w = load_world(text=world(ground, dt=0.005))
    w.step()
    w.add_vehicle(robot_text(kind), pose=pose)
    return w


def by_teleport(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Move the robot from another place and heading of the slope."""
    w = by_file(kind, ground, (3.0, -2.0, pose[2] + 2.0))
    w.run(0.05)
    w.vehicles["r1"].teleport(*pose)
    return w


def by_restore(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Go back to the place after the robot was moved away and removed."""
    w = by_file(kind, ground, pose)
    state = w.state()
    w.vehicles["r1"].teleport(5.0, 5.0, pose[2] + 1.0)
    w.run(0.05)
    w.remove("r1")
    w.restore(state)
    assert w.data == state
    return w


def by_reset(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Reset the world after the robot was moved away."""
    w = by_file(kind, ground, pose)
    w.vehicles["r1"].teleport(5.0, 5.0, pose[2] + 1.0)
    w.run(0.05)
    w.reset()
    return w


def by_unweld(kind: str, ground: str, pose: tuple[float, float, float]) -> World:
    """Let go of the robot, which another one led."""
    x, y, yaw = pose
    w = by_file(kind, ground, (x + 0.7, y, yaw))
    w.add_vehicle(robot_text(kind), pose=pose, name="led")
    w.weld("r1", "led")
    w.step()
    w.unweld("r1", "led")
    w.remove("r1")
    w.add_vehicle(robot_text(kind), pose=(30.0, 30.0, 0.0))
    return w


WAYS: dict[str, Callable[[str, str, tuple[float, float, float]], World]] = {
    "file": by_file,
    "spawn": by_spawn,
    "teleport": by_teleport,
    "restore": by_restore,
    "reset": by_reset,
    "unweld": by_unweld,
}


def robot_of(w: World) -> Vehicle:
    """Return the robot that was put at the place."""
    return w.vehicles["led" if "led" in w.vehicles else "r1"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", VEHICLES)
def test_stands_on_any_slope(kind: str, way: str) -> None:
    """Random slopes up to 35 degrees, any heading: attitude, wheels, and nothing in the way.

    A step later it still does: what follows the ground in each step agrees.
    """
    rng = np.random.default_rng(list(f"{kind} {way}".encode()))
    for _ in range(2):
        steep, towards = math.tan(math.radians(rng.uniform(1.0, 35.0))), rng.uniform(-3.1, 3.1)
        gradient = (steep * math.cos(towards), steep * math.sin(towards))
        place = (*rng.uniform(-8.0, 8.0, 2).tolist(), float(rng.uniform(-3.1, 3.1)))
        w = WAYS[way](kind, plane(gradient), place)
        robot = robot_of(w)
        assert (robot.pose.x, robot.pose.y) == pytest.approx(place[:2], abs=1e-4)
        assert_stands_on(robot, gradient)
        robot.set_brake(True)
        w.step()
        # one with a caster turns downhill, and its attitude follows with the next step
        assert_stands_on(robot, gradient, within=1e-5)
        assert abs(float(robot._body["vz"])) < 0.05  # no jump


@pytest.mark.parametrize("way", ["file", "spawn", "teleport"])
@pytest.mark.parametrize("kind", VEHICLES)
def test_drives_up_from_where_it_was_put(kind: str, way: str) -> None:
    """16 degrees uphill: it gets there, and touches nothing."""
    heading = {"file": 0.0, "spawn": 1.0, "teleport": -2.2}[way]
    steep = math.tan(math.radians(16.0))
    gradient = (steep * math.cos(heading), steep * math.sin(heading))
    w = WAYS[way](kind, plane(gradient), (1.0, 2.0, heading))
    robot = robot_of(w)
    robot.set_twist(0.5)
    start = robot.pose
    for _ in range(300):
        w.step()
        assert not robot.in_collision
    end = robot.pose
    up = (end.x - start.x) * math.cos(heading) + (end.y - start.y) * math.sin(heading)
    assert up > 0.2
    assert_stands_on(robot, gradient)


def car_of(wheelbase: float) -> str:
    """Return a car whose wheels are small against its length."""
    return vehicle("rear drive").replace("<f_wheels_x>0.2", f"<f_wheels_x>{wheelbase - 0.2}")


@pytest.mark.parametrize("wheelbase", [0.4, 2.0, 6.0])
@pytest.mark.parametrize("degrees", [-30.0, -8.0, 8.0, 30.0])
def test_length_does_not_matter(wheelbase: float, degrees: float) -> None:
    """The front axle stands up to 30 wheel radii above the rear one."""
    w = load_world(text=world(incline(degrees), car_of(wheelbase)))
    assert_stands_on(w.vehicles["r1"], (math.tan(math.radians(degrees)), 0.0))


BRIDGE = """<element class="horizontal_plane"><z>0</z></element>
  <element class="horizontal_plane"><x_min>-2</x_min><x_max>9</x_max><z>1</z></element>
  <element class="horizontal_plane"><x_min>-2</x_min><x_max>9</x_max><z>2.5</z></element>"""


@pytest.mark.parametrize("floor", [0.0, 1.0, 2.5])
def test_goes_to_the_floor_that_its_height_says(floor: float) -> None:
    """On top of a bridge, under it, or between: by file, teleport and the floor it is on."""
    text = vehicle("differential").replace(
        "<init_pose>0 0 0</init_pose>", f"<init_pose3d>2 0 {floor + 0.05} 0 0 0</init_pose3d>"
    )
    w = load_world(text=world(BRIDGE, text))
    robot = w.vehicles["r1"]
    assert robot.pose.z == floor
    for other in (0.0, 2.5, 1.0, floor):
        robot.teleport(3.0, 1.0, 2.0, z=other - 0.05)
        assert (robot.pose.z, robot.pose.roll, robot.pose.pitch) == (other, 0.0, 0.0)
        w.step()
        assert robot.pose.z == other
    robot.teleport(4.0, 1.0, 2.0)
    assert robot.pose.z == floor


def test_goes_to_the_top_of_a_block_of_a_flat_world() -> None:
    """Nothing climbs a block of 1 m, but what is put on it stands there."""
    box = block("box", "2 0 0", extra="<static>true</static>", size=2.0)
    w = load_world(text=world(box, vehicle("differential")))
    robot = w.vehicles["r1"]
    robot.teleport(2.0, 0.0, 0.5, z=1.0)
    w.run(0.1)
    assert robot.pose.z == 1.0
    assert not robot.in_collision
    batch = w.replicate(2)
    batch[1].vehicles["r1"].teleport(-3.0, 0.0, 0.0, z=0.0)
    batch.step()
    assert [copy.vehicles["r1"].pose.z for copy in batch] == [1.0, 0.0]


def test_reference_point_over_an_edge() -> None:
    """A car whose rear axle is beyond the edge of a platform, with its front wheels on it.

    It goes where its height says, with the rear wheels down, as if it had rolled there.
    """
    floors = """<element class="horizontal_plane"><z>0</z></element>
      <element class="horizontal_plane"><x_min>0</x_min><x_max>9</x_max><z>0.2</z></element>"""
    w = load_world(text=world(floors, vehicle("rear drive")))
    robot = w.vehicles["r1"]
    robot.teleport(0.05, 0.0, 0.0, z=0.2)  # the rear axle is at x = -0.15
    placed = robot.pose
    assert placed.z == pytest.approx(0.1, abs=0.01)  # its reference point is amid the wheels
    assert placed.pitch == pytest.approx(-math.asin(0.2 / 0.4), abs=0.02)
    robot.set_brake(True)
    w.step()
    assert (robot.pose.z, robot.pose.pitch) == pytest.approx((placed.z, placed.pitch), abs=1e-3)
    robot.teleport(-3.0, 0.0, 0.0)
    assert (robot.pose.z, robot.pose.pitch) == (0.0, 0.0)


def test_spans_a_gap_that_is_narrower_than_itself() -> None:
    """Wheels on two platforms with a gap between: it stands level on both."""
    floors = """<element class="horizontal_plane"><z>0</z></element>
      <element class="horizontal_plane"><x_min>-5</x_min><x_max>-0.1</x_max><z>1</z></element>
      <element class="horizontal_plane"><x_min>0.1</x_min><x_max>5</x_max><z>1</z></element>"""
    w = load_world(text=world(floors, vehicle("differential_4_wheels", pose="-3 0 0")))
    robot = w.vehicles["r1"]
    robot.teleport(0.0, 0.0, 0.0, z=1.0)  # the reference point is over the gap
    for _ in range(2):
        assert (robot.pose.z, robot.pose.pitch) == (1.0, 0.0)
        w.step()


def test_falls_when_what_it_stood_on_goes() -> None:
    """A robot on a ramp, and a block beside it: at once on the ground, without a speed."""
    ramp = """<block name="ramp"><geometry type="ramp" lx="4" ly="3" lz="1"/>
      <intangible>true</intangible><static>true</static><init_pose>0 0 0</init_pose></block>"""
    w = load_world(text=world(ramp, vehicle("differential_4_wheels", pose="2 0 0")))
    robot = w.vehicles["r1"]
    robot.set_brake(True)
    assert robot.pose.pitch == pytest.approx(-math.atan(0.25), abs=1e-6)
    w.run(0.05)
    state = w.state()
    for gone in (lambda: w.remove("ramp"), lambda: w.blocks["ramp"].teleport(0, 40, 0)):
        w.restore(state)
        assert robot.pose.z == pytest.approx(0.5, abs=1e-6)
        gone()
        p = robot.pose
        assert (p.z, p.roll, p.pitch) == (0.0, 0.0, 0.0)
        w.step()
        assert float(robot._body["vz"]) == 0.0
    w.restore(state)
    w.blocks["ramp"].teleport(-1.0, 0.0, 0.0)  # it is put below the robot: 0.25 m higher there
    assert robot.pose.z == pytest.approx(0.75, abs=1e-6)


def test_members_of_an_island_lie_in_its_plane() -> None:
    """A load behind and a vehicle beside a robot: height, attitude and slope of the plane."""
    gradient = (0.3, -0.2)
    side = vehicle("differential", pose="1 1 40").replace('"r1"', '"side"')
    w = load_world(
        text=world(
            plane(gradient), vehicle("differential_4_wheels", pose="0 0 20"), side,
            block("load", "-0.5 0.3 60", size=0.3),
        )
    )  # fmt: skip
    w.weld("r1", "side")
    w.weld("r1", "load")
    for yaw in (0.5, 2.0, -1.2):
        w.vehicles["r1"].teleport(4.0, -3.0, yaw)
        w.step()
        for member in (w.vehicles["r1"], w.vehicles["side"]):
            assert_stands_on(member, gradient)
        p = w.blocks["load"].pose
        assert p.z == pytest.approx(p.x * gradient[0] + p.y * gradient[1], abs=1e-6)
        w.vehicles["side"].teleport(-4.0, 3.0, yaw)  # the island goes with any of its members
        p = w.vehicles["side"].pose
        assert (p.x, p.y, p.yaw) == pytest.approx((-4.0, 3.0, yaw), abs=1e-9)
        assert_stands_on(w.vehicles["side"], gradient)


def test_a_load_keeps_its_height_above_the_robot() -> None:
    """What is on top of a robot stays there, and falls when it is let go."""
    load = (
        block("load", size=0.2)
        .replace("<init_pose>0 0 0</init_pose>", "<init_pose3d>0 0 0.5 0 0 0</init_pose3d>")
        .replace("</block>", "<skip_elevation_adjust>true</skip_elevation_adjust></block>")
    )
    w = load_world(text=world(incline(10), vehicle("differential_4_wheels"), load))
    w.weld("r1", "load")
    height = w.blocks["load"].pose.z - w.vehicles["r1"].pose.z
    w.vehicles["r1"].teleport(5.0, 0.0, 1.0)
    w.run(0.05)
    assert w.blocks["load"].pose.z - w.vehicles["r1"].pose.z == pytest.approx(height, abs=1e-6)
    w.unweld("r1", "load")
    p = w.blocks["load"].pose
    assert p.z == pytest.approx(p.x * math.tan(math.radians(10)), abs=1e-6)


def test_copies_are_placed_alike() -> None:
    """Teleports in a batch stand as those of a single world, to the byte."""
    gradient = (-0.2, 0.25)
    w = by_file("rear drive", plane(gradient), (0.0, 0.0, 0.0))
    batch = w.replicate(3)
    for k, copy in enumerate(batch):
        copy.vehicles["r1"].teleport(1.0 + k, 2.0, 0.7 * k)
        assert_stands_on(copy.vehicles["r1"], gradient)
    batch.step()
    w.vehicles["r1"].teleport(2.0, 2.0, 0.7)
    w.step()
    for field in ("x", "y", "z", "roll", "pitch", "yaw", "vz", "slope_x", "plan_yy"):
        assert batch[1].vehicles["r1"]._body[field] == w.vehicles["r1"]._body[field], field
