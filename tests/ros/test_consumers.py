# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What slam_toolbox, AMCL, Nav2, robot_localization and navsat_transform do with the topics.

None of them runs here: each test restates what its consumer demands, on one recorded drive.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator

import numpy as np
import pytest
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from sensor_msgs.msg import Imu, LaserScan, NavSatFix
from tf2_msgs.msg import TFMessage

from tests.conftest import DomainPool
from tests.ros.rules import as_matrix, expected_beams, pose_matrix
from tests.ros.running import LATCHED, NodeProcess, Observer, eventually, nanoseconds
from tests.ros.worlds import surveyed_room

pytestmark = pytest.mark.ros

TOLERANCE = 0.25  # m, xy_goal_tolerance of Nav2's goal checker
GOALS = {Twist: (-1.0, 2.5), TwistStamped: (2.0, -0.5)}  # in map


class Path:
    """Poses (4×4) by stamp, interpolated in the plane as a buffer of transforms does."""

    def __init__(self, poses: dict[int, np.ndarray]) -> None:
        self.stamps = sorted(poses)
        yaw = np.unwrap([math.atan2(poses[s][1, 0], poses[s][0, 0]) for s in self.stamps])
        self.rows = np.array(
            [(*poses[s][:2, 3], a) for s, a in zip(self.stamps, yaw, strict=True)]
        )

    def at(self, stamp: int) -> np.ndarray:
        """Return (x, y, yaw); raise outside of the buffer, where tf2 would extrapolate."""
        i = bisect_right(self.stamps, stamp)
        if i == 0 or (i == len(self.stamps) and stamp != self.stamps[-1]):
            raise LookupError(f"extrapolation at {stamp}")
        return np.array([np.interp(stamp, self.stamps, column) for column in self.rows.T])


def transforms(observer: Observer, parent: str, child: str) -> Path:
    found = [t for m in observer.all("/tf") for t in m.transforms]
    return Path(
        {
            nanoseconds(t.header.stamp): as_matrix(t.transform)
            for t in found
            if (t.header.frame_id, t.child_frame_id) == (parent, child)
        }
    )


def truth(observer: Observer) -> Path:
    messages = observer.all("/ground_truth/odom")
    return Path({nanoseconds(m.header.stamp): pose_matrix(m.pose.pose) for m in messages})


def drive_to(observer: Observer, goal: tuple[float, float], kind: type) -> float:
    """Drive to a goal by TF alone; return the distance that is left [m]."""
    message = kind()
    twist = message.twist if kind is TwistStamped else message

    def arrived() -> bool:
        x, y, yaw = in_map(observer, transforms(observer, "odom", "base_footprint").stamps[-1])
        dx, dy = goal[0] - x, goal[1] - y
        error = math.remainder(math.atan2(dy, dx) - yaw, math.tau)
        twist.linear.x = 0.6 * max(0.0, math.cos(error))
        twist.angular.z = max(-1.5, min(1.5, 2.0 * error))
        return math.hypot(dx, dy) < 0.6 * TOLERANCE

    with observer.repeat("/cmd_vel", message):
        eventually(arrived, f"the goal {goal}", patience=40.0)
        twist.linear.x = twist.angular.z = 0.0
        eventually(lambda: abs(observer.newest("/odom").twist.twist.linear.x) < 0.01, "a stop")
    last = nanoseconds(observer.newest("/ground_truth/odom").header.stamp)
    return float(np.hypot(*(truth(observer).at(last)[:2] - goal)))


def in_map(observer: Observer, stamp: int) -> np.ndarray:
    """Return (x, y, yaw) of the robot in map by map → odom → base_footprint."""
    x, y, yaw = transforms(observer, "odom", "base_footprint").at(stamp)
    ox, oy, a = transforms(observer, "map", "odom").at(stamp)
    c, s = math.cos(a), math.sin(a)
    return np.array([ox + c * x - s * y, oy + s * x + c * y, a + yaw])


@pytest.fixture(scope="module")
def observer(
    domain_pool: DomainPool, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Observer]:
    domain = domain_pool.take()
    process = NodeProcess(domain, surveyed_room(tmp_path_factory.mktemp("room")))
    observer = Observer(domain)
    observer.listen("/tf", TFMessage, 1000)
    observer.listen("/map", OccupancyGrid, LATCHED)
    kinds = {"/odom": Odometry, "/ground_truth/odom": Odometry, "/scan": LaserScan}
    kinds |= {"/imu/data": Imu, "/gps/fix": NavSatFix}
    for topic, kind in kinds.items():
        observer.listen(topic, kind, 1000)
    try:
        eventually(lambda: all(observer.all(t) for t in (*kinds, "/map", "/tf")), "all topics")
        yield observer
        assert "Traceback" not in process.output
    finally:
        observer.close()
        process.close()
        domain_pool.give_back(domain)


@pytest.fixture(scope="module")
def left(observer: Observer) -> dict[type, float]:
    """Distances [m] from the goals after a drive with each type of command."""
    return {kind: drive_to(observer, goal, kind) for kind, goal in GOALS.items()}


@pytest.mark.parametrize("kind", GOALS)
def test_a_navigator_reaches_its_goal(left: dict[type, float], kind: type) -> None:
    assert left[kind] < TOLERANCE


def scans_in_map(observer: Observer) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return (pose (3,), points in base (n, 2) [m]) of the scans that have transforms."""
    last = transforms(observer, "odom", "base_footprint").stamps[-1]
    found = []
    for scan in observer.all("/scan")[5::5]:
        stamp = nanoseconds(scan.header.stamp)
        if stamp > last:
            break
        r = np.array(scan.ranges)
        angle = scan.angle_min + scan.angle_increment * np.arange(len(r))
        hit = np.isfinite(r)
        points = r[hit, None] * np.stack([np.cos(angle[hit]), np.sin(angle[hit])], axis=1)
        found.append(
            (in_map(observer, stamp), points + np.array([0.1, 0.0]))
        )  # where the lidar is
    return found


def placed(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    c, s = math.cos(pose[2]), math.sin(pose[2])
    moved: np.ndarray = points @ np.array([[c, s], [-s, c]]) + pose[:2]
    return moved


def test_slam_toolbox_can_map_the_room(left: object, observer: Observer) -> None:
    for scan in observer.all("/scan"):
        n = expected_beams(scan.angle_min, scan.angle_max, scan.angle_increment, len(scan.ranges))
        assert len(scan.ranges) == n
        ranges = np.array(scan.ranges)[np.isfinite(scan.ranges)]
        assert (ranges >= scan.range_min).all()
        assert (ranges <= scan.range_max).all()
    scans = scans_in_map(observer)  # a LookupError here is an extrapolation
    assert len(scans) > 10
    x, y = np.concatenate([placed(*scan) for scan in scans]).T
    inner = np.minimum(np.abs(4.9 - np.abs(x)), np.abs(3.9 - np.abs(y)))
    assert (inner < 0.1).mean() > 0.98
    hits, _, _ = np.histogram2d(x, y, bins=(100, 80), range=((-5, 5), (-4, 4)))
    seen = hits > 0
    for wall in (seen[:2], seen[-2:], seen[:, :2].T, seen[:, -2:].T):
        assert wall.any(axis=0).mean() > 0.8


def test_amcl_tells_the_pose_from_those_beside_it(left: object, observer: Observer) -> None:
    grid = observer.all("/map")[0]
    info = grid.info
    assert (info.width, info.height) == (100, 80)
    assert info.resolution == pytest.approx(0.1)
    assert (info.origin.position.x, info.origin.position.y) == (-5.0, -4.0)
    assert grid.header.frame_id == "map"
    rows, columns = np.nonzero(np.array(grid.data).reshape(80, 100) == 100)
    walls = np.stack([columns, rows], axis=1) * 0.1 + [-4.95, -3.95]

    def likelihood(shift: tuple[float, float, float]) -> float:
        scores = []
        for pose, points in scans_in_map(observer)[::4]:
            ends = placed(pose + shift, points[::10])
            d = np.linalg.norm(ends[:, None] - walls, axis=2).min(axis=1)
            scores.append(np.exp(-0.5 * (d / 0.1) ** 2).mean())
        return float(np.mean(scores))

    best = likelihood((0, 0, 0))
    assert best > 0.7
    for shift in ((0.5, 0, 0), (-0.5, 0, 0), (0, 0.5, 0), (0, -0.5, 0), (0, 0, 0.35)):
        assert likelihood(shift) < 0.75 * best


def test_robot_localization_can_fuse_odometry_and_imu(left: object, observer: Observer) -> None:
    odometry, imu = observer.all("/odom"), observer.all("/imu/data")
    for messages in (odometry, imu):
        assert (np.diff([nanoseconds(m.header.stamp) for m in messages]) > 0).all()
    for m in odometry:
        assert (m.header.frame_id, m.child_frame_id) == ("odom", "base_footprint")
        assert (np.diag(np.reshape(m.twist.covariance, (6, 6)))[[0, 1, 5]] > 0).all()
    for m in imu:
        unmeasured = m.orientation_covariance[0] == -1
        assert unmeasured or min(m.orientation_covariance[::4]) > 0
        assert m.angular_velocity_covariance[8] > 0
    path = truth(observer)
    begin = max(path.stamps[0], nanoseconds(odometry[0].header.stamp))
    x, y, yaw = path.at(begin)
    times = [nanoseconds(m.header.stamp) for m in imu]
    rates = [m.angular_velocity.z for m in imu]
    before, speed, travelled = begin, 0.0, 0.0
    for m in odometry:
        stamp = nanoseconds(m.header.stamp)
        if not begin < stamp <= path.stamps[-1]:
            continue
        dt = (stamp - before) * 1e-9
        mean = 0.5 * (speed + m.twist.twist.linear.x)
        turn = float(np.interp((stamp + before) / 2, times, rates)) * dt
        x += mean * dt * math.cos(yaw + turn / 2)
        y += mean * dt * math.sin(yaw + turn / 2)
        yaw, before, speed = yaw + turn, stamp, m.twist.twist.linear.x
        travelled += abs(mean * dt)
    assert travelled > 4.0
    error = path.at(before) - (x, y, yaw)
    assert np.hypot(*error[:2]) < 0.05 * travelled + 0.05
    assert abs(math.remainder(error[2], math.tau)) < 0.1


def test_navsat_transform_finds_the_truth(left: object, observer: Observer) -> None:
    path, errors, sigmas = truth(observer), [], []
    for fix in observer.all("/gps/fix"):
        stamp = nanoseconds(fix.header.stamp)
        if path.stamps[0] <= stamp <= path.stamps[-1]:
            errors.append(east_north(fix.latitude, fix.longitude) - path.at(stamp)[:2])
            sigmas.append(math.sqrt(fix.position_covariance[0]))
    assert len(errors) > 10
    assert (np.linalg.norm(errors, axis=1) < 4.5 * np.array(sigmas) + 0.05).all()
    assert np.linalg.norm(np.mean(errors, axis=0)) < 4.5 * np.mean(sigmas) / math.sqrt(len(errors))
    for m in observer.all("/imu/data")[::20]:  # REP-103: zero towards east, left is positive
        stamp = nanoseconds(m.header.stamp)
        if path.stamps[0] <= stamp <= path.stamps[-1]:
            yaw = 2 * math.atan2(m.orientation.z, m.orientation.w)
            assert abs(math.remainder(yaw - path.at(stamp)[2], math.tau)) < 0.1


def east_north(latitude: float, longitude: float) -> np.ndarray:
    """Return metres east and north of the reference by the radii of WGS 84 there."""
    phi = math.radians(36.8)
    e2, root = 6.69437999e-3, math.sqrt(1 - 6.69437999e-3 * math.sin(phi) ** 2)
    normal, meridian = 6378137.0 / root, 6378137.0 * (1 - e2) / root**3
    return np.array(
        [
            math.radians(longitude + 2.4) * (normal + 60) * math.cos(phi),
            math.radians(latitude - 36.8) * (meridian + 60),
        ]
    )
