# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Timing of scenes and kernels, compared within one run; `mvsim bench` prints it.

A module of cases has `STEPS`, names to functions that return µs by phase, or `CASES`, names to
functions that return seconds a call. Those of a checkout's `benchmarks` are found if it can be
imported.
"""

from mvsim_core.bench.cases import Case, cases

__all__ = ["Case", "cases"]
