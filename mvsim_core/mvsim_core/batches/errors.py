# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The error of this room."""

from mvsim_core.errors import MvsimError


class BatchError(MvsimError):
    """A study cannot be run, continued or written."""
