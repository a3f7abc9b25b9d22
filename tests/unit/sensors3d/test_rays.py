# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Both ray casters against formulas: how exact they are, and that nothing leaks."""

import math
import warnings

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin
from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.scene3d import (
    SEE_ALL,
    SEE_FIXED_ONLY,
    Hits,
    Model,
    Part,
    Rays,
    hides,
    solids,
)
from mvsim_core.scene3d.caster import make_caster
from mvsim_core.scene3d.embree import WIDER, WIDER_SHARE, widened
from mvsim_core.scene3d.tables import CODE_WEIGHT, FIXED_BIT, body_code
from mvsim_core.state.arrays import STATIC, WHEEL
from mvsim_core.terrain.surface import map_height, map_of
from tests.unit.sensors3d.scenes import (
    BACKENDS,
    NO_BODIES,
    body_rows,
    random_rays,
    room,
    scene,
    scene_of,
)

COUNT = 100_000
REACH = 100.0
EXACT = 1e-4  # m: what a lidar must reach; the rays below do much better


def slabs(origins, ways, low, high):
    """Where rays enter a box from outside, or leave it from inside; inf: never."""
    with np.errstate(divide="ignore"):
        a, b = (low - origins) / ways, (high - origins) / ways
    first, last = np.minimum(a, b).max(axis=1), np.maximum(a, b).min(axis=1)
    return np.where(
        first > last, np.inf, np.where(first >= 0, first, np.where(last >= 0, last, np.inf))
    )


def compare(hits, expected, limit=EXACT, doubtful=0):
    """Distances agree, and so does who hits at all (but for rays along an edge)."""
    found = np.where(hits.distance[:, 0] < REACH, hits.distance[:, 0], np.inf)
    expected = np.where(expected < REACH, expected, np.inf)
    differ = np.isfinite(found) != np.isfinite(expected)
    assert differ.sum() <= doubtful
    both = np.isfinite(found) & np.isfinite(expected)
    assert np.abs(found[both] - expected[both]).max() < limit


@pytest.mark.parametrize("backend", BACKENDS)
def test_plane(backend):
    ground = solids.rectangle((-200, 200), (-200, 200), 0.0)
    origins, ways = random_rays(COUNT, around=(3.0, -5.0, 2.0))
    hits = scene(ground, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    with np.errstate(divide="ignore"):
        t = -origins[:, 2] / ways[:, 2]
    # Grazing rays included: in single precision the worst is off by some centimetres.
    compare(hits, np.where(t >= 0, t, np.inf), 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_box_from_outside_and_inside(backend):
    low, high = np.array([4.0, -3.0, -1.5]), np.array([45.0, 3.0, 1.5])
    model = scene(solids.box(low, high), backend=backend)
    for around in ((0.0, 0.0, 0.0), (20.0, 0.0, 0.0)):
        origins, ways = random_rays(COUNT, around=around)
        hits = model.cast_freely(origins, ways, NO_BODIES, REACH)
        compare(hits, slabs(origins, ways, low, high), 1e-6, doubtful=3)


def chord(from_middle, ways, radius):
    """Where lines enter and leave what is `radius` around the origin of 2 or 3 axes."""
    a, b = (ways**2).sum(1), (from_middle * ways).sum(1)
    root = b * b - a * ((from_middle**2).sum(1) - radius**2)
    with np.errstate(invalid="ignore"):
        half = np.sqrt(root)
    first = np.where(root >= 0, (-b - half) / a, np.inf)
    return first, np.where(root >= 0, (-b + half) / a, -np.inf)


def ahead(first, last):
    """Where rays meet the surface of something that their lines are in from first to last."""
    met = np.where(first >= 0, first, last)
    return np.where((first <= last) & (met >= 0), met, np.inf)


def through_ball(origins, ways, middle, radius):
    """Where rays enter a ball, or leave it from inside."""
    return ahead(*chord(origins - middle, ways, radius))


def through_column(origins, ways, middle, radius, half):
    """Where rays enter an upright cylinder, or leave it from inside."""
    away = origins - middle
    first, last = chord(away[:, :2], ways[:, :2], radius)
    one, other = (-half - away[:, 2]) / ways[:, 2], (half - away[:, 2]) / ways[:, 2]
    return ahead(
        np.maximum(first, np.minimum(one, other)), np.minimum(last, np.maximum(one, other))
    )


PLACES = [(0.0, 0.0, 0.0), (6.0, 0.0, 0.5), (-60.0, 40.0, 15.0), (6.0, 1.5, 0.0)]


@pytest.mark.parametrize("around", PLACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_balls_are_exact(backend, around):
    """Rays from outside, from far, from inside, and those that start or pass within its hull."""
    middle = np.array([6.0, 0.0, 0.0])
    ball = solids.sphere(1.5).moved(np.eye(3), middle)
    origins, ways = random_rays(COUNT, around=around)
    hits = scene(ball, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    compare(hits, through_ball(origins, ways, middle, 1.5), 1e-6)


@pytest.mark.parametrize("around", PLACES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_cylinders_are_exact(backend, around):
    middle = np.array([6.0, 0.0, 0.0])
    column = solids.cylinder(1.2, 3.0).moved(np.eye(3), middle - [0.0, 0.0, 1.5])
    origins, ways = random_rays(COUNT, around=around)
    hits = scene(column, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    compare(hits, through_column(origins, ways, middle, 1.2, 1.5), 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_hides_in_the_hull_of_what_is_round(backend):
    """Balls and columns sunk into the ground and into each other: always the nearest counts."""
    middle, other = np.array([6.0, 0.0, 0.3]), np.array([7.0, 0.4, 0.0])
    things = [
        solids.rectangle((-200, 200), (-200, 200), 0.0),
        solids.sphere(1.5).moved(np.eye(3), middle),
        solids.cylinder(1.4, 4.0).moved(np.eye(3), other - [0.0, 0.0, 2.0]),
    ]
    origins, ways = random_rays(COUNT, around=(0.0, 0.0, 2.0))
    hits = scene(*things, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    ground = np.where(ways[:, 2] < 0, -origins[:, 2] / ways[:, 2], np.inf)
    wanted = [
        ground,
        through_ball(origins, ways, middle, 1.5),
        through_column(origins, ways, other, 1.4, 2.0),
    ]
    compare(hits, np.min(wanted, axis=0), 1e-5)
    nearest = np.argmin(wanted, axis=0)
    # Fixed parts are counted down from -2.
    agree = hits.part[:, 0] == np.where(np.min(wanted, axis=0) < REACH, -2 - nearest, -1)
    assert (~agree).sum() <= 3


@pytest.mark.parametrize("backend", BACKENDS)
def test_round_things_turn_and_stay_round(backend):
    """A wheel is the same cylinder whatever its spin; it is cast in the frame of its body."""
    middle, radius, width = np.array([5.0, -0.5, 0.4]), 0.4, 0.2
    origins, ways = random_rays(COUNT, around=(3.0, 0.0, 0.5))
    turned = rotation(Pose(0.0, 0.0, 0.0, 0.3, 1.1, -0.4))
    wheel = solids.wheel(radius, width).moved(turned, middle)
    hits = scene(wheel, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    to_wheel = np.array([(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, -1.0, 0.0)]) @ turned.T
    local, along = (origins - middle) @ to_wheel.T, ways @ to_wheel.T
    compare(hits, through_column(local, along, np.zeros(3), radius, 0.5 * width), 1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_height_field_is_the_ground_that_vehicles_stand_on(backend):
    heights = np.random.default_rng(3).uniform(0.0, 3.0, (80, 60))
    row, samples = map_of(heights, 0.5, (-20.0, -15.0))
    field = solids.height_field(heights, 0.5, (-20.0, -15.0))
    rng = np.random.default_rng(4)
    places = np.column_stack((rng.uniform(-20, 19.5, 5000), rng.uniform(-15, 14.5, 5000)))
    origins = np.column_stack((places, np.full(5000, 50.0)))
    down = np.tile([0.0, 0.0, -1.0], (5000, 1))
    hits = scene(field, backend=backend).cast_freely(origins, down, NO_BODIES, REACH)
    expected = [50.0 - map_height(row[0], samples, x, y) for x, y in places]
    off = np.abs(hits.distance[:, 0] - expected)
    assert off.max() < EXACT  # beside an edge, which Embree's triangles reach beyond
    assert (off > 1e-6).mean() < 0.002


def grid_room():
    """A room of cells with pillars that touch at corners only, turned by 0.3 rad."""
    cells = np.zeros((40, 40), np.int8)
    cells[[0, -1]] = cells[:, [0, -1]] = 100
    for k in range(5, 12):
        cells[k, k] = cells[k + 20, 35 - k] = 100
    return GridMap(cells, 0.5, GridOrigin(-8.0, -9.0, 0.3))


@pytest.mark.parametrize("backend", BACKENDS)
def test_grid_walls_do_not_leak(backend):
    walls = solids.grid_walls(grid_room(), -100.0, 100.0)
    middle = grid_room().to_world(np.array([[10.0, 10.0]]))[0]
    origins, ways = random_rays(COUNT, around=(*middle, 0.0))
    ways = np.column_stack((ways[:, :2], 0.2 * ways[:, 2]))
    ways /= np.linalg.norm(ways[:, :2], axis=1, keepdims=True)
    ways = ways[np.abs(ways[:, 2]) < 2.0]
    origins = origins[: len(ways)]
    hits = scene(walls, backend=backend).cast_freely(origins, ways, NO_BODIES, REACH)
    assert np.isfinite(hits.distance).all()


@pytest.mark.parametrize("backend", BACKENDS)
def test_rays_at_edges_and_corners_do_not_leak(backend):
    hull = solids.sphere(5.0, sides=40)
    ball = Model(hull.vertices, hull.triangles)  # triangles and nothing round
    rng = np.random.default_rng(5)
    corners = ball.vertices[ball.triangles]
    share = rng.uniform(size=(len(corners), 1))
    edges = corners[:, 0] * share + corners[:, 1] * (1 - share)
    targets = np.vstack([ball.vertices, edges])
    start = np.array([0.3, -0.2, 0.1])
    ways = targets - start
    hits = scene(ball, backend=backend).cast_freely(start, ways, NO_BODIES, REACH)
    assert np.abs(hits.distance - 1.0).max() < 1e-5


def bumpy_ground(half, cells, rng):
    """Triangles of a ground of random heights, (n, 3) corners and (m, 3) indices."""
    grid = np.linspace(-half, half, cells + 1)
    x, y = np.meshgrid(grid, grid, indexing="ij")
    z = rng.uniform(-0.5, 0.5, x.shape) * half / cells
    k = np.arange(x.size).reshape(x.shape)
    a, b, c, d = (part.ravel() for part in (k[:-1, :-1], k[1:, :-1], k[:-1, 1:], k[1:, 1:]))
    triangles = np.vstack([np.stack([a, b, c], -1), np.stack([b, d, c], -1)])
    return np.stack([x, y, z], -1).reshape(-1, 3), triangles


@pytest.mark.parametrize(("half", "away"), [(2.0, 6.0), (2.0, 100.0), (2.0, 400.0), (20.0, 60.0)])
@pytest.mark.parametrize("backend", BACKENDS)
def test_rays_at_the_edges_of_a_mesh_far_away_do_not_leak(backend, half, away):
    rng = np.random.default_rng(11)
    vertices, triangles = bumpy_ground(half, 20, rng)
    corners = vertices[triangles]
    corners = corners[(np.abs(corners[:, :, :2]) < 0.98 * half).all(axis=(1, 2))]
    share = rng.uniform(size=(60, len(corners), 1))
    edges = corners[:, 0] * share + corners[:, 1] * (1 - share)
    targets = np.vstack([corners.reshape(-1, 3), edges.reshape(-1, 3)])
    start = away * np.array([0.3, -0.2, 1.0]) + rng.uniform(-0.3, 0.3, targets.shape)
    ground = scene(Model(vertices, triangles), backend=backend)
    hits = ground.cast_freely(start, targets - start, NO_BODIES, REACH)
    assert np.abs(hits.distance - 1.0).max() < 1e-5


def test_no_edge_is_moved_far():
    rng = np.random.default_rng(12)
    corners = rng.normal(size=(5000, 3, 3))
    corners[:1000, 2] = corners[:1000, 0] + rng.normal(scale=1e-4, size=(1000, 3))  # tips
    corners[1000:1010, 1] = corners[1000:1010, 0]  # no triangles at all
    margin = WIDER + WIDER_SHARE * np.abs(corners).max()
    moved = np.linalg.norm(widened(corners) - corners, axis=2)
    assert moved.max() < 4.001 * margin
    assert moved[1010:].min() > 0.999 * margin


def test_casters_agree():
    rng = np.random.default_rng(6)
    ground = solids.rectangle((-100, 100), (-100, 100), 0.0)
    boxes = [solids.box((x, y, 0), (x + 1, y + 2, 2)) for x, y in rng.uniform(-40, 40, (200, 2))]
    ball, bodies = (
        solids.sphere(1.0, sides=16),
        body_rows(Pose(6, 2, 1, 0.1, 0.2, 0.3), Pose(-4, 3, 1, yaw=2.0)),
    )
    parts = [*(Part(m) for m in (ground, *boxes)), *(Part(ball, body=k) for k in range(2))]
    origins, ways = random_rays(COUNT, around=(0.0, 0.0, 1.5))
    one, other = (
        scene_of(*parts, backend=b).cast_freely(origins, ways, bodies, REACH) for b in BACKENDS
    )
    apart = np.abs(
        np.nan_to_num(one.distance, posinf=1e6) - np.nan_to_num(other.distance, posinf=1e6)
    )
    assert (apart > 1e-6).sum() <= 2  # rays along an edge may end on either side of it
    same = apart < 1e-6
    assert (one.part == other.part)[same].mean() > 0.999
    assert np.allclose(one.cosine[same], other.cosine[same], atol=1e-2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_world_far_from_the_origin(backend):
    shift = np.array([480_000.0, 4_070_000.0, 300.0])  # as UTM coordinates are
    walls = solids.box((-8, -6, -2), (8, 6, 2))
    body = body_rows(Pose(*(shift + np.array([3.0, 0.5, 0.0]))))
    parts = [Part(walls.moved(np.eye(3), shift)), Part(solids.sphere(0.5, sides=8), body=0)]
    origins, ways = random_rays(20_000)
    far = scene_of(*parts, backend=backend).cast_freely(origins + shift, ways, body, REACH)
    near_body = body_rows(Pose(3.0, 0.5))
    near_parts = [Part(walls), parts[1]]
    near = scene_of(*near_parts, backend=backend).cast_freely(origins, ways, near_body, REACH)
    assert (np.abs(far.distance - near.distance) > 1e-6).sum() <= 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_bodies_and_wheels_are_where_their_rows_say(backend):
    bodies = body_rows(Pose(5.0, 0.0, 1.0, yaw=math.pi / 2))
    wheels = np.zeros(1, WHEEL)
    wheels["x"], wheels["y"], wheels["radius"] = 2.0, 0.5, 0.3
    cube = solids.box((-0.1, -0.1, -0.1), (0.1, 0.1, 0.1))
    world = scene_of(Part(cube, body=0, wheel=0), backend=backend)

    def above(x, y):
        return world.cast_freely([[x, y, 9.0]], [[0, 0, -1.0]], bodies, REACH, wheels).distance[
            0, 0
        ]

    assert above(4.5, 2.0) == pytest.approx(9.0 - 1.3 - 0.1)
    bodies["x"] += 1.0
    assert above(4.5, 2.0) == math.inf
    assert above(5.5, 2.0) == pytest.approx(7.6)
    wheels["phi"] = math.pi / 4
    assert above(5.5, 2.0) == pytest.approx(9.0 - 1.3 - 0.1 * math.sqrt(2.0))


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_fixed_body_that_was_moved_is_found_again(backend):
    bodies = body_rows(Pose(5.0))
    bodies["kind"] = STATIC
    cube = solids.box((-1, -1, -1), (1, 1, 1))
    world = scene_of(Part(cube, body=0), backend=backend)
    ray = ([[0.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]], bodies, REACH)
    assert world.cast_freely(*ray).distance[0, 0] == pytest.approx(4.0)
    bodies["x"] = 8.0
    assert world.cast_freely(*ray).distance[0, 0] == pytest.approx(7.0)


def test_codes_hide_one_body_and_no_other():
    codes = [body_code(k) for k in range(2000)]
    assert len(set(codes)) == len(codes)
    assert all(code.bit_count() == CODE_WEIGHT and code < 1 << FIXED_BIT for code in codes)
    for k in (0, 1, 17, 1999):
        assert [i for i, code in enumerate(codes) if not code & hides(k)] == [k]


@pytest.mark.parametrize("backend", BACKENDS)
def test_masks(backend):
    bodies = body_rows(*(Pose(x) for x in (3.0, 6.0, 9.0)))
    cube = solids.box((-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    parts = [*(Part(cube, body=k) for k in range(3)), Part(solids.box((20, -9, -9), (21, 9, 9)))]
    world = scene_of(*parts, backend=backend)
    way = np.array([[[1.0, 0.0, 0.0]]])
    pose = np.append(np.eye(3).ravel(), np.zeros(3))[None]
    expected = {SEE_ALL: 2.5, hides(0): 5.5, hides(1): 2.5, SEE_FIXED_ONLY: 20.0}
    for mask, distance in expected.items():
        hits = Hits.empty(1, 1, parts=True)
        world.cast(Rays(way, pose, 0, 1, 0.0, REACH, mask), bodies, hits)
        assert hits.distance[0, 0] == pytest.approx(distance)


def test_tilted_instances_are_exact():
    pose = Pose(4.0, -1.0, 2.0, 0.4, -0.3, 1.1)
    half = np.array([1.0, 2.0, 0.5])
    world = scene_of(Part(solids.box(-half, half), body=0))
    origins, ways = random_rays(COUNT)
    turn = rotation(pose)
    hits = world.cast_freely(origins, ways, body_rows(pose), REACH)
    compare(hits, slabs((origins - pose[:3]) @ turn, ways @ turn, -half, half), 1e-6, doubtful=5)


def test_without_embree_the_tree_takes_over(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mvsim_core.scene3d.embree", None)
    with pytest.warns(UserWarning, match="pip install embreex"):
        caster = make_caster()
    assert type(caster).__name__ == "BvhCaster"


def test_an_empty_scene_is_no_reason_to_fail():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for backend in BACKENDS:
            hits = scene(backend=backend).cast_freely([[0, 0, 0]], [[1, 0, 0]], NO_BODIES, REACH)
            assert hits.distance[0, 0] == math.inf
            assert hits.part[0, 0] == -1


def test_a_point_cloud_of_a_world_is_seen(tmp_path):
    (tmp_path / "points.txt").write_text("3 0 0.5\n3 1 0.5\n")
    cloud = (
        f'<element class="pointcloud"><file_txt_3d>{tmp_path}/points.txt</file_txt_3d>'
        "<pose_3d>1 0 0 0 0 0</pose_3d></element>"
    )
    world = load_world(text=room(extra=cloud))
    ray = ([[0.0, 0.0, 0.5]], [[1.0, 0.0, 0.0]], world.bodies, REACH)
    scene3d = world._runtime.scene3d
    assert scene3d.cast_freely(*ray).distance[0, 0] == pytest.approx(4.0, abs=0.011)
    (tmp_path / "points.txt").write_text("these are no numbers\n")
    blind = load_world(text=room('<sensor class="lidar3d" name="l"/>', extra=cloud))
    assert any("points.txt" in str(w) for w in blind.warnings)
