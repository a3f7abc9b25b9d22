# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Assembly of worlds: from files and specs to Model and Data."""

from mvsim_core.assembly.load import load_world

__all__ = ["load_world"]
