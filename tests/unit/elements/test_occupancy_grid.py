# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The map class and the two simple file formats: images and MRPT's gridmaps."""

import gzip
import math
import struct

import numpy as np
import pytest
from PIL import Image

from mvsim_core.elements.occupancy_grid import GridMap, GridOrigin, load_grid
from mvsim_core.errors import BuildError


def mrpt_bytes(log_odds, *, bits=8, version=3, resolution=0.08, corner=(-10.0, -127.04)):
    h, w = log_odds.shape
    x, y = corner
    head = b"\x93COccupancyGridMap2D" + struct.pack("<BBII", version, bits, w, h)
    size = struct.pack("<5f", x, x + w * resolution, y, y + h * resolution, resolution)
    return head + size + log_odds.astype(f"<i{bits // 8}").tobytes() + b"options"


def test_image_rows_are_turned_upside_down_and_dark_is_occupied(tmp_path):
    gray = np.array([[0, 126, 127], [130, 131, 255]], np.uint8)
    Image.fromarray(gray).save(tmp_path / "map.png")
    grid = load_grid(tmp_path / "map.png", resolution=0.5, centerpixel_x=2, centerpixel_y=1)
    assert grid.cells.dtype == np.int8
    assert grid.cells.tolist() == [[-1, 0, 0], [100, 100, -1]]
    assert grid.occupied.tolist() == [[False, False, False], [True, True, False]]
    assert grid.origin == (-1.0, -0.5, 0.0)
    assert (grid.width, grid.height, grid.resolution) == (3, 2, 0.5)


def test_the_default_centre_pixel_is_taken_literally(tmp_path):
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "map.png")
    assert load_grid(tmp_path / "map.png").origin == (0.1, 0.1, 0.0)


@pytest.mark.parametrize("mode", ["L", "1", "P", "RGB", "RGBA", "LA", "I;16"])
def test_all_kinds_of_pictures_give_the_same_map(tmp_path, mode):
    gray = np.where(np.arange(48).reshape(6, 8) % 3 == 0, 0, 255).astype(np.uint8)
    if mode == "I;16":
        image = Image.fromarray(gray.astype(np.uint16) * 257)
    else:
        image = Image.fromarray(gray).convert(mode)
    image.save(tmp_path / "map.png")
    expected = np.where(gray == 0, 100, 0)[::-1]
    assert (load_grid(tmp_path / "map.png").cells == expected).all()


def test_what_is_transparent_is_unknown_with_and_without_yaml(tmp_path):
    """Black that is transparent, the usual background of drawings, is no wall."""
    pixels = np.zeros((4, 6, 4), np.uint8)
    pixels[1, 2] = pixels[2, :] = (0, 0, 0, 255)
    pixels[3, 1] = (255, 255, 255, 255)
    Image.fromarray(pixels).save(tmp_path / "map.png")
    (tmp_path / "map.yaml").write_text(
        "image: map.png\nresolution: 0.1\norigin: [0, 0, 0]\nnegate: 0\n"
        "occupied_thresh: 0.65\nfree_thresh: 0.196\n"
    )
    expected = np.full((4, 6), -1)
    expected[1, 2], expected[2, :], expected[3, 1] = 100, 100, 0
    for name in ("map.png", "map.yaml"):
        assert (load_grid(tmp_path / name).cells == expected[::-1]).all()


@pytest.mark.parametrize("name", ["map.gridmap", "map.gridmap.gz"])
@pytest.mark.parametrize("bits", [8, 16])
def test_mrpt_map(tmp_path, name, bits):
    log_odds = np.array([[-128, -1, 0], [1, 127, 0]])
    data = mrpt_bytes(log_odds, bits=bits)
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    grid = load_grid(tmp_path / name)
    assert grid.cells.tolist() == [[100, 100, -1], [0, 0, -1]]
    assert grid.resolution == 0.08
    assert grid.origin == (-10.0, -127.04, 0.0)


def test_campus_map_of_the_original(mvsim_worlds):
    grid = load_grid(mvsim_worlds / "mvsim_tutorial" / "uma_campus.gridmap.gz")
    assert grid.cells.shape == (2738, 1888)
    assert [int((grid.cells == value).sum()) for value in (-1, 0, 100)] == [
        3253419,
        1888269,
        27656,
    ]
    assert 0 < len(grid.rectangles()) < 12000


def test_rectangles_are_in_metres_of_the_grid_frame():
    cells = np.zeros((4, 5), np.int8)
    cells[1, 1:4] = 100
    grid = GridMap(cells, 0.5, GridOrigin(10.0, 20.0, math.pi / 2))
    assert grid.rectangles().tolist() == [[0.5, 0.5, 2.0, 1.0]]
    corner = grid.to_world(np.array([[2.0, 1.0]]))
    assert corner == pytest.approx(np.array([[9.0, 22.0]]))


def broken_files():
    good = mrpt_bytes(np.zeros((3, 4)))
    return {
        "gone.png": (None, "does not exist"),
        "text.png": (b"hello", "not an image"),
        "empty.png": (b"", "not an image"),
        "empty.gridmap": (b"", "not an MRPT map"),
        "other.gridmap": (b"\x8fCSimplePointsMap" + bytes(99), "must begin with"),
        "head.gridmap": (good[:25], "cut off in its header"),
        "short.gridmap": (good[:-10], "must hold 4 x 3 cells"),
        "none.gridmap": (mrpt_bytes(np.zeros((0, 4))), "must hold 4 x 0 cells"),
        "old.gridmap": (mrpt_bytes(np.zeros((3, 4)), version=2), "version 2"),
        "cut.gridmap.gz": (gzip.compress(good)[:-9], "cannot be unpacked"),
        "size.gridmap": (mrpt_bytes(np.zeros((3, 4)), resolution=0.0), "resolution must be > 0"),
    }


@pytest.mark.parametrize("name", list(broken_files()))
def test_a_broken_file_is_one_clear_error(tmp_path, name):
    content, reason = broken_files()[name]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(BuildError, match=reason) as caught:
        load_grid(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))


def test_a_cut_off_picture_is_an_error(tmp_path):
    noise = np.random.default_rng(0).integers(0, 256, (50, 50), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "whole.png")
    data = (tmp_path / "whole.png").read_bytes()
    (tmp_path / "cut.png").write_bytes(data[: len(data) // 2])
    with pytest.raises(BuildError, match=r"cut\.png: the image is damaged"):
        load_grid(tmp_path / "cut.png")


def test_a_folder_is_no_map(tmp_path):
    with pytest.raises(BuildError, match="is not a file"):
        load_grid(tmp_path)


@pytest.mark.parametrize("resolution", [0.0, -0.1, math.nan, math.inf])
def test_resolution_must_be_positive(tmp_path, resolution):
    Image.fromarray(np.zeros((2, 2), np.uint8)).save(tmp_path / "map.png")
    with pytest.raises(BuildError, match=r"resolution must be > 0 \[m\]"):
        load_grid(tmp_path / "map.png", resolution=resolution)
    with pytest.raises(BuildError, match=r"resolution must be > 0 \[m\]"):
        GridMap(np.zeros((2, 2), np.int8), resolution)


def test_a_map_without_cells_is_refused():
    with pytest.raises(BuildError, match="at least one cell"):
        GridMap(np.zeros((0, 3), np.int8), 0.1)
