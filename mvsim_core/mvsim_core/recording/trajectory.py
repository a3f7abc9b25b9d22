# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where vehicles really are, as text files of the TUM format: `t x y z qx qy qz qw` a line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from mvsim_core.errors import LogError
from mvsim_core.geometry.poses import quaternion
from mvsim_core.state.arrays import Rows
from mvsim_core.state.clock import SimClock
from mvsim_core.state.entities import Entity


class TrajectoryFiles:
    """Writes one file a vehicle, `<name without suffix>.<vehicle>.txt`.

    Times are simulated ones [s]; poses are those of reference points in the world [m].

    Args:
        path: The name from the world file; relative to the working directory.
        rate: Lines a second of simulated time [Hz].
        dt: Length of a tick [s].
    """

    def __init__(self, path: str, rate: float, dt: float) -> None:
        """Make no file yet."""
        self._base = Path(os.path.splitext(path)[0])
        self._every = SimClock(dt).whole_ticks(1.0 / rate)
        self._files: dict[str, TextIO] = {}

    def record(self, entities: Iterable[Entity], bodies: Rows, ticks: int, time: float) -> None:
        """Write a line for each vehicle if it is the turn of this tick.

        Raises:
            LogError: A file cannot be written.
        """
        if ticks % self._every:
            return
        for entity in entities:
            if entity.kind != "vehicle":
                continue
            b = bodies[entity.row]
            place = (float(b[k]) for k in ("x", "y", "z"))
            turn = quaternion(*(float(b[k]) for k in ("roll", "pitch", "yaw")))
            numbers = (time, *place, *turn)
            self._write(entity.name, " ".join(f"{number:.9f}" for number in numbers))

    def close(self) -> None:
        """Complete the files; what is recorded later begins them anew."""
        for file in self._files.values():
            file.close()
        self._files.clear()

    def _write(self, name: str, line: str) -> None:
        try:
            if name not in self._files:
                path = Path(f"{self._base}.{name}.txt")
                # closed with the world; buffered by lines, so that nothing is lost before
                self._files[name] = path.open("w", buffering=1, encoding="utf-8")
            self._files[name].write(line + "\n")
        except OSError as error:
            raise LogError(f"the trajectory of {name!r} cannot be written: {error}") from None
