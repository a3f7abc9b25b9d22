# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Data sets of what sensors measure, as MRPT's tools read them (`.rawlog`)."""

from mvsim_core.recording.rawlog.files import RawlogFiles
from mvsim_core.recording.rawlog.observations import OBSERVATIONS

__all__ = ["OBSERVATIONS", "RawlogFiles"]
