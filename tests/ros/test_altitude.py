# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Altitudes of fixes as messages carry them: exact without noise, unbiased with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from mvsim_core import World, load_world
from mvsim_ros2.conversions.imu_gnss import fix_message
from mvsim_ros2.conversions.stamps import stamp_of
from tests.ros.worlds import GEOREFERENCE
from tests.unit.sensors.inertial import gnss_xml, robot


def fix(world: World) -> Any:
    """Return the message of the newest reading."""
    world.step()
    return fix_message(world.vehicles["r1"].sensors["gps1"].last, "gps", stamp_of(0))


def test_the_altitude_is_height_plus_antenna() -> None:
    """60 m of the reference, 0.5 m of the mount, at the reference itself: to a micrometre."""
    message = fix(robot(gnss_xml("0 0 0.5 0 0 0"), GEOREFERENCE))
    assert message.altitude == pytest.approx(60.5, abs=1e-6)
    assert (message.latitude, message.longitude) == pytest.approx((36.8, -2.4), abs=1e-10)


def test_the_earth_falls_away_below_a_level_world() -> None:
    """At a distance d the plane of the world is d² / 2 R above the ellipsoid."""
    message = fix(robot(gnss_xml(), GEOREFERENCE, pose="2000 0 0"))
    # R is the ellipsoid's radius of curvature to the east, its prime vertical
    a, e2 = 6378137.0, 0.00669437999014
    radius = a / math.sqrt(1 - e2 * math.sin(math.radians(36.8)) ** 2)
    assert message.altitude == pytest.approx(60.0 + 2000.0**2 / (2 * (radius + 60.0)), abs=1e-4)


def test_the_error_of_the_altitude_has_the_size_that_the_message_states() -> None:
    """The mean of n fixes is off by at most four times σ / √n; σ is in the covariance."""
    world = robot(gnss_xml("0 0 0.5 0 0 0", 1.0, 4.0), GEOREFERENCE)
    n = 400
    messages = [fix(world) for _ in range(n)]
    sigma = math.sqrt(messages[0].position_covariance[8])
    assert sigma == 4.0
    altitudes = np.array([message.altitude for message in messages])
    assert altitudes.mean() == pytest.approx(60.5, abs=4 * sigma / math.sqrt(n))
    assert altitudes.std() == pytest.approx(sigma, rel=4 / math.sqrt(2 * n))


def test_a_vehicle_on_a_hill_is_higher() -> None:
    """The antenna's height above the world's origin counts, not above the ground."""
    hill = """<element class="horizontal_plane"><z>7.25</z></element>"""
    text = f"""<mvsim_world version="1.0">{GEOREFERENCE}{hill}<vehicle name="r1">
      <init_pose3d>0 0 7.25 0 0 0</init_pose3d><dynamics class="differential"/>
      {gnss_xml("0 0 0.5 0 0 0")}</vehicle></mvsim_world>"""
    assert fix(load_world(text=text)).altitude == pytest.approx(67.75, abs=1e-6)
