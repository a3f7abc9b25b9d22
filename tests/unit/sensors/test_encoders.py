# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Wheel encoders, and what every sensor can have: delay and drop-outs from the world file."""

import math

import numpy as np
import pytest

from tests.unit.sensors.inertial import DT, robot


def encoders(more=""):
    return f"""<sensor class="wheel_encoders" name="e"><sensor_period>{DT}</sensor_period>
      {more}</sensor>"""


def drive(world, seconds=0.5):
    robot1 = world.vehicles["r1"]
    robot1.set_twist(0.6, 0.0, 0.4)
    world.run(seconds)
    return robot1, robot1.sensors["e"]


def test_they_read_the_wheels():
    robot1, sensor = drive(robot(encoders()))
    reading = sensor.last
    # 0.2 m of radius at 0.5 m to both sides
    assert reading.velocity == pytest.approx(((0.6 - 0.2) / 0.2, (0.6 + 0.2) / 0.2))
    assert reading.position == pytest.approx(reading.velocity * 0.5, rel=0.02)
    assert list(reading.steering) == [wheel.steering for wheel in robot1.wheels] == [0, 0]


def test_readings_stay_as_they_were():
    world = robot(encoders())
    _, sensor = drive(world)
    before = sensor.last
    values = before.position.copy()
    world.run(0.1)
    assert np.array_equal(before.position, values)
    assert not np.array_equal(sensor.last.position, values)


def test_ticks_are_whole_and_rounded_down():
    _, exact = drive(robot(encoders()))
    _, coarse = drive(robot(encoders("<ticks_per_revolution>64</ticks_per_revolution>")))
    step = 2 * math.pi / 64
    counts = coarse.last.position / step
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    lag = exact.last.position - coarse.last.position
    assert np.all((lag >= -1e-12) & (lag < step))


def test_they_survive_resets_and_company():
    world = robot(encoders())
    drive(world)
    world.reset()
    robot1, sensor = drive(world, 0.1)
    assert sensor.last.velocity == pytest.approx([wheel.omega for wheel in robot1.wheels])


def test_delay_from_the_file_keeps_the_time_of_measuring():
    world = robot(encoders("<delay>0.03</delay>"))
    _, sensor = drive(world, 0.1)
    assert sensor.last.time == pytest.approx(0.1 - 0.03)


def test_dropout_from_the_file_loses_its_share():
    world = robot(encoders("<dropout>0.3</dropout>"))
    arrived = 0
    for _ in range(1000):
        world.step()
        arrived += len(world.new_readings)
    assert arrived == pytest.approx(700, abs=60)
