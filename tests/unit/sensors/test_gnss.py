# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Receivers against formulas of their own for the ellipsoid and for UTM."""

import math

import numpy as np
import pytest

from mvsim_core.sensors import Earth
from mvsim_core.specs.world import GeoreferenceSpec
from tests.unit.sensors.inertial import gnss_xml, incline, robot

A, F = 6378137.0, 1 / 298.257223563
E2 = F * (2 - F)
LATITUDE, LONGITUDE, HEIGHT = 36.894718, -2.316988, 200.0


def georeference(turn=0.0, utm=False, latitude=LATITUDE):
    return f"""<georeference><latitude>{latitude}</latitude><longitude>{LONGITUDE}</longitude>
      <height>{HEIGHT}</height><world_to_enu_rotation_deg>{turn}</world_to_enu_rotation_deg>
      <world_is_utm>{str(utm).lower()}</world_is_utm></georeference>"""


def hole(x0, x1, z="", value="true"):
    return f"""<element class="property_region"><property_name>gps_no_coverage</property_name>
      <value_bool>{value}</value_bool><x_min>{x0}</x_min><x_max>{x1}</x_max>
      <y_min>-5</y_min><y_max>5</y_max>{z}</element>"""


def ecef(latitude, longitude, height):
    """The textbook formula."""
    p, q = math.radians(latitude), math.radians(longitude)
    n = A / math.sqrt(1 - E2 * math.sin(p) ** 2)
    across = (n + height) * math.cos(p)
    return np.array(
        [across * math.cos(q), across * math.sin(q), (n * (1 - E2) + height) * math.sin(p)]
    )


def enu(latitude, longitude, height, reference=(LATITUDE, LONGITUDE, HEIGHT)):
    """East, north, up [m] of a place as seen from a reference, by rotating the difference."""
    p, q = math.radians(reference[0]), math.radians(reference[1])
    d = ecef(latitude, longitude, height) - ecef(*reference)
    east = [-math.sin(q), math.cos(q), 0]
    north = [-math.sin(p) * math.cos(q), -math.sin(p) * math.sin(q), math.cos(p)]
    up = [math.cos(p) * math.cos(q), math.cos(p) * math.sin(q), math.sin(p)]
    return np.array([east, north, up]) @ d


def utm(latitude, longitude):
    """Easting and northing by Krüger's series in the third flattening, to the fourth order."""
    n = F / (2 - F)
    zone = int((longitude + 180) // 6) + 1
    lam = math.radians(longitude - (6 * zone - 183))
    phi = math.radians(latitude)
    e = math.sqrt(E2)
    t = math.sinh(math.atanh(math.sin(phi)) - e * math.atanh(e * math.sin(phi)))
    xi, eta = (
        math.atan2(t, math.cos(lam)),
        math.asinh(math.sin(lam) / math.hypot(t, math.cos(lam))),
    )
    alpha = (
        n / 2 - 2 * n**2 / 3 + 5 * n**3 / 16 + 41 * n**4 / 180,
        13 * n**2 / 48 - 3 * n**3 / 5 + 557 * n**4 / 1440,
        61 * n**3 / 240 - 103 * n**4 / 140,
        49561 * n**4 / 161280,
    )
    x, y = eta, xi
    for k, a in enumerate(alpha, 1):
        x += a * math.cos(2 * k * xi) * math.sinh(2 * k * eta)
        y += a * math.sin(2 * k * xi) * math.cosh(2 * k * eta)
    radius = A / (1 + n) * (1 + n**2 / 4 + n**4 / 64)
    south = 1e7 if latitude < 0 else 0.0
    return 5e5 + 0.9996 * radius * x, south + 0.9996 * radius * y


@pytest.mark.parametrize("point", [(0, 0, 0), (120, -45, 3), (-2500, 8000, 60), (5e4, 2e4, -10)])
@pytest.mark.parametrize("turn", [0.0, 5.0, -130.0])
def test_world_points_are_where_the_ellipsoid_says(point, turn):
    spec = GeoreferenceSpec(
        latitude=LATITUDE,
        longitude=LONGITUDE,
        height=HEIGHT,
        world_to_enu_rotation=math.radians(turn),
    )
    found = enu(*Earth(spec).to_geodetic(*point))
    c, s = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    expected = (c * point[0] - s * point[1], s * point[0] + c * point[1], point[2])
    np.testing.assert_allclose(found, expected, atol=2e-8)


@pytest.mark.parametrize("latitude", [36.894718, -36.894718])
def test_utm_worlds_have_utm_coordinates(latitude):
    spec = GeoreferenceSpec(
        latitude=latitude, longitude=LONGITUDE, height=HEIGHT, world_is_utm=True
    )
    place = (latitude + 0.01, LONGITUDE + 0.02)
    found = Earth(spec).to_geodetic(*utm(*place), 217.0)
    # a nanodegree is 0.1 mm
    assert found[:2] == pytest.approx(place, abs=2e-9)
    assert found[2] == 217.0


def reading(world, name="gps1"):
    world.step()
    return world.vehicles["r1"].sensors[name].last


def test_the_antenna_is_where_the_mount_is():
    world = robot(gnss_xml("0.5 0.2 1.5 0 0 0"), georeference(turn=90), pose="10 20 90")
    found = reading(world)
    # in the world at (10 - 0.2, 20 + 0.5); world x points north
    place = enu(found.latitude, found.longitude, found.altitude)
    np.testing.assert_allclose(place, (-20.5, 9.8, 1.5), atol=1e-6)


def test_the_antenna_leans_with_the_vehicle():
    world = robot(gnss_xml("0 0 2 0 0 0"), georeference(), incline(10))
    found = reading(world)
    slope, base = math.radians(10), world.vehicles["r1"].pose
    place = enu(found.latitude, found.longitude, found.altitude)
    expected = (base.x - 2 * math.sin(slope), base.y, base.z + 2 * math.cos(slope))
    np.testing.assert_allclose(place, expected, atol=1e-5)


def test_errors_have_the_stated_size_to_all_sides():
    world = robot(gnss_xml(horizontal=1.5, vertical=4.0), georeference(turn=30))
    places = [
        enu(r.latitude, r.longitude, r.altitude) for r in (reading(world) for _ in range(3000))
    ]
    assert np.std(places, axis=0) == pytest.approx((1.5, 1.5, 4.0), rel=0.05)
    assert np.abs(np.mean(places, axis=0) / (1.5, 1.5, 4.0)).max() < 0.08
    assert np.abs(np.corrcoef(np.transpose(places)) - np.eye(3)).max() < 0.08
    last = reading(world)
    assert np.array_equal(last.covariance, np.diag([1.5**2, 1.5**2, 16.0]))
    assert (last.status, last.covariance_type) == (0, 2)


def test_latitude_0_longitude_0_is_a_place():
    world = robot(
        gnss_xml(),
        "<georeference><latitude>0</latitude><longitude>0</longitude>"
        "<height>5</height></georeference>",
        pose="3 0 0",
    )
    found = reading(world)
    place = enu(found.latitude, found.longitude, found.altitude, (0.0, 0.0, 5.0))
    np.testing.assert_allclose(place, (3, 0, 0), atol=1e-6)
    assert not world.warnings


@pytest.mark.parametrize("missing", ["latitude", "longitude"])
def test_one_coordinate_without_the_other_is_named(missing):
    given = {"latitude": "longitude", "longitude": "latitude"}[missing]
    world = robot(gnss_xml(), f"<georeference><{given}>7</{given}></georeference>")
    found = reading(world)
    assert (getattr(found, missing), getattr(found, given)) == pytest.approx((0, 7), abs=1e-9)
    (warning,) = world.warnings
    assert f"<{given}> is given without <{missing}>, which is taken as 0 [deg]" in str(warning)


def test_perfect_receivers_do_not_claim_a_zero_covariance():
    last = reading(robot(gnss_xml(), georeference()))
    assert np.all(np.diag(last.covariance) > 0)


@pytest.mark.parametrize("z", ["", "<z_min>-1</z_min><z_max>3</z_max>"])
def test_no_fix_where_there_is_no_coverage(z):
    world = robot(gnss_xml("0 0 1 0 0 0", 1.0), georeference(), hole(-2, 2, z), pose="-3 0 0")
    assert reading(world).status == 0
    robot1 = world.vehicles["r1"]
    robot1.teleport(0, 0, 0)
    lost = reading(world)
    assert (lost.status, lost.covariance_type) == (-1, 0)
    assert all(map(math.isnan, (lost.latitude, lost.longitude, lost.altitude)))
    robot1.teleport(3, 0, 0)
    assert reading(world).status == 0


def test_regions_have_a_height_if_they_state_one():
    above = "<z_min>2</z_min><z_max>3</z_max>"
    high = robot(gnss_xml("0 0 2.5 0 0 0"), georeference(), hole(-2, 2, above))
    low = robot(gnss_xml("0 0 1 0 0 0"), georeference(), hole(-2, 2, above))
    assert (reading(high).status, reading(low).status) == (-1, 0)


def test_regions_without_a_height_count_on_mountains_too():
    world = robot(gnss_xml("0 0 2500 0 0 0"), georeference(), hole(-2, 2))
    assert reading(world).status == -1


def test_the_first_region_counts():
    clear = robot(gnss_xml(), georeference(), hole(-1, 1, value="false"), hole(-2, 2))
    assert reading(clear).status == 0


def test_noise_does_not_depend_on_coverage():
    covered = robot(gnss_xml(horizontal=1.0), georeference())
    holed = robot(gnss_xml(horizontal=1.0), georeference(), hole(-2, 2))
    reading(covered), reading(holed)
    for world in (covered, holed):
        world.vehicles["r1"].teleport(9, 0, 0)
    assert reading(covered).latitude == reading(holed).latitude


def test_a_world_that_lies_nowhere_warns_once_and_reads_nothing():
    world = robot(gnss_xml() + gnss_xml(name="gps2"))
    about = [p.message for p in world.warnings if "georeference" in p.message]
    assert len(about) == 1
    world.run(0.1)
    assert world.vehicles["r1"].sensors["gps1"].last is None
    assert world.new_readings == []
    world.reset()
    assert len(world.warnings) == 1


def test_points_that_utm_does_not_know_have_no_fix():
    world = robot(gnss_xml(), georeference(utm=True), pose="562365 4084007 0")
    assert reading(world).status == 0
    world.vehicles["r1"].teleport(1e9, 1e9, 0)
    assert reading(world).status == -1
