# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Maps of Nav2, cell by cell, against a plain restatement of map_server's rules."""

import math
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image

from mvsim_core.elements.occupancy_grid import load_grid
from mvsim_core.errors import BuildError

CASE_MAPS = [
    "nav2_maps/nav2_bringup/maps/tb3_sandbox.yaml",
    "nav2_maps/nav2_bringup/maps/depot.yaml",
    "nav2_demos/maps/mvsim_warehouse.yaml",
    "greenhouse_benchmark/benchmark_bringup/benchmark_bringup/maps/greenhouse_benchmark.yaml",
    "mrpt_navigation/mrpt_tutorials/maps/demo_world2.yaml",
    "racing_ackermann/scripts/centerline/pasillo_map.yaml",
    "racing_ackermann/scripts/centerline/Catalunya_map.yaml",
]


def map_server_cell(value, alpha, mode, negate, thresholds):
    """One pixel, as map_server treats it: single precision, free wins over occupied."""
    if mode == "raw":
        return value if value <= 100 else -1
    free, occupied = (np.float32(threshold) for threshold in thresholds)
    p = np.float32(value) / np.float32(255)
    if not negate:
        p = np.float32(1) - p
    cell = -1
    if p >= occupied:
        cell = 100
    if p <= free:
        cell = 0
    if mode == "scale" and free < p < occupied:
        span = np.float32(thresholds[1] - thresholds[0])
        percent = float((p - free) / span * np.float32(100))
        cell = math.floor(percent + 0.5)
    return -1 if alpha < 255 else cell


def expected_cells(path):
    """The whole map by `map_server_cell`, one look-up a (value, alpha) pair."""
    keys = yaml.safe_load(path.read_text())
    pixels = np.asarray(Image.open(path.parent / keys["image"]).convert("LA"))
    thresholds = (keys["free_thresh"], keys["occupied_thresh"])
    pairs, place = np.unique(pixels[..., 0] * np.int64(256) + pixels[..., 1], return_inverse=True)
    mode, negate = keys.get("mode", "trinary"), keys["negate"]
    values = [map_server_cell(*divmod(k, 256), mode, negate, thresholds) for k in pairs.tolist()]
    cells = np.array(values, np.int8)[place].reshape(pixels.shape[:2])
    return cells[::-1]


def write_map(folder, pixels, **changes):
    keys = {
        "image": "map.png",
        "resolution": 0.05,
        "origin": [-1.5, 2.0, 0.25],
        "negate": 0,
        "occupied_thresh": 0.65,
        "free_thresh": 0.196,
    }
    keys.update(changes)
    lines = {key: value for key, value in keys.items() if value is not ...}
    if pixels is not None:
        Image.fromarray(pixels).save(folder / "map.png")
    path = folder / "map.yaml"
    path.write_text(yaml.safe_dump(lines))
    return path


@pytest.mark.parametrize("name", CASE_MAPS)
def test_real_maps(cases: Path, name):
    grid = load_grid(cases / name)
    assert (grid.cells == expected_cells(cases / name)).all()
    keys = yaml.safe_load((cases / name).read_text())
    assert grid.origin == tuple(keys["origin"])
    assert grid.resolution == keys["resolution"]
    assert bool(grid.warnings) == (keys["free_thresh"] >= 0.1961)


@pytest.mark.parametrize("mode", ["trinary", "scale", "raw"])
@pytest.mark.parametrize("negate", [0, 1])
@pytest.mark.parametrize(
    ("free", "occupied"), [(0.196, 0.65), (0.25, 0.65), (0.1, 0.9), (0.5, 0.5), (0.6, 0.3)]
)
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_every_grey_value_in_every_mode(tmp_path, mode, negate, free, occupied, channels):
    shades = np.arange(256, dtype=np.uint8).reshape(16, 16)
    pixels = shades
    if channels > 1:
        alpha = np.where(shades % 7 == 3, shades, 255)
        pixels = np.dstack([shades] * (channels - 1) + [alpha])
    path = write_map(
        tmp_path, pixels, mode=mode, negate=negate, free_thresh=free, occupied_thresh=occupied
    )
    assert (load_grid(path).cells == expected_cells(path)).all()


@pytest.mark.parametrize(
    ("text", "expected"),
    [("true", 0), ("false", 100), ("1", 0), ("0", 100), ("yes", 0), ("No", 100)],
)
def test_negate_is_an_integer_or_a_boolean(tmp_path, text, expected):
    path = write_map(tmp_path, np.zeros((2, 2), np.uint8))
    path.write_text(path.read_text().replace("negate: 0", f"negate: {text}"))
    assert (load_grid(path).cells == expected).all()


def test_numbers_that_yaml_calls_strings_are_numbers(tmp_path):
    path = write_map(tmp_path, np.zeros((2, 2), np.uint8))
    path.write_text(path.read_text().replace("resolution: 0.05", "resolution: 5e-2"))
    assert load_grid(path).resolution == 0.05


def test_mode_may_be_missing_and_in_capitals(tmp_path):
    path = write_map(tmp_path, np.full((2, 2), 90, np.uint8), mode="RAW")
    assert (load_grid(path).cells == 90).all()


def test_the_saver_trap_is_named(tmp_path):
    pixels = np.full((2, 2), 205, np.uint8)
    grid = load_grid(write_map(tmp_path, pixels, free_thresh=0.25))
    assert (grid.cells == 0).all()
    (warning,) = grid.warnings
    assert warning.startswith(f"{tmp_path / 'map.yaml'}: unknown cells (grey 205) become free")
    assert "free_thresh: 0.196" in warning
    assert load_grid(write_map(tmp_path, pixels)).warnings == ()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"image": ...}, "the key 'image' .* is missing"),
        ({"image": ""}, "'image' must name"),
        ({"image": "other.pgm"}, "other.pgm: the map image does not exist"),
        ({"resolution": ...}, "the key 'resolution' .* is missing"),
        ({"resolution": "fine"}, "'resolution' must be a finite number, got 'fine'"),
        ({"resolution": 0}, r"'resolution' must be > 0 \[m\], got '0'"),
        ({"resolution": float("nan")}, "'resolution' must be a finite number"),
        ({"origin": [1, 2]}, r"'origin' must be a list of 3 numbers, got \['1', '2'\]"),
        ({"origin": 5}, "'origin' must be a list of 3 numbers"),
        ({"origin": [1, 2, "x"]}, "'origin' must be a finite number, got 'x'"),
        ({"negate": ...}, "the key 'negate' .* is missing"),
        ({"negate": "maybe"}, "'negate' must be 0, 1, true or false, got 'maybe'"),
        ({"mode": "binary"}, "'mode' must be one of trinary, scale, raw, got 'binary'"),
        ({"free_thresh": ...}, "the key 'free_thresh' .* is missing"),
        ({"occupied_thresh": ...}, "the key 'occupied_thresh' .* is missing"),
    ],
)
def test_wrong_keys(tmp_path, changes, reason):
    path = write_map(tmp_path, np.zeros((2, 2), np.uint8), **changes)
    with pytest.raises(BuildError, match=reason) as caught:
        load_grid(path)
    assert str(caught.value).startswith(str(tmp_path))


@pytest.mark.parametrize("text", ["", "- 1", "a: [", "\x00"])
def test_what_is_no_map_file(tmp_path, text):
    (tmp_path / "map.yaml").write_text(text)
    with pytest.raises(BuildError, match=r"map\.yaml: (not a YAML|a map file must hold)"):
        load_grid(tmp_path / "map.yaml")
