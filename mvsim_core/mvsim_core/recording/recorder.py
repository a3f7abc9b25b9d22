# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Records the history of vehicles and wheels while a world is stepped.

A step only copies rows of the state into a buffer. A second thread converts a full buffer to
columns and text while the steps fill others. Memory is bounded: steps wait for the writer thread
when too many buffers are pending.
"""

from __future__ import annotations

import math
import re
import time
import weakref
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numba import njit

from mvsim_core.errors import LogError, Problem
from mvsim_core.recording.columns import (
    BODY_FIELDS,
    PID,
    PID_FIELDS,
    POSE,
    VEHICLE_FIELDS,
    WHEEL,
    WHEEL_FIELDS,
    Fields,
    PidHistory,
    PoseHistory,
    WheelHistory,
    filled,
    log_columns,
    wheel_columns,
)
from mvsim_core.recording.tables import Table, table_class
from mvsim_core.state.arrays import FloatArray, IntArray, Rows, State

if TYPE_CHECKING:
    from mvsim_core.state.entities import Entity

#: Most characters of a name in an error.
MOST_SHOWN = 60
#: Size of one buffer [bytes] and the most steps in it: enough to outweigh the thread switch.
BUFFER = 16_000_000
MOST_ROWS = 256
#: Size of all pending buffers [bytes].
PENDING = 128_000_000


class Recorder:
    """A log of vehicles and wheels, in one or more sessions.

    Args:
        folder: Folder of all files; None: the `log_path` of each vehicle.
        every: Interval between rows in ticks.
        format: "csv", "npz" or "parquet".
        only_auto: Log only vehicles with `auto_start_recording`.
        names: Log only vehicles of these names; None: all.
        at_first_row: Create the files with the first row, not in `bind`.
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        every: int = 1,
        format: str = "csv",
        *,
        only_auto: bool = False,
        names: Collection[str] | None = None,
        at_first_row: bool = False,
    ) -> None:
        """Check the arguments; `bind` creates the files.

        Raises:
            LogError: The format is unknown, or `every` is not a whole number above zero.
        """
        if not (every >= 1 and every % 1 == 0):
            raise LogError(f"every must be a whole number of ticks >= 1, got {every}")
        self._folder = None if folder is None else Path(folder)
        self._every = int(every)
        self._table = table_class(format)
        self._suffix = format
        self._only_auto = only_auto
        self._names = names
        self._switched: dict[str, bool] = {}
        self._deferred = at_first_row
        self._session: _Session | None = None
        self._finalizer: weakref.finalize[Any, Any] | None = None

    @property
    def files(self) -> list[Path]:
        """The files of the current session."""
        if self._session is None:
            return []
        parts = [*self._session.parts, *self._session.paused]
        return [table.path for part in parts for table in part.tables()]

    def records(self, vehicle: Entity) -> bool:
        """Return whether it logs a vehicle."""
        if vehicle.name in self._switched:
            return self._switched[vehicle.name]
        if self._only_auto:
            return bool(vehicle.spec.auto_start_recording)
        return self._names is None or vehicle.name in self._names

    def switch(self, name: str, on: bool) -> None:
        """Log the vehicle of a name, or not, from the next `bind` on, whatever was chosen."""
        self._switched[name] = on

    def clear(self, names: Collection[str]) -> None:
        """Discard the rows of the current session of the vehicles of these names.

        Raises:
            LogError: A file cannot be written.
        """
        session = self._session
        if session is None:
            return
        session.flush()
        for part in (*session.parts, *session.paused):
            if part.name in names:
                part.clear()

    def bind(self, vehicles: Sequence[Entity], state: State, dt: float) -> None:
        """Record these vehicles from these arrays from now on; new vehicles get new files.

        Files of vehicles that are switched off stay open. After `close` it begins a new session.

        Raises:
            LogError: A file cannot be created.
        """
        chosen = [v for v in vehicles if self.records(v)]
        known: dict[str, _Part] = {}
        if self._session is None:
            name = self._unused(f"session_{int(time.time())}", vehicles)
        else:
            name = self._session.name
            known = {part.name: part for part in (*self._session.parts, *self._session.paused)}
            self._detach_finalizer()
            self._session.release()
        parts = [known.pop(v.name) if v.name in known else self._part(v, name) for v in chosen]
        paused = [known.pop(v.name) for v in vehicles if v.name in known]
        for gone in known.values():
            gone.finish()
        self._session = _Session(name, parts, paused, _sources(chosen, state), dt)
        # completes the files also when the world is dropped, or Python ends, without close()
        self._finalizer = weakref.finalize(self, self._session.close)
        if not self._deferred:
            self._session.open()

    def record(self, ticks: int) -> None:
        """Copy the rows of this tick if one is due.

        Raises:
            LogError: Rows recorded earlier cannot be written.
        """
        if ticks % self._every or self._session is None:
            return
        if self._deferred:
            self._deferred = False
            self._session.open()
        self._session.take(ticks)

    def close(self) -> list[Path]:
        """Complete the files and return them.

        Raises:
            LogError: The rest cannot be written.
        """
        files = self.files
        session, self._session = self._session, None
        if session is not None:
            self._detach_finalizer()
            session.close()
        return [] if self._deferred else files

    def _detach_finalizer(self) -> None:
        if self._finalizer is not None:
            self._finalizer.detach()

    def _place(self, vehicle: Entity) -> tuple[Path, str]:
        """Return the folder of a vehicle's files and the prefix of their names."""
        if self._folder is not None:
            return self._folder, ""
        text = str(vehicle.spec.log_path)
        if not text or text.endswith("/") or Path(text).is_dir():
            return Path(text), ""
        return Path(text).parent, Path(text).name

    def _path(self, vehicle: Entity, session: str, end: str) -> Path:
        folder, prefix = self._place(vehicle)
        name = re.sub(r"[^\w.-]", "_", vehicle.name)
        return folder / f"{session}-{prefix}mvsim_{name}_{end}.{self._suffix}"

    def _unused(self, name: str, vehicles: Sequence[Entity]) -> str:
        """Return the name of the session, with a number if files of that name exist."""
        tried, number = name, 1
        while any(_exists(v, self._path(v, tried, "pose")) for v in vehicles):
            number += 1
            tried = f"{name}_{number}"
        return tried

    def _part(self, vehicle: Entity, session: str) -> _Part:
        pose, *wheels = (
            self._table(self._path(vehicle, session, end), columns)
            for end, columns in log_columns(vehicle).items()
        )
        driven = -1
        if vehicle.n_pids > 1:
            assert vehicle.model.vehicle is not None
            driven = int(vehicle.model.vehicle["driven0"][0])
        columns = wheel_columns(vehicle.spec.friction.kind)
        return _Part(vehicle.name, pose, wheels, columns, driven)


def _exists(vehicle: Entity, path: Path) -> bool:
    """Return whether there is a file.

    Raises:
        LogError: There cannot be one of that name.
    """
    try:
        return path.exists()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        text = f"cannot write the log of {vehicle.name[:MOST_SHOWN]!r}: {reason}"
        raise LogError(str(Problem.at(vehicle.spec.where, "vehicle", text))) from None


@dataclass
class _Part:
    """The tables of one vehicle; `driven` is its first wheel with a PID, -1 if it has none."""

    name: str
    pose: Table
    wheels: list[Table]
    columns: tuple[str, ...]
    driven: int

    def tables(self) -> list[Table]:
        return [self.pose, *self.wheels]

    def open(self) -> None:
        for table in self.tables():
            table.open()

    def clear(self) -> None:
        for table in self.tables():
            table.clear()

    def finish(self) -> None:
        for table in self.tables():
            table.finish()


class _Source:
    """Some fields of some rows of a state array whose numbers all have eight bytes.

    Args:
        array: BODY, VEHICLE, WHEEL or PID.
        rows: The rows.
        fields: The fields.
    """

    def __init__(self, array: Rows, rows: Iterable[Any], fields: tuple[str, ...]) -> None:
        self.fields = fields
        self._numbers = array.view(np.float64).reshape(len(array), array.itemsize // 8)
        self._rows = np.array(list(rows), dtype=np.int64)
        offsets: Any = array.dtype.fields
        self._columns = np.array([offsets[field][1] // 8 for field in fields])
        # loads the kernel, so that no step has to wait for it
        gather_kernel(self._numbers, self._rows[:0], self._columns, np.zeros((0, len(fields))))

    @property
    def shape(self) -> tuple[int, int]:
        return len(self._rows), len(self.fields)

    def copy(self, out: FloatArray) -> None:
        gather_kernel(self._numbers, self._rows, self._columns, out)


@njit(cache=True, nogil=True)
def gather_kernel(numbers: FloatArray, rows: IntArray, columns: IntArray, out: FloatArray) -> None:
    """Copy some columns of some rows."""
    for i in range(rows.shape[0]):
        row = numbers[rows[i]]
        for j in range(columns.shape[0]):
            out[i, j] = row[columns[j]]


def _sources(vehicles: Sequence[Entity], state: State) -> tuple[_Source, ...]:
    """Return the recorded parts of the state: bodies, vehicles, wheels, and PIDs in pairs."""
    wheels = (v.wheel0 + k for v in vehicles for k in range(v.n_wheels))
    pids = (v.pid0 + k for v in vehicles if v.n_pids > 1 for k in range(2))
    return (
        _Source(state.bodies, (v.row for v in vehicles), BODY_FIELDS),
        _Source(state.vehicles, (v.vehicle_row for v in vehicles), VEHICLE_FIELDS),
        _Source(state.wheels, wheels, WHEEL_FIELDS),
        _Source(state.pids, pids, PID_FIELDS),
    )


class _Buffer:
    """Copies of the sources at some ticks, (steps, rows, fields) each."""

    def __init__(self, sources: tuple[_Source, ...], steps: int) -> None:
        self.ticks = np.zeros(steps, np.int64)
        self.numbers = [np.zeros((steps, *source.shape)) for source in sources]
        self.used = 0


@dataclass
class _Session:
    """The files of one session and the buffers that are not written yet.

    `paused` are those of vehicles that are not recorded now.
    """

    name: str
    parts: list[_Part]
    paused: list[_Part]
    sources: tuple[_Source, ...]
    dt: float
    _pending: deque[Future[None]] = field(default_factory=deque)
    _free: list[_Buffer] = field(default_factory=list)
    _writer: ThreadPoolExecutor | None = None

    def __post_init__(self) -> None:
        step = 8 * sum(math.prod(source.shape) for source in self.sources) + 8
        self.steps = min(max(BUFFER // step, 1), MOST_ROWS)
        self._most_pending = max(PENDING // (step * self.steps), 1)
        self._buffer = _Buffer(self.sources, self.steps)

    def take(self, ticks: int) -> None:
        buffer = self._buffer
        k = buffer.used
        buffer.ticks[k] = ticks
        for source, numbers in zip(self.sources, buffer.numbers, strict=True):
            source.copy(numbers[k])
        buffer.used = k + 1
        if buffer.used == self.steps:
            self._hand_over()

    def open(self) -> None:
        """Create the files that do not exist yet."""
        for part in self.parts:
            part.open()

    def flush(self) -> None:
        """Write all pending rows."""
        self._wait(0)
        if self._buffer.used:
            self._write(self._buffer)
            self._buffer = self._free.pop()

    def release(self) -> None:
        """Write all pending rows and end the writer; the files stay open for another session."""
        try:
            self.flush()
        finally:
            if self._writer is not None:
                self._writer.shutdown()

    def close(self) -> None:
        """Write all pending rows and complete the files."""
        try:
            self.release()
        finally:
            for part in (*self.parts, *self.paused):
                part.finish()
            self.parts, self.paused = [], []

    def _hand_over(self) -> None:
        self._wait(self._most_pending - 1)
        if self._writer is None:
            self._writer = ThreadPoolExecutor(1, "mvsim-log")
        self._pending.append(self._writer.submit(self._write, self._buffer))
        self._buffer = self._free.pop() if self._free else _Buffer(self.sources, self.steps)

    def _wait(self, most: int) -> None:
        """Wait until at most `most` buffers are pending; raise errors of the writer thread."""
        while self._pending and (len(self._pending) > most or self._pending[0].done()):
            self._pending.popleft().result()

    def _write(self, buffer: _Buffer) -> None:
        n = buffer.used
        times: FloatArray = buffer.ticks[:n].astype(np.float64) * self.dt
        body, vehicle, wheel, pid = (
            Fields(numbers[:n], source.fields)
            for numbers, source in zip(buffer.numbers, self.sources, strict=True)
        )
        self._write_poses(times[None, :], PoseHistory(body, vehicle))
        self._write_wheels(times[None, :], WheelHistory(wheel, self.dt), pid)
        buffer.used = 0
        self._free.append(buffer)

    def _write_poses(self, times: FloatArray, history: PoseHistory) -> None:
        values = filled(tuple(POSE), POSE, history)
        for k, part in enumerate(self.parts):
            part.pose.append(np.concatenate([times, values[:, k]]))

    def _write_wheels(self, times: FloatArray, history: WheelHistory, pids: Fields) -> None:
        names = tuple(sorted({name for part in self.parts for name in part.columns}))
        values = filled(names, WHEEL, history)
        wheel = pair = 0
        for part in self.parts:
            chosen = [names.index(name) for name in part.columns]
            driven = wheel + part.driven
            for k, table in enumerate(part.wheels):
                blocks = [times, values[chosen, wheel]]
                if k == 0 and part.driven >= 0:
                    two = Fields(pids.numbers[:, 2 * pair : 2 * pair + 2], PID_FIELDS)
                    torques = history.wheel["torque"][driven : driven + 2]
                    blocks.append(filled(tuple(PID), PID, PidHistory(two, torques)))
                    pair += 1
                table.append(np.concatenate(blocks))
                wheel += 1
