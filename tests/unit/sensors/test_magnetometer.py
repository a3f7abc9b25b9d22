# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Magnetometers against the library of the World Magnetic Model, and in the frame of the mount."""

import math

import numpy as np
import pygeomag
import pytest

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors.magnetic_field import magnetic_field
from tests.unit.sensors.inertial import DT, incline, robot

QUIET = "<magnetic_field_std_noise>0</magnetic_field_std_noise>"
PLACE = """<georeference><latitude>36.9</latitude><longitude>-2.3</longitude><height>200</height>
  <world_to_enu_rotation_deg>{turn}</world_to_enu_rotation_deg></georeference>"""


def compass(mount="0 0 0 0 0 0", more=QUIET):
    return f"""<sensor class="magnetometer" name="m"><pose_3d>{mount}</pose_3d>
      <sensor_period>{DT}</sensor_period>{more}</sensor>"""


def library(latitude, longitude, height, year):
    """East, north, up [T] as the library has it."""
    model = pygeomag.GeoMag(base_year=2020 if year < 2025 else 2025)
    found = model.calculate(glat=latitude, glon=longitude, alt=height / 1000, time=year)
    return np.array((found.y, found.x, -found.z)) * 1e-9


def reading(world):
    world.step()
    return world.vehicles["r1"].sensors["m"].last


@pytest.mark.parametrize("year", [2020.0, 2024.9, 2025.0, 2026.5, 2030.0])
def test_the_field_is_that_of_the_library(year):
    rng = np.random.default_rng(4)
    places = [(89.999, 10.0, 0.0), (-90.0, 0.0, 0.0), (0.0, 0.0, 0.0), (10.0, -180.0, -300.0)]
    places += zip(
        rng.uniform(-89.9, 89.9, 12),
        rng.uniform(-180, 180, 12),
        rng.uniform(-500, 9000, 12),
        strict=True,
    )
    for place in places:
        found = magnetic_field(*place, year)
        np.testing.assert_allclose(found, library(*place, year), atol=0.05e-9, err_msg=str(place))


def test_the_field_goes_on_across_the_borders_of_cells():
    for axis, border in ((0, 36.9), (1, -2.3), (2, 2000.0)):
        low, high = ([36.905, -2.295, 1500.0] for _ in range(2))
        low[axis], high[axis] = border - 1e-9, border + 1e-9
        difference = magnetic_field(*low, 2026.0) - magnetic_field(*high, 2026.0)
        assert np.abs(difference).max() < 1e-14


@pytest.mark.parametrize("turn", [0.0, 30.0])
@pytest.mark.parametrize("slope", [0.0, 12.0])
def test_it_turns_with_vehicle_mount_and_world(turn, slope):
    world = robot(
        compass("0 0 0.5 25 10 -5"),
        PLACE.format(turn=turn),
        *([incline(slope)] * (slope > 0)),
        pose="4 -3 70",
    )
    found = reading(world)
    pose = world.vehicles["r1"].pose
    mount = Pose(yaw=math.radians(25), pitch=math.radians(10), roll=math.radians(-5))
    attitude = rotation(Pose(yaw=math.radians(turn))) @ rotation(pose) @ rotation(mount)
    expected = attitude.T @ library(36.9, -2.3, 200.0 + pose.z, 2026.0)
    np.testing.assert_allclose(found.magnetic_field, expected, atol=1e-9)  # 5 m away: < 0.1 nT
    assert np.linalg.norm(found.magnetic_field) == pytest.approx(44e-6, rel=0.02)


def test_the_heading_is_that_of_the_compass():
    """A level one tells the yaw against east, by the declination of the library."""
    world = robot(compass(), PLACE.format(turn=0), pose="0 0 20")
    x, y, _ = reading(world).magnetic_field
    declination = pygeomag.GeoMag(base_year=2025).calculate(36.9, -2.3, 0.2, 2026.0).d
    assert math.degrees(math.atan2(y, x)) == pytest.approx(90.0 - declination - 20.0, abs=1e-4)


def test_stated_field_iron_and_noise():
    stated = "<magnetic_field>1e-6 2e-5 -4e-5</magnetic_field>"
    iron = "<hard_iron>1e-5 0 -2e-6</hard_iron><soft_iron>1.1 1 0.9</soft_iron>"
    world = robot(compass(more=QUIET + stated + iron), pose="0 0 90")
    found = reading(world).magnetic_field
    np.testing.assert_allclose(found, (2e-5 * 1.1 + 1e-5, -1e-6, -3.6e-5 - 2e-6), atol=1e-18)
    assert not world.warnings
    world = robot(compass(more=stated))
    fields = [reading(world).magnetic_field for _ in range(600)]
    assert np.std(fields, axis=0) == pytest.approx((5e-7, 5e-7, 5e-7), rel=0.1)
    assert reading(world).covariance == pytest.approx(np.eye(3) * 25e-14)


def test_without_a_place_there_are_no_readings():
    world = robot(compass())
    assert reading(world) is None
    (warning,) = world.warnings
    assert "no <georeference>: its magnetometers give no readings" in str(warning)
