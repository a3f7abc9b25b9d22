# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Numbers to text: like Python's own ten digits."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mvsim_core.recording.text import LONGEST, csv_rows

KNOWN = {
    0.0: "0",
    1.0: "1",
    -2.5: "-2.5",
    0.005: "0.005",
    1234567890.0: "1234567890",
    1e10: "1e+10",
    0.1 + 0.2: "0.3",
    9.99999999999: "10",
    123.4567890123: "123.456789",
    1e-5: "0.00001",
    1e-6: "1e-06",
    -1.5e300: "-1.5e+300",
    2.5e-300: "2.5e-300",
    math.inf: "inf",
    -math.inf: "-inf",
}


@pytest.mark.parametrize("value", list(KNOWN))
def test_known_numbers(value: float) -> None:
    assert csv_rows(np.array([[value]])).tobytes() == f"{KNOWN[value]}\n".encode()


def test_nan_and_rows() -> None:
    """Columns go in, lines come out; equal neighbours in a column are the same text."""
    columns = np.array([[1.0, 1.0, 2.0], [math.nan, 0.5, 0.5]])
    assert csv_rows(columns).tobytes() == b"1,nan\n1,0.5\n2,0.5\n"


@given(st.floats(-1e308, 1e308))
def test_any_number_reads_back(value: float) -> None:
    text = csv_rows(np.array([[value]])).tobytes()
    assert len(text) <= LONGEST
    tiny = 5e-324 if abs(value) < 2.3e-308 else 0.0
    assert float(text) == pytest.approx(value, rel=1e-9, abs=tiny * 2**52)
