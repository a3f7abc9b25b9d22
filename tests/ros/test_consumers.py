# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What slam_toolbox, AMCL, Nav2, robot_localization and navsat_transform make of the topics.

None of them can be installed by pip: small versions of their algorithms, in consumers/, with their
conventions and rules, work on one recorded drive; the truth is known.
"""

import math
from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from geometry_msgs.msg import PoseWithCovarianceStamped, Twist, TwistStamped

from tests.conftest import DomainPool
from tests.ros.consumers import navsat
from tests.ros.consumers.drive import TOLERANCE, Drive
from tests.ros.consumers.filter import Filter, acceleration_of, rotation
from tests.ros.consumers.localiser import Localiser, beams
from tests.ros.consumers.plane import between, compose, inverse, moved, planar
from tests.ros.consumers.scan_matching import Table, accepted
from tests.ros.consumers.topic_recorder import recorded_from_start
from tests.ros.rules import pose_matrix
from tests.ros.worlds import surveyed_room

pytestmark = pytest.mark.ros

GOALS = {Twist: (-1.0, 2.5), TwistStamped: (2.0, -0.5)}  # in map
FARTHEST = 20.0  # m, max_laser_range of params/slam.yaml
KEY_WAY, KEY_TURN = 0.3, 0.3  # m, rad: minimum_travel_* there
WRONG = np.array([0.15, -0.1, 0.1])  # m, m, rad: of the first guesses of matches
UPDATE_WAY, UPDATE_TURN = 0.2, 0.2  # m, rad: update_min_* of amcl in params/nav2.yaml
BEFORE = np.array([0.3, 0.3, 0.25])  # m, m, rad: spread of the first particles
#: What it may become [m, m, rad]. Noise of motion and of ranges keep it at 0.18, 0.18 and 0.20;
#: 72 tries on six drives had standard deviations of 0.007 about that.
SPREAD = np.array([0.24, 0.24, 0.24])


@pytest.fixture(scope="module")
def drive(domain_pool: DomainPool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Drive]:
    world = surveyed_room(tmp_path_factory.mktemp("room"))
    options = {"publish_initialpose": True, "realtime_factor": 2.0}
    with recorded_from_start(domain_pool, world, 0.5, **options) as (recorder, _):
        yield Drive(recorder, GOALS)


@pytest.mark.parametrize("kind", GOALS)
def test_a_navigator_reaches_its_goal(drive: Drive, kind: type) -> None:
    assert drive.left[kind] < TOLERANCE


# ------------------------------------------------------------------------------ slam_toolbox
def scan_points(drive: Drive) -> list[tuple[int, np.ndarray]]:
    """Return stamps and points (n, 2) in the robot's frame of all scans, as Karto reads them."""
    return [
        (stamp, moved(planar(drive.mount(scan)), accepted(scan, FARTHEST)))
        for stamp, scan in drive.messages("/scan")
    ]


def far_apart(way: np.ndarray, metres: float, radians: float) -> bool:
    return bool(np.hypot(*way[:2]) > metres or abs(way[2]) > radians)


def test_slam_toolbox_takes_every_scan_and_places_it(drive: Drive) -> None:
    scans = scan_points(drive)
    assert len(scans) > 50
    x, y = np.concatenate([moved(drive.map_pose(stamp), points) for stamp, points in scans]).T
    inner = np.minimum(np.abs(4.9 - np.abs(x)), np.abs(3.9 - np.abs(y)))
    assert (inner < 0.1).mean() > 0.98
    hits, _, _ = np.histogram2d(x, y, bins=(100, 80), range=((-5, 5), (-4, 4)))
    seen = hits > 0
    for wall in (seen[:2], seen[-2:], seen[:, :2].T, seen[:, -2:].T):
        assert wall.any(axis=0).mean() > 0.8


def test_slam_toolbox_finds_the_way_by_matching_scans(drive: Drive) -> None:
    """Scan against scan, with odometry as a first guess that is wrong by 18 cm and 6 degrees."""
    scans = scan_points(drive)
    keys = [scans[0]]
    for scan in scans:
        way = between(drive.odometry.at(keys[-1][0]), drive.odometry.at(scan[0]))
        if far_apart(way, KEY_WAY, KEY_TURN):
            keys.append(scan)
    assert len(keys) > 12
    errors, found = [], np.zeros(3)
    for (a, before), (b, after) in pairwise(keys):
        guess = between(drive.odometry.at(a), drive.odometry.at(b)) + WRONG
        step = Table(before).match(after, guess)
        errors.append(between(between(drive.truth.at(a), drive.truth.at(b)), step))
        found = compose(found, step)
    assert np.hypot(*np.array(errors)[:, :2].T).max() < 0.05
    assert np.abs(np.array(errors)[:, 2]).max() < 0.02
    drift = between(between(drive.truth.at(keys[0][0]), drive.truth.at(keys[-1][0])), found)
    assert np.hypot(*drift[:2]) < 0.2
    assert abs(drift[2]) < 0.08


# -------------------------------------------------------------------------------------- AMCL
def test_amcl_gets_the_map_and_the_pose_to_begin_with(drive: Drive) -> None:
    (grid,) = drive.recorder.all("/map")
    info = grid.info
    assert (info.width, info.height) == (100, 80)
    assert info.resolution == pytest.approx(0.1)
    assert (info.origin.position.x, info.origin.position.y) == (-5.0, -4.0)
    assert grid.header.frame_id == "map"
    (initial,) = drive.recorder.all("/initialpose")
    assert initial.header.frame_id == "map"
    assert planar(pose_matrix(initial.pose.pose)) == pytest.approx((-2.0, 1.0, math.pi / 2))
    variances = np.diag(np.reshape(initial.pose.covariance, (6, 6)))[[0, 1, 5]]
    assert (variances > 0).all()


@pytest.mark.parametrize("off", [(0.5, 0, 20), (-0.5, 0, -20), (0, 0.5, -20), (0, -0.5, 20)])
def test_amcl_converges_from_half_a_metre_and_twenty_degrees(
    drive: Drive, off: tuple[float, float, float]
) -> None:
    (initial,), (grid,) = drive.recorder.all("/initialpose"), drive.recorder.all("/map")
    pose = planar(pose_matrix(initial.pose.pose)) + np.array([*off[:2], math.radians(off[2])])
    localiser = Localiser(grid, pose, BEFORE, seed=1)
    scans = drive.messages("/scan")
    before = drive.odometry.at(scans[0][0])
    for stamp, scan in scans:
        now = drive.odometry.at(stamp)
        if far_apart(between(before, now), UPDATE_WAY, UPDATE_TURN):
            localiser.move(before, now)
            localiser.weigh(moved(planar(drive.mount(scan)), beams(scan)), scan.range_max)
            before, last = now, stamp
    error = between(drive.truth.at(last), localiser.pose)
    assert np.hypot(*error[:2]) < 0.15
    assert abs(error[2]) < 0.06
    assert (localiser.spread < SPREAD).all()


def test_a_pose_estimate_of_rviz_moves_no_robot(drive: Drive) -> None:
    """`initialpose` is for localisers: the simulator publishes it and does not subscribe."""
    node = drive.recorder.node
    readers = node.get_subscriptions_info_by_topic("/initialpose")
    assert all(info.node_name != "mvsim" for info in readers)
    estimate = PoseWithCovarianceStamped()
    estimate.header.frame_id = "map"
    estimate.pose.pose.orientation.w = 1.0
    before = drive.recorder.newest("/ground_truth/odom").pose.pose.position
    with drive.recorder.repeat("/initialpose", estimate):
        for _ in range(10):
            after = drive.recorder.newest("/ground_truth/odom").pose.pose.position
    assert math.hypot(after.x - before.x, after.y - before.y) < 0.05


# ------------------------------------------------------------------------ robot_localization
def test_robot_localization_fuses_odometry_and_imu(drive: Drive) -> None:
    (_, first), *_ = drive.messages("/imu/data")
    mount, estimate, worst = drive.mount(first)[:3, :3], Filter(), np.zeros(7)
    messages = drive.messages("/odom", "/imu/data")
    begin, end = messages[0][0], messages[-1][0]
    before = -1
    for stamp, message in messages:
        estimate.predict(stamp)
        if message.header.frame_id == first.header.frame_id:
            assert stamp > before  # two of one sensor with one stamp would be fused twice
            before = stamp
            estimate.take_imu(message, mount)
        else:
            assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_footprint")
            estimate.take_odometry(message)
        assert np.isfinite(estimate.state).all()
        worst = np.maximum(worst, np.diag(estimate.covariance))
    assert (worst < (0.1, 0.1, 0.05, 1e-3, 1e-3, 1e-3, 0.05)).all()
    error = estimate.state[:3] - between(drive.truth.at(begin), drive.truth.at(end))
    error[2] = math.remainder(error[2], math.tau)
    assert (np.abs(error) < 3.0 * np.sqrt(np.diag(estimate.covariance))[:3]).all()
    assert np.hypot(*error[:2]) < 0.02 * drive.truth.length + 0.05


def test_without_gravity_the_unit_feels_how_the_robot_moves(drive: Drive) -> None:
    """Accelerations without gravity have zero mean and integrate to the changes of speed."""
    messages = drive.messages("/imu/data")
    mount = drive.mount(messages[0][1])[:3, :3]
    felt = np.array([acceleration_of(m, mount) for _, m in messages])
    assert (np.abs(felt.mean(axis=0)) < (0.05, 0.2, 0.05)).all()  # y: it turns more to one side
    stamps = np.array([stamp for stamp, _ in messages])
    odometry = drive.messages("/odom")
    speed = np.interp(
        stamps, [s for s, _ in odometry], [m.twist.twist.linear.x for _, m in odometry]
    )
    gained = np.cumsum(felt[:, 0]) * 0.02
    window = 10  # of 0.02 s
    by_unit, by_wheels = gained[window:] - gained[:-window], speed[window:] - speed[:-window]
    assert np.std(by_wheels) > 0.02
    assert np.corrcoef(by_unit, by_wheels)[0, 1] > 0.8


def test_variances_are_those_that_filters_take(drive: Drive) -> None:
    for _, m in drive.messages("/odom"):
        for covariance in (m.pose.covariance, m.twist.covariance):
            assert (np.diag(np.reshape(covariance, (6, 6))) > 1e-9).all()
    for _, m in drive.messages("/imu/data"):
        for covariance in (
            m.orientation_covariance,
            m.angular_velocity_covariance,
            m.linear_acceleration_covariance,
        ):
            assert covariance[0] == -1 or min(covariance[::4]) > 1e-9


# --------------------------------------------------------------------------- navsat_transform
def test_navsat_transform_finds_the_truth(drive: Drive) -> None:
    fixes = [(stamp, fix) for stamp, fix in drive.messages("/gps/fix") if navsat.usable(fix)]
    assert len(fixes) == len(drive.messages("/gps/fix")) > 30
    stamps = [stamp for stamp, _ in fixes]
    _, imu = min(drive.messages("/imu/data"), key=lambda pair: abs(pair[0] - stamps[0]))
    axes = rotation(imu.orientation) @ drive.mount(imu)[:3, :3].T  # of the robot, by the unit
    heading = math.atan2(axes[1, 0], axes[0, 0])
    poses = np.array([drive.odometry.at(stamp) for stamp in stamps])
    antenna = drive.mount(fixes[0][1])[:2, 3]
    found = navsat.odometry_gps([fix for _, fix in fixes], poses, heading, antenna)
    start = compose(drive.truth.at(stamps[0]), inverse(poses[0]))  # odom in the world
    truth = np.array([between(start, drive.truth.at(stamp))[:2] for stamp in stamps])
    sigma = math.sqrt(2.0 * fixes[0][1].position_covariance[0])  # of a fix and of the datum
    errors = np.abs(found - truth)
    assert sigma < 0.1
    assert (errors < 3.0 * sigma).mean() > 0.97
    assert errors.max() < 4.5 * sigma
    assert np.ptp(truth, axis=0).min() > 20 * sigma  # the way is long enough to tell
