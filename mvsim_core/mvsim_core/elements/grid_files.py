# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Readers of occupancy grid files: plain images, Nav2's yaml and image pairs, MRPT's gridmaps."""

from __future__ import annotations

import gzip
import math
import struct
import warnings
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import yaml
from PIL import Image, UnidentifiedImageError

from mvsim_core.elements.occupancy_grid import FREE, OCCUPIED, UNKNOWN, GridMap, GridOrigin
from mvsim_core.errors import BuildError

Gray = npt.NDArray[np.uint8]
Cells = npt.NDArray[np.int8]

MODES = ("trinary", "scale", "raw")
#: Grey value that map savers write for unknown cells.
UNKNOWN_GRAY = 205


#: Most cells of a map: 600 m by 600 m at 5 cm. Each takes about 4 bytes while the map is prepared
#: and 3 while it is used, of a colour picture 5: less than a gigabyte with the program itself.
MOST_CELLS = 150_000_000
#: Cells that are converted at a time.
BAND = 4_000_000
MOST_BYTES = 2 * MOST_CELLS + 1000
TOO_MANY = (
    f"too many cells, at most {MOST_CELLS} are allowed; scale the map down and choose a larger"
    " resolution"
)
#: Longest YAML file of a map [characters].
MOST_YAML = 100_000

# ---------------------------------------------------------------- images


def read_cells(path: Path, cells_of: Callable[[Gray, Gray | None], Cells]) -> Cells:
    """Return the cells (h, w) that a picture shows, its lowest row first.

    Args:
        path: The picture.
        cells_of: Returns the cells of some rows, given their brightness and alpha (None: opaque
            throughout), (rows, w) uint8, top row first. Colours count by the integer weights of
            Rec. 601, as in GraphicsMagick, which map_server uses.

    Raises:
        BuildError: There is no such file, or it is no image, or one of too many cells.
    """
    if not path.is_file():
        raise BuildError(f"{path}: the map image does not exist")
    try:
        with _opened(path) as image:
            image.load()
            w, h = image.size
            cells = np.empty((h, w), np.int8)
            rows = max(1, BAND // w)
            for top in range(0, h, rows):
                end = min(top + rows, h)
                band = cells_of(*_to_gray(image.crop((0, top, w, end))))
                cells[h - end : h - top] = band[::-1]
            return cells
    except Image.DecompressionBombError as error:
        raise BuildError(f"{path}: {TOO_MANY}") from error
    except UnidentifiedImageError as error:
        raise BuildError(f"{path}: not an image that can be read ({error})") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise BuildError(f"{path}: the image is damaged ({error})") from error


def _opened(path: Path) -> Image.Image:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # our limit is above it
        image = Image.open(path)
    try:
        _check_cells(path, *image.size)
    except BuildError:
        image.close()
        raise
    return image


def _to_gray(image: Image.Image) -> tuple[Gray, Gray | None]:
    if image.mode.startswith(("I", "F")):
        wide = np.asarray(image, dtype=np.float64)
        return np.clip(np.floor(wide / 257.0 + 0.5), 0, 255).astype(np.uint8), None
    if image.mode in ("1", "L") and "transparency" not in image.info:
        return np.array(image.convert("L")), None
    has_alpha = "A" in image.getbands() or "transparency" in image.info
    rgba = np.asarray(image.convert("RGBA"))
    wide_rgb = rgba[..., :3].astype(np.uint32) * 257
    luma = (wide_rgb @ np.array([306, 601, 117], np.uint32)) >> 10
    return ((luma + 128) // 257).astype(np.uint8), rgba[..., 3].copy() if has_alpha else None


def read_image(path: Path, resolution: float, center: tuple[float, float]) -> GridMap:
    """Return the map that a picture shows: dark is occupied, bright is free.

    Grey g means the probability g/255 that a cell is free. Below one half it is occupied. The
    four values around one half whose log-odds the original rounds to zero are unknown, and so is
    what is transparent, as in maps of Nav2.

    Args:
        path: The picture.
        resolution: Side of a pixel [m].
        center: Column, and row counted from the lowest one, of the pixel whose lower-left corner
            becomes the world's origin.
    """
    if not (math.isfinite(resolution) and resolution > 0):
        raise BuildError(f"{path}: resolution must be > 0 [m], got {resolution!r}")
    value = np.full(256, FREE, np.int8)
    value[:127] = OCCUPIED
    value[127:131] = UNKNOWN
    origin = GridOrigin(-center[0] * resolution, -center[1] * resolution)

    def cells_of(gray: Gray, alpha: Gray | None) -> Cells:
        cells = value[gray]
        if alpha is not None:
            cells[alpha < 255] = UNKNOWN  # as map_server has it
        return cells

    return GridMap(read_cells(path, cells_of), resolution, origin, source=str(path))


# ---------------------------------------------------------------- Nav2


@dataclass(frozen=True, slots=True)
class Nav2Rule:
    """How map_server turns a pixel into a cell."""

    mode: str
    negate: bool
    free: float
    occupied: float


def read_nav2(path: Path) -> GridMap:
    """Return the map of a yaml file exactly as Nav2's map_server publishes it.

    Raises:
        BuildError: A key is missing or has a wrong value, or the image cannot be read.
    """
    keys = _read_yaml(path)
    image = _require(path, keys, "image", "the map's picture")
    if not isinstance(image, str) or not image:
        raise BuildError(f"{path}: 'image' must name the map's picture, got {image!r}")
    mode = str(keys.get("mode", "trinary")).lower()
    if mode not in MODES:
        raise BuildError(f"{path}: 'mode' must be one of {', '.join(MODES)}, got {mode!r}")
    rule = Nav2Rule(
        mode=mode,
        negate=_flag(path, keys, "negate"),
        free=_number(path, keys, "free_thresh"),
        occupied=_number(path, keys, "occupied_thresh"),
    )
    resolution = _number(path, keys, "resolution")
    if resolution <= 0:
        raise BuildError(f"{path}: 'resolution' must be > 0 [m], got {keys['resolution']!r}")
    origin = GridOrigin(*_numbers(path, keys, "origin", 3))
    doubtful = rule.mode != "raw" and not rule.negate and rule.free >= 0.1961
    seen = False  # whether the picture has cells that a map saver calls unknown

    def cells_of(gray: Gray, alpha: Gray | None) -> Cells:
        nonlocal seen
        seen = seen or (doubtful and bool((gray == UNKNOWN_GRAY).any()))
        return nav2_cells(gray, alpha, rule)

    cells = read_cells(path.parent / image, cells_of)
    found = (_unknown_is_free(path, rule),) if seen else ()
    return GridMap(cells, resolution, origin, source=str(path), warnings=found)


def nav2_cells(gray: Gray, alpha: Gray | None, rule: Nav2Rule) -> Cells:
    """Return cells in the picture's row order, in map_server's own float32 arithmetic."""
    if rule.mode == "raw":
        return np.where(gray <= 100, gray, 255).astype(np.uint8).view(np.int8)
    shade = np.arange(256, dtype=np.float32) / np.float32(255)
    p = shade if rule.negate else np.float32(1) - shade
    free, occupied = np.float32(rule.free), np.float32(rule.occupied)
    value = np.full(256, UNKNOWN, np.int8)
    value[p >= occupied] = OCCUPIED
    value[p <= free] = FREE
    if rule.mode == "scale":
        between = (p > free) & (p < occupied)
        span = np.float32(rule.occupied - rule.free)
        percent = (p[between] - free) / span * np.float32(100)
        value[between] = np.floor(percent.astype(np.float64) + 0.5).astype(np.int8)
    cells = value[gray]
    if alpha is not None:
        cells[alpha < 255] = UNKNOWN
    return cells


def _unknown_is_free(path: Path, rule: Nav2Rule) -> str:
    return (
        f"{path}: unknown cells (grey {UNKNOWN_GRAY}) become free, as in map_server, because "
        f"free_thresh {rule.free:g} is not below 0.1961; write 'free_thresh: 0.196' to keep them"
    )


def _read_yaml(path: Path) -> dict[str, Any]:
    try:
        # All scalars as text: YAML 1.1 would read the number 1e-2 as a string.
        with path.open(encoding="utf-8") as file:
            text = file.read(MOST_YAML + 1)
        if len(text) > MOST_YAML:
            raise BuildError(f"{path}: is longer than {MOST_YAML} characters, a map has few lines")
        keys = yaml.load(text, Loader=yaml.BaseLoader)
    except RecursionError:
        raise BuildError(f"{path}: not a YAML file of a map (it is nested too deeply)") from None
    except (yaml.YAMLError, ValueError, OSError) as error:
        raise BuildError(f"{path}: not a YAML file ({error})") from error
    if not isinstance(keys, dict):
        raise BuildError(f"{path}: a map file must hold 'key: value' lines with an 'image'")
    return keys


def _require(path: Path, keys: dict[str, Any], key: str, what: str) -> Any:
    if key not in keys:
        raise BuildError(f"{path}: the key {key!r} ({what}) is missing")
    return keys[key]


def _number(path: Path, keys: dict[str, Any], key: str) -> float:
    return _to_float(path, key, _require(path, keys, key, "a number"))


def _numbers(path: Path, keys: dict[str, Any], key: str, count: int) -> list[float]:
    values = _require(path, keys, key, f"{count} numbers")
    if not isinstance(values, list) or len(values) != count:
        raise BuildError(f"{path}: {key!r} must be a list of {count} numbers, got {values!r}")
    return [_to_float(path, key, value) for value in values]


def _to_float(path: Path, key: str, text: Any) -> float:
    try:
        value = float(text)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise BuildError(f"{path}: {key!r} must be a finite number, got {text!r}")
    return value


def _flag(path: Path, keys: dict[str, Any], key: str) -> bool:
    text = str(_require(path, keys, key, "0, 1, true or false")).strip().lower()
    if text in ("true", "yes", "on", "y"):
        return True
    if text in ("false", "no", "off", "n"):
        return False
    try:
        return int(text) != 0
    except ValueError:
        message = f"{path}: {key!r} must be 0, 1, true or false, got {text!r}"
        raise BuildError(message) from None


# ---------------------------------------------------------------- MRPT

_MRPT_NAME = b"COccupancyGridMap2D"
_MRPT_SIZE = struct.Struct("<BBII5f")


def read_mrpt(path: Path) -> GridMap:
    """Return a map that MRPT serialised, gzipped or not.

    Its cells are log-odds of being free: negative ones are occupied, zeros unknown.

    Raises:
        BuildError: The file is cut off or is no such map.
    """
    data = _unzipped(path)
    head = bytes([0x80 | len(_MRPT_NAME)]) + _MRPT_NAME
    if not data.startswith(head):
        raise BuildError(f"{path}: not an MRPT map: it must begin with {_MRPT_NAME.decode()!r}")
    try:
        version, bits, w, h, *floats = _MRPT_SIZE.unpack_from(data, len(head))
    except struct.error as error:
        raise BuildError(f"{path}: the MRPT map is cut off in its header") from error
    if version < 3 or bits not in (8, 16):
        raise BuildError(
            f"{path}: MRPT map version {version} with {bits}-bit cells is not supported; "
            "expected version 3 or later with 8 or 16 bits"
        )
    _check_cells(path, w, h)
    start = len(head) + _MRPT_SIZE.size
    if w == 0 or h == 0 or len(data) < start + w * h * bits // 8:
        raise BuildError(f"{path}: the MRPT map must hold {w} x {h} cells, but is cut off")
    # A single-precision number is read as its shortest decimal: 0.08, not 0.0799999982.
    x_min, _, y_min, _, resolution = (float(str(np.float32(value))) for value in floats)
    log_odds = np.frombuffer(data, f"<i{bits // 8}", w * h, start).reshape(h, w)
    cells = np.empty((h, w), np.int8)
    rows = max(1, BAND // w)
    for k in range(0, h, rows):
        band = log_odds[k : k + rows]
        cells[k : k + rows] = np.where(band < 0, OCCUPIED, np.where(band == 0, UNKNOWN, FREE))
    return GridMap(cells, resolution, GridOrigin(x_min, y_min), source=str(path))


def _unzipped(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as content:
            data = content.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise BuildError(f"{path}: cannot be unpacked ({error})") from error
    if len(data) > MOST_BYTES:
        raise BuildError(f"{path}: holds more than {MOST_BYTES} bytes when unpacked")
    return data


def _check_cells(path: Path, columns: int, rows: int) -> None:
    if columns * rows > MOST_CELLS:
        raise BuildError(f"{path}: {columns} x {rows} cells: {TOO_MANY}")
