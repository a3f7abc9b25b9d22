# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Rules of consumers, restated from their sources."""

import math

import numpy as np


def expected_beams(angle_min: float, angle_max: float, increment: float, n: int) -> int:
    """Return how many readings slam_toolbox expects in a scan with `n` readings.

    From slam_toolbox, src/laser_utils.cpp:110-118 and lib/karto_sdk/include/karto_sdk/Karto.h:
    4299-4310; a scan with another number is dropped.
    """
    span = float(np.float32(angle_max) - np.float32(angle_min))
    full = abs(abs(span) - 2 * math.pi) < increment - np.finfo(np.float32).eps * 2 * math.pi
    if span > 6.10865 and round(span / increment) + 1 == n:
        full = False
    return math.floor(span / increment + 0.5) + (0 if full else 1)
