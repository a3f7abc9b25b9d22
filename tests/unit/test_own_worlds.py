# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Every world that the suite ships loads without a warning and runs."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import load_world

WORLDS = sorted((Path(__file__).parents[2] / "worlds").glob("*.world.xml"))


@pytest.mark.parametrize("path", WORLDS, ids=lambda p: p.name)
def test_world_runs_and_its_robots_drive(path: Path) -> None:
    """Ten seconds with a command: no warning, no collision at the start, robots have moved."""
    w = load_world(path)
    assert [x for x in w.warnings if "libegl1" not in str(x)] == []  # where there is no OpenGL
    w.step()
    assert not any(robot.in_collision for robot in w.vehicles.values())
    driven = [robot for robot in w.vehicles.values() if "twist" in robot.accepts]
    assert driven
    starts = [robot.pose for robot in driven]
    for robot in driven:
        robot.set_twist(0.3)
    w.run(4.0)
    for robot, start in zip(driven, starts, strict=True):
        assert math.dist(robot.pose[:2], start[:2]) > 0.9
        for sensor in robot.sensors.values():
            assert sensor.last is not None
    assert np.isfinite(w.bodies["x"]).all()


def test_slider_slides_sideways() -> None:
    """The mecanum platform strafes."""
    w = load_world(WORLDS[0].parent / "mecanum.world.xml")
    robot = w.vehicles["r1"]
    assert robot.holonomic
    robot.set_twist(0.0, 0.4, 0.0)
    w.run(4.0)
    assert robot.pose.y > 1.4
    assert abs(robot.pose.x) < 0.05
    assert abs(robot.pose.yaw) < 0.02


def test_trailers_climb_the_ramp_behind_their_car() -> None:
    """The train keeps together on the way over the ramp."""
    w = load_world(WORLDS[0].parent / "trailers.world.xml")
    car = w.vehicles["wagon1"]
    for name, x in (("wagon1", 8.0), ("trailer1", 6.45), ("trailer2", 4.65)):
        w.vehicles[name].teleport(x, 12.0, 0.0)
    car.set_twist(0.8)
    highest = {name: 0.0 for name in w.vehicles}
    for _ in range(4000):
        w.step()
        for name, vehicle in w.vehicles.items():
            highest[name] = max(highest[name], vehicle.pose.z)
    assert all(z > 0.3 for z in highest.values()), highest
    assert car.pose.x > 20.0
    gap = math.dist(w.vehicles["trailer1"].pose[:2], w.vehicles["trailer2"].pose[:2])
    assert gap == pytest.approx(1.8, abs=0.02)
