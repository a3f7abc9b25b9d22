# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Distorted pictures: points are where the formulas of OpenCV's manual put them."""

import math

import numpy as np
import pytest

from mvsim_core import load_world
from mvsim_core.errors import BuildError, WorldFileError
from mvsim_core.rendering.lens import Lens
from mvsim_core.rendering.pinhole import OPTICAL, Pinhole
from mvsim_core.scene3d import Material, Part, solids
from tests.unit.sensors3d.scenes import NO_STATE, room, scene_of
from tests.unit.sensors3d.test_cameras import camera, needs_gl

PLUMB_BOB = (-0.28, 0.09, 0.001, -0.0008, -0.01)
FISHEYE = (-0.02, 0.006, -0.002, 0.0003)
LENSES = (("plumb_bob", PLUMB_BOB), ("equidistant", FISHEYE))
SIZE = Pinhole(320, 240, 180.0, 175.0, 161.0, 118.5)


def projected(model, k, point):
    """Pixel of a point (x right, y down, z forward), after the manual, term by term."""
    a, b = point[0] / point[2], point[1] / point[2]
    r = math.hypot(a, b)
    if model == "equidistant":
        t = math.atan(r)
        bent = t * (1 + k[0] * t**2 + k[1] * t**4 + k[2] * t**6 + k[3] * t**8)
        x, y = (bent / r * a, bent / r * b) if r > 0 else (0.0, 0.0)
    else:
        radial = 1 + k[0] * r**2 + k[1] * r**4 + k[4] * r**6
        x = a * radial + 2 * k[2] * a * b + k[3] * (r**2 + 2 * a**2)
        y = b * radial + k[2] * (r**2 + 2 * b**2) + 2 * k[3] * a * b
    return SIZE.fx * x + SIZE.cx, SIZE.fy * y + SIZE.cy


POINTS = [(0.0, 0.0, 2.0), (0.9, 0.3, 2.0), (-0.8, -0.6, 1.5), (1.4, -0.9, 2.2), (-1.2, 0.8, 1.9)]


@pytest.mark.parametrize(("model", "k"), LENSES)
def test_rays_are_the_inverse_of_the_formulas(model, k):
    ways = Lens(model, k).directions(SIZE)
    assert np.linalg.norm(ways, axis=2) == pytest.approx(np.ones((240, 320)))
    for row, column in ((0, 0), (239, 319), (118, 161), (30, 300)):
        assert projected(model, k, ways[row, column]) == pytest.approx((column, row), abs=1e-6)


@pytest.mark.parametrize(("model", "k"), LENSES)
def test_the_formulas_are_those_of_opencv(model, k):
    cv2 = pytest.importorskip("cv2")
    points, zero = np.array(POINTS).reshape(-1, 1, 3), np.zeros(3)
    project = cv2.fisheye.projectPoints if model == "equidistant" else None
    if project is not None:
        found, _ = project(points, zero, zero, SIZE.matrix, np.array(k))
    else:
        found, _ = cv2.projectPoints(points, zero, zero, SIZE.matrix, np.array(k))
    expected = [projected(model, k, point) for point in POINTS]
    np.testing.assert_allclose(found.reshape(-1, 2), expected, atol=1e-6)


@needs_gl
@pytest.mark.parametrize(("model", "k"), LENSES)
def test_pictures_show_points_where_they_are_projected(model, k):
    white = Material((1.0, 1.0, 1.0, 1.0))
    for number, (x, y, z) in enumerate(POINTS):
        # optical x right, y down, z forward; the world has x forward, y left, z up
        ball = Part(solids.sphere(0.03, material=white), "ball", "block")
        unit = camera(
            scene_of(ball),
            pose=OPTICAL._replace(x=-z, y=x, z=y),
            **{"ncols": 320, "nrows": 240, "fx": SIZE.fx, "fy": SIZE.fy},
            **{"cx": SIZE.cx, "cy": SIZE.cy, "segmentation": True},
            distortion_model=model,
            distortion=k,
        )
        reading = unit.measure(NO_STATE, 0, 0.0)
        expected = projected(model, k, (x, y, z))
        rows, columns = np.nonzero(reading.segments)
        assert (columns.mean(), rows.mean()) == pytest.approx(expected, abs=0.5), number
        without = camera(
            scene_of(),
            pose=OPTICAL._replace(x=-z, y=x, z=y),
            **{"ncols": 320, "nrows": 240, "fx": SIZE.fx, "fy": SIZE.fy},
            **{"cx": SIZE.cx, "cy": SIZE.cy},
            distortion_model=model,
            distortion=k,
        )
        plain = without.measure(NO_STATE, 0, 0.0).rgb
        weight = np.abs(reading.rgb.astype(float) - plain).sum(axis=2)
        i, j = np.indices(weight.shape)
        shown = (weight * j).sum() / weight.sum(), (weight * i).sum() / weight.sum()
        assert shown == pytest.approx(expected, abs=0.5), number


def test_a_lens_that_folds_the_picture_is_an_error():
    with pytest.raises(BuildError, match="cannot be inverted at pixel"):
        Lens("plumb_bob", (-1.5, 0.0, 0.0, 0.0, 0.0)).directions(SIZE)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("<distortion>0.1 0.2</distortion>", "distortion of plumb_bob must be 4 or 5 numbers"),
        (
            "<distortion_model>equidistant</distortion_model><distortion>1 2 3 4 5</distortion>",
            "distortion of equidistant must be 4 numbers, got 5",
        ),
    ],
)
def test_errors_name_the_rule(given, message):
    with pytest.raises(WorldFileError) as caught:
        load_world(text=room(f'<sensor class="camera" name="c">{given}</sensor>'))
    assert message in str(caught.value)
