# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""The table of a study, and its files: Parquet, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from mvsim_core.batches.errors import BatchError
from mvsim_core.batches.journal import write_whole
from mvsim_core.batches.outcome import Cell, RunOutcome
from mvsim_core.batches.plan import ERROR, Run, StudyPlan, column_of

SUFFIXES = (".parquet", ".csv", ".json")


@dataclass(frozen=True, slots=True)
class Results:
    """The table of a study, one row a run.

    Attributes:
        given: Names of the columns that say which run it is: seed, variables.
        columns: Names of all columns: those, what was measured, error.
        rows: The rows by name of the column; None: there is no such value.
    """

    given: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[dict[str, Cell], ...]

    @property
    def failures(self) -> list[dict[str, Cell]]:
        """The rows of the runs that failed."""
        return [row for row in self.rows if row[ERROR] is not None]

    def column(self, name: str) -> list[Cell]:
        """Return the values of a column."""
        return [row[name] for row in self.rows]

    def write(self, path: str | Path) -> None:
        """Write a file, in the format of its suffix.

        Raises:
            BatchError: It cannot be written, or pyarrow is missing.
        """
        path = Path(path)
        check_output(path)
        encoded = {".parquet": _parquet, ".csv": _csv, ".json": _json}[path.suffix](self)
        write_whole(path, encoded)


def check_output(path: Path) -> None:
    """Check that a file can be written, before the work.

    Raises:
        BatchError: Its suffix or folder, or a missing library, is against it.
    """
    if path.suffix not in SUFFIXES:
        raise BatchError(f"the file must end in .parquet, .csv or .json, got {str(path)!r}")
    if not path.absolute().parent.is_dir():
        raise BatchError(f"{path}: there is no folder {path.absolute().parent}")
    if path.is_dir():
        raise BatchError(f"{path} is a folder")
    if path.suffix == ".parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise BatchError("Parquet files need pyarrow: pip install pyarrow") from None


def table_of(
    plan: StudyPlan, runs: Iterable[Run], done: Mapping[int, RunOutcome], wanted: Sequence[str]
) -> Results:
    """Return the table of a study.

    Args:
        plan: The study.
        runs: All of its runs.
        done: What became of them.
        wanted: Patterns of the names of measured columns; none: all of them.

    Raises:
        BatchError: No column fits a pattern.
    """
    names = [column_of(name) for name, _ in plan.variables]
    measured = list(dict.fromkeys(name for k in sorted(done) for name in done[k].row))
    columns = ["seed", *names, *_chosen(measured, wanted), ERROR]
    convert = [_conversion(values) for _, values in plan.variables]
    rows = []
    for run in runs:
        outcome = done[run.number]
        values = (kind(text) for kind, (_, text) in zip(convert, run.variables, strict=True))
        given = dict(zip(names, values, strict=True))
        row = {"seed": run.seed, **given, **outcome.row, ERROR: outcome.error}
        rows.append({name: row.get(name) for name in columns})
    return Results(("seed", *names), tuple(columns), tuple(rows))


def _chosen(measured: Sequence[str], wanted: Sequence[str]) -> list[str]:
    if not wanted:
        return list(measured)
    for pattern in wanted:
        if measured and not any(fnmatchcase(name, pattern) for name in measured):
            raise BatchError(
                f"no column is called {pattern!r}; measured are {', '.join(measured[:20])}"
            )
    return [name for name in measured if any(fnmatchcase(name, p) for p in wanted)]


def _conversion(values: Sequence[str]) -> Any:
    """Return the type of a variable's column: numbers if all values are numbers, else texts."""
    if not all(map(is_number, values)):
        return str
    whole = all(v.strip().lstrip("+-").isdecimal() and abs(int(v)) < 2**63 for v in values)
    return int if whole else float


def is_number(text: str) -> bool:
    """Whether a text is a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _csv(results: Results) -> bytes:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(results.columns)
    for row in results.rows:
        writer.writerow([_csv_cell(row[name]) for name in results.columns])
    return file.getvalue().encode()


def _csv_cell(value: Cell) -> str:
    if value is None:
        return ""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _json(results: Results) -> bytes:
    """Return one object a row and line; JSON has no nan and inf, which become null."""
    lines = []
    for row in results.rows:
        finite = {
            name: None if isinstance(v, float) and not math.isfinite(v) else v
            for name, v in row.items()
        }
        lines.append(json.dumps(finite))
    return ("[\n" + ",\n".join(lines) + "\n]\n").encode()


def _parquet(results: Results) -> bytes:
    import pyarrow
    import pyarrow.parquet

    types = {int: pyarrow.int64(), bool: pyarrow.bool_(), str: pyarrow.string()}
    arrays, fields = [], []
    for name in results.columns:
        values = results.column(name)
        kinds = {type(value) for value in values if value is not None}
        if name == ERROR or len(kinds - {int, float}) > 1 or (str in kinds and len(kinds) > 1):
            kinds = {str}
            values = [None if v is None else _csv_cell(v) for v in values]
        kind = types.get(next(iter(kinds))) if len(kinds) == 1 else None
        if kind is None:  # numbers of both types, or no value at all
            kind = pyarrow.float64()
            values = [None if v is None else float(v) for v in values]
        arrays.append(pyarrow.array(values, kind, from_pandas=False))
        fields.append(pyarrow.field(name, kind))
    buffer = io.BytesIO()
    table = pyarrow.Table.from_arrays(arrays, schema=pyarrow.schema(fields))
    pyarrow.parquet.write_table(table, buffer)
    return buffer.getvalue()
