# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""When sensors measure and when their readings arrive."""

from types import SimpleNamespace

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import PlaneScene, Schedule, Sensor, SensorContext
from mvsim_core.sensors.noise import sensor_rng
from mvsim_core.sensors.schedule import NEVER
from mvsim_core.state.arrays import BODY

BODIES = np.zeros(0, BODY)


class Clock(Sensor[int]):
    """A sensor that reads the tick."""

    kind = "clock"

    def measure(self, bodies, tick, time):
        return tick


def clock(name="c", period=0.05, dt=0.01, **keywords):
    spec = SimpleNamespace(name=name, pose=Pose(), period=period)
    return Clock(spec, SensorContext(PlaneScene(), dt, parent="r1"), **keywords)


def run(schedule, ticks, first=1):
    """Return (tick, names of the fresh sensors, their readings) of all ticks with any."""
    log = []
    for tick in range(first, ticks + 1):
        if tick < schedule.next_tick:
            continue
        fresh = schedule.sample(BODIES, tick, tick * schedule.dt)
        if fresh:
            log.append((tick, [s.name for s in fresh], [s.last for s in fresh]))
    return log


@pytest.mark.parametrize(
    ("period", "dt", "ticks"),
    [(0.05, 0.01, 5), (0.1, 0.005, 20), (0.003, 0.005, 1), (0.012, 0.005, 3), (0.3, 0.1, 3)],
)
def test_periods_are_rounded_up_to_whole_ticks(period, dt, ticks):
    assert clock(period=period, dt=dt).period_ticks == ticks


def test_the_first_reading_comes_after_one_period():
    assert [tick for tick, *_ in run(Schedule([clock()], 0.01), 20)] == [5, 10, 15, 20]


def test_readings_of_a_tick_keep_the_order_of_the_sensors():
    sensors = [clock("a", 0.04), clock("b", 0.02), clock("c", 0.04), clock("d", 0.03)]
    log = run(Schedule(sensors, 0.01), 12)
    assert log[0] == (2, ["b"], [2])
    assert log[-1] == (12, ["a", "b", "c", "d"], [12, 12, 12, 12])


def test_next_tick_tells_when_to_call():
    schedule = Schedule([clock("a", 0.04), clock("b", 0.03)], 0.01)
    assert schedule.next_tick == 3
    assert [s.name for s in schedule.pop_due(3)] == ["b"]
    assert schedule.next_tick == 4
    assert Schedule([], 0.01).next_tick == NEVER


def test_a_new_schedule_keeps_the_phase_of_sensors_that_stay():
    old = clock("old", 0.05)
    run(Schedule([old], 0.01), 7)
    schedule = Schedule([old, clock("new", 0.05)], 0.01)
    schedule.restart(7)
    # The new sensor was first scheduled from tick 0, then from tick 7: only the latter counts.
    assert [(tick, names) for tick, names, _ in run(schedule, 17, first=8)] == [
        (10, ["old"]),
        (12, ["new"]),
        (15, ["old"]),
        (17, ["new"]),
    ]


def test_going_back_in_time_schedules_anew():
    sensor = clock("a", 0.05)
    schedule = Schedule([sensor], 0.01)
    run(schedule, 103)
    schedule.restart(0)
    assert [tick for tick, *_ in run(schedule, 10)] == [5, 10]


def test_delayed_readings_arrive_later_and_in_order():
    log = run(Schedule([clock("a", 0.05, delay=0.07), clock("b", 0.05)], 0.01), 22)
    assert [(tick, names, values) for tick, names, values in log if "a" in names] == [
        (12, ["a"], [5]),
        (17, ["a"], [10]),
        (22, ["a"], [15]),
    ]
    assert [tick for tick, names, _ in log if "b" in names] == [5, 10, 15, 20]


def test_a_snapshot_holds_readings_that_are_under_way():
    sensor = clock("a", 0.05, delay=0.03)
    schedule = Schedule([sensor], 0.01)
    run(schedule, 6)
    state = sensor.state()
    run(schedule, 20, first=7)
    sensor.restore(state)
    schedule.restart(6)
    assert run(schedule, 13, first=7) == [(8, ["a"], [5]), (13, ["a"], [10])]


def test_lost_readings():
    sensor = clock("a", 0.01, dropout=0.25)
    log = run(Schedule([sensor], 0.01), 4000)
    assert len(log) / 4000 == pytest.approx(0.75, abs=0.03)
    again = run(Schedule([clock("a", 0.01, dropout=0.25)], 0.01), 4000)
    assert log == again


def test_a_sensor_alone_answers_whether_its_reading_is_there():
    assert clock().sample(BODIES, 3, 0.03)
    assert not clock(delay=0.01).sample(BODIES, 3, 0.03)
    assert not clock(dropout=1.0).sample(BODIES, 3, 0.03)


def test_random_streams_are_keyed_by_seed_and_name():
    first = sensor_rng(1, "r1/laser1").random(8).tolist()
    assert first == sensor_rng(1, "r1/laser1").random(8).tolist()
    assert first != sensor_rng(2, "r1/laser1").random(8).tolist()
    assert first != sensor_rng(1, "r1/laser2").random(8).tolist()
    assert sensor_rng(-1, "x").random() == sensor_rng(2**64 - 1, "x").random()
    # The stream is part of what users may rely on: the same on every machine and in every release.
    assert first[:2] == [0.7536928822573805, 0.528917438440263]


def test_names_are_unique_in_the_world():
    assert clock("c").full_name == "r1/c"
    spec = SimpleNamespace(name="c", pose=Pose(), period=0.1)
    assert Clock(spec, SensorContext(PlaneScene(), 0.01)).full_name == "c"
