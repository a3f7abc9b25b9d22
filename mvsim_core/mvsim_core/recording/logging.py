# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The part of a world that starts and stops its logs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mvsim_core.errors import LogError
from mvsim_core.recording.recorder import Recorder

if TYPE_CHECKING:
    from mvsim_core.assembly.contents import Contents
    from mvsim_core.recording.rawlog import RawlogFiles
    from mvsim_core.state.arrays import State


class Logging:
    """Methods of `World` that write logs of its vehicles and wheels."""

    _recorder: Recorder | None = None
    _rawlog: RawlogFiles | None = None
    _contents: Contents
    state_arrays: State

    @property
    def logging(self) -> bool:
        """Whether a log is being written."""
        return self._recorder is not None

    def start_logging(
        self, folder: str | Path | None = None, every: int = 1, format: str = "csv"
    ) -> list[Path]:
        """Log all vehicles from now on, one row each `every` ticks; return the files.

        Args:
            folder: Where the files go; None: where the `log_path` of each vehicle says.
            every: 1 records each tick.
            format: "csv", "npz", or "parquet" if pyarrow is installed. NPZ and Parquet files are
                there when the log has been stopped.

        Raises:
            LogError: Files cannot be made, or an argument makes no sense.
        """
        recorder = Recorder(folder, every, format)
        self.stop_logging()
        self._bind(recorder)
        self._recorder = recorder
        return recorder.files

    def new_log_session(self) -> list[Path]:
        """Complete the files of the log and go on in new ones, which are returned.

        Raises:
            LogError: Nothing is being logged, or files cannot be written.
        """
        if self._recorder is None:
            raise LogError("no log to begin anew: start_logging comes first")
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
        """Complete all files that are being written: nothing is lost if the process ends now.

        Raises:
            LogError: The rest of a log cannot be written.
        """
        self.stop_logging()
        self._close_rawlog()

    def _close_rawlog(self) -> None:
        if self._rawlog is not None:
            self._rawlog.close()

    def _bind(self, recorder: Recorder) -> None:
        recorder.bind(self._contents.vehicles(), self.state_arrays, self._contents.dt)

    def _follow_log(self) -> None:
        """Let the log follow arrays that were laid out anew."""
        if self._recorder is not None:
            self._bind(self._recorder)

    def _log_anew(self) -> None:
        """Begin a session at the start of a run; start the log if a vehicle's file asks for it."""
        if self._recorder is not None:
            self.new_log_session()
        elif any(v.spec.auto_start_recording for v in self._contents.vehicles()):
            self._recorder = Recorder(only_auto=True, at_first_row=True)
            self._bind(self._recorder)
