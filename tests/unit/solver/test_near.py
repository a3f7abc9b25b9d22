# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The pairs that a step looks at: all that may meet, and few others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import shapely

from mvsim_core.solver.motion_kernels import free_kernel
from mvsim_core.solver.near import CLEAR, MARGIN, MEETING
from mvsim_core.solver.solve import find_near, find_pairs
from mvsim_core.state.arrays import DYNAMIC, STATIC, FloatArray
from tests.unit.solver.scenes import DT, Scene, box, ngon


def pairs_of(scene: Scene) -> set[tuple[int, int]]:
    """Return the shape pairs of the next step, by numbers of shapes."""
    movers = np.flatnonzero(scene.bodies["kind"] != STATIC)
    find_near(scene.bodies, movers, scene.data, DT)
    count = find_pairs(scene.bodies, movers, scene.data, DT)
    keys = scene.data.scratch.found.keys[:count]
    return {(int(key) >> 32, int(key) & 0xFFFFFFFF) for key in keys}


def outline(points: FloatArray, pose: tuple[float, float, float]) -> shapely.Polygon:
    """Return a shape in the world."""
    x, y, yaw = pose
    c, s = math.cos(yaw), math.sin(yaw)
    return shapely.Polygon(points @ np.array([[c, s], [-s, c]]) + (x, y))


@pytest.mark.parametrize("seed", range(40))
def test_no_pair_that_may_meet_is_missing(seed: int) -> None:
    """Bodies, static bodies and fixed shapes, as near as a step and the margin, from anywhere."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    placed = []  # outline, reach of its motion in a step [m], whether it stands still
    for k in range(24):
        points = ngon(int(rng.integers(3, 8)), float(rng.uniform(0.1, 1.0)))
        points = points * rng.uniform(0.2, 3.0, 2) + rng.uniform(-0.5, 0.5, 2)
        pose = (*rng.uniform(-4.0, 4.0, 2).tolist(), float(rng.uniform(-4.0, 4.0)))
        if k < 6:
            at = np.array(outline(points, pose).exterior.coords)[:-1]
            scene.fixed(at)
            placed.append((outline(points, pose), 0.0, True))
            continue
        still = k < 12
        velocity = (0.0, 0.0, 0.0) if still else (*rng.normal(0.0, 3.0, 2), rng.normal(0.0, 5.0))
        scene.body(points, pose, velocity, kind=STATIC if still else DYNAMIC)
        arm = float(np.hypot(*points.T).max())
        reach = math.hypot(velocity[0], velocity[1]) * DT + abs(velocity[2]) * DT * arm
        placed.append((outline(points, pose), reach, still))
    found = pairs_of(scene)
    for j, (b, far_b, still_b) in enumerate(placed):
        for i, (a, far_a, still_a) in enumerate(placed[:j]):
            if still_a and still_b:
                assert (i, j) not in found
            elif a.distance(b) <= far_a + far_b + MARGIN:
                assert (i, j) in found


@pytest.mark.parametrize("seed", range(40))
def test_a_step_without_pairs_is_clear(seed: int) -> None:
    """The check before the search for pairs misses none, and most often saves it."""
    rng = np.random.default_rng(seed)
    scene = Scene()
    for k in range(6):
        points = ngon(int(rng.integers(3, 8)), float(rng.uniform(0.1, 1.0)))
        pose = (*rng.uniform(-2.5, 2.5, 2).tolist(), float(rng.uniform(-4.0, 4.0)))
        if k < 2:
            scene.fixed(np.array(outline(points, pose).exterior.coords)[:-1])
            continue
        velocity = (*rng.normal(0.0, 3.0, 2), rng.normal(0.0, 5.0))
        scene.body(points, pose, velocity, kind=STATIC if k == 2 else DYNAMIC)
    pairs, movers = pairs_of(scene), np.flatnonzero(scene.bodies["kind"] != STATIC)
    scratch, before = scene.data.scratch, scene.bodies.copy()
    guards, near, count = scratch.found.guards, scratch.found.near, scratch.near_count
    result = free_kernel(scene.bodies, movers, guards, near, count, DT, False)
    assert result == (MEETING if _circles_meet(scene, movers) else CLEAR)
    assert result == MEETING or not pairs
    assert free_kernel(scene.bodies, movers, guards, near, -1, DT, True) == CLEAR  # not known
    assert scene.bodies.tobytes() == before.tobytes()


def _circles_meet(scene: Scene, movers: np.ndarray[Any, Any]) -> bool:
    """Return whether boxes about circles that hold the motion of a step overlap."""
    links, shapes = scene.data.arrays().links, scene.data.shapes.rows
    boxes = {}
    for row in movers.tolist():
        b, radius = scene.bodies[row], float(links["radius"][row])
        way = math.hypot(b["cvx"], b["cvy"]) * DT
        arm = radius + math.hypot(b["com_x"], b["com_y"])
        reach = radius + MARGIN + way + min(abs(b["wz"]) * DT, 2.0) * arm
        boxes[row] = (b["x"] - reach, b["y"] - reach, b["x"] + reach, b["y"] + reach)
    fixed = []
    for k, shape in enumerate(shapes):
        if shape["body"] not in boxes:
            box = scene.data.arrays().boxes[k]
            fixed.append(tuple(box[name] for name in ("min_x", "min_y", "max_x", "max_y")))
    moving = list(boxes.values())
    return any(
        a[0] <= b[2] and b[0] <= a[2] and a[1] <= b[3] and b[1] <= a[3]
        for i, a in enumerate(moving)
        for b in moving[:i] + fixed
    )


@pytest.mark.parametrize("askew", [0.0, 0.3, math.pi / 4, 2.0])
@pytest.mark.parametrize("owner", ["fixed", "static"])
def test_a_body_beside_a_long_wall_is_no_pair(askew: float, owner: str) -> None:
    """In whatever direction the wall runs; only within the margin, and the motion, it is one."""
    wall = box(20.0, 0.1)
    for gap, expected in ((0.5, set()), (MARGIN + 3.0 * DT - 1e-3, {(0, 1)})):
        scene = Scene()
        if owner == "fixed":
            scene.fixed(np.array(outline(wall, (1.0, 2.0, askew)).exterior.coords)[:-1])
        else:
            scene.body(wall, (1.0, 2.0, askew), kind=STATIC)
        off = 0.05 + gap + 0.3
        along = 4.0
        x = 1.0 + along * math.cos(askew) - off * math.sin(askew)
        y = 2.0 + along * math.sin(askew) + off * math.cos(askew)
        scene.body(ngon(64, 0.3), (x, y, 0.0), (3.0, 0.0, 0.0))
        assert pairs_of(scene) == expected
