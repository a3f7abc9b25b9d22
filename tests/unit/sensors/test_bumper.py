# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bumpers: which sector touches, also for a moment between readings, and in copies."""

import math

import pytest

from mvsim_core import load_world
from mvsim_core.errors import WorldFileError
from tests.physics.worlds import cart, world
from tests.unit.sensors.inertial import DT, IDEAL, robot

ROUND = "".join(
    f"<pt>{0.5 * math.cos(a)} {0.5 * math.sin(a)}</pt>"
    for a in (math.radians(4 + 8 * k) for k in range(45))
)


def bumper(more="", period=0.1):
    return f"""<sensor class="bumper" name="b"><sensor_period>{period}</sensor_period>{more}
      </sensor>"""


def pole(name, x, y):
    return f"""<block name="{name}"><static>true</static><init_pose>{x} {y} 0</init_pose>
      <zmax>1</zmax><geometry type="box" lx="0.2" ly="0.2" lz="1"/></block>"""


def touched(made, seconds=0.2):
    """Names of the pressed sectors of the newest reading after a while."""
    made.run(seconds)
    reading = made.vehicles["r1"].sensors["b"].last
    return {name for name, hit in zip(reading.sectors, reading.pressed, strict=True) if hit}


def test_the_side_that_touches_is_named():
    ahead, behind = pole("a", 0.8, 0), pole("b", -0.8, 0.1)
    made = robot(bumper(), ahead, behind, pose="0 0 0")
    vehicle = made.vehicles["r1"]
    assert touched(made) == set()
    vehicle.set_twist(0.5, 0.0, 0.0)
    assert touched(made, 1.0) == {"front"}
    vehicle.set_twist(-0.5, 0.0, 0.0)
    assert touched(made, 0.3) == set()
    assert touched(made, 1.0) == {"rear"}


@pytest.mark.parametrize("yaw", [0, 130, -60])
@pytest.mark.parametrize("side", ["left", "right"])
def test_sectors_turn_with_the_vehicle(yaw, side):
    away = math.radians(yaw + (90 if side == "left" else -90))
    pushed = f"""<block name="crate"><mass>5</mass><zmax>1</zmax>
      <init_pose>{0.95 * math.cos(away)} {0.95 * math.sin(away)} {yaw}</init_pose>
      <init_vel>0 {-2 if side == "left" else 2} 0</init_vel>
      <geometry type="box" lx="0.3" ly="0.3" lz="1"/></block>"""
    made = robot(bumper(), pushed, pose=f"0 0 {yaw}")
    found = [touched(made, 0.1) for _ in range(6)]
    assert {side} in found
    assert all(one <= {side} for one in found)


def test_a_short_blow_between_readings_is_not_missed():
    ball = """<block name="ball"><mass>0.1</mass><zmax>1</zmax><init_pose>0.8 0 0</init_pose>
      <init_vel>-6 0 0</init_vel><restitution>0.9</restitution>
      <geometry type="box" lx="0.1" ly="0.1" lz="1"/></block>"""
    made = robot(bumper(period=0.2), ball)
    steps = []
    for _ in range(40):
        made.step()
        steps.append(made.vehicles["r1"].in_collision)
    assert 0 < sum(steps) < 10
    assert not steps[-1]
    reading = made.vehicles["r1"].sensors["b"].last
    assert reading.tick == 40
    assert reading.pressed == (True, False, False, False)
    assert touched(made, 0.2) == set()  # and once only


@pytest.mark.parametrize(("angle", "expected"), [(-40, "r"), (0, "c"), (50, "l"), (120, "")])
def test_partial_bumpers_of_round_robots(angle, expected):
    three = bumper(
        "<sectors>r c l</sectors><sector_width_deg>50</sector_width_deg>"
        "<first_sector_deg>-50</first_sector_deg>"
    )
    square = "<pt>-0.5 -0.4</pt><pt>-0.5 0.4</pt><pt>0.5 0.4</pt><pt>0.5 -0.4</pt>"
    vehicle = cart(controller=IDEAL, extra=three).replace(square, ROUND)
    a = math.radians(angle)
    thrown = f"""<block name="ball"><mass>1</mass><zmax>1</zmax>
      <init_pose>{0.8 * math.cos(a)} {0.8 * math.sin(a)} {angle}</init_pose>
      <init_vel>-2 0 0</init_vel>
      <geometry type="box" lx="0.1" ly="0.02" lz="1"/></block>"""
    made = load_world(text=world(thrown, vehicle, dt=DT))
    hits = set()
    for _ in range(5):
        hits |= touched(made, 0.1)
        if made.contacts:
            break
    assert made.blocks["ball"].pose.x != pytest.approx(0.8 * math.cos(a), abs=0.05)
    assert hits == ({expected} if expected else set())


def test_snapshots_and_copies_hold_what_was_touched_in_the_period():
    made = robot(bumper(period=0.2), pole("a", 0.8, 0))
    made.vehicles["r1"].set_twist(1.0, 0.0, 0.0)
    made.run(0.3)  # in the middle of the second period, in contact
    assert made.contacts
    state = made.state()
    made.vehicles["r1"].teleport(-3.0, 0.0, 0.0)
    made.vehicles["r1"].set_twist(0.0, 0.0, 0.0)
    assert touched(made, 0.1) == {"front"}
    made.restore(state)
    assert made.data == state
    batch = made.replicate(2)
    for copy in batch:
        copy.vehicles["r1"].set_twist(0.0, 0.0, 0.0)
    batch[1].vehicles["r1"].teleport(-3.0, 0.0, 0.0)
    batch.run(0.1)
    pressed = [copy.vehicles["r1"].sensors["b"].last.pressed[0] for copy in batch]
    assert pressed == [True, True]
    batch.run(0.2)
    pressed = [copy.vehicles["r1"].sensors["b"].last.pressed[0] for copy in batch]
    assert pressed == [True, False]
    made.reset()
    assert touched(made, 0.2) == set()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<sectors>a b a</sectors>", "sectors must be different names, got 'a b a'"),
        (
            "<sectors>a b</sectors><sector_width_deg>200</sector_width_deg>",
            "2 sectors of 200 deg each are 400 deg, more than a full turn",
        ),
        ("<sectors></sectors>", "sectors must not be empty"),
    ],
)
def test_errors_name_the_rule(given, message):
    with pytest.raises(WorldFileError) as caught:
        robot(bumper(given))
    assert message in str(caught.value)


def test_a_bumper_without_a_vehicle_is_named():
    made = load_world(text=world(bumper(), dt=DT))
    assert any("has no vehicle: it touches nothing" in str(w) for w in made.warnings)
