# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""One data set a vehicle, written while the world is stepped."""

from __future__ import annotations

import gzip
import os
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from mvsim_core.errors import LogError
from mvsim_core.recording.rawlog.observations import OBSERVATIONS, odometry
from mvsim_core.state.arrays import State
from mvsim_core.state.clock import SimClock
from mvsim_core.state.entities import Entity

#: Effort of compression: pictures shrink to a half with the least, and hardly more with the most.
LEVEL = 1


class RawlogFiles:
    """Writes `<name without suffix>.<vehicle>.rawlog` for each vehicle, from the first step on.

    They hold its odometry, called `odom`, at a rate of their own, and each reading when it
    arrives. Sensors that stand in the world go to `<name without suffix>.rawlog`. Times are
    simulated ones, poses of sensors those on the vehicle. Wheel encoders have no place in such
    files; clouds keep their points, but not rings, intensities and times.

    Args:
        path: The name from the world file; relative to the working directory.
        rate: Odometries a second of simulated time [Hz].
        dt: Length of a tick [s].
        entities: The things of the world, a list that follows what is added and removed.
    """

    def __init__(
        self,
        path: str,
        rate: float,
        dt: float,
        entities: Sequence[Entity],
    ) -> None:
        """Make no file yet."""
        self._base = os.path.splitext(path)[0]
        self._every = SimClock(dt).whole_ticks(1.0 / rate)
        self._entities = entities
        self._files: dict[str, gzip.GzipFile] = {}
        # also when the world is dropped, or Python ends, without a word
        self.close = weakref.finalize(self, _close, self._files)

    def record(self, state: State, ticks: int, time: float, fresh: Iterable[Any]) -> None:
        """Write what a step has brought.

        Args:
            state: The arrays of the world.
            ticks: The step now.
            time: The same in s.
            fresh: Sensors whose readings have just arrived.

        Raises:
            LogError: A file cannot be written.
        """
        if ticks % self._every == 0:
            for entity in self._entities:
                if entity.vehicle is not None:
                    row = state.vehicles[entity.vehicle_row]
                    self._write(entity.name, odometry(row, time))
        for sensor in fresh:
            if sensor.kind in OBSERVATIONS:
                self._write(sensor.parent, OBSERVATIONS[sensor.kind](sensor, sensor.last))

    def _write(self, vehicle: str | None, observation: bytes) -> None:
        name = vehicle or ""
        try:
            if name not in self._files:
                self._files[name] = gzip.GzipFile(self._path(name), "wb", LEVEL)
            self._files[name].write(observation)
        except OSError as error:
            reason = error.strerror or error
            raise LogError(
                f"the rawlog {self._path(name)!r} cannot be written: {reason}"
            ) from None

    def _path(self, vehicle: str) -> str:
        return f"{self._base}.{vehicle}.rawlog" if vehicle else f"{self._base}.rawlog"


def _close(files: dict[str, gzip.GzipFile]) -> None:
    for file in files.values():
        file.close()
    files.clear()
