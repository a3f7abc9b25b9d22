# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that come and go, copies of a world in one scene, and many bodies at once."""

import random

import numpy as np
import pytest

from mvsim_core import threads
from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import Cylinder, PlaneScene, Prism
from mvsim_core.sensors.lidar2d import LEAST_FANS, LidarBatch
from tests.unit.sensors.scenes import body_rows, lidar, placed, scan, state_of

SQUARE = [(-0.3, -0.3), (0.3, -0.3), (0.3, 0.3), (-0.3, 0.3)]
ROBOT = [Prism(SQUARE, (0.0, 0.5)), Cylinder((0.4, 0.0), 0.1), Prism([(0.0, 0.5), (0.1, 0.9)])]


def crowd(count, seed, extent=12.0, tilted=False):
    rng = np.random.default_rng(seed)
    tilt = rng.uniform(-0.5, 0.5, (count, 2)) * tilted
    return body_rows(
        *[
            Pose(*rng.uniform(-extent, extent, 2), yaw=rng.uniform(-3, 3), roll=r, pitch=p)
            for r, p in tilt
        ]
    )


def by_walls(bodies, own, pose, **keys):
    """The same scene with all bodies but one as walls, which are searched by chunks."""
    scene = PlaneScene()
    for row, body in enumerate(bodies):
        if row == own:
            continue
        c, s = np.cos(body["yaw"]), np.sin(body["yaw"])
        turn = np.array([[c, s], [-s, c]])
        shift = np.array([body["x"], body["y"]])
        for solid in ROBOT:
            heights = dict(zip(("zmin", "zmax"), solid.z_range, strict=True))
            if isinstance(solid, Cylinder):
                center = np.array(solid.center) @ turn + shift
                scene.add_circle(tuple(center), solid.radius, **heights)
            else:
                scene.add_polygon(np.array(solid.points) @ turn + shift, **heights)
    return scan(lidar(scene, body=own, pose=pose, **keys), bodies)


@pytest.mark.parametrize("count", [3, 40, 300])
@pytest.mark.parametrize("tilted", [False, True])
def test_bodies_are_seen_as_walls_in_their_place_would_be(count, tilted):
    bodies = crowd(count, count, tilted=tilted)
    mount = Pose(x=0.1, z=0.2)
    keys = {"nrays": 90, "max_range": 6.0, "angle_std_noise": 0.02}
    scene = PlaneScene()
    for row in range(count):
        scene.add_body(row, ROBOT)
    batch = LidarBatch()
    sensors = [lidar(scene, body=row, pose=mount, **keys) for row in range(0, count, 9)]
    places = [batch.add(sensor) for sensor in sensors]
    batch.measure(places, state_of(bodies), 0, 0.0)
    for place, sensor in zip(places, sensors, strict=True):
        first = batch._fans["first"][place]
        found = batch._rays[2, first : first + sensor.n]
        expected = by_walls(bodies, sensor.body, mount, **keys)
        assert found == pytest.approx(expected, abs=1e-9)
        assert found.tobytes() == scan(sensor, bodies).tobytes()  # alone, without cells
    assert min(scan(sensor, bodies).min() for sensor in sensors) < 6.0 or count == 3


@pytest.mark.parametrize("far", [0.0, 4e6])
@pytest.mark.parametrize("mount", [Pose(z=0.2), Pose(z=0.2, roll=np.pi), Pose(z=0.2, pitch=0.4)])
@pytest.mark.parametrize("extent", [(12.0, 12.0), (60.0, 0.0)])
@pytest.mark.parametrize("reach", [25.0, 3.5])  # [m]: with many bodies in it, and with few
def test_sorted_into_cells_meet_what_a_search_of_all_bodies_meets(far, mount, extent, reach):
    """On a grid, where rays run along borders of cells, in corridors, far from the origin."""
    rng = np.random.default_rng(8)
    places = rng.uniform(-1.0, 1.0, (240, 2)) * extent + far
    places[::2] = np.round(places[::2])
    bodies = body_rows(*[(x, y, rng.choice([0.0, 0.5 * np.pi, 1.0])) for x, y in places])
    wide = [Prism([(-5.0, 0.0), (5.0, 0.1)], (0.0, 0.5))]
    scene = PlaneScene()
    for row in range(240):
        scene.add_body(row, wide if row % 80 == 79 else ROBOT)
    keys = {"nrays": 40, "max_range": reach}
    batch = LidarBatch()
    sensors = [lidar(scene, body=row, pose=mount, **keys) for row in range(0, 240, 6)]
    batch.measure([batch.add(sensor) for sensor in sensors], state_of(bodies), 0, 0.0)
    seen = 0
    for place, sensor in enumerate(sensors):
        first = batch._fans["first"][place]
        found = batch._rays[2, first : first + sensor.n]
        assert found.tobytes() == scan(sensor, bodies).tobytes()
        seen += int((found < reach).sum())
    assert seen > 0.2 * 40 * len(sensors)


@pytest.mark.parametrize("cores", [2, 4])
def test_scans_are_the_same_on_any_number_of_cores(monkeypatch, cores):
    """Each thread casts its own fans of two copies of a world, while all bodies move."""
    bodies = crowd(360, 5)
    scene = PlaneScene()
    scene.add_polygon([(9.0, -50.0), (9.0, 50.0)])
    cells = np.zeros((40, 40), np.int8)
    cells[30, 5:30] = 100
    scene.add_grid(GridMap(cells, 1.0, GridOrigin(-20.0, -20.0)))
    for row in range(360):
        scene.add_body(row, ROBOT, copy=row % 2)
    sensors = [
        lidar(
            scene,
            body=row,
            parent=f"r{row}",
            pose=Pose(z=0.2),
            nrays=20,
            max_range=4.0 + row % 30,
            range_std_noise=0.01,
            angle_std_noise=0.02 * (row % 3),
        )
        for row in range(LEAST_FANS * 4 + 20)
    ]
    for row, sensor in enumerate(sensors):
        sensor.bind_rows(row, copy=row % 2)
    batch = LidarBatch()
    places = [batch.add(sensor) for sensor in sensors]
    trace, written = scene.trace, []

    def trace_and_look(*given):
        assert "clearance" in vars(scene.grids[0])  # before threads ask for it
        before = [array.tobytes() for array in scene._placed]
        trace(*given)
        written.append(before != [array.tobytes() for array in scene._placed])

    for tick in range(3):
        monkeypatch.setattr(scene, "trace", trace_and_look)
        bodies["x"] += 0.1
        bodies["yaw"] += 0.2
        monkeypatch.setattr(threads, "usable_cores", lambda: cores)
        found = batch.measure(places, state_of(bodies), tick, 0.0)
        assert not any(written)  # shapes were placed before: no thread waits for another's
        monkeypatch.setattr(scene, "trace", trace)
        monkeypatch.setattr(threads, "usable_cores", lambda: 1)
        for sensor, reading in zip(sensors, found, strict=True):
            alone = sensor.measure(state_of(bodies), tick, 0.0)
            assert reading.ranges.tobytes() == alone.ranges.tobytes()
            assert not reading.ranges.flags.writeable


def test_a_scene_after_a_thousand_changes_equals_a_new_one():
    rng = random.Random(2)
    bodies = crowd(80, 2)
    scene, inside = PlaneScene(), {}
    solids = [ROBOT, ROBOT[:1], ROBOT[1:], [Prism(np.array(SQUARE) * 2)]]
    for step in range(1000):
        row = rng.randrange(80)
        if row in inside:
            scene.remove_body(row)
            del inside[row]
        else:
            inside[row] = rng.choice(solids)
            scene.add_body(row, inside[row])
        if step % 50 == 0:
            scan(lidar(scene), bodies)
    rebuilt = PlaneScene()
    for row, own in inside.items():
        rebuilt.add_body(row, own)
    assert scan(lidar(scene), bodies).tobytes() == scan(lidar(rebuilt), bodies).tobytes()
    assert (scan(lidar(scene), bodies) < 30.0).any()
    for row in list(inside):
        scene.remove_body(row)
    assert (scan(lidar(scene), bodies) == 30.0).all()
    assert len(scene._local[0]) < 4 * 80 * 3  # memory of removed bodies is used again


def test_copies_of_a_world_at_one_place_do_not_see_each_other():
    scene = PlaneScene()
    scene.add_polygon([(9.0, -50.0), (9.0, 50.0)])
    poses = []
    for copy in range(200):
        poses += [(0.0, 0.0, 0.0), (2.0 + 0.01 * copy, 0.0, 0.0)]
        scene.add_body(2 * copy, ROBOT, copy)
        scene.add_body(2 * copy + 1, [Prism(SQUARE)], copy)
    bodies = body_rows(*poses)
    batch = LidarBatch()
    sensors = [
        placed(lidar(scene, name=f"l{copy}", pose=Pose(x=0.6), nrays=4), 2 * copy, copy=copy)
        for copy in range(200)
    ]
    places = [batch.add(sensor) for sensor in sensors]
    for copy, reading in enumerate(batch.measure(places, state_of(bodies), 0, 0.0)):
        assert reading.ranges[2] == pytest.approx(1.1 + 0.01 * copy)
    fixed = placed(lidar(scene, pose=Pose(x=0.6, y=0.0), nrays=4), -1, copy=7)
    assert scan(fixed, bodies)[2] == pytest.approx(1.17)
    unknown = placed(lidar(scene, pose=Pose(x=0.6), nrays=4), -1, copy=1000)
    assert scan(unknown, bodies)[2] == pytest.approx(8.4)


def test_bodies_that_are_nowhere_hide_no_other():
    bodies = crowd(100, 3)
    scene = PlaneScene()
    for row in range(100):
        scene.add_body(row, ROBOT)
    batch = LidarBatch()
    places = [batch.add(lidar(scene, body=row, nrays=64)) for row in range(20)]
    lost = [31, 57]
    expected = PlaneScene()
    for row in range(100):
        if row not in lost:
            expected.add_body(row, ROBOT)
    bodies["x"][31], bodies["y"][57] = np.nan, np.inf
    found = batch.measure(places, state_of(bodies), 0, 0.0)
    for row, reading in enumerate(found):
        alone = lidar(expected, body=row, nrays=64).measure(state_of(bodies), 0, 0.0)
        assert reading.ranges.tobytes() == alone.ranges.tobytes()
