# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The way of an actor as a function of time."""

import math

import pytest

from mvsim_core.animation.waypoint_path import WaypointPath
from mvsim_core.geometry.poses import Pose
from mvsim_core.specs.actor import WaypointSpec

WALK, RUN = 1.25, 4.0


def stop(x, y, yaw=0.0, *, pause=0.0, animation="walk", z=0.0):
    return WaypointSpec(pose=Pose(x, y, z, yaw=yaw), pause=pause, animation=animation)


def walk(*waypoints, loop=True, start=None):
    return WaypointPath(start or Pose(), waypoints, loop=loop, speeds=(WALK, RUN))


def place(way, time):
    moment = way.at(time)
    return moment.x, moment.y


def test_it_begins_at_the_start_and_walks_to_the_first_waypoint():
    way = walk(stop(5, 0), loop=False)
    assert place(way, 0.0) == (0, 0)
    assert place(way, 2.0) == pytest.approx((2 * WALK, 0))
    assert way.at(2.0).speed == WALK
    assert place(way, 4.0) == pytest.approx((5, 0))
    assert place(way, 100.0) == (5, 0)
    assert way.at(100.0).speed == 0


def test_pauses_pass_at_the_waypoint():
    way = walk(stop(5, 0, pause=3.0), stop(5, 5), loop=False)
    for time in (4.0, 5.5, 6.99):
        assert place(way, time) == pytest.approx((5, 0))
    assert place(way, 8.0) == pytest.approx((5, WALK))


def test_speed_is_that_of_the_waypoint_ahead():
    way = walk(stop(5, 0), stop(5, 8, animation="run"), loop=False)
    assert place(way, 4.0 + 1.0) == pytest.approx((5, RUN))
    assert way.at(5.0).speed == RUN


def test_idle_waypoints_are_reached_all_the_same():
    way = walk(stop(5, 0, animation="idle", pause=1.0), stop(0, 0), loop=False)
    assert place(way, 4.5) == pytest.approx((5, 0))
    assert place(way, 9.0) == pytest.approx((0, 0))


def test_loops_go_from_the_last_to_the_first_not_to_the_start():
    # 0 -> 5 once, then 5 -> 5+2.5 -> 5 ... : rounds of 4 s
    way = walk(stop(5, 0), stop(7.5, 0))
    first = 4.0 + 2.0
    for turns in (0, 1, 250):
        begin = first + turns * 4.0
        assert place(way, begin) == pytest.approx((7.5, 0), abs=1e-6)
        assert place(way, begin + 2.0) == pytest.approx((5, 0), abs=1e-6)
        assert place(way, begin + 3.0) == pytest.approx((6.25, 0), abs=1e-6)


def test_length_counts_in_space():
    way = walk(stop(3, 0, z=4.0), loop=False)
    moment = way.at(2.0)
    assert (moment.x, moment.z) == pytest.approx((1.5, 2.0))
    assert way.at(4.0).z == pytest.approx(4.0)


def test_yaw_turns_into_the_way_and_out_of_it():
    way = walk(stop(0, 10, yaw=math.pi), loop=False, start=Pose(yaw=-math.pi / 2))
    duration = 10 / WALK
    assert way.at(0.0).yaw == pytest.approx(-math.pi / 2)
    half_in = math.remainder(way.at(0.05 * duration).yaw, 2 * math.pi)
    assert abs(half_in) in (pytest.approx(0.0), pytest.approx(math.pi))
    for part in (0.1, 0.5, 0.8):
        assert way.at(part * duration).yaw == pytest.approx(math.pi / 2)
    assert way.at(0.9 * duration).yaw == pytest.approx(0.75 * math.pi)
    assert way.at(duration).yaw == pytest.approx(math.pi)


def test_turns_take_the_shorter_way():
    way = walk(stop(10, 0, yaw=math.radians(-170)), loop=False, start=Pose(yaw=math.radians(170)))
    end = way.at(8.0 - 1e-9).yaw
    assert math.remainder(end - math.radians(-170), 2 * math.pi) == pytest.approx(0, abs=1e-6)


def test_short_legs_turn_from_yaw_to_yaw():
    way = walk(stop(0.05, 0, yaw=1.0), loop=False)
    assert way.at(0.02).yaw == pytest.approx(0.5)


@pytest.mark.parametrize("loop", [False, True])
def test_paths_that_go_nowhere_do_not_hang(loop):
    way = walk(stop(0, 0), stop(0, 0), loop=loop)
    for time in (0.0, 1.0, 1e6):
        assert place(way, time) == (0, 0)
    assert place(walk(loop=loop), 3.0) == (0, 0)
    alone = walk(stop(5, 0), loop=loop)
    assert place(alone, 1e5) == (5, 0)


def test_nobody_jumps():
    way = walk(
        stop(5, 0, 1.0, pause=0.5),
        stop(5, 5, -2.0, animation="run"),
        stop(-3, 2, 3.0, animation="idle"),
        stop(-3, 2, 0.0),
    )
    before = way.at(0.0)
    for k in range(1, 6000):
        now = way.at(k * 0.005)
        assert math.dist(before[:3], now[:3]) <= RUN * 0.005 + 1e-9
        before = now
