# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Numpy arrays to the types of long message fields."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import numpy.typing as npt


def float_array(values: npt.NDArray[np.float32]) -> array[float]:
    """Return numbers as the type of a float32[] field."""
    return array("f", values.tobytes())


def byte_array(values: npt.NDArray[Any]) -> array[int]:
    """Return the bytes of an array as the type of a uint8[] field, copied once."""
    data = array("B")
    data.frombytes(np.ascontiguousarray(values).view(np.uint8).data)
    return data
