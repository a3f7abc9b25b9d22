# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readings of planar lidars: geometry of the fan, limits, noise, reproducibility."""

import copy
import dataclasses
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import SENSORS, Lidar2d, Prism, SensorSet
from mvsim_core.sensors.lidar2d import LidarBatch, fan_angles
from tests.unit.sensors.scenes import (
    NO_STATE,
    body_rows,
    lidar,
    make_scene,
    placed,
    scatter,
    state_of,
)

WALL = [(4.0, -500.0), (4.0, 500.0)]


def ranges(sensor, tick=1):
    return sensor.measure(NO_STATE, tick, 0.01 * tick).ranges


def slam_toolbox_expects(angle_min, angle_max, increment, n):
    """The number of rays that slam_toolbox derives from a scan's header, in single precision."""
    low, high, inc = (np.float32(value) for value in (angle_min, angle_max, increment))
    span = np.abs(high - low)
    full_turn = np.float32(2 * math.pi)
    closes = np.abs(span - full_turn) < inc - np.finfo(np.float32).eps * full_turn
    steps = int(np.floor((high - low) / inc + np.float32(0.5)))
    if span > np.float32(6.10865) and steps + 1 == n:
        closes = False
    return steps + (0 if closes else 1)


def fewest_rays(fov):
    """Below it the blind part is smaller than a step, which slam_toolbox takes for a full turn."""
    return 2 if fov >= math.radians(350) else math.ceil(fov / (2 * math.pi - fov)) + 2


@given(n=st.integers(2, 5000), fov_deg=st.floats(1, 360))
@settings(max_examples=500, deadline=None)
def test_slam_toolbox_counts_the_rays_that_are_sent(n, fov_deg):
    assume(n >= fewest_rays(math.radians(fov_deg)))
    low, step = fan_angles(math.radians(fov_deg), n)
    assert slam_toolbox_expects(low, low + (n - 1) * step, step, n) == n


@pytest.mark.parametrize("fov_deg", [1, 90, 180, 240, 270, 349.9, 350, 355, 359, 359.99, 360])
def test_slam_toolbox_counts_right_for_usual_fields_of_view(fov_deg):
    for n in range(fewest_rays(math.radians(fov_deg)), 5001):
        low, step = fan_angles(math.radians(fov_deg), n)
        assert slam_toolbox_expects(low, low + (n - 1) * step, step, n) == n


def test_geometry_of_the_fan():
    part = lidar(make_scene(WALL), fov=math.pi, nrays=181).measure(NO_STATE, 7, 0.07)
    assert part.angle_min == pytest.approx(-math.pi / 2)
    assert part.angle_max == pytest.approx(math.pi / 2)
    assert part.angle_increment == pytest.approx(math.radians(1))
    assert part.ranges[90] == pytest.approx(4.0)
    turn = lidar(make_scene(WALL), nrays=360).measure(NO_STATE, 7, 0.07)
    assert turn.angle_min == -math.pi
    assert turn.angle_max == pytest.approx(math.pi - math.radians(1))
    assert turn.ranges[180] == pytest.approx(4.0)


def test_fields_of_a_reading():
    sensor = lidar(make_scene(WALL), period=0.095, min_range=0.1, max_range=16.0, nrays=10)
    reading = sensor.measure(NO_STATE, 20, 0.2)
    assert (reading.tick, reading.time) == (20, 0.2)
    assert reading.ranges.dtype == np.float32
    assert reading.ranges.shape == (10,)
    assert reading.range_min == pytest.approx(0.1)
    assert reading.range_max == 16.0
    assert reading.time_increment == 0.0
    assert reading.scan_time == pytest.approx(0.095)  # the period
    assert reading.intensities is None
    with pytest.raises(dataclasses.FrozenInstanceError):
        reading.tick = 3
    with pytest.raises(ValueError, match="read-only"):
        reading.ranges[0] = 3.0
    assert copy.deepcopy(reading) is reading


def test_readings_do_not_share_memory():
    sensor = lidar(make_scene(WALL), range_std_noise=0.1)
    first = sensor.measure(NO_STATE, 1, 0.01)
    kept = first.ranges.copy()
    sensor.measure(NO_STATE, 2, 0.02)
    assert (first.ranges == kept).all()


def test_nothing_within_range_is_infinity():
    assert (ranges(lidar(make_scene(WALL), max_range=3.9)) == np.inf).all()


def test_too_near_is_minus_infinity():
    seen = ranges(lidar(make_scene(WALL), min_range=4.5, max_range=30.0, nrays=720))
    assert seen[360] == -np.inf
    finite = seen[np.isfinite(seen)]
    assert finite.size > 0
    assert finite.min() >= 4.5
    assert np.isinf(seen[0])
    assert seen[0] > 0


@pytest.mark.parametrize("limit", [4.0, 4.1, 0.1, 29.9, 30.0])
def test_no_finite_range_outside_the_limits_whatever_the_noise(limit):
    for low, high in ((0.05, limit), (min(limit, 29.0), 30.0)):
        if low >= high:
            continue
        sensor = lidar(
            make_scene(WALL), min_range=low, max_range=high, range_std_noise=0.5, nrays=2000
        )
        for tick in range(5):
            reading = sensor.measure(NO_STATE, tick, 0.0)
            finite = reading.ranges[np.isfinite(reading.ranges)]
            assert (finite < np.float32(reading.range_max)).all()
            assert (finite >= np.float32(reading.range_min)).all()
            assert not np.isnan(reading.ranges).any()


def test_a_wall_exactly_at_the_greatest_range_is_not_seen():
    seen = ranges(lidar(make_scene(WALL), max_range=4.0))
    assert seen[180] == np.inf


def test_range_noise_has_the_given_size():
    sensor = lidar(make_scene(WALL), range_std_noise=0.02, nrays=1000, fov=1.0)
    exact = 4.0 / np.cos(sensor.angles)
    error = np.concatenate([ranges(sensor, k) - exact for k in range(50)])
    assert np.mean(error) == pytest.approx(0.0, abs=5e-4)
    assert np.std(error) == pytest.approx(0.02, rel=0.02)


def test_the_same_seed_and_name_give_the_same_bytes():
    def series(**changes):
        keys = {"range_std_noise": 0.05, "angle_std_noise": 0.01, **changes}
        sensor = lidar(make_scene(WALL), **keys)
        return b"".join(ranges(sensor, k).tobytes() for k in range(3))

    assert series() == series()
    assert series() != series(seed=1)
    assert series() != series(name="laser2")
    assert series() != series(parent="r1")
    assert series(parent="r1") == series(parent="r1")


def lidars_of(scene, count):
    return [
        lidar(
            scene,
            body=k,
            parent=f"r{k}",
            nrays=50 + 7 * k,
            fov=1.0 + 0.5 * k,
            range_std_noise=0.01 * k,
            angle_std_noise=0.005 * (k % 3),
            max_range=5.0 + 3 * k,
            bodies_visible=k != 2,
            pose=Pose(x=0.1, yaw=0.1 * k, roll=math.pi * (k % 2)),
        )
        for k in range(count)
    ]


def test_many_at_once_give_the_same_bytes_as_one_by_one():
    rng = np.random.default_rng(2)
    scene = make_scene()
    scatter(scene, rng, 100)
    bodies = body_rows(*[tuple(rng.uniform(-3, 3, 3)) for _ in range(8)])
    for row in range(8):
        scene.add_body(row, [Prism([(-0.2, -0.2), (0.2, -0.2), (0.2, 0.2), (-0.2, 0.2)])])
    together, alone = LidarBatch(), lidars_of(scene, 8)
    assert [together.add(sensor) for sensor in lidars_of(scene, 8)] == list(range(8))
    for tick, due in enumerate(([0, 1, 2, 3, 4, 5, 6, 7], [2, 5], [7], [0, 1, 2, 3, 4, 5, 6, 7])):
        readings = together.measure(due, state_of(bodies), tick, 0.0)
        for i, reading in zip(due, readings, strict=True):
            single = alone[i].measure(state_of(bodies), tick, 0.0)
            assert reading.ranges.tobytes() == single.ranges.tobytes()
            assert reading.range_max == single.range_max
        bodies["x"] += 0.1


def test_a_scheduled_sensor_keeps_its_newest_reading():
    sensor = lidar(make_scene(WALL), period=0.05)
    sensors = SensorSet()
    sensors.add([sensor], 0)
    assert sensor.last is None
    assert sensors.sample(NO_STATE, 4, 0.04) == []
    assert sensors.sample(NO_STATE, 5, 0.05) == [sensor]
    assert sensor.last.tick == 5


def test_warming_up_measures_nothing():
    cold, warm = (lidar(make_scene(WALL), range_std_noise=0.1) for _ in range(2))
    sensors = SensorSet()
    sensors.add([warm], 0)
    sensors.warm(NO_STATE)
    assert warm.last is None
    assert ranges(warm).tobytes() == ranges(cold).tobytes()


def test_a_snapshot_goes_on_with_the_same_noise():
    sensor = lidar(make_scene(WALL), range_std_noise=0.05)
    sensor.sample(NO_STATE, 1, 0.01)
    kept = copy.deepcopy(sensor.data)
    expected = [ranges(sensor, k).tobytes() for k in range(3)]
    sensor.bind(kept)
    assert sensor.last.tick == 1
    assert [ranges(sensor, k).tobytes() for k in range(3)] == expected


def test_reset_begins_anew():
    sensor = lidar(make_scene(WALL), range_std_noise=0.05)
    first = ranges(sensor).tobytes()
    sensor.sample(NO_STATE, 1, 0.01)
    placed(sensor, seed=0)
    assert sensor.last is None
    assert ranges(sensor).tobytes() == first
    placed(sensor, seed=5)
    assert ranges(sensor).tobytes() != first


def test_lasers_are_registered():
    assert SENSORS.get("laser") is Lidar2d
    assert Lidar2d.kind == "laser"


def test_two_rays_are_enough():
    sensor = lidar(make_scene(WALL), nrays=2, fov=1.0)
    assert ranges(sensor) == pytest.approx([4.0 / math.cos(0.5)] * 2)
