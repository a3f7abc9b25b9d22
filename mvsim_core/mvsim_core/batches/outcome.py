# SPDX-FileCopyrightText: The MVSim suite authors
# SPDX-License-Identifier: BSD-3-Clause
"""What became of a run; without what simulates it, so that the parent process starts quickly."""

from __future__ import annotations

from typing import NamedTuple

Cell = float | int | str | bool | None


class RunOutcome(NamedTuple):
    """What became of a run: its columns, or why it failed; and the files that were new to it."""

    number: int
    row: dict[str, Cell]
    error: str | None = None
    files: dict[str, str] = {}  # noqa: RUF012 (never changed)
