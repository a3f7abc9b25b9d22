# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""KISS-ICP follows a drive of 75 m through the depot by our clouds and their times."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.geometry.poses import rotation

kiss_icp = pytest.importorskip("kiss_icp.kiss_icp", reason="kiss-icp is not installed")
from kiss_icp.config import KISSConfig  # noqa: E402

DEPOT = Path(__file__).resolve().parents[3] / "worlds" / "depot.world.xml"
RADIUS, SPEED, LENGTH = 12.0, 2.0, 75.0
#: Columns of the lidar: a third of the VLP-16's, for the time of the test.
COLUMNS = 600


def pose_matrix(pose):
    matrix = np.eye(4)
    matrix[:3, :3] = rotation(pose)
    matrix[:3, 3] = pose[:3]
    return matrix


def thinned(spec):
    """Return the world with fewer columns of the lidar."""
    (robot,) = spec.vehicles
    sensors = tuple(
        replace(s, horz_nrays=COLUMNS) if s.name == "velodyne" else s for s in robot.sensors
    )
    return replace(spec, vehicles=(replace(robot, sensors=sensors),))


@pytest.fixture(scope="module")
def drive():
    """Clouds with their times, and where the lidar was at the end of each."""
    world = load_world(DEPOT, change=thinned)
    robot = world.vehicles["r1"]
    mount = pose_matrix(robot.sensors["velodyne"].spec.pose)
    scans = []
    driven = 0.0
    while driven < LENGTH:
        speed = min(SPEED, world.time)
        driven += speed * world.dt
        x, y, yaw = robot.pose.x, robot.pose.y, robot.pose.yaw
        off = math.hypot(x, y) - RADIUS  # of the ring around the containers
        turn = math.remainder(math.atan2(x, -y) + math.atan(off) - yaw, 2.0 * math.pi)
        wobble = 0.3 * speed * math.sin(2.0 * math.pi * world.time / 2.5)  # a restless hand
        robot.set_twist(speed, 0.0, speed / RADIUS + turn + wobble)
        world.step()
        if robot.sensors["velodyne"] in world.new_readings:
            reading = robot.sensors["velodyne"].last
            assert reading.end_time == world.time
            points = reading.xyz.astype(np.float64), reading.points["time"].astype(np.float64)
            scans.append((*points, pose_matrix(robot.pose) @ mount))
    assert not robot.in_collision
    return scans


def follow(scans, deskew):
    """Return errors of the estimated poses, as 4 x 4 matrices."""
    config = KISSConfig()
    config.data.max_range, config.data.min_range, config.data.deskew = 60.0, 1.0, deskew
    config.mapping.voxel_size = 1.0
    config.registration.max_num_threads = 1
    odometry = kiss_icp.KissICP(config)
    errors = []
    for points, times, truth in scans:
        odometry.register_frame(points, times / 0.1)
        moved = np.linalg.inv(scans[0][2]) @ truth
        errors.append(np.linalg.inv(odometry.last_pose) @ moved)
    return errors


def heading_error(errors):
    """Root mean square of the error of heading [rad]."""
    return math.sqrt(np.mean([math.atan2(e[1, 0], e[0, 0]) ** 2 for e in errors]))


@pytest.mark.slow
def test_drift_is_below_one_percent_and_the_times_of_points_matter(drive):
    errors = follow(drive, deskew=True)
    assert np.linalg.norm(errors[-1][:3, 3]) < 0.01 * LENGTH
    # Without the times, each scan is taken for one of the middle of its time. The drift over
    # the drive is about the same then; the heading of the weaving robot is what suffers.
    part = slice(20, 120)
    without = follow(drive[:120], deskew=False)
    assert heading_error(without[part]) > 2.0 * heading_error(errors[part])
