# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Where vehicles really are, as text files of the TUM format: `t x y z qx qy qz qw` a line."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from mvsim_core.errors import LogError
from mvsim_core.geometry.poses import quaternion
from mvsim_core.state.arrays import State
from mvsim_core.state.clock import SimClock
from mvsim_core.state.entities import Entity


class TrajectoryFiles:
    """Writes one file a vehicle, `<name without suffix>.<vehicle>.txt`, from the first step on.

    It works at the begin of a step like what moves by the clock, and writes what holds then.
    Times are simulated ones [s]; poses are those of reference points in the world [m].

    Args:
        path: The name from the world file; relative to the working directory.
        rate: Lines a second of simulated time [Hz].
        entities: The things of the world, a list that follows what is added and removed.
    """

    def __init__(self, path: str, rate: float, entities: Sequence[Entity]) -> None:
        """Make no file yet."""
        self.entity: Entity | None = None
        self.ground: Any = None
        self._base = Path(os.path.splitext(path)[0])
        self._rate = rate
        self._entities = entities
        self._files: dict[str, TextIO] = {}

    def apply(self, state: State, time: float, dt: float) -> None:
        """Write a line for each vehicle if one is due.

        Raises:
            LogError: A file cannot be written.
        """
        tick = round(time / dt) - 1
        if tick % SimClock(dt).whole_ticks(1.0 / self._rate):
            return
        for entity in self._entities:
            if entity.vehicle is None:
                continue
            b = state.bodies[entity.row]
            place = (float(b[k]) for k in ("x", "y", "z"))
            turn = quaternion(*(float(b[k]) for k in ("roll", "pitch", "yaw")))
            numbers = (tick * dt, *place, *turn)
            self._write(entity.name, " ".join(f"{number:.9f}" for number in numbers))

    def _write(self, name: str, line: str) -> None:
        try:
            if name not in self._files:
                path = Path(f"{self._base}.{name}.txt")
                # closed with the world; buffered by lines, so that nothing is lost before
                self._files[name] = path.open("w", buffering=1, encoding="utf-8")
            self._files[name].write(line + "\n")
        except OSError as error:
            raise LogError(f"the trajectory of {name!r} cannot be written: {error}") from None
