# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""KISS-ICP follows a drive of 100 m by our clouds and their times."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.geometry.poses import Pose, rotation

kiss_icp = pytest.importorskip("kiss_icp.kiss_icp", reason="kiss-icp is not installed")
from kiss_icp.config import KISSConfig  # noqa: E402

RADIUS, SPEED, LENGTH = 12.0, 2.0, 100.0
MOUNT = Pose(z=0.6)


def track() -> str:
    """A hall of 50 m with crates along a round track, and a robot with a VLP-16 on it."""
    rng = np.random.default_rng(8)
    crates = ""
    for k in range(40):
        radius, angle = rng.choice([6.5, 8.0, 16.5, 20.0]), rng.uniform(0, 2 * math.pi)
        x, y = radius * math.cos(angle), radius * math.sin(angle)
        crates += (
            f'<block name="b{k}"><static>true</static><intangible>true</intangible>'
            f"<zmax>{rng.uniform(0.5, 3):.2f}</zmax>"
            f"<init_pose>{x:.2f} {y:.2f} {rng.uniform(0, 90):.0f}</init_pose></block>"
        )
    ends = [(25, -25, 25, 25), (25, 25, -25, 25), (-25, 25, -25, -25), (-25, -25, 25, -25)]
    walls = "".join(
        f'<element class="vertical_plane"><x0>{a}</x0><y0>{b}</y0><x1>{c}</x1><y1>{d}</y1>'
        "<height>5</height></element>"
        for a, b, c, d in ends
    )
    return f"""<mvsim_world version="1.0"><simul_timestep>0.01</simul_timestep>{walls}{crates}
      <element class="horizontal_plane"><x_min>-25</x_min><x_max>25</x_max><y_min>-25</y_min>
        <y_max>25</y_max></element>
      <vehicle name="r1"><init_pose>0 -{RADIUS} 0</init_pose>
        <dynamics class="differential"><controller class="twist_ideal"/></dynamics>
        <sensor class="lidar3d" name="lidar"><pose_3d>0 0 {MOUNT.z} 0 0 0</pose_3d>
          <vert_fov_degrees>30</vert_fov_degrees><vert_nrays>16</vert_nrays>
          <horz_nrays>900</horz_nrays><max_range>80</max_range><min_range>0.9</min_range>
          <range_std_noise>0.01</range_std_noise><ignore_parent_body>true</ignore_parent_body>
        </sensor></vehicle></mvsim_world>"""


def pose_matrix(pose):
    matrix = np.eye(4)
    matrix[:3, :3] = rotation(pose)
    matrix[:3, 3] = pose[:3]
    return matrix


@pytest.fixture(scope="module")
def drive():
    """Clouds with their times, and where the lidar was at the end of each."""
    world = load_world(text=track())
    robot = world.vehicles["r1"]
    scans = []
    driven = 0.0
    while driven < LENGTH:
        speed = min(SPEED, world.time)
        driven += speed * world.dt
        wobble = 0.3 * speed * math.sin(2.0 * math.pi * world.time / 2.5)  # a restless hand
        robot.set_twist(speed, 0.0, speed / RADIUS + wobble)
        world.step()
        if world.new_readings:
            reading = robot.sensors["lidar"].last
            assert reading.end_time == world.time
            truth = pose_matrix(robot.pose) @ pose_matrix(MOUNT)
            scans.append((reading.xyz.astype(np.float64), reading.points["time"], truth))
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
        odometry.register_frame(points, times.astype(np.float64) / 0.1)
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
