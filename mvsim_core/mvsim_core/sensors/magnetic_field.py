# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The earth's magnetic field by the World Magnetic Model, as the pygeomag package computes it.

A call of the library takes about a quarter of a millisecond, so the field between the corners of
small cells is interpolated. That adds less than 0.05 nT, where the model itself is uncertain by
some 100 nT. Nearer than two cells to a pole, where north and east turn within a cell, the library
is called each time.
"""

from __future__ import annotations

import importlib
import math
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from mvsim_core.state.arrays import FloatArray

#: First and last year of the models: WMM2020 and WMM2025.
FIRST_YEAR, LAST_YEAR = 2020.0, 2030.0
#: Sides of a cell: of latitude and longitude [deg], and of height [m].
CELL, CELL_HEIGHT = 0.01, 1000.0
_TESLA = 1e-9  # in a nanotesla


def magnetic_field(latitude: float, longitude: float, height: float, year: float) -> FloatArray:
    """Return (3,) T to the east, to the north and upwards.

    Args:
        latitude: deg, WGS84.
        longitude: deg.
        height: m above the ellipsoid.
        year: Decimal year, FIRST_YEAR to LAST_YEAR.
    """
    if abs(latitude) > 90.0 - 2.0 * CELL:
        return _corner(latitude, longitude, height, year)
    place = (latitude / CELL, longitude / CELL, height / CELL_HEIGHT)
    cell = [math.floor(value) for value in place]
    part = [value - low for value, low in zip(place, cell, strict=True)]
    field = np.zeros(3)
    for corner in product((0, 1), repeat=3):
        weight = math.prod(p if c else 1.0 - p for p, c in zip(part, corner, strict=True))
        if weight > 0.0:
            i, j, k = (low + c for low, c in zip(cell, corner, strict=True))
            field += weight * _corner(i * CELL, j * CELL, k * CELL_HEIGHT, year)
    return field


@lru_cache(maxsize=4096)
def _corner(latitude: float, longitude: float, height: float, year: float) -> FloatArray:
    found = _model(year).calculate(
        glat=latitude, glon=(longitude + 180.0) % 360.0 - 180.0, alt=1e-3 * height, time=year
    )
    return np.array((found.y, found.x, -found.z)) * _TESLA


@lru_cache(maxsize=2)
def _model(year: float) -> Any:
    """Return the model of the five years that a decimal year is in."""
    pygeomag = importlib.import_module("pygeomag")  # most worlds do not need it
    return pygeomag.GeoMag(base_year=2020 if year < 2025.0 else 2025)
