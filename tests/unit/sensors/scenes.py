# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Small scenes, lidars without a world file, and a slow ray caster to compare with."""

import math

import numpy as np

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.sensors import Lidar2d, PlaneScene, SensorContext
from mvsim_core.specs.sensor import LaserSpec
from mvsim_core.state.arrays import BODY, DYNAMIC
from mvsim_core.world.data import Data

DT = 0.01
NO_BODIES = np.zeros(0, BODY)
#: Largest extent of a shape of `scatter` from its centre, and largest distance of the sensors of
#: tests from the origin [m]. A scene's solids are seen from outside only, by the slow caster from
#: both sides: no sensor may stand in one.
REACH, AWAY = 1.9, math.sqrt(2.0)
CLEAR = REACH + AWAY + 0.01


def state_of(bodies=NO_BODIES):
    """A state with these bodies and nothing else."""
    state = Data()
    state.insert("bodies", bodies)
    return state


NO_STATE = state_of()


def lidar(scene, *, body=-1, seed=0, parent=None, **changes):
    """A noise-free lidar of 360 rays over a full turn, unless changed."""
    keys = {
        "name": "laser1",
        "pose": Pose(),
        "fov": 2 * math.pi,
        "nrays": 360,
        "range_std_noise": 0.0,
        "angle_std_noise": 0.0,
        "min_range": 0.0,
        "max_range": 30.0,
        **changes,
    }
    return placed(Lidar2d(LaserSpec(**keys), SensorContext(scene, DT, parent=parent)), body, seed)


def placed(sensor, body=-1, seed=0, copy=0):
    """A sensor on a body, with data for a seed."""
    sensor.bind_rows(body, copy=copy)
    sensor.bind(sensor.new_data(seed))
    return sensor


def body_rows(*poses):
    """Rows of BODY at poses (x, y, yaw) or full `Pose` ones."""
    rows = np.zeros(len(poses), BODY)
    rows["kind"] = DYNAMIC
    for row, pose in zip(rows, poses, strict=True):
        full = pose if isinstance(pose, Pose) else Pose(pose[0], pose[1], yaw=pose[2])
        for name, value in full._asdict().items():
            row[name] = value
    return rows


def scan(sensor, bodies=NO_BODIES):
    """Ranges in double precision, as the kernels find them: the greatest range if none."""
    sensor.measure(state_of(bodies), 0, 0.0)
    return sensor._alone._rays[2, : sensor.n].copy()


def directions(sensor):
    """(n, 3) of the rays of a sensor without a body, as they were cast last, world frame."""
    rays = sensor._alone._rays[:, : sensor.n]
    flat = np.column_stack((rays[0], rays[1], np.zeros(sensor.n)))
    return flat @ rotation(sensor.mount).T


def hit_segments(origin, rays, corners, limit):
    """Lengths at which rays (n, 2) meet the sides of a polygon first, no faster than need be."""
    out = np.full(len(rays), float(limit))
    a = np.asarray(corners, dtype=float) - origin
    for p, q in zip(a, np.roll(a, -1, axis=0), strict=True):
        e = q - p
        with np.errstate(divide="ignore", invalid="ignore"):
            den = rays[:, 0] * e[1] - rays[:, 1] * e[0]
            t = (p[0] * e[1] - p[1] * e[0]) / den
            u = (p[0] * rays[:, 1] - p[1] * rays[:, 0]) / den
        ok = (t >= 0) & (u >= 0) & (u <= 1) & (t < out)
        out[ok] = t[ok]
    return out


def hit_circle(origin, rays, circle, limit):
    """The same for a circle (x, y, radius) from outside."""
    c = np.array(circle[:2]) - origin
    a = (rays**2).sum(axis=1)
    b = rays @ c
    under = b * b - a * (c @ c - circle[2] ** 2)
    with np.errstate(invalid="ignore"):
        t = (b - np.sqrt(under)) / a
    return np.where((under >= 0) & (t >= 0) & (t < limit), t, limit)


def hit_cells(origin, rays, grid, limit):
    """The same for a grid: every ray against the square of every occupied cell."""
    c, s = math.cos(grid.origin.yaw), math.sin(grid.origin.yaw)
    turn = np.array([[c, -s], [s, c]])
    o = (np.asarray(origin) - np.array(grid.origin[:2])) @ turn / grid.resolution
    d = rays @ turn / grid.resolution
    row, column = np.nonzero(grid.occupied)
    low = np.column_stack((column, row)).astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        t0 = (low[None] - o) / d[:, None]
        t1 = (low[None] + 1.0 - o) / d[:, None]
    enter = np.minimum(t0, t1).max(axis=2)
    leave = np.maximum(t0, t1).min(axis=2)
    t = np.where((enter <= leave) & (leave >= 0), np.maximum(enter, 0.0), np.inf)
    return np.minimum(t.min(axis=1, initial=np.inf), limit)


def scatter(scene, rng, count, extent=20.0):
    """Add random triangles, quadrangles, thin walls and circles; return them as they are.

    None of them comes nearer to the origin than sensors are put.
    """
    shapes = []
    for _ in range(count):
        center = rng.uniform(-extent, extent, 2)
        if np.hypot(*center) < CLEAR:
            continue
        kind = rng.integers(2, 6)
        if kind == 5:
            circle = (*center, rng.uniform(0.05, 1.5))
            scene.add_circle(circle[:2], circle[2])
            shapes.append(circle)
            continue
        angle = np.sort(rng.uniform(0, 2 * math.pi, kind))
        if rng.random() < 0.5:
            angle = angle[::-1]
        points = center + rng.uniform(0.1, REACH) * np.column_stack((np.cos(angle), np.sin(angle)))
        scene.add_polygon(points)
        shapes.append(points)
    return shapes


def slow_scan(shapes, origin, rays, limit):
    """The nearest of all shapes, one by one."""
    out = np.full(len(rays), float(limit))
    for shape in shapes:
        hit = hit_circle if isinstance(shape, tuple) else hit_segments
        out = np.minimum(out, hit(origin, rays, shape, limit))
    return out


def make_scene(*polygons, **keywords):
    """A scene of polygons fixed in the world."""
    scene = PlaneScene()
    for polygon in polygons:
        scene.add_polygon(polygon, **keywords)
    return scene
