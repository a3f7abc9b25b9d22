# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recorders: logs of vehicles and wheels (CSV, NPZ, Parquet), plots of them, trajectories."""

from mvsim_core.recording.live import LiveLog
from mvsim_core.recording.reading import Log, read_log
from mvsim_core.recording.recorder import Recorder
from mvsim_core.recording.tables import FORMATS

__all__ = ["FORMATS", "LiveLog", "Log", "Recorder", "read_log"]
