# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""When sensors measure, when their readings arrive, and that company changes neither."""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import PlaneScene, Sensor, SensorContext, SensorSet
from mvsim_core.sensors.sensor_set import NEVER
from tests.unit.sensors.scenes import NO_STATE

DT = 0.01


class Clock(Sensor[int]):
    """A sensor that reads the tick."""

    kind = "clock"

    def measure(self, state, tick, time):
        return tick


def clock(name="c", period=0.05, dt=DT, **keywords):
    spec = SimpleNamespace(name=name, pose=Pose(), period=period)
    return Clock(spec, SensorContext(PlaneScene(), dt, parent="r1"), **keywords)


def set_of(*sensors, tick=0):
    made = SensorSet()
    made.add(sensors, tick)
    return made


def run(sensors, ticks, first=1):
    """Return (tick, names of sensors with new readings, these) of all ticks with any."""
    log = []
    for tick in range(first, ticks + 1):
        if tick < sensors.next_tick:
            continue
        new = sensors.sample(NO_STATE, tick, tick * DT)
        if new:
            log.append((tick, [s.name for s in new], [s.last for s in new]))
    return log


@pytest.mark.parametrize(
    ("period", "dt", "ticks"),
    [(0.05, 0.01, 5.0), (0.1, 0.005, 20.0), (0.003, 0.005, 1.0), (0.0, 0.005, 1.0), (0.3, 0.1, 3)],
)
def test_periods_in_ticks(period, dt, ticks):
    assert clock(period=period, dt=dt).cadence.ticks == ticks


@pytest.mark.parametrize("start", [0, 1, 7, 10**9])
@pytest.mark.parametrize("rate", [15.0, 30.0, 60.0, 150.0, 190.0, 199.0, 1000.0 / 7.0])
def test_a_rate_that_no_step_divides_holds_on_average(rate, start):
    """Each reading comes at the tick nearest to its time."""
    sensors = set_of(clock(period=1 / rate, dt=0.005), tick=start)
    ticks = [tick for tick, *_ in run(sensors, start + 4000, start + 1)]
    times = 0.005 * (np.array(ticks) - start)
    ideal = np.arange(1, len(ticks) + 1) / rate
    assert len(ticks) == math.floor(rate * (20.0 + 0.0025))
    assert np.abs(times - ideal).max() <= 0.0025 + 1e-9


def test_uneven_intervals_give_a_hint_and_even_ones_none():
    uneven = list(clock(name="imu", period=1 / 60, dt=0.005).warnings())
    assert uneven == [
        "'imu' reads every 3 or 4 steps of 0.005 s, with 60 Hz on average; a simul_timestep that"
        " divides its period of 0.0166667 s gives even intervals"
    ]
    for period in (0.05, 0.0, 1 / 3):  # the last is uneven by 1.5 %
        assert not list(clock(period=period, dt=0.005).warnings())


def test_a_rate_beyond_that_of_the_steps_gives_a_warning():
    (warning,) = clock(name="imu", period=1 / 400, dt=0.005).warnings()
    assert warning == (
        "'imu' asks for 400 Hz and reads each step of 0.005 s, with 200 Hz; it takes a"
        " simul_timestep of 0.0025 s or less"
    )
    assert not list(clock(period=0.005 * (1 - 1e-9), dt=0.005).warnings())


def test_the_first_reading_comes_after_one_period():
    assert [tick for tick, *_ in run(set_of(clock()), 20)] == [5, 10, 15, 20]


def test_readings_of_a_tick_keep_the_order_of_the_sensors():
    sensors = [clock("a", 0.04), clock("b", 0.02), clock("c", 0.04), clock("d", 0.03)]
    log = run(set_of(*sensors), 12)
    assert log[0] == (2, ["b"], [2])
    assert log[-1] == (12, ["a", "b", "c", "d"], [12, 12, 12, 12])


def test_next_tick_tells_when_to_call():
    sensors = set_of(clock("a", 0.04), clock("b", 0.03))
    assert sensors.next_tick == 3
    assert [s.name for s in sensors.sample(NO_STATE, 3, 0.03)] == ["b"]
    assert sensors.next_tick == 4
    assert SensorSet().next_tick == NEVER


@pytest.mark.parametrize("rebuild", [False, True])
def test_sensors_that_stay_keep_their_phase(rebuild):
    old = clock("old", 0.05)
    sensors = set_of(old)
    run(sensors, 7)
    if rebuild:
        sensors = set_of(old, tick=7)
    sensors.add([clock("new", 0.05)], 7)
    assert [(tick, names) for tick, names, _ in run(sensors, 17, first=8)] == [
        (10, ["old"]),
        (12, ["new"]),
        (15, ["old"]),
        (17, ["new"]),
    ]


def test_going_back_in_time_schedules_again():
    sensor = clock("a", 0.05)
    sensors = set_of(sensor)
    run(sensors, 103)
    sensors.resync(0)
    assert [tick for tick, *_ in run(sensors, 10)] == [5, 10]


def test_delayed_readings_arrive_later_and_in_order():
    log = run(set_of(clock("a", 0.05, delay=0.07), clock("b", 0.05)), 22)
    assert [(tick, names, values) for tick, names, values in log if "a" in names] == [
        (12, ["a"], [5]),
        (17, ["a"], [10]),
        (22, ["a"], [15]),
    ]
    assert [tick for tick, names, _ in log if "b" in names] == [5, 10, 15, 20]


def test_a_snapshot_holds_readings_that_are_under_way():
    sensor = clock("a", 0.05, delay=0.03)
    sensors = set_of(sensor)
    run(sensors, 6)
    kept = copy.deepcopy(sensor.data)
    run(sensors, 20, first=7)
    sensor.bind(kept)
    sensors.resync(6)
    assert run(sensors, 13, first=7) == [(8, ["a"], [5]), (13, ["a"], [10])]


def test_lost_readings():
    sensor = clock("a", 0.01, dropout=0.25)
    log = run(set_of(sensor), 4000)
    assert len(log) / 4000 == pytest.approx(0.75, abs=0.03)
    again = run(set_of(clock("a", 0.01, dropout=0.25)), 4000)
    assert log == again


def test_a_sensor_alone_answers_whether_its_reading_is_there():
    assert clock().sample(NO_STATE, 3, 0.03)
    assert not clock(delay=0.01).sample(NO_STATE, 3, 0.03)
    assert not clock(dropout=1.0).sample(NO_STATE, 3, 0.03)


def test_names_are_unique_in_the_world():
    assert clock("c").full_name == "r1/c"
    spec = SimpleNamespace(name="c", pose=Pose(), period=0.1)
    assert Clock(spec, SensorContext(PlaneScene(), 0.01)).full_name == "c"
