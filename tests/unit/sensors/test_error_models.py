# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Errors beyond white noise: constants and saturation of IMUs, slow errors of receivers."""

import math

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import Earth, Gnss, PlaneScene, SensorContext
from mvsim_core.specs.sensor import GnssSpec
from mvsim_core.specs.world import GeoreferenceSpec
from tests.unit.sensors.inertial import G, gnss_xml, imu, imu_xml, robot
from tests.unit.sensors.scenes import NO_STATE, placed
from tests.unit.sensors.test_gnss import HEIGHT, LATITUDE, LONGITUDE, enu, georeference, reading


def felt(sensor, tick=0):
    found = sensor.measure(NO_STATE, tick, 0.0)
    return np.concatenate((found.angular_velocity, found.linear_acceleration))


def test_start_biases_are_constants_of_the_seed():
    keys = {"angular_velocity_start_bias": 0.02, "linear_acceleration_start_bias": 0.3}
    unit = imu(seed=4, **keys)
    first = felt(unit, 1)
    assert np.array_equal(first, felt(unit, 50))
    assert np.array_equal(first, felt(imu(seed=4, **keys), 7))
    assert first - (0, 0, 0, 0, 0, G) == pytest.approx(
        np.concatenate((unit.gyro_bias, unit.accelerometer_bias))
    )
    many = np.array([felt(imu(seed=k, **keys)) for k in range(300)]) - (0, 0, 0, 0, 0, G)
    assert many.std(axis=0) == pytest.approx(np.repeat([0.02, 0.3], 3), rel=0.15)
    assert np.abs(np.corrcoef(many.T) - np.eye(6)).max() < 0.25


def test_scale_and_misalignment_are_those_of_their_sizes():
    scaled = np.array([felt(imu(seed=k, linear_acceleration_scale=0.05)) for k in range(300)])
    assert (scaled[:, 5] / G - 1).std() == pytest.approx(0.05, rel=0.15)
    assert np.abs(scaled[:, :5]).max() == 0.0
    sigma = math.radians(1.0)
    turned = np.array([felt(imu(seed=k, misalignment=sigma)) for k in range(300)])[:, 3:]
    assert np.linalg.norm(turned, axis=1) == pytest.approx(np.full(300, G))
    assert turned[:, :2].std(axis=0) == pytest.approx((G * sigma, G * sigma), rel=0.15)
    unit = imu(seed=9, misalignment=sigma, angular_velocity_scale=0.1)
    turns, bias = unit.turn_on_errors
    assert np.linalg.norm(turns[1] - np.eye(3)) < 10 * sigma
    assert np.linalg.det(turns[1]) == pytest.approx(1.0)
    assert not np.allclose(turns[0], turns[1])
    assert bias == pytest.approx(np.zeros(6))


def test_readings_saturate():
    unit = imu(linear_acceleration_max=8.0, angular_velocity_start_bias=1.0)
    assert felt(unit)[5] == 8.0
    low = imu(angular_velocity_max=0.1, angular_velocity_start_bias=5.0, seed=2)
    assert np.abs(felt(low)[:3]).max() == 0.1
    upside = imu(linear_acceleration_max=8.0, pose=Pose(roll=math.pi))
    assert felt(upside)[5] == -8.0


def test_copies_and_worlds_have_their_own_constants():
    more = "<angular_velocity_start_bias_std>0.1</angular_velocity_start_bias_std>"
    world = robot(imu_xml(more=more), seed=3)
    world.run(0.05)
    unit = world.vehicles["r1"].sensors["imu1"]
    before = unit.last.angular_velocity.copy()
    assert np.abs(before).min() > 0.0
    batch = world.replicate(2)
    batch.run(0.05)
    same, other = (copy.vehicles["r1"].sensors["imu1"].last.angular_velocity for copy in batch)
    assert np.array_equal(same, before)
    assert not np.allclose(other, before)
    world.reset(seed=8)
    world.run(0.05)
    assert not np.allclose(unit.last.angular_velocity, before)


def receiver(period=1.0, seed=0, **keys):
    earth = Earth(GeoreferenceSpec(latitude=LATITUDE, longitude=LONGITUDE, height=HEIGHT))
    quiet = {"horizontal_std_noise": 0.0, "vertical_std_noise": 0.0}
    spec = GnssSpec(name="g", period=period, pose=Pose(), **{**quiet, **keys})
    return placed(Gnss(spec, SensorContext(PlaneScene(), 0.1, earth=earth)), seed=seed)


def test_slow_errors_have_their_size_and_correlation():
    unit = receiver(
        horizontal_slow_noise=3.0, vertical_slow_noise=5.0, correlation_time=20.0, seed=1
    )
    errors = np.array([unit.slow_errors(k).copy() for k in range(1, 30_000)])
    assert errors.std(axis=0) == pytest.approx((3.0, 3.0, 5.0), rel=0.08)
    for lag in (5, 20, 40):
        product = (errors[lag:] * errors[:-lag]).mean(axis=0) / errors.var(axis=0)
        assert product == pytest.approx(np.full(3, math.exp(-lag / 20.0)), abs=0.06)


def test_slow_errors_do_not_depend_on_who_reads():
    keys = {"horizontal_slow_noise": 3.0, "vertical_slow_noise": 5.0, "seed": 6}
    often, rarely = receiver(**keys), receiver(**keys)
    for tick in range(10, 200, 10):
        found = often.measure(NO_STATE, tick, 0.0)
    other = rarely.measure(NO_STATE, 190, 0.0)
    assert (found.latitude, found.longitude) == (other.latitude, other.longitude)
    assert np.array_equal(often.data.slow, rarely.data.slow)
    east, north, up = enu(found.latitude, found.longitude, found.altitude)
    np.testing.assert_allclose((east, north, up), often.data.slow, atol=1e-6)
    assert np.array_equal(found.covariance, np.diag([9.0, 9.0, 25.0]))


@pytest.mark.parametrize("turn", [0.0, 40.0])
def test_the_velocity_is_that_of_the_antenna(turn):
    quiet = "<velocity_std_noise>0</velocity_std_noise></sensor>"
    sensor = gnss_xml("0.5 0.2 1.0 0 0 0").replace("</sensor>", quiet)
    world = robot(sensor, georeference(turn=turn), pose="1 2 30")
    vehicle = world.vehicles["r1"]
    vehicle.set_twist(1.0, 0.0, 0.8)
    world.run(0.5)
    found = reading(world)
    # vehicle frame: v + w x r
    vx, vy = 1.0 - 0.8 * 0.2, 0.8 * 0.5
    yaw = vehicle.pose.yaw + math.radians(turn)
    c, s = math.cos(yaw), math.sin(yaw)
    expected = (c * vx - s * vy, s * vx + c * vy, 0.0)
    assert found.velocity == pytest.approx(expected, abs=2e-3)  # over one step
    later = reading(world)
    step = enu(later.latitude, later.longitude, later.altitude) - enu(
        found.latitude, found.longitude, found.altitude
    )
    assert step / world.model.dt == pytest.approx(later.velocity, abs=5e-3)


def test_status_and_noise_of_the_velocity():
    more = "<fix_status>gbas</fix_status></sensor>"
    world = robot(gnss_xml().replace("</sensor>", more), georeference())
    found = [reading(world) for _ in range(500)]
    assert {r.status for r in found} == {2}
    assert np.std([r.velocity for r in found], axis=0) == pytest.approx((0.05,) * 3, rel=0.12)
    assert found[0].velocity_covariance == pytest.approx(np.eye(3) * 0.0025)
