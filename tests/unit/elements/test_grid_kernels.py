# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Clearances and collision boxes against plain restatements, on small random maps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from mvsim_core.elements.grid_kernels import FULL, boxes, clearance

grids = arrays(np.bool_, st.tuples(st.integers(1, 12), st.integers(1, 12)))


def nearest_gap(occupied, row, column):
    """Distance in cells between the square of one cell and the nearest occupied square."""
    rows, columns = np.nonzero(occupied)
    if rows.size == 0:
        return np.inf
    dy = np.maximum(np.abs(rows - row) - 1, 0)
    dx = np.maximum(np.abs(columns - column) - 1, 0)
    return np.hypot(dx, dy).min()


def test_clearance_is_the_gap_between_the_squares_rounded_down():
    rng = np.random.default_rng(3)
    for density in (0.0, 0.003, 0.05, 0.5, 1.0):
        occupied = rng.random((29, 41)) < density
        field = clearance(occupied)
        padded = np.pad(occupied, 1)
        for row in range(field.shape[0]):
            for column in range(field.shape[1]):
                if padded[row, column]:
                    assert field[row, column] == 0
                else:
                    gap = nearest_gap(padded, row, column)
                    assert field[row, column] == 1 + min(gap, FULL - 1) // 1


def test_far_clearances_are_cut_off():
    occupied = np.zeros((3, 700), np.bool_)
    occupied[1, 0] = True
    field = clearance(occupied)
    assert field[2, 1] == 0
    assert field[2, 100] == 1 + 98
    assert (field[:, 300:] == FULL).all()


@given(grids)
@settings(deadline=None)
def test_boxes_cover_the_outline_and_nothing_free(occupied):
    covered = np.zeros_like(occupied)
    for x0, y0, x1, y1 in boxes(occupied):
        assert x0 < x1
        assert y0 < y1
        covered[y0:y1, x0:x1] = True
    assert not (covered & ~occupied).any()
    padded = np.pad(occupied, 1)
    surrounded = padded[:-2, 1:-1] & padded[2:, 1:-1] & padded[1:-1, :-2] & padded[1:-1, 2:]
    assert (covered | ~occupied | surrounded).all()


def test_a_room_needs_four_boxes_and_a_slab_one():
    room = np.ones((40, 60), np.bool_)
    assert len(boxes(room)) == 1
    room[1:-1, 1:-1] = False
    assert len(boxes(room)) == 4


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_the_smallest_maps(shape):
    full = np.ones(shape, np.bool_)
    assert len(boxes(full)) == 1
    assert len(boxes(~full)) == 0
    assert (clearance(full)[1:-1, 1:-1] == 0).all()
    assert (clearance(~full) == FULL).all()
