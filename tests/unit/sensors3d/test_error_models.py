# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Errors of depth cameras and 3D lidars: noise by depth, holes at edges, fog, mixed pixels."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.errors import WorldFileError
from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering.pinhole import OPTICAL
from mvsim_core.scene3d import Material, solids
from mvsim_core.sensors import Lidar3d, StereoCamera
from mvsim_core.sensors.lidar3d import mixed_ranges
from mvsim_core.specs.sensor import Lidar3dSpec, StereoCameraSpec
from tests.unit.sensors3d.scenes import NO_STATE, room, scene, sensor
from tests.unit.sensors3d.test_cameras import camera, depth_camera, needs_gl


def wall(distance):
    return solids.box((distance, -40, -40), (distance + 1, 40, 40))


@pytest.mark.parametrize("distance", [1.0, 2.0, 4.0])
def test_depth_noise_grows_with_the_square_of_the_depth(distance):
    keys = {"depth_noise_sigma": 0.001, "depth_noise_growth": 0.003, "depth_resolution": 1e-5}
    depth = depth_camera(scene(wall(distance)), **keys).measure(NO_STATE, 3, 0.0).depth
    expected = math.hypot(0.001, 0.003 * distance**2)
    assert depth.std() == pytest.approx(expected, rel=0.03)
    assert depth.mean() == pytest.approx(distance, abs=1e-3)


@pytest.mark.parametrize("width", [0, 1, 4])
def test_depth_is_lost_beside_nearer_things(width):
    post = solids.box((2.0, -0.2, -40), (2.1, 0.2, 40))
    depth = depth_camera(scene(wall(4), post), edge_holes=width).measure(NO_STATE, 0, 0.0).depth
    row = depth[60]
    near = np.flatnonzero(np.abs(row - 2.0) < 0.01)
    assert len(near) == 20  # 0.4 m at 2 m and 100 pixels
    lost = np.flatnonzero(np.isnan(row))
    expected = [*range(near[0] - width, near[0]), *range(near[-1] + 1, near[-1] + 1 + width)]
    assert lost.tolist() == expected


def lidar(world, **keys):
    base = {"name": "l", "pose": Pose(), "motion_distortion": False, "range_std_noise": 0.0}
    spec = Lidar3dSpec(**{**base, "vert_nrays": 16, "horz_nrays": 720, **keys})
    return sensor(Lidar3d, spec, world)


@pytest.mark.parametrize(("radius", "dropout"), [(10.0, 0.0), (30.0, 0.0), (10.0, 0.3)])
def test_fog_takes_far_returns_away(radius, dropout):
    unit = lidar(scene(solids.sphere(radius)), visibility=200.0, ray_dropout=dropout)
    share = np.mean([len(unit.measure(NO_STATE, k, 0.0).points) for k in range(4)]) / (16 * 720)
    expected = (1 - dropout) * math.exp(-2 * -math.log(0.02) / 200.0 * radius)
    assert share == pytest.approx(expected, abs=0.01)


def test_ranges_within_a_pulse_are_mixed():
    inf = math.inf
    beams = np.array([[2.0, 2.0, inf, 2.0], [2.5, 9.0, inf, inf], [2.2, inf, inf, inf]])
    found = mixed_ranges(beams[:, None, :])
    assert found.tolist() == [[pytest.approx(6.7 / 3), 2.0, inf, 2.0]]


def test_mixed_pixels_lie_between_post_and_wall():
    post = solids.box((3.0, -0.2, -5), (3.1, 0.2, 5))
    keys = {"vert_nrays": 1, "beam_divergence": math.radians(1.0)}
    world = scene(wall(3.6), post)
    plain, mixed = (
        lidar(world, **keys, mixed_pixels=m).measure(NO_STATE, 0, 0.0).points
        for m in (False, True)
    )

    def ahead(points):
        return points[(np.abs(points["y"]) < 0.6) & (points["x"] > 0)]["x"]

    between = [((x > 3.02) & (x < 3.55)).sum() for x in (ahead(plain), ahead(mixed))]
    assert between[0] == 0
    assert between[1] >= 2


def test_mixed_pixels_need_a_beam():
    text = room('<sensor class="lidar3d" name="l"><mixed_pixels>true</mixed_pixels></sensor>')
    with pytest.raises(WorldFileError) as caught:
        load_world(text=text)
    assert "mixed_pixels needs beam_divergence_deg > 0 [deg]" in str(caught.value)


def test_organized_clouds_hold_the_same_points():
    post = solids.box((3.0, -0.5, -5), (3.1, 0.5, 0.3))
    spec = Lidar3dSpec(name="l", vert_nrays=8, horz_nrays=90, range_std_noise=0.0, period=0.1)
    unit = sensor(Lidar3d, spec, scene(post))
    unit.data.due_tick = 40
    for tick in range(21, 41):
        unit.sweep(NO_STATE, tick)
    reading = unit.measure(NO_STATE, 40, 0.2)
    image = reading.organized()
    assert image.shape == (8, 90)
    assert image["ring"][:, 0].tolist() == list(range(7, -1, -1))
    seen = np.isfinite(image["x"])
    assert 0 < seen.sum() == len(reading.points) < image.size
    found = np.sort(image[seen], order=["time", "ring"])
    assert (found == np.sort(reading.points, order=["time", "ring"])).all()
    assert (np.diff(image["time"], axis=1) > 0).all()
    # left to right is clockwise from the rear, and higher rings are higher
    column = np.argwhere(seen)[0, 1]
    assert column == pytest.approx(45, abs=5)
    heights = image["z"][seen[:, column], column]
    assert (np.diff(heights) < 0).all()


@needs_gl
def test_pictures_have_noise_that_depends_on_seed_and_tick_alone():
    sheet = solids.box((3, -9, -9), (4, 9, 9), Material((0.5, 0.5, 0.5, 1.0)))
    plain = camera(scene(sheet)).measure(NO_STATE, 4, 0.0).rgb.astype(float)
    unit = camera(scene(sheet), noise_sigma=3.0)
    first, again, later = (unit.measure(NO_STATE, tick, 0.0).rgb for tick in (4, 4, 5))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, later)
    error = first - plain
    assert error.std() == pytest.approx(math.hypot(3.0, 1 / math.sqrt(12)), rel=0.02)
    assert abs(error.mean()) < 0.1
    assert np.abs(np.corrcoef(error.reshape(-1, 3).T) - np.eye(3)).max() < 0.03
    pair = StereoCameraSpec(name="s", pose=OPTICAL, ncols=160, nrows=120, noise_sigma=3.0)
    found = sensor(StereoCamera, pair, scene(sheet)).measure(NO_STATE, 4, 0.0)
    assert abs(np.corrcoef(found.left.ravel(), found.right.ravel())[0, 1]) < 0.05
