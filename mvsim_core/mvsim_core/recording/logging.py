# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The part of a world that starts and stops logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mvsim_core.errors import LogError
from mvsim_core.recording.recorder import Recorder

if TYPE_CHECKING:
    from mvsim_core.assembly.contents import Contents
    from mvsim_core.recording.trajectory import TrajectoryFiles
    from mvsim_core.state.arrays import State


class Logging:
    """Methods of `World` for logs of its vehicles and wheels."""

    _recorder: Recorder | None = None
    _trajectory: TrajectoryFiles | None = None
    _contents: Contents
    state_arrays: State

    @property
    def logging(self) -> bool:
        """Whether a log is being written."""
        return self._recorder is not None

    def start_logging(
        self, folder: str | Path | None = None, every: int = 1, format: str = "csv"
    ) -> list[Path]:
        """Log all vehicles from now on, one row every `every` ticks; return the files.

        Args:
            folder: Folder of the files; None: the `log_path` of each vehicle.
            every: Interval between rows in ticks; 1 logs every tick.
            format: "csv", "npz", or "parquet" if pyarrow is installed. NPZ and Parquet files
                exist after the log is stopped.

        Raises:
            LogError: Files cannot be created, or an argument is invalid.
        """
        recorder = Recorder(folder, every, format)
        self.stop_logging()
        self._bind(recorder)
        self._recorder = recorder
        return recorder.files

    def new_log_session(self) -> list[Path]:
        """Complete the files of the log and continue in new ones, which are returned.

        Raises:
            LogError: No log is being written, or files cannot be written.
        """
        if self._recorder is None:
            raise LogError("no log is being written: call start_logging first")
        self._recorder.close()
        self._bind(self._recorder)
        return self._recorder.files

    def stop_logging(self) -> list[Path]:
        """Complete the files of the log, if there is one, and return them.

        Raises:
            LogError: The rest cannot be written.
        """
        recorder, self._recorder = self._recorder, None
        return [] if recorder is None else recorder.close()

    def close(self) -> None:
        """Complete all files that are being written, so that the process can end.

        Raises:
            LogError: The rest of a log cannot be written.
        """
        self.stop_logging()
        self._close_trajectory()

    def _close_trajectory(self) -> None:
        if self._trajectory is not None:
            self._trajectory.close()

    def _bind(self, recorder: Recorder) -> None:
        recorder.bind(self._contents.vehicles(), self.state_arrays, self._contents.dt)

    def _follow_log(self) -> None:
        """Bind the log to the state arrays after they were reallocated."""
        if self._recorder is not None:
            self._bind(self._recorder)

    def _restart_log(self) -> None:
        """Begin a session at the start of a run; start the log if a vehicle asks for it."""
        if self._recorder is not None:
            self.new_log_session()
        elif any(v.spec.auto_start_recording for v in self._contents.vehicles()):
            self._recorder = Recorder(only_auto=True, at_first_row=True)
            self._bind(self._recorder)
