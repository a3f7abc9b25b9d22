# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""3D lidars: where beams go, when they are fired, what a moving one sees, and its noise."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.errors import BuildError
from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d import Material, Part, solids
from mvsim_core.sensors import CloudReading, Laser3d, Lidar3d
from mvsim_core.specs.sensor import LaserSpec, Lidar3dSpec
from mvsim_core.world.data import differences
from tests.unit.sensors3d.scenes import (
    DT,
    NO_STATE,
    body_rows,
    room,
    scene,
    scene_of,
    sensor,
    state_of,
)

EXACT = {"range_std_noise": 0.0, "min_range": 0.1, "max_range": 50.0}
VISITOR = """<vehicle name="x"><init_pose>3 0 0</init_pose>
  <dynamics class="differential"><chassis mass="5" zmin="0" zmax="1"/></dynamics></vehicle>"""
HALL = solids.box((-10, -8, -3), (10, 8, 3))


def lidar(world, *, body=-1, seed=0, **changes):
    keys = {"name": "lidar", "horz_nrays": 360, "vert_nrays": 16, **EXACT, **changes}
    return sensor(Lidar3d, Lidar3dSpec(**keys), world, body=body, seed=seed)


def wall_distance(points):
    """How far points are from the walls of the hall [m]."""
    off = np.abs(np.abs(points) - [10.0, 8.0, 3.0])
    return off.min(axis=1)


def test_rings_and_azimuths():
    reading = lidar(scene(HALL), vert_fov=math.radians(30)).measure(NO_STATE, 0, 0.0)
    assert len(reading.points) == 360 * 16
    x, y, z = reading.xyz.T
    elevation = np.degrees(np.arctan2(z, np.hypot(x, y)))
    assert np.allclose(elevation, -15 + 2.0 * reading.points["ring"], atol=1e-4)
    azimuth = np.unwrap(np.arctan2(y, x)[::16])
    assert np.allclose(np.diff(azimuth), -math.radians(1.0), atol=1e-4)  # clockwise
    assert abs(abs(azimuth[0]) - math.pi) < 1e-6
    assert wall_distance(reading.xyz).max() < 1e-5


def test_explicit_ring_angles_may_be_uneven():
    angles = tuple(math.radians(a) for a in (-16, -3, 0, 7.5))
    unit = lidar(scene(HALL), vert_nrays=4, vertical_ray_angles=angles)
    reading = unit.measure(NO_STATE, 0, 0.0)
    x, y, z = reading.xyz.T
    found = np.arctan2(z, np.hypot(x, y))
    assert np.allclose(found, np.array(angles)[reading.points["ring"]], atol=1e-6)


def test_layout_of_points_is_that_of_the_message():
    reading = lidar(scene(HALL)).measure(NO_STATE, 0, 0.0)
    assert isinstance(reading, CloudReading)
    fields = reading.points.dtype.fields
    assert {k: (str(v[0]), v[1]) for k, v in fields.items()} == {
        "x": ("float32", 0),
        "y": ("float32", 4),
        "z": ("float32", 8),
        "intensity": ("float32", 12),
        "ring": ("uint16", 16),
        "time": ("float32", 20),
    }
    assert len(reading.points.tobytes()) == 24 * len(reading.points)
    assert np.shares_memory(reading.xyz, reading.points)


def drive(unit, poses, twist=(0.0, 0.0, 0.0)):
    """Sweep a lidar over the poses of its body, tick by tick; return the readings."""
    readings = []
    unit.start(0)
    bodies = body_rows(poses(0))
    for tick in range(1, unit.tick_of(2) + 1):
        for name, value in poses(tick)._asdict().items():
            bodies[name] = value
        bodies["vx"], bodies["vy"], bodies["wz"] = twist
        unit.sweep(state_of(bodies), tick)
        if tick == unit.due_tick:
            readings.append(unit.measure(state_of(bodies), tick, tick * DT))
            unit.data.due_tick = unit.tick_of(unit.number(tick) + 1)
    return readings


@pytest.mark.parametrize("period", [0.1, 0.0925])  # the second: 18 ticks, then 19
def test_points_of_a_moving_lidar_are_true_at_their_own_times(period):
    mount = Pose(0.3, -0.2, 0.5, 0.1, 0.05, 0.4)
    unit = lidar(scene(HALL), body=0, pose=mount, period=period)

    def poses(tick):
        t = tick * DT
        return Pose(-4 + 3.0 * t, 1.0 * t, 0.0, yaw=0.3 + 1.5 * t)

    first, second = drive(unit, poses, (3.0, 1.0, 1.5))
    assert first.timed
    assert (first.tick, second.tick) == (0, unit.cadence.tick(1))
    for reading in (first, second):
        interval = reading.end_time - reading.time
        assert interval == pytest.approx(period, abs=0.5 * DT + 1e-9)
        times = reading.points["time"]
        assert times.min() == 0.0
        assert times.max() == pytest.approx(interval * 359 / 360, rel=1e-5)
        assert (np.diff(times) >= 0).all()
        world = np.zeros((len(times), 3))
        for k, (t, p) in enumerate(zip(times, reading.xyz, strict=True)):
            at = poses((reading.time + t) / DT)
            world[k] = rotation(at) @ (rotation(mount) @ p + mount[:3]) + at[:3]
        # Within a tick the pose is interpolated; what remains is rounding.
        assert wall_distance(world).max() < 2e-4
        flat = reading.xyz @ (rotation(poses(reading.tick)) @ rotation(mount)).T
        flat += rotation(poses(reading.tick)) @ mount[:3] + poses(reading.tick)[:3]
        assert wall_distance(flat).max() > 0.2  # as if all were of one instant


def test_a_snapshot_has_no_times_and_a_standing_lidar_sees_the_same():
    still = lidar(scene(HALL), body=0)
    swept = drive(still, lambda tick: Pose(1.0, 2.0))[0]
    at_once = lidar(scene(HALL), body=0, motion_distortion=False)
    assert not at_once.sweeps
    shot = at_once.measure(state_of(body_rows(Pose(1.0, 2.0))), 7, 0.035)
    assert not shot.timed
    assert shot.tick == 7
    assert (shot.points["time"] == 0).all()
    assert np.allclose(shot.xyz, swept.xyz, atol=1e-6)


def test_a_teleport_does_not_smear_a_column_over_the_way():
    unit = lidar(scene(HALL), body=0)
    bodies = body_rows(Pose(-5.0))
    unit.start(0)
    unit.sweep(state_of(bodies), 1)
    bodies["x"] = 5.0
    assert np.allclose(unit.poses(np.append([5.0, *[0.0] * 5], np.zeros(3)), np.zeros(1))[0, 9], 5)


def test_own_vehicle_is_seen_or_not():
    cube = solids.box((-1, -1, -1), (1, 1, 0))
    world = scene_of(Part(HALL), Part(cube, body=0), Part(cube, body=1))
    bodies = body_rows(Pose(), Pose(4.0))
    mount = Pose(z=0.2)
    sees = lidar(world, body=0, pose=mount).measure(state_of(bodies), 0, 0.0)
    ignores = lidar(world, body=0, pose=mount, ignore_parent_body=True).measure(
        state_of(bodies), 0, 0.0
    )
    assert np.linalg.norm(sees.xyz, axis=1).min() < 1.0
    near = np.linalg.norm(ignores.xyz, axis=1)
    assert 2.9 < near.min() < 3.2  # the other one, at the same height


def test_range_limits_hold_with_noise():
    unit = lidar(scene(HALL), range_std_noise=0.5, min_range=8.0, max_range=9.5)
    ranges = np.linalg.norm(unit.measure(NO_STATE, 0, 0.0).xyz.astype(float), axis=1)
    assert ranges.min() >= 8.0 - 1e-5
    assert ranges.max() < 9.5 + 1e-5


def test_noise_grows_with_distance():
    truth = lidar(scene(HALL), horz_nrays=3600).measure(NO_STATE, 0, 0.0)
    unit = lidar(scene(HALL), horz_nrays=3600, range_std_noise=0.01, range_noise_growth=0.004)
    r0 = np.linalg.norm(truth.xyz.astype(float), axis=1)
    error = np.linalg.norm(unit.measure(NO_STATE, 0, 0.0).xyz.astype(float), axis=1) - r0
    for low, high in ((8.0, 8.5), (11.0, 12.0)):
        part = (r0 > low) & (r0 < high)
        sigma = math.hypot(0.01, 0.004 * r0[part].mean())
        assert error[part].std() == pytest.approx(sigma, rel=0.05)
        assert abs(error[part].mean()) < 5 * sigma / math.sqrt(part.sum())


def test_dropout_takes_its_share():
    unit = lidar(scene(HALL), horz_nrays=3600, ray_dropout=0.2)
    assert len(unit.measure(NO_STATE, 0, 0.0).points) / 57600 == pytest.approx(0.8, abs=0.01)


def test_intensity():
    white = solids.box((5, -9, -9), (6, 9, 9), Material((1.0, 1.0, 1.0, 1.0)))
    red = solids.box((-6, -9, -9), (-5, 9, 9), Material((1.0, 0.0, 0.0, 1.0)))
    world = scene(white, red)
    points = lidar(world).measure(NO_STATE, 0, 0.0).points
    assert np.allclose(points["intensity"], np.where(points["x"] > 0, 1.0, 0.299))
    slanted = lidar(world, intensity_incidence=True).measure(NO_STATE, 0, 0.0)
    front = slanted.points["x"] > 4.9
    cosine = slanted.xyz[front, 0] / np.linalg.norm(slanted.xyz[front], axis=1)
    face = np.abs(slanted.xyz[front, 0] - 5) < 1e-4
    assert np.allclose(slanted.points["intensity"][front][face], cosine[face], atol=1e-4)
    assert (
        lidar(world, generate_intensity=False).measure(NO_STATE, 0, 0.0).points["intensity"] == 1
    ).all()


def test_a_wide_beam_sees_what_its_rim_meets_first():
    post = solids.box((4.0, 0.02, -9.0), (4.1, 0.3, 9.0))
    keys = {"horz_nrays": 4, "vert_nrays": 1}
    thin = lidar(scene(HALL, post), **keys).measure(NO_STATE, 0, 0.0)
    wide = lidar(scene(HALL, post), **keys, beam_divergence=math.radians(1.0))
    ahead = wide.measure(NO_STATE, 0, 0.0)
    assert thin.xyz[2, 0] == pytest.approx(10.0)
    assert ahead.xyz[2, 0] == pytest.approx(4.0, abs=1e-3)


def test_same_seed_same_bytes_and_a_scan_can_be_restored_halfway():
    text = room(
        '<sensor class="lidar3d" name="l"><pose_3d>0 0 0.6 0 0 0</pose_3d>'
        "<vert_nrays>8</vert_nrays><horz_nrays>90</horz_nrays></sensor>"
    )

    def run(world, seconds):
        world.vehicles["r1"].set_twist(1.0, 0.0, 1.0)
        world.run(seconds)
        return world.vehicles["r1"].sensors["l"].last.points.tobytes()

    world, other = load_world(text=text, seed=5), load_world(text=text, seed=5)
    assert run(world, 0.3) == run(other, 0.3)
    world.run(0.05)
    snapshot = world.state()
    expected = run(world, 0.2)
    run(world, 0.13)
    world.restore(snapshot)
    assert run(world, 0.2) == expected


def test_a_snapshot_does_not_depend_on_what_came_before():
    """A world in which vehicles came and went gives the same state in the middle of a scan."""
    lidar_xml = '<sensor class="lidar3d" name="l"><pose_3d>0 0 0.5 0 0 0</pose_3d></sensor>'
    text = room(lidar_xml).replace("</mvsim_world>", f"{VISITOR}</mvsim_world>")
    world, other = load_world(text=text), load_world(text=text)
    snapshot = world.state()
    for _ in range(3):
        other.run(0.12)
        other.remove("x")
        other.run(0.12)
        other.restore(snapshot)
    for each in (world, other):
        each.run(0.15)
    assert world.data.sensors["r1/l"].hits  # a scan has begun
    assert differences(world.state(), other.state()) == []


def test_worlds_without_3d_sensors_build_no_scene():
    world = load_world(text=room('<sensor class="laser" name="l"/>'))
    world.run(0.3)
    assert not world._runtime.scene3d.built
    assert world._runtime.sensors.next_tick > world.ticks + 1


def test_vehicles_that_come_and_go_are_seen():
    lidar_xml = '<sensor class="lidar3d" name="l"><pose_3d>0 0 0.5 0 0 0</pose_3d></sensor>'
    world = load_world(text=room(lidar_xml))
    world.run(0.1)
    unit = world.vehicles["r1"].sensors["l"]

    def nearest():
        world.run(0.2)
        ahead = (unit.last.xyz[:, 0] > 0.5) & (np.abs(unit.last.xyz[:, 1]) < 0.3)
        return unit.last.xyz[ahead & (unit.last.xyz[:, 2] > -0.4), 0].min()

    empty = nearest()
    world.add_vehicle(VISITOR, pose=(3.0, 0.0, 0.0))
    assert nearest() < 3.0 < empty
    world.remove("x")
    assert nearest() == pytest.approx(empty, abs=0.05)


@pytest.fixture
def pattern(tmp_path):
    count = 4800
    t = np.arange(count)
    table = np.column_stack((t * 5e-6, (137.5 * t) % 360 - 180, 90 + 30 * np.sin(0.1 * t)))
    path = tmp_path / "pattern.csv"
    np.savetxt(path, table, delimiter=",", header="Time/s,Azimuth/deg,Zenith/deg", comments="")
    return path


def test_a_pattern_from_a_file_goes_on_from_scan_to_scan(pattern):
    unit = lidar(scene(HALL), scan_pattern=str(pattern), period=0.01)
    assert unit.rows * unit.rings == 2000
    scans = [unit.measure(NO_STATE, k * unit.cadence.tick(1), 0.0) for k in range(3)]
    assert all(len(s.points) == 2000 for s in scans)
    way = scans[0].xyz[5] / np.linalg.norm(scans[0].xyz[5])
    zenith, azimuth = math.radians(90 + 30 * math.sin(0.5)), math.radians(137.5 * 5 % 360 - 180)
    expected = [
        math.sin(zenith) * math.cos(azimuth),
        math.sin(zenith) * math.sin(azimuth),
        math.cos(zenith),
    ]
    assert np.allclose(way, expected, atol=1e-6)
    assert not np.allclose(scans[0].xyz, scans[1].xyz)
    assert np.allclose(scans[2].xyz[800:], scans[0].xyz[:1200])  # 3 · 2000 = 4800 + 1200


LINES = "lines of time [s], azimuth, zenith [deg]"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (None, "the scan pattern does not exist"),
        ("a,b,c\n1,2\n", f"expected {LINES}, got 2 numbers a line"),
        ("t,a,z\n0,1,2\n0,1,x\n" * 40, f"expected {LINES}, but line 3 is '0,1,x'"),
        ("0,1,2\n0,1,2,3\n", f"expected {LINES}, but line 2 has 4 numbers and line 1 has 3"),
        ("0,1,2\n" * 40, "the times of a scan pattern must increase"),
        ("0,1,nan\n" * 40, f"expected finite {LINES}"),
        ("", f"expected {LINES}, got none"),
    ],
)
def test_a_bad_pattern_is_named(tmp_path, text, complaint):
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_text(text)
    with pytest.raises(BuildError) as caught:
        lidar(scene(HALL), scan_pattern=str(path))
    assert str(caught.value) == f"{path}: {complaint}"


def test_planar_lidar_with_true_3d_rays():
    low = solids.box((3, -9, -3), (4, 9, -0.5))
    keys = {"name": "l", "nrays": 181, "range_std_noise": 0.0, "angle_std_noise": 0.0}
    level = sensor(Laser3d, LaserSpec(**keys, pose=Pose()), scene(HALL, low))
    reading = level.measure(NO_STATE, 0, 0.0)
    angles = level.angles
    with np.errstate(divide="ignore"):
        expected = np.minimum(10.0 / np.cos(angles), 8.0 / np.abs(np.sin(angles)))
    assert np.abs(reading.ranges - expected).max() < 1e-5
    down = sensor(Laser3d, LaserSpec(**keys, pose=Pose(pitch=0.3)), scene(HALL, low))
    assert down.measure(NO_STATE, 0, 0.0).ranges[90] == pytest.approx(3 / math.cos(0.3))
    short = sensor(
        Laser3d, LaserSpec(**keys, pose=Pose(), max_range=9.0, min_range=8.2), scene(HALL)
    )
    ranges = short.measure(NO_STATE, 0, 0.0).ranges
    assert ranges[90] == math.inf
    assert ranges[0] == -math.inf


def test_all_definitions_of_the_original_scan(mvsim_worlds):
    for name, rings, limit in (
        ("velodyne-vlp16", 16, 80.0),
        ("ouster-os1", 128, 90.0),
        ("helios-32-FOV-26", 32, 110.0),
        ("helios-32-FOV-31", 32, 110.0),
        ("helios-32-FOV-70", 32, 110.0),
    ):
        file = mvsim_worlds / "definitions" / f"{name}.sensor.xml"
        world = load_world(text=room(f'<include file="{file}"/>'))
        world.run(0.2)
        unit = world.vehicles["r1"].sensors["lidar1"]
        assert unit.rings == rings
        assert unit.range_max == limit
        assert set(np.unique(unit.last.points["ring"])) <= set(range(rings))
        assert unit.last.timed
        assert len(unit.last.points) > 0.5 * unit.rings * unit.rows
