# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What a sensor reads depends neither on other sensors nor on who listens."""

import copy
import pickle
import random
import subprocess
import sys
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import (
    PlaneScene,
    Prism,
    Reading,
    Sensor,
    SensorContext,
    SensorData,
    SensorSet,
)
from mvsim_core.sensors.imu import ImuBatch
from mvsim_core.sensors.lidar2d import LidarBatch
from tests.unit.sensors.inertial import imu
from tests.unit.sensors.scenes import body_rows, lidar, scatter, state_of

SQUARE = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)]

WORLD = """<mvsim_world version="1.0"><simul_timestep>0.005</simul_timestep>
  <georeference><latitude>36.9</latitude><longitude>-2.3</longitude></georeference>
  <element class="vertical_plane"><x0>4</x0><y0>-5</y0><x1>4</x1><y1>5</y1></element>
  <vehicle name="r1"><init_pose>0 0 0</init_pose>
    <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
    <sensor class="laser" name="laser"><sensor_period>0.05</sensor_period>
      <range_std_noise>0.02</range_std_noise><angle_std_noise_deg>0.5</angle_std_noise_deg>
      <dropout>0.2</dropout></sensor>
    <sensor class="laser" name="swept"><motion_distortion>true</motion_distortion></sensor>
    <sensor class="imu" name="imu"><sensor_period>0.01</sensor_period>
      <angular_velocity_random_walk>0.01</angular_velocity_random_walk></sensor>
    <sensor class="imu" name="mean"><sensor_period>0.02</sensor_period><average>true</average>
      <linear_acceleration_random_walk>0.01</linear_acceleration_random_walk>
      <angular_velocity_start_bias_std>0.1</angular_velocity_start_bias_std></sensor>
    <sensor class="gnss" name="gps"><sensor_period>0.1</sensor_period>
      <horizontal_std_noise>1</horizontal_std_noise>
      <horizontal_slow_std_noise>2</horizontal_slow_std_noise><delay>0.03</delay></sensor>
    <sensor class="wheel_encoders" name="ticks"><sensor_period>0.01</sensor_period>
      <velocity_std_noise>0.1</velocity_std_noise></sensor>
    <sensor class="lidar3d" name="cloud"><sensor_period>0.1</sensor_period>
      <vert_nrays>4</vert_nrays><horz_nrays>60</horz_nrays></sensor>
    <sensor class="rgbd_camera" name="depth"><sensor_period>0.1</sensor_period>
      <sense_rgb>false</sense_rgb><depth_ncols>16</depth_ncols><depth_nrows>12</depth_nrows>
      <depth_cx>8</depth_cx><depth_cy>6</depth_cy><depth_fx>10</depth_fx><depth_fy>10</depth_fy>
      </sensor>
    <sensor class="range" name="sonar"><pose_3d>0 0 0.5 40 0 0</pose_3d></sensor>
    <sensor class="magnetometer" name="compass"><sensor_period>0.02</sensor_period></sensor>
    <sensor class="bumper" name="bumper"><sensor_period>0.05</sensor_period></sensor>
  </vehicle></mvsim_world>"""


def flat(reading):
    """A reading as bytes."""
    return pickle.dumps(reading)


def record(world, ticks, plan=None):
    """Readings by sensor and tick; ``plan(tick, name)`` says who listens."""
    robot = world.vehicles["r1"]
    robot.set_twist(0.4, 0.0, 0.5)
    log = {}
    for _ in range(ticks):
        if plan is not None:
            for name, sensor in robot.sensors.items():
                world._runtime.sensors.set_active(sensor, plan(world.ticks, name), world.ticks)
        world.step()
        for sensor in world.new_readings:
            log[sensor.name, world.ticks] = flat(sensor.last)
    return log


@pytest.fixture(scope="module")
def everything():
    return record(load_world(text=WORLD, seed=3), 200)


def test_all_kinds_are_read(everything):
    names = {name for name, _ in everything}
    assert names == set(load_world(text=WORLD).vehicles["r1"].sensors)


@pytest.mark.parametrize("seed", range(3))
def test_listening_changes_no_number(everything, seed):
    rng = random.Random(seed)
    active = {}

    def plan(tick, name):
        if rng.random() < 0.05 or name not in active:
            active[name] = rng.random() < 0.5
        return active[name]

    heard = record(load_world(text=WORLD, seed=3), 200, plan)
    assert heard.items() <= everything.items()
    assert 20 < len(heard) < len(everything)


def test_what_nobody_listens_to_is_not_computed(monkeypatch):
    world = load_world(text=WORLD, seed=3)
    for sensor in world.vehicles["r1"].sensors.values():
        world._runtime.sensors.set_active(sensor, False, 0)
    for name in ("measure", "sweep"):
        monkeypatch.setattr(Sensor, name, None)
    assert world._runtime.sensors.next_tick == 2  # the shortest period
    world.run(0.2)
    assert world.new_readings == []


LISTEN = """
import sys
from numba.core.dispatcher import Dispatcher
from mvsim_core import load_world

late = []
compile_for = Dispatcher._compile_for_args
def noted(kernel, *args, **kw):
    late.append(kernel.py_func.__name__)
    return compile_for(kernel, *args, **kw)

world = load_world(text=sys.stdin.read())
sensors = [s for vehicle in world.vehicles.values() for s in vehicle.sensors.values()]
for sensor in sensors:
    world.set_sensor_active(sensor, False)
world.run(0.2)
Dispatcher._compile_for_args = noted
for sensor in sensors:
    world.set_sensor_active(sensor, True)
world.run(0.3)
assert all(sensor.last for sensor in sensors)
print(*late)
"""


def test_the_first_who_listens_waits_for_no_kernel():
    """In a process of its own: here others have compiled them."""
    begin, end = WORLD.index("<vehicle"), WORLD.index("</mvsim_world>")
    robot = WORLD[begin:end]
    two = robot + robot.replace('"r1"', '"r2"').replace("<init_pose>0 0 0", "<init_pose>0 3 0")
    text = WORLD[:begin] + two + WORLD[end:]
    done = subprocess.run(
        [sys.executable, "-c", LISTEN], input=text, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []


def test_a_world_goes_on_the_same_from_a_copy_of_the_data():
    world, other = load_world(text=WORLD, seed=3), load_world(text=WORLD, seed=4)
    record(world, 57)
    kept = pickle.loads(pickle.dumps(world.state()))
    expected = record(world, 80)
    record(other, 31)
    other.restore(kept)
    assert record(other, 80) == expected


def test_reset_with_a_seed_is_a_new_world_with_it(everything):
    world = load_world(text=WORLD, seed=9)
    assert record(world, 200) != everything
    world.reset(3)
    assert record(world, 200) == everything


class Counter(Sensor[int]):
    """A sensor of a third party, right in one way and wrong in the other."""

    kind = "counter"

    @dataclass
    class Data(SensorData):
        count: int = 0

    def __init__(self, spec, context, **options):
        super().__init__(spec, context, **options)
        self.step = 1  # set after the base class's __init__

    def measure(self, state, tick, time):
        if self.spec.wrong:
            self.count = 3
        self.data.count += self.step
        return self.data.count


class Derived(Counter):
    """A class without an __init__ of its own."""


@pytest.mark.parametrize("cls", [Counter, Derived])
def test_what_changes_belongs_into_the_data(cls):
    def make(wrong):
        spec = SimpleNamespace(name="c", pose=Pose(), period=0.1, wrong=wrong)
        return cls(spec, SensorContext(PlaneScene(), 0.01))

    good, bad = make(False), make(True)
    assert [good.measure(None, k, 0.0) for k in range(3)] == [1, 2, 3]
    with pytest.raises(
        AttributeError, match=r"\w+\.count cannot be assigned: .* belongs into self\.data"
    ):
        bad.measure(None, 0, 0.0)
    with pytest.raises(AttributeError, match="cannot be assigned"):
        del bad.spec
    kept = copy.deepcopy(good.data)
    good.measure(None, 3, 0.0)
    good.bind(kept)
    assert good.measure(None, 3, 0.0) == 4


def test_readings_are_shared_by_copies():
    @dataclass(frozen=True)
    class Value(Reading):
        value: float

    data = SensorData(last=Value(3.0), pending=[(1, Value(2.0))])
    other = copy.deepcopy(data)
    assert other == data
    assert other.last is data.last
    assert other.pending is not data.pending


def lidars(scene, count):
    return [
        lidar(
            scene,
            body=k,
            parent=f"r{k}",
            nrays=20 + k % 7,
            range_std_noise=0.02,
            angle_std_noise=0.01 * (k % 2),
            pose=Pose(x=0.1, yaw=0.1 * k),
        )
        for k in range(count)
    ]


def units(count):
    return [
        imu(
            name=f"imu{k}",
            body=k,
            angular_velocity_white_noise=0.1,
            linear_acceleration_random_walk=0.1,
            pose=Pose(yaw=0.1 * k, x=0.2),
        )
        for k in range(count)
    ]


@pytest.mark.parametrize("kind", ["laser", "imu"])
def test_batches_after_a_thousand_changes_equal_new_ones(kind):
    rng = random.Random(5)
    numbers = np.random.default_rng(5)
    bodies = body_rows(*[tuple(numbers.uniform(-9, 9, 3)) for _ in range(40)])
    state = state_of(bodies)
    scene = PlaneScene()
    scatter(scene, numbers, 60)
    for row in range(40):
        scene.add_body(row, [Prism(SQUARE)])
    made = lidars(scene, 40) if kind == "laser" else units(40)
    batch = LidarBatch() if kind == "laser" else ImuBatch()
    places = {}
    for tick in range(1000):
        sensor = rng.choice(made)
        if sensor in places:
            batch.remove(places.pop(sensor))
        else:
            places[sensor] = batch.add(sensor)
        if tick % 10 == 0 and places:
            batch.measure(list(places.values()), state, tick, 0.0)
    assert len(batch) == len(places) > 10
    assert len(batch.sensors) <= 40  # places are used again
    other = LidarBatch() if kind == "laser" else ImuBatch()
    for sensor in places:
        sensor.bind(sensor.new_data())
    old = batch.measure(list(places.values()), state, 2000, 20.0)
    for sensor in places:
        sensor.bind(sensor.new_data())
    new = other.measure([other.add(sensor) for sensor in places], state, 2000, 20.0)
    assert [flat(r) for r in old] == [flat(r) for r in new]


def test_memory_of_removed_lidars_is_used_again():
    scene = PlaneScene()
    batch = LidarBatch()
    for _ in range(500):
        batch.remove(batch.add(lidar(scene, nrays=90)))
    assert batch._rays.shape[1] < 200


def test_a_set_after_a_thousand_changes_samples_like_a_new_one():
    rng = random.Random(1)
    scene = PlaneScene()
    scatter(scene, np.random.default_rng(1), 40)
    state = state_of(body_rows(*[(0.3 * k, 0.1 * k, k) for k in range(20)]))
    made = [*lidars(scene, 20), *units(20)]
    sensors, inside = SensorSet(), {}
    for tick in range(1000):
        sensor = rng.choice(made)
        if sensor in inside:
            sensors.remove([sensor], tick)
            del inside[sensor]
        else:
            inside[sensor] = None
            sensors.add([sensor], tick)
        if tick + 1 >= sensors.next_tick:
            sensors.sample(state, tick + 1, 0.01 * (tick + 1))
    assert [s.full_name for s in sensors.sensors] == [
        s.full_name for s in sorted(inside, key=lambda s: s.parent is None)
    ]
    data = {sensor: copy.deepcopy(sensor.data) for sensor in inside}

    def go_on(current):
        log = []
        for tick in range(1001, 1040):
            if tick >= current.next_tick:
                new = current.sample(state, tick, 0.01 * tick)
                log.append((tick, [(s.full_name, flat(s.last)) for s in new]))
        return log

    first = go_on(sensors)
    for sensor, kept in data.items():
        sensor.bind(kept)
    again = SensorSet()
    again.add(inside, 1000)
    assert go_on(again) == first
    assert len(first) > 5


def test_a_removed_sensor_reads_no_more():
    scene = PlaneScene()
    a, b = lidar(scene, name="a", period=0.05), lidar(scene, name="b", period=0.05)
    sensors = SensorSet()
    sensors.add([a, b], 0)
    sensors.remove([a], 0)
    assert sensors.sample(state_of(), 5, 0.05) == [b]
    assert a.last is None
    with pytest.raises(KeyError):
        sensors.remove([a], 5)
    sensors.remove([b], 5)
    assert len(sensors) == 0


def test_standalone_sensors_come_last():
    scene = PlaneScene()
    fixed = lidar(scene, name="fixed", period=0.05)
    carried = [lidar(scene, name="l", parent=f"r{k}", period=0.05) for k in range(3)]
    sensors = SensorSet()
    for sensor in (carried[0], fixed, carried[1], carried[2]):
        sensors.add([sensor], 0)
    sensors.remove([carried[0]], 0)
    sensors.add([carried[0]], 0)
    expected = [carried[1], carried[2], carried[0], fixed]
    assert sensors.sensors == sensors.sample(state_of(), 5, 0.05) == expected
