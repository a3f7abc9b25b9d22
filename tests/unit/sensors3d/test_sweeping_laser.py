# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Planar lidars whose rays are cast one after the other, and intensities."""

import math
from typing import Any

import numpy as np
import pytest

from mvsim_core import World, load_world
from mvsim_core.errors import WorldFileError
from mvsim_core.geometry.poses import Pose
from tests.unit.sensors3d.scenes import room

DT = 0.005
EXACT = "<range_std_noise>0</range_std_noise><angle_std_noise_deg>0</angle_std_noise_deg>"
SWEEP = "<motion_distortion>true</motion_distortion>"


def laser(more: str = "", fov: float = 360.0, period: float = 0.1) -> str:
    return f"""<sensor class="laser" name="a"><pose_3d>0.1 0.05 0.5 20 0 0</pose_3d>{EXACT}
      <fov_degrees>{fov}</fov_degrees><nrays>180</nrays><sensor_period>{period}</sensor_period>
      {more}</sensor>"""


def scan_while_moving(world: World, seconds: float) -> tuple[Any, list[Pose]]:
    """The newest scan, and the pose of the robot at each tick."""
    robot = world.vehicles["r1"]
    robot.set_twist(1.5, 0.0, 1.2)
    poses = [robot.pose]
    for _ in range(round(seconds / DT)):
        world.step()
        poses.append(robot.pose)
    return robot.sensors["a"].last, poses


def deskewed(scan: Any, poses: list[Pose], mount: Pose) -> np.ndarray:
    """Points of a scan (n, 2) in the world, each from where its stamp says that the robot was."""
    history = np.array([(p.x, p.y, p.yaw) for p in poses])
    n = len(scan.ranges)
    ticks = (scan.time + scan.time_increment * np.arange(n)) / DT
    x, y, yaw = (np.interp(ticks, np.arange(len(history)), column) for column in history.T)
    angles = scan.angle_min + scan.angle_increment * np.arange(n) + mount.yaw
    r = scan.ranges.astype(float)
    local = np.column_stack((r * np.cos(angles) + mount.x, r * np.sin(angles) + mount.y))
    c, s = np.cos(yaw), np.sin(yaw)
    return np.column_stack(
        (x + c * local[:, 0] - s * local[:, 1], y + s * local[:, 0] + c * local[:, 1])
    )


def off_the_walls(points: np.ndarray) -> float:
    """Largest distance of points from the faces of the room [m]."""
    return float(np.abs(np.abs(points).max(axis=1) - 9.9).max())


@pytest.mark.parametrize(("fov", "period"), [(360.0, 0.1), (270.0, 0.1), (180.0, 0.033)])
def test_the_stamps_deskew_a_moving_scan(fov: float, period: float) -> None:
    world = load_world(text=room(laser(SWEEP, fov, period)))
    scan, poses = scan_while_moving(world, 0.45)
    mount = world.vehicles["r1"].sensors["a"].mount
    assert np.isfinite(scan.ranges).all()
    assert off_the_walls(deskewed(scan, poses, mount)) < 1e-6
    # and as if it had been cast at one instant, the walls are off by what the robot moved
    assert off_the_walls(deskewed(scan, [poses[scan.tick]] * len(poses), mount)) > 0.02
    steps = period / DT
    share = scan.angle_increment / (2 * math.pi)  # of a turn, which takes the period
    expected = [whole * DT * share for whole in {math.floor(steps), math.ceil(steps)}]
    assert any(scan.time_increment == pytest.approx(value, rel=1e-9) for value in expected)


def test_at_rest_it_sees_what_a_plain_one_sees() -> None:
    world = load_world(text=room(laser(SWEEP) + laser().replace('"a"', '"b"')))
    world.run(0.2)
    swept, plain = (world.vehicles["r1"].sensors[name].last for name in "ab")
    np.testing.assert_allclose(swept.ranges, plain.ranges, atol=1e-6)
    assert (plain.time_increment, plain.tick) == (0.0, 40)
    assert swept.tick == 20


def test_noise_is_that_of_the_reading_and_independent_of_snapshots() -> None:
    noisy = laser(SWEEP).replace(EXACT, "<angle_std_noise_deg>0.5</angle_std_noise_deg>")
    world = load_world(text=room(noisy), seed=5)
    world.vehicles["r1"].set_twist(0.7, 0.0, 0.5)
    world.run(0.15)  # in the middle of a sweep
    state = world.state()
    world.run(0.05)
    first = world.vehicles["r1"].sensors["a"].last
    world.restore(state)
    world.run(0.05)
    again = world.vehicles["r1"].sensors["a"].last
    assert again is not first
    assert first.ranges.tobytes() == again.ranges.tobytes()
    batch = world.replicate(2)
    assert len(batch) == 2
    batch.run(0.1)
    one, other = (copy.vehicles["r1"].sensors["a"].last for copy in batch)
    assert one.time_increment > 0.0
    assert one.ranges.tobytes() != other.ranges.tobytes()  # seeds differ


def test_intensities_are_the_brightness_of_what_is_hit() -> None:
    world = load_world(
        text=room(laser("<generate_intensity>true</generate_intensity><max_range>13</max_range>"))
    )
    world.run(0.1)
    scan = world.vehicles["r1"].sensors["a"].last
    angles = scan.angle_min + scan.angle_increment * np.arange(180) + math.radians(20)
    ahead = np.abs((angles + math.pi) % (2 * math.pi) - math.pi) < 0.7
    left = np.abs(angles - math.pi / 2) < 0.7
    gone = ~np.isfinite(scan.ranges)
    assert scan.intensities.dtype == np.float32
    assert gone.any()
    assert set(scan.intensities[gone]) == {0.0}
    (red,), (grey,) = set(scan.intensities[ahead & ~gone]), set(scan.intensities[left & ~gone])
    assert 0.0 < red < grey <= 1.0  # a red wall is darker than a grey one


@pytest.mark.parametrize("name", ["motion_distortion", "generate_intensity"])
def test_what_planar_rays_cannot_do_is_an_error(name: str) -> None:
    with pytest.raises(WorldFileError) as caught:
        load_world(text=room(laser(f"<{name}>true</{name}><raytrace_3d>false</raytrace_3d>")))
    assert f"{name} casts rays against 3D shapes, which raytrace_3d false excludes" in str(
        caught.value
    )


def test_a_scan_a_step_cannot_sweep() -> None:
    world = load_world(text=room(laser(SWEEP, period=DT)))
    world.run(0.1)
    assert world.vehicles["r1"].sensors["a"].last.time_increment == 0.0
    assert any("scans once a step" in str(w) for w in world.warnings)
