# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Depth and colour cameras: geometry by formulas, colours by what must be where."""

import math
import sys

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.geometry.poses import Pose, rotation
from mvsim_core.rendering.context import gl_context
from mvsim_core.rendering.pinhole import FROM_OPTICAL, OPTICAL, Pinhole, compose
from mvsim_core.scene3d import Lights, Material, solids
from mvsim_core.sensors import Camera, RgbdCamera
from mvsim_core.specs.sensor import CameraSpec, RgbdCameraSpec
from tests.opengl import has_gl
from tests.unit.sensors3d.scenes import NO_STATE, room, scene, sensor

RED, GREEN = Material((1.0, 0.0, 0.0, 1.0)), Material((0.0, 1.0, 0.0, 1.0))
#: A red wall ahead, a green floor 1 m below, a small box to the left.
WALL = solids.box((5, -9, -1), (6, 9, 0.5), RED)
FLOOR = solids.rectangle((-20, 20), (-20, 20), -1.0, material=GREEN)
BLUE = Material((0.0, 0.0, 1.0, 1.0))
LEFT = solids.box((3, 0.9, -0.1), (3.5, 1.1, 0.1), BLUE)


needs_gl = pytest.mark.skipif(not has_gl(), reason="no OpenGL here")


def depth_camera(world, **changes):
    keys = {
        "name": "c",
        "pose": Pose(),
        "depth_noise_sigma": 0.0,
        "sense_rgb": False,
        "depth_ncols": 160,
        "depth_nrows": 120,
        "depth_cx": 79.5,
        "depth_cy": 59.5,
        "depth_fx": 100.0,
        "depth_fy": 100.0,
        **changes,
    }
    return sensor(RgbdCamera, RgbdCameraSpec(**keys), world)


def camera(world, **changes):
    keys = {
        "name": "c",
        "pose": OPTICAL,
        "ncols": 160,
        "nrows": 120,
        "cx": 79.5,
        "cy": 59.5,
        "fx": 100.0,
        "fy": 100.0,
        **changes,
    }
    return sensor(Camera, CameraSpec(**keys), world)


def test_poses_compose_as_rotations_do():
    rng = np.random.default_rng(0)
    poses = [*(Pose(*p) for p in rng.uniform(-3, 3, (50, 6))), OPTICAL, FROM_OPTICAL]
    for a in poses[:20]:
        for b in poses:
            c = compose(a, b)
            assert np.allclose(rotation(c), rotation(a) @ rotation(b))
            assert np.allclose(c[:3], rotation(a) @ b[:3] + a[:3])
    assert np.allclose(rotation(OPTICAL) @ [0, 0, 1], [1, 0, 0])
    assert np.allclose(rotation(OPTICAL) @ [1, 0, 0], [0, -1, 0])
    assert np.allclose(rotation(compose(OPTICAL, FROM_OPTICAL)), np.eye(3))


def test_depth_of_wall_and_floor():
    depth = depth_camera(scene(WALL, FLOOR)).measure(NO_STATE, 0, 0.0).depth
    row = np.arange(120) - 59.5
    with np.errstate(divide="ignore"):
        floor = np.where(row > 0, 100.0 / row, np.inf)  # 1 m below the camera
    expected = np.minimum(floor, 5.0)
    above = -row * 5.0 / 100.0 > 0.5  # over the wall
    assert np.isnan(depth[above]).all()
    assert np.abs(depth[~above] - expected[~above, None]).max() < 1e-5


def test_depth_accuracy_for_100k_pixels_against_a_box_room():
    low, high = np.array([-4.0, -30.0, -20.0]), np.array([60.0, 25.0, 15.0])
    unit = depth_camera(
        scene(solids.box(low, high)),
        depth_clip_max=100.0,
        depth_resolution=1e-6,
        depth_ncols=400,
        depth_nrows=300,
    )
    depth = unit.measure(NO_STATE, 0, 0.0).depth
    ways = unit.depth_camera.directions() @ rotation(OPTICAL).T
    with np.errstate(divide="ignore"):
        expected = np.maximum(low / ways, high / ways).min(axis=2)
    assert np.abs(depth - expected).max() < 1e-4


def test_limits_noise_and_counts():
    exact = depth_camera(scene(WALL)).measure(NO_STATE, 0, 0.0)
    middle = np.isfinite(exact.depth)
    assert (exact.counts()[middle] == 5000).all()
    assert (exact.counts()[~middle] == 0).all()
    noisy = depth_camera(scene(WALL), depth_noise_sigma=0.02).measure(NO_STATE, 0, 0.0)
    error = noisy.depth[middle] - 5.0
    assert error.std() == pytest.approx(0.02, rel=0.05)
    assert np.allclose(noisy.depth[middle] * 1000, noisy.counts()[middle], atol=0.02)
    blind = depth_camera(scene(WALL), depth_clip_max=4.5).measure(NO_STATE, 0, 0.0)
    assert np.isnan(blind.depth).all()


def test_what_16_bits_cannot_hold_counts_as_nothing():
    """REP-118: 0 is no valid depth; 65.535 m would be a wall that is not there."""
    far = solids.box((65.535, -90, -90), (66, 0, 90))
    beyond = solids.box((70, -90, -90), (71, 90, 90))
    reading = depth_camera(scene(far, beyond), depth_clip_max=100.0).measure(NO_STATE, 0, 0.0)
    assert set(np.unique(reading.counts())) == {0, 65535}
    assert np.isfinite(reading.depth).all()


def test_cloud_is_organized_and_in_the_optical_frame():
    reading = depth_camera(scene(WALL, LEFT)).measure(NO_STATE, 0, 0.0)
    cloud = reading.cloud()
    assert cloud.shape == (120, 160)
    x, y, z = (cloud[k].astype(float) for k in "xyz")
    assert np.isnan(x[np.isnan(reading.depth)]).all()
    box = z < 4.0
    assert box.any()
    assert x[box].min() >= -1.1 - 1e-5  # left is negative x
    assert np.abs(y[box]).max() <= 0.1 + 1e-5
    column, row = np.meshgrid(np.arange(160), np.arange(120))
    seen = np.isfinite(z)
    assert np.allclose((x / z * 100 + 79.5)[seen], column[seen], atol=1e-3)
    assert np.allclose((y / z * 100 + 59.5)[seen], row[seen], atol=1e-3)


@needs_gl
def test_colours_are_where_they_must_be():
    rgb = camera(scene(WALL, FLOOR, LEFT)).measure(NO_STATE, 0, 0.0).rgb
    assert rgb.shape == (120, 160, 3)
    strongest = rgb.argmax(axis=2)
    assert (strongest[:40] == 2).all()  # the sky is above, in the first rows
    assert (strongest[55, 90:] == 0).all()  # the wall
    assert (strongest[90:] == 1).all()  # the floor
    assert strongest[59, 79 - 33] == 2  # the box to the left


@needs_gl
def test_pictures_match_rays_to_the_pixel():
    unit = camera(scene(WALL, FLOOR, LEFT), segmentation=True)
    reading = unit.measure(NO_STATE, 0, 0.0)
    assert reading.things == (("", ""),)  # parts without names are one thing
    sky = reading.segments == 0
    is_sky = np.abs(reading.rgb.astype(int) - reading.rgb[0, 0]).sum(axis=2) < 150
    is_sky &= reading.rgb.min(axis=2) > 60
    assert (sky != is_sky).sum() == 0


@needs_gl
def test_colours_of_points_come_from_the_other_camera():
    beside = Pose(0.0, 0.3, 0.1, OPTICAL.roll, 0.0, OPTICAL.yaw)
    unit = depth_camera(scene(WALL, FLOOR, LEFT), sense_rgb=True, intensity_pose=beside)
    reading = unit.measure(NO_STATE, 0, 0.0)
    assert reading.rgb.shape == (480, 640, 3)
    cloud = reading.cloud()
    rgb = np.stack([(cloud["rgb"] >> s) & 255 for s in (16, 8, 0)], axis=2)
    known = cloud["rgb"] > 0
    box = known & (cloud["z"] < 3.2) & (np.abs(cloud["y"]) < 0.05) & (cloud["x"] < -0.92)
    floor = known & (cloud["y"] > 0.99) & (cloud["z"] < 4.9)
    wall = known & (cloud["z"] > 4.99) & (cloud["y"] < 0.5) & (cloud["x"] > 1)
    for part, channel in ((box, 2), (floor, 1), (wall, 0)):
        assert part.any()
        assert (rgb[part].argmax(axis=1) == channel).mean() > 0.99


@needs_gl
def test_textures_shadows_and_a_sky_box(tmp_path):
    from PIL import Image

    chess = np.kron([[255, 0], [0, 255]], np.ones((16, 16))).astype(np.uint8)
    Image.fromarray(np.stack([chess] * 3, axis=2)).save(tmp_path / "chess.png")
    for k, side in enumerate(("Front", "Back", "Down", "Up", "Left", "Right")):
        Image.new("RGB", (8, 8), (40 * k, 0, 200 - 40 * k)).save(tmp_path / f"sky_{side}.png")
    look = Material((1.0, 1.0, 1.0, 1.0), str(tmp_path / "chess.png"))
    floor = solids.rectangle((-20, 20), (-20, 20), -1.0, (2.0, 2.0), look)
    lights = Lights(shadows=False, sky_box=str(tmp_path / "sky_%s.png"))
    rgb = camera(scene(floor, lights=lights)).measure(NO_STATE, 0, 0.0).rgb
    assert tuple(rgb[0, 80]) == (0, 0, 200)
    assert len(np.unique(rgb[110, :, 0])) > 1

    plain = solids.rectangle((-20, 20), (-20, 20), -1.0)
    roof = solids.box((2, -1, 2), (4, 1, 2.1))
    overhead = Lights(elevation=math.radians(89.0))
    lit, dark = (
        camera(scene(plain, roof, lights=overhead._replace(shadows=s))).measure(NO_STATE, 0, 0.0)
        for s in (False, True)
    )
    darker = lit.rgb.astype(int).sum(axis=2) - dark.rgb.astype(int).sum(axis=2)
    row = round(59.5 + 100 / 3.0)  # the floor 3 m ahead, below the roof
    assert darker[row, 80] > 60
    assert darker[row, 5] == 0


@needs_gl
def test_a_camera_in_a_world():
    xml = (
        '<sensor class="camera" name="c"><pose_3d>0.3 0 0.5 -90 0 -90</pose_3d>'
        "<segmentation>true</segmentation></sensor>"
    )
    world = load_world(text=room(xml))
    world.run(0.1)
    unit = world.vehicles["r1"].sensors["c"]
    reading = unit.last
    assert reading.camera == Pinhole(640, 480, 500.0, 500.0, 320.0, 240.0)
    names = {name: (k + 1, label) for k, (name, label) in enumerate(reading.things)}
    ahead = reading.segments[200, 320]
    assert ahead == names["plane_1"][0]
    assert names["plane_1"][1] == "wall"
    assert reading.rgb[200, 320].argmax() == 0
    assert reading.segments[470, 320] == names["ground_1"][0]


def test_without_opengl_cameras_say_once_what_to_install(monkeypatch):
    gl_context.cache_clear()
    monkeypatch.setitem(sys.modules, "OpenGL.EGL", None)
    xml = "".join(
        f'<sensor class="{kind}" name="{name}"/>'
        for kind, name in (("camera", "a"), ("camera", "b"), ("rgbd_camera", "d"))
    )
    try:
        world = load_world(text=room(xml))
        world.run(0.3)
    finally:
        gl_context.cache_clear()
    said = [str(w) for w in world.warnings if "libegl1" in str(w)]
    assert len(said) == 1
    assert "PyOpenGL" in said[0]
    sensors = world.vehicles["r1"].sensors
    assert sensors["a"].last is None
    assert sensors["d"].last.rgb is None
    assert np.isfinite(sensors["d"].last.depth).any()
