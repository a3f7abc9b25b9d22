# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Light, shadows, smooth edges, and depths from OpenGL's depth buffer."""

import math

import numpy as np
import pytest

from mvsim_core.geometry.poses import Pose
from mvsim_core.rendering import shadow_fit
from mvsim_core.rendering.culling import within
from mvsim_core.rendering.pinhole import OPTICAL
from mvsim_core.scene3d import Lights, Material, Part, solids
from mvsim_core.threads import in_parts
from tests.unit.sensors3d.scenes import NO_STATE, body_rows, scene, scene_of, state_of
from tests.unit.sensors3d.test_cameras import (
    FLOOR,
    LEFT,
    RED,
    WALL,
    camera,
    depth_camera,
    needs_gl,
)

pytestmark = needs_gl

NO_SHADOWS = Lights(shadows=False)


def picture(world, **changes):
    return camera(world, **changes).measure(NO_STATE, 0, 0.0).rgb.astype(int)


@pytest.mark.parametrize("ambient", [0.0, 0.5, 1.0, 3.0])
def test_what_the_sun_shines_on_shows_its_colour_and_white_is_not_clipped(ambient):
    """Light adds up to 1 at most, so that light greys differ from white, and hues stay."""
    lights = Lights(shadows=False, elevation=math.radians(90.0), ambient=ambient)
    for color in ((1.0, 1.0, 1.0), (0.9, 0.9, 0.9), (0.8, 0.4, 0.2)):
        floor = solids.rectangle((-20, 20), (-20, 20), -1.0, material=Material((*color, 1.0)))
        pixel = picture(scene(floor, lights=lights))[110, 80]
        assert pixel == pytest.approx(255 * np.array(color), abs=1.5)


def test_shaded_walls_are_neither_black_nor_alike():
    """The four sides of a column, two of them in the sun."""
    column = solids.box((-1, -1, -2), (1, 1, 2), Material((0.8, 0.8, 0.8, 1.0)))
    values = []
    for k in range(4):
        x, y = -5.0 * math.cos(0.5 * math.pi * k), -5.0 * math.sin(0.5 * math.pi * k)
        pose = Pose(x, y, 0.0, OPTICAL.roll, 0.0, OPTICAL.yaw + 0.5 * math.pi * k)
        values.append(picture(scene(column, lights=NO_SHADOWS), pose=pose)[60, 80, 0])
    assert min(values) > 80
    assert np.diff(np.sort(values)).min() > 4


@pytest.mark.parametrize("distance", [4.0, 30.0, 150.0])
def test_shadows_reach_through_the_whole_picture(distance):
    """A roof near or far, before a ground that goes on."""
    low, half = max(1.0, distance / 15.0), 0.15 * distance
    ground = solids.rectangle((-300, 300), (-300, 300), -low)
    roof = solids.box((distance - half, -half, 2), (distance + half, half, 2.1))
    overhead = Lights(elevation=math.radians(89.0))
    lit, dark = (
        picture(scene(ground, roof, lights=overhead._replace(shadows=s)), antialiasing="none")
        for s in (False, True)
    )
    darker = (lit - dark).sum(axis=2)
    assert darker[round(59.5 + 100 * low / distance), 80] > 60
    assert (darker[:, 5] == 0).all()
    assert (darker[115] == 0).all()  # no surface shades itself


def test_edges_are_smoothed_as_asked():
    """A slanting edge between sky and wall has pixels of neither colour; the rest stays."""
    slant = solids.box((5, -9, -9), (6, 9, 0.5), RED).moved(
        np.array([[1, 0, 0], [0, 0.98, -0.199], [0, 0.199, 0.98]]), (0, 0, 0)
    )
    world = scene(slant, lights=NO_SHADOWS)
    plain, edges, samples = (
        picture(world, antialiasing=kind) for kind in ("none", "edges", "samples")
    )

    def mixed(seen):
        """Pixels that are neither the wall, without green, nor the sky."""
        return ((seen[:, :, 1] > 20) & (seen[:, :, 1] < 120)).sum()

    assert mixed(plain) == 0
    assert mixed(edges) > 20
    assert mixed(samples) > 20
    assert (edges[:20] == plain[:20]).all()
    assert (edges[100:] == plain[100:]).all()


@pytest.mark.parametrize("near", [0.01, 0.3])
def test_the_depth_buffer_is_as_exact_as_rays(near):
    """To a millionth and 1 mm at 15 m, 5 cm at 100 m, but for pixels on edges."""
    far = solids.box((90, -50, -1), (91, 50, 20))
    world = scene(WALL, FLOOR, LEFT, far)
    options = {"depth_clip_min": near, "depth_clip_max": 95.0}
    rays, buffer = (
        depth_camera(world, exact_depth=exact, **options).measure(NO_STATE, 0, 0.0).depth
        for exact in (True, False)
    )
    assert (np.isfinite(rays) != np.isfinite(buffer)).mean() < 0.005
    both = np.isfinite(rays) & np.isfinite(buffer)
    error, depth = np.abs(rays - buffer)[both], rays[both]
    assert np.quantile(error[depth < 15.0], 0.99) < 1e-3
    assert np.quantile(error[depth > 60.0], 0.99) < 0.05


def test_one_pass_and_two_give_the_same():
    """Also where pictures leave out what rays meet: a culled wall, and glass."""
    glass = Material((1.0, 0.0, 0.0, 0.7))
    hidden = Material((0.0, 0.0, 1.0, 1.0), cull_face="BOTH")
    pane = solids.box((2, 0.2, -0.3), (2.1, 0.5, 0.3), glass)
    wall = solids.box((2, -0.5, -0.3), (2.1, -0.2, 0.3), hidden)
    size = {"rgb_ncols": 160, "rgb_nrows": 120, "rgb_fx": 100.0, "rgb_fy": 100.0}
    size |= {"rgb_cx": 79.5, "rgb_cy": 59.5, "sense_rgb": True, "rgb_clip_min": 0.1}
    for parts in ((WALL, FLOOR, LEFT), (WALL, FLOOR, pane, wall)):
        world = scene(*parts)
        both = depth_camera(world, **size)
        assert both._are_one
        reading = both.measure(NO_STATE, 0, 0.0)
        depth = depth_camera(world).measure(NO_STATE, 0, 0.0).depth
        alone = camera(world, cx=79.5, cy=59.5, clip_min=0.1).measure(NO_STATE, 0, 0.0).rgb
        assert np.array_equal(reading.depth, depth, equal_nan=True)
        assert np.array_equal(reading.rgb, alone)
        exact = depth_camera(world, exact_depth=True).measure(NO_STATE, 0, 0.0).depth
        assert (np.abs(exact - depth) < 1e-3).mean() > 0.5
        differ = np.abs(np.nan_to_num(exact) - np.nan_to_num(depth)) > 1e-3
        assert differ.mean() < 0.01


def test_errors_in_threads_are_raised():
    def work(first, last):
        if last == 100:
            raise ValueError(first)

    done = np.zeros(100, int)
    in_parts(100, 10, lambda a, b: done[a:b].__iadd__(1))
    assert (done == 1).all()
    with pytest.raises(ValueError, match=r"\d"):
        in_parts(100, 10, work)


def test_without_ground_things_still_throw_shadows_on_the_level_0():
    """On a painted floor that no ray and no depth image meets; with ground there is none."""
    table = solids.box((4, -1, 0.5), (5, 1, 0.6))
    overhead = Lights(elevation=math.radians(89.0))
    above = Pose(0, 0, 1.0, OPTICAL.roll, 0.0, OPTICAL.yaw)
    lit, dark = (
        picture(scene(table, lights=overhead._replace(shadows=s)), pose=above)
        for s in (False, True)
    )
    darker = (lit - dark).sum(axis=2)
    row = round(59.5 + 100 / 4.5)
    assert darker[row, 80] > 60
    assert (darker[row, :20] == 0).all()
    assert (darker[:58] == 0).all()
    depth = depth_camera(scene(table, lights=overhead), pose=Pose(z=1.0))
    assert np.isnan(depth.measure(NO_STATE, 0, 0.0).depth[row, 80])


def test_leaving_out_what_throws_no_shadow_into_a_picture_changes_no_pixel(monkeypatch):
    """Things around a camera that looks anywhere, at a low sun and a high one."""
    numbers = np.random.default_rng(3)
    places = numbers.uniform((-8, -8, 0.2), (8, 8, 3.0), (40, 3))
    bodies = body_rows(*(Pose(*place) for place in places.tolist()))
    things = [Part(solids.box((-0.3, -0.3, -0.2), (0.3, 0.3, 0.2)), body=k) for k in range(40)]
    ground = Part(solids.rectangle((-20, 20), (-20, 20), 0.0))
    counts: list[tuple[int, int]] = []

    def counted(planes, balls):
        inside = within(planes, balls)
        counts.append((int(inside.sum()), len(balls)))
        return inside

    monkeypatch.setattr(shadow_fit, "within", counted)
    found = []
    for planes_of in (shadow_fit.casting, lambda planes, way: planes[:0]):
        monkeypatch.setattr(shadow_fit, "casting", planes_of)
        for elevation in (0.3, 1.2):
            world = scene_of(ground, *things, lights=Lights(elevation=elevation, azimuth=1.0))
            for yaw in range(6):
                pose = Pose(0.5, 0.1, 1.5, OPTICAL.roll - 0.2, 0.0, OPTICAL.yaw + yaw)
                reading = camera(world, pose=pose).measure(state_of(bodies), 0, 0.0)
                found.append(reading.rgb)
    half = len(found) // 2
    assert all((a == b).all() for a, b in zip(found[:half], found[half:], strict=True))
    fewer, all_of_them = (sum(n for n, _ in part) for part in (counts[:24], counts[24:]))
    assert fewer < 0.7 * all_of_them
