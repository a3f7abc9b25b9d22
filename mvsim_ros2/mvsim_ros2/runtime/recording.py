# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Recording of what the node publishes, without subscriptions: each message of each tick."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from mvsim_core import World
from mvsim_core.errors import LogError

if TYPE_CHECKING:
    from mvsim_core.bags import BagRecorder

#: From a file and a world to its recording.
Start = Callable[[Path, World], "BagRecorder"]


class NodeRecording:
    """The recording of the present world; another world gets a file of its own.

    Args:
        path: The first file; the following ones get a number, `run_2.mcap`.
        start: Starts a recording.
        report: Called with a text when a recording ends too early.
    """

    def __init__(self, path: str, start: Start, report: Callable[[str], object]) -> None:
        """Record nothing yet."""
        self._path = Path(path)
        self._start = start
        self._report = report
        self._number = 0
        self._recorder: BagRecorder | None = None

    def follow(self, world: World | None) -> None:
        """Complete the recording of the former world and begin that of another one.

        Raises:
            LogError: The first file cannot be created.
        """
        self.close()
        if world is None:
            return
        self._number += 1
        path = self._path
        if self._number > 1:
            path = path.with_stem(f"{path.stem}_{self._number}")
        try:
            self._recorder = self._start(path, world)
        except LogError as error:
            if self._number == 1:
                raise
            self._report(str(error))

    def close(self) -> None:
        """Complete the recording, if there is one."""
        recorder, self._recorder = self._recorder, None
        if recorder is None:
            return
        try:
            recorder.close()
        except LogError as error:
            self._report(str(error))
