# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where the beams of 3D lidars go, and in which order they are fired."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mvsim_core.elements.point_files import read_table
from mvsim_core.errors import BuildError
from mvsim_core.resources.remote_files import local_copy
from mvsim_core.specs.sensor import Lidar3dSpec
from mvsim_core.state.arrays import FloatArray

#: Beams of a pattern from a file that are fired at one instant.
VOLLEY = 16


class Pattern(NamedTuple):
    """Beams in the order of firing.

    Attributes:
        directions: (rows, rings, 3) unit vectors, sensor frame; a row is fired at one instant.
        rows_per_scan: Rows that one reading takes; scans go on in the list where the last ended.
    """

    directions: FloatArray
    rows_per_scan: int


def pattern_of(spec: Lidar3dSpec, period: float) -> Pattern:
    """Return the beams of a lidar whose scans last `period` [s].

    Raises:
        BuildError: The file of the pattern cannot be used.
    """
    if spec.scan_pattern:
        return _from_file(local_copy(spec.scan_pattern), period)
    return Pattern(turning(ring_angles(spec), spec.horz_nrays), spec.horz_nrays)


def ring_angles(spec: Lidar3dSpec) -> FloatArray:
    """Return the elevation of each ring [rad], lowest first."""
    if spec.vertical_ray_angles:
        return np.array(spec.vertical_ray_angles)
    if spec.vert_nrays == 1:
        return np.zeros(1)
    return np.linspace(-0.5 * spec.vert_fov, 0.5 * spec.vert_fov, spec.vert_nrays)


def turning(elevations: FloatArray, columns: int) -> FloatArray:
    """Return (columns, rings, 3) of a lidar that turns clockwise, beginning at the rear."""
    azimuth = -math.pi - 2.0 * math.pi * np.arange(columns) / columns
    a, e = np.meshgrid(azimuth, elevations, indexing="ij")
    return np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], axis=2)


def spread(directions: FloatArray, angle: float) -> list[FloatArray]:
    """Return the four rays on the rim of each beam of a full opening angle [rad]."""
    up = np.array([0.0, 0.0, 1.0])
    side = np.cross(up, directions)
    length = np.linalg.norm(side, axis=-1, keepdims=True)
    side = np.where(length > 1e-9, side / np.maximum(length, 1e-9), [1.0, 0.0, 0.0])
    over = np.cross(directions, side)
    c, s = math.cos(0.5 * angle), math.sin(0.5 * angle)
    return [c * directions + s * way for way in (side, -side, over, -over)]


@lru_cache(maxsize=8)
def _from_file(path: Path, period: float) -> Pattern:
    if not path.is_file():
        raise BuildError(f"{path}: the scan pattern does not exist")
    wanted = "lines of time [s], azimuth, zenith [deg]"
    table = read_table(path, wanted, 3, between=",", heads=_heads(path))
    if len(table) < VOLLEY:
        raise BuildError(f"{path}: expected at least {VOLLEY} {wanted}, got {len(table)}")
    if not np.isfinite(table[:, :3]).all():
        raise BuildError(f"{path}: expected finite {wanted}")
    time, azimuth, zenith = table[:, 0], *np.radians(table[:, 1:3].T)
    step = float(time[-1] - time[0]) / (len(time) - 1)
    if step <= 0.0:
        raise BuildError(f"{path}: the times of a scan pattern must increase")
    flat = np.sin(zenith)
    beams = np.column_stack((flat * np.cos(azimuth), flat * np.sin(azimuth), np.cos(zenith)))
    rows = len(beams) // VOLLEY
    beams = beams[: rows * VOLLEY].reshape(rows, VOLLEY, 3)
    needed = max(1, round(period / step / VOLLEY))
    if needed > rows:  # the whole list several times in a scan
        beams = np.tile(beams, (-(-needed // rows), 1, 1))
    return Pattern(beams, needed)


def _heads(path: Path) -> int:
    """Return 1 if the first line of a file holds names instead of numbers."""
    with path.open(encoding="utf-8", errors="replace") as file:
        first = file.readline().split(",")[0].strip()
    try:
        float(first)
    except ValueError:
        return 1
    return 0
