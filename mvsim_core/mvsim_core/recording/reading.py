# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Reader for logs in all formats."""

from __future__ import annotations

import re
import warnings
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from mvsim_core.errors import LogError
from mvsim_core.recording.columns import TIME
from mvsim_core.state.arrays import FloatArray

_NAME = re.compile(r"^(?P<session>.*mvsim_)(?P<vehicle>.+)_(?P<part>pose|wheel_\d+)$")


@dataclass(frozen=True)
class Log:
    """One table of a log.

    Args:
        path: Its file.
        values: Column name → values.
        units: Column name → unit; empty for logs without units.
    """

    path: Path
    values: dict[str, FloatArray]
    units: dict[str, str]

    @property
    def time(self) -> FloatArray:
        """Simulated time of the rows [s]."""
        return self.values[TIME]

    @property
    def session(self) -> str:
        """Common prefix of the names of all files of a session."""
        found = _NAME.match(self.path.stem)
        return found["session"] if found else self.path.stem

    @property
    def vehicle(self) -> str:
        """Name of the vehicle, with `_` for characters that file names cannot hold."""
        found = _NAME.match(self.path.stem)
        return found["vehicle"] if found else self.path.stem

    @property
    def wheel(self) -> int:
        """Number of the wheel, from 1; 0 for the table of poses."""
        found = _NAME.match(self.path.stem)
        return int(found["part"][6:] or 0) if found and found["part"] != "pose" else 0


def read_log(path: str | Path) -> Log:
    """Return one table; CSV files of the C++ simulator are read as well.

    Raises:
        LogError: The file is missing, or is no log.
    """
    path = Path(path)
    if not path.is_file():
        raise LogError(f"{path}: no such log file")
    readers = {".npz": _read_npz, ".parquet": _read_parquet}
    try:
        values, units = readers.get(path.suffix, _read_csv)(path)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as error:
        raise LogError(f"{path}: cannot be read as a log ({error})") from None
    if TIME not in values:
        raise LogError(f"{path}: not a log: it has no column {TIME!r}")
    return Log(path, values, units)


def _read_csv(path: Path) -> tuple[dict[str, FloatArray], dict[str, str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        names = [name.strip() for name in file.readline().split(",")]
        second = file.readline()
    units: dict[str, str] = {}
    if second.startswith("#"):
        units = dict(zip(names, (u.strip() for u in second[1:].split(",")), strict=False))
    if TIME not in names:
        return {}, {}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*no data")  # a log may have no rows yet
        rows = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2, usecols=range(len(names)))
    rows = rows.reshape(-1, len(names))
    return {name: rows[:, k] for k, name in enumerate(names)}, units


def _read_npz(path: Path) -> tuple[dict[str, FloatArray], dict[str, str]]:
    with np.load(path, allow_pickle=False) as file:
        names = [name for name in file.files if name != "units"]
        units = dict(zip(names, map(str, file["units"]), strict=True))
        return {name: file[name] for name in names}, units


def _read_parquet(path: Path) -> tuple[dict[str, FloatArray], dict[str, str]]:
    try:
        import pyarrow.parquet
    except ImportError:
        raise LogError(f"{path}: Parquet logs need pyarrow: pip install pyarrow") from None
    table = pyarrow.parquet.read_table(path)
    units = {f.name: (f.metadata or {}).get(b"unit", b"").decode() for f in table.schema}
    return {name: np.asarray(table[name], dtype=float) for name in table.column_names}, units
