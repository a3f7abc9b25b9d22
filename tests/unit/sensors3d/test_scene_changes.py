# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parts that come and go, copies of a world, wide worlds: always what a new scene would show."""

from __future__ import annotations

import gc
import time
import weakref
from functools import partial
from typing import Any

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d import (
    EVERY_COPY,
    SEE_ALL,
    Hits,
    Part,
    Rays,
    Scene3d,
    hides,
    solids,
)
from mvsim_core.scene3d.layout import REGION
from mvsim_core.scene3d.model import join
from mvsim_core.state.arrays import BODY, STATIC, WHEEL
from tests.unit.sensors3d.scenes import BACKENDS, NO_BODIES, body_rows, random_rays, scene_of

CUBE = solids.box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
FLOOR = solids.rectangle((-50.0, 50.0), (-50.0, 50.0), -3.0)
REACH = 100.0


def add(scene: Scene3d, key: Any, *parts: Part, copy: int = EVERY_COPY) -> None:
    """Add parts that need not be made."""
    scene.add(key, lambda: parts, copy)


def look(scene: Scene3d, bodies: Any, *, wheels: Any = None, copy: int = 0) -> Hits:
    """Cast many rays from the origin of the world."""
    _, ways = random_rays(4000, seed=3)
    hits = Hits.empty(len(ways), 1, parts=True)
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    rays = Rays(ways[:, None], pose, 0, len(ways), 0.0, REACH, tile=(16, 1))
    scene.cast(rays, bodies, hits, np.zeros(0, WHEEL) if wheels is None else wheels, copy)
    return hits


def crowd(count: int, *, still: float = 0.3) -> Any:
    """Bodies on a sphere about the origin, some of them static."""
    rng = np.random.default_rng(1)
    ways = rng.normal(size=(count, 3))
    ways *= rng.uniform(3.0, 20.0, (count, 1)) / np.linalg.norm(ways, axis=1, keepdims=True)
    rows = body_rows(*(Pose(*w, *rng.uniform(-3, 3, 3)) for w in ways))
    rows["kind"][rng.random(count) < still] = STATIC
    return rows


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_changed_scene_equals_a_new_one(backend: str) -> None:
    """Bytes of all readings are those of a scene that never was another."""
    bodies = crowd(24)
    models = [
        CUBE,
        solids.sphere(0.6),
        solids.cylinder(0.4, 1.0),
        solids.box((0, 0, 0), (1, 2, 3)),
    ]

    def part(row: int) -> Part:
        return Part(models[row % 4], f"b{row}", "block", row)

    scene = Scene3d(backend=backend)
    add(scene, "floor", Part(FLOOR))
    present: list[int] = []
    rng = np.random.default_rng(5)
    for _ in range(40):
        row = int(rng.integers(24))
        if row in present:
            scene.remove(row)
            present.remove(row)
        else:
            add(scene, row, part(row))
            present.append(row)
        bodies["x"][row] += 0.1  # a static one may be moved as well
        found = look(scene, bodies)
        new = scene_of(Part(FLOOR), *map(part, present), backend=backend)
        expected = look(new, bodies)
        for name in ("distance", "cosine", "brightness"):
            assert (getattr(found, name) == getattr(expected, name)).all(), name
        names = [dict(s.layout(bodies).parts()) for s in (scene, new)]
        ids = [
            [n[k].name if k != -1 else None for k in h.part.ravel()]
            for n, h in zip(names, (found, expected), strict=True)
        ]
        assert ids[0] == ids[1]


def test_models_are_shared_and_dropped_with_their_last_user() -> None:
    """Ten cubes are one model; nothing of it is left when the last one is gone."""
    bodies = body_rows(*(Pose(x=3.0 + k) for k in range(10)))
    scene = Scene3d()
    cube = solids.box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))
    for row in range(10):
        add(scene, row, Part(cube, body=row))
    look(scene, bodies)
    assert scene.model_count == 1
    gone = weakref.ref(cube)
    del cube
    for row in range(10):
        assert gone() is not None
        scene.remove(row)
    look(scene, bodies)
    gc.collect()
    assert gone() is None
    assert scene.model_count == 0


def test_tables_do_not_grow_while_parts_come_and_go() -> None:
    """Fixed models of changing sizes and instances reuse the rows of those that left."""
    scene = Scene3d()
    bodies = body_rows(*(Pose(x=4.0) for _ in range(50)))
    for row in range(40):
        add(scene, ("fixed", row), Part(solids.box((row, 5, 0), (row + 0.5, 6, 1))))
    sizes = []
    for turn in range(60):
        for row in range(turn % 7):
            add(scene, row, Part(solids.cylinder(0.3, 1.0), body=row))
        for row in range(turn % 5):
            add(scene, ("more", row), Part(solids.box((row, -6, 0), (row + 0.5, -5, 1))))
        look(scene, bodies)
        sizes.append((len(scene._pool.triangles), len(scene.layout(bodies).instances)))
        for row in range(turn % 7):
            scene.remove(row)
        for row in range(turn % 5):
            scene.remove(("more", row))
    assert sizes[-1] == sizes[35]


def changes(others: int) -> float:
    """Seconds that one coming and going takes among so many others, without the next cast."""
    scene = Scene3d()
    bodies = np.zeros(others + 1, BODY)
    bodies["kind"] = 1
    bodies["x"] = np.arange(others + 1) % 70 + 2.0
    for row in range(others):
        add(scene, row, Part(CUBE, body=row))
    look(scene, bodies)
    layout = scene.layout(bodies)
    best = np.inf
    for _ in range(20):
        start = time.process_time()
        add(scene, "new", Part(CUBE, body=others))
        for key, parts in layout._new.items():
            layout._sort_in(key, parts, bodies)
        layout._new.clear()
        scene.remove("new")
        best = min(best, time.process_time() - start)
    return best


def test_coming_and_going_does_not_depend_on_the_number_of_others() -> None:
    """Among 4,000 as among 10; the limit is far from both constant (1) and linear (400)."""
    assert changes(4000) < 8.0 * changes(10) + 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
def test_copies_do_not_see_each_other(backend: str) -> None:
    """Each copy sees what is fixed and what is its own, though all stand at one place."""
    bodies = body_rows(*(Pose(x=5.0 + 2.0 * k) for k in range(3)), *(Pose() for _ in range(3)))
    scene = Scene3d(backend=backend)
    add(scene, "wall", Part(solids.box((20, -9, -9), (21, 9, 9))))
    for copy in range(3):
        add(scene, ("block", copy), Part(CUBE, body=copy), copy=copy)
        add(scene, ("robot", copy), Part(CUBE, body=3 + copy), copy=copy)
    way = np.array([[[1.0, 0.0, 0.0]]])
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    found = []
    for copy in (2, 0, 1, 0, 3):
        hits = Hits.empty(1, 1, parts=True)
        rays = Rays(way, pose, 0, 1, 0.0, REACH, hides(3 + copy))
        scene.cast(rays, bodies, hits, copy=copy)
        found.append(hits.distance[0, 0])
    assert found == pytest.approx([8.5, 4.5, 6.5, 4.5, 20.0])
    assert scene.model_count == 2  # the cube and the wall, shared by all copies


def test_static_blocks_of_copies_share_their_fixed_model() -> None:
    """Copies with the same fixed things build one model, and part when one of them is moved."""
    bodies = body_rows(*(Pose(x=5.0) for _ in range(4)))
    bodies["kind"] = STATIC
    scene = Scene3d()
    for copy in range(4):
        add(scene, copy, Part(CUBE, body=copy), copy=copy)
        look(scene, bodies, copy=copy)
    assert scene.model_count == 1
    bodies["x"][2] = 7.0
    ray = [look(scene, bodies, copy=copy).distance.min() for copy in range(4)]
    assert scene.model_count == 2
    assert ray[0] == ray[1] == ray[3] < ray[2]


def test_arrays_may_be_replaced() -> None:
    """Nothing is kept of the arrays: those of the newest call count."""
    bodies = body_rows(Pose(x=5.0))
    wheels = np.zeros(1, WHEEL)
    scene = scene_of(Part(CUBE, body=0, wheel=0))
    near = look(scene, bodies, wheels=wheels).distance.min()
    grown, more = np.zeros(8, BODY), np.zeros(8, WHEEL)
    grown[:1], more[:1] = bodies, wheels
    grown["x"][0] = 6.0
    bodies[:], wheels[:] = 0, 0
    assert look(scene, grown, wheels=more).distance.min() == pytest.approx(near + 1.0, abs=0.01)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("with_wall", [False, True])
def test_movers_far_from_everything_fixed(backend: str, with_wall: bool) -> None:
    """UTM coordinates, nothing fixed or a wall at the origin: rays are as exact as anywhere."""
    far = np.array([553_484.37, 4_077_376.61, 12.5])
    tilted = Pose(*np.add(far, (4.0, 1.0, 0.5)), 0.3, -0.2, 1.0)
    parts = [
        Part(CUBE, body=0),
        *([Part(solids.box((9, -9, -9), (10, 9, 9)))] if with_wall else []),
    ]
    origins, ways = random_rays(20_000)
    found = scene_of(*parts, backend=backend).cast_freely(
        origins + far, ways, body_rows(tilted), REACH
    )
    near = tilted._replace(x=4.0, y=1.0, z=0.5)
    expected = scene_of(Part(CUBE, body=0), backend=backend).cast_freely(
        origins, ways, body_rows(near), REACH
    )
    both = np.isfinite(found.distance) & np.isfinite(expected.distance)
    assert (np.isfinite(found.distance) != np.isfinite(expected.distance)).sum() <= 2
    assert both.sum() > 100
    assert np.abs(found.distance[both] - expected.distance[both]).max() < 1e-6


def test_sensors_in_turn_all_over_a_wide_world() -> None:
    """Fixed and moving things 500 km apart are met by sensors beside each, in any order."""
    places = [0.0, 3.0 * REGION, 5e5]
    bodies = body_rows(*(Pose(x=p, y=4.0) for p in places))
    parts = [Part(CUBE, body=k) for k in range(3)]
    parts += [Part(CUBE.moved(np.eye(3), (p + 6.0, 0.0, 0.0))) for p in places]
    scene = scene_of(*parts)
    for k in (0, 2, 1, 2, 0):
        start = np.array([places[k], 0.0, 0.0])
        hits = scene.cast_freely([start, start], [(1, 0, 0), (0, 1, 0)], bodies, REACH)
        assert hits.distance[:, 0] == pytest.approx([5.5, 3.5], abs=1e-9)


#: All turns by multiples of 90 degrees, some at random, and some that are nearly quarters.
QUARTERS = [Pose(0, 0, 0, *(0.5 * np.pi * np.array(k))) for k in np.ndindex(4, 4, 4)]
ANY = [Pose(0, 0, 0, *v) for v in np.random.default_rng(2).uniform(-np.pi, np.pi, (40, 3))]
NEARLY = [
    Pose(0, 0, 0, *(0.5 * np.pi * rng.integers(0, 4, 3) + rng.choice([-1, 0, 1], 3) * 10.0**power))
    for rng in [np.random.default_rng(3)]
    for power in np.repeat(np.arange(-20.0, -4.0), 4)
]


def closed_rooms(backend: str) -> tuple[Scene3d, Scene3d]:
    """The same room of blocks, fixed and as a single body; with things behind its walls.

    Both have trees of several levels: a ray can be lost at each.
    """
    cells = np.arange(-8.0, 9.0, 2.0)
    blocks = [
        solids.box(np.roll((a - 1, b - 1, c - 1), axis), np.roll((a + 1, b + 1, c + 1), axis))
        for axis in range(3)
        for a in cells
        for b in cells
        for c in (-9.0, 9.0)
    ]
    behind = [Part(CUBE.moved(np.eye(3), (40.0 + 3.0 * k, 0.0, 0.0))) for k in range(20)]
    return (
        scene_of(*map(Part, blocks), *behind, backend=backend),
        scene_of(Part(join(blocks), body=0), *behind, backend=backend),
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mounts", [QUARTERS, ANY, NEARLY], ids=["quarters", "random", "nearly"])
def test_no_ray_is_lost_in_a_closed_room(backend: str, mounts: list[Pose]) -> None:
    """Whatever the mount, whatever the turn of the room: all packets of rays come back."""
    fixed, moving = closed_rooms(backend)
    # Dense about the axes: a turn by 180 degrees leaves components between -1e-18 and 0 there.
    near = np.concatenate((np.geomspace(1e-20, 1e-6, 15), np.geomspace(1e-6, 1.0, 35)))
    angle = np.add.outer(0.5 * np.pi * np.arange(4), [*-near, 0.0, *near]).ravel()
    ring = np.column_stack((np.cos(angle), np.sin(angle), np.zeros(len(angle))))
    tiny = np.repeat(
        np.column_stack((np.ones(100), [*-near, *near], -np.tile(near, 2))), 2, axis=0
    )
    tiny[1::2, 2] = 0.0
    ring = np.concatenate((ring, tiny))
    ways = np.concatenate([ring, ring[:, [2, 0, 1]], ring[:, [1, 2, 0]]])[:, None]
    for mount in mounts:
        hits = Hits.empty(len(ways), 1, parts=True)
        pose = np.append(rotation(mount).ravel(), (0.3, 0.2, 0.1))[None]
        rays = Rays(ways, pose, 0, len(ways), 0.0, REACH, tile=(16, 1))
        fixed.cast(rays, NO_BODIES, hits)
        assert (hits.distance < 20.0).all(), mount
        level = np.append(np.eye(3).ravel(), (0.3, 0.2, 0.1))[None]
        moving.cast(rays._replace(poses=level), body_rows(mount), hits)
        assert (hits.distance < 20.0).all(), mount


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_sensor_does_not_see_its_own_visual(backend: str) -> None:
    """Others do, whether it is carried or stands in the world."""
    bodies = body_rows(Pose(x=5.0))
    wall = Part(solids.box((20, -9, -9), (21, 9, 9)))
    carried = Part(CUBE, body=0, sensor="r/top")
    standing = Part(CUBE.moved(np.eye(3), (0.0, 5.0, 0.0)), sensor="post")
    scene = scene_of(wall, carried, standing, backend=backend)
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    ways = np.array([[[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]])
    expected = {"": [4.5, 4.5], "r/top": [20.0, 4.5], "post": [4.5, np.inf]}
    for own, distances in expected.items():
        hits = Hits.empty(2, 1)
        scene.cast(Rays(ways, pose, 0, 2, 0.0, REACH, own=own), bodies, hits)
        assert hits.distance[:, 0] == pytest.approx(distances)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sensors_of_many_bodies_see_all_visuals_but_their_own(backend: str) -> None:
    """With and without their bodies; also where the bits of masks do not suffice for that."""
    count = 40
    bodies = body_rows(*(Pose(x=3.0 * k) for k in range(count)))
    parts = [Part(CUBE, body=k, sensor=f"s{k}") for k in range(count)]
    parts += [Part(CUBE.moved(np.eye(3), (0.0, 0.0, 2.0)), body=k) for k in range(count)]
    parts += [Part(CUBE.moved(np.eye(3), (0.0, 0.0, 4.0)), body=k, sensor=f"t{k}") for k in (5, 9)]
    scene = scene_of(*parts, backend=backend)
    heights = np.array([0.0, 2.0, 4.0])
    ways = np.tile([1.0, 0.0, 0.0], (3, 1, 1))
    for k in (0, 5, 9, 20):
        poses = np.tile(np.append(np.eye(3).ravel(), np.zeros(3)), (3, 1))
        poses[:, 9], poses[:, 11] = 3.0 * k - 1.5, heights
        above = 1.0 if k in (5, 9) else {0: 16.0, 20: np.inf}[k]
        after = 4.0 if k < count - 1 else np.inf
        for mask, own, expected in (
            (SEE_ALL, "", (1.0, 1.0, above)),
            (SEE_ALL, f"s{k}", (after, 1.0, above)),
            (hides(k), f"s{k}", (after, after, {5: 13.0, 9: np.inf}.get(k, above))),
            (hides(k), "", (after, after, {5: 13.0, 9: np.inf}.get(k, above))),
        ):
            hits = Hits.empty(3, 1)
            scene.cast(Rays(ways, poses, 0, 3, 0.0, REACH, mask, own=own), bodies, hits)
            assert hits.distance[:, 0] == pytest.approx(expected), (k, own)


def test_rays_on_several_threads_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows and poses of their own included; a scan has more rows than whole tiles."""
    from mvsim_core.scene3d import embree

    scene = scene_of(Part(solids.box((-8, -7, -2), (8, 7, 2))), Part(CUBE, body=0))
    _, ways = random_rays(601 * 8)
    poses = np.tile(np.append(np.eye(3).ravel(), np.zeros(3)), (570, 1))
    poses[:, 9] = np.linspace(-1.0, 1.0, 570)
    rays = Rays(ways.reshape(601, 8, 3), poses, 20, 570, 0.0, REACH, tile=(4, 4))
    found = []
    for least in (10**9, 1000):
        monkeypatch.setattr(embree, "LEAST_RAYS", least)
        hits = Hits.empty(601, 8)
        scene.cast(rays, body_rows(Pose(x=5.0)), hits)
        found.append(b"".join(a.tobytes() for a in vars(hits).values()))
    assert len(embree.split(rays, 4)) == 4
    assert found[0] == found[1]


@pytest.mark.parametrize("backend", BACKENDS)
def test_rays_pass_glass_if_they_shall(backend: str) -> None:
    """Two panes before a wall: rays stop at the first, or go through both."""
    pane = partial(solids.box, material=solids.GREY._replace(color=(1.0, 0.0, 0.0, 0.25)))
    frosted = solids.GREY._replace(color=(1.0, 1.0, 1.0, 0.5))
    parts = [
        Part(pane((3, -1, -1), (3.1, 1, 1))),
        Part(pane((-0.1, -1, -1), (0.1, 1, 1)), body=0),
        Part(solids.box((9, -9, -9), (10, 9, 0), frosted)),
    ]
    scene = scene_of(*parts, backend=backend)
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    ways = np.array([[[1.0, 0.0, -0.01]], [[1.0, 0.0, 0.5]]])
    for passing, distances in ((False, [3.0, np.inf]), (True, [9.0, np.inf])):
        hits = Hits.empty(2, 1)
        rays = Rays(ways, pose, 0, 2, 0.0, REACH, pass_glass=passing)
        scene.cast(rays, body_rows(Pose(x=5.0)), hits)
        assert hits.distance[:, 0] == pytest.approx(distances)
