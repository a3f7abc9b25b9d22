# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""Text files of points, one a line, for clouds that 3D sensors see."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from mvsim_core.errors import BuildError
from mvsim_core.state.arrays import FloatArray

#: Lines of a file, and points of a cloud that are used: each is a solid of eight faces.
MOST_LINES, MOST_POINTS = 1_000_000, 50_000


def read_cloud(path: Path, columns: int) -> tuple[FloatArray, str]:
    """Return the points (n, 3) [m] of a file of x y or x y z, and a warning, or "".

    More columns than needed, such as colours, are left out; so are points that are not finite.

    Raises:
        BuildError: There is no such file, or it holds something else.
    """
    table = read_table(path, f"lines of '{' '.join('xyz'[:columns])}' [m]", columns)
    if len(table) > MOST_LINES:
        raise BuildError(f"{path}: has {len(table)} points, at most {MOST_LINES} are allowed")
    finite = np.isfinite(table[:, :columns]).all(axis=1)
    points = np.zeros((int(finite.sum()), 3))
    points[:, :columns] = table[finite, :columns]
    lost = len(table) - len(points)
    notes = [f"{lost} points are not finite and left out"] if lost else []
    if len(points) > MOST_POINTS:
        every = -(-len(points) // MOST_POINTS)
        notes.append(f"one of {every} of its {len(points)} points is used, at most {MOST_POINTS}")
        points = points[::every].copy()
    return points, f"{path}: {'; '.join(notes)}" if notes else ""


def read_table(
    path: Path, wanted: str, columns: int, *, between: str | None = None, heads: int = 0
) -> FloatArray:
    """Return the numbers (n, at least `columns`) of a text file, n > 0.

    Args:
        path: The file.
        wanted: Expected content, for errors.
        columns: Numbers that a line must have at least.
        between: What separates them; None: any spaces.
        heads: Header lines to skip.

    Raises:
        BuildError: There is no such file, or it holds something else.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy's on empty files; ours is an error
            table: FloatArray = np.loadtxt(path, ndmin=2, delimiter=between, skiprows=heads)
    except OSError as error:
        raise BuildError(f"{path}: cannot be read ({error.strerror or error})") from None
    except ValueError:
        raise BuildError(
            f"{path}: expected {wanted}, but {_first_bad_line(path, between, heads)}"
        ) from None
    if len(table) == 0:
        raise BuildError(f"{path}: expected {wanted}, got none")
    if table.shape[1] < columns:
        raise BuildError(f"{path}: expected {wanted}, got {table.shape[1]} numbers a line")
    return table


def _first_bad_line(path: Path, between: str | None, heads: int) -> str:
    """Return the first line of a text file that does not fit a table of numbers, and why."""
    first, width = 0, 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            bare = "" if number <= heads else line.partition("#")[0].strip()
            words = bare.split(between) if bare else []
            try:
                [float(word) for word in words]
            except ValueError:
                return f"line {number} is {bare[:40]!r}"
            if words and width and len(words) != width:
                return f"line {number} has {len(words)} numbers and line {first} has {width}"
            if words and not width:
                first, width = number, len(words)
    return "it holds something else"
