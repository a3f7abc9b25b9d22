# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rows of CSV files: every number reads back exactly."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.recording.tables import csv_rows


def test_columns_become_lines() -> None:
    columns = np.array([[1.0, 2.0, 3.0], [0.1 + 0.2, -0.5, 1e-300]])
    assert csv_rows(columns) == b"1.0,0.30000000000000004\n2.0,-0.5\n3.0,1e-300\n"
    assert csv_rows(columns[:1, :1]) == b"1.0\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_are_not_finite_keep_their_names(value: float) -> None:
    columns = np.array([[0.25, value], [1.0, -2.0]])
    assert csv_rows(columns) == f"0.25,1.0\n{value},-2.0\n".encode()


@given(st.lists(st.floats(width=64), min_size=1, max_size=5))
def test_any_number_reads_back(values: list[float]) -> None:
    columns = np.array([values, values[::-1]])
    lines = csv_rows(columns).decode().splitlines()
    read = np.array([[float(text) for text in line.split(",")] for line in lines])
    np.testing.assert_array_equal(read, columns.T)
