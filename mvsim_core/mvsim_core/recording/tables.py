# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The files of a log: one table a vehicle or wheel, as CSV, NPZ or Parquet.

CSV grows on disk while it is written. The other two are made when the log ends, from a spool of
raw numbers beside them (`.part`), so that memory does not grow with the length of a run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mvsim_core.errors import LogError
from mvsim_core.recording.columns import unit_of
from mvsim_core.recording.text import csv_rows
from mvsim_core.state.arrays import FloatArray


class Table(ABC):
    """One file of a log.

    Args:
        path: The file.
        columns: Names of its columns.
    """

    def __init__(self, path: Path, columns: tuple[str, ...]) -> None:
        """Touch no file yet."""
        self.path = path
        self.columns = columns
        self.is_open = False

    def open(self) -> None:
        """Make the file, and its folder if need be; once is enough.

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
        """Make the file, without rows."""

    @abstractmethod
    def _write(self, values: FloatArray) -> None:
        """Add rows, given as columns (columns, rows)."""


class CsvTable(Table):
    """A line of names, a line of units that starts with `#`, then a line a row.

    `pandas.read_csv(file, comment="#")` and `numpy.genfromtxt(file, delimiter=",", names=True)`
    read it as it is. The file is not kept open: there may be more tables than open files.
    """

    def _begin(self) -> None:
        units = ",".join(unit_of(name) for name in self.columns)
        self.path.write_text(f"{','.join(self.columns)}\n# {units}\n", encoding="ascii")

    def _write(self, values: FloatArray) -> None:
        with self.path.open("ab", buffering=0) as file:
            file.write(csv_rows(values).data)

    def finish(self) -> None:
        """Nothing is left to do: the file is complete after each row."""


class SpooledTable(Table):
    """A table that is saved as a whole at the end; `save` writes columns and units to a path."""

    save: Callable[[Path, dict[str, FloatArray], dict[str, str]], None]

    def _begin(self) -> None:
        self._spool = self.path.with_name(self.path.name + ".part")
        self._spool.write_bytes(b"")

    def _write(self, values: FloatArray) -> None:
        with self._spool.open("ab", buffering=0) as file:
            file.write(np.ascontiguousarray(values.T).data)

    def finish(self) -> None:
        """Make the file from the spool."""
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
    """A compressed NPZ file with one array a column, and `units` in their order."""

    save = staticmethod(_save_npz)


class ParquetTable(SpooledTable):
    """A Parquet file; units are in the metadata of its columns."""

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
