# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Ground-truth trajectories as text files of the TUM format: `t x y z qx qy qz qw` a line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from mvsim_core.errors import LogError
from mvsim_core.geometry.poses import quaternion
from mvsim_core.state.arrays import Rows
from mvsim_core.state.clock import Cadence
from mvsim_core.state.entities import Entity


class TrajectoryFiles:
    """Recorder that writes one file per vehicle, `<path without suffix>.<vehicle>.txt`.

    A file is created with its first line, one period after the start. Times are simulated ones
    [s]; poses are those of the reference points in the world frame [m]. The tick alone decides
    whether a line is due, so that a snapshot of the world needs nothing from here.

    Args:
        path: The name from the world file; relative to the working directory.
        rate: Lines per second of simulated time [Hz].
        dt: Length of a tick [s].
    """

    def __init__(self, path: str, rate: float, dt: float) -> None:
        """Create no file yet."""
        self._base = Path(os.path.splitext(path)[0])
        self._cadence = Cadence(1.0 / rate, dt)
        self._files: dict[str, TextIO] = {}

    def record(self, entities: Iterable[Entity], bodies: Rows, ticks: int, time: float) -> None:
        """Write a line for each vehicle if one is due; call it after each step.

        Args:
            entities: All entities of the world.
            bodies: BODY after the step, all rows.
            ticks: Number of steps so far.
            time: Simulated time of the state [s].

        Raises:
            LogError: A file cannot be written.
        """
        if not self._cadence.is_due(ticks):
            return
        for entity in entities:
            if entity.kind != "vehicle":
                continue
            body = bodies[entity.row]
            position = (float(body[name]) for name in ("x", "y", "z"))
            rotation = quaternion(*(float(body[name]) for name in ("roll", "pitch", "yaw")))
            numbers = (time, *position, *rotation)
            self._write(entity.name, " ".join(f"{number:.9f}" for number in numbers))

    def close(self) -> None:
        """Close all files; what is recorded afterwards is appended to them.

        Raises:
            LogError: A file cannot be completed.
        """
        for name, file in self._files.items():
            try:
                file.close()
            except OSError as error:
                raise _write_error(name, error) from None

    def _write(self, name: str, line: str) -> None:
        file = self._files.get(name)
        try:
            if file is None or file.closed:
                path = Path(f"{self._base}.{name}.txt")
                # line-buffered: nothing is lost when the process ends without close()
                file = path.open("w" if file is None else "a", buffering=1, encoding="utf-8")
                self._files[name] = file
            file.write(line + "\n")
        except OSError as error:
            raise _write_error(name, error) from None


def _write_error(name: str, error: OSError) -> LogError:
    return LogError(f"the trajectory of {name!r} cannot be written: {error}")
