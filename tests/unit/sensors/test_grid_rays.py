# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Planar rays through occupancy grids: exact to the cell face, and no gap lets one through."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import PlaneScene
from tests.unit.sensors.scenes import NO_STATE, directions, hit_cells, lidar, scan


def grid_scene(occupied, resolution=0.1, origin=GridOrigin()):  # noqa: B008 - a constant
    grid = GridMap(np.where(occupied, 100, 0).astype(np.int8), resolution, origin)
    scene = PlaneScene()
    scene.add_grid(grid)
    return scene, grid


@given(
    seed=st.integers(0, 10**6),
    density=st.sampled_from([0.002, 0.02, 0.2]),
    yaw=st.floats(-4, 4),
    where=st.tuples(st.floats(-1, 5), st.floats(-1, 5)),
    roll=st.sampled_from([0.0, math.pi, 0.5]),
)
@settings(deadline=None, max_examples=60)
def test_ranges_end_at_the_faces_of_cells(seed, density, yaw, where, roll):
    occupied = np.random.default_rng(seed).random((37, 41)) < density
    scene, grid = grid_scene(occupied, origin=GridOrigin(0.3, -0.2, yaw))
    turn = complex(where[0] - 0.3, where[1] + 0.2) * np.exp(-1j * yaw) / 0.1
    assume(all(abs(c - round(c)) > 1e-6 for c in (turn.real, turn.imag)))  # not on a face
    sensor = lidar(scene, nrays=181, max_range=7.0, pose=Pose(x=where[0], y=where[1], roll=roll))
    found = scan(sensor)
    expected = hit_cells(where, directions(sensor)[:, :2], grid, 7.0)
    # A ray that touches the corner of a cell may count it or not: that is a matter of luck.
    close = np.isclose(found, expected, atol=1e-9, rtol=0)
    assert close.sum() >= 180


def ring_of_corners(n):
    """A closed line of cells that touch at their corners only."""
    occupied = np.zeros((2 * n + 1, 2 * n + 1), np.bool_)
    k = np.arange(n + 1)
    occupied[k, n - k] = occupied[k, n + k] = True
    occupied[2 * n - k, n - k] = occupied[2 * n - k, n + k] = True
    return occupied


@pytest.mark.parametrize("resolution", [0.05, 0.1, 0.07])
def test_no_ray_leaks_through_cells_that_touch_at_corners(resolution):
    n = 40
    middle = (n + 0.5) * resolution
    scene, _ = grid_scene(ring_of_corners(n), resolution, GridOrigin(0.1, 0.7, 0.3))
    c, s = math.cos(0.3), math.sin(0.3)
    center = (0.1 + c * middle - s * middle, 0.7 + s * middle + c * middle)
    far = 2 * n * resolution
    rng = np.random.default_rng(1)
    for _ in range(20):
        x, y = center + rng.uniform(-0.3, 0.3, 2) * n * resolution
        sensor = lidar(scene, nrays=5000, pose=Pose(x=x, y=y, yaw=rng.uniform(0, 6)))
        assert (scan(sensor) < far).all()


def test_rays_aimed_exactly_at_corners_do_not_leak():
    n = 16
    scene, grid = grid_scene(ring_of_corners(n), 0.25)
    size = grid.width
    # Dyadic numbers: origins on corners, rays through corners, nothing is rounded.
    for dx in range(-6, 7):
        for dy in range(-6, 7):
            if (dx, dy) == (0, 0):
                continue
            pose = Pose(x=0.25 * (n + 0), y=0.25 * (n + 1), yaw=math.atan2(dy, dx))
            sensor = lidar(scene, nrays=3, fov=math.pi, pose=pose)  # right, ahead, left
            assert (scan(sensor) < 0.25 * size).all()


def test_hundred_thousand_random_rays_among_corners():
    rng = np.random.default_rng(9)
    occupied = rng.random((60, 60)) < 0.3
    occupied[0] = occupied[-1] = occupied[:, 0] = occupied[:, -1] = True
    free_row, free_column = np.nonzero(~occupied)
    scene, grid = grid_scene(occupied)
    rays = 0
    while rays < 100_000:
        k = rng.integers(len(free_row))
        x, y = 0.1 * (free_column[k] + rng.random()), 0.1 * (free_row[k] + rng.random())
        sensor = lidar(scene, nrays=1000, pose=Pose(x=x, y=y, yaw=rng.uniform(0, 6)))
        found = scan(sensor)
        assert (found < 30.0).all()
        if rays < 5000:  # the slow caster is slow
            expected = hit_cells((x, y), directions(sensor)[:, :2], grid, 30.0)
            assert found == pytest.approx(expected, abs=1e-9)
        rays += 1000


def test_rays_along_cell_faces():
    occupied = np.zeros((10, 10), np.bool_)
    occupied[:, 9] = True
    scene, _ = grid_scene(occupied, 0.5)
    for y in (1.0, 1.25, 1.5):
        sensor = lidar(scene, nrays=4, pose=Pose(x=1.0, y=y))
        ranges = scan(sensor)
        assert ranges[2] == pytest.approx(3.5, abs=1e-12)
        assert ranges[0] == 30.0


def test_from_outside_the_map():
    occupied = np.zeros((4, 4), np.bool_)
    occupied[:, 0] = True
    scene, _ = grid_scene(occupied, 0.5)
    assert scan(lidar(scene, nrays=4, pose=Pose(x=-3.0, y=1.1)))[2] == pytest.approx(3.0)
    assert scan(lidar(scene, nrays=4, pose=Pose(x=9.0, y=1.1)))[0] == pytest.approx(8.5)
    assert (scan(lidar(scene, nrays=4, pose=Pose(x=-3.0, y=5.1))) == 30.0).all()


def test_in_an_occupied_cell_everything_is_too_near():
    scene, _ = grid_scene(np.ones((4, 4), np.bool_), 0.5)
    sensor = lidar(scene, pose=Pose(x=1.0, y=1.0), min_range=0.1)
    assert (scan(sensor) == 0.0).all()
    assert (sensor.measure(NO_STATE, 0, 0.0).ranges == -np.inf).all()


def test_unknown_cells_do_not_stop_rays():
    cells = np.full((10, 10), -1, np.int8)
    cells[:, 9] = 100
    scene = PlaneScene()
    scene.add_grid(GridMap(cells, 0.5))
    assert scan(lidar(scene, nrays=4, pose=Pose(x=1.0, y=1.1)))[2] == pytest.approx(3.5)


def test_grids_and_shapes_hide_one_another():
    occupied = np.zeros((10, 10), np.bool_)
    occupied[:, 5] = True
    scene, _ = grid_scene(occupied, 1.0, GridOrigin(0.0, -5.0))
    far = np.zeros((10, 10), np.bool_)
    far[:, 0] = True
    scene.add_grid(GridMap(np.where(far, 100, 0).astype(np.int8), 1.0, GridOrigin(12.0, -5.0)))
    sensor = lidar(scene, nrays=4)
    assert scan(sensor)[2] == pytest.approx(5.0)
    scene.add_circle((3.0, 0.0), 0.5)
    assert scan(sensor)[2] == pytest.approx(2.5)
    assert scan(lidar(scene, nrays=4, pose=Pose(x=7.0)))[2] == pytest.approx(5.0)


def test_big_jumps_are_exact_too():
    occupied = np.zeros((2000, 2000), np.bool_)
    occupied[:, 1999] = True
    scene, _ = grid_scene(occupied, 0.05, GridOrigin(-50.0, -50.0))
    sensor = lidar(scene, fov=1.0, nrays=101, max_range=80.0)
    assert scan(sensor) == pytest.approx(49.95 / np.cos(sensor.angles), abs=1e-9)
