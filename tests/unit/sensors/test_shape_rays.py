# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Planar rays among polygons and circles: exactness, visibility, mounts."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mvsim_core.elements.occupancy_grid import GridMap
from mvsim_core.geometry.poses import Pose
from mvsim_core.sensors import Cylinder, PlaneScene, Prism
from mvsim_core.state.arrays import STATIC
from tests.unit.sensors.scenes import (
    body_rows,
    directions,
    lidar,
    make_scene,
    scan,
    scatter,
    slow_scan,
)

SQUARE = [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)]
EXACT = 1e-9


def square_at(x, y):
    return np.array(SQUARE) + np.array([x, y])


def test_a_wall_seen_from_its_front_is_a_secant():
    scene = make_scene([(4.0, -100.0), (4.0, 100.0)])
    sensor = lidar(scene, fov=math.pi / 2, nrays=91)
    assert scan(sensor) == pytest.approx(4.0 / np.cos(sensor.angles), abs=EXACT)


def test_a_thin_wall_is_seen_from_both_sides():
    scene = make_scene([(4.0, -100.0), (4.0, 100.0)])
    sensor = lidar(scene, fov=math.pi / 2, nrays=91, pose=Pose(x=10.0, yaw=math.pi))
    assert scan(sensor) == pytest.approx(6.0 / np.cos(sensor.angles), abs=EXACT)


def test_a_circle():
    scene = PlaneScene()
    scene.add_circle((5.0, 0.0), 1.0)
    sensor = lidar(scene, nrays=3600)
    angle = sensor.angles
    with np.errstate(invalid="ignore"):
        t = 5 * np.cos(angle) - np.sqrt(1 - (5 * np.sin(angle)) ** 2)
    hit = (np.abs(np.sin(angle)) <= 0.2) & (np.cos(angle) > 0)
    assert scan(sensor) == pytest.approx(np.where(hit, t, 30.0), abs=1e-7)


mounts = st.builds(
    Pose,
    x=st.floats(-1, 1),
    y=st.floats(-1, 1),
    z=st.just(0.0),  # Hypothesis would make up others, also NaN
    yaw=st.floats(-7, 7),
    roll=st.sampled_from([0.0, math.pi, 0.3, -2.9]),
    pitch=st.sampled_from([0.0, 0.4, -0.2]),
)


@given(seed=st.integers(0, 10**6), mount=mounts, fov=st.floats(0.1, 6.29), n=st.integers(2, 400))
@settings(deadline=None, max_examples=150)
def test_any_mount_among_random_shapes_agrees_with_a_slow_caster(seed, mount, fov, n):
    scene = PlaneScene()
    shapes = scatter(scene, np.random.default_rng(seed), 60)
    sensor = lidar(scene, pose=mount, fov=min(fov, 2 * math.pi), nrays=n, max_range=15.0)
    found = scan(sensor)
    rays = directions(sensor)[:, :2]
    assert found == pytest.approx(slow_scan(shapes, mount[:2], rays, 15.0), abs=1e-7)


@pytest.mark.parametrize("sigma_deg", [0.05, 1.0, 20.0])
def test_rays_with_errors_of_angle_are_cast_where_they_point(sigma_deg):
    scene = PlaneScene()
    shapes = scatter(scene, np.random.default_rng(8), 80)
    sensor = lidar(scene, angle_std_noise=math.radians(sigma_deg), fov=5.0, nrays=700)
    found = scan(sensor)
    rays = directions(sensor)[:, :2]
    assert np.hypot(*rays.T) == pytest.approx(1.0)
    error = np.angle(np.exp(1j * (np.arctan2(rays[:, 1], rays[:, 0]) - sensor.angles)))
    assert np.std(error) == pytest.approx(math.radians(sigma_deg), rel=0.1)
    assert found == pytest.approx(slow_scan(shapes, (0, 0), rays, 30.0), abs=1e-7)


@given(
    seed=st.integers(0, 10**6),
    turn=st.floats(-math.pi, math.pi),
    shift=st.tuples(st.floats(-1e5, 1e5), st.floats(-1e5, 1e5)),
)
@settings(deadline=None, max_examples=50)
def test_turning_and_shifting_everything_changes_nothing(seed, turn, shift):
    c, s = math.cos(turn), math.sin(turn)
    plain, moved = PlaneScene(), PlaneScene()
    for shape in scatter(plain, np.random.default_rng(seed), 40):
        points = np.array([shape[:2]]) if isinstance(shape, tuple) else shape
        there = points @ np.array([[c, s], [-s, c]]) + shift
        if isinstance(shape, tuple):
            moved.add_circle((there[0, 0], there[0, 1]), shape[2])
        else:
            moved.add_polygon(there)
    pose = Pose(x=shift[0], y=shift[1], yaw=turn)
    # An edge exactly at a ray may be met or missed: compare all but the odd ray.
    same = np.isclose(scan(lidar(plain)), scan(lidar(moved, pose=pose)), atol=1e-6, rtol=0)
    assert same.sum() >= 359


def test_no_ray_slips_between_neighbouring_edges():
    rng = np.random.default_rng(4)
    angle = np.sort(rng.uniform(-math.pi, math.pi, 3000))
    angle[:1000] = -math.pi + 2 * math.pi / 3600 * np.arange(1000)  # corners exactly at rays
    angle.sort()
    radius = rng.uniform(3, 9, angle.size)
    ring = radius[:, None] * np.column_stack((np.cos(angle), np.sin(angle)))
    scene = PlaneScene()
    for p, q in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        scene.add_polygon([p, q])
    for n in (360, 3600, 99999):
        assert (scan(lidar(scene, nrays=n)) < 10.0).all()
    for yaw in rng.uniform(-3, 3, 20):
        sensor = lidar(scene, nrays=4999, pose=Pose(*rng.uniform(-1, 1, 2), yaw=yaw))
        assert (scan(sensor) < 10.1).all()


def test_solids_are_not_seen_from_inside():
    scene = make_scene(square_at(0, 0))
    scene.add_circle((0.0, 0.0), 2.0)
    assert (scan(lidar(scene)) == 30.0).all()


def test_concave_polygons():
    hook = [(2, -3), (8, -3), (8, 3), (7, 3), (7, -2), (2, -2)]
    scene = make_scene(hook)
    sensor = lidar(scene, nrays=2000)
    rays = directions_of(sensor)
    assert scan(sensor) == pytest.approx(slow_scan([np.array(hook, float)], (0, 0), rays, 30.0))


def directions_of(sensor):
    return np.column_stack((np.cos(sensor.angles), np.sin(sensor.angles)))


def test_mounted_upside_down_it_turns_clockwise():
    scene = make_scene(square_at(0.0, 3.0))
    upright = scan(lidar(scene, nrays=8))
    overturned = scan(lidar(scene, nrays=8, pose=Pose(roll=math.pi)))
    left, right = 6, 2  # rays at +90° and -90° of the sensor's own frame
    assert upright[left] == pytest.approx(2.5)
    assert upright[right] == 30.0
    assert overturned[right] == pytest.approx(2.5)
    assert overturned[left] == 30.0


def test_a_pitched_fan_measures_along_its_rays():
    scene = make_scene([(4.0, -100.0), (4.0, 100.0)])
    sensor = lidar(scene, pose=Pose(pitch=math.radians(30)), nrays=3, fov=2.0)
    forward = scan(sensor)[1]
    assert forward == pytest.approx(4.0 / math.cos(math.radians(30)), abs=EXACT)


def test_an_upright_fan_sees_nothing():
    scene = make_scene(square_at(3.0, 0.0))
    assert (scan(lidar(scene, pose=Pose(pitch=math.pi / 2))) == 30.0).all()


@pytest.mark.parametrize(
    ("pose", "steep"),
    [
        (Pose(yaw=1.0), False),
        (Pose(roll=math.pi), False),
        (Pose(pitch=1.0), False),
        (Pose(pitch=1.1), True),
        (Pose(roll=math.pi / 2), True),
    ],
)
def test_steep_fans_are_warned_of(pose, steep):
    warnings = list(lidar(make_scene(SQUARE), pose=pose).warnings())
    assert bool(warnings) == steep
    assert all("'laser1' is tilted" in text for text in warnings)


@pytest.mark.parametrize("field", ["x", "y", "z", "yaw", "roll"])
@pytest.mark.parametrize("value", [math.nan, math.inf, 1e300])
def test_a_body_that_is_nowhere_does_no_harm(field, value):
    scene = make_scene(square_at(3.0, 0.0), zmin=-1.0, zmax=1.0)
    scene.add_body(1, [Prism(SQUARE, (-1.0, 1.0))])
    scene.add_circle((-3.0, 0.0), 1.0, zmin=-1.0, zmax=1.0)
    bodies = body_rows((0, -2, 0), (0, 4, 0))
    bodies[field][0] = value
    sensor = lidar(scene, body=0)
    if field in ("x", "y", "z"):
        assert (scan(sensor, bodies) == 30.0).all()
    scene.add_grid(GridMap(np.full((5, 5), 100, np.int8), 0.5))
    assert not np.isnan(scan(sensor, bodies)).any()


@pytest.mark.parametrize(
    ("height", "seen"), [(0.3, False), (0.4, True), (0.7, True), (1.0, True), (1.01, False)]
)
def test_only_what_is_at_the_height_of_the_sensor_is_seen(height, seen):
    scene = PlaneScene()
    scene.add_body(0, [Prism(SQUARE, (0.2, 0.8))])
    bodies = body_rows(Pose(x=3.0, z=0.2))
    assert (scan(lidar(scene, pose=Pose(z=height)), bodies)[180] < 30.0) == seen
    wall = make_scene(square_at(3.0, 0.0), zmin=0.4, zmax=1.0)
    assert (scan(lidar(wall, pose=Pose(z=height)))[180] < 30.0) == seen


def test_the_height_is_that_of_the_sensor_on_a_tilted_vehicle():
    scene = make_scene(square_at(5.0, 0.0), zmin=0.0, zmax=0.5)
    sensor = lidar(scene, body=0, pose=Pose(x=1.0, z=0.2))
    level, nose_up = body_rows((0, 0, 0)), body_rows(Pose(pitch=-0.5))
    assert scan(sensor, level)[180] == pytest.approx(3.5)
    assert scan(sensor, nose_up)[180] == 30.0


def test_bodies_are_seen_where_they_are_now():
    scene = PlaneScene()
    scene.add_body(1, [Prism(SQUARE), Cylinder((0.0, 2.0), 0.25)])
    sensor = lidar(scene, body=0)
    bodies = body_rows((10, 10, math.pi / 2), (10, 13, 0.0))
    ranges = scan(sensor, bodies)
    assert ranges[180] == pytest.approx(2.5)
    bodies["y"][1], bodies["yaw"][1] = 7.0, math.pi / 2
    ranges = scan(sensor, bodies)
    assert ranges[180] == 30.0
    assert ranges[0] == pytest.approx(2.5)
    circle = bodies["x"][1] - 2.0, bodies["y"][1]
    assert scan(sensor, bodies).min() == pytest.approx(
        min(2.5, math.hypot(circle[0] - 10, circle[1] - 10) - 0.25), abs=1e-3
    )


def test_a_sensor_never_sees_its_own_body():
    scene = PlaneScene()
    scene.add_body(0, [Prism(square_at(3.0, 0.0))])
    bodies = body_rows((0, 0, 0), (0, 0, 0))
    assert (scan(lidar(scene, body=0), bodies) == 30.0).all()
    assert scan(lidar(scene, body=1), bodies)[180] == pytest.approx(2.5)
    bodies["kind"] = STATIC
    assert (scan(lidar(scene, body=0), bodies) == 30.0).all()


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_bodies_can_be_invisible_but_walls_cannot(kind):
    scene = PlaneScene()
    scene.add_body(0, [Prism(SQUARE)])
    scene.add_polygon(square_at(6.0, 0.0))
    bodies = body_rows((3, 0, 0))
    bodies["kind"] = kind
    assert scan(lidar(scene), bodies)[180] == pytest.approx(2.5)
    assert scan(lidar(scene, bodies_visible=False), bodies)[180] == pytest.approx(5.5)


def test_a_static_body_that_was_moved_is_seen_in_its_new_place():
    scene = PlaneScene()
    scene.add_body(0, [Prism(SQUARE, (0.0, 1.0))])
    bodies = body_rows((3, 0, 0))
    bodies["kind"] = STATIC
    sensor = lidar(scene)
    assert scan(sensor, bodies)[180] == pytest.approx(2.5)
    bodies["x"] = 8.0
    assert scan(sensor, bodies)[180] == pytest.approx(7.5)
    bodies["z"] = 1.0
    assert scan(sensor, bodies)[180] == 30.0


def test_shapes_can_be_removed():
    scene = PlaneScene()
    near = scene.add_polygon(square_at(3.0, 0.0))
    scene.add_body(0, [Prism(SQUARE)])
    bodies = body_rows((5, 0, 0))
    sensor = lidar(scene)
    scene.freeze()
    assert scan(sensor, bodies)[180] == pytest.approx(2.5)
    scene.remove(near)
    assert scan(sensor, bodies)[180] == pytest.approx(4.5)
    scene.remove_body(0)
    assert scan(sensor, bodies)[180] == 30.0
    with pytest.raises(KeyError):
        scene.remove(near)


def test_thousands_of_shapes_elsewhere_change_nothing():
    rng = np.random.default_rng(6)
    few, many = PlaneScene(), PlaneScene()
    near = scatter(few, rng, 50)
    for shape in near:
        if isinstance(shape, tuple):
            many.add_circle(shape[:2], shape[2])
        else:
            many.add_polygon(shape)
    for x, y in rng.uniform(100, 1000, (2500, 2)) * rng.choice([-1, 1], (2500, 2)):
        many.add_polygon(square_at(x, y))
    assert (scan(lidar(few)) == scan(lidar(many))).all()


@pytest.mark.parametrize(
    "points", [[], [(0, 0)], [(0, 0, 0), (1, 1, 1)], [(0, 0), (math.nan, 1), (1, 0)]]
)
def test_what_is_no_polygon_is_refused(points):
    with pytest.raises(ValueError, match="a polygon needs"):
        PlaneScene().add_polygon(points)


def test_other_nonsense_is_refused():
    scene = PlaneScene()
    with pytest.raises(ValueError, match="radius > 0"):
        scene.add_circle((0, 0), 0.0)
    with pytest.raises(ValueError, match="zmin must be <= zmax"):
        scene.add_polygon(SQUARE, zmin=1.0, zmax=0.0)
    with pytest.raises(ValueError, match="zmin must be <= zmax"):
        scene.add_body(0, [Cylinder((0.0, 0.0), 1.0, (1.0, 0.0))])
    scene.add_body(0, [Prism(SQUARE)])
    with pytest.raises(ValueError, match="the body of row 0 already"):
        scene.add_body(0, [Prism(SQUARE)])
