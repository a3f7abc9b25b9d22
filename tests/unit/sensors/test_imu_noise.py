# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Noise, biases, covariances and orientation of inertial units."""

import copy
import math

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose, quaternion, rotation
from mvsim_core.sensors import SensorSet
from mvsim_core.state.arrays import BODY
from tests.unit.sensors.inertial import G, imu, imu_xml, robot
from tests.unit.sensors.scenes import NO_STATE, state_of

WHITE, WALK, PERIOD = 2e-3, 3e-3, 0.01


def record(sensor, count, first=1):
    """(count, 6) of what a sensor reads at rest in successive periods, without gravity."""
    out = np.zeros((count, 6))
    for k in range(count):
        reading = sensor.measure(NO_STATE, (first + k) * sensor.cadence.tick(1), 0.0)
        out[k, :3] = reading.angular_velocity
        out[k, 3:] = reading.linear_acceleration
    out[:, 5] -= G
    return out


def allan_variance(samples, size):
    """Overlapping Allan variance of means over `size` samples."""
    sums = np.concatenate((np.zeros((1, samples.shape[1])), np.cumsum(samples, axis=0)))
    means = (sums[size:] - sums[:-size]) / size
    return 0.5 * ((means[size:] - means[:-size]) ** 2).mean(axis=0)


def test_allan_deviation_gives_the_parameters_back():
    sensor = imu(
        dt=PERIOD,
        seed=1,
        angular_velocity_white_noise=WHITE,
        angular_velocity_random_walk=WALK,
        linear_acceleration_white_noise=10 * WHITE,
        linear_acceleration_random_walk=10 * WALK,
    )
    samples = record(sensor, 150_000) / np.repeat([1.0, 10.0], 3)
    sizes = np.unique(np.geomspace(1, 800, 16).astype(int))
    measured = np.array([allan_variance(samples, n).mean() for n in sizes])
    # white noise falls as 1/n, a walk rises as K² τ/3 (less what the steps of a sum take off)
    tau = sizes * PERIOD
    columns = np.column_stack((1.0 / sizes, tau / 3.0 + PERIOD**2 / (6.0 * tau)))
    fit, *_ = np.linalg.lstsq(columns / measured[:, None], np.ones(len(sizes)), rcond=None)
    assert math.sqrt(fit[0]) == pytest.approx(WHITE, rel=0.05)
    assert math.sqrt(fit[1]) == pytest.approx(WALK, rel=0.05)


@pytest.mark.parametrize("period", [0.01, 0.04])
def test_white_noise_is_that_of_a_reading_whatever_the_period(period):
    sensor = imu(dt=0.01, period=period, angular_velocity_white_noise=WHITE)
    assert record(sensor, 20_000)[:, :3].std() == pytest.approx(WHITE, rel=0.02)


@pytest.mark.parametrize("period", [0.01, 0.04])
def test_biases_walk_with_the_square_root_of_time(period):
    sensor = imu(dt=0.01, period=period, linear_acceleration_random_walk=WALK)
    steps = np.diff(record(sensor, 20_000)[:, 3:], axis=0)
    assert steps.std() == pytest.approx(WALK * math.sqrt(period), rel=0.02)
    assert np.abs(steps.mean(axis=0)).max() < 4 * WALK * math.sqrt(period / 20_000)
    assert np.all(sensor.gyro_bias == 0)
    last = record(sensor, 1, first=20_001)[0, 3:]
    np.testing.assert_allclose(last, sensor.accelerometer_bias, atol=1e-12)


def test_the_walk_starts_at_zero_and_again_after_a_reset():
    sensor = imu(angular_velocity_random_walk=WALK, seed=3)
    first = record(sensor, 50)
    assert np.abs(first[0]).max() < 5 * WALK * math.sqrt(PERIOD)
    sensor.bind(sensor.new_data(3))
    assert np.array_equal(record(sensor, 50), first)
    sensor.bind(sensor.new_data(4))
    assert not np.array_equal(record(sensor, 50), first)


def test_snapshots_keep_the_bias():
    sensor = imu(angular_velocity_random_walk=WALK, angular_velocity_white_noise=WHITE)
    record(sensor, 20)
    kept = copy.deepcopy(sensor.data)
    first = record(sensor, 20, first=21)
    sensor.bind(kept)
    assert np.array_equal(record(sensor, 20, first=21), first)


def test_biases_do_not_depend_on_who_read_before():
    keys = {"angular_velocity_random_walk": WALK, "angular_velocity_white_noise": WHITE}
    reader, late = imu(**keys), imu(**keys)
    assert np.array_equal(record(reader, 300)[250:], record(late, 50, first=251))


def test_the_bias_of_a_unit_that_is_added_late_begins_at_zero():
    unit = imu(linear_acceleration_random_walk=1.0, period=0.05)
    sensors = SensorSet()
    sensors.add([unit], 1003)
    sensors.sample(NO_STATE, 1008, 10.08)
    assert 0.0 < np.abs(unit.accelerometer_bias).max() < 5 * math.sqrt(0.05)


def test_noise_belongs_to_the_name_not_to_the_company():
    def readings(names):
        keys = {"dt": 0.01, "angular_velocity_white_noise": WHITE}
        sensors = [imu(name=name, pose=Pose(roll=0.1 * i), **keys) for i, name in names]
        everything = SensorSet()
        everything.add(sensors, 0)
        everything.sample(NO_STATE, 1, 0.01)
        return {s.name: s.last.angular_velocity for s in sensors}

    alone, together = readings([(1, "b")]), readings([(0, "a"), (1, "b"), (2, "c")])
    assert np.array_equal(alone["b"], together["b"])
    assert not np.array_equal(together["a"], together["b"])


def test_the_same_seed_gives_the_same_bytes_in_a_world():
    def bytes_of(seed):
        world = robot(imu_xml(noise=0.01, more="<measure_orientation>true</measure_orientation>"),
                      seed=seed)  # fmt: skip
        world.vehicles["r1"].set_twist(0.5, 0, 0.2)
        world.run(0.5)
        reading = world.vehicles["r1"].sensors["imu1"].last
        values = (*reading.angular_velocity, *reading.linear_acceleration, *reading.orientation)
        return np.array(values).tobytes()

    assert bytes_of(5) == bytes_of(5) != bytes_of(6)


def test_covariances_state_the_white_noise_and_are_never_zero():
    noisy = imu(angular_velocity_white_noise=0.1, linear_acceleration_white_noise=0.2)
    reading = noisy.measure(NO_STATE, 0, 0.0)
    assert np.allclose(reading.angular_velocity_covariance, 0.01 * np.eye(3))
    assert np.allclose(reading.linear_acceleration_covariance, 0.04 * np.eye(3))
    assert reading.orientation is None
    assert reading.orientation_covariance[0, 0] == -1
    perfect = imu(measure_orientation=True).measure(NO_STATE, 0, 0.0)
    for name in ("angular_velocity", "linear_acceleration", "orientation"):
        assert np.all(np.diag(getattr(perfect, f"{name}_covariance")) > 0)


def same_turn(a, b):
    return abs(abs(np.dot(a, b)) - 1) < 1e-12


@pytest.mark.parametrize("turn", [0.0, 5.0, 90.0])
def test_orientation_is_absolute_with_east_at_zero(turn):
    place = f"""<georeference><latitude>36.9</latitude><longitude>-2.3</longitude>
      <world_to_enu_rotation_deg>{turn}</world_to_enu_rotation_deg></georeference>"""
    more = "<measure_orientation>true</measure_orientation>"
    world = robot(imu_xml("0 0 0 30 0 0", more=more), place, pose="3 2 20")
    world.run(0.1)
    found = world.vehicles["r1"].sensors["imu1"].last.orientation
    assert same_turn(found, quaternion(0, 0, math.radians(20 + 30 + turn)))


def test_in_utm_worlds_true_east_differs_by_the_convergence_of_meridians():
    place = """<georeference><latitude>36.9</latitude><longitude>-2.3</longitude>
      <world_is_utm>true</world_is_utm></georeference>"""
    more = "<measure_orientation>true</measure_orientation>"
    world = robot(imu_xml(more=more), place, pose="562365 4084007 0")
    world.run(0.1)
    # to first order: difference to the central meridian times sine of the latitude
    convergence = math.radians(0.7 * math.sin(math.radians(36.9)))
    *_, z, w = world.vehicles["r1"].sensors["imu1"].last.orientation
    assert 2 * math.atan2(z, w) == pytest.approx(-convergence, rel=1e-3)


def test_errors_of_orientation_are_as_large_as_stated():
    sensor = imu(measure_orientation=True, orientation_std_noise=0.02, pose=Pose(yaw=1, pitch=0.3))
    true = np.array(quaternion(0, 0.3, 1))
    angles = []
    for tick in range(4000):
        found = np.array(sensor.measure(NO_STATE, tick, 0.0).orientation)
        assert np.dot(found, found) == pytest.approx(1)
        angles.append(2 * math.acos(min(1.0, abs(np.dot(found, true)))))
    # three independent errors about the axes
    assert np.sqrt(np.mean(np.square(angles))) == pytest.approx(0.02 * math.sqrt(3), rel=0.03)


def test_quaternions_agree_with_matrices():
    sensor = imu(measure_orientation=True, body=0, pose=Pose(roll=0.4, pitch=-0.7, yaw=2.5))
    body = np.zeros(1, BODY)
    body["roll"], body["pitch"], body["yaw"] = 0.2, 0.3, -1.1
    x, y, z, w = sensor.measure(state_of(body), 0, 0.0).orientation
    matrix = rotation(Pose(roll=0.2, pitch=0.3, yaw=-1.1)) @ rotation(sensor.mount)
    up = [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)]
    np.testing.assert_allclose(matrix[:, 2], up, atol=1e-12)
