# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Elevation maps: grids of ground heights from images, matrices or point lists.

Rows of an image or matrix run along +x of the world, columns along +y.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mvsim_core.elements.point_files import read_table
from mvsim_core.errors import BuildError
from mvsim_core.resources.remote_files import local_copy
from mvsim_core.specs.element import ElevationMapSpec
from mvsim_core.state.arrays import FloatArray, Rows
from mvsim_core.terrain.surface import map_of

#: Largest difference of the channels of a grey pixel, caused by compression [of 255].
COLOURLESS = 8
#: Most heights in one map; each takes 8 bytes, with copies during loading.
MOST_SAMPLES = 16_000_000


def load_elevation(spec: ElevationMapSpec) -> tuple[Rows, FloatArray]:
    """Return the map of a spec: one row of MAP and its samples [m].

    Raises:
        BuildError: The file is missing, unreadable, or holds something else.
    """
    corner = None
    if spec.elevation_image:
        low, high = spec.elevation_image_min_z, spec.elevation_image_max_z
        heights = read_heights(local_copy(spec.elevation_image), low, high)
    elif spec.elevation_data_matrix is not None:
        heights = np.array(spec.elevation_data_matrix) * spec.elevation_data_matrix_scale
    else:
        offset = (spec.dem_offset_x, spec.dem_offset_y, spec.dem_offset_z)
        heights, corner = read_points(local_copy(spec.dem_xyzrgb_file), spec.resolution, offset)
    if spec.apply_kernel is not None:
        from scipy.ndimage import correlate

        heights = correlate(heights, np.array(spec.apply_kernel), mode="constant")
    if corner is None:
        x0, y0 = (-0.5 * (n - 1) * spec.resolution for n in heights.shape)
        corner = (
            x0 if spec.corner_min_x is None else spec.corner_min_x,
            y0 if spec.corner_min_y is None else spec.corner_min_y,
        )
    return map_of(heights, spec.resolution, corner)


def read_heights(path: Path, low: float, high: float) -> FloatArray:
    """Return the heights of a grey image: its darkest pixel is `low`, its brightest `high` [m].

    Raises:
        BuildError: There is no such image, or it is of one grey only or too small.
    """
    gray = _brightness(path)
    if min(gray.shape) < 2:
        raise BuildError(f"{path}: an elevation image needs at least 2 x 2 pixels")
    dark, bright = float(gray.min()), float(gray.max())
    if dark == bright:
        raise BuildError(f"{path}: all pixels are of one grey: heights need at least two")
    return low + (gray - dark) * ((high - low) / (bright - dark))


def _brightness(path: Path) -> FloatArray:
    """Return the grey values of an image at its full depth, which may be more than eight bits."""
    from PIL import Image, UnidentifiedImageError  # 15 ms of each start

    if not path.is_file():
        raise BuildError(f"{path}: the elevation image does not exist")
    try:
        with Image.open(path) as image:
            check_samples(path, *image.size)
            image.load()
            if image.mode.startswith(("I", "F")):
                return np.asarray(image, dtype=float)
            rgb = np.asarray(image.convert("RGB"))
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise BuildError(f"{path}: not an image that can be read ({error})") from error
    except (OSError, ValueError, SyntaxError) as error:
        raise BuildError(f"{path}: the image is damaged ({error})") from error
    if (rgb.max(axis=2) - rgb.min(axis=2)).max() > COLOURLESS:
        raise BuildError(f"{path}: an elevation image must be grey, this one has colours")
    gray: FloatArray = rgb.mean(axis=2)
    return gray


def check_samples(path: Path, columns: float, rows: float) -> None:
    """Raise BuildError if a map has more than MOST_SAMPLES heights."""
    if not columns * rows <= MOST_SAMPLES:
        raise BuildError(
            f"{path}: {columns:.0f} x {rows:.0f} heights are too many, at most {MOST_SAMPLES} are"
            " allowed; scale the map down and choose a larger <resolution>"
        )


def read_points(
    path: Path, step: float, offset: tuple[float, float, float]
) -> tuple[FloatArray, tuple[float, float]]:
    """Return heights on a grid, each from the nearest point of a list, and its first corner.

    Args:
        path: Text file of six columns: x y z r g b [m].
        step: Distance of the samples [m].
        offset: Added to all points [m].

    Raises:
        BuildError: There is no such file, or it holds something else.
    """
    from scipy.spatial import cKDTree

    points = read_table(path, "lines of 'x y z r g b'", 6)
    xyz = points[:, :3] + offset
    if not np.isfinite(xyz).all():
        raise BuildError(f"{path}: the elevation points must be finite numbers [m]")
    low, high = xyz[:, :2].min(axis=0), xyz[:, :2].max(axis=0)
    check_samples(path, *np.ceil((high - low) / step))
    nx, ny = (max(2, int(n)) for n in np.ceil((high - low) / step))
    first = low + 0.5 * step
    grid = np.stack(
        np.meshgrid(
            first[0] + step * np.arange(nx), first[1] + step * np.arange(ny), indexing="ij"
        ),
        axis=-1,
    )
    _, nearest = cKDTree(xyz[:, :2]).query(grid.reshape(-1, 2))
    heights: FloatArray = xyz[nearest, 2].reshape(nx, ny)
    return heights, (float(first[0]), float(first[1]))
