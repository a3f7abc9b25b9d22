# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Actors in worlds: they walk, are seen, and collide."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.errors import WorldFileError
from tests.physics.worlds import block, cart, world

LASER = """<sensor class="laser" name="l"><pose>0 0 0</pose><height>{}</height>
  <sensor_period>0.05</sensor_period><nrays>3</nrays><fov_degrees>10</fov_degrees>
  <range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg></sensor>"""


def actor(waypoints, name="p1", pose="0 0 0", more="", loop="false"):
    stops = "".join(f"<waypoint {a}>{p}</waypoint>" for a, p in waypoints)
    return f"""<actor name="{name}"><init_pose>{pose}</init_pose><walking_speed>1.0</walking_speed>
      <running_speed>3.0</running_speed>{more}<path loop="{loop}">{stops}</path></actor>"""


def run(*parts, seconds=0.0):
    made = load_world(text=world(*parts))
    made.run(seconds)
    return made


def test_they_walk_their_paths():
    made = run(actor([("", "3 0 0"), ('animation="run"', "3 6 90")]), seconds=2.0)
    person = made.actors["p1"]
    assert (person.pose.x, person.pose.y) == pytest.approx((2.0, 0.0), abs=1e-9)
    assert person.twist.vx == pytest.approx(1.0)
    assert person.gait == "walk"
    made.run(2.0)
    assert person.pose.y == pytest.approx(3.0, abs=1e-9)
    assert person.gait == "run"
    made.run(2.0)
    assert (person.pose.y, person.gait) == (pytest.approx(6.0), "idle")
    assert made.warnings == ()


def test_classes_give_what_all_share():
    text = """<actor:class name="runner"><walking_speed>2.0</walking_speed>
      <collision_radius>0.5</collision_radius></actor:class>
      <actor name="a" class="runner"><init_pose>0 0 0</init_pose>
      <path><waypoint>10 0 0</waypoint></path></actor>
      <actor name="b" class="runner"><init_pose>0 5 0</init_pose></actor>"""
    made = run(text, seconds=1.0)
    assert made.actors["a"].pose.x == pytest.approx(2.0)
    assert made.actors["b"].pose.x == 0.0
    outline = made.actors["b"].polygons[0]
    x, y = outline.T
    area = 0.5 * abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1)))
    assert area == pytest.approx(math.pi * 0.25)


def test_they_push_what_is_in_their_way():
    made = run(actor([("", "5 0 0")]), block("b1", "2 0 0"), seconds=4.0)
    assert made.actors["p1"].pose.x == pytest.approx(4.0, abs=1e-3)
    # half of a block of 1 m and a radius of 0.3 m ahead
    assert made.blocks["b1"].pose.x == pytest.approx(4.0 + 0.8, abs=0.05)


def test_robots_cannot_drive_through_them():
    controller = '<controller class="twist_ideal"/>'
    made = run(actor([], pose="2 0 0"), cart(controller=controller))
    made.vehicles["r1"].set_twist(1.0)
    made.run(4.0)
    # the chassis ends 0.5 m ahead
    assert made.vehicles["r1"].pose.x == pytest.approx(2.0 - 0.3 - 0.5, abs=0.02)
    assert made.vehicles["r1"].in_collision
    assert {made.contacts[0].a, made.contacts[0].b} == {"p1", "r1"}
    assert made.actors["p1"].pose.x == 2.0


@pytest.mark.parametrize(("height", "seen"), [(1.0, 1.7), (1.9, math.inf)])
def test_lidars_see_them_up_to_their_height(height, seen):
    made = run(actor([("", "2 9 0")], pose="2 0 0"), cart(extra=LASER.format(height)))
    made.run(0.05)
    middle = made.vehicles["r1"].sensors["l"].last.ranges[1]
    assert middle == pytest.approx(seen, abs=0.01)
    made.run(2.0)
    assert made.vehicles["r1"].sensors["l"].last.ranges[1] == math.inf


def test_they_follow_hills():
    hill = """<element class="elevation_map"><elevation_data_matrix>[-5 -5; 5 5]
      </elevation_data_matrix><resolution>100</resolution></element>"""
    made = run(hill, actor([("", "20 0 0")]), seconds=10.0)
    pose = made.actors["p1"].pose
    assert pose.x == pytest.approx(10.0, abs=1e-6)
    assert pose.z == pytest.approx(1.0, abs=0.01)


def test_paths_with_heights_leave_the_ground():
    made = run(actor([("", "10 0 5 0 0 0")]), block("b1", "8 0 0"), seconds=9.0)
    part = 9.0 / math.hypot(10, 5)
    assert made.actors["p1"].pose.z == pytest.approx(5 * part)
    assert made.blocks["b1"].pose.x == 8.0  # 1 m high, passed above it


def test_resets_and_snapshots_bring_them_back():
    made = run(actor([("", "3 0 0"), ("", "0 0 0")], loop="true"), seconds=1.3)
    kept, person = made.state(), made.actors["p1"]
    made.run(5.0)
    later = person.pose
    made.restore(kept)
    assert person.pose.x == pytest.approx(1.3)
    made.run(5.0)
    assert person.pose == pytest.approx(later)
    made.reset()
    assert person.pose.x == 0.0


def test_names_must_differ():
    with pytest.raises(WorldFileError, match="p1"):
        run(actor([]), cart("p1"))


def test_key_frames_move_actors_without_a_path():
    film = """<animation type="keyframes"><time_pose>0 0 0 0</time_pose>
      <time_pose>4 4 0 0</time_pose></animation>"""
    text = f'<actor name="a"><init_pose>1 0 0</init_pose>{film}</actor>'
    assert run(text, seconds=2.0).actors["a"].pose.x == pytest.approx(3.0)
