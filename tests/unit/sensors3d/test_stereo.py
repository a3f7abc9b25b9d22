# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Stereo pairs through a block matcher, and classes and instances of pixels."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core import load_world
from mvsim_core.sensors import CLASSES, classes_of
from tests.unit.sensors3d.scenes import room
from tests.unit.sensors3d.test_cameras import needs_gl

AHEAD = "-90 0 -90"
BASELINE, FX, COLUMNS, ROWS = 0.2, 120.0, 160, 90


def disparity(left: np.ndarray, right: np.ndarray, most: int, half: int = 5) -> np.ndarray:
    """Disparity (rows, columns) [pixel] by sums of absolute differences, to parts of a pixel."""
    costs = []
    for d in range(most + 1):
        difference = np.abs(left - np.roll(right, d, axis=1))
        sums = np.pad(difference.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        n = 2 * half + 1
        costs.append(sums[n:, n:] - sums[:-n, n:] - sums[n:, :-n] + sums[:-n, :-n])
    cost = np.array(costs)
    best = np.clip(cost.argmin(0), 1, most - 1)
    i, j = np.indices(best.shape)
    a, b, c = cost[best - 1, i, j], cost[best, i, j], cost[best + 1, i, j]
    found = best + 0.5 * (a - c) / np.maximum(a - 2 * b + c, 1e-9)
    return np.pad(found, half, constant_values=np.nan)


@needs_gl
def test_a_block_matcher_finds_the_distance_of_walls(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    coarse = rng.integers(0, 255, (60, 120), np.uint8)
    Image.fromarray(coarse).resize((480, 240), Image.Resampling.BICUBIC).save(tmp_path / "n.png")
    walls = "".join(
        f'<element class="vertical_plane"><x0>{x}</x0><y0>{y0}</y0><x1>{x}</x1><y1>{y1}</y1>'
        f"<z>-1</z><height>5</height><thickness>0.01</thickness>"
        f"<texture>{tmp_path}/n.png</texture>"
        "<texture_size_x>6</texture_size_x><texture_size_y>5</texture_size_y></element>"
        for x, y0, y1 in ((2.0, 0.0, 4.0), (4.0, -6.0, 0.0))
    )
    pair = f"""<sensor class="stereo_camera" name="s"><pose_3d>0 0 1.5 {AHEAD}</pose_3d>
      <ncols>{COLUMNS}</ncols><nrows>{ROWS}</nrows><fx>{FX}</fx><fy>{FX}</fy>
      <baseline>{BASELINE}</baseline></sensor>"""
    world = load_world(text=room(pair, extra=walls))
    world.run(0.1)
    reading = world.vehicles["r1"].sensors["s"].last
    left, right = (picture.mean(axis=2) for picture in (reading.left, reading.right))
    assert left.std() > 3
    found = disparity(left, right, 20)
    for z, columns in ((1.995, slice(30, 65)), (3.995, slice(100, 145))):
        expected = FX * BASELINE / z
        part = found[20:70, columns]
        assert np.median(part) == pytest.approx(expected, abs=0.1)
        assert np.mean(np.abs(part - expected) < 0.5) > 0.9
    assert reading.camera.fx * reading.baseline == pytest.approx(24.0)


def test_depth_cameras_tell_what_each_pixel_of_the_depth_shows() -> None:
    crate = '<block name="crate"><init_pose>3 0 0</init_pose><zmax>0.8</zmax></block>'
    depth = """<sensor class="rgbd_camera" name="d"><pose_3d>0.3 0 0.5 0 0 0</pose_3d>
      <sense_rgb>false</sense_rgb><segmentation>true</segmentation><depth_ncols>40</depth_ncols>
      <depth_nrows>30</depth_nrows><depth_fx>30</depth_fx><depth_fy>30</depth_fy></sensor>"""
    world = load_world(text=room(depth, extra=crate))
    world.run(0.1)
    reading = world.vehicles["r1"].sensors["d"].last
    names = [None, *reading.things]
    assert names[reading.segments[15, 20]] == ("crate", "block")
    assert names[reading.segments[29, 20]] == ("ground_1", "ground")
    assert (names[reading.segments[13, 1]] or ("", ""))[1] == "wall"
    assert ((reading.segments > 0) >= np.isfinite(reading.depth)).all()
    classes = classes_of(reading.segments, reading.things)
    assert classes.dtype == np.uint8
    assert CLASSES[classes[15, 20] - 1] == "block"
    assert CLASSES[classes[29, 20] - 1] == "ground"
    strange = classes_of(np.array([[0, 1]], np.uint16), (("x", "plug-in"),))
    assert strange.tolist() == [[0, CLASSES.index("other") + 1]]


def test_segmentation_is_left_out_unless_asked_for() -> None:
    depth = '<sensor class="rgbd_camera" name="d"><sense_rgb>false</sense_rgb></sensor>'
    world = load_world(text=room(depth))
    world.run(0.1)
    reading = world.vehicles["r1"].sensors["d"].last
    assert (reading.segments, reading.things) == (None, ())
