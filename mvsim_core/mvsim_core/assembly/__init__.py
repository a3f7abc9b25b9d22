# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Building worlds: from files and specs to running parts."""

from mvsim_core.assembly.load import load_world

__all__ = ["load_world"]
