# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Parameter studies: one world with many seeds and values of its variables, in many processes."""

from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.study import run
from mvsim_core.batches.table import Results

__all__ = ["BatchError", "Results", "run"]
