# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The cases of planar lidars and occupancy grids, which are part of the package."""

from mvsim_core.bench.sensors import CASES
from mvsim_core.bench.timing import best_of

__all__ = ["CASES", "best_of"]
