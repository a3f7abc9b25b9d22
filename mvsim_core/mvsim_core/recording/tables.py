# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The files of a log: one table per vehicle or wheel, as CSV, NPZ or Parquet.

CSV files grow during the run. The other two are written when the log ends, from a temporary file
of raw numbers beside them (`.part`), so that memory does not grow with the length of a run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import numpy as np
import orjson

from mvsim_core.errors import LogError
from mvsim_core.recording.columns import unit_of
from mvsim_core.state.arrays import FloatArray


def csv_rows(columns: FloatArray) -> bytes:
    """Return columns (columns, rows) as lines of comma-separated numbers.

    Each number has as many digits as it needs to be read back exactly.
    """
    rows = np.ascontiguousarray(columns.T)
    if not np.isfinite(rows).all():  # JSON has neither nan nor inf
        return "".join(f"{','.join(map(repr, row))}\n" for row in rows.tolist()).encode()
    text = orjson.dumps(rows, option=orjson.OPT_SERIALIZE_NUMPY)
    return text[len("[[") : -len("]]")].replace(b"],[", b"\n") + b"\n"


class Table(ABC):
    """One file of a log.

    Args:
        path: The file.
        columns: Names of its columns.
    """

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        """Create no file yet."""
        self.path = path
        self.columns = columns
        self.is_open = False

    def open(self) -> None:
        """Create the file, and its folder if necessary; do nothing if it is open.

        Raises:
            LogError: It cannot be written.
        """
        if self.is_open:
            return
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._begin()
        except OSError as error:
            raise LogError(f"cannot write the log {self.path}: {error.strerror}") from None
        self.is_open = True

    def clear(self) -> None:
        """Discard its rows; do nothing if it is not open.

        Raises:
            LogError: It cannot be written.
        """
        if self.is_open:
            self.is_open = False
            self.open()

    def append(self, values: FloatArray) -> None:
        """Add rows, given as columns (columns, rows).

        Raises:
            LogError: They cannot be written.
        """
        try:
            self._write(values)
        except OSError as error:
            raise LogError(f"cannot write the log {self.path}: {error.strerror}") from None

    @abstractmethod
    def finish(self) -> None:
        """Complete the file."""

    @abstractmethod
    def _begin(self) -> None:
        """Create the file, without rows."""

    @abstractmethod
    def _write(self, values: FloatArray) -> None:
        """Add rows, given as columns (columns, rows)."""


class CsvTable(Table):
    """A line of names, a line of units that starts with `#`, then one line per row.

    `pandas.read_csv(file, comment="#")` and `numpy.genfromtxt(file, delimiter=",", names=True)`
    read it. The file is not kept open: there can be more tables than a process may open files.
    """

    def _begin(self) -> None:
        units = ",".join(unit_of(name) for name in self.columns)
        self.path.write_text(f"{','.join(self.columns)}\n# {units}\n", encoding="ascii")

    def _write(self, values: FloatArray) -> None:
        with self.path.open("ab", buffering=0) as file:
            file.write(csv_rows(values))

    def finish(self) -> None:
        """Do nothing: the file is complete after each call of `append`."""


class SpooledTable(Table):
    """A table that is written at the end of the log; `save` writes columns and units to a path."""

    save: Callable[[Path, dict[str, FloatArray], dict[str, str]], None]

    def _begin(self) -> None:
        self._spool = self.path.with_name(self.path.name + ".part")
        self._spool.write_bytes(b"")

    def _write(self, values: FloatArray) -> None:
        with self._spool.open("ab", buffering=0) as file:
            file.write(np.ascontiguousarray(values.T).data)

    def finish(self) -> None:
        """Write the file from the temporary one."""
        if not self.is_open:
            return
        self.is_open = False
        try:
            rows = np.fromfile(self._spool).reshape(-1, len(self.columns))
            values = {name: rows[:, k] for k, name in enumerate(self.columns)}
            type(self).save(self.path, values, {name: unit_of(name) for name in self.columns})
            self._spool.unlink()
        except OSError as error:
            raise LogError(f"cannot write the log {self.path}: {error.strerror}") from None


def _save_npz(path: Path, values: dict[str, FloatArray], units: dict[str, str]) -> None:
    np.savez_compressed(path, units=np.array(list(units.values())), **values)  # type: ignore[arg-type]


def _save_parquet(path: Path, values: dict[str, FloatArray], units: dict[str, str]) -> None:
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema(
        [
            pyarrow.field(name, pyarrow.float64(), metadata={"unit": unit})
            for name, unit in units.items()
        ]
    )
    pyarrow.parquet.write_table(pyarrow.table(values, schema=schema), path)


class NpzTable(SpooledTable):
    """A compressed NPZ file with one array per column, and `units` in their order."""

    save = staticmethod(_save_npz)


class ParquetTable(SpooledTable):
    """A Parquet file with units in the metadata of its columns."""

    save = staticmethod(_save_parquet)


FORMATS: dict[str, type[Table]] = {"csv": CsvTable, "npz": NpzTable, "parquet": ParquetTable}


def table_class(name: str) -> type[Table]:
    """Return the class of a format.

    Raises:
        LogError: There is none of that name, or its library is not installed.
    """
    if name not in FORMATS:
        raise LogError(f"unknown log format {name!r}; known: {', '.join(FORMATS)}")
    if name == "parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise LogError("Parquet logs need pyarrow: pip install pyarrow") from None
    return FORMATS[name]
