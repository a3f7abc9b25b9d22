# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Timed cases of planar lidars and occupancy grids: `CASES` maps names to seconds a call."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from mvsim_core.bench.timing import best_of
from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import Lidar2d, PlaneScene, Prism, SensorContext, SensorSet
from mvsim_core.specs.sensor import LaserSpec
from mvsim_core.state.arrays import BODY, DYNAMIC
from mvsim_core.world.data import Data

CHASSIS = [(-0.4, -0.5), (0.4, -0.5), (0.6, -0.3), (0.6, 0.3), (0.4, 0.5), (-0.4, 0.5)]
WHEEL = np.array([(-0.2, -0.1), (0.2, -0.1), (0.2, 0.1), (-0.2, 0.1)])


def office(size: int, walls: int) -> GridMap:
    """Return a square map of 5 cm cells with short walls in it and a free middle."""
    rng = np.random.default_rng(0)
    cells = np.zeros((size, size), np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = 100
    for _ in range(walls):
        x, y = rng.integers(0, size - 40, 2)
        if rng.random() < 0.5:
            cells[y : y + 2, x : x + 40] = 100
        else:
            cells[y : y + 40, x : x + 2] = 100
    half = size // 2
    cells[half - 20 : half + 20, half - 20 : half + 20] = 0
    return GridMap(cells, 0.05, GridOrigin(-0.025 * size, -0.025 * size))


def clutter(scene: PlaneScene, segments: int, circles: int, extent: float) -> None:
    """Add random wall pieces of 0.3 to 3 m and posts, none of them near the origin."""
    rng = np.random.default_rng(1)
    for _ in range(segments):
        begin = rng.uniform(-0.5 * extent, 0.5 * extent, 2)
        angle, length = rng.uniform(0, 2 * math.pi), rng.uniform(0.3, 3)
        if np.hypot(*begin) > 3.2:
            end = begin + length * np.array([math.cos(angle), math.sin(angle)])
            scene.add_polygon([begin, end])
    for _ in range(circles):
        x, y = rng.uniform(-0.5 * extent, 0.5 * extent, 2)
        if math.hypot(x, y) > 1:
            scene.add_circle((x, y), rng.uniform(0.1, 0.4))


def lidar(scene: PlaneScene, rays: int, *, fov: float = 2 * math.pi, body: int = -1) -> Lidar2d:
    """Return a lidar with the usual noise and 30 m of range."""
    spec = LaserSpec(
        name="laser", nrays=rays, fov=fov, max_range=30.0, pose=Pose(x=0.013, y=0.02, z=0.2)
    )
    sensor = Lidar2d(spec, SensorContext(scene, 0.005, parent=f"r{body}"))
    sensor.bind_rows(body)
    return sensor


def one_scan(rays: int, segments: int, extent: float, grid: bool) -> float:
    """Time a whole reading of one lidar, noise included."""
    scene = PlaneScene()
    clutter(scene, segments, segments // 10, extent)
    if grid:
        scene.add_grid(office(1000, 80))
    sensor = lidar(scene, rays)
    state = Data()
    return best_of(lambda: sensor.measure(state, 0, 0.0))


def many_robots(count: int) -> float:
    """Time one tick in which the lidars (100 rays) of all robots in an office are due."""
    scene = PlaneScene()
    grid = office(1000, 80)
    scene.add_grid(grid)
    rng = np.random.default_rng(2)
    row, column = np.nonzero(grid.clearance[1:-1, 1:-1] > 14)
    chosen = rng.choice(len(row), count, replace=False)
    places = np.array([column[chosen], row[chosen]], dtype=np.float64).T + 0.5
    state = Data()
    state.insert("bodies", np.zeros(count, BODY))
    bodies = state.bodies
    bodies["kind"] = DYNAMIC
    bodies["x"], bodies["y"] = grid.to_world(
        np.multiply(places, grid.resolution, dtype=np.float64)
    ).T
    bodies["yaw"] = rng.uniform(0, 2 * math.pi, count)
    wheels = [Prism(WHEEL + np.array([0.0, y]), (0.0, 0.4)) for y in (-0.5, 0.5)]
    for body in range(count):
        scene.add_body(body, [Prism(CHASSIS, (0.05, 0.6)), *wheels])
    robots = [lidar(scene, 100, fov=math.pi, body=body) for body in range(count)]
    sensors = SensorSet()
    sensors.add(robots, 0)
    ticks = iter(range(0, 10**9, robots[0].cadence.tick(1)))
    return best_of(lambda: sensors.sample(state, next(ticks), 0.0))


def clearance() -> float:
    """Time the clearances of a map of a million cells."""
    grid = office(1000, 80)
    return best_of(lambda: GridMap(grid.cells, grid.resolution).clearance)


def rectangles() -> float:
    """Time the collision boxes of the same map."""
    grid = office(1000, 80)
    return best_of(grid.rectangles)


CASES: dict[str, Callable[[], float]] = {
    "lidar2d_360_rays_200_segments": partial(one_scan, 360, 200, 40.0, False),
    "lidar2d_1080_rays_200_segments": partial(one_scan, 1080, 200, 40.0, False),
    "lidar2d_360_rays_2000_segments": partial(one_scan, 360, 2000, 80.0, False),
    "lidar2d_1080_rays_2000_segments": partial(one_scan, 1080, 2000, 80.0, False),
    "lidar2d_360_rays_grid": partial(one_scan, 360, 0, 1.0, True),
    "lidar2d_1080_rays_grid": partial(one_scan, 1080, 0, 1.0, True),
    "lidar2d_1080_rays_2000_segments_grid": partial(one_scan, 1080, 2000, 80.0, True),
    "lidar2d_25_robots_of_100_rays": partial(many_robots, 25),
    "lidar2d_100_robots_of_100_rays": partial(many_robots, 100),
    "grid_clearance_1000x1000": clearance,
    "grid_rectangles_1000x1000": rectangles,
}
