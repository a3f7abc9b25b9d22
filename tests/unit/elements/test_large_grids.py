# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of maps are converted in bands, which changes no cell and takes little memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from mvsim_core.elements import grid_files
from mvsim_core.elements.occupancy_grid import load_grid

SIZE = (67, 41)  # rows, columns
YAML = """image: map.png
resolution: 0.05
origin: [0, 0, 0]
negate: 0
occupied_thresh: 0.65
free_thresh: {free}
mode: {mode}
"""


def picture(mode: str) -> Image.Image:
    rng = np.random.default_rng(3)
    gray = rng.integers(0, 256, SIZE, np.uint8)
    if mode == "RGBA":
        return Image.fromarray(np.dstack([gray, gray[::-1], gray, 255 * (gray > 40)]).astype("u1"))
    if mode == "I;16":
        return Image.fromarray(gray.astype(np.uint16) * 257)
    if mode == "P":
        return Image.fromarray(np.dstack([gray, gray, gray[:, ::-1]])).quantize(40)
    return Image.fromarray(gray).convert(mode)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "I;16"])
@pytest.mark.parametrize("yaml", ["", "trinary", "scale", "raw"])
def test_bands_change_no_cell(
    mode: str, yaml: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "map.png"
    picture(mode).save(file)
    if yaml:
        file = tmp_path / "map.yaml"
        file.write_text(YAML.format(free=0.25, mode=yaml))
    whole = load_grid(file)
    monkeypatch.setattr(grid_files, "BAND", 5 * SIZE[1] + 3)
    bands = load_grid(file)
    np.testing.assert_array_equal(whole.cells, bands.cells)
    assert whole.warnings == bands.warnings
    assert len(np.unique(whole.cells)) > 1


def test_unknown_cells_in_any_band_are_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gray = np.full(SIZE, 254, np.uint8)
    gray[30, 7] = grid_files.UNKNOWN_GRAY
    Image.fromarray(gray).save(tmp_path / "map.png")
    (tmp_path / "map.yaml").write_text(YAML.format(free=0.25, mode="trinary"))
    monkeypatch.setattr(grid_files, "BAND", 4 * SIZE[1])
    (warning,) = load_grid(tmp_path / "map.yaml").warnings
    assert "unknown cells (grey 205) become free" in warning


def test_a_map_takes_little_more_than_a_byte_a_cell_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    side = 2000
    Image.new("L", (side, side), 255).save(tmp_path / "map.png")
    monkeypatch.setattr(grid_files, "BAND", 50_000)
    load_grid(tmp_path / "map.png")  # what is imported now counts no more
    tracemalloc.start()
    try:
        load_grid(tmp_path / "map.png")
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < 1.5 * side**2  # 3 and more if the whole picture was converted at once
