# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Cells of solids, against geometry done cell by cell."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mvsim_core.elements.rasterize import BoolGrid, FloatArray, fill
from mvsim_core.geometry.polygons import crossing_edges

SIZE = 8


def filled(polygon: object, size: int = SIZE) -> BoolGrid:
    cells = np.zeros((size, size), np.bool_)
    fill(cells, np.array(polygon, dtype=np.float64))
    return cells


def crosses(a: FloatArray, b: FloatArray, row: int, column: int, skin: float) -> bool:
    """Whether a line passes through a cell without its outermost `skin` (Liang and Barsky)."""
    begin, end = 0.0, 1.0
    for start, step, low in ((a[0], b[0] - a[0], column), (a[1], b[1] - a[1], row)):
        low, high = low + skin, low + 1 - skin
        if step == 0.0:
            if not low < start < high:
                return False
            continue
        near, far = sorted(((low - start) / step, (high - start) / step))
        begin, end = max(begin, near), min(end, far)
    return begin < end


def holds(polygon: FloatArray, x: float, y: float) -> bool:
    """Whether a point is in a polygon: it is wound around it."""
    angle = 0.0
    for a, b in zip(polygon, np.roll(polygon, -1, axis=0), strict=True):
        u, v = a - (x, y), b - (x, y)
        angle += math.atan2(u[0] * v[1] - u[1] * v[0], float(u @ v))
    return abs(angle) > math.pi


POINT = st.tuples(st.floats(-2.0, SIZE + 2.0), st.floats(-2.0, SIZE + 2.0))


@settings(deadline=None, max_examples=300)
@given(st.lists(POINT, min_size=3, max_size=6))
def test_cells_are_those_that_geometry_names(points: list[tuple[float, float]]) -> None:
    polygon = np.array(points)
    if crossing_edges(polygon) is not None:  # most do: as a star around its middle it does not
        away = polygon - polygon.mean(axis=0)
        polygon = polygon[np.argsort(np.arctan2(away[:, 1], away[:, 0]))]
    assume(crossing_edges(polygon) is None)
    cells = filled(polygon)
    edges = list(zip(polygon, np.roll(polygon, -1, axis=0), strict=True))
    for row in range(SIZE):
        for column in range(SIZE):
            centre = holds(polygon, column + 0.5, row + 0.5)
            surely = centre or any(crosses(a, b, row, column, 1e-4) for a, b in edges)
            perhaps = centre or any(crosses(a, b, row, column, -1e-4) for a, b in edges)
            assert surely <= bool(cells[row, column]) <= perhaps, (row, column)


@pytest.mark.parametrize("shift", [0.0, 1e-9, -1e-9])
def test_a_solid_of_whole_cells_is_these_cells(shift: float) -> None:
    cells = filled(np.array([(2, 3), (5, 3), (5, 4), (2, 4)]) + shift)
    expected = np.zeros_like(cells)
    expected[3, 2:5] = True
    np.testing.assert_array_equal(cells, expected)


def test_thin_and_small_solids_are_not_lost() -> None:
    wall = filled([(0.5, 2.4), (6.5, 2.4), (6.5, 2.41), (0.5, 2.41)])
    assert wall[2, 0:7].all()
    assert wall.sum() == 7
    speck = filled([(3.1, 3.1), (3.2, 3.1), (3.1, 3.2)])
    assert speck[3, 3]
    assert speck.sum() == 1


def test_what_is_outside_of_the_grid_is_cut_off() -> None:
    assert filled([(-9, -9), (99, -9), (99, 99), (-9, 99)]).all()
    assert not filled([(20, 20), (30, 20), (30, 30)]).any()
